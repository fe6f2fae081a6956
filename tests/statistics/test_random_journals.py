"""Snapshots and reports of dense random journals equal what reference.py computes."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import permutations, product
from random import Random
from typing import Any, get_args

import funded_account
import pytest
import reference
import reference_views
import time_machine
from aiosqlite import Connection
from desk import exact, read_report, read_snapshots
from factories import Client, create_checkpoint, create_goal, details_of, put_rules, run_sql, unwrap
from proofs import examples
from starlette.applications import Starlette

from journal_api.database.database import Database
from journal_api.metrics.groupings import GROUPINGS, GroupBy
from journal_api.metrics.metrics import METRICS
from journal_api.statistics import trade_facts
from journal_api.structs.cash import CashKind
from journal_api.structs.cash_flow import CashFlowKey

Row = dict[str, Any]
NOW = datetime(2026, 4, 15, 20, 30, tzinfo=UTC)
EARLIER = datetime(2026, 2, 28, 22, 30, tzinfo=UTC)
# The bounds of weeks, months and quarters, and the changes of clocks in New York and Berlin.
DAYS = ["01-05", "01-31", "02-01", "02-28", "03-01", "03-07", "03-08", "03-09", "03-29", "03-30", "03-31"]
DAYS += ["04-01", "04-12", "04-13", "04-14", "04-15", "04-16", "05-01"]
# Midnight and 17:00 in New York with and without summer time, to the microsecond.
TIMES = ["00:00:00", "03:59:59.999999", "04:00:00", "05:00:00", "12:00:00", "20:59:59.999999", "21:00:00"]
TIMES += ["21:59:59.999999", "22:00:00", "23:59:59.999999"]
HELD = [0, 1, 59.999999, 60, 299, 300, 900, 3599.5, 3600, 14399, 14400, 86399.999999, 86400, 10**6]
CALENDARS = [
    ("UTC", "00:00"),
    ("America/New_York", "17:00"),
    ("America/New_York", "00:00"),
    ("Europe/Berlin", "23:00"),
    ("Pacific/Kiritimati", "00:00"),
]
SCOPES = ["all", "account_1", "account_2", "group_1", ""]
WINDOW = (date(2026, 2, 28), date(2026, 4, 13))
# One row each of the tables that hold a journal, as named parameters.
INSERTS = {
    "accounts": """
        INSERT INTO accounts (id, user_id, name, sort_name, starting_balance, currency, created_at,
            updated_at, timezone, day_rollover, broker, payout_share)
        VALUES (:id, 1, :id, :id, :balance, :currency, '', '', :timezone, :day_rollover, :broker,
            :payout_share)""",
    "cash": """
        INSERT INTO cash_movements (account_id, kind, amount, day, outside, received, created_at, updated_at)
        VALUES (:account_id, :kind, :amount, :day, :outside, :received, '', '')""",
    "members": "INSERT INTO copy_group_members (account_id, copy_group_id) VALUES (:id, 1)",
    "tags": """
        INSERT INTO tags (id, user_id, category_id, name, sort_name, color, type, created_at, updated_at)
        VALUES (:id, 1, :category_id, :id, :id, '', :type, '', '')""",
    "days": """
        INSERT INTO days (id, user_id, date, rating, created_at, updated_at)
        VALUES (:id, 1, :date, :rating, '', '')""",
    "day_tags": "INSERT INTO day_tags (day_id, tag_id) VALUES (:day_id, :tag_id)",
    "trades": """
        INSERT INTO trades (id, user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
            closed_at, trading_day, gross_pnl, fees, initial_risk, mae, mfe, grade, strategy_id, setup_id,
            source_trade_id, created_at, updated_at, contract, root)
        SELECT :id, 1, :account_id, :symbol, :direction, 1, 0, :opened_at,
            :closed_at, trading_day(:closed_at, timezone, day_rollover), :gross, :fees, :risk, :mae,
            :mfe, :grade, iif(:setup_id IS NULL, NULL, 1), :setup_id, :source_id, '', '', :symbol, :symbol
        FROM calendars WHERE calendars.account_id = :account_id""",
    "trade_tags": "INSERT INTO trade_tags (trade_id, tag_id) VALUES (:trade_id, :tag_id)",
    "answers": """
        INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present)
        VALUES (:trade_id, :confirmation_id, :was_present)""",
}
# setup -> its confirmations
CHECKLISTS: dict[int, list[int]] = {1: [1, 2], 2: [3], 3: []}
# tag -> its category, of which the second is single
CATEGORIES = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2}


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(EARLIER, tick=False) as clock:
        yield clock


def draw_amount(random: Random) -> int:
    return random.choice([0, 1, -1, 33333333, 10**10, -(10**10), random.randint(-(10**11), 10**11)])


def draw_journal(random: Random, most_trades: int, currencies: list[str]) -> dict[str, list[Row]]:
    """The rows of a journal; few different moments make ties."""
    moments = [f"2026-{random.choice(DAYS)}T{random.choice(TIMES)}" for _ in range(random.choice([2, 5, 20]))]
    numbers = range(1, random.randint(most_trades // 2, most_trades) + 1)
    trades = [draw_trade(random, number, moments) for number in numbers]
    originals = [one["id"] for one in trades if one["source_id"] is None and one["closed_at"]]
    for one in trades:
        one["source_id"] = random.choice(originals) if one["source_id"] else None
    return {
        "accounts": [
            {
                "id": number,
                "balance": draw_amount(random),
                "currency": random.choice(currencies),
                "timezone": random.choice([None, None, *(zone for zone, _ in CALENDARS)]),
                "day_rollover": random.choice([None, None, "00:00", "17:00", "23:00"]),
                "broker": random.choice([None, "Apex", "Tradovate"]),
                "payout_share": random.choice([None, 10**10, 9 * 10**9, 3333333333, 1]),
            }
            for number in (1, 2, 3)
        ],
        "cash": [draw_cash(random) for _ in range(random.choice([0, 3, 10]))],
        "members": [{"id": number} for number in (1, 2, 3) if random.random() < 0.6],
        "tags": [
            {"id": number, "type": random.choice(["mistake", "custom"]), "category_id": category}
            for number, category in CATEGORIES.items()
        ],
        "days": [
            {"id": number, "date": f"2026-{day}", "rating": random.choice([None, 1, 2, 3, 4, 5])}
            for number, day in enumerate(random.sample(DAYS, len(DAYS) // 2), 1)
        ],
        "day_tags": [
            {"day_id": number, "tag_id": tag}
            for number in range(1, len(DAYS) // 2 + 1)
            for tag in random.sample([*CATEGORIES], random.choice([0, 1, 1, 2]))
        ],
        "trades": sorted(trades, key=lambda one: one["source_id"] is not None),
        "trade_tags": [
            {"trade_id": one["id"], "tag_id": tag} for one in trades for tag in sorted(draw_tags(random, one))
        ],
        "answers": [
            {
                "trade_id": one["id"],
                "confirmation_id": asked,
                "was_present": random.random() < (0.9 if (one["gross"] or 0) > 0 else 0.5),
            }
            for one in trades
            for asked in CHECKLISTS.get(one["setup_id"], [])
            if random.random() < 0.9
        ],
    }


def draw_tags(random: Random, trade: Row) -> set[int]:
    """The first goes with wins, the second mostly with the first; of the last two, a single category, at most one."""
    first = random.random() < (0.9 if (trade["gross"] or 0) > 0 else 0.1)
    second = first if random.random() < 0.8 else random.random() < 0.5
    single = random.choice([0, 0, 4, 5])
    return {tag for tag, is_set in enumerate((first, second, random.random() < 0.2), 1) if is_set} | {single} - {0}


def draw_cash(random: Random) -> Row:
    kind = random.choice(get_args(CashKind))
    amount = draw_amount(random)
    amount = (amount or 1) if kind == "adjustment" else abs(amount) or int(kind != "reset")
    return {
        "account_id": random.randint(1, 3),
        "kind": kind,
        "amount": amount,
        "outside": kind == "fee" and random.random() < 0.6,
        "received": random.randint(0, amount) if kind == "payout" and random.random() < 0.5 else None,
        "day": f"2026-{random.choice(DAYS)}",
    }


def draw_trade(random: Random, number: int, moments: list[str]) -> Row:
    moment = datetime.fromisoformat(f"{random.choice(moments)}+00:00")
    is_closed = random.random() < 0.95
    gross = draw_amount(random) if is_closed else None
    return {
        "id": number << 13,  # reports cut their arrays at each 1 << 16
        "account_id": random.randint(1, 3),
        "symbol": random.choice(["ES", "NQ", 'a "b"']),
        "direction": random.choice(["long", "short"]),
        "opened_at": text_of(moment - timedelta(seconds=random.choice(HELD))),
        "closed_at": text_of(moment) if is_closed else None,
        "gross": gross,
        "fees": gross or 0 if random.random() < 0.2 else draw_amount(random),
        "risk": random.choice([None, 3 * 10**8, random.randint(10**6, 10**11)]),
        "mae": random.choice([None, 0, 3 * 10**8, random.randint(0, 10**11)]),
        "mfe": random.choice([None, None, 0, random.randint(0, 10**11)]),
        "grade": random.choice([None, "A+", "A+", "A", "F"]),
        "setup_id": random.choice([None, *CHECKLISTS]),
        "source_id": True if number > 1 and random.random() < 0.3 else None,
    }


def text_of(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def write_journal(
    app: Starlette, client: Client, random: Random, most_trades: int, currencies: list[str]
) -> reference.Journal:
    """Store a random journal, and return it as reference.py reads it."""
    zone, rollover = random.choice(CALENDARS)
    weekdays = random.choice([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7], [3]])
    settings = {"timezone": zone, "day_rollover": rollover, "trading_weekdays": weekdays}
    unwrap(await client.patch("/me", json=settings))
    unwrap(await client.post("/copy-groups", json={"name": "Group"}))
    for name, single in (("Tags", False), ("Market", True)):
        unwrap(await client.post("/tag-categories", json={"name": name, "single": single}))
    setups = [
        {"name": f"Setup {setup}", "confirmations": [{"name": str(one)} for one in asked]}
        for setup, asked in CHECKLISTS.items()
    ]
    unwrap(await client.post("/strategies", json={"name": "Strategy", "setups": setups}))
    rows = draw_journal(random, most_trades, currencies)

    async def insert(db: Connection) -> None:
        for table, sql in INSERTS.items():
            await db.executemany(sql, rows[table])

    await app.state.database.write(insert)
    selection = {"active_selection": random.choice(SCOPES[:-1])}
    unwrap(await client.patch("/me", json={**selection, "breakeven_within": random.choice([0, 1, 100])}))
    return reference.read_journal(app.state.settings.db)


async def add_goal(client: Client, random: Random, metric: str, timeframe: str, scope: str) -> Any:
    """The id of a new goal, and the goal of reference.py."""
    target = draw_amount(random) or 50 * 10**8
    target = target if METRICS[metric].may_be_negative else abs(target)
    direction = random.choice(["at_least", "at_most"])
    window = WINDOW if timeframe == "custom" else None
    dates = dict(zip(("custom_start", "custom_end"), map(str, window), strict=True)) if window else {}
    fields = {"metric": metric, "direction": direction, "timeframe": timeframe, **dates}
    goal = await create_goal(client, target_value=target / 10**8, **fields)
    unwrap(await client.patch(f"/goals/{goal['id']}", json={"scope": scope}))
    targets = [(EARLIER.date(), Fraction(target, 10**8))]
    return goal["id"], reference.Goal(metric, direction, timeframe, scope, EARLIER, targets, window)


EVERY_GOAL = list(product(METRICS, ("daily", "weekly", "monthly", "quarterly", "custom"), SCOPES))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=10, ci=2)))
async def test_snapshots_of_every_metric_timeframe_and_scope_equal_the_reference(
    app: Starlette, client: Client, clock: time_machine.Traveller, seed: int
) -> None:
    """Every other combination in a journal, which may have 500 goals; in the short form every 24th."""
    random = Random(seed)
    journal = await write_journal(app, client, random, 40, ["USD", "USD", "USD", "EUR"])
    combinations = EVERY_GOAL[seed * examples(full=1, ci=12) % 24 :: examples(full=2, ci=24)]
    goals = [await add_goal(client, random, *combination) for combination in combinations]

    for now in (EARLIER, NOW):
        clock.move_to(now)
        for goal_id, goal in goals:
            expected = reference.compute_snapshots(journal, goal, now)
            assert await read_snapshots(client, goal_id) == expected, goal


# A filter each, and some that select parts of decisions.
FILTERS: list[dict[str, Any]] = [
    {},
    {"account_id": 1},
    {"copy_group_id": 1},
    {"strategy_id": 1},
    {"setup_id": 2},
    {"tag_id": 1},
    {"symbol": "ES"},
    {"direction": "short"},
    {"grade": "A+"},
    {"from": "2026-02-28", "to": "2026-04-13"},
    {"account_id": 2, "symbol": "ES", "from": "2026-03-01"},
]
# In the short form every grouping is compared without a filter and with one of the filters.
STEP = examples(full=1, ci=10)
MANY = examples(full=300, ci=100)  # trades at most, half of them at least
R_TARGETS = [Fraction(n, 2) for n in range(1, 11)]


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=40, ci=2)))
async def test_reports_of_every_grouping_metric_and_filter_equal_the_reference(
    app: Starlette, client: Client, seed: int
) -> None:
    """Every other journal has one currency, and enough trades for an edge."""
    currencies, most_trades = (["USD"], MANY) if seed % 2 else (["USD", "USD", "USD", "EUR"], 40)
    journal = await write_journal(app, client, Random(seed), most_trades, currencies)

    for number, group_by in enumerate(get_args(GroupBy)):
        for query in [FILTERS[0], *FILTERS[1 + (number + seed) % STEP :: STEP]]:
            query = add_category({**query, **({"with": "distribution"} if number % 2 else {})}, group_by)
            expected = reference.compute_report(journal, group_by, query)
            assert await read_report(client, group_by, **query) == expected, (group_by, query)


def add_category(query: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Name a category for a report that groups by its tags, by turns one that is single."""
    return {**query, "category_id": 1 + len(query) % 2} if "category" in keys else query


