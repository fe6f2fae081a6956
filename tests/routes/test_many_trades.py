"""Changing and deleting many trades at once: docs/api.md#many-trades-at-once."""

import asyncio
from typing import Any

import factories
import httpx
import msgspec
import pytest
from factories import Client, details_of, error_of, unwrap
from operations import dump
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.repositories import trade_merges
from journal_api.structs.many_trades import TradeWhere
from journal_api.structs.trades import TradeFilter

Json = dict[str, Any]
NOT_YOURS = "is not one of your trades, or is sent twice"
OPEN = {"closed_at": None, "exit_price": None}


async def change(client: Client, **body: Any) -> Any:
    """The trades as they are after the change."""
    response = await client.patch("/trades", json=body)
    assert response.status_code == 200, response.text
    return response.json()["data"]["trades"]


async def refuse(client: Client, **body: Any) -> Any:
    """The details of the refusal."""
    response = await client.patch("/trades", json=body)
    assert error_of(response) == (400, "validation_error"), response.text
    return details_of(response)


async def delete(client: Client, *ids: int, **query: Any) -> httpx.Response:
    return await client.request("DELETE", "/trades", json={"ids": ids}, params=query)


async def create_setup(client: Client, name: str = "Breakout") -> Any:
    strategy = await factories.create_strategy(client, **{**factories.A_CHECKLIST, "name": name})
    return {"strategy_id": strategy["id"], **strategy["setups"][0]}


def answer(setup: Any) -> Json:
    """Members of a trade of the setup, with both of its answers."""
    answers = [{"confirmation_id": one["confirmation_id"], "was_present": True} for one in setup["confirmations"]]
    return {"setup_id": setup["setup_id"], "confirmations": answers}


@pytest.fixture
async def various(client: Client) -> list[int]:
    """Trades of all kinds: with fees of a commission, stated, open, of a setup with answers, scaled."""
    account = await factories.create_account(client, "First", fees={"default": 1})
    (tag, setup) = (await factories.create_tag(client))["id"], await create_setup(client)
    kinds: list[Json] = [
        {},
        {"fees": 3, "gross_pnl": 77, "tag_ids": [tag]},
        {**OPEN, "stop_loss": 99},
        {**answer(setup), "grade": "B", "notes": "before"},
        {"external_id": "x"},
    ]
    ids = [(await factories.create_trade(client, account["id"], **kind))["id"] for kind in kinds]
    fill = {"side": "buy", "quantity": 1, "price": 100, "at": "2026-01-05T14:30:00Z"}
    unwrap(await client.post(f"/trades/{ids[2]}/fills", json=fill))
    return ids


@pytest.fixture
async def late(client: Client, various: list[int]) -> int:
    """A second setup, two more accounts, and the id of a second tag."""
    await create_setup(client, "Second")
    await factories.create_account(client, "Other", fees={"default": 5})
    await factories.create_account(client, "Third")
    return int((await factories.create_tag(client, "Late"))["id"])


# What a change means -------------------------------------------------------------------------------------

CHANGES: list[Json] = [
    {},
    {"grade": "A+", "notes": "reviewed", "initial_risk": 12.5, "stop_loss": 98},
    {"grade": None, "notes": None, "initial_risk": None, "stop_loss": None},
    {"strategy_id": None},
    {"setup_id": None},
    {"setup_id": 2},
    {"strategy_id": 2},
    {"strategy_id": 1, "setup_id": 1},
    {"account_id": 2},
    {"account_id": 3, "grade": "C"},
    {"confirmations": []},
    {"setup_id": 1, "confirmations": [{"confirmation_id": 2, "was_present": False, "notes": "late"}]},
    {"setup_id": 2, "confirmations": [{"confirmation_id": 3, "name": "Volume", "was_present": True}]},
]


