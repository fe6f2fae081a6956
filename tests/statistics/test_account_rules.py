"""Rules of accounts, and standings beyond the examples of tests/docs/test_accounts_page.py."""

import sys
import time
from datetime import date, timedelta
from statistics import median
from types import FrameType
from typing import Any, get_args

import factories
import pytest
import time_machine
from aiosqlite import Connection
from factories import Client, details_of, error_of, run_sql, unwrap
from proofs import SOAK, examples
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.repositories import standings
from journal_api.structs.account_rules import FloorKind

EVERY_RULE = {
    "floor": {"kind": "end_of_day", "distance": 2000, "locks_at": 50100},
    "daily_loss": 1000,
    "profit_target": 3000.5,
    "best_day_share": 33.3,
    "qualifying_day": {"amount": 150, "days": 5},
    "minimum_days": 4,
}

MANY_TRADES = """
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
        closed_at, trading_day, gross_pnl, created_at, updated_at)
    SELECT user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
        printf('%sT12:%02d:00.000000Z', date('2015-01-01', day.value || ' days'), number.value),
        date('2015-01-01', day.value || ' days'), (abs(random()) % 700 - 345) * 100000000,
        created_at, updated_at
    FROM trades, json_each(:days) AS day, json_each(:per_day) AS number
    WHERE trades.id = :id"""
BARE_SUMS = "SELECT trading_day, count(*), sum(net_pnl) FROM trade_facts WHERE account_id = 1 GROUP BY trading_day"


async def read_standing(client: Client, account: Any, **query: Any) -> Any:
    return unwrap(await client.get(f"/accounts/{account['id']}/standing", params=query))


async def test_what_is_put_is_read_can_be_put_again_and_is_replaced_and_deleted_whole(
    client: Client, account_id: int
) -> None:
    path = f"/accounts/{account_id}/rules"

    rules = unwrap(await client.put(path, json=EVERY_RULE))

    assert rules == EVERY_RULE
    assert unwrap(await client.put(path, json=rules)) == unwrap(await client.get(path)) == rules
    assert unwrap(await client.put(path, json={"daily_loss": 500})) == {**dict.fromkeys(EVERY_RULE), "daily_loss": 500}
    assert (await client.delete(path)).status_code == 204
    assert error_of(await client.get(path)) == error_of(await client.delete(path)) == (404, "not_found")


async def test_an_account_without_rules_has_none_to_read_or_delete(client: Client, account_id: int) -> None:
    path = f"/accounts/{account_id}/rules"
    assert error_of(await client.get(path)) == error_of(await client.delete(path)) == (404, "not_found")

    await factories.put_rules(client, account_id, daily_loss=500)
    assert (await client.delete(path)).status_code == 204

    assert error_of(await client.get(path)) == (404, "not_found")


async def test_the_list_has_the_standing_of_the_accounts_with_rules(client: Client) -> None:
    funded, own = (
        await factories.create_account(client, "A", starting_balance=100),
        await factories.create_account(client, "B"),
    )
    await factories.put_rules(client, funded["id"], floor={"kind": "static", "distance": 50})
    trade = await factories.create_trade(client, funded["id"], gross_pnl=20)
    day = trade["trading_day"]
    day_before = str(date.fromisoformat(day) - timedelta(days=1))
    plain = unwrap(await client.get("/accounts"))

    for at in (None, day, day_before):
        query = {"at": at} if at else {}
        accounts = unwrap(await client.get("/accounts", params={"with": "standing", **query}))

        standing = unwrap(await client.get(f"/accounts/{funded['id']}/standing", params=query))
        assert accounts == [{**funded, "standing": standing}, own]
        assert standing["balance"] == (100 if at and at < day else 120)
    assert plain == [funded, own]
    refused = await client.get("/accounts", params={"at": day})
    assert details_of(refused)["fields"] == {"at": "needs with=standing"}


async def test_the_list_has_the_checkpoints_that_nobody_has_explained_or_accepted(client: Client) -> None:
    account = await factories.create_account(client, starting_balance=100)
    for day, balance in (("2026-01-05", 100), ("2026-01-06", 90), ("2026-01-07", 90)):
        await factories.create_checkpoint(client, account["id"], day=day, balance=balance)
    path = f"/accounts/{account['id']}/checkpoints"
    _, differing, same = unwrap(await client.get(path))

    listed = unwrap(await client.get("/accounts?with=standing"))
    unwrap(await client.patch(f"{path}/{differing['id']}", json={"accepted": True}))
    accepted = unwrap(await client.get("/accounts?with=standing"))

    assert listed == [{**account, "checkpoints": [differing, same]}]
    assert accepted == [account]


