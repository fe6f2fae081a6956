"""A trader's year over HTTP: after every step, every snapshot of every goal is what naive.py computes.

naive.py is fed with what GET answers, so its numbers are those that the trader could find by hand.
"""

import asyncio
import csv
import io
import json
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from copy import deepcopy
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import count, cycle, groupby
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx
import naive
import pytest
import time_machine
from conftest import client_of, new_key_for, started
from factories import create_account, create_copy_group, create_import, create_strategy, create_tag, unwrap
from hypothesis import given
from hypothesis import strategies as st
from naive import Account, Goal, Journal, Snapshot, Trade
from proofs import tried, tries

from journal_api.app import create_app
from journal_api.settings import Settings

# What the API answered, its decimals as fractions.
Told = dict[str, Any]

NEW_YEAR = "2025-01-02T12:00:00Z"
TIMEFRAMES = ["daily", "weekly", "monthly", "quarterly", "custom"]
WINDOWS = [("2024-12-15", "2025-02-28"), ("2025-03-10", "2025-06-09"), ("2025-08-31", "2026-06-30")]
TARGETS = [1, 2.5, 50, -200.00000001]
# Noon in UTC is the same date in all of them, before and after every rollover.
ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata"]
ROLLOVERS = ["00:00", "18:00", "22:00"]
NOON = time(12, tzinfo=UTC)
# Around midnight and the rollovers of these zones, with and without summer time.
TIMES = ["00:00:00", "03:59:59.999999", "04:00:00", "14:30:00", "18:00:00", "18:29:59.999999", "20:00:00"]
TIMES += ["21:59:59.999999", "22:00:00", "23:00:00"]
# What snapshot_data carries only for the metric that is made of it.
SPECIAL = {"max_drawdown": "max_drawdown", "win_streak": "win_streak", "opening_balance": "balance_target"}
CSV_COLUMNS = ["symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price", "stop_loss"]
CSV_COLUMNS += ["opened_at", "closed_at", "gross_pnl", "fees", "initial_risk", "grade", "strategy", "setup"]
CSV_COLUMNS += ["tags", "external_id"]


class Instrument(NamedTuple):
    symbol: str
    tick: Decimal
    price: int  # in ticks
    multiplier: float
    quantities: tuple[float, ...]


INSTRUMENTS = [
    Instrument("MNQ", Decimal("0.25"), 84_000, 2, (1, 2, 3)),
    Instrument("MCL", Decimal("0.01"), 7_100, 100, (1, 4)),
    Instrument("EURUSD", Decimal("0.00001"), 108_331, 1000, (0.5, 12.25)),
    Instrument("BTC", Decimal("0.12345679"), 670_000, 1, (0.01234567, 0.3)),
]


# The desk -----------------------------------------------------------------------------------------------