@for_rows("changes", CHANGES)
async def test_many_trades_are_changed_as_a_patch_of_each_would_change_it(
    client: Client, various: list[int], late: int, changes: Json
) -> None:
    stored = [await factories.get_trade(client, trade_id) for trade_id in various]
    alone = [
        await client.patch(
            f"/trades/{trade['id']}?dry_run=true", json={**changes, "tag_ids": sorted({*trade["tag_ids"], late} - {1})}
        )
        for trade in stored
    ]

    changed = await change(client, ids=various, set=changes, add_tag_ids=[late, late], remove_tag_ids=[1])

    read = [await factories.get_trade(client, trade_id) for trade_id in various]
    assert [{**trade, "updated_at": None} for trade in read] == [{**unwrap(one), "updated_at": None} for one in alone]
    assert all(now["updated_at"] > then["updated_at"] for now, then in zip(read, stored, strict=True))
    assert changed == [{name: trade[name] for name in one} for trade, one in zip(read, changed, strict=True)]


@for_rows("changes", CHANGES)
async def test_a_change_is_taken_back_by_what_it_answers_with_its_etag(
    client: Client, various: list[int], late: int, changes: Json
) -> None:
    before = [await factories.get_trade(client, trade_id) for trade_id in various]
    body = {"ids": various, "set": changes, "add_tag_ids": [late], "remove_tag_ids": [1]}
    changed = await client.patch("/trades", json=body)
    undo = {"restore": changed.json()["data"]["restore"]}
    condition = {"If-Match": changed.headers["ETag"]}
    for account_id in (1, 2, 3):  # new commissions are for trades to come
        unwrap(await client.patch(f"/accounts/{account_id}", json={"fees": {"default": 8}}))

    undone = await client.patch("/trades", json=undo, headers=condition)
    assert undone.status_code == 200, undone.text
    assert [{**await factories.get_trade(client, one["id"]), "updated_at": None} for one in before] == [
        {**one, "updated_at": None} for one in before
    ]
    again = await client.patch("/trades", json=undo, headers=condition)
    assert error_of(again) == (412, "precondition_failed")


async def test_no_charge_replaces_stated_fees(client: Client, various: list[int]) -> None:
    charge = {"fees": 9, "fees_source": "account"}
    restore: list[Json] = [{"id": one, "set": {"grade": "F"}, "charge": charge} for one in various[:2]]

    assert "trades[1].charge" in (await refuse(client, restore=restore))["fields"]
    assert [(await factories.get_trade(client, one))["fees"] for one in various[:2]] == [2, 3]


async def test_texts_of_many_trades_are_bounded_together(
    client: Client, other_user_client: Client, various: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trade_merges, "MAX_TEXTS", 500)
    fewer, notes = various[:2], {"notes": "é" * 100}
    await factories.create_account(other_user_client)
    await factories.create_trade(other_user_client, 2, notes="é" * 4000)

    assert list((await refuse(client, ids=various, set=notes))["fields"]) == ["set"]
    for ids in (fewer, various[2:4]):
        await change(client, ids=ids, set=notes)
    answers = [{"confirmation_id": 1, "was_present": True, "notes": "é" * 100}]
    await change(client, ids=various[3:4], set={"confirmations": answers})

    reads = {
        "PATCH /trades": {"ids": various, "set": {"grade": "A"}},
        "DELETE /trades": {"ids": various},
        "POST /trades/merge": {"ids": various},
    }
    for request, body in reads.items():
        refused = await client.request(*request.split(), json=body)
        assert list(details_of(refused)["fields"]) == ["ids"], refused.text
    await refuse(client, where={}, set={"grade": "A"})
    await refuse(client, restore=[{"id": one, "set": {}} for one in various])
    await change(client, ids=fewer, set={"grade": "A"})


async def test_nothing_is_taken_back_unless_all_is(client: Client, various: list[int]) -> None:
    changed = await client.patch("/trades", json={"ids": various, "set": {"setup_id": None, "grade": "F"}})
    restore = changed.json()["data"]["restore"]
    await client.delete(f"/trades/{various[0]}")

    assert "restore[0].id" in (await refuse(client, restore=restore))["fields"]
    restore = [{**one, "tag_ids": [99]} if one["id"] == various[4] else one for one in restore[1:]]
    assert (await refuse(client, restore=restore))["unknown_tag_ids"] == [99]
    assert [(await factories.get_trade(client, one))["grade"] for one in various[1:]] == ["F"] * 4
    others: list[Json] = [{"set": {}}, {"add_tag_ids": [1]}, {"ids": various[1:]}]
    for more in others:
        await refuse(client, restore=restore, **more)


