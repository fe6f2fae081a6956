"""The content of the example journal: some 200 trades of the last months, and what they refer to.

A day always has the same trades. Setups whose first confirmation is present win more often, trades after
14:00 and impulses less often, so that reports and goals have something to show. `journal_api.testing` has
another example, of few trades with fixed dates, for tests and for the OpenAPI document.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random
from typing import Any, NamedTuple

TRADING_DAYS = 64
FEE_PER_SIDE = 0.62  # per contract
MISTAKES = ("FOMO", "Revenge")

ACCOUNT: dict[str, Any] = {"name": "Example", "starting_balance": 25000, "broker": "Example Futures"}
TAGS: dict[str, dict[str, dict[str, str]]] = {
    "Psychology": {
        "FOMO": {"type": "mistake", "color": "#dc2626"},
        "Revenge": {"type": "mistake", "color": "#b91c1c"},
        "Patient": {"color": "#15803d"},
    },
    "Session": {"News day": {"color": "#b45309"}},
}
CHECKLISTS = {
    "Break of the high": ("Volume above average", "With the trend"),
    "Failed break": ("Closed back inside", "At a level"),
    "Pullback to VWAP": ("Higher low", "Quiet volume"),
    "Second entry": ("First entry failed",),
}


def setups(*names: str) -> list[dict[str, Any]]:
    """Return the bodies of these setups."""
    return [{"name": name, "confirmations": [{"name": item} for item in CHECKLISTS[name]]} for name in names]


STRATEGIES: tuple[dict[str, Any], ...] = (
    {
        "name": "Opening range",
        "description": "Trades the range of the first half hour.",
        "color_tag": "#1d4ed8",
        "risk_rules": {"max_risk_per_trade": 70, "max_losers_in_a_row": 2},
        "setups": setups("Break of the high", "Failed break"),
    },
    {
        "name": "Pullback",
        "description": "Joins a trend at its first pullback.",
        "color_tag": "#7c3aed",
        "setups": setups("Pullback to VWAP", "Second entry"),
    },
)


def goal(name: str, metric: str, target_value: float, timeframe: str) -> dict[str, Any]:
    """Return the body of a goal."""
    return {"goal_name": name, "metric": metric, "target_value": target_value, "timeframe": timeframe}


GOALS = (
    goal("Daily loss limit", "worst_day", -150, "daily"),
    goal("Five trades a day", "max_trades_per_day", 5, "daily"),
    goal("Checklist complete", "protocol_completion_rate", 55, "weekly"),
    goal("A green month", "net_pnl", 800, "monthly"),
    goal("Without mistakes", "mistake_free_rate", 85, "monthly"),
    goal("Grow the account", "balance_target", 27500, "quarterly"),
)


class Market(NamedTuple):
    symbol: str
    point_value: int
    price: float
    stop: float  # points between entry and stop
    quantity: int


class Odds(NamedTuple):
    """How often a setup is traded, how often it wins, and how often each confirmation is present."""

    setup: str
    share: float
    win_rate: float
    confirmed: tuple[float, ...]


class ExampleTrade(NamedTuple):
    """The body of a trade without its account, with local times, and its answers to the setup's checklist."""

    setup: str | None
    body: dict[str, Any]
    answers: tuple[bool, ...]
    tags: tuple[str, ...]


MARKETS = (Market("MES", 5, 6480, 5, 2), Market("MNQ", 2, 23900, 18, 1))
ODDS = (
    Odds("Break of the high", 0.40, 0.42, (0.62, 0.7)),
    Odds("Failed break", 0.24, 0.46, (0.75, 0.5)),
    Odds("Pullback to VWAP", 0.20, 0.40, (0.6, 0.65)),
    Odds("Second entry", 0.16, 0.26, (0.7,)),
)
NOTES = (
    "Waited for the close of the bar.",
    "Entered late, the stop was too far.",
    "Took it off into the level.",
)


