"""Categories of which a trade has one tag: docs/journal.md#statistics-of-your-own."""

from typing import Any

import factories
import pytest
from conftest import client_of, new_key_for
from factories import Client, details_of, error_of, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

ONE_OF_MARKET = "must have at most one tag of Market"


@pytest.fixture
async def tags(client: Client) -> dict[str, int]:
    """The ids of two tags of a single category, and of one of another category, by name."""
    market = await factories.create_category(client, "Market", single=True)
    other = await factories.create_category(client, "Other")
    assert (market["single"], other["single"]) == (True, False)
    named = [("Trend", market), ("Range", market), ("Late", other)]
    return {name: (await factories.create_tag(client, name, category_id=one["id"]))["id"] for name, one in named}


async def read_tags(client: Client, trade: Any) -> list[str]:
    return [tag["name"] for tag in unwrap(await client.get(f"/trades/{trade['id']}"))["tags"]]


async def test_two_tags_of_a_single_category_are_refused_wherever_tags_of_a_trade_are_sent(
    client: Client, account_id: int, tags: dict[str, int]
) -> None:
    trade = await factories.create_trade(client, account_id)
    both = {"tag_ids": [tags["Late"], tags["Trend"], tags["Range"]]}
    new = {**factories.A_TRADE, "account_id": account_id}
    path = f"/trades/{trade['id']}"
    sent: list[tuple[str, str, dict[str, Any], str]] = [
        ("PUT", f"{path}/tags", both, "tag_ids"),
        ("PATCH", path, both, "tag_ids"),
        ("POST", "/trades", {**new, **both}, "tag_ids"),
        ("POST", "/trades/bulk", {"trades": [new, {**new, **both}]}, "trades[1].tag_ids"),
        ("PATCH", "/trades", {"ids": [trade["id"]], "add_tag_ids": both["tag_ids"]}, "add_tag_ids"),
        ("PATCH", "/trades", {"restore": [{"id": trade["id"], "set": {}, **both}]}, "trades[0].tag_ids"),
    ]

    for method, to, body, field in sent:
        answer = await client.request(method, to, json=body)

        assert error_of(answer) == (400, "validation_error"), (method, to)
        assert details_of(answer)["fields"] == {field: ONE_OF_MARKET}
    assert unwrap(await client.get("/trades"))[0]["tag_ids"] == []
    day = await factories.write_day(client, tag_ids=both["tag_ids"])  # the market may turn within a day
    assert day["tag_ids"] == sorted(both["tag_ids"])


async def test_a_new_tag_replaces_the_one_that_the_trade_had_and_restore_brings_it_back(
    client: Client, account_id: int, tags: dict[str, int]
) -> None:
    first, second = [await factories.create_trade(client, account_id) for _ in range(2)]
    unwrap(await client.put(f"/trades/{first['id']}/tags", json={"tag_ids": [tags["Trend"], tags["Late"]]}))

    body = {"ids": [first["id"], second["id"]], "add_tag_ids": [tags["Range"]]}
    changed = (await client.patch("/trades", json=body)).json()["data"]
    after = [await read_tags(client, one) for one in (first, second)]
    unwrap_all = await client.patch("/trades", json={"restore": changed["restore"]})
    restored = [await read_tags(client, one) for one in (first, second)]
    unwrap(await client.put(f"/trades/{first['id']}/tags", json={"tag_ids": [tags["Range"]]}))

    assert unwrap_all.is_success
    assert after == [["Late", "Range"], ["Range"]]
    assert [sorted(one["tag_ids"]) for one in changed["trades"]] == [
        sorted([tags["Range"], tags["Late"]]),
        [tags["Range"]],
    ]
    assert restored == [["Late", "Trend"], []]
    assert await read_tags(client, first) == ["Range"]


async def test_a_category_becomes_single_once_no_trade_has_two_of_its_tags(
    client: Client, account_id: int, tags: dict[str, int]
) -> None:
    other = unwrap(await client.get(f"/tags/{tags['Late']}"))["category_id"]
    early = await factories.create_tag(client, "Early", category_id=other)
    trades = [await factories.create_trade(client, account_id) for _ in range(3)]
    for trade in trades[:2]:
        both = {"tag_ids": [tags["Late"], early["id"], tags["Trend"]]}
        unwrap(await client.put(f"/trades/{trade['id']}/tags", json=both))
    several = {
        "trade_count": 2,
        "fields": {"single": "2 of your trades have several tags of the category; leave one on each"},
    }

    refused = await client.patch(f"/tag-categories/{other}", json={"single": True})
    moved = await client.patch(f"/tags/{tags['Trend']}", json={"category_id": other})
    for trade in trades[:2]:
        unwrap(await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tags["Late"]]}))
    single = unwrap(await client.patch(f"/tag-categories/{other}", json={"single": True}))

    assert (error_of(refused), details_of(refused)) == ((409, "conflict"), several)
    assert moved.is_success
    assert single["single"] is True


