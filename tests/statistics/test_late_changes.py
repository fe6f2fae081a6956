"""A late change shows at the next read, in the period that it belongs to (docs/goals.md#periods)."""

from typing import Any, NamedTuple

import pytest
from desk import JANUARY, Desk, desk_of, value_of
from factories import Client, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

# A statement, or settings to change.
Change = str | dict[str, Any]

# Two accounts with 100 and 0, two copy groups without members, a mistake and another tag, a setup with one
# confirmation and one without. Account 1 has a net P&L of 9 (confirmed, A+, at a risk of 3), -3 and 5.
# Account 2 has an open trade.
JOURNAL = """
    INSERT INTO accounts (user_id, name, sort_name, starting_balance, created_at, updated_at)
    VALUES (1, 'Main', 'main', 100e8, '', ''), (1, 'Other', 'other', 0, '', '');
    INSERT INTO copy_groups (user_id, name, sort_name, created_at, updated_at)
    VALUES (1, 'A', 'a', '', ''), (1, 'B', 'b', '', '');
    INSERT INTO tag_categories (user_id, name, sort_name, created_at, updated_at)
    VALUES (1, 'A', 'a', '', '');
    INSERT INTO tags (user_id, category_id, name, sort_name, color, type, created_at, updated_at)
    VALUES (1, 1, 'Late', 'late', '', 'mistake', '', ''), (1, 1, 'Own', 'own', '', 'custom', '', '');
    INSERT INTO strategies (user_id, name, sort_name, color_tag, created_at, updated_at)
    VALUES (1, 'A', 'a', '', '', '');
    INSERT INTO setups (strategy_id, name, sort_order) VALUES (1, 'Flag', 0), (1, 'Bare', 1);
    INSERT INTO confirmations (setup_id, name, sort_order) VALUES (1, 'Trend', 0);
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at, created_at,
        updated_at, strategy_id, setup_id, closed_at, trading_day, gross_pnl, fees, initial_risk, grade)
    SELECT 1, iif(value ->> 0 IS NULL, 2, 1), 'ES', 'long', 1e8, 0, '2026-01-05T09:00:00.000000Z', '', '', 1,
        iif(id = 0, 1, 2),
        value ->> 0, substr(value ->> 0, 1, 10), value ->> 1, value ->> 2, value ->> 3, value ->> 4
    FROM (SELECT key AS id, value FROM json_each('[
        ["2026-01-05T10:00:00.000000Z", 10e8, 1e8, 3e8, "A+"],
        ["2026-01-05T11:00:00.000000Z", -3e8, 0, null, null],
        ["2026-01-31T22:30:00.000000Z", 5e8, 0, null, null],
        [null, null, 0, null, null]]'));
    INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present) VALUES (1, 1, 1)
    """
CLOSE_4 = """UPDATE trades
    SET closed_at = '2026-01-07T10:00:00.000000Z', trading_day = '2026-01-07', gross_pnl = 40e8
    WHERE id = 4"""
REOPEN_4 = "UPDATE trades SET closed_at = NULL, trading_day = NULL, gross_pnl = NULL WHERE id = 4"
TO_FEBRUARY = """UPDATE trades SET closed_at = '2026-02-03T10:00:00.000000Z', trading_day = '2026-02-03'
    WHERE id = 1"""
NEW_CONFIRMATION = "INSERT INTO confirmations (setup_id, name, sort_order) VALUES (1, 'Volume', 1)"
NEW_TRADE = """
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at, closed_at,
        trading_day, gross_pnl, created_at, updated_at)
    VALUES (1, 1, 'ES', 'long', 1e8, 0, '{0}T09:00:00.000000Z', '{0}T10:00:00.000000Z', '{0}', 2e8, '', '')"""
JOIN = "INSERT INTO copy_group_members (account_id, copy_group_id) VALUES (1, 1)"
DELETE_ACCOUNT = "DELETE FROM trades WHERE account_id = 2; DELETE FROM accounts WHERE id = 2"
NEW_ACCOUNT = """INSERT INTO accounts (user_id, name, sort_name, starting_balance, created_at, updated_at)
    VALUES (1, 'New', 'new', 50e8, '', '')"""

REPORT = "/reports?group_by=account,rules&metrics=net_pnl,win_rate,average_mae"


