"""The response about the example journal, and its content (journal_api/rules/example_journal.toml)."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from journal_api.structs.accounts import AccountCreate
from journal_api.structs.goals import GoalCreate
from journal_api.structs.strategies import StrategyCreate
from journal_api.structs.trades import Direction, Grade
from journal_api.values.money import Money, PositiveMoney
from journal_api.values.types import Color, DayRollover, Name40, Name50, Name100, TagType, Text

MAX_DAYS_AGO = 250
ClockTime = DayRollover  # HH:MM


class ExampleJournal(Struct, kw_only=True, forbid_unknown_fields=True):
    """`account_id` is null and `trade_count` is 0 while it is not loaded."""

    is_loaded: bool
    account_id: int | None
    trade_count: int


class ExampleTag(Struct, kw_only=True, forbid_unknown_fields=True):
    category: Name50
    name: Name100
    type: TagType = "custom"
    color: Color = "#3b82f6"


class ExampleTrade(Struct, array_like=True, forbid_unknown_fields=True):
    """A line of the file: a trade as its owner would note it, open if it was not closed."""

    days_ago: Annotated[int, Meta(ge=0, le=MAX_DAYS_AGO)]
    symbol: Name40
    direction: Direction
    quantity: PositiveMoney
    opened: ClockTime
    entry: Money
    stop: Money
    closed: ClockTime | None = None
    exit: Money | None = None
    grade: Grade | Literal[""] = ""
    setup: str = ""
    checklist: Annotated[str, Meta(pattern=r"^[yn]*\Z")] = ""
    tags: list[str] = []
    notes: Text | None = None

    def __post_init__(self) -> None:
        if self.closed and (self.exit is None or self.closed < self.opened):
            raise ValueError("a closed trade needs an exit price, and is closed after it is opened")


class ExampleTrades(Struct, kw_only=True, forbid_unknown_fields=True):
    point_values: dict[str, PositiveMoney]
    rows: list[ExampleTrade]


class ExampleContent(Struct, kw_only=True, forbid_unknown_fields=True):
    account: AccountCreate
    tags: list[ExampleTag]
    goals: list[GoalCreate]
    strategies: list[StrategyCreate]
    trades: ExampleTrades

    def __post_init__(self) -> None:
        """Check what trades refer to. Raises ValueError with the first trade that refers to nothing."""
        letters = {"": 0} | {
            str(setup.name): len(setup.confirmations)
            for strategy in self.strategies
            for setup in strategy.setups
        }
        tags = {tag.name for tag in self.tags}
        for index, trade in enumerate(self.trades.rows):
            place = f"trades.rows[{index}]"
            if trade.symbol not in self.trades.point_values:
                raise ValueError(f"{place}: {trade.symbol} has no point value")
            if unknown := set(trade.tags) - tags:
                raise ValueError(f"{place}: there is no tag {', '.join(sorted(unknown))}")
            if trade.setup not in letters:
                raise ValueError(f"{place}: there is no setup {trade.setup}")
            if len(trade.checklist) != letters[trade.setup]:
                raise ValueError(f"{place}: the checklist needs a letter for each confirmation")