class Desk:
    """A journal behind the API, and what GET last said of it."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        move_to: Callable[[datetime], None],
        random: Random,
        handful: int,
        first_goal: int,
    ) -> None:
        self.client, self.move_to, self.random, self.handful = client, move_to, random, handful
        self.journal = Journal()
        # What the journal is to be after a step that foretells it.
        self.foretold: Journal | None = None
        self.trades: list[Told] = []
        self.strategies: list[Told] = []
        self.tag_names: list[str] = []
        self.units: dict[str, str] = {}
        self.goals: dict[int, Goal] = {}
        # The snapshots of paused goals when they were paused, with the journal of then.
        self.frozen: dict[int, tuple[Goal, Journal, list[Snapshot]]] = {}
        # What was imported last, and by import what the trades were that it corrected.
        self.file: list[dict[str, str]] = []
        self.account_of_file = 0
        self.corrected: dict[int, dict[int, Trade]] = {}
        # For names that are to differ, and for goals that are to.
        self.numbers, self.goal_numbers = count(), count(first_goal)

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    @property
    def checklists(self) -> list[int]:
        """The setups that have one."""
        return [setup for setup, confirmations in self.journal.checklists.items() if confirmations]

    def some(self, trades: Iterable[Told], number: int) -> list[Told]:
        found = list(trades)
        return self.random.sample(found, min(number, len(found)))

    def foretell(self) -> Journal:
        """The journal as it is, to be changed as it is to become."""
        self.foretold = deepcopy(self.journal)
        return self.foretold

    async def get(self, path: str, **query: Any) -> Any:
        response = await self.client.get(path, params=query)
        unwrap(response)
        (thing,) = json.loads(response.text, parse_float=Fraction)["data"].values()
        return thing

    async def every(self, path: str, limit: int, **query: Any) -> list[Told]:
        """Every page."""
        found: list[Told] = []
        total = 1
        while len(found) < total:
            response = await self.client.get(path, params={**query, "limit": limit, "offset": len(found)})
            unwrap(response)
            answer = json.loads(response.text, parse_float=Fraction)
            (page,) = answer["data"].values()
            found += page
            total = answer["meta"]["pagination"]["total"]
            assert page or not total
        assert len(found) == total
        return found

    async def post(self, path: str, **fields: Any) -> Any:
        return unwrap(await self.client.post(path, json=fields))

    async def patch(self, path: str, **fields: Any) -> Any:
        return unwrap(await self.client.patch(path, json=fields))

    async def put(self, path: str, **fields: Any) -> Any:
        return unwrap(await self.client.put(path, json=fields))

    async def delete(self, path: str, **query: Any) -> httpx.Headers:
        response = await self.client.delete(path, params=query)
        assert response.status_code == 204, response.text
        return response.headers

    # Reading

    async def read(self) -> None:
        """Ask for everything that a number can depend on."""
        me = await self.get("/me")
        self.journal = Journal(me["timezone"], me["day_rollover"], me["active_selection"])
        for account in await self.get("/accounts"):
            balance = Fraction(account["starting_balance"])
            self.journal.accounts[account["id"]] = Account(account["id"], balance, account["currency"])
        for group in await self.get("/copy-groups"):
            members = (await self.get(f"/copy-groups/{group['id']}"))["members"]
            self.journal.groups[group["id"]] = {member["account_id"] for member in members}
        tags = await self.get("/tags")
        self.tag_names = [tag["name"] for tag in tags]
        self.journal.tags = {tag["id"]: tag["type"] for tag in tags}
        self.strategies = [
            await self.get(f"/strategies/{one['id']}") for one in await self.get("/strategies")
        ]
        for setup in (setup for strategy in self.strategies for setup in strategy["setups"]):
            confirmations = {one["confirmation_id"] for one in setup["confirmations"]}
            self.journal.checklists[setup["setup_id"]] = confirmations
        self.trades = sorted(await self.every("/trades", 200), key=lambda trade: int(trade["id"]))
        for trade in self.trades:
            self.journal.trades[trade["id"]] = await self.written_down(trade)
        await self.read_goals()

    async def written_down(self, told: Told) -> Trade:
        """The trade as naive.py has it; what the API has derived of it is so."""
        gross, fees, risk = (told[name] for name in ("gross_pnl", "fees", "initial_risk"))
        closed_at = told["closed_at"] and datetime.fromisoformat(told["closed_at"])
        assert told["trading_day"] == (closed_at and str(self.journal.day_of(closed_at)))
        assert told["net_pnl"] == (None if closed_at is None else gross - fees)
        return Trade(
            told["id"],
            told["account_id"],
            closed_at,
            Fraction(gross or 0),
            Fraction(fees),
            None if risk is None else Fraction(risk),
            told["grade"],
            told["setup_id"],
            told["source_trade_id"],
            set(told["tag_ids"]),
            await self.answers_of(told),
        )

    async def answers_of(self, told: Told) -> dict[int, bool]:
        """Only a trade whose setup has a checklist can have any."""
        if told["setup_id"] not in self.checklists:
            return {}
        trade = await self.get(f"/trades/{told['id']}")
        return {one["confirmation_id"]: one["was_present"] for one in trade["confirmations"]}

    async def read_goals(self) -> None:
        """The goals as they are; of the targets of the past only the trader knows."""
        for told in await self.get("/goals", status="all"):
            created_at = datetime.fromisoformat(told["created_at"])
            known = self.goals.get(told["id"])
            start, end = (
                told[name] and date.fromisoformat(told[name]) for name in ("custom_start", "custom_end")
            )
            self.goals[told["id"]] = Goal(
                **{name: told[name] for name in ("metric", "direction", "timeframe", "scope")},
                created_at=created_at,
                targets=known.targets if known else [(created_at, Fraction(told["target_value"]))],
                window=(start, end) if start else None,
            )

    # Comparing

    async def compare(self, step: str) -> None:
        """Every snapshot of every goal is what naive.py says."""
        await self.read()
        assert self.foretold in (None, self.journal), step
        self.foretold = None
        for goal_id, goal in self.goals.items():
            goal, journal, wanted = self.frozen.get(goal_id) or self.computed(goal)
            found = await self.every(f"/goals/{goal_id}/snapshots", 90)
            starts = [date.fromisoformat(one["period_start"]) for one in found]
            assert starts == [one.period_start for one in wanted], (step, goal_id, goal)
            for told, one in zip(found, wanted, strict=True):
                assert told["goal_id"] == goal_id
                assert datetime.fromisoformat(told["computed_at"]) <= self.now
                unlike = differences(told, shown(goal, journal, one, self.units[goal.metric]), one.reasons)
                assert not unlike, (step, goal_id, goal, told["period_start"])

    def computed(self, goal: Goal) -> tuple[Goal, Journal, list[Snapshot]]:
        return goal, self.journal, naive.snapshots(self.journal, goal, self.now)


def shown(goal: Goal, journal: Journal, snapshot: Snapshot, unit: str) -> Told:
    """All that the API is to say in a snapshot, but for the reason of a null."""
    return {
        "period_start": str(snapshot.period_start),
        "period_end": str(snapshot.period_end),
        "target": snapshot.target,
        "actual": snapshot.actual,
        "achieved": snapshot.achieved,
        "closed": snapshot.closed,
        "unit": unit,
        "currency": snapshot.currency,
        "timezone": journal.timezone,
        "day_rollover": journal.rollover,
        **{
            name: value
            for name, value in snapshot.data.items()
            if SPECIAL.get(name, goal.metric) == goal.metric
        },
    }


def differences(told: Told, wanted: Told, reasons: set[str]) -> dict[str, tuple[object, object]]:
    """What the API says otherwise: (said, computed) by name."""
    said = {**told, **told["snapshot_data"]}
    for name in ("snapshot_data", "goal_id", "computed_at"):
        del said[name]
    reason = said.pop("reason")
    unlike = {
        name: (said.get(name, "missing"), wanted.get(name, "not computed"))
        for name in said.keys() | wanted.keys()
        if said.get(name, "missing") != wanted.get(name, "not computed")
    }
    if (reason not in reasons) if reasons else (reason is not None):
        unlike["reason"] = (reason, reasons)
    return unlike


@asynccontextmanager
async def desk_of(random: Random, handful: int, goals: range) -> AsyncIterator[Desk]:
    """A journal on New Year, with accounts, a group, tags, strategies and goals, and no trade yet."""
    with (
        tempfile.TemporaryDirectory() as folder,
        time_machine.travel(datetime.fromisoformat(NEW_YEAR), tick=False) as clock,
    ):
        app = create_app(Settings(db=Path(folder) / "journal.db"))
        async with started(app), client_of(app, await new_key_for(app)) as client:
            desk = Desk(client, clock.move_to, random, handful, goals.start)
            await make_catalog(desk)
            await desk.read()
            for _ in goals:
                await set_goal(desk)
            await desk.read()
            yield desk


async def make_catalog(desk: Desk) -> None:
    names = {"Live": 25_000.5, "Funded": 50_000, "Sim": 0}
    accounts = [
        await create_account(desk.client, name, starting_balance=balance) for name, balance in names.items()
    ]
    await create_copy_group(desk.client, account_ids=[account["id"] for account in accounts[:2]])
    for name in ("Chased", "Moved the stop", "Too early"):
        await create_tag(desk.client, name, type="mistake")
    for name in ("News", "Gap", "Trend day"):
        await create_tag(desk.client, name)
    for name in ("Breakout", "Fade", "Opening range", "Pullback", "Squeeze"):
        setups = [
            {"name": f"{name} {number}", "confirmations": [{"name": f"Sign {one}"} for one in range(number)]}
            for number in range(desk.random.randint(2, 3))
        ]
        await create_strategy(desk.client, name, setups=setups)
    desk.units = {metric["key"]: metric["unit"] for metric in await desk.get("/metrics")}


# What is written down -----------------------------------------------------------------------------------


def written(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def new_trades(desk: Desk, number: int) -> list[Told]:
    """Trades as POST takes them, every fourth day of the last weeks; a few are dated ahead.

    Several close at one instant.
    """
    moments = []
    for _ in range(number * 2 // 3 + 1):
        day = desk.now.date() - timedelta(days=4 * desk.random.randint(-1, 10))
        clock = time.fromisoformat(desk.random.choice(TIMES))
        moments.append(datetime.combine(day, clock, UTC))
    return [new_trade(desk, desk.random.choice(moments)) for _ in range(number)]


def new_trade(desk: Desk, closed_at: datetime) -> Told:
    random = desk.random
    trade = {
        **new_prices(random),
        "account_id": random.choice(list(desk.journal.accounts)),
        "direction": random.choice(["long", "short"]),
        "opened_at": written(closed_at - timedelta(minutes=random.choice([0, 5, 300]))),
        "closed_at": written(closed_at),
        "fees": random.choice([0, 0, 1.04, 4.52, 0.00000001]),
        "initial_risk": random.choice([None, None, 50.5]),
        "grade": random.choice([None, "A+", "A+", "B", "F"]),
        "setup_id": random.choice([None, *desk.journal.checklists]),
    }
    still_open = {"exit_price": None, "closed_at": None}
    break_even_by_the_brokers_word = {"gross_pnl": trade["fees"]}
    return trade | random.choices([{}, still_open, break_even_by_the_brokers_word], [17, 1, 2])[0]


def new_prices(random: Random) -> Told:
    """A stop may stand on the winning side, and an exit at the entry."""
    symbol, tick, price, multiplier, quantities = random.choice(INSTRUMENTS)
    entry = price + random.randint(-90, 90)
    moved = 0 if random.random() < 0.15 else random.randint(-60, 70)
    stop = random.choice([None, -25, -10, 15])
    return {
        "symbol": symbol,
        "quantity": random.choice(quantities),
        "multiplier": multiplier,
        "entry_price": float(tick * entry),
        "exit_price": float(tick * (entry + moved)),
        "stop_loss": None if stop is None else float(tick * (entry + stop)),
    }


def copy_of(desk: Desk, original: Told) -> Told:
    """The trade as another account filled it, closed a little later, perhaps on another day."""
    random = desk.random
    accounts = [one for one in desk.journal.accounts if one != original["account_id"]]
    later = timedelta(seconds=random.choice([0, 0, 1, 7 * 3600]))
    closed_at = datetime.fromisoformat(original["closed_at"]) + later
    amounts = ("multiplier", "entry_price", "gross_pnl")
    return {
        **{name: original[name] for name in ("symbol", "direction", "opened_at")},
        **{name: float(original[name]) for name in amounts},
        "quantity": float(original["quantity"] * 2),
        "account_id": random.choice(accounts),
        "closed_at": written(closed_at),
        "fees": random.choice([0, 2.08]),
        "initial_risk": random.choice([None, 101]),
        "grade": random.choice([None, "A+", "C"]),
        "setup_id": random.choice([None, *desk.journal.checklists]),
        "source_trade_id": original["id"],
    }


def row_of(desk: Desk, trade: Told) -> dict[str, str]:
    """The trade as a row of a file, with names in place of ids; every other one has a broker's id."""
    names = {
        setup["setup_id"]: (strategy["name"], setup["name"])
        for strategy in desk.strategies
        for setup in strategy["setups"]
    }
    number = next(desk.numbers)
    cells = {name: cell(trade.get(name)) for name in CSV_COLUMNS}
    cells["strategy"], cells["setup"] = names.get(trade["setup_id"], ("", ""))
    cells["tags"] = ";".join(desk.random.sample(desk.tag_names, min(1, len(desk.tag_names))))
    cells["external_id"] = f"X-{number}" if number % 2 else ""
    return cells