@for_rows("kind, floors", [("static", [50, 50, 50]), ("end_of_day", [50, 70, 70]), ("trade", [80, 80, 80])])
async def test_the_floor_of_each_day_since_the_reset_is_stated_if_asked_for(
    client: Client, kind: str, floors: list[float]
) -> None:
    account = await factories.create_account(client, starting_balance=5)
    await factories.create_cash(client, account["id"], kind="reset", amount=100, day="2026-01-05")
    for day, pnl in (("04", 7), ("05", 30), ("05", -10), ("06", -60)):
        times = dict.fromkeys(("opened_at", "closed_at"), f"2026-01-{day}T10:00:00Z")
        await factories.create_trade(client, account["id"], **times, gross_pnl=pnl)
    await factories.create_cash(client, account["id"], kind="fee", amount=2, day="2026-01-07")
    await factories.put_rules(client, account["id"], floor={"kind": kind, "distance": 50})

    standing = await read_standing(client, account, **{"with": "days"})

    balances = {"2026-01-05": 120, "2026-01-06": 60, "2026-01-07": 58}
    assert standing["floor"].pop("days") == [
        {"day": day, "balance": balance, "floor": floor}
        for (day, balance), floor in zip(balances.items(), floors, strict=True)
    ]
    assert standing == await read_standing(client, account)


async def test_a_standing_is_that_of_the_current_trading_day_unless_another_is_asked_for(client: Client) -> None:
    account = await factories.create_account(client)
    await factories.put_rules(client, account["id"], daily_loss=5)
    await factories.create_trade(client, account["id"], gross_pnl=-4)

    with time_machine.travel("2026-01-05T23:59:30Z", tick=False):
        on_the_day = await read_standing(client, account)
    with time_machine.travel("2026-01-06T00:00:10Z", tick=False):
        after = await read_standing(client, account)

    assert (on_the_day["at"], on_the_day["daily_loss"]["room"]) == ("2026-01-05", 1)
    assert (after["at"], after["daily_loss"]["room"]) == ("2026-01-06", 5)
    assert await read_standing(client, account, at="2026-01-05") == on_the_day
    assert (await read_standing(client, account, at="2026-01-04"))["balance"] == 0


async def test_the_last_reset_of_a_day_counts_and_open_trades_do_not(client: Client) -> None:
    account = await factories.create_account(client, starting_balance=100)
    await factories.put_rules(client, account["id"], floor={"kind": "trade", "distance": 50})
    await factories.create_trade(client, account["id"], gross_pnl=30)
    await factories.create_trade(client, account["id"], exit_price=None, closed_at=None)
    for amount in (200, 300):
        await factories.create_cash(client, account["id"], kind="reset", amount=amount)

    standing = await read_standing(client, account)

    assert (standing["start_day"], standing["start_balance"], standing["balance"]) == ("2026-01-05", 300, 330)
    assert standing["floor"]["limit"] == 280


async def test_reading_a_standing_stores_the_facts_of_trades(client: Client, app: Starlette) -> None:
    account = await factories.create_account(client)
    trade = await factories.create_trade(client, account["id"])

    await read_standing(client, account)

    assert await run_sql(app, "SELECT id FROM trade_facts") == [(trade["id"],)]


@for_rows("number", [9, 10])
async def test_a_balance_beyond_64_bits_is_null_with_a_reason(client: Client, app: Starlette, number: int) -> None:
    account = await factories.create_account(client)
    await factories.put_rules(client, account["id"], **EVERY_RULE | {"best_day_share": 100})
    for _ in range(number):
        await factories.insert_trade(app, account["id"], gross_pnl=10**10)

    standing = await read_standing(client, account)

    fits = number == 9
    assert (standing["balance"] is not None) == fits
    for rule in ("floor", "profit_target", "best_day_share"):
        assert (standing[rule]["state"] is not None) == fits, rule
        assert standing[rule]["reason"] == (None if fits else "out_of_range"), rule
    assert standing["minimum_days"]["value"] == 1


@pytest.mark.soak
@for_rows("kind", get_args(FloorKind))
async def test_a_standing_costs_at_most_four_times_the_bare_sums_of_its_days(
    app: Starlette, client: Client, account_id: int, kind: str
) -> None:
    """In instructions of SQLite and lines of Python a day; in `make soak` in time of the processor as well."""
    await factories.put_rules(client, account_id, floor={"kind": kind, "distance": 2000}, daily_loss=1000)
    trade = await factories.insert_trade(app, account_id)
    values = {"id": trade, "days": str(list(range(examples(full=2500, ci=150)))), "per_day": str([*range(40)])}
    await run_sql(app, MANY_TRADES, values)
    unwrap(await client.get(f"/accounts/{account_id}/standing"))  # stores the facts

    async def measure(db: Connection) -> float:
        standing, bare = [], []
        for _ in range(7):
            start = time.thread_time()
            await standings.compute(db, 1, account_id, None)
            middle = time.thread_time()
            await db.execute_fetchall(BARE_SUMS)
            standing.append(middle - start)
            bare.append(time.thread_time() - middle)
        return median(standing) / median(bare)

    steps, doing = list[str](), "standing"

    def note() -> bool:
        steps.append(doing)
        return False

    lines = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    async def traced(db: Connection) -> None:
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            await standings.compute(db, 1, account_id, None)
        finally:
            sys.settrace(before)

    async with app.state.database.read_transaction(is_stopped=note, steps=100) as db:
        await db.run(traced)
        doing = "bare"
        await db.run(lambda db: db.execute_fetchall(BARE_SUMS))
        assert 0 < steps.count("standing") < 1.5 * steps.count("bare")
        assert 0 < lines < 260 * examples(full=2500, ci=150)  # 167 to 208 a day
        assert not SOAK or await db.run(measure) < 4
