"""The response about the example journal, and its content (journal_api/rules/example_journal.toml)."""

from typing import Literal

from msgspec import Struct

from journal_api.structs.account_rules import AccountRulesPut
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.cash import CashKind
from journal_api.structs.days import Rating
from journal_api.structs.goals import GoalCreate
from journal_api.structs.strategies import StrategyCreate
from journal_api.structs.trades import Direction, Grade
from journal_api.values.money import Money, PositiveMoney
from journal_api.values.types import Color, DayRollover, LongText, Name40, Name50, Name100, TagType, Text

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

    days_ago: int
    symbol: Name40
    direction: Direction
    quantity: PositiveMoney
    opened: ClockTime
    entry: Money
    stop: Money
    closed: ClockTime | None = None
    exit: Money | None = None
    worst: Money | None = None
    best: Money | None = None
    grade: Grade | Literal[""] = ""
    setup: str = ""
    checklist: str = ""
    tags: list[str] = []
    notes: Text | None = None


class ExampleTrades(Struct, kw_only=True, forbid_unknown_fields=True):
    point_values: dict[str, PositiveMoney]
    rows: list[ExampleTrade]


class ExampleCopy(Struct, kw_only=True, forbid_unknown_fields=True):
    """The account and its group, which has copies of so many of the last trades."""

    account: Name100
    group: Name100
    trades: int


class ExampleContent(Struct, kw_only=True, forbid_unknown_fields=True):
    account: AccountCreate
    rules: AccountRulesPut
    cash: list[tuple[int, CashKind, Money, Text]]  # days ago, kind, amount, note
    checkpoint: tuple[int, Money, Text]  # days ago, difference, note
    copy: ExampleCopy
    days: list[tuple[int, LongText, LongText, Rating, list[str]]]  # days ago, plan, review, rating, tags
    pictures: list[tuple[int, Text]]  # days ago, caption
    tags: list[ExampleTag]
    goals: list[GoalCreate]
    strategies: list[StrategyCreate]
    trades: ExampleTrades
