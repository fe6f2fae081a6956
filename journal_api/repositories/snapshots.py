"""Snapshots: the stored history of a goal, kept true by the log of changes (DECISIONS 13).

A goal remembers the newest change that it has seen. Reading its snapshots first computes the periods of the
days that changed since, and those from the newest stored period to today's; the others stay as they are.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

from aiosqlite import Connection
from msgspec import Raw, Struct, json
from msgspec.structs import asdict, replace

from journal_api.database import fetch_json, json_text
from journal_api.metrics import AMOUNTS, METRICS, SPECIAL_FACTS, Facts, GoalDirection, Measured, Metric
from journal_api.money import json_number, units
from journal_api.money import json_text as amount_text
from journal_api.periods import ONE_DAY, Period, Timeframe, period_of, periods_between, trading_day
from journal_api.repositories import facts
from journal_api.structs.snapshots import SnapshotQuery
from journal_api.values import now

SNAPSHOT = f"""json_object(
    'goal_id', goal_id,
    'period_start', period_start,
    'period_end', period_end,
    'target', {json_number("target")},
    'actual', {json_number("actual")},
    'achieved', json(CASE achieved WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END),
    'closed', json(iif(closed, 'true', 'false')),
    'snapshot_data', json(snapshot_data),
    'computed_at', computed_at)"""


class State(Struct):
    """What a refresh has to know of a goal."""

    goal_id: int
    metric: str
    direction: GoalDirection
    timeframe: Timeframe
    # For timeframe custom; else two nulls.
    custom_window: list[date | None]
    timezone: str
    day_rollover: str
    created_at: str
    account_ids: list[int]
    starting_balances: list[int]
    # (since, target), oldest first
    targets: list[tuple[date, int]]
    seen_change: int | None
    last_change: int
    first_trade: date | None
    oldest: date | None
    newest: date | None

    @property
    def today(self) -> date:
        return date.fromisoformat(trading_day(now(), self.timezone, self.day_rollover))

    @property
    def first_day(self) -> date:
        """Where the history starts: the first counted trade or the goal's creation, the earlier."""
        created = date.fromisoformat(trading_day(self.created_at, self.timezone, self.day_rollover))
        return min(self.first_trade or created, created)

    @property
    def carries_forward(self) -> bool:
        """Whether a period depends on those before it."""
        return METRICS[self.metric].special == "opening_balance"


class Snapshot(NamedTuple):
    """A row of the table."""

    period_start: str
    period_end: str
    target: int
    actual: int | None
    achieved: bool | None
    closed: bool
    snapshot_data: str


class Balance(Struct):
    """What a stored snapshot says of balances, in 10^-8."""

    opening_balance: Decimal | None = None
    net_pnl: Decimal | None = None

    @property
    def opening(self) -> int | None:
        return None if self.opening_balance is None else units(self.opening_balance)

    @property
    def net(self) -> int | None:
        return None if self.net_pnl is None else units(self.net_pnl)


# Read ----------------------------------------------------------------------------------------------------


async def are_true(db: Connection, user_id: int, goal_id: int, today: str) -> bool:
    """Whether the stored snapshots are what a refresh would make of them; raises NotFound.

    Those of a paused or archived goal stay as they were.
    """
    found = await fetch_json(
        db,
        """
        SELECT status <> 'active'
            OR (seen_change IS NOT NULL
                AND fresh_on IS :today
                AND NOT EXISTS (SELECT 1 FROM changes WHERE sequence > seen_change))
        FROM goals
        WHERE id = :id AND user_id = :user_id
        """,
        {"id": goal_id, "user_id": user_id, "today": today},
    )
    return found == "1"


async def page(db: Connection, goal_id: int, query: SnapshotQuery) -> tuple[str, int]:
    """One page of the snapshots, newest first, and how many there are in all."""
    values = {
        "goal_id": goal_id,
        "since": str(query.since) if query.since else None,
        "until": str(query.until) if query.until else None,
        "limit": query.limit,
        "offset": query.offset,
    }
    found = await db.execute_fetchall(
        f"""
        WITH matching AS (
            SELECT *
            FROM snapshots
            WHERE goal_id = :goal_id
              AND (:since IS NULL OR period_start >= :since)
              AND (:until IS NULL OR period_start <= :until)
        )
        SELECT '[' || coalesce(group_concat(snapshot), '') || ']', (SELECT count(*) FROM matching)
        FROM (SELECT {SNAPSHOT} AS snapshot
              FROM matching
              ORDER BY period_start DESC
              LIMIT :limit OFFSET :offset)
        """,
        values,
    )
    text, total = next(iter(found))
    return text, total


# Refresh -------------------------------------------------------------------------------------------------


