"""Every metric, timeframe and scope against naive.py, over journals denser than those of test_model.py."""

import json
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
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
from factories import insert_account, insert_copy_group, run_sql, unwrap
from model import SPECIAL, UNIT_OF
from naive import Account, Goal, Journal, Trade
from proofs import examples
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.settings import Settings
from journal_api.values.metrics import METRICS

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

# Random journals ----------------------------------------------------------------------------------------


def random_journal(random: Random, most_trades: int) -> Journal:
    zone, rollover = random.choice(CALENDARS)
    weekdays = random.choice([{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6, 7}, {3}])
    journal = Journal(zone, rollover, weekdays, random.choice(SCOPES[:-1]))
    for account in (1, 2, 3):
        journal.accounts[account] = Account(account, random_amount(random), random_currency(random))
    journal.groups[1] = {account for account in journal.accounts if random.random() < 0.6}
    journal.tags = {tag: random.choice(["mistake", "custom"]) for tag in (1, 2, 3)}
    journal.checklists = {1: {1, 2}, 2: {3}, 3: set()}
    # A short list of moments makes ties.
    moments = [random_moment(random) for _ in range(random.choice([2, 5, 20]))]
    for trade in range(1, random.randint(most_trades // 2, most_trades) + 1):
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

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    async def write(self) -> None:
        """Put the whole journal into the empty database."""
        journal = self.journal
        for account in journal.accounts.values():
            made = await insert_account(self.app, f"Account {account.id}")
            assert made == account.id
            await self.write_balance(account)
        assert await insert_copy_group(self.app, members=sorted(journal.groups[1])) == 1
        await self.patch("/me", timezone=journal.timezone, day_rollover=journal.rollover)
        await self.patch("/me", trading_weekdays=sorted(journal.trading_weekdays))
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

    async def patch(self, path: str, **fields: Any) -> Any:
        return unwrap(await self.client.patch(path, json=fields))

    async def write_balance(self, account: Account) -> None:
        await run_sql(
            self.app,
            "UPDATE accounts SET starting_balance = :balance, currency = :currency WHERE id = :id",
            {
                "balance": int(account.starting_balance * 10**8),
                "currency": account.currency,
                "id": account.id,
            },
        )

    async def add_goal(self, metric: str, timeframe: str, scope: str) -> None:
        target = random_amount(self.random) or Fraction(50)
        if not METRICS[metric].may_be_negative:
            target = abs(target)
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
            wanted = [shown(goal, self.journal, one) for one in naive.snapshots(self.journal, goal, self.now)]
            assert len(found) == len(wanted), (goal, found, wanted)
            for one, other in zip(found, wanted, strict=True):
                reason, reasons = one["snapshot_data"].pop("reason"), other["reasons"]
                assert {**one, "reasons": reasons} == other, goal
                assert (reason in reasons) if one["actual"] is None else (reason is None), (goal, one)

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
            "unit": UNIT_OF[goal.metric],
            "timezone": journal.timezone,
            "day_rollover": journal.rollover,
            "currency": snapshot.currency,
            **{
                name: value
                for name, value in snapshot.data.items()
                if SPECIAL.get(name, goal.metric) == goal.metric
            },
            **({} if snapshot.pace is None else {"pace": snapshot.pace}),
        },
    }


@asynccontextmanager
async def desk_of(journal: Journal, random: Random) -> AsyncIterator[Desk]:
    with tempfile.TemporaryDirectory() as folder, time_machine.travel(EARLIER, tick=False) as clock:
        app = create_app(Settings(db=Path(folder) / "journal.db"))
        async with started(app), client_of(app, await new_key_for(app)) as client:
            desk = Desk(app, client, journal, clock.move_to, random)
            await desk.write()
            yield desk


EVERYTHING = list(product(naive.METRICS, TIMEFRAMES, SCOPES))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=10, ci=2)))
async def test_every_metric_timeframe_and_scope_equals_the_naive_computation(seed: int) -> None:
    """The short form takes every eighth combination, in two journals: each metric with each timeframe."""
    random = Random(seed)
    combinations = EVERYTHING[seed * 4 % 8 :: examples(full=1, ci=8)]

    async with desk_of(random_journal(random, 40), random) as desk:
        for metric, timeframe, scope in combinations:
            await desk.add_goal(metric, timeframe, scope)
        await desk.compare()
        desk.move_to(NOW)

        await desk.compare()