EVERY_PAIR = [
    pair
    for pair in permutations(get_args(GroupBy), 2)
    if "none" not in pair and sum(GROUPINGS[key].is_several for key in pair) < 2
]


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=20, ci=2)))
async def test_reports_of_two_keys_equal_the_reference(app: Starlette, client: Client, seed: int) -> None:
    """Each pair of keys with a filter; in the short form a 60th of the pairs a journal."""
    currencies, most_trades = (["USD"], MANY) if seed % 2 else (["USD", "USD", "USD", "EUR"], 40)
    journal = await write_journal(app, client, Random(seed), most_trades, currencies)

    for number, pair in enumerate(EVERY_PAIR[seed :: examples(full=3, ci=60)]):
        query = {**FILTERS[number % len(FILTERS)], **({"sort": "win_rate"} if number % 3 else {})}
        query = add_category({**query, **({"with": "distribution"} if number % 2 else {})}, *pair)
        expected = reference_views.compute_pairs(journal, pair, query)
        assert await read_report(client, ",".join(pair), **query) == expected, (pair, query)


RANGES: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"from": "2026-03-09"}, {"to": "2026-03-08"}),
    ({"from": "2026-03-01", "to": "2026-03-31"}, {"from": "2026-01-31", "to": "2026-02-28"}),
    ({"to": "2026-03-07"}, {"from": "2026-03-08"}),
]


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=30, ci=3)))
async def test_reports_beside_another_range_equal_the_reference(app: Starlette, client: Client, seed: int) -> None:
    """Every grouping without a filter and with one; in the short form a third of the groupings a journal."""
    currencies, most_trades = (["USD"], MANY) if seed % 2 else (["USD", "USD", "USD", "EUR"], 60)
    journal = await write_journal(app, client, Random(seed), most_trades, currencies)

    for number, group_by in enumerate(get_args(GroupBy)[seed % 3 :: examples(full=1, ci=3)]):
        query, other = RANGES[(number + seed) % 3]
        for filters in (add_category({}, group_by), add_category(FILTERS[1 + number % 8], group_by)):
            expected = reference_views.compute_compared(journal, group_by, {**filters, **query}, {**filters, **other})
            sent = {**filters, **query, **{f"compare_{name}": day for name, day in other.items()}}
            assert await read_report(client, group_by, **sent) == expected, (group_by, sent)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=60, ci=2)))