async def refresh(db: Connection, goal_id: int) -> None:
    """Make the stored snapshots true again, in the transaction of the caller."""
    state = await state_of(db, goal_id)
    changed = await days_changed(db, state)
    stale = list(dict.fromkeys(stale_periods(state, changed)))
    found = await facts.of_periods(db, state.account_ids, stale, METRICS[state.metric].special)
    if state.carries_forward:
        found = carried_forward(found, await opening_balance(db, state, stale, changed))
    rows = [
        snapshot_of(state, period, one)
        for period, one in found.items()
        if state.timeframe != "daily" or period.start == state.today or one is None or one.trades
    ]
    await replace_some(db, state, stale, rows)


async def state_of(db: Connection, goal_id: int) -> State:
    text = await fetch_json(
        db,
        """
        WITH account AS (
            SELECT accounts.id, starting_balance
            FROM goals
            JOIN users ON users.id = goals.user_id
            JOIN accounts ON accounts.user_id = users.id
            LEFT JOIN copy_group_members ON copy_group_members.account_id = accounts.id
            WHERE goals.id = :id
              AND CASE
                  WHEN goals.account_id IS NOT NULL THEN accounts.id = goals.account_id
                  WHEN goals.copy_group_id IS NOT NULL
                      THEN copy_group_members.copy_group_id = goals.copy_group_id
                  WHEN follows_selection AND active_account_id IS NOT NULL
                      THEN accounts.id = active_account_id
                  WHEN follows_selection AND active_copy_group_id IS NOT NULL
                      THEN copy_group_members.copy_group_id = active_copy_group_id
                  ELSE true
              END
        )
        SELECT json_object(
            'goal_id', goals.id,
            'metric', metric,
            'direction', direction,
            'timeframe', timeframe,
            'custom_window', json_array(custom_start, custom_end),
            'timezone', timezone,
            'day_rollover', day_rollover,
            'created_at', goals.created_at,
            'account_ids', (SELECT json_group_array(id) FROM account),
            'starting_balances', (SELECT json_group_array(starting_balance) FROM account),
            'targets', (SELECT json_group_array(json_array(since, target_value))
                        FROM (SELECT since, target_value
                              FROM goal_targets
                              WHERE goal_id = :id
                              ORDER BY since)),
            'seen_change', seen_change,
            'last_change', (SELECT coalesce(max(sequence), 0) FROM changes),
            'first_trade', (SELECT min((SELECT min(trading_day)
                                        FROM trades
                                        WHERE account_id = account.id AND trading_day IS NOT NULL))
                            FROM account),
            'oldest', (SELECT min(period_start) FROM snapshots WHERE goal_id = :id),
            'newest', (SELECT max(period_start) FROM snapshots WHERE goal_id = :id))
        FROM goals
        JOIN users ON users.id = user_id
        WHERE goals.id = :id
        """,
        {"id": goal_id},
    )
    return json.decode(text, type=State)


async def days_changed(db: Connection, state: State) -> list[date]:
    """The trading days in scope whose numbers may have moved since the goal last looked, oldest first."""
    if state.seen_change is None:
        return []
    rows = await db.execute_fetchall(
        """
        SELECT trading_day
        FROM changes
        WHERE sequence > :seen
          AND account_id IN (SELECT value FROM json_each(:accounts))
        UNION
        SELECT trades.trading_day
        FROM changes
        JOIN trades ON trades.setup_id = changes.setup_id
        WHERE sequence > :seen
          AND trades.account_id IN (SELECT value FROM json_each(:accounts))
          AND trades.trading_day IS NOT NULL
        ORDER BY 1
        """,
        {"seen": state.seen_change, "accounts": json_text(state.account_ids)},
    )
    return [date.fromisoformat(row[0]) for row in rows]


def stale_periods(state: State, changed: Sequence[date]) -> Iterator[Period]:
    """The periods of the history that are to be computed."""
    if state.timeframe == "custom":
        start, end = state.custom_window
        assert start is not None, "schema.sql holds custom goals to their dates"
        assert end is not None
        return iter([Period(start, end)])
    first, last, timeframe = state.first_day, state.today, state.timeframe
    if state.seen_change is None or state.oldest is None or state.newest is None:
        return periods_between(first, last, timeframe)
    if state.carries_forward and changed:
        return periods_between(min(max(first, *changed[:1]), state.newest), last, timeframe)
    # An earlier first trade brings the empty periods after it; days without a trade have no snapshot.
    earlier = periods_between(first, state.oldest - ONE_DAY, timeframe) if timeframe != "daily" else ()
    known = (period_of(day, timeframe) for day in changed if first <= day <= last)
    return chain(earlier, known, periods_between(state.newest, last, timeframe))