def trades_until(today: date, weekdays: list[int], day_rollover: str) -> list[ExampleTrade]:
    """Return the trades of the last trading days until today, oldest first. `weekdays` are ISO numbers.

    A trade that closes after the rollover does so the day before, so that it belongs to its trading day.
    """
    days = [today - timedelta(days=back) for back in range(TRADING_DAYS * 7)]
    trading_days = [day for day in days if day.isoweekday() in weekdays][:TRADING_DAYS]
    rollover = int(day_rollover[:2]) * 60 + int(day_rollover[3:]) or 24 * 60
    return [trade for day in reversed(trading_days) for trade in trades_of(day, rollover)]


def trades_of(day: date, rollover: int) -> Iterator[ExampleTrade]:
    """Return the trades of one trading day, in their order. The rollover is a minute of the day."""
    random = Random(day.toordinal())
    minute = 9 * 60 + 31 + int(random.random() * 16)
    is_news_day, lost = random.random() < 0.12, False
    for _ in range(2 + int(random.random() * 3.2)):
        is_revenge = lost and random.random() < 0.18
        is_impulse = is_revenge or random.random() < 0.1
        odds = None if is_impulse else chosen(random.random())
        held = 2 + int(random.random() ** 2 * (14 if is_impulse else 75))
        is_of_next_day = minute + held >= rollover
        trade, lost = trade_at(random, day - timedelta(days=is_of_next_day), minute, held, odds)
        tags = [("Revenge" if is_revenge else "FOMO")] if is_impulse else []
        tags += ["Patient"] if all(trade.answers) and not is_impulse and random.random() < 0.5 else []
        yield trade._replace(tags=(*tags, *(("News day",) if is_news_day else ())))
        minute += held + (2 if lost and random.random() < 0.3 else 12 + int(random.random() * 75))


def trade_at(
    random: Random, day: date, minute: int, held: int, odds: Odds | None
) -> tuple[ExampleTrade, bool]:
    """Return a trade of that many minutes, and whether it lost."""
    answers = tuple(random.random() < share for share in odds.confirmed) if odds else ()
    win_rate = (odds.win_rate + (0.2 if answers[0] else -0.06) if odds else 0.27) - (minute >= 14 * 60) * 0.13
    r = result_in_r(random, win_rate)
    market = MARKETS[random.random() < 0.3]
    direction = "long" if random.random() < 0.58 else "short"
    side = 1 if direction == "long" else -1
    entry = ticks(market.price * (1 + 0.0004 * (day.toordinal() % 97 - 48)) + random.random() * 20)
    body = {
        "symbol": market.symbol,
        "direction": direction,
        "quantity": market.quantity,
        "multiplier": market.point_value,
        "entry_price": entry,
        "exit_price": entry + side * ticks(r * market.stop),
        "stop_loss": entry - side * market.stop,
        "opened_at": at(day, minute),
        "closed_at": at(day, minute + held),
        "fees": round(2 * market.quantity * FEE_PER_SIDE, 2),
        "grade": grade_of(random, answers),
        "notes": NOTES[int(random.random() * len(NOTES))] if random.random() < 0.15 else None,
    }
    return ExampleTrade(odds.setup if odds else None, body, answers, ()), r < 0


def chosen(share: float) -> Odds:
    """Return the setup in which this share of all trades ends, from 0 to 1."""
    for odds in ODDS:
        share -= odds.share
        if share < 0:
            return odds
    return ODDS[-1]


def result_in_r(random: Random, win_rate: float) -> float:
    """Return a result in multiples of the risk: a win of 0.8 to 2.6, seldom 0, or a loss of at most 1."""
    if random.random() < win_rate:
        return 0.8 + 1.8 * random.random()
    if random.random() < 0.06:
        return 0
    return -1 if random.random() < 0.75 else -0.3 - 0.6 * random.random()


def grade_of(random: Random, answers: tuple[bool, ...]) -> str | None:
    """Return a grade for how the trade was made; none for one in ten."""
    if random.random() < 0.1:
        return None
    grades = ("D", "F") if not answers else ("A+", "A", "A") if all(answers) else ("B", "B", "C")
    return grades[int(random.random() * len(grades))]


def ticks(price: float) -> float:
    """Return the price rounded to quarters of a point."""
    return round(price * 4) / 4


def at(day: date, minute: int) -> str:
    """Return that minute of the day as a local time."""
    return f"{day}T{minute // 60:02d}:{minute % 60:02d}"