def cell(value: object) -> str:
    if isinstance(value, int | float):
        return format(Decimal(repr(value)), "f")
    return "" if value is None else str(value)


def corrected(row: dict[str, str]) -> dict[str, str]:
    """As the broker says it later: other fees, and where its id tells it, closed a day later."""
    correction = {"fees": "7.77"}
    if row["external_id"] and row["closed_at"]:
        closed_at = datetime.fromisoformat(row["closed_at"]) + timedelta(days=1)
        correction["closed_at"] = written(closed_at)
    return {**row, **correction}


def csv_of(rows: list[dict[str, str]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


async def bring_in(desk: Desk) -> None:
    """Import the file; a row is new unless its account has a trade of the broker's id."""
    account_id = desk.account_of_file
    known = {trade["external_id"] for trade in desk.trades if trade["account_id"] == account_id}
    report = await create_import(desk.client, csv_of(desk.file), account_id=account_id)
    for row, told in zip(desk.file, report["rows"], strict=True):
        if row["external_id"]:
            assert (told["verdict"] == "new") == (row["external_id"] not in known)
            known.add(row["external_id"])
    changed = [told["trade_id"] for told in report["rows"] if told["verdict"] == "updated"]
    desk.corrected[report["id"]] = {trade_id: desk.journal.trades[trade_id] for trade_id in changed}


# Steps: trades ------------------------------------------------------------------------------------------


async def writes_trades_down_one_by_one(desk: Desk) -> None:
    for trade in new_trades(desk, desk.handful):
        await desk.post("/trades", **trade)


async def writes_many_trades_down_at_once(desk: Desk) -> None:
    await desk.post("/trades/bulk", trades=new_trades(desk, desk.handful * 3))


async def copies_trades_into_other_accounts(desk: Desk) -> None:
    """Of copies too, which makes copies of the original; some are copied twice."""
    closed = desk.some((trade for trade in desk.trades if trade["closed_at"]), desk.handful)
    if copies := [copy_of(desk, trade) for trade in [*closed, *closed[:2]]]:
        await desk.post("/trades/bulk", trades=copies)


async def corrects_and_regrades_the_oldest_trades(desk: Desk) -> None:
    """Each in one way."""
    closed = (trade for trade in desk.trades[:30] if trade["closed_at"])
    for trade, way in zip(desk.some(closed, desk.handful), cycle(range(6)), strict=False):
        changes: list[Told] = [
            {"grade": "A+" if trade["grade"] != "A+" else None},
            {"fees": 3.33},
            {"initial_risk": 75.25},
            {"gross_pnl": desk.random.choice([-120.5, 0, 300.00000001])},
            {"exit_price": float(trade["entry_price"] * 2), "gross_pnl": None},
            {"quantity": 5, "direction": "short"},
        ]
        await desk.patch(f"/trades/{trade['id']}", **changes[way])


async def moves_old_trades_to_another_account(desk: Desk) -> None:
    foretold = desk.foretell()
    for trade in movable(desk):
        others = [one for one in foretold.accounts if one != trade["account_id"]]
        foretold.trades[trade["id"]].account_id = desk.random.choice(others)
        await desk.patch(f"/trades/{trade['id']}", account_id=foretold.trades[trade["id"]].account_id)


async def moves_old_trades_to_another_day(desk: Desk) -> None:
    for trade in movable(desk):
        days = timedelta(days=desk.random.choice([-40, -1, 1, 100]))
        opened_at, closed_at = (
            datetime.fromisoformat(trade[name]) + days for name in ("opened_at", "closed_at")
        )
        await desk.patch(f"/trades/{trade['id']}", opened_at=written(opened_at), closed_at=written(closed_at))


def movable(desk: Desk) -> list[Told]:
    """Old trades without a broker's id, which is unique in an account."""
    closed = (trade for trade in desk.trades if trade["closed_at"] and not trade["external_id"])
    return desk.some(list(closed)[:40], desk.handful)


async def finds_that_the_trades_of_each_day_closed_in_reverse(desk: Desk) -> None:
    for trades in by_day(desk):
        closes = [trade["closed_at"] for trade in trades]
        for trade, closed_at in zip(trades, reversed(closes), strict=True):
            await desk.patch(f"/trades/{trade['id']}", opened_at=closed_at, closed_at=closed_at)


async def finds_that_trades_of_a_day_were_copies(desk: Desk) -> None:
    """And that some copies were none."""
    foretold = desk.foretell()
    copied = {trade["source_trade_id"] for trade in desk.trades}
    for first, *others in by_day(desk):
        for trade in [one for one in others if one["id"] not in copied][:1]:
            is_copy = trade["source_trade_id"] is not None
            source_id = None if is_copy else first["source_trade_id"] or first["id"]
            foretold.trades[trade["id"]].source_id = source_id
            copied.add(source_id)
            await desk.patch(f"/trades/{trade['id']}", source_trade_id=source_id)


def by_day(desk: Desk) -> Iterable[list[Told]]:
    """The trades of each day in the order of their closes."""
    closed = [trade for trade in desk.trades if trade["closed_at"]]
    closed.sort(key=lambda trade: (trade["trading_day"], trade["closed_at"]))
    return [list(trades) for _, trades in groupby(closed, lambda trade: str(trade["trading_day"]))]


async def closes_open_trades_and_opens_closed_ones(desk: Desk) -> None:
    for trade in desk.some((trade for trade in desk.trades if not trade["closed_at"]), desk.handful):
        opened_at = datetime.fromisoformat(trade["opened_at"])
        await desk.patch(
            f"/trades/{trade['id']}",
            closed_at=written(opened_at + timedelta(days=3)),
            exit_price=float(trade["entry_price"] + 1),
        )
    for trade in desk.some((trade for trade in desk.trades if trade["closed_at"]), 2):
        await desk.patch(f"/trades/{trade['id']}", closed_at=None)


async def deletes_trades_that_have_copies(desk: Desk) -> None:
    """Those that have most."""
    copied = Counter(trade["source_trade_id"] for trade in desk.trades if trade["source_trade_id"])
    foretold = desk.foretell()
    for trade_id, _ in copied.most_common(3):
        foretold.delete_trade(trade_id)
        await desk.delete(f"/trades/{trade_id}")


async def deletes_trades(desk: Desk) -> None:
    foretold = desk.foretell()
    for trade in desk.some(desk.trades, 3):
        foretold.delete_trade(trade["id"])
        await desk.delete(f"/trades/{trade['id']}")


# Steps: tags, setups, checklists ------------------------------------------------------------------------


async def tags_trades(desk: Desk) -> None:
    foretold = desk.foretell()
    for trade in desk.some(desk.trades, desk.handful * 2):
        tag_ids = [tag for tag in desk.journal.tags if desk.random.random() < 0.3]
        foretold.trades[trade["id"]].tags = set(tag_ids)
        await desk.put(f"/trades/{trade['id']}/tags", tag_ids=tag_ids)


async def finds_that_some_tags_are_mistakes_and_others_none(desk: Desk) -> None:
    foretold = desk.foretell()
    for tag in desk.random.sample(list(foretold.tags), min(3, len(foretold.tags))):
        foretold.tags[tag] = "custom" if foretold.tags[tag] == "mistake" else "mistake"
        await desk.patch(f"/tags/{tag}", type=foretold.tags[tag])


async def deletes_a_tag(desk: Desk) -> None:
    """A mistake if there is one, and the one that was made most often."""
    if tags := desk.journal.tags:
        made = Counter(tag for trade in desk.journal.trades.values() for tag in trade.tags)
        tag = max(tags, key=lambda one: (tags[one] == "mistake", made[one]))
        desk.foretell().delete_tag(tag)
        await desk.delete(f"/tags/{tag}")


async def answers_checklists(desk: Desk) -> None:
    foretold = desk.foretell()
    asked = (trade for trade in desk.trades if trade["setup_id"] in desk.checklists)
    for trade in desk.some(asked, desk.handful * 2):
        is_sloppy = desk.random.random() < 0.4
        answers = {
            one: not is_sloppy or desk.random.random() < 0.5
            for one in desk.journal.checklists[trade["setup_id"]]
            if not is_sloppy or desk.random.random() < 0.8
        }
        foretold.trades[trade["id"]].answers = answers
        sent = [{"confirmation_id": one, "was_present": present} for one, present in answers.items()]
        await desk.put(f"/trades/{trade['id']}/confirmations", confirmations=sent)


async def flips_answers_that_were_wrong(desk: Desk) -> None:
    """One of each trade."""
    foretold = desk.foretell()
    answered = (trade for trade in desk.trades if foretold.trades[trade["id"]].answers)
    for trade in desk.some(answered, desk.handful):
        answers = foretold.trades[trade["id"]].answers
        answers[min(answers)] ^= True
        sent = [{"confirmation_id": one, "was_present": present} for one, present in answers.items()]
        await desk.put(f"/trades/{trade['id']}/confirmations", confirmations=sent)


async def finds_that_trades_were_of_another_setup(desk: Desk) -> None:
    foretold = desk.foretell()
    for trade in desk.some((trade for trade in desk.trades if trade["setup_id"]), desk.handful):
        setup_id = desk.random.choice([None, *desk.journal.checklists])
        foretold.give_setup(trade["id"], setup_id)
        await desk.patch(f"/trades/{trade['id']}", setup_id=setup_id)


async def asks_for_one_more_confirmation(desk: Desk) -> None:
    if desk.journal.checklists:
        setup_id = desk.random.choice(list(desk.journal.checklists))
        kept = [{"confirmation_id": one} for one in sorted(desk.journal.checklists[setup_id])]
        new = {"name": f"Sign {next(desk.numbers)}"}
        await rewrite_setup(desk, setup_id, confirmations=[*kept, new])


async def asks_for_one_confirmation_less(desk: Desk) -> None:
    if desk.checklists:
        setup_id = desk.random.choice(desk.checklists)
        dropped, *kept = desk.random.sample(
            sorted(desk.journal.checklists[setup_id]), len(desk.journal.checklists[setup_id])
        )
        desk.foretell().delete_confirmation(setup_id, dropped)
        await rewrite_setup(desk, setup_id, confirmations=[{"confirmation_id": one} for one in kept])


async def deletes_a_setup(desk: Desk) -> None:
    if desk.journal.checklists:
        setup_id = desk.random.choice(list(desk.journal.checklists))
        desk.foretell().delete_setup(setup_id)
        strategy_id, setups = siblings_of(desk, setup_id)
        kept = [one for one in setups if one != {"setup_id": setup_id}]
        await desk.patch(f"/strategies/{strategy_id}", setups=kept)


async def deletes_a_strategy(desk: Desk) -> None:
    if desk.strategies:
        strategy = desk.random.choice(desk.strategies)
        foretold = desk.foretell()
        for setup in strategy["setups"]:
            foretold.delete_setup(setup["setup_id"])
        headers = await desk.delete(f"/strategies/{strategy['id']}")
        unlinked = sum(trade["strategy_id"] == strategy["id"] for trade in desk.trades)
        assert headers["x-trades-unlinked"] == str(unlinked)


async def rewrite_setup(desk: Desk, setup_id: int, **fields: Any) -> None:
    """Send the setups of its strategy, this one with those fields."""
    strategy_id, setups = siblings_of(desk, setup_id)
    sent = [one | fields if one == {"setup_id": setup_id} else one for one in setups]
    await desk.patch(f"/strategies/{strategy_id}", setups=sent)


def siblings_of(desk: Desk, setup_id: int) -> tuple[int, list[Told]]:
    """The id of its strategy, and all setups of it as PATCH keeps them."""
    for strategy in desk.strategies:
        setups = [{"setup_id": setup["setup_id"]} for setup in strategy["setups"]]
        if {"setup_id": setup_id} in setups:
            return strategy["id"], setups
    raise LookupError(setup_id)


# Steps: imports -----------------------------------------------------------------------------------------


async def imports_a_file(desk: Desk) -> None:
    """With one row twice, which is two trades unless the broker's id says that it is one."""
    rows = [row_of(desk, trade) for trade in new_trades(desk, desk.handful * 2)]
    desk.file = [*rows, rows[0]]
    desk.account_of_file = desk.random.choice(sorted(desk.journal.accounts)[:3])
    await bring_in(desk)


async def imports_a_longer_file_that_overlaps(desk: Desk) -> None:
    """Some rows of the last one are corrected, most stand as they were, and new ones follow."""
    if desk.file:
        known = [{**row, "strategy": "", "setup": "", "tags": ""} for row in desk.file[2:]]
        changed = [corrected(row) for row in known[: len(known) // 3]]
        new = [row_of(desk, trade) for trade in new_trades(desk, desk.handful)]
        desk.file = [*changed, *known[len(known) // 3 :], *new]
        await bring_in(desk)


async def imports_a_file_and_takes_it_back_at_once(desk: Desk) -> None:
    desk.foretell()
    file = desk.file
    await (imports_a_longer_file_that_overlaps if file else imports_a_file)(desk)
    desk.file = file
    newest, *_ = await desk.get("/imports")
    await desk.delete(f"/imports/{newest['id']}")


async def edits_imported_trades(desk: Desk) -> None:
    """Of each import one that it added, and one that it corrected."""
    for one in await desk.get("/imports"):
        touched = await desk.every("/trades", 200, import_id=one["id"])
        corrected_ids = desk.corrected[one["id"]].keys()
        added = desk.some((trade for trade in touched if trade["id"] not in corrected_ids), 1)
        changed = desk.some((trade for trade in touched if trade["id"] in corrected_ids), 1)
        for trade in [*added, *changed]:
            await desk.patch(f"/trades/{trade['id']}", grade="A", fees=float(trade["fees"] + 1))


async def takes_the_last_import_back(desk: Desk) -> None:
    await take_back(desk)


async def takes_the_last_import_back_with_all_edits(desk: Desk) -> None:
    await take_back(desk, force=True)


async def take_back(desk: Desk, *, force: bool = False) -> None:
    """Without force, the trades that were edited since stay as they are, and are named."""
    for newest in (await desk.get("/imports"))[:1]:
        path, foretold = f"/imports/{newest['id']}", desk.foretell()
        kept = []
        for trade in await desk.every("/trades", 200, import_id=newest["id"]):
            if trade["updated_at"] != newest["created_at"] and not force:
                kept.append(trade["id"])
            elif before := desk.corrected[newest["id"]].get(trade["id"]):
                after = foretold.trades[trade["id"]]
                after.closed_at, after.gross, after.fees = before.closed_at, before.gross, before.fees
            else:
                foretold.delete_trade(trade["id"])
        headers = await desk.delete(path, force=str(force).lower())
        assert headers.get("x-trades-kept", "") == ",".join(map(str, sorted(kept)))
        assert (await desk.client.get(path)).status_code == (200 if kept else 404)


# Steps: the owner, accounts, groups ---------------------------------------------------------------------


async def moves_to_another_zone(desk: Desk) -> None:
    foretold = desk.foretell()
    foretold.timezone = desk.random.choice([zone for zone in ZONES if zone != foretold.timezone])
    await desk.patch("/me", timezone=foretold.timezone)


async def lets_the_day_begin_at_another_hour(desk: Desk) -> None:
    foretold = desk.foretell()
    foretold.rollover = desk.random.choice([one for one in ROLLOVERS if one != foretold.rollover])
    await desk.patch("/me", day_rollover=foretold.rollover)


async def looks_at_another_selection(desk: Desk) -> None:
    foretold = desk.foretell()
    others = [one for one in scopes_of(desk) if one not in ("", foretold.selection)]
    foretold.selection = desk.random.choice(others)
    await desk.patch("/me", active_selection=foretold.selection)


async def takes_an_account_out_of_the_group(desk: Desk) -> None:
    foretold = desk.foretell()
    for members in foretold.groups.values():
        members -= set(desk.random.sample(sorted(members), min(1, len(members))))
    await send_members(desk, foretold)


async def takes_an_account_into_the_group(desk: Desk) -> None:
    foretold = desk.foretell()
    for members in foretold.groups.values():
        outside = sorted(foretold.accounts.keys() - members)
        members |= set(desk.random.sample(outside, min(1, len(outside))))
    await send_members(desk, foretold)


async def send_members(desk: Desk, foretold: Journal) -> None:
    for group_id, members in foretold.groups.items():
        sent = [{"account_id": account_id} for account_id in sorted(members)]
        await desk.put(f"/copy-groups/{group_id}/members", members=sent)


async def corrects_the_starting_balances(desk: Desk) -> None:
    for account in desk.foretell().accounts.values():
        account.starting_balance += Fraction("100.01")
        await desk.patch(f"/accounts/{account.id}", starting_balance=float(account.starting_balance))


async def opens_another_account(desk: Desk) -> None:
    foretold = desk.foretell()
    told = await create_account(desk.client, f"Account {next(desk.numbers)}", starting_balance=1000)
    foretold.accounts[told["id"]] = Account(told["id"], Fraction(1000))


async def deletes_the_accounts_without_trades(desk: Desk) -> None:
    """But those that it began with, which have goals."""
    foretold = desk.foretell()
    used = {trade.account_id for trade in foretold.trades.values()} | set(sorted(foretold.accounts)[:3])
    for account_id in set(foretold.accounts) - used:
        del foretold.accounts[account_id]
        for members in foretold.groups.values():
            members.discard(account_id)
        await desk.delete(f"/accounts/{account_id}")


# Steps: goals -------------------------------------------------------------------------------------------


def scopes_of(desk: Desk) -> list[str]:
    accounts = [f"account_{account_id}" for account_id in sorted(desk.journal.accounts)]
    return ["all", "", *accounts[:2], *(f"group_{group_id}" for group_id in desk.journal.groups)]


async def set_goal(desk: Desk) -> None:
    """Of the next metric; in time every timeframe meets every scope."""
    number = next(desk.goal_numbers)
    # First those that depend on the order of trades, or on what was before the period.
    metrics = sorted(desk.units, key=lambda key: (key not in SPECIAL.values(), key))
    metric = metrics[number % len(metrics)]
    timeframe = TIMEFRAMES[(number - number // 20) % 5]
    scope = scopes_of(desk)[(2 * number + number // 5) % 5]
    goal = await desk.post(
        "/goals",
        goal_name=f"{metric} {timeframe} {scope}",
        metric=metric,
        target_value=desk.random.choice(TARGETS),
        timeframe=timeframe,
        **(window_of(desk) if timeframe == "custom" else {}),
        **({"account_id": int(scope[8:])} if scope.startswith("account") else {}),
        **({"copy_group_id": int(scope[6:])} if scope.startswith("group") else {}),
    )
    if scope == "":
        await desk.patch(f"/goals/{goal['id']}", scope="")


def window_of(desk: Desk) -> Told:
    start, end = desk.random.choice(WINDOWS)
    return {"custom_start": start, "custom_end": end}


async def sets_more_goals(desk: Desk) -> None:
    for _ in range(desk.handful // 2):
        await set_goal(desk)


async def changes_targets(desk: Desk) -> None:
    """At noon, which is the same day in every zone that the trader lives in."""
    tomorrow = desk.now + timedelta(days=1)
    desk.move_to(datetime.combine(tomorrow, NOON))
    for goal_id, goal in desk.goals.items():
        target = desk.random.choice(TARGETS)
        await desk.patch(f"/goals/{goal_id}", target_value=target)
        goal.targets.append((desk.now, Fraction(repr(target))))


async def redefines_some_goals(desk: Desk) -> None:
    """Another metric, timeframe or scope; the target of now becomes the first."""
    for goal_id in desk.random.sample(list(desk.goals), 3):
        goal = desk.goals[goal_id]
        metric = desk.random.choice([one for one in desk.units if one != goal.metric])
        timeframe = desk.random.choice([one for one in TIMEFRAMES if one not in (goal.timeframe, "custom")])
        scope = desk.random.choice([one for one in scopes_of(desk) if one != goal.scope])
        change = desk.random.choice([{"metric": metric}, {"timeframe": timeframe}, {"scope": scope}])
        await desk.patch(f"/goals/{goal_id}", **change)
        goal.targets = [(desk.now, goal.targets[-1][1])]


async def pauses_some_goals(desk: Desk) -> None:
    for goal_id, goal in desk.goals.items():
        if goal_id not in desk.frozen and desk.random.random() < 0.4:
            desk.frozen[goal_id] = deepcopy(desk.computed(goal))
            await desk.patch(f"/goals/{goal_id}", status=desk.random.choice(["paused", "archived"]))


async def takes_up_the_paused_goals_again(desk: Desk) -> None:
    for goal_id in desk.frozen:
        await desk.patch(f"/goals/{goal_id}", status="active")
    desk.frozen = {}


# The tests ----------------------------------------------------------------------------------------------

Step = Callable[[Desk], Awaitable[None]]
# Quarters, months and weeks end, and clocks change in New York and Berlin, between and at these moments.
YEAR: list[tuple[str, Step]] = [
    ("01-03T12:00", writes_trades_down_one_by_one),
    ("01-24T23:30", writes_many_trades_down_at_once),
    ("01-31T22:30", copies_trades_into_other_accounts),
    ("02-01T00:10", tags_trades),
    ("02-01T00:20", answers_checklists),
    ("02-28T23:59", moves_to_another_zone),
    ("03-09T21:30", writes_many_trades_down_at_once),
    ("03-10T12:00", changes_targets),
    ("03-30T12:00", imports_a_file),
    ("04-01T04:00", copies_trades_into_other_accounts),
    ("04-14T12:00", imports_a_longer_file_that_overlaps),
    ("04-15T12:00", looks_at_another_selection),
    ("05-01T12:00", pauses_some_goals),
    ("05-10T12:00", writes_many_trades_down_at_once),
    ("05-11T12:00", answers_checklists),
    ("05-12T12:00", finds_that_some_tags_are_mistakes_and_others_none),
    ("06-30T23:59", takes_up_the_paused_goals_again),
    ("07-01T12:00", sets_more_goals),
    ("07-02T12:00", asks_for_one_more_confirmation),
    ("07-03T12:00", asks_for_one_confirmation_less),
    ("07-04T12:00", flips_answers_that_were_wrong),
    ("07-20T12:00", edits_imported_trades),
    ("07-21T12:00", takes_the_last_import_back),
    ("07-22T12:00", takes_the_last_import_back_with_all_edits),
    ("08-01T12:00", lets_the_day_begin_at_another_hour),
    ("08-10T12:00", takes_an_account_out_of_the_group),
    ("08-11T12:00", takes_an_account_into_the_group),
    ("08-31T12:00", writes_trades_down_one_by_one),
    ("09-01T12:00", corrects_the_starting_balances),
    ("09-02T12:00", opens_another_account),
    ("09-03T12:00", deletes_the_accounts_without_trades),
    ("09-30T23:00", closes_open_trades_and_opens_closed_ones),
    ("10-10T12:00", imports_a_file_and_takes_it_back_at_once),
    ("10-11T12:00", finds_that_trades_were_of_another_setup),
    ("10-12T12:00", redefines_some_goals),
    ("10-25T12:00", changes_targets),
    ("11-02T12:00", deletes_a_setup),
    ("11-03T12:00", looks_at_another_selection),
    ("11-04T12:00", deletes_a_strategy),
    ("11-05T12:00", finds_that_trades_of_a_day_were_copies),
    ("12-01T12:00", corrects_and_regrades_the_oldest_trades),
    ("12-02T12:00", moves_old_trades_to_another_account),
    ("12-03T12:00", moves_old_trades_to_another_day),
    ("12-04T12:00", finds_that_the_trades_of_each_day_closed_in_reverse),
    ("12-05T12:00", deletes_trades_that_have_copies),
    ("12-06T12:00", deletes_a_tag),
    ("12-07T12:00", deletes_trades),
    ("12-31T23:59", writes_trades_down_one_by_one),
]
# Minutes: nearly none, an hour, a day, into another month.
PAUSES = [1, 60, 60 * 24, 60 * 24 * 40]
STEPS = sorted({step for _, step in YEAR}, key=lambda step: step.__name__)


@pytest.mark.soak
async def test_after_every_step_of_a_year_all_snapshots_are_what_they_would_compute() -> None:
    async with desk_of(Random(2025), handful=8, goals=range(tries(full=20, short=5))) as desk:
        for moment, step in YEAR:
            before = deepcopy((desk.journal, desk.goals, desk.frozen))
            desk.move_to(datetime.fromisoformat(f"2025-{moment}+00:00"))
            await step(desk)

            await desk.compare(step.__name__)
            is_undone = step is imports_a_file_and_takes_it_back_at_once
            assert is_undone or (desk.journal, desk.goals, desk.frozen) != before, step.__name__


@given(
    seed=st.integers(0, 2**32),
    first_goal=st.integers(0, 39),
    steps=st.lists(st.tuples(st.sampled_from(PAUSES), st.sampled_from(STEPS)), min_size=8, max_size=8),
)
@tried(full=12, short=4)
def test_in_whatever_order_a_trader_works_all_snapshots_are_what_they_would_compute(
    seed: int, first_goal: int, steps: list[tuple[int, Step]]
) -> None:
    async def run() -> None:
        async with desk_of(Random(seed), handful=4, goals=range(first_goal, first_goal + 8)) as desk:
            for minutes, step in steps:
                desk.move_to(desk.now + timedelta(minutes=minutes))
                await step(desk)
                await desk.compare(step.__name__)

    asyncio.run(run())