async def test_exits_equal_the_reference(app: Starlette, client: Client, seed: int) -> None:
    """In R and in money, with levels that decisions reach exactly; the short form takes every fourth filter."""
    random = Random(seed)
    currencies, most_trades = (["USD"], MANY) if seed % 2 else (["USD", "USD", "USD", "EUR"], 60)
    journal = await write_journal(app, client, random, most_trades, currencies)

    for unit, query in product(("r", "currency"), FILTERS[seed % examples(full=1, ci=4) :: examples(full=1, ci=4)]):
        stops, targets = (
            sorted(random.sample([Fraction(n, 4) for n in (1, 3, 4, 5, 12, 100, 400, 3000)], random.randint(0, 5)))
            for _ in range(2)
        )
        stops = stops or [Fraction(3)]
        expected = reference_views.compute_exits(journal, query, unit, stops, targets or R_TARGETS)
        levels = {"stops": stops, "targets": targets or R_TARGETS}
        sent = {name: ",".join(str(float(one)) for one in each) for name, each in levels.items()}
        answer = await client.get("/exits", params={**query, "unit": unit, **sent})
        if expected is None:
            assert "trades are in EUR and USD" in details_of(answer)["fields"]["unit"]
        else:
            assert exact(answer)["data"]["exits"] == expected, (unit, query, stops, targets)


