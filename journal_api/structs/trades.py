"""Bodies, queries and responses of trades."""

import re
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import asdict

from journal_api.structs.fills import Fill
from journal_api.structs.pictures import Picture
from journal_api.structs.queries import check_range
from journal_api.structs.tags import TagIds, TradeTag
from journal_api.values.money import Money, PositiveMoney, UnsignedMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Day, DayText, Instant, Name40, Name100, Offset, RowId, Text

Direction = Literal["long", "short"]
AMOUNTS = (
    *("quantity", "multiplier", "entry_price", "exit_price"),
    *("stop_loss", "gross_pnl", "fees", "initial_risk", "mae", "mfe"),
)
Grade = Literal["A+", "A", "B", "C", "D", "F"]
Outcome = Literal["win", "loss", "breakeven", "open"]
FeesSource = Literal["file", "account", "typed", "none"]
# Fees that the commissions of the account decide if they are omitted; 0 is what they are without any.
ChargedFees = Annotated[
    Money, Meta(description="Default: the commission of the account, else 0.", extra_json_schema={"x-default": 0})
]
MAX_TRADES = 1000  # that one request writes
TradeIds = Annotated[list[RowId], Meta(min_length=1, max_length=MAX_TRADES)]


class AnswerPut(Struct, kw_only=True, forbid_unknown_fields=True):
    name: ClassVar[UnsetType] = UNSET
    confirmation_id: RowId
    was_present: bool
    notes: Text | None = None


class AnswerPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """An answer with the `name` of the confirmation, if it is sent back as it was read."""

    confirmation_id: RowId
    name: str | UnsetType = UNSET
    was_present: bool
    notes: Text | None = None


AnswerBody = AnswerPut | AnswerPatch
Answers = Annotated[list[AnswerPut], Meta(max_length=100)]


class TradeCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new trade. It is open while `closed_at` is null.

    An omitted `multiplier` is the point value of a future or an option, 1 for any other symbol. An omitted
    `gross_pnl` of a closed trade is computed from the prices, an omitted `initial_risk` from the stop.
    Omitted `fees` are the commission of the account. `mae` and `mfe` are the worst loss and the best profit
    while the trade was open, both amounts of money that are not negative.
    """

    account_id: RowId
    symbol: Name40
    direction: Direction
    quantity: PositiveMoney
    multiplier: PositiveMoney | UnsetType = UNSET
    entry_price: Money
    exit_price: Money | None = None
    stop_loss: Money | None = None
    opened_at: Timestamp
    closed_at: Timestamp | None = None
    gross_pnl: Money | None = None
    fees: ChargedFees | UnsetType = UNSET
    initial_risk: PositiveMoney | None = None
    grade: Grade | None = None
    strategy_id: RowId | None = None
    setup_id: RowId | None = None
    source_trade_id: RowId | None = None
    external_id: Name100 | None = None
    notes: Text | None = None
    mae: UnsignedMoney | None = None
    mfe: UnsignedMoney | None = None
    tag_ids: TagIds = []
    confirmations: Answers = []


class TradesSet(Struct, kw_only=True, forbid_unknown_fields=True):
    """The fields to change, of many trades at once.

    `null` clears a field, `confirmations` replace the whole set of each trade.
    """

    account_id: RowId | UnsetType = UNSET
    strategy_id: RowId | None | UnsetType = UNSET
    setup_id: RowId | None | UnsetType = UNSET
    grade: Grade | None | UnsetType = UNSET
    initial_risk: PositiveMoney | None | UnsetType = UNSET
    stop_loss: Money | None | UnsetType = UNSET
    notes: Text | None | UnsetType = UNSET
    confirmations: Annotated[list[AnswerPatch], Meta(max_length=100)] | UnsetType = UNSET


class TradePatch(TradesSet, kw_only=True, forbid_unknown_fields=True):
    """The fields to change.

    `null` clears an optional field; a null `gross_pnl` is computed from the prices. `tag_ids` and
    `confirmations` replace the whole set.
    """

    symbol: Name40 | UnsetType = UNSET
    direction: Direction | UnsetType = UNSET
    quantity: PositiveMoney | UnsetType = UNSET
    multiplier: PositiveMoney | UnsetType = UNSET
    entry_price: Money | UnsetType = UNSET
    exit_price: Money | None | UnsetType = UNSET
    opened_at: Timestamp | UnsetType = UNSET
    closed_at: Timestamp | None | UnsetType = UNSET
    gross_pnl: Money | None | UnsetType = UNSET
    fees: Money | UnsetType = UNSET
    source_trade_id: RowId | None | UnsetType = UNSET
    external_id: Name100 | None | UnsetType = UNSET
    mae: UnsignedMoney | None | UnsetType = UNSET
    mfe: UnsignedMoney | None | UnsetType = UNSET
    tag_ids: TagIds | UnsetType = UNSET

    def sends_back(self, answers: "list[Answer]") -> bool:
        """Return whether `confirmations` has these answers as they are read, names included."""
        if self.confirmations is UNSET:
            return False
        return [Answer(**asdict(answer)) for answer in self.confirmations] == answers


class TradeSelection(Struct, kw_only=True):
    """The filters that select trades. `from` and `to` are trading days, both inclusive."""

    account_id: RowId | None = None
    copy_group_id: RowId | None = None
    strategy_id: RowId | None = None
    setup_id: RowId | None = None
    tag_id: RowId | None = None
    import_id: RowId | None = None
    symbol: str | None = None
    root: str | None = None
    direction: Direction | None = None
    grade: Grade | None = None
    fees_source: FeesSource | None = None
    since: Day | None = field(name="from", default=None)
    until: Day | None = field(name="to", default=None)

    def __post_init__(self) -> None:
        check_range(self.since, self.until)

    def values(self) -> dict[str, Any]:
        """Return the filters as SQL parameters, days as text."""
        return {
            **asdict(self),
            "root": self.root and self.root.upper(),
            "since": self.since and str(self.since),
            "until": self.until and str(self.until),
        }


class TradeFilter(TradeSelection, kw_only=True):
    """The filters of trades. `from` and `to` are trading days, both inclusive. `outcome` is of each trade.

    `copies=false` leaves out trades that copy another one; `source_trade_id` finds the copies of one trade.
    """

    outcome: Outcome | None = None
    source_trade_id: RowId | None = None
    copies: bool = True


class SentIds(tuple[int, ...]):
    """Ids of trades in the query, separated by commas."""

    maximum: ClassVar[int] = 200
    number: ClassVar[str] = "[1-9][0-9]{0,18}"
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "pattern": f"^{number}(,{number}){{0,{maximum - 1}}}$",
        "description": f"Up to {maximum} ids, separated by commas. `limit` is at least their number.",
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        texts = str(value).split(",")
        if len(texts) > cls.maximum or not all(re.fullmatch(cls.number, text) for text in texts):
            raise ValueError(f"must be 1 to {cls.maximum} ids, separated by commas")
        return cls(map(int, texts))


class TradeQuery(TradeFilter, kw_only=True):
    ids: SentIds | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Offset = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        # A trade beyond the page would look like one that is gone.
        self.limit = max(self.limit, len(self.ids or ()))


class ExportQuery(TradeFilter, kw_only=True):
    """With `spreadsheet` no text can be read as a formula; such a file cannot be imported."""

    format: Literal["csv"] = "csv"
    spreadsheet: bool = False


class TradeTagsPut(Struct, kw_only=True, forbid_unknown_fields=True):
    tag_ids: TagIds


class AnswersPut(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmations: Answers


class TradeListItem(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    account_id: int
    symbol: str
    direction: Direction
    quantity: Decimal
    multiplier: Decimal
    entry_price: Decimal
    exit_price: Decimal | None
    stop_loss: Decimal | None
    gross_pnl: Decimal | None
    fees: Decimal
    initial_risk: Decimal | None
    opened_at: Instant
    closed_at: Instant | None
    trading_day: DayText | None
    net_pnl: Decimal | None
    rr_realized: Decimal | None
    grade: Grade | None
    strategy_id: int | None
    setup_id: int | None
    source_trade_id: int | None
    external_id: str | None
    notes: str | None
    tag_ids: list[int]
    created_at: Instant
    updated_at: Instant
    contract: str
    root: str
    fees_source: FeesSource
    fill_count: int
    mae: Decimal | None
    mfe: Decimal | None


class Answer(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmation_id: int
    name: str
    was_present: bool
    notes: str | None


class TypedTrade(Struct, kw_only=True, forbid_unknown_fields=True):
    """What the owner had entered of a trade before a file with it was imported."""

    symbol: str
    quantity: Decimal
    entry_price: Decimal
    exit_price: Decimal | None
    opened_at: Instant
    closed_at: Instant | None
    gross_pnl: Decimal | None
    fees: Decimal


class Trade(TradeListItem, kw_only=True, forbid_unknown_fields=True):
    """A trade. `fills` are in the order of time, `merged_ids` the trades that were merged into this one.

    `typed` is what its owner had entered, if a file with the trade was imported since.
    """

    fills: list[Fill]
    typed: TypedTrade | None
    merged_ids: list[int]
    tags: list[TradeTag]
    confirmations: list[Answer]
    pictures: list[Picture]