async def test_what_changes_nothing_keeps_every_version(client: Client, various: list[int]) -> None:
    before = [await factories.get_trade(client, trade_id) for trade_id in various]

    await change(client, ids=various)
    await change(client, ids=[various[3]], set={"grade": "B", "setup_id": 1, "strategy_id": 1})
    await change(client, ids=[various[1]], add_tag_ids=[1])
    await change(client, ids=[various[0]], remove_tag_ids=[1])

    assert [await factories.get_trade(client, trade_id) for trade_id in various] == before


async def test_the_answers_that_go_with_a_setup_are_counted(client: Client, various: list[int]) -> None:
    tried, done = [
        await client.patch("/trades", json={"ids": various, "set": {"setup_id": None}}, params=query)
        for query in ({"dry_run": True}, {})
    ]

    assert [one.headers["X-Answers-Deleted"] for one in (tried, done)] == ["2", "2"]
    again = await client.patch("/trades", json={"ids": various, "set": {"setup_id": None}})
    assert again.headers["X-Answers-Deleted"] == "0"
    for confirmation_id, gone in ((1, "0"), (2, "5")):
        answers = [{"confirmation_id": confirmation_id, "was_present": True}]
        answered = {"setup_id": 1, "confirmations": answers}
        replaced = await client.patch("/trades", json={"ids": various, "set": answered})
        assert replaced.headers["X-Answers-Deleted"] == gone


async def test_goals_follow(client: Client, various: list[int]) -> None:
    goals = [
        await factories.create_goal(
            client, metric="trade_count", **factories.YEAR, target_value=9, account_id=account_id
        )
        for account_id in (1, (await factories.create_account(client, "Other"))["id"])
    ]
    closed = various[:2]
    before, none = [await factories.read_actual(client, goal) for goal in goals]

    await change(client, ids=closed, set={"account_id": 2})

    assert [await factories.read_actual(client, goal) for goal in goals] == [before - 2, (none or 0) + 2]
    await delete(client, *closed)
    assert await factories.read_actual(client, goals[1]) in (None, 0)


# Which trades --------------------------------------------------------------------------------------------


async def test_the_trades_come_back_in_the_order_of_their_ids(client: Client, various: list[int]) -> None:
    shuffled = [various[index] for index in (3, 0, 4, 1, 2)]

    assert [trade["id"] for trade in await change(client, ids=shuffled)] == shuffled


FILTERS: list[Json] = [
    {},
    {"account_id": 1, "grade": "B"},
    {"outcome": "open"},
    {"from": "2026-01-05", "to": "2026-01-05", "direction": "long"},
    {"tag_id": 1},
    {"setup_id": 1, "strategy_id": 1},
    {"symbol": "es", "root": "ES"},
    {"fees_source": "account"},
    {"copy_group_id": 1},
    {"import_id": 1},
    {"copies": False},
    {"source_trade_id": 1},
]


@for_rows("where", FILTERS)
async def test_where_selects_what_the_list_shows_in_its_order(client: Client, various: list[int], where: Json) -> None:
    query = {name: str(value).lower() if name == "copies" else value for name, value in where.items()}
    listed = unwrap(await client.get("/trades", params=query))

    changed = await change(client, where=where, set={"notes": "selected"})

    assert [trade["id"] for trade in changed] == [trade["id"] for trade in listed]
    noted = await factories.list_trades(client)
    selected = {trade["id"] for trade in listed}
    assert {trade["id"] for trade in noted if trade["notes"] == "selected"} == selected


def test_where_has_every_filter_of_the_list() -> None:
    listed, selecting = [
        [field.encode_name for field in msgspec.structs.fields(one)] for one in (TradeFilter, TradeWhere)
    ]

    assert selecting == listed


async def test_a_thousand_trades_change_and_one_more_is_refused_with_the_count(app: Starlette, client: Client) -> None:
    account = await factories.insert_account(app)
    for _ in range(1000):
        await factories.insert_trade(app, account)

    changed = await change(client, where={}, set={"grade": "A"})

    assert len(changed) == 1000
    assert {trade["grade"] for trade in changed} == {"A"}
    await factories.insert_trade(app, account)
    assert await refuse(client, where={}, set={"grade": "B"}) == {
        "fields": {"where": "matches 1001 trades, and must match at most 1000"}
    }
    too_long = await refuse(client, ids=list(range(1, 1002)))
    assert too_long == {"fields": {"ids": "must be array of length <= 1000"}}
    assert len(await change(client, where={"grade": "A"})) == 1000


