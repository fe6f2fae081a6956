"""The day of an account: docs/accounts.md#the-day. The owner's days are those of UTC."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from typing import Any

import factories
import pytest
import time_machine
from factories import Client, run_sql, unwrap
from starlette.applications import Starlette

from journal_api.statistics.row_checks import CHECKS

# Fourteen hours before UTC: A_TRADE closes at 15:00 in UTC and at 05:00 of the next day there.
KIRITIMATI = {"timezone": "Pacific/Kiritimati"}
OWNERS_DAY, NEXT_DAY = "2026-01-05", "2026-01-06"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(datetime.fromisoformat("2026-01-05T09:00:00Z"), tick=False) as clock:
        yield clock


async def days_of(client: Client, account: Any) -> list[str | None]:
    return [trade["trading_day"] for trade in await factories.list_trades(client, account_id=account["id"])]


async def write_one(client: Client, account: Any) -> None:
    await factories.create_trade(client, account["id"])


async def write_in_bulk(client: Client, account: Any) -> None:
    other = await factories.create_account(client, "Of the owner's day")
    trades = [{**factories.A_TRADE, "account_id": one["id"]} for one in (other, account)]
    unwrap(await client.post("/trades/bulk", json={"trades": trades}))


async def import_it(client: Client, account: Any) -> None:
    unwrap(await factories.send_file(client, factories.A_FILE, account["id"]))


async def import_it_twice_and_undo_the_second(client: Client, account: Any) -> None:
    first = factories.A_FILE.replace("symbol", "external_id,symbol", 1).replace("ES", "1,ES", 1)
    unwrap(await factories.send_file(client, first, account["id"]))
    later = first.replace("01-05T15", "01-05T09").replace("01-05T14", "01-05T08")
    corrected = unwrap(await factories.send_file(client, later, account["id"]))
    assert (corrected["counts"]["updated"], await days_of(client, account)) == (1, [OWNERS_DAY])
    assert (await client.delete(f"/imports/{corrected['id']}")).status_code == 204


async def close_it_later(client: Client, account: Any) -> None:
    trade = await factories.create_trade(client, account["id"], closed_at=None, exit_price=None)
    sent = {name: factories.A_TRADE[name] for name in ("closed_at", "exit_price")}
    unwrap(await client.patch(f"/trades/{trade['id']}", json=sent))


async def close_it_by_a_fill(client: Client, account: Any) -> None:
    trade = await factories.create_trade(client, account["id"], closed_at=None, exit_price=None)
    fill = {"side": "sell", "quantity": 1, "price": 101, "at": factories.A_TRADE["closed_at"]}
    unwrap(await client.post(f"/trades/{trade['id']}/fills", json=fill))


async def move_it_there(client: Client, account: Any) -> None:
    trade = await factories.create_trade(client)
    assert trade["trading_day"] == OWNERS_DAY
    unwrap(await client.patch(f"/trades/{trade['id']}", json={"account_id": account["id"]}))


async def merge_and_split_it(client: Client, account: Any) -> None:
    first = await factories.create_trade(client, account["id"])
    second = await factories.create_trade(client, account["id"], closed_at="2026-01-05T16:00:00Z")
    merged = unwrap(await client.post("/trades/merge", json={"ids": [first["id"], second["id"]]}))
    assert merged["trading_day"] == NEXT_DAY
    unwrap(await client.post(f"/trades/{merged['id']}/split"))


async def copy_it_from_another_account(client: Client, account: Any) -> None:
    original = await factories.create_trade(client)
    await factories.create_trade(client, account["id"], source_trade_id=original["id"])
    assert (await client.get(f"/trades/{original['id']}")).json()["data"]["trade"]["trading_day"] == OWNERS_DAY


WAYS = [
    *(write_one, write_in_bulk, import_it, import_it_twice_and_undo_the_second, close_it_later),
    *(close_it_by_a_fill, move_it_there, merge_and_split_it, copy_it_from_another_account),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_a_trade_has_the_day_of_its_account_however_it_is_written(
    app: Starlette, client: Client, way: Callable[[Client, Any], Awaitable[None]]
) -> None:
    account = await factories.create_account(client, "Kiritimati", **KIRITIMATI)

    await way(client, account)

    assert set(await days_of(client, account)) == {NEXT_DAY}
    assert await run_sql(app, CHECKS["days", "trades"], {"most": -1}) == []


async def test_the_preview_of_a_file_has_the_days_of_its_account(client: Client) -> None:
    account = await factories.create_account(client, **KIRITIMATI)

    report = unwrap(await factories.send_file(client, factories.A_FILE, account["id"], dry_run="true"))

    assert (report["preview"]["first_day"], report["preview"]["days"][0]["day"]) == (NEXT_DAY, NEXT_DAY)


async def test_a_change_of_an_account_moves_its_trades_and_no_others(client: Client) -> None:
    account, other = await factories.create_account(client), await factories.create_account(client, "Other")
    for one in (account, other):
        await factories.create_trade(client, one["id"])
    path, seen = f"/accounts/{account['id']}", []

    for sent in (KIRITIMATI, {"day_rollover": "04:00"}, {"timezone": None}, {"day_rollover": None}):
        unwrap(await client.patch(path, json=sent))
        seen += await days_of(client, account)

    # 05:00 on the 6th; after 04:00 there; 15:00 on the 5th, after 04:00 in UTC; as the owner.
    assert seen == ["2026-01-06", "2026-01-07", "2026-01-06", "2026-01-05"]
    assert await days_of(client, other) == [OWNERS_DAY]


async def test_a_dry_run_of_a_change_moves_nothing(client: Client) -> None:
    account = await factories.create_account(client)
    await factories.create_trade(client, account["id"])

    unwrap(await client.patch(f"/accounts/{account['id']}?dry_run=true", json=KIRITIMATI))

    assert await days_of(client, account) == [OWNERS_DAY]


async def test_the_owners_change_moves_what_an_account_has_not_of_its_own(client: Client) -> None:
    sent = [{}, {"timezone": "UTC"}, {"day_rollover": "00:00"}, {"timezone": "UTC", "day_rollover": "00:00"}]
    accounts = [await factories.create_account(client, f"Account {n}", **one) for n, one in enumerate(sent)]
    for account in accounts:
        await factories.create_trade(client, account["id"])

    unwrap(await client.patch("/me", json={**KIRITIMATI, "day_rollover": "14:00"}))

    # 05:00 on the 6th in Kiritimati; 15:00 in UTC, after 14:00; 05:00 on the 6th; as before.
    days = [day for account in accounts for day in await days_of(client, account)]
    assert days == ["2026-01-06", "2026-01-06", "2026-01-06", "2026-01-05"]


async def read_current(client: Client, goal: Any) -> Any:
    goals = unwrap(await client.get("/goals", params={"with": "snapshot"}))
    return next(one["current"] for one in goals if one["id"] == goal["id"])


async def test_today_of_a_goal_of_one_account_is_the_accounts_and_of_others_the_owners(
    client: Client, clock: time_machine.Traveller
) -> None:
    account = await factories.create_account(client, **KIRITIMATI)
    own = await factories.create_goal(client, timeframe="daily", account_id=account["id"])
    of_all = await factories.create_goal(client, timeframe="daily")
    followed = await factories.create_goal(client, timeframe="daily")
    unwrap(await client.patch(f"/goals/{followed['id']}", json={"scope": ""}))
    unwrap(await client.patch("/me", json={"active_selection": f"account_{account['id']}"}))
    seen = []

    for moment in ("2026-01-05T09:59:00Z", "2026-01-05T10:00:00Z", "2026-01-06T00:00:00Z"):
        clock.move_to(datetime.fromisoformat(moment))
        currents = [await read_current(client, goal) for goal in (own, followed, of_all)]
        seen.append([one["period_start"][-2:] for one in currents])
        assert all("pace" in one["snapshot_data"] and not one["closed"] for one in currents)
        assert [one["snapshot_data"]["timezone"] for one in currents] == [*[KIRITIMATI["timezone"]] * 2, "UTC"]

    assert seen == [["05", "05", "05"], ["06", "06", "05"], ["06", "06", "06"]]


@pytest.mark.parametrize("is_read_before", [False, True])
async def test_a_trade_of_an_account_that_is_already_in_tomorrow_counts_at_once(
    client: Client, clock: time_machine.Traveller, is_read_before: bool
) -> None:
    account = await factories.create_account(client, **KIRITIMATI)
    clock.move_to(datetime.fromisoformat("2026-01-31T16:00:00Z"))  # 1 February there
    goals = [await factories.create_goal(client, timeframe=timeframe) for timeframe in ("daily", "monthly")]
    for goal in goals if is_read_before else []:
        await factories.snapshots_of(client, goal["id"])

    await factories.create_trade(client, account["id"], closed_at="2026-01-31T15:00:00Z")

    found = [await factories.snapshots_of(client, goal["id"]) for goal in goals]
    assert [[(one["period_start"], one["actual"]) for one in each] for each in found] == [
        [("2026-02-01", 1), ("2026-01-31", 0)],
        [("2026-02-01", 1), ("2026-01-01", 0)],
    ]
    assert [["pace" in one["snapshot_data"] for one in each] for each in found] == [[False, True]] * 2
    assert not any(one["closed"] for each in found for one in each)
    assert [(await read_current(client, goal))["period_start"][5:] for goal in goals] == ["01-31", "01-01"]


async def test_a_goal_of_an_account_is_paused_on_the_accounts_day(
    client: Client, clock: time_machine.Traveller
) -> None:
    account = await factories.create_account(client, **KIRITIMATI)
    clock.move_to(datetime.fromisoformat("2026-01-05T16:00:00Z"))
    goal = await factories.create_goal(client, timeframe="daily", account_id=account["id"])
    await factories.create_trade(client, account["id"])

    unwrap(await client.patch(f"/goals/{goal['id']}", json={"status": "paused"}))
    unwrap(await client.patch(f"/goals/{goal['id']}", json={"metric": "gross_pnl", "target_value": 1}))

    (snapshot,) = await factories.snapshots_of(client, goal["id"])
    assert (snapshot["period_start"], snapshot["actual"]) == (NEXT_DAY, 1)