def update(assignment: str, trade: int = 1) -> str:
    return f"UPDATE trades SET {assignment} WHERE id = {trade}"


def answer(was_present: int) -> str:
    return f"UPDATE confirmation_answers SET was_present = {was_present}"


def move_to(group: int) -> str:
    return f"UPDATE copy_group_members SET copy_group_id = {group}"


def cash(kind: str, amount: int, day: str, account: int = 1) -> str:
    return f"""
        INSERT INTO cash_movements (account_id, kind, amount, day, created_at, updated_at)
        VALUES ({account}, '{kind}', {amount}e8, '{day}', '', '')"""


class Late(NamedTuple):
    """A goal, its value in January, and each change with the value after it."""

    metric: str
    before: Any
    changes: list[tuple[Change, Any]]
    scope: str = "all"


CHANGES = {
    "a gross P&L": Late("gross_pnl", 12, [(update("gross_pnl = 7e8"), 9)]),
    "fees": Late("net_pnl", 11, [(update("fees = 4e8"), 8)]),
    "a risk": Late(
        "rr_realized_avg", 3, [(update("initial_risk = 9e8"), 1), (update("initial_risk = NULL"), "no_risk")]
    ),
    "an excursion": Late("average_mae", "no_excursions", [(update("mae = 4e8"), 4), (update("mae = 6e8", trade=2), 5)]),
    "a best profit": Late(
        "captured", "no_excursions", [(update("mfe = 18e8"), 50), (update("mfe = 0"), "no_excursions")]
    ),
    "a grade": Late("a_plus_rate", 100, [(update("grade = 'B'"), 0), (update("grade = NULL"), "no_grades")]),
    "a close moved within its day": Late(
        "win_streak", 1, [(update("closed_at = '2026-01-05T09:00:00.000000Z'", trade=2), 2)]
    ),
    "a trade added": Late("net_pnl", 11, [(NEW_TRADE.format("2026-01-31"), 13)]),
    "a trade deleted": Late("net_pnl", 11, [("DELETE FROM trades WHERE id = 3", 6)]),
    "the first trade deleted": Late("net_pnl", 11, [("DELETE FROM trades WHERE id = 1", 2)]),
    "a trade closed and opened again": Late("net_pnl", 11, [(CLOSE_4, 51), (REOPEN_4, 11)]),
    "a trade moved out of an account": Late("net_pnl", 11, [(update("account_id = 2"), 2)], "account_1"),
    "a trade moved into an account": Late("net_pnl", 0, [(update("account_id = 2"), 9)], "account_2"),
    "a trade moved to another period": Late("net_pnl", 11, [(TO_FEBRUARY, 2)]),
    "a trade before all others": Late("balance_target", 111, [(NEW_TRADE.format("2025-12-03"), 113)]),
    "a trade after the period": Late("balance_target", 111, [(NEW_TRADE.format("2026-03-03"), 111)]),
    "copies linked, and their original deleted": Late(
        "trade_count",
        3,
        [
            (update("source_trade_id = 1", trade=2), 2),
            (update("source_trade_id = 1", trade=3), 1),
            ("DELETE FROM trades WHERE id = 1", 1),
        ],
    ),
    "a mistake tagged and taken back": Late(
        "mistake_free_rate",
        100,
        [("INSERT INTO trade_tags VALUES (1, 1)", 66.66666667), ("DELETE FROM trade_tags", 100)],
    ),
    "a tag that becomes a mistake and no longer is one": Late(
        "mistake_free_rate",
        100,
        [
            ("INSERT INTO trade_tags VALUES (1, 2)", 100),
            ("UPDATE tags SET type = 'mistake'", 66.66666667),
            ("UPDATE tags SET type = 'custom'", 100),
        ],
    ),
    "a mistake deleted": Late(
        "mistake_free_rate", 100, [("INSERT INTO trade_tags VALUES (1, 1)", 66.66666667), ("DELETE FROM tags", 100)]
    ),
    "an answer changed, deleted and given again": Late(
        "protocol_completion_rate",
        100,
        [
            (answer(0), 0),
            (answer(1), 100),
            ("DELETE FROM confirmation_answers", 0),
            ("INSERT INTO confirmation_answers VALUES (1, 1, 1, NULL)", 100),
        ],
    ),
    "a confirmation added, answered and deleted": Late(
        "protocol_completion_rate",
        100,
        [
            (NEW_CONFIRMATION, 0),
            ("INSERT INTO confirmation_answers VALUES (1, 2, 1, NULL)", 100),
            ("DELETE FROM confirmations", "no_checklists"),
        ],
    ),
    "a missing confirmation deleted": Late(
        "protocol_completion_rate", 100, [(NEW_CONFIRMATION, 0), ("DELETE FROM confirmations WHERE id = 2", 100)]
    ),
    "a setup deleted": Late("protocol_completion_rate", 100, [("DELETE FROM setups", "no_checklists")]),
    "a setup changed and changed back, without its answers": Late(
        "protocol_completion_rate", 100, [(update("setup_id = 2"), "no_checklists"), (update("setup_id = 1"), 0)]
    ),
    "a starting balance": Late(
        "balance_target", 111, [("UPDATE accounts SET starting_balance = 200e8 WHERE id = 1", 211)]
    ),
    "cash entered, corrected and deleted": Late(
        "balance_target",
        111,
        [
            (cash("deposit", 50, "2026-01-20"), 161),
            ("UPDATE cash_movements SET amount = 20e8", 131),
            ("UPDATE cash_movements SET kind = 'fee'", 91),
            ("UPDATE cash_movements SET day = '2026-02-02'", 111),
            ("UPDATE cash_movements SET day = '2025-11-30'", 91),
            ("DELETE FROM cash_movements", 111),
        ],
    ),
    "the tolerance of a break-even": Late(
        "win_rate", 66.66666667, [({"breakeven_within": 5}, 33.33333333), ({"breakeven_within": 0}, 66.66666667)]
    ),
    "every kind of cash": Late(
        "balance_target",
        111,
        [
            (cash("withdrawal", 1, "2026-01-01"), 110),
            (cash("payout", 1, "2026-01-31"), 109),
            (cash("adjustment", -1, "2026-01-05"), 108),
            (cash("reset", 0, "2026-02-01"), 108),
            (cash("deposit", 7, "2025-12-31", account=2), 115),
        ],
    ),
    "resets, and what counts before and after them": Late(
        "balance_target",
        111,
        [
            (cash("reset", 1000, "2026-01-31"), 1005),
            (cash("fee", 3, "2026-01-31"), 1002),
            (cash("reset", 500, "2026-01-31"), 502),
            (cash("deposit", 40, "2026-01-30"), 502),
            (update("gross_pnl = 7e8"), 502),
            (cash("reset", 70, "2025-11-30"), 502),
            ("DELETE FROM cash_movements WHERE day = '2026-01-31'", 70 + 40 + 8),
        ],
    ),
    "an account that comes and goes": Late(
        "balance_target", 111, [(NEW_ACCOUNT, 161), ("DELETE FROM accounts WHERE id = 3", 111)]
    ),
    "an account deleted after its trades": Late("net_pnl", 11, [(CLOSE_4, 51), (DELETE_ACCOUNT, 11)]),
    "a currency": Late(
        "net_pnl",
        11,
        [
            (CLOSE_4, 51),
            ("UPDATE accounts SET currency = 'EUR' WHERE id = 2", "mixed_currencies"),
            ("UPDATE accounts SET currency = 'USD'", 51),
        ],
    ),
    "members of the group": Late(
        "balance_target",
        0,
        [(JOIN, 111), (move_to(2), 0), (move_to(1), 111), ("DELETE FROM copy_group_members", 0)],
        "group_1",
    ),
    "members of the selected group": Late(
        "net_pnl",
        11,
        [
            ({"active_selection": "group_1"}, 0),
            (JOIN, 11),
            (move_to(2), 0),
            (move_to(1), 11),
            ("DELETE FROM copy_group_members", 0),
        ],
        scope="",
    ),
    "the selection": Late(
        "balance_target",
        111,
        [
            ({"active_selection": "account_2"}, 0),
            ({"active_selection": "all"}, 111),
            ({"active_selection": "group_1"}, 0),
            ("DELETE FROM copy_groups", 111),
            ({"active_selection": "account_2"}, 0),
            (DELETE_ACCOUNT, 111),
        ],
        scope="",
    ),
    "the time zone and the rollover": Late(
        "net_pnl",
        11,
        [
            ({"timezone": "Asia/Tokyo"}, 6),
            ({"timezone": "America/New_York"}, 11),
            ({"day_rollover": "17:00"}, 6),
            ({"day_rollover": "17:31"}, 11),
        ],
    ),
}