# What is refused -----------------------------------------------------------------------------------------

REFUSALS: list[tuple[Json, Json]] = [
    ({}, {"ids": "must be sent unless where or restore is, and one of them alone"}),
    ({"ids": [1], "where": {}}, {"ids": "must be sent unless where or restore is, and one of them alone"}),
    ({"ids": [1, 99, 2, 1, 98]}, {f"ids[{index}]": NOT_YOURS for index in (1, 3, 4)}),
    ({"restore": [{"id": 1, "set": {}}, {"id": 99, "set": {}}]}, {"restore[1].id": NOT_YOURS}),
    ({"where": {"from": "2026-01-02", "to": "2026-01-01"}}, {"where.from": "must not be after to"}),
    ({"ids": [4, 5], "set": {"setup_id": 9}}, {
        "trades[0].setup_id": "is not one of your setups",
        "trades[1].setup_id": "is not one of your setups",
    }),
    (
        {"ids": [1, 4], "set": {"strategy_id": 2, "setup_id": 1}},
        {f"trades[{index}].setup_id": "is not a setup of that strategy" for index in (0, 1)},
    ),
    (
        {"ids": [1, 2], "set": {"strategy_id": 3}},
        {f"trades[{index}].strategy_id": "is restricted to other accounts" for index in (0, 1)},
    ),
    (
        {"ids": [4, 1], "set": {"confirmations": [{"confirmation_id": 1, "was_present": True}]}},
        {
            "trades[1]": "Some confirmations do not belong to the trade's setup or are repeated: 1.",
        },
    ),
    (
        {"ids": [4], "set": {"confirmations": [{"confirmation_id": 1, "name": "Vol", "was_present": True}]}},
        {"trades[0].confirmations[0].name": "is read-only"},
    ),
    ({"ids": [1, 5], "set": {"account_id": 2}}, {"trades[1].external_id": "is taken"}),
    ({"ids": [2, 1], "add_tag_ids": list(range(2, 102))}, {"trades[0].tag_ids": "would be 101, at most 100"}),
    (
        {"ids": [1], "add_tag_ids": [1, 3, 2], "remove_tag_ids": [3, 2]},
        {"remove_tag_ids": "must have no tags of add_tag_ids: 2, 3"},
    ),
]  # fmt: skip


@pytest.fixture
async def crowded(client: Client, various: list[int]) -> None:
    """Another account with a strategy and an external id of its own, a second setup, 101 tags."""
    assert various == [1, 2, 3, 4, 5]
    other = await factories.create_account(client, "Other")
    await create_setup(client, "Second")
    await factories.create_strategy(client, "Only there", account_id=other["id"])
    await factories.create_trade(client, other["id"], external_id="x")
    for number in range(2, 102):
        await factories.create_tag(client, f"tag {number}", category_id=1)


@pytest.mark.usefixtures("crowded")
@for_rows("body, fields", REFUSALS)
async def test_a_refusal_names_the_trade_and_writes_nothing(
    app: Starlette, client: Client, body: Json, fields: Json
) -> None:
    before = dump(app)

    details = await refuse(client, **body)

    assert details["fields"] == fields
    assert dump(app) == before


async def test_unknown_members_and_tags_are_named(client: Client, various: list[int]) -> None:
    assert await refuse(client, ids=various, set={"symbol": "NQ"}, more=1) == {"unknown_fields": ["set.symbol", "more"]}
    assert await refuse(client, ids=various, add_tag_ids=[1, 8], remove_tag_ids=[7]) == {"unknown_tag_ids": [8, 7]}
    answers = [{"confirmation_id": 9, "was_present": True}]
    details = await refuse(client, ids=various, set={"confirmations": answers})
    assert details["unknown_confirmation_ids"] == [9]


# Deleting ------------------------------------------------------------------------------------------------


