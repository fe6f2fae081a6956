"""An example journal for demonstrations and tests, created over HTTP.

It has two accounts, one of which copies the other, twenty trades from August to October 2026 with tags and
grades, a strategy with checklists, and four goals. In a new journal its ids are always the same.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # httpx is not a dependency of the service
    import httpx

MULTIPLIERS = {"MES": 5, "MNQ": 2}
FEE_PER_SIDE = 0.62  # per contract

BREAK, FAILED = "Break of the high", "Failed break"
CHECKLISTS = {BREAK: ("Volume above average", "With the trend"), FAILED: ("Closed back inside",)}
TAGS = {
    "Psychology": {"FOMO": {"type": "mistake", "color": "#ef4444"}, "Patient": {"color": "#16a34a"}},
    "Session": {"News day": {"color": "#f59e0b"}},
}
ACCOUNTS = (
    {"name": "Main", "starting_balance": 25000, "broker": "Example Futures"},
    {"name": "Copies", "starting_balance": 10000, "broker": "Example Futures"},
)
GOALS = (
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


def seed(client: "httpx.Client") -> None:
    """Create the example in an empty journal. The base URL of `client` is /v1; its key has every scope.

    Raises httpx.HTTPStatusError if a request fails, such as for a name that exists.
    """
    main, copies = (send(client, "POST", "/accounts", account)["id"] for account in ACCOUNTS)
    create_copy_group(client, main, copies)
    tags = create_tags(client)
    setups = create_strategy(client)
    for trade_id, row in create_trades(client, main, copies, setups):
        if row.tags:
            send(client, "PUT", f"/trades/{trade_id}/tags", {"tag_ids": [tags[name] for name in row.tags]})
        if row.setup:
            answer_checklist(client, trade_id, setups[row.setup], row.checklist)
    for goal in GOALS:
        scope = {"account_id": main} if goal["metric"] == "balance_target" else {}
        send(client, "POST", "/goals", {**goal, **scope})


def create_copy_group(client: "httpx.Client", main: int, copies: int) -> None:
    """Create a group in which the second account copies the first with half the contracts."""
    group_id = send(client, "POST", "/copy-groups", {"name": "Main and copies"})["id"]
    members = [
        {"account_id": main, "quantity_multiplier": 1},
        {"account_id": copies, "quantity_multiplier": 0.5},
    ]
    send(client, "PUT", f"/copy-groups/{group_id}/members", {"members": members})
    send(client, "PATCH", f"/copy-groups/{group_id}", {"master_account_id": main})


def create_tags(client: "httpx.Client") -> dict[str, int]:
    """Create the categories and tags; return the tags' ids by name."""
    ids = {}
    for category, tags in TAGS.items():
        category_id = send(client, "POST", "/tag-categories", {"name": category})["id"]
        for name, fields in tags.items():
            tag = {"name": name, "category_id": category_id, **fields}
            ids[name] = send(client, "POST", "/tags", tag)["id"]
    return ids


def create_strategy(client: "httpx.Client") -> dict[str, Any]:
    """Create the strategy; return the setups of the response by name."""
    strategy = {
        "name": "Opening range",
        "description": "Trades the range of the first half hour.",
        "risk_rules": {"max_risk_per_trade": 50, "max_losers_in_a_row": 2},
        "setups": [
            {"name": name, "confirmations": [{"name": item} for item in checklist]}
            for name, checklist in CHECKLISTS.items()
        ],
    }
    created = send(client, "POST", "/strategies", strategy)
    return {setup["name"]: setup for setup in created["setups"]}


def create_trades(
    client: "httpx.Client", main: int, copies: int, setups: dict[str, Any]
) -> list[tuple[int, Row]]:
    """Create all trades; return the id and the row of each trade of the main account."""
    originals = [trade_of(row, setups) | {"account_id": main} for row in TRADES]
    ids = [trade["id"] for trade in send(client, "POST", "/trades/bulk", {"trades": originals})]
    trade_copies = [
        originals[index]
        | {
            "account_id": copies,
            "source_trade_id": ids[index],
            "quantity": originals[index]["quantity"] / 2,
            "fees": originals[index]["fees"] / 2,
        }
        for index in COPIED
    ]
    send(client, "POST", "/trades/bulk", {"trades": trade_copies})
    return list(zip(ids, TRADES, strict=True))


def trade_of(row: Row, setups: dict[str, Any]) -> dict[str, Any]:
    """The body of a trade, without its account."""
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
        "setup_id": setups[row.setup]["setup_id"] if row.setup else None,
    }


def in_new_york(day: str, time: str) -> str:
    """The timestamp, in summer time; in all three months it is the same day in UTC."""
    return f"2026-{day}T{time}:00-04:00"


def answer_checklist(client: "httpx.Client", trade_id: int, setup: Any, checklist: str) -> None:
    """Answer the first confirmations of the setup, one for each letter; y means present."""
    answers = [
        {"confirmation_id": confirmation["confirmation_id"], "was_present": letter == "y"}
        for confirmation, letter in zip(setup["confirmations"], checklist, strict=False)
    ]
    send(client, "PUT", f"/trades/{trade_id}/confirmations", {"confirmations": answers})


def send(client: "httpx.Client", method: str, path: str, body: object) -> Any:
    """Send a request and return the single member of the response's `data`."""
    response = client.request(method, path, json=body)
    response.raise_for_status()
    (member,) = response.json()["data"].values()
    return member