@pytest.fixture
async def desk(app: Starlette, client: Client) -> Any:
    with desk_of(app, client) as desk:
        await run_all(desk, JOURNAL)
        yield desk


async def run_all(desk: Desk, statements: str) -> None:
    for sql in statements.replace("e8", "00000000").split(";"):
        await run_sql(desk.app, sql)


async def add_goal(desk: Desk, scope: str, **fields: Any) -> Any:
    goal = await desk.goal(target_value=1, **fields)
    return await desk.patch_goal(goal, scope=scope)


@for_rows("name", CHANGES)
async def test_goals_follow(app: Starlette, desk: Desk, name: str) -> None:
    """A goal of each month and one of January alone; at the end new goals show the same, also of each day.

    A report that has kept what did not change shows what one of everything shows.
    """
    metric, before, changes, scope = CHANGES[name]
    goals = [await add_goal(desk, scope, metric=metric, **fields) for fields in ({}, {"timeframe": "daily"}, JANUARY)]
    for change, expected in [("SELECT 1", before), *changes]:
        if isinstance(change, str):
            await run_all(desk, change)
        else:
            await desk.patch("/me", **change)

        report = unwrap(await desk.client.get(REPORT))
        app.state.database.kept_readings.clear()
        assert unwrap(await desk.client.get(f"{REPORT}&offset=0")) == report
        monthly, window = [await desk.read(goal) for goal in (goals[0], goals[2])]
        january = [one for one in monthly if one["period_start"] == "2026-01-01"]
        assert value_of(window[0]) == expected
        assert [value_of(one) for one in january] == ([expected] if january else [])
        assert january or expected == 0
    for goal, fields in zip(goals, ({}, {"timeframe": "daily"}, JANUARY), strict=True):
        new = await add_goal(desk, scope, metric=metric, **fields)
        assert await history(desk, goal) == await history(desk, new)


