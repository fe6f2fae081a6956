"""Days: what is written on them, beside what was traded (docs/journal.md#days)."""

from typing import Any

import factories
from factories import Client, error_of, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

DAY = "2026-01-05"
NOTHING: dict[str, Any] = {
    "date": DAY,
    "currency": None,
    "net_pnl": 0,
    "sums": [],
    "trade_count": 0,
    "wins": 0,
    "losses": 0,
    "has_text": False,
    "rating": None,
    "tag_ids": [],
    "picture_count": 0,
}
UNWRITTEN = {
    **NOTHING,
    "id": None,
    "plan": None,
    "review": None,
    "tags": [],
    "pictures": [],
    "goals": [],
    "created_at": None,
    "updated_at": None,
}


async def get_day(client: Client, day: str = DAY, **query: Any) -> Any:
    return unwrap(await client.get(f"/days/{day}", params=query))


async def list_days(client: Client, **query: Any) -> Any:
    return unwrap(await client.get("/days", params=query))


async def numbers_of(client: Client, **query: Any) -> list[Any]:
    """The listed days as rows of date, net P&L, trades, wins and losses."""
    members = ("date", "net_pnl", "trade_count", "wins", "losses")
    return [tuple(day[name] for name in members) for day in await list_days(client, **query)]


async def count_rows(app: Starlette) -> int:
    ((count,),) = await run_sql(app, "SELECT count(*) FROM days")
    return int(count)


async def test_a_day_on_which_nothing_happened_can_be_read_and_is_in_no_list(client: Client) -> None:
    assert await get_day(client) == UNWRITTEN
    assert await list_days(client) == []


async def test_a_list_with_text_has_what_is_written_and_the_pictures(client: Client) -> None:
    await factories.write_day(client, plan="Wait.")
    picture = await factories.create_picture(client, "/days/2026-01-06")
    plain = await list_days(client)

    assert await list_days(client, **{"with": "text"}) == [
        {**plain[0], "plan": None, "review": None, "pictures": [picture]},
        {**plain[1], "plan": "Wait.", "review": None, "pictures": []},
    ]
    assert error_of(await client.get("/days", params={"with": "goals"})) == (400, "validation_error")


async def test_a_patch_makes_the_day_and_a_later_one_changes_what_it_sends(client: Client) -> None:
    tag = await factories.create_tag(client)
    first = await factories.write_day(client, plan="Wait.\n\n- no news", rating=4, tag_ids=[tag["id"]])
    second = await factories.write_day(client, review="Did not wait.")

    assert first["created_at"] == first["updated_at"]
    assert first == {
        **UNWRITTEN,
        "plan": "Wait.\n\n- no news",
        "rating": 4,
        "has_text": True,
        "tag_ids": [tag["id"]],
        "tags": [{name: tag[name] for name in ("id", "name", "color", "type")}],
        **{name: first[name] for name in ("id", "created_at", "updated_at")},
    }
    assert second == {**first, "review": "Did not wait.", "updated_at": second["updated_at"]}
    assert second["updated_at"] > first["updated_at"]
    assert await get_day(client) == second
    assert await list_days(client) == [{name: second[name] for name in NOTHING}]


@for_rows("sent", [{}, {"plan": "Wait."}, {"tag_ids": []}, {"rating": None}])
async def test_a_patch_that_changes_nothing_keeps_the_version(client: Client, sent: dict[str, Any]) -> None:
    before = await factories.write_day(client, plan="Wait.")

    assert unwrap(await client.patch(f"/days/{DAY}", json=sent)) == before


@for_rows(
    "written, cleared",
    [
        ({"plan": "Wait."}, {"plan": None}),
        ({"review": "Waited."}, {"review": ""}),
        ({"rating": 5}, {"rating": None}),
        ({"tag_ids": [1]}, {"tag_ids": []}),
        ({"plan": "Wait.", "tag_ids": [1], "rating": 1}, {"plan": "", "tag_ids": [], "rating": None}),
    ],
)
async def test_a_day_with_nothing_left_written_is_no_row(
    client: Client, app: Starlette, written: dict[str, Any], cleared: dict[str, Any]
) -> None:
    await factories.create_tag(client)
    await factories.write_day(client, **written)
    assert await count_rows(app) == 1

    assert await factories.write_day(client, **cleared) == UNWRITTEN

    assert await count_rows(app) == 0


