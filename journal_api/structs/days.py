"""Bodies, queries and responses of days: what the owner wrote, beside what was traded (docs/journal.md)."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from journal_api.metrics.metrics import GoalKind
from journal_api.structs.pictures import Picture
from journal_api.structs.queries import check_range
from journal_api.structs.snapshots import Snapshot
from journal_api.structs.tags import TagIds, TradeTag
from journal_api.values.types import Day, DayText, Instant, LongText, Offset, RowId

Rating = Annotated[int, Meta(ge=1, le=5)]


class DayQuery(Struct, kw_only=True):
    """Which trades are counted; what was written is there in any case."""

    account_id: RowId | None = None
    copy_group_id: RowId | None = None


class DaysQuery(DayQuery, kw_only=True):
    """`from` and `to` are both inclusive; `with=text` adds what is written, and the pictures."""

    since: Day | None = field(name="from", default=None)
    until: Day | None = field(name="to", default=None)
    limit: Annotated[int, Meta(ge=1, le=366)] = 50
    offset: Offset = 0
    parts: Literal["text"] | None = field(name="with", default=None)

    def __post_init__(self) -> None:
        check_range(self.since, self.until)


class DayPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """`null` and an empty text clear; `tag_ids` replaces the whole set."""

    plan: LongText | None | UnsetType = UNSET
    review: LongText | None | UnsetType = UNSET
    rating: Rating | None | UnsetType = UNSET
    tag_ids: TagIds | UnsetType = UNSET

    def __post_init__(self) -> None:
        self.plan = None if self.plan == "" else self.plan
        self.review = None if self.review == "" else self.review


class DaySum(Struct, kw_only=True, forbid_unknown_fields=True):
    """The net P&L of the day in one currency; null if the sum is out of range."""

    currency: str
    net_pnl: Decimal | None


class DayNumbers(Struct, kw_only=True, forbid_unknown_fields=True):
    """The closed trades of a trading day in numbers, and what there is beside them.

    `trade_count`, `wins` and `losses` count decisions. `net_pnl` is null for accounts in different
    currencies and for a sum that is out of range; `currency` is null for several, and without a trade.
    `sums` has the net P&L of each currency.
    """

    date: DayText
    currency: str | None
    net_pnl: Decimal | None
    sums: list[DaySum]
    trade_count: int
    wins: int
    losses: int
    has_text: bool
    rating: Rating | None
    tag_ids: list[int]
    picture_count: int


class DayListItem(DayNumbers, kw_only=True, forbid_unknown_fields=True):
    """`with=text` adds what is written, and the pictures."""

    plan: str | None | UnsetType = UNSET
    review: str | None | UnsetType = UNSET
    pictures: list[Picture] | UnsetType = UNSET


class DayGoal(Snapshot, kw_only=True, forbid_unknown_fields=True):
    """The snapshot of a daily goal on the day."""

    goal_name: str
    metric: str
    kind: GoalKind


class JournalDay(DayNumbers, kw_only=True, forbid_unknown_fields=True):
    """A day; `id` and both timestamps are of what was written, null if nothing is."""

    id: int | None
    plan: str | None
    review: str | None
    tags: list[TradeTag]
    pictures: list[Picture]
    goals: list[DayGoal]
    created_at: Instant | None
    updated_at: Instant | None