async def test_a_tag_moves_into_a_single_category_unless_a_trade_would_have_two(
    client: Client, account_id: int, tags: dict[str, int]
) -> None:
    market = unwrap(await client.get(f"/tags/{tags['Trend']}"))["category_id"]
    trade = await factories.create_trade(client, account_id, tag_ids=[tags["Trend"], tags["Late"]])

    refused = await client.patch(f"/tags/{tags['Late']}", json={"category_id": market})
    unwrap(await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tags["Late"]]}))
    moved = unwrap(await client.patch(f"/tags/{tags['Late']}", json={"category_id": market}))

    assert error_of(refused) == (409, "conflict")
    assert [*details_of(refused)["fields"]] == ["category_id"]
    assert moved["category_id"] == market


async def test_a_row_of_a_file_has_one_tag_of_a_single_category(
    client: Client, account_id: int, tags: dict[str, int]
) -> None:
    file = factories.build_file({"tags": "Trend;Late"}, {"tags": "Range;Trend"})

    refused = await factories.send_file(client, file, account_id)

    assert error_of(refused) == (400, "validation_error")
    assert ONE_OF_MARKET in details_of(refused)["reason"]


async def test_of_merged_trades_the_first_with_a_tag_of_the_category_keeps_it(
    client: Client, account_id: int, tags: dict[str, int]
) -> None:
    parts = [
        await factories.create_trade(
            client,
            account_id,
            tag_ids=[tags[name] for name in names],
            opened_at=f"2026-01-05T1{hour}:00:00Z",
            closed_at="2026-01-05T15:00:00Z",
        )
        for hour, names in enumerate([["Late"], ["Range"], ["Trend", "Late"]])
    ]

    whole = unwrap(await client.post("/trades/merge", json={"ids": [one["id"] for one in parts]}))
    assert [tag["name"] for tag in whole["tags"]] == ["Late", "Range"]
    unwrap(await client.put(f"/trades/{whole['id']}/tags", json={"tag_ids": [tags["Trend"]]}))
    split = unwrap(await client.post(f"/trades/{whole['id']}/split"))

    assert [await read_tags(client, one) for one in parts] == [["Trend"], ["Range"], ["Late", "Trend"]]
    assert len(split) == 3


async def test_reports_are_by_the_tags_of_one_category_and_by_what_is_written_on_the_day(
    client: Client, account_id: int, tags: dict[str, int]
) -> None:
    market = unwrap(await client.get(f"/tags/{tags['Trend']}"))["category_id"]
    for number, names in enumerate([["Trend", "Late"], ["Trend"], ["Range"], ["Late"]], 1):
        times = dict.fromkeys(("opened_at", "closed_at"), f"2026-01-0{number}T12:00:00Z")
        await factories.create_trade(
            client, account_id, **times, gross_pnl=number, tag_ids=[tags[name] for name in names]
        )
    await factories.write_day(client, "2026-01-01", rating=2, tag_ids=[tags["Late"]])
    await factories.write_day(client, "2026-01-02", rating=5, tag_ids=[tags["Late"], tags["Range"]])

    async def read(**query: Any) -> list[tuple[Any, Any, float]]:
        report = unwrap(await client.get("/reports", params={"metrics": "net_pnl", **query}))
        return [(one["key"], one["name"], one["values"]["net_pnl"]) for one in report["groups"]]

    none = (None, None)
    trend, ranging, late = ((tags[name], name) for name in ("Trend", "Range", "Late"))
    assert await read(group_by="category", category_id=market) == [(*none, 4), (*trend, 3), (*ranging, 3)]
    assert await read(group_by="category", category_id=10**6) == [(*none, 10)]
    assert await read(group_by="day_rating") == [(2, "2", 1), (5, "5", 2), (*none, 7)]
    assert await read(group_by="day_tag") == [(*none, 7), (*late, 3), (*ranging, 2)]
    pairs = unwrap(await client.get("/reports?group_by=day_rating,day_tag&metrics=net_pnl"))["groups"]
    assert {tuple(one["keys"]): one["values"]["net_pnl"] for one in pairs} == {
        (2, tags["Late"]): 1,
        (5, tags["Late"]): 2,
        (5, tags["Range"]): 2,
        (None, None): 7,
    }


@for_rows(
    "query, field",
    [
        ({"group_by": "category"}, "category_id"),
        ({"group_by": "weekday", "category_id": 1}, "category_id"),
        ({"group_by": "tag,day_tag"}, "group_by"),
        ({"group_by": "category,tag", "category_id": 1}, "group_by"),
        ({"group_by": "day_tag,confirmation"}, "group_by"),
    ],
)
async def test_a_category_is_named_and_one_key_at_most_may_put_a_trade_in_several_groups(
    client: Client, query: dict[str, Any], field: str
) -> None:
    answer = await client.get("/reports", params=query)

    assert error_of(answer) == (400, "validation_error")
    assert [*details_of(answer)["fields"]] == [field]


@for_rows("keys, status", [("tag", 200), ("day_tag", 403), ("weekday,day_rating", 403)])
async def test_a_report_by_what_is_written_on_days_needs_a_key_that_reads_days(
    app: Starlette, client: Client, keys: str, status: int
) -> None:
    async with client_of(app, await new_key_for(app, scopes=("read:trades",))) as narrow:
        answers = [await one.get("/reports", params={"group_by": keys}) for one in (narrow, client)]

    assert [answer.status_code for answer in answers] == [status, 200]