async def test_a_patch_that_writes_nothing_makes_no_row(client: Client, app: Starlette) -> None:
    nothing: list[dict[str, Any]] = [{}, {"plan": ""}, {"tag_ids": []}]
    for sent in nothing:
        assert unwrap(await client.patch(f"/days/{DAY}", json=sent)) == UNWRITTEN
    assert await count_rows(app) == 0


async def test_a_text_can_give_way_to_a_tag_and_a_tag_to_another(client: Client) -> None:
    first, second = await factories.create_tag(client), await factories.create_tag(client, "Tilt")
    written = await factories.write_day(client, plan="Wait.")

    tagged = await factories.write_day(client, plan=None, tag_ids=[first["id"]])
    retagged = await factories.write_day(client, tag_ids=[second["id"], second["id"]])

    assert (tagged["tag_ids"], retagged["tag_ids"]) == ([first["id"]], [second["id"]])
    assert written["created_at"] == tagged["created_at"] == retagged["created_at"]


async def test_a_deleted_tag_takes_a_day_along_that_had_nothing_else(client: Client, app: Starlette) -> None:
    tag = await factories.create_tag(client)
    await factories.write_day(client, tag_ids=[tag["id"]])
    await factories.write_day(client, "2026-01-06", rating=1, tag_ids=[tag["id"]])

    await client.delete(f"/tags/{tag['id']}")

    assert await count_rows(app) == 1
    assert [(day["date"], day["tag_ids"]) for day in await list_days(client)] == [("2026-01-06", [])]


async def test_delete_clears_what_was_written_and_keeps_the_trades(client: Client) -> None:
    await factories.create_trade(client)
    await factories.write_day(client, plan="Wait.", rating=2)

    assert (await client.delete(f"/days/{DAY}")).status_code == 204

    assert await get_day(client) == {
        **UNWRITTEN,
        "currency": "USD",
        "net_pnl": 1,
        "sums": [{"currency": "USD", "net_pnl": 1}],
        "trade_count": 1,
        "wins": 1,
    }
    assert error_of(await client.delete(f"/days/{DAY}")) == (404, "not_found")


async def test_a_day_shows_its_pictures_and_is_listed_for_them_alone(client: Client) -> None:
    first, second = [await factories.create_picture(client, f"/days/{DAY}") for _ in range(2)]
    unwrap(await client.patch(f"/pictures/{second['id']}", json={"sort_order": 0}))
    unwrap(await client.patch(f"/pictures/{first['id']}", json={"sort_order": 1}))

    day = await get_day(client)

    assert [picture["id"] for picture in day["pictures"]] == [second["id"], first["id"]]
    assert [(day["date"], day["picture_count"]) for day in await list_days(client)] == [(DAY, 2)]

    assert (await client.delete(f"/days/{DAY}")).status_code == 204
    assert await list_days(client) == []
    assert error_of(await client.get(f"/pictures/{first['id']}")) == (404, "not_found")


async def test_a_day_with_nothing_written_has_a_version(client: Client) -> None:
    read = await client.get(f"/days/{DAY}")
    path, version = f"/days/{DAY}", {"If-Match": read.headers["etag"]}

    first = await client.patch(path, json={"plan": "Mine"}, headers=version)
    second = await client.patch(path, json={"plan": "Theirs"}, headers=version)

    assert first.headers["etag"] == (await client.get(path)).headers["etag"]
    assert error_of(second) == (412, "precondition_failed")
    assert (await get_day(client))["plan"] == "Mine"
    assert error_of(await client.delete(path, headers=version)) == (412, "precondition_failed")