async def opening_balance(
    db: Connection, state: State, stale: Sequence[Period], changed: Sequence[date]
) -> int | None:
    """What the accounts in scope held when the first stale period began; None when that is out of range."""
    first = stale[0].start
    if state.timeframe != "custom":
        before = await stored_balance(db, state, state.first_day, first - ONE_DAY)
        if before is None:
            return sum(state.starting_balances)
        return None if before.opening is None or before.net is None else before.opening + before.net
    if state.seen_change is not None and all(day >= first for day in changed):
        now_stored = await stored_balance(db, state, first, first)
        if now_stored is not None and now_stored.opening is not None:
            return now_stored.opening
    # In halves, so that no sum leaves 64 bits.
    rows = await db.execute_fetchall(
        """
        SELECT coalesce(sum(net_pnl >> 32), 0), coalesce(sum(net_pnl & 4294967295), 0)
        FROM trades
        WHERE account_id IN (SELECT value FROM json_each(:accounts)) AND trading_day < :first
        """,
        {"accounts": json_text(state.account_ids), "first": first.isoformat()},
    )
    high, low = next(iter(rows))
    return sum(state.starting_balances) + (int(high) << 32) + int(low)


async def stored_balance(db: Connection, state: State, first: date, last: date) -> Balance | None:
    """What the newest snapshot says that starts between the two days; None without one."""
    rows = await db.execute_fetchall(
        """
        SELECT snapshot_data
        FROM snapshots
        WHERE goal_id = :goal_id AND period_start BETWEEN :first AND :last
        ORDER BY period_start DESC
        LIMIT 1
        """,
        {
            "goal_id": state.goal_id,
            "first": period_of(first, state.timeframe).start.isoformat(),
            "last": last.isoformat(),
        },
    )
    return next((json.decode(row[0], type=Balance) for row in rows), None)


def carried_forward(found: dict[Period, Facts | None], opening: int | None) -> dict[Period, Facts | None]:
    """The facts with the balance that each period opens with."""
    carried: dict[Period, Facts | None] = {}
    for period, one in found.items():
        carried[period] = replace(one, opening_balance=opening) if one else None
        opening = None if one is None or opening is None else opening + one.net_pnl
    return carried


def snapshot_of(state: State, period: Period, found: Facts | None) -> Snapshot:
    metric = METRICS[state.metric]
    measured = metric.measure(found)
    target = target_in_force(state.targets, period.end)
    return Snapshot(
        period.start.isoformat(),
        period.end.isoformat(),
        target,
        measured.actual,
        measured.achieves(state.direction, target),
        period.end < state.today,
        explained(state, metric, measured, found),
    )


def target_in_force(targets: Sequence[tuple[date, int]], day: date) -> int:
    """The last target set until that day; before the first, the first."""
    return next((target for since, target in reversed(targets) if since <= day), targets[0][1])


def explained(state: State, metric: Metric, measured: Measured, found: Facts | None) -> str:
    """The JSON of `snapshot_data`: what a person needs to compute the number again."""
    data: dict[str, object] = {
        "unit": metric.unit,
        "timezone": state.timezone,
        "day_rollover": state.day_rollover,
        "reason": measured.reason,
    }
    for name, value in (asdict(found) if found else {}).items():
        if name not in SPECIAL_FACTS or name == metric.special:
            data[name] = Raw(amount_text(value).encode()) if name in AMOUNTS and value is not None else value
    return json.encode(data).decode()


async def replace_some(
    db: Connection, state: State, stale: Sequence[Period], snapshots: Sequence[Snapshot]
) -> None:
    """Drop what is stale or no longer of the history, write what there is, note what was seen."""
    await db.execute_fetchall(
        """
        DELETE FROM snapshots
        WHERE goal_id = :goal_id
          AND (:all OR NOT period_start BETWEEN :first AND :last
               OR period_start IN (SELECT value FROM json_each(:stale)))
        """,
        {
            "goal_id": state.goal_id,
            "all": state.seen_change is None or state.timeframe == "custom",
            "first": period_of(state.first_day, state.timeframe).start.isoformat(),
            "last": state.today.isoformat(),
            "stale": json_text([period.start.isoformat() for period in stale]),
        },
    )
    await db.execute_fetchall(
        """
        INSERT INTO snapshots (goal_id, period_start, period_end, target, actual, achieved, closed,
            snapshot_data, computed_at)
        SELECT :goal_id, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, :now
        FROM json_each(:rows)
        """,
        {"goal_id": state.goal_id, "rows": json_text(snapshots), "now": now()},
    )
    await db.execute_fetchall(
        "UPDATE goals SET seen_change = :seen, fresh_on = :today WHERE id = :goal_id",
        {"seen": state.last_change, "today": state.today.isoformat(), "goal_id": state.goal_id},
    )
