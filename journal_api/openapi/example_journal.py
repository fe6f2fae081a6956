"""The data of the example journal, from which the OpenAPI document has its examples.

`journal_api.testing` creates the journal over HTTP.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

MULTIPLIERS = {"MES": 5, "MNQ": 2}
FEE_PER_SIDE = 0.62  # per contract

BREAK, FAILED = "Break of the high", "Failed break"
CHECKLISTS = {BREAK: ("Volume above average", "With the trend"), FAILED: ("Closed back inside",)}
TAGS: dict[str, dict[str, dict[str, str]]] = {
    "Psychology": {"FOMO": {"type": "mistake", "color": "#ef4444"}, "Patient": {"color": "#16a34a"}},
    "Session": {"News day": {"color": "#f59e0b"}},
}
STRATEGY: dict[str, Any] = {
    "name": "Opening range",
    "description": "Trades the range of the first half hour.",
    "risk_rules": {"max_risk_per_trade": 50, "max_losers_in_a_row": 2},
    "setups": [
        {"name": name, "confirmations": [{"name": item} for item in checklist]}
        for name, checklist in CHECKLISTS.items()
    ],
}
COPY_GROUP = {"name": "Main and copies"}
QUANTITY_OF_COPIES = 0.5  # times the quantity of the original
ACCOUNTS: tuple[dict[str, Any], ...] = (
    {
        "name": "Main",
        "starting_balance": 25000,
        "broker": "Example Futures",
        "fees": {"default": FEE_PER_SIDE},
    },
    {"name": "Copies", "starting_balance": 10000, "broker": "Example Futures"},
)
GOALS: tuple[dict[str, Any], ...] = (
    {"goal_name": "A green month", "metric": "net_pnl", "target_value": 150},
    {"goal_name": "Daily loss limit", "metric": "worst_day", "target_value": -75, "timeframe": "daily"},
    {"goal_name": "No mistakes", "metric": "mistake_free_rate", "target_value": 80},
    {
        "goal_name": "Grow the main account",
        "metric": "balance_target",
        "target_value": 25500,
        "timeframe": "custom",
        "custom_start": "2026-08-01",
        "custom_end": "2026-10-31",
    },
)


class Row(NamedTuple):
    """A trade of the main account. Times are in New York; `checklist` has a letter y or n for each item."""

    day: str
    opened: str
    closed: str | None
    symbol: str
    direction: str
    quantity: int
    entry: float
    left: float | None
    stop: float
    grade: str | None = None
    setup: str | None = None
    checklist: str = ""
    tags: tuple[str, ...] = ()


PATIENT, FOMO, NEWS = ("Patient",), ("FOMO",), ("News day",)
TRADES = (
    Row("08-04", "09:47", "10:12", "MES", "long", 2, 6402.25, 6409.5, 6398.25, "A", BREAK, "yy", PATIENT),
    Row("08-06", "10:05", "10:21", "MES", "long", 2, 6421.5, 6417.5, 6417.5, "B", BREAK, "yn"),
    Row("08-11", "09:36", "09:39", "MNQ", "short", 1, 23480, 23502.25, 23495, "D", None, "", FOMO),
    Row("08-11", "10:48", "11:30", "MNQ", "short", 2, 23515.5, 23478, 23530.5, "A+", FAILED, "y", PATIENT),
    Row("08-19", "13:10", "13:52", "MES", "short", 2, 6455, 6447.25, 6459, "B", FAILED, "y"),
    Row("08-25", "09:41", "10:30", "MES", "long", 2, 6438.75, 6451.5, 6434.75, "A", BREAK, "yy"),
    Row("09-02", "09:52", "10:04", "MES", "long", 2, 6470, 6465.75, 6466, "C", BREAK, "nn", FOMO),
    Row("09-02", "10:06", "10:11", "MES", "long", 4, 6466.5, 6461.5, 6461.5, "F", None, "", FOMO),
    Row("09-09", "11:15", "12:02", "MNQ", "long", 1, 23690.25, 23731.75, 23672, "A", BREAK, "yy"),
    Row("09-16", "14:03", "14:20", "MES", "short", 2, 6512.25, 6512.25, 6516.25, "B", FAILED, "y", NEWS),
    Row("09-22", "09:58", "10:44", "MES", "long", 2, 6498.5, 6507, 6494.5, "A+", BREAK, "yy", PATIENT),
    Row("10-01", "09:45", "10:15", "MES", "long", 2, 6540.75, 6549.25, 6536.75, "A", BREAK, "yy"),
    Row("10-07", "10:20", "10:33", "MNQ", "short", 2, 24105, 24119.5, 24119.5, "B", FAILED, "n"),
    Row("10-15", "09:39", "10:50", "MES", "long", 2, 6561.5, 6575, 6557.5, "A+", BREAK, "yy", PATIENT),
    Row("10-21", "14:01", "14:06", "MES", "short", 2, 6588, 6592.75, 6592, "C", None, "", FOMO + NEWS),
    Row("10-27", "09:50", "10:35", "MES", "long", 2, 6579.25, 6590, 6575.25, None, BREAK, "y"),
    Row("10-30", "15:20", None, "MES", "long", 1, 6601.5, None, 6595.5),
)
# The indexes of the trades that the second account copied.
COPIED = (5, 13, 15)


def trade_of(row: Row, setup_ids: Mapping[str, int]) -> dict[str, Any]:
    """Return the body of a trade, without its account."""
    return {
        "symbol": row.symbol,
        "direction": row.direction,
        "quantity": row.quantity,
        "multiplier": MULTIPLIERS[row.symbol],
        "entry_price": row.entry,
        "exit_price": row.left,
        "stop_loss": row.stop,
        "opened_at": in_new_york(row.day, row.opened),
        "closed_at": in_new_york(row.day, row.closed) if row.closed else None,
        "fees": round(row.quantity * FEE_PER_SIDE * (2 if row.closed else 1), 2),
        "grade": row.grade,
        "setup_id": setup_ids[row.setup] if row.setup else None,
    }


def in_new_york(day: str, time: str) -> str:
    """Return the timestamp, in summer time; in all three months it is the same day in UTC."""
    return f"2026-{day}T{time}:00-04:00"