async def test_the_version_of_a_write_is_that_of_the_next_read_while_goals_are_stale(client: Client) -> None:
    await factories.create_goal(client, timeframe="daily")
    await factories.create_trade(client)

    written = await client.patch(f"/days/{DAY}", json={"plan": "Wait."})

    assert len(unwrap(written)["goals"]) == 1
    assert written.headers["etag"] == (await client.get(f"/days/{DAY}")).headers["etag"]


async def test_a_day_that_was_cleared_meanwhile_is_not_written_again(client: Client) -> None:
    read = await factories.write_day(client, plan="First")
    await client.delete(f"/days/{DAY}")

    refused = await client.patch(f"/days/{DAY}", json={**read, "review": "Mine"})

    assert error_of(refused) == (412, "precondition_failed")


async def test_days_with_trades_or_text_are_listed_newest_first_in_pages(client: Client, app: Starlette) -> None:
    account = await factories.insert_account(app)
    for day, pnl in (("2026-01-05", 50), ("2026-01-05", -20), ("2026-01-07", -5), ("2026-01-09", 0)):
        await factories.insert_trade(app, account, closed_at=f"{day}T15:00:00Z", gross_pnl=pnl)
    await factories.insert_trade(app, account, closed_at=None)
    await factories.write_day(client, "2026-01-06")
    expected = [
        ("2026-01-09", 0, 1, 0, 0),
        ("2026-01-07", -5, 1, 0, 1),
        ("2026-01-06", 0, 0, 0, 0),
        ("2026-01-05", 30, 2, 1, 1),
    ]

    page = await client.get("/days", params={"limit": 2, "offset": 1})

    assert await numbers_of(client) == expected
    assert await numbers_of(client, **{"from": "2026-01-06", "to": "2026-01-07"}) == expected[1:3]
    assert await numbers_of(client, limit=2, offset=1) == expected[1:3]
    assert page.json()["meta"]["pagination"] == {"limit": 2, "offset": 1, "total": 4}
    for day in await list_days(client):
        assert {name: (await get_day(client, day["date"]))[name] for name in day} == day


async def test_copies_are_one_decision_as_in_a_report_by_day(client: Client, app: Starlette) -> None:
    first, second, third = [await factories.insert_account(app, name) for name in ("A", "B", "C")]
    original = await factories.insert_trade(app, first, gross_pnl=30)
    await factories.insert_trade(app, second, gross_pnl=-10, source_trade_id=original)
    await factories.insert_trade(app, third, gross_pnl=-90, source_trade_id=original, closed_at="2026-01-06T01:00:00Z")
    await factories.insert_trade(app, first, gross_pnl=-1)

    query = {"group_by": "day", "metrics": "net_pnl,trade_count"}
    report = unwrap(await client.get("/reports", params=query))

    assert await numbers_of(client) == [("2026-01-06", -90, 1, 0, 1), ("2026-01-05", 19, 2, 1, 1)]
    assert (await numbers_of(client))[::-1] == [
        (
            group["key"],
            group["values"]["net_pnl"],
            group["values"]["trade_count"],
            group["statistics"]["wins"],
            group["statistics"]["losses"],
        )
        for group in report["groups"]
    ]


async def test_a_break_even_is_neither_a_win_nor_a_loss(client: Client, app: Starlette) -> None:
    account = await factories.insert_account(app)
    for pnl in (5, 5.01, -5, -5.01, 0):
        await factories.insert_trade(app, account, gross_pnl=pnl)
    assert await numbers_of(client) == [(DAY, 0, 5, 2, 2)]

    unwrap(await client.patch("/me", json={"breakeven_within": 5}))

    assert await numbers_of(client) == [(DAY, 0, 5, 1, 1)]


