"""Bodies that create, change and delete many trades at once (docs/api.md#many-trades-at-once)."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.structs import asdict

from journal_api.errors import ValidationFailed
from journal_api.structs.tags import MAX_TAGS, TagIds
from journal_api.structs.trades import (
    MAX_TRADES,
    Direction,
    FeesSource,
    Grade,
    Outcome,
    Trade,
    TradeFilter,
    TradeIds,
    TradesSet,
)
from journal_api.values.money import Money
from journal_api.values.types import Day, Name40, RowId

# Each is decoded separately, so that every error is reported with its index.
TradeInBatch = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/TradeCreate"})]


class TradesCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A batch of trades. Each is a TradeCreate, validated separately, so that all errors are reported."""

    trades: Annotated[list[TradeInBatch], Meta(min_length=1, max_length=MAX_TRADES)]


class TradeWhere(Struct, kw_only=True, forbid_unknown_fields=True):
    """The filters of GET /v1/trades. A filter by null is refused: it could be meant as "trades without"."""

    account_id: RowId | UnsetType = UNSET
    copy_group_id: RowId | UnsetType = UNSET
    strategy_id: RowId | UnsetType = UNSET
    setup_id: RowId | UnsetType = UNSET
    tag_id: RowId | UnsetType = UNSET
    import_id: RowId | UnsetType = UNSET
    symbol: Name40 | UnsetType = UNSET
    root: Name40 | UnsetType = UNSET
    direction: Direction | UnsetType = UNSET
    grade: Grade | UnsetType = UNSET
    fees_source: FeesSource | UnsetType = UNSET
    since: Day | UnsetType = field(name="from", default=UNSET)
    until: Day | UnsetType = field(name="to", default=UNSET)
    outcome: Outcome | UnsetType = UNSET
    source_trade_id: RowId | UnsetType = UNSET
    copies: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        self.filter()

    def filter(self) -> TradeFilter:
        """Return the same filters. Raises ValidationFailed when `from` is after `to`."""
        return TradeFilter(**{name: value for name, value in asdict(self).items() if value is not UNSET})


class Charge(Struct, kw_only=True, forbid_unknown_fields=True):
    """Fees that the commissions of an account decided when they were charged."""

    fees: Money
    fees_source: Literal["account", "none"]


class TradeRestore(Struct, kw_only=True, forbid_unknown_fields=True):
    """What one trade becomes again, as the response to its change says it."""

    id: RowId
    set: TradesSet
    tag_ids: TagIds | UnsetType = UNSET
    charge: Charge | UnsetType = UNSET


class AnswerBefore(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmation_id: int
    was_present: bool
    notes: str | None


class FieldsBefore(Struct, kw_only=True, forbid_unknown_fields=True):
    account_id: int | UnsetType = UNSET
    strategy_id: int | None | UnsetType = UNSET
    setup_id: int | None | UnsetType = UNSET
    grade: Grade | None | UnsetType = UNSET
    initial_risk: Decimal | None | UnsetType = UNSET
    stop_loss: Decimal | None | UnsetType = UNSET
    notes: str | None | UnsetType = UNSET
    confirmations: list[AnswerBefore] | UnsetType = UNSET


class ChargeBefore(Struct, kw_only=True, forbid_unknown_fields=True):
    fees: Decimal
    fees_source: FeesSource


class TradeBefore(Struct, kw_only=True, forbid_unknown_fields=True):
    """The old values of what was changed: a TradeRestore."""

    id: int
    set: FieldsBefore
    tag_ids: list[int] | UnsetType = UNSET
    charge: ChargeBefore | UnsetType = UNSET


class TradesPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """Up to 1,000 trades, by `ids` or by `where`, and what to change in each of them; or `restore` alone."""

    ids: TradeIds | UnsetType = UNSET
    where: TradeWhere | UnsetType = UNSET
    restore: Annotated[list[TradeRestore], Meta(min_length=1, max_length=MAX_TRADES)] | UnsetType = UNSET
    set: TradesSet | UnsetType = UNSET
    add_tag_ids: TagIds = []
    remove_tag_ids: TagIds = []

    def __post_init__(self) -> None:
        selections = [one for one in (self.ids, self.where, self.restore) if one is not UNSET]
        if len(selections) != 1:
            reason = "must be sent unless where or restore is, and one of them alone"
            raise ValidationFailed(fields={"ids": reason})
        if self.restore is not UNSET and (self.set is not UNSET or self.add_tag_ids or self.remove_tag_ids):
            raise ValidationFailed(fields={"restore": "must be sent without set, add_tag_ids, remove_tag_ids"})
        if both := sorted({*self.add_tag_ids} & {*self.remove_tag_ids}):
            named = ", ".join(map(str, both))
            raise ValidationFailed(fields={"remove_tag_ids": f"must have no tags of add_tag_ids: {named}"})

    def list_changes(self, stored: Sequence[Trade]) -> list[TradeRestore]:
        """Return what to change in each trade; tags that all of them get or lose are not part of it."""
        if self.restore is not UNSET:
            return self.restore
        return [TradeRestore(id=trade.id, set=self.set or TradesSet()) for trade in stored]

    def text_length(self) -> int:
        """Return how many bytes of notes each trade gets."""
        if self.set is UNSET:
            return 0
        answers = self.set.confirmations or ()
        return sum(len(text.encode()) for text in [self.set.notes, *(one.notes for one in answers)] if text)

    def change_tags(self, stored: list[int]) -> list[int]:
        """Return the tags of a trade after the change. Raises ValidationFailed if they are too many."""
        tag_ids = sorted({*stored, *self.add_tag_ids} - {*self.remove_tag_ids})
        if len(tag_ids) > MAX_TAGS:
            raise ValidationFailed(fields={"tag_ids": f"would be {len(tag_ids)}, at most {MAX_TAGS}"})
        return tag_ids


class TradesDelete(Struct, kw_only=True, forbid_unknown_fields=True):
    ids: TradeIds


class TradesMerge(Struct, kw_only=True, forbid_unknown_fields=True):
    """The trades to merge into the trade that opened first."""

    ids: TradeIds
