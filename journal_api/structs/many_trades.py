"""Bodies of the change and the deletion of many trades at once (docs/api.md#many-trades-at-once)."""

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import asdict

from journal_api.errors import ValidationFailed
from journal_api.structs.trades import (
    MAX_TAGS,
    Direction,
    FeesSource,
    Grade,
    Outcome,
    TagIds,
    TradeFilter,
    TradeIds,
    TradesSet,
)
from journal_api.values.types import Day, Name40, RowId


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


class TradesPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """Up to 1,000 trades, by `ids` or by `where`, and what to change in each of them."""

    ids: TradeIds | UnsetType = UNSET
    where: TradeWhere | UnsetType = UNSET
    set: TradesSet | UnsetType = UNSET
    add_tag_ids: TagIds = []
    remove_tag_ids: TagIds = []

    def __post_init__(self) -> None:
        if (self.ids is UNSET) == (self.where is UNSET):
            raise ValidationFailed(fields={"ids": "must be sent unless where is, and not both"})
        if both := sorted({*self.add_tag_ids} & {*self.remove_tag_ids}):
            named = ", ".join(map(str, both))
            raise ValidationFailed(fields={"remove_tag_ids": f"must have no tags of add_tag_ids: {named}"})

    def change_tags(self, stored: list[int]) -> list[int]:
        """Return the tags of a trade after the change. Raises ValidationFailed if they are too many."""
        tag_ids = sorted({*stored, *self.add_tag_ids} - {*self.remove_tag_ids})
        if len(tag_ids) > MAX_TAGS:
            raise ValidationFailed(fields={"tag_ids": f"would be {len(tag_ids)}, at most {MAX_TAGS}"})
        return tag_ids


class TradesDelete(Struct, kw_only=True, forbid_unknown_fields=True):
    ids: TradeIds