async def test_the_numbers_are_of_the_accounts_asked_for_and_texts_of_all(client: Client) -> None:
    first, second = await factories.create_account(client, "A"), await factories.create_account(client, "B")
    group = await factories.create_copy_group(client, account_ids=[second["id"]])
    await factories.create_trade(client, first["id"], gross_pnl=5)
    await factories.create_trade(client, second["id"], gross_pnl=7)
    await factories.create_trade(client, second["id"], gross_pnl=9, closed_at="2026-01-07T12:00:00Z")
    await factories.write_day(client, "2026-01-06")
    text = ("2026-01-06", 0, 0, 0, 0)

    assert await numbers_of(client, account_id=first["id"]) == [text, (DAY, 5, 1, 1, 0)]
    assert await numbers_of(client, copy_group_id=group["id"]) == [("2026-01-07", 9, 1, 1, 0), text, (DAY, 7, 1, 1, 0)]
    assert await numbers_of(client, account_id=999) == [text]
    assert (await get_day(client, account_id=second["id"]))["net_pnl"] == 7


async def test_amounts_in_different_currencies_are_not_added(client: Client) -> None:
    dollars, euros = (
        await factories.create_account(client),
        await factories.create_account(client, "EUR", currency="EUR"),
    )
    await factories.create_trade(client, dollars["id"])
    trade = await factories.create_trade(client, euros["id"])
    await factories.create_trade(client, euros["id"], gross_pnl=-0.25)

    day = await get_day(client)

    assert (day["net_pnl"], day["currency"], day["trade_count"], day["wins"]) == (None, None, 3, 2)
    euro = {"currency": "EUR", "net_pnl": trade["net_pnl"] - 0.25}
    assert day["sums"] == [euro, {"currency": "USD", "net_pnl": trade["net_pnl"]}]
    assert [one["sums"] for one in await list_days(client)] == [day["sums"]]
    of_euros = await get_day(client, account_id=euros["id"])
    assert (of_euros["currency"], of_euros["sums"]) == ("EUR", [euro])


async def test_a_sum_that_is_out_of_range_is_null(client: Client, app: Starlette) -> None:
    account = await factories.insert_account(app)
    for _ in range(10):
        await factories.insert_trade(app, account, gross_pnl=10**10)

    assert await numbers_of(client) == [(DAY, None, 10, 10, 0)]
    assert (await get_day(client))["net_pnl"] is None
    unwrap(await client.patch(f"/accounts/{account}", json={"currency": "EUR"}))
    assert (await get_day(client))["sums"] == [{"currency": "EUR", "net_pnl": None}]


async def test_a_day_has_the_snapshots_of_its_daily_goals(client: Client) -> None:
    await factories.create_trade(client)
    goal = await factories.create_goal(client, goal_name="Enough", timeframe="daily")
    await factories.create_goal(client, timeframe="weekly")
    paused = await factories.create_goal(client, timeframe="daily", metric="worst_day", target_value=-100)
    unwrap(await client.get(f"/goals/{paused['id']}/snapshots"))
    unwrap(await client.patch(f"/goals/{paused['id']}", json={"status": "paused"}))

    goals = (await get_day(client))["goals"]

    named = ("goal_id", "goal_name", "metric", "kind", "period_start", "period_end", "actual", "achieved")
    assert [tuple(one[name] for name in named) for one in goals] == [
        (goal["id"], "Enough", "net_pnl", "target", DAY, DAY, 1, False),
        (paused["id"], "Goal", "worst_day", "limit", DAY, DAY, 1, True),
    ]


async def test_texts_stay_where_they_are_when_the_rollover_moves_the_trades(client: Client) -> None:
    await factories.create_trade(client, closed_at="2026-01-05T23:00:00Z")
    await factories.write_day(client)

    unwrap(await client.patch("/me", json={"day_rollover": "22:00"}))

    assert [(day["date"], day["trade_count"], day["has_text"]) for day in await list_days(client)] == [
        ("2026-01-06", 1, False),
        (DAY, 0, True),
    ]


async def test_templates_are_settings_and_fill_nothing(client: Client) -> None:
    unwrap(await client.patch("/me", json={"plan_template": "## Levels", "review_template": "## Lessons"}))

    me = unwrap(await client.get("/me"))

    assert (me["plan_template"], me["review_template"]) == ("## Levels", "## Lessons")
    assert await get_day(client) == UNWRITTEN
    assert unwrap(await client.patch("/me", json={"plan_template": None}))["plan_template"] is None