CHANGES = ["UPDATE trades SET gross_pnl = -gross_pnl WHERE id % 3 = 0", "DELETE FROM trades WHERE id % 7 = 0"]


def draw_rules(random: Random) -> dict[str, Any]:
    """All kinds of rules, each there or not."""
    kind = random.choice(["static", "end_of_day", "trade"])
    locks_at = random.choice([None, 0, 100])
    every: dict[str, Any] = {
        "floor": {"kind": kind, "distance": random.choice([50, 500, 1500, 5000, 10_000]), "locks_at": locks_at},
        "daily_loss": random.choice([100, 500, 1000, 1200]),
        "profit_target": random.choice([1, 100, 1000]),
        "best_day_share": random.choice([25, 40, Fraction("33.3333"), 50, 100]),
        "qualifying_day": {"amount": random.choice([50, 100, 200]), "days": random.randint(1, 4)},
        "minimum_days": random.randint(1, 6),
    }
    return {name: rule for name, rule in every.items() if random.random() < 0.8}


def draw_flows(random: Random) -> Iterator[dict[str, Any]]:
    """Queries of what accounts cost and pay."""
    for group_by in get_args(CashFlowKey) * 3:
        since, until = sorted(random.choices(DAYS, k=2))
        account = {"account_id": random.randint(1, 3)} if random.random() < 0.3 else {}
        yield {"group_by": group_by, "from": f"2026-{since}", "to": f"2026-{until}", **account}