async def test_many_trades_are_deleted_and_a_dry_run_says_what_goes(
    app: Starlette, client: Client, various: list[int]
) -> None:
    before = dump(app)

    tried = await delete(client, *various[1:], dry_run=True)

    assert dump(app) == before
    gone = await delete(client, *various[1:])
    for response in (tried, gone):
        assert (response.status_code, response.content) == (204, b"")
        assert [response.headers[f"X-{what}-Deleted"] for what in ("Trades", "Answers")] == ["4", "2"]
    assert [trade["id"] for trade in await factories.list_trades(client)] == various[:1]


async def test_no_trade_is_deleted_beside_an_unknown_one(app: Starlette, client: Client, various: list[int]) -> None:
    before = dump(app)

    for ids, unknown in (([various[0], 99, various[1]], 1), ([various[0], various[0]], 1)):
        response = await delete(client, *ids)

        assert error_of(response) == (400, "validation_error")
        assert details_of(response) == {"fields": {f"ids[{unknown}]": NOT_YOURS}}
    assert dump(app) == before


async def test_copies_whose_original_is_deleted_with_one_of_them_stay_one_decision(
    client: Client, various: list[int]
) -> None:
    original, *_ = various
    copies = [
        (await factories.create_trade(client, (await factories.create_account(client, f"Copy {number}"))["id"],
                            source_trade_id=original))["id"]
        for number in range(3)
    ]  # fmt: skip

    await delete(client, original, copies[0])

    left = [await factories.get_trade(client, copy) for copy in copies[1:]]
    assert [copy["source_trade_id"] for copy in left] == [None, copies[1]]


# Conditions ----------------------------------------------------------------------------------------------


async def read_etag(client: Client, ids: list[int]) -> dict[str, str]:
    """The condition that these trades are as they are now."""
    read = await client.get("/trades", params={"ids": ",".join(map(str, ids))})
    tried = await client.patch("/trades", json={"ids": ids}, params={"dry_run": True})
    assert read.headers["etag"] == tried.headers["etag"]
    return {"If-Match": read.headers["etag"]}


async def test_a_condition_is_over_the_trades_that_are_named_wherever_they_are_in_the_list(
    app: Starlette, client: Client
) -> None:
    account = await factories.insert_account(app)
    ids = [await factories.insert_trade(app, account) for _ in range(60)]
    oldest, newest = ids[:2], ids[-2:]
    seen = await read_etag(client, oldest)

    unwrap(await client.patch(f"/trades/{newest[0]}", json={"notes": "not named"}))
    first = await client.patch("/trades", json={"ids": oldest[::-1], "set": {"grade": "A"}}, headers=seen)
    unwrap(await client.patch(f"/trades/{oldest[1]}", json={"notes": "of somebody else"}))
    before = dump(app)
    own = {"If-Match": first.headers["etag"]}
    refused = [
        await client.patch("/trades", json={"ids": oldest, "set": {"notes": "lost"}}, headers=own),
        await client.patch("/trades", json={"where": {"grade": "A"}, "add_tag_ids": []}, headers=own),
        await client.request("DELETE", "/trades", json={"ids": oldest}, headers=own),
        await client.post("/trades/merge", json={"ids": oldest}, headers=own),
    ]

    assert first.status_code == 200
    assert [error_of(response) for response in refused] == [(412, "precondition_failed")] * 4
    assert dump(app) == before
    now = await read_etag(client, oldest)
    assert (await client.patch("/trades", json={"where": {"grade": "A"}}, headers=now)).status_code == 200
    assert (await client.request("DELETE", "/trades", json={"ids": oldest}, headers=now)).status_code == 204


async def test_of_parallel_changes_with_one_condition_one_is_made(app: Starlette, client: Client) -> None:
    account = await factories.insert_account(app)
    ids = [await factories.insert_trade(app, account) for _ in range(3)]
    seen = await read_etag(client, ids)

    bodies = [{"ids": ids, "set": {"notes": f"{number}"}} for number in range(30)]
    answers = await asyncio.gather(*(client.patch("/trades", json=body, headers=seen) for body in bodies))

    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 29
    (number,) = [number for number, answer in enumerate(answers) if answer.status_code == 200]
    assert {trade["notes"] for trade in await factories.list_trades(client)} == {f"{number}"}
