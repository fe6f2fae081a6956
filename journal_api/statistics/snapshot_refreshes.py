"""SQL of refreshing the snapshots of goals: what is stale is computed while others write, then stored.

A goal stores a change cursor: the sequence of the newest change that its snapshots include. The periods of
the days that changed since then are evaluated, and the periods from the newest stored one to today's. All
other snapshots stay (DECISIONS 17, 18).
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.sql import json_list
from journal_api.errors import Busy
from journal_api.metrics.members import Statistics
from journal_api.statistics import balances, goal_history, goal_states, periods_sql, trade_facts
from journal_api.values.clock import now
from journal_api.values.periods import Period, find_period

# Periods after which histories are stored, so that the lock is short, and how often a goal may change meanwhile.
MAX_PERIODS, MAX_TRIES = 2_000, 3
CHANGING = "The goal or its accounts are being changed. Try again."


class History(NamedTuple):
    """What a refresh of a goal stores: the snapshots of the stale periods. `stale` is None without any."""

    state: goal_history.GoalState
    stale: Sequence[Period] | None
    snapshots: Sequence[goal_history.Snapshot] = ()


class Plan(NamedTuple):
    """What a refresh of a goal computes: the stale periods of its history, given the days that changed."""

    state: goal_history.GoalState
    changed: Sequence[date]
    stale: tuple[Period, ...]

    @property
    def today(self) -> Period:
        return Period(self.state.today, self.state.today)

    @property
    def requested(self) -> list[Period]:
        """The stale periods, and today for the pace."""
        return [*self.stale, self.today]


class Source(NamedTuple):
    """What a history is built from. Goals of the same accounts share the statistics of periods."""

    plan: Plan
    by_period: Mapping[Period, Statistics | None]
    opening_balance: int | None  # of the first stale period, and the cash by day; only of a balance
    cash: Mapping[date, int]


async def refresh_all(database: Database, user_id: int, goal_ids: Sequence[int]) -> None:
    """Bring the stored snapshots of goals of a user up to date, with what was written before this call.

    All calls that wait share one computation, which begins after them. Raises Busy for a goal that is changed
    again and again meanwhile.
    """
    await database.histories[user_id].run(goal_ids, partial(refresh_each, database, user_id))


async def refresh_each(database: Database, user_id: int, goal_ids: Sequence[int]) -> None:
    """Compute histories while others write, and store those of some goals together in a short write."""
    await trade_facts.refresh(database, user_id)
    tries = 0
    while goal_ids:
        done = set[int]()
        async with database.computing_history:
            async with database.history_transaction() as db:
                # One call of the thread: waking it for each statement would cost more than most statements.
                ready, sources = await db.run(partial(compute_all, goal_ids=goal_ids))
            # After the read transaction, which would keep the write-ahead log from being reused.
            if ready:
                done |= await store_unchanged(database, ready)
            for some in split_sources(sources):
                histories = await asyncio.to_thread(build_histories, some)
                done |= await store_unchanged(database, {one.state.goal_id: one for one in histories})
        tries = 0 if done else tries + 1
        if tries == MAX_TRIES:
            raise Busy(CHANGING)
        goal_ids = [goal_id for goal_id in goal_ids if goal_id not in done]


async def compute_all(db: Connection, goal_ids: Sequence[int]) -> tuple[dict[int, History | None], list[Source]]:
    """Return the histories of goals of which nothing is stale, and what those of the others are built from."""
    await db.execute_fetchall("PRAGMA temp_store = FILE")  # as of reports
    ready: dict[int, History | None] = {}
    plans: list[Plan] = []
    stales: dict[tuple[Period, ...], tuple[Period, ...]] = {}  # most goals have those of another
    for goal_id in goal_ids:
        plan = await find_plan(db, goal_id)
        if isinstance(plan, Plan):
            plans.append(plan._replace(stale=stales.setdefault(plan.stale, plan.stale)))
        else:
            ready[goal_id] = plan
    return ready, await compute(db, plans)


def split_sources(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """Yield some goals at a time, of little more than MAX_PERIODS periods together."""
    some: list[Source] = []
    for source in sources:
        some.append(source)
        if sum(len(one.plan.stale) for one in some) > MAX_PERIODS:
            yield some
            some = []
    if some:
        yield some


async def store_unchanged(database: Database, computed: Mapping[int, History | None]) -> set[int]:
    """Store the histories of the goals that have not changed since their histories were computed.

    Return the ids of the goals that are done. Trades that were written meanwhile have a newer change than the
    cursor that is stored, so the next refresh includes them.
    """
    done = {goal_id for goal_id, history in computed.items() if history is None}

    async def store_each(db: Connection) -> None:
        for goal_id, history in computed.items():
            if history and goal_history.is_unchanged(await goal_states.find(db, goal_id), history.state):
                await store(db, history)
                done.add(goal_id)

    if len(done) < len(computed):
        await database.write(store_each)
    return done


async def refresh(db: Connection, goal_id: int, *, is_stopped: bool = False) -> None:
    """Bring the stored snapshots of one goal up to date, in the caller's transaction.

    Nothing is done for a goal that was deleted, paused or archived meanwhile. With `is_stopped` only a paused
    or archived goal is refreshed, to the day on which it was stopped.
    """
    plan = await find_plan(db, goal_id, is_stopped=is_stopped)
    histories = build_histories(await compute(db, [plan])) if isinstance(plan, Plan) else [plan] if plan else []
    for history in histories:
        await store(db, history)


async def find_plan(db: Connection, goal_id: int, *, is_stopped: bool = False) -> Plan | History | None:
    """Return what to compute for the goal, a history without it, None if there is nothing to store."""
    state = await goal_states.find(db, goal_id, is_stopped=is_stopped)
    if state is None:
        return None
    changed = await goal_states.list_changed_days(db, state)
    if state.is_of_today and not changed:
        # All new changes, if there are any, are of other users or out of scope.
        return None if state.change_cursor == state.latest_change else History(state, None)
    return Plan(state, changed, tuple(dict.fromkeys(goal_history.find_stale_periods(state, changed))))


async def compute(db: Connection, plans: Sequence[Plan]) -> list[Source]:
    """Return what the histories of goals are built from. The trades of each scope are read once."""
    scopes = defaultdict[tuple[Any, ...], list[Plan]](list)
    for plan in plans:
        scopes[plan.state.user_id, plan.state.today, *plan.state.account_ids].append(plan)
    sources: list[Source] = []
    for (user_id, today, *account_ids), shared in scopes.items():
        periods = dict.fromkeys(period for plan in shared for period in plan.requested)
        extras = {plan.state.extra for plan in shared}
        computed = await periods_sql.list_of_periods(db, user_id, account_ids, list(periods), extras, today)
        sources += [Source(plan, computed, *await read_balance(db, plan)) for plan in shared]
    return sources


async def read_balance(db: Connection, plan: Plan) -> tuple[int | None, dict[date, int]]:
    """Return the balance at the start of the first stale period and the cash since, by day."""
    state, stale = plan.state, plan.stale
    # Nothing is stale if the goal was stopped before the day of its creation, as of now.
    if not state.carries_balance or state.mixes_currencies or not stale:
        return None, {}
    opening_balance = await balances.read_opening_balance(db, state, stale, plan.changed)
    return opening_balance, await balances.read_cash(db, state.account_ids, Period(stale[0].start, stale[-1].end))


def build_histories(sources: Iterable[Source]) -> list[History]:
    return [build_history(source) for source in sources]


def build_history(source: Source) -> History:
    """Return the snapshots of the stale periods."""
    plan, computed = source.plan, source.by_period
    state = plan.state
    by_period, of_today = {period: computed[period] for period in plan.stale}, computed[plan.today]
    if state.carries_balance and state.mixes_currencies:
        by_period = goal_history.mark_mixed_currencies(by_period)
    elif state.carries_balance:
        by_period = goal_history.add_balances(by_period, source.opening_balance, source.cash, state.currency)
    snapshots = [
        goal_history.build_snapshot(state, period, totals, of_today)
        for period, totals in by_period.items()
        if goal_history.has_snapshot(state, period, totals)
    ]
    return History(state, plan.stale, snapshots)


async def store(db: Connection, history: History) -> None:
    """Store a history, the cursor of the newest change that it includes, and the days of its evaluation."""
    state = history.state
    if history.stale is not None:
        await replace_stale(db, state, history.stale, history.snapshots)
    await db.execute_fetchall(
        "UPDATE goals SET change_cursor = :cursor, evaluated_on = :days WHERE id = :goal_id",
        {"cursor": state.latest_change, "days": state.current_days, "goal_id": state.goal_id},
    )


async def replace_stale(
    db: Connection, state: goal_history.GoalState, stale: Sequence[Period], snapshots: Sequence[goal_history.Snapshot]
) -> None:
    """Delete the snapshots that are stale or outside the history, and insert the new snapshots."""
    is_rebuilt = state.change_cursor is None or state.timeframe == "custom"
    first = date.max if is_rebuilt else find_period(state.first_day, state.timeframe).start
    await db.execute_fetchall(
        """
        DELETE FROM snapshots
        WHERE goal_id = :goal_id
          -- Selected by key, so that the remaining snapshots are not read.
          AND period_start IN (
              SELECT value FROM json_each(:stale)
              UNION ALL
              SELECT period_start FROM snapshots WHERE goal_id = :goal_id AND period_start < :first
              UNION ALL
              SELECT period_start FROM snapshots WHERE goal_id = :goal_id AND period_start > :last)
        """,
        {
            "goal_id": state.goal_id,
            "first": first.isoformat(),
            "last": state.last_day.isoformat(),
            "stale": json_list([period.start.isoformat() for period in stale]),
        },
    )
    await db.execute_fetchall(
        f"""
        INSERT INTO snapshots (goal_id, {", ".join(goal_history.Snapshot._fields)}, computed_at)
        SELECT :goal_id, {", ".join(f"value ->> '$.{name}'" for name in goal_history.Snapshot._fields)}, :now
        FROM json_each(:snapshots)
        """,
        {
            "goal_id": state.goal_id,
            "snapshots": json_list([snapshot._asdict() for snapshot in snapshots]),
            "now": now(),
        },
    )


async def remove_pace(db: Connection, goal_id: int) -> None:
    """Remove the pace from the snapshots of a goal that was paused or archived."""
    await db.execute_fetchall(
        """
        UPDATE snapshots
        SET snapshot_data = json_remove(snapshot_data, '$.pace')
        WHERE goal_id = :goal_id AND NOT closed
        """,
        {"goal_id": goal_id},
    )