async def history(desk: Desk, goal: Any) -> list[Any]:
    return [{**one, "goal_id": None, "computed_at": None} for one in await desk.read(goal)]


async def test_a_late_change_leaves_other_periods_as_they_are(desk: Desk) -> None:
    goal = await desk.goal()
    before = await desk.read(goal)
    desk.move("2026-04-15T18:00:00Z")
    await run_all(desk, NEW_TRADE.format("2026-02-03"))

    after = await desk.read(goal)

    assert [one["actual"] for one in after] == [11, 2, 0, 0]
    assert (after[0], after[2]) == (before[0], before[2])


@pytest.mark.parametrize("change", ["UPDATE setups SET name = 'New'", update("symbol = 'NQ'"), "SELECT 1"])
async def test_a_change_that_no_goal_depends_on_leaves_every_snapshot(desk: Desk, change: str) -> None:
    goal = await desk.goal(metric="protocol_completion_rate")
    before = await desk.read(goal)
    desk.move("2026-04-15T18:00:00Z")

    await run_all(desk, change)

    assert await desk.read(goal) == before


async def test_a_change_out_of_scope_is_looked_at_only_once(desk: Desk) -> None:
    goal = await desk.goal(account_id=2)
    await desk.read(goal)
    await run_all(desk, NEW_TRADE.format("2026-01-05"))

    await desk.read(goal)

    sql = "SELECT change_cursor = (SELECT max(sequence) FROM changed_days) FROM goals"
    assert await run_sql(desk.app, sql) == [(1,)]


async def test_new_settings_are_named_in_every_period(desk: Desk) -> None:
    goal = await desk.goal()
    for change in ({"timezone": "America/New_York"}, {"day_rollover": "17:00"}):
        await desk.patch("/me", **change)

        shown = [one["snapshot_data"] for one in await desk.read(goal)]

        assert [{name: data[name] for name in change} for data in shown] == [change] * 4


async def test_the_days_of_a_goal_move_with_the_time_zone(desk: Desk) -> None:
    goal = await desk.goal(timeframe="daily")
    shown = []
    for zone in ("UTC", "Asia/Tokyo", "UTC"):
        await desk.patch("/me", timezone=zone)
        shown.append(await desk.by_start(goal))

    late = [[("01-05", 6), (day, 5), ("04-15", 0)] for day in ("01-31", "02-01", "01-31")]
    assert shown == late
