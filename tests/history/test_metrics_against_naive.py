"""Every metric, timeframe and scope against naive.py, over random journals and random late edits."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import httpx
import naive
import pytest
import time_machine
from conftest import client_of, new_key_for, started
from factories import insert_account, insert_answer, insert_copy_group, insert_trade_tags, run_sql, unwrap
from hypothesis import given
from hypothesis import strategies as st
from naive import Account, Goal, Journal, Trade
from proofs import tried, tries
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.settings import Settings

NOW = datetime(2026, 4, 15, 20, 30, tzinfo=UTC)
EARLIER = datetime(2026, 2, 28, 22, 30, tzinfo=UTC)
# The bounds of weeks, months and quarters, and the changes of clocks in New York and Berlin.
DAYS = ["01-05", "01-31", "02-01", "02-28", "03-01", "03-07", "03-08", "03-09", "03-29", "03-30", "03-31"]
DAYS += ["04-01", "04-12", "04-13", "04-14", "04-15", "04-16", "05-01"]
# Midnight and 17:00 in New York with and without summer time, to the microsecond.
TIMES = ["00:00:00", "03:59:59.999999", "04:00:00", "05:00:00", "12:00:00", "20:59:59.999999", "21:00:00"]
TIMES += ["21:59:59.999999", "22:00:00", "23:59:59.999999"]
CALENDARS = [
    ("UTC", "00:00"),
    ("America/New_York", "17:00"),
    ("America/New_York", "00:00"),
    ("Europe/Berlin", "23:00"),
    ("Pacific/Kiritimati", "00:00"),
]
SCOPES = ["all", "account_1", "account_2", "group_1", ""]
TIMEFRAMES = ["daily", "weekly", "monthly", "quarterly", "custom"]
WINDOW = (date(2026, 2, 28), date(2026, 4, 13))
STRATEGY = 1
# What snapshot_data carries only for the metric that is made of it.
SPECIAL = {"max_drawdown": "max_drawdown", "win_streak": "win_streak", "opening_balance": "balance_target"}

# Random journals ----------------------------------------------------------------------------------------


def random_journal(random: Random, most_trades: int) -> Journal:
    zone, rollover = random.choice(CALENDARS)
    journal = Journal(zone, rollover, random.choice(SCOPES[:-1]))
    for account in (1, 2, 3):
        journal.accounts[account] = Account(account, random_amount(random), random_currency(random))
    journal.groups[1] = {account for account in journal.accounts if random.random() < 0.6}
    journal.tags = {tag: random.choice(["mistake", "custom"]) for tag in (1, 2, 3)}
    journal.checklists = {1: {1, 2}, 2: {3}, 3: set()}
    # A short list of moments makes ties.
    moments = [random_moment(random) for _ in range(random.choice([2, 5, 20]))]
    for trade in range(1, random.randint(0, most_trades) + 1):
        journal.trades[trade] = random_trade(random, journal, trade, moments)
    return journal


def random_moment(random: Random) -> datetime:
    return datetime.fromisoformat(f"2026-{random.choice(DAYS)}T{random.choice(TIMES)}+00:00")


def random_amount(random: Random) -> Fraction:
    units = random.choice([0, 1, -1, 33333333, 10**10, -(10**10), random.randint(-(10**11), 10**11)])
    return Fraction(units, 10**8)


def random_currency(random: Random) -> str:
    return random.choice(["USD", "USD", "USD", "EUR"])


def random_trade(random: Random, journal: Journal, id_: int, moments: list[datetime]) -> Trade:
    closed_at = random.choice(moments) if random.random() < 0.95 else None
    trade = Trade(id_, random.choice(list(journal.accounts)), closed_at)
    if trade.closed_at:
        trade.gross = random_amount(random)
    trade.fees = trade.gross if random.random() < 0.2 else random_amount(random)
    trade.risk = random.choice([None, Fraction(3), Fraction(random.randint(10**6, 10**11), 10**8)])
    trade.grade = random.choice([None, "A+", "A+", "A", "F"])
    trade.setup_id = random.choice([None, *journal.checklists])
    trade.tags = {tag for tag in journal.tags if random.random() < 0.2}
    trade.answers = random_answers(random, journal, trade)
    trade.source_id = random_source(random, journal, trade)
    return trade


def random_answers(random: Random, journal: Journal, trade: Trade) -> dict[int, bool]:
    checklist = sorted(journal.checklists[trade.setup_id]) if trade.setup_id else []
    return {one: random.random() < 0.8 for one in checklist if random.random() < 0.8}


def random_source(random: Random, journal: Journal, trade: Trade) -> int | None:
    """An original, or nothing: a trade that was itself copied copies nothing."""
    others = journal.trades.values()
    if any(other.source_id == trade.id for other in others):
        return None
    originals = [other.id for other in others if other.source_id is None and other.id != trade.id]
    return random.choice(originals) if originals and random.random() < 0.4 else None


# The same journal twice ---------------------------------------------------------------------------------


class Desk:
    """One journal, kept twice: behind the API, and as plain objects."""

    def __init__(
        self,
        app: Starlette,
        client: httpx.AsyncClient,
        journal: Journal,
        move_to: Callable[[datetime], None],
        random: Random,
    ) -> None:
        self.app, self.client, self.journal, self.move_to, self.random = app, client, journal, move_to, random
        self.goals: dict[int, Goal] = {}
        # What the snapshots of paused goals were when they were paused.
        self.frozen: dict[int, list[dict[str, Any]]] = {}
        self.compared = 0

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    @property
    def moments(self) -> list[datetime]:
        known = [trade.closed_at for trade in self.journal.trades.values() if trade.closed_at]
        return [*known, random_moment(self.random)]

    def any_trade(self) -> Trade | None:
        trades = list(self.journal.trades.values())
        return self.random.choice(trades) if trades else None

    async def write(self) -> None:
        """Put the whole journal into the empty database."""
        journal = self.journal
        for account in journal.accounts.values():
            made = await insert_account(self.app, f"Account {account.id}")
            assert made == account.id
            await self.write_balance(account)
        assert await insert_copy_group(self.app, members=sorted(journal.groups[1])) == 1
        await self.patch("/me", timezone=journal.timezone, day_rollover=journal.rollover)
        await self.patch("/me", active_selection=journal.selection)
        unwrap(await self.client.post("/tag-categories", json={"name": "Tags"}))
        for tag, kind in journal.tags.items():
            unwrap(
                await self.client.post("/tags", json={"category_id": 1, "name": f"Tag {tag}", "type": kind})
            )
        setups = [
            {"name": f"Setup {setup}", "confirmations": [{"name": str(one)} for one in sorted(confirmations)]}
            for setup, confirmations in journal.checklists.items()
        ]
        unwrap(await self.client.post("/strategies", json={"name": "Strategy", "setups": setups}))
        async with self.app.state.database.transaction() as db:
            trades = sorted(journal.trades.values(), key=lambda trade: trade.id)
            await db.executemany(INSERT_TRADE, [columns_of(trade) for trade in trades])
            await db.executemany(
                "INSERT INTO trade_tags (trade_id, tag_id) VALUES (?, ?)",
                [(trade.id, tag) for trade in trades for tag in trade.tags],
            )
            await db.executemany(
                "INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present) VALUES (?, ?, ?)",
                [(trade.id, one, present) for trade in trades for one, present in trade.answers.items()],
            )

    async def sql(self, statement: str, **values: Any) -> None:
        await run_sql(self.app, statement, values)

    async def patch(self, path: str, **fields: Any) -> Any:
        return unwrap(await self.client.patch(path, json=fields))

    async def write_balance(self, account: Account) -> None:
        await self.sql(
            "UPDATE accounts SET starting_balance = :balance, currency = :currency WHERE id = :id",
            balance=int(account.starting_balance * 10**8),
            currency=account.currency,
            id=account.id,
        )

    async def write_trade(self, trade: Trade) -> None:
        await self.sql(UPDATE_TRADE, **columns_of(trade))

    async def add_goal(self, metric: str, timeframe: str, scope: str) -> None:
        target = random_amount(self.random) or Fraction(50)
        direction = self.random.choice(["at_least", "at_most"])
        body = {
            "goal_name": "Goal",
            "metric": metric,
            "target_value": float(target),
            "direction": direction,
            "timeframe": timeframe,
        }
        if timeframe == "custom":
            body |= {"custom_start": str(WINDOW[0]), "custom_end": str(WINDOW[1])}
        goal = unwrap(await self.client.post("/goals", json=body))
        if scope != "all":
            await self.patch(f"/goals/{goal['id']}", scope=scope)
        window = WINDOW if timeframe == "custom" else None
        self.goals[goal["id"]] = Goal(
            metric, direction, timeframe, scope, self.now, [(self.now, target)], window
        )

    async def compare(self) -> None:
        """Every snapshot of every goal is what naive.py says."""
        for goal_id, goal in self.goals.items():
            found = await self.read(goal_id)
            wanted = self.frozen.get(goal_id)
            if wanted is None:
                wanted = [
                    shown(goal, self.journal, one) for one in naive.snapshots(self.journal, goal, self.now)
                ]
            assert len(found) == len(wanted), (goal, found, wanted)
            for one, other in zip(found, wanted, strict=True):
                reason, reasons = one["snapshot_data"].pop("reason"), other["reasons"]
                assert {**one, "reasons": reasons} == other, goal
                assert (reason in reasons) if one["actual"] is None else (reason is None), (goal, one)
            self.compared += len(found)

    async def read(self, goal_id: int) -> list[dict[str, Any]]:
        response = await self.client.get(f"/goals/{goal_id}/snapshots?limit=365")
        unwrap(response)
        answer = json.loads(response.text, parse_float=Fraction, parse_int=Fraction)
        snapshots: list[dict[str, Any]] = answer["data"]["snapshots"]
        assert answer["meta"]["pagination"]["total"] == len(snapshots)
        for snapshot in snapshots:
            assert snapshot.pop("goal_id") == goal_id
            assert snapshot.pop("computed_at") <= self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return snapshots


INSERT_TRADE = """
    INSERT INTO trades (id, user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
        closed_at, trading_day, gross_pnl, fees, initial_risk, grade, strategy_id, setup_id, source_trade_id,
        created_at, updated_at)
    SELECT :id, 1, :account_id, 'ES', 'long', 100000000, 0, '', :closed_at,
        trading_day(:closed_at, timezone, day_rollover), :gross, :fees, :risk, :grade, :strategy_id,
        :setup_id, :source_id, '', ''
    FROM users WHERE users.id = 1"""
UPDATE_TRADE = """
    UPDATE trades SET account_id = :account_id, closed_at = :closed_at,
        trading_day = (SELECT trading_day(:closed_at, timezone, day_rollover) FROM users WHERE users.id = 1),
        gross_pnl = :gross, fees = :fees, initial_risk = :risk, grade = :grade, strategy_id = :strategy_id,
        setup_id = :setup_id, source_trade_id = :source_id
    WHERE id = :id"""


def columns_of(trade: Trade) -> dict[str, Any]:
    return {
        "id": trade.id,
        "account_id": trade.account_id,
        "closed_at": trade.closed_at and trade.closed_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "gross": int(trade.gross * 10**8) if trade.closed_at else None,
        "fees": int(trade.fees * 10**8),
        "risk": None if trade.risk is None else int(trade.risk * 10**8),
        "grade": trade.grade,
        "strategy_id": STRATEGY if trade.setup_id else None,
        "setup_id": trade.setup_id,
        "source_id": trade.source_id,
    }


def shown(goal: Goal, journal: Journal, snapshot: naive.Snapshot) -> dict[str, Any]:
    """The snapshot as the API is to answer it."""
    return {
        "period_start": str(snapshot.period_start),
        "period_end": str(snapshot.period_end),
        "target": snapshot.target,
        "actual": snapshot.actual,
        "achieved": snapshot.achieved,
        "closed": snapshot.closed,
        "reasons": snapshot.reasons,
        "snapshot_data": {
            "unit": UNITS[goal.metric],
            "timezone": journal.timezone,
            "day_rollover": journal.rollover,
            "currency": snapshot.currency,
            **{
                name: value
                for name, value in snapshot.data.items()
                if SPECIAL.get(name, goal.metric) == goal.metric
            },
        },
    }


UNITS = {
    **dict.fromkeys(["net_pnl", "gross_pnl", "max_drawdown", "balance_target", "expectancy"], "currency"),
    **dict.fromkeys(["average_win", "worst_trade", "worst_day"], "currency"),
    **dict.fromkeys(["win_rate", "a_plus_rate", "protocol_completion_rate", "mistake_free_rate"], "percent"),
    **dict.fromkeys(["profit_factor", "rr_realized_avg", "payoff_ratio"], "ratio"),
    **dict.fromkeys(["max_trades_per_day", "trade_count", "trading_days", "winning_days"], "count"),
    "win_streak": "count",
}


@asynccontextmanager
async def desk_of(journal: Journal, random: Random) -> AsyncIterator[Desk]:
    with tempfile.TemporaryDirectory() as folder, time_machine.travel(EARLIER, tick=False) as clock:
        app = create_app(Settings(db=Path(folder) / "journal.db"))
        async with started(app), client_of(app, await new_key_for(app)) as client:
            desk = Desk(app, client, journal, clock.move_to, random)
            await desk.write()
            yield desk


# Late edits ---------------------------------------------------------------------------------------------


async def add_trade(desk: Desk) -> None:
    id_ = max(desk.journal.trades, default=0) + 100
    trade = random_trade(desk.random, desk.journal, id_, desk.moments)
    desk.journal.trades[id_] = trade
    await desk.sql(INSERT_TRADE, **columns_of(trade))
    await insert_trade_tags(desk.app, id_, sorted(trade.tags))
    for one, present in trade.answers.items():
        await insert_answer(desk.app, id_, one, present)


async def edit_trade(desk: Desk) -> None:
    if trade := desk.any_trade():
        new = random_trade(desk.random, desk.journal, trade.id, desk.moments)
        for field in desk.random.sample(["gross", "fees", "risk", "grade", "source_id"], 2):
            setattr(trade, field, getattr(new, field))
        await desk.write_trade(trade)


async def move_trade(desk: Desk) -> None:
    if trade := desk.any_trade():
        trade.account_id = desk.random.choice(list(desk.journal.accounts))
        if trade.closed_at:
            trade.closed_at = desk.random.choice(desk.moments)
        await desk.write_trade(trade)


async def open_or_close_trade(desk: Desk) -> None:
    if trade := desk.any_trade():
        trade.closed_at = None if trade.closed_at else random_moment(desk.random)
        await desk.write_trade(trade)


async def delete_trade(desk: Desk) -> None:
    if trade := desk.any_trade():
        desk.journal.delete_trade(trade.id)
        await desk.sql("DELETE FROM trades WHERE id = :id", id=trade.id)


async def retag(desk: Desk) -> None:
    if trade := desk.any_trade():
        trade.tags = {tag for tag in desk.journal.tags if desk.random.random() < 0.5}
        await insert_trade_tags(desk.app, trade.id, sorted(trade.tags))


async def change_type_of_tag(desk: Desk) -> None:
    for tag in list(desk.journal.tags)[:1]:
        desk.journal.tags[tag] = "custom" if desk.journal.tags[tag] == "mistake" else "mistake"
        await desk.patch(f"/tags/{tag}", type=desk.journal.tags[tag])


async def delete_tag(desk: Desk) -> None:
    for tag in list(desk.journal.tags)[:1]:
        desk.journal.delete_tag(tag)
        assert (await desk.client.delete(f"/tags/{tag}")).status_code == 204


async def answer(desk: Desk) -> None:
    trade = desk.any_trade()
    if trade and trade.setup_id:
        for one in sorted(desk.journal.checklists[trade.setup_id])[:2]:
            trade.answers[one] = desk.random.random() < 0.7
            await insert_answer(desk.app, trade.id, one, trade.answers[one])


async def take_answer_back(desk: Desk) -> None:
    trade = desk.any_trade()
    if trade and trade.answers:
        one = desk.random.choice(sorted(trade.answers))
        del trade.answers[one]
        await desk.sql(
            "DELETE FROM confirmation_answers WHERE (trade_id, confirmation_id) = (:trade, :one)",
            trade=trade.id,
            one=one,
        )


async def change_setup(desk: Desk) -> None:
    if trade := desk.any_trade():
        desk.journal.give_setup(trade.id, desk.random.choice([None, *desk.journal.checklists]))
        await desk.write_trade(trade)


async def write_checklists(desk: Desk, **setups: Any) -> Any:
    return await desk.patch(f"/strategies/{STRATEGY}", **setups)


def listed(desk: Desk, setup: int, *more: dict[str, Any]) -> list[dict[str, Any]]:
    """The body that keeps every setup, and gives one of them its checklist with `more` at the end."""
    kept = [{"confirmation_id": one} for one in sorted(desk.journal.checklists[setup])]
    return [
        {"setup_id": one, "confirmations": [*kept, *more]} if one == setup else {"setup_id": one}
        for one in desk.journal.checklists
    ]


async def add_confirmation(desk: Desk) -> None:
    if desk.journal.checklists:
        setup = desk.random.choice(list(desk.journal.checklists))
        strategy = await write_checklists(desk, setups=listed(desk, setup, {"name": "One more"}))
        (written,) = [one for one in strategy["setups"] if one["setup_id"] == setup]
        desk.journal.checklists[setup] = {one["confirmation_id"] for one in written["confirmations"]}


async def delete_confirmation(desk: Desk) -> None:
    with_checklist = [setup for setup, checklist in desk.journal.checklists.items() if checklist]
    if with_checklist:
        setup = desk.random.choice(with_checklist)
        desk.journal.delete_confirmation(setup, min(desk.journal.checklists[setup]))
        await write_checklists(desk, setups=listed(desk, setup))


async def delete_setup(desk: Desk) -> None:
    if desk.journal.checklists:
        desk.journal.delete_setup(desk.random.choice(list(desk.journal.checklists)))
        await write_checklists(desk, setups=[{"setup_id": setup} for setup in desk.journal.checklists])


async def change_balance(desk: Desk) -> None:
    account = desk.random.choice(list(desk.journal.accounts.values()))
    account.starting_balance = random_amount(desk.random)
    await desk.write_balance(account)


async def change_currency(desk: Desk) -> None:
    account = desk.random.choice(list(desk.journal.accounts.values()))
    account.currency = random_currency(desk.random)
    await desk.write_balance(account)


async def add_account(desk: Desk) -> None:
    id_ = await insert_account(desk.app, f"After {max(desk.journal.accounts)}", starting_balance=7)
    desk.journal.accounts[id_] = Account(id_, Fraction(7))


async def delete_account(desk: Desk) -> None:
    """One that no goal is bound to, after its last trade."""
    if 3 in desk.journal.accounts:
        for trade in [trade for trade in desk.journal.trades.values() if trade.account_id == 3]:
            desk.journal.delete_trade(trade.id)
            await desk.sql("DELETE FROM trades WHERE id = :id", id=trade.id)
        del desk.journal.accounts[3]
        desk.journal.groups[1].discard(3)
        await desk.sql("DELETE FROM accounts WHERE id = 3")


async def change_members(desk: Desk) -> None:
    member = desk.random.choice(list(desk.journal.accounts))
    if member in desk.journal.groups[1]:
        await desk.sql("DELETE FROM copy_group_members WHERE account_id = :id", id=member)
    else:
        await desk.sql(
            "INSERT INTO copy_group_members (account_id, copy_group_id) VALUES (:id, 1)", id=member
        )
    desk.journal.groups[1] ^= {member}


async def change_selection(desk: Desk) -> None:
    desk.journal.selection = desk.random.choice(SCOPES[:-1])
    await desk.patch("/me", active_selection=desk.journal.selection)


async def change_calendar(desk: Desk) -> None:
    """While every goal has had one target only: days of older targets are not rewritten."""
    if all(len(goal.targets) == 1 for goal in desk.goals.values()):
        desk.journal.timezone, desk.journal.rollover = desk.random.choice(CALENDARS)
        await desk.patch("/me", timezone=desk.journal.timezone, day_rollover=desk.journal.rollover)


async def let_time_pass(desk: Desk) -> None:
    hours = desk.random.choice([1, 24, 24 * 7, 24 * 20])
    desk.move_to(desk.now + timedelta(hours=hours))


async def change_target(desk: Desk) -> None:
    for goal_id, goal in desk.goals.items():
        target = random_amount(desk.random) or Fraction(3)
        goal.targets.append((desk.now, target))
        await desk.patch(f"/goals/{goal_id}", target_value=float(target))


async def redefine_goals(desk: Desk) -> None:
    for goal_id, goal in desk.goals.items():
        metric, direction = (
            desk.random.choice(list(naive.METRICS)),
            desk.random.choice(["at_least", "at_most"]),
        )
        if (metric, direction) != (goal.metric, goal.direction):
            goal.metric, goal.direction = metric, direction
            goal.targets = [(desk.now, goal.targets[-1][1])]
            await desk.patch(f"/goals/{goal_id}", metric=metric, direction=direction)


async def move_goals(desk: Desk) -> None:
    for goal_id, goal in desk.goals.items():
        scope = desk.random.choice(SCOPES)
        if scope != goal.scope:
            goal.scope = scope
            goal.targets = [(desk.now, goal.targets[-1][1])]
            await desk.patch(f"/goals/{goal_id}", scope=scope)


async def pause_or_activate(desk: Desk) -> None:
    for goal_id, goal in desk.goals.items():
        if goal_id in desk.frozen:
            del desk.frozen[goal_id]
            await desk.patch(f"/goals/{goal_id}", status="active")
        elif desk.random.random() < 0.5:
            desk.frozen[goal_id] = [
                shown(goal, desk.journal, one) for one in naive.snapshots(desk.journal, goal, desk.now)
            ]
            await desk.patch(f"/goals/{goal_id}", status=desk.random.choice(["paused", "archived"]))


Edit = Callable[[Desk], Awaitable[None]]
EDITS: list[Edit] = [
    add_trade,
    edit_trade,
    move_trade,
    open_or_close_trade,
    delete_trade,
    retag,
    change_type_of_tag,
    delete_tag,
    answer,
    take_answer_back,
    change_setup,
    add_confirmation,
    delete_confirmation,
    delete_setup,
    change_balance,
    change_currency,
    add_account,
    delete_account,
    change_members,
    change_selection,
    change_calendar,
    let_time_pass,
    change_target,
    redefine_goals,
    move_goals,
    pause_or_activate,
]


# The tests ----------------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, tries(full=2, short=1) + 1))
async def test_every_metric_timeframe_and_scope_equals_the_naive_computation(seed: int) -> None:
    random = Random(seed)
    everything = list(product(naive.METRICS, TIMEFRAMES, SCOPES))

    async with desk_of(random_journal(random, 40), random) as desk:
        for metric, timeframe, scope in everything:
            await desk.add_goal(metric, timeframe, scope)
        desk.move_to(NOW)

        await desk.compare()


@given(
    seed=st.integers(0, 2**32),
    batches=st.lists(st.lists(st.sampled_from(EDITS), min_size=1, max_size=3), max_size=5),
)
@tried(full=35, short=7)
def test_a_journal_with_late_edits_equals_the_naive_computation_at_every_read(
    seed: int, batches: list[list[Edit]]
) -> None:
    random = Random(seed)
    journal = random_journal(random, 15)
    combinations = list(product(TIMEFRAMES, SCOPES))
    first = random.randrange(len(combinations))

    async def run() -> None:
        async with desk_of(journal, random) as desk:
            for place, metric in enumerate(naive.METRICS):
                if place == len(naive.METRICS) // 2:
                    desk.move_to(NOW)
                await desk.add_goal(metric, *combinations[(first + place * 7) % len(combinations)])
            await desk.compare()
            for batch in batches:
                for edit in batch:
                    await edit(desk)
                await desk.compare()

    asyncio.run(run())