async def store_nothing(database: Database, user_id: int) -> None:
    """The facts of trades when the file cannot be written."""


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=100, ci=2)))
async def test_every_standing_of_an_account_is_that_on_paper(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """From the middle on trades have changed, and in every other journal the stored facts are old."""
    random = Random(seed)
    journal = await write_journal(app, client, random, 30, ["USD"] if seed % 3 else ["USD", "USD", "EUR"])
    every_rule: dict[int, dict[str, Any]] = {}
    states = set[tuple[str, str]]()
    for number in range(rounds := examples(full=60, ci=24)):
        if number == rounds // 2:
            if seed % 2:
                monkeypatch.setattr(trade_facts, "refresh", store_nothing)
            for change in CHANGES:
                await run_sql(app, change)
            journal = reference.read_journal(app.state.settings.db)
        account, at, rules = random.randint(1, 3), f"2026-{random.choice(DAYS)}", draw_rules(random)
        await put_rules(
            client, account, **{name: float(one) if isinstance(one, Fraction) else one for name, one in rules.items()}
        )

        seen = exact(await client.get(f"/accounts/{account}/standing?at={at}"))["data"]["standing"]

        assert seen == funded_account.stand(journal, account, rules, at), (rules, at)
        every_rule[account] = rules
        states |= {(name, seen[name]["state"]) for name in rules}
    assert len(states) > 8, states
    for query in draw_flows(random):
        flow = exact(await client.get("/cash-flow", params=query))["data"]["cash_flow"]
        assert flow == funded_account.bank(journal, query, every_rule), query
    for account in (1, 2, 3):
        checkpoint = await create_checkpoint(client, account, day=at, balance=10**9)  # never agrees
        path = f"/accounts/{account}/checkpoints/{checkpoint['id']}"
        seen = exact(await client.get(path))["data"]["checkpoint"]
        assert seen["days"] == funded_account.closings(journal, account, at)
        assert seen["difference"] == funded_account.stand(journal, account, {}, at)["balance"] - 10**9
