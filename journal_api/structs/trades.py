"""Trades: what the record holds, and what follows from the prices (DECISIONS 11)."""

from copy import copy
from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.structs import asdict

from journal_api.errors import ValidationFailed
from journal_api.money import EXACT, LARGEST, Money, PositiveMoney, from_units, units
from journal_api.values import (
    Day,
    DayText,
    Flag,
    Instant,
    Name40,
    Name100,
    Offset,
    RowId,
    TagType,
    Text,
    Timestamp,
    check_range,
    unless_sent,
)

Direction = Literal["long", "short"]
# Read one by one, so that every error can be told by its index.
TradeSent = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/components/schemas/TradeCreate"})]
AMOUNTS = (
    *("quantity", "multiplier", "entry_price", "exit_price"),
    *("stop_loss", "gross_pnl", "fees", "initial_risk"),
)
Grade = Literal["A+", "A", "B", "C", "D", "F"]


class TradeCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A trade as it is written down. It is open while `closed_at` is null.

    Left out, `gross_pnl` of a closed trade follows from the prices, and `initial_risk` from the stop.
    """

    account_id: RowId
    symbol: Name40
    direction: Direction
    quantity: PositiveMoney
    multiplier: PositiveMoney = unless_sent(PositiveMoney(1))
    entry_price: Money
    exit_price: Money | None = None
    stop_loss: Money | None = None
    opened_at: Timestamp
    closed_at: Timestamp | None = None
    gross_pnl: Money | None = None
    fees: Money = unless_sent(Money(0))
    initial_risk: PositiveMoney | None = None
    grade: Grade | None = None
    strategy_id: RowId | None = None
    setup_id: RowId | None = None
    source_trade_id: RowId | None = None
    external_id: Name100 | None = None
    notes: Text | None = None

    def __post_init__(self) -> None:
        self.settle()
        if self.initial_risk is None and self.stop_loss is not None:
            risked = -self.result_at(self.stop_loss, "initial_risk")
            # A stop that locks in a profit risks nothing, so it says nothing of the risk at the start.
            self.initial_risk = PositiveMoney(risked) if risked > 0 else None

    def settle(self) -> None:
        """Let the result follow from the prices unless it was sent.

        Raises ValidationFailed for an open trade with an exit, or a closed one without a result.
        """
        if self.closed_at is None:
            for name in ("exit_price", "gross_pnl"):
                if getattr(self, name) is not None:
                    raise ValidationFailed(fields={name: "belongs to a closed trade; closed_at is missing"})
        elif self.gross_pnl is None:
            if self.exit_price is None:
                raise ValidationFailed(fields={"exit_price": "is required when gross_pnl is left out"})
            self.gross_pnl = self.result_at(self.exit_price, "gross_pnl")

    def result_at(self, price: Decimal, name: str) -> Money:
        """What leaving at that price earns, to eight decimals; raises ValidationFailed for that field."""
        earned = self.earned_at(price)
        if abs(earned) > LARGEST:
            raise ValidationFailed(fields={name: f"as it follows from the prices is over {LARGEST}"})
        return Money(earned)

    def earned_at(self, price: Decimal) -> Decimal:
        """What leaving at that price earns, to eight decimals, however much it is."""
        points = EXACT.subtract(price, self.entry_price)
        size = EXACT.multiply(self.quantity, self.multiplier)
        return from_units(units(EXACT.multiply(points if self.direction == "long" else -points, size)))

    def follows_from_prices(self) -> bool:
        return self.exit_price is not None and self.gross_pnl == self.earned_at(self.exit_price)

    def columns(self, timezone: str) -> dict[str, Any]:
        """What is stored of it; times without an offset are read in `timezone`.

        Raises ValidationFailed when it closes before it opens.
        """
        opened_at = self.opened_at.stored(timezone)
        closed_at = self.closed_at.stored(timezone) if self.closed_at else None
        for name, instant in (("opened_at", opened_at), ("closed_at", closed_at)):
            if instant and not "1970" <= instant[:4] <= "2200":
                raise ValidationFailed(fields={name: "must be in the years 1970 to 2200"})
        if closed_at and closed_at < opened_at:
            raise ValidationFailed(fields={"closed_at": "must not be before opened_at"})
        columns = asdict(self)
        amounts = {name: columns[name].units for name in AMOUNTS if columns[name] is not None}
        return {**columns, **amounts, "opened_at": opened_at, "closed_at": closed_at}


class TradesCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """Many trades at once; each is a TradeCreate, read one by one so that every error can be told."""

    trades: Annotated[list[TradeSent], Meta(min_length=1, max_length=1000)]


class TradePatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """The fields sent; `null` clears what may be empty, and has `gross_pnl` follow from the prices again."""

    account_id: RowId | UnsetType = UNSET
    symbol: Name40 | UnsetType = UNSET
    direction: Direction | UnsetType = UNSET
    quantity: PositiveMoney | UnsetType = UNSET
    multiplier: PositiveMoney | UnsetType = UNSET
    entry_price: Money | UnsetType = UNSET
    exit_price: Money | None | UnsetType = UNSET
    stop_loss: Money | None | UnsetType = UNSET
    opened_at: Timestamp | UnsetType = UNSET
    closed_at: Timestamp | None | UnsetType = UNSET
    gross_pnl: Money | None | UnsetType = UNSET
    fees: Money | UnsetType = UNSET
    initial_risk: PositiveMoney | None | UnsetType = UNSET
    grade: Grade | None | UnsetType = UNSET
    strategy_id: RowId | None | UnsetType = UNSET
    setup_id: RowId | None | UnsetType = UNSET
    source_trade_id: RowId | None | UnsetType = UNSET
    external_id: Name100 | None | UnsetType = UNSET
    notes: Text | None | UnsetType = UNSET


class TradeFilter(Struct, kw_only=True):
    """`since` and `until` are the query's from and to: trading days, both included."""

    account_id: RowId | None = None
    copy_group_id: RowId | None = None
    strategy_id: RowId | None = None
    setup_id: RowId | None = None
    tag_id: RowId | None = None
    import_id: RowId | None = None
    symbol: str | None = None
    direction: Direction | None = None
    grade: Grade | None = None
    outcome: Literal["win", "loss", "breakeven", "open"] | None = None
    since: Day | None = field(name="from", default=None)
    until: Day | None = field(name="to", default=None)

    def __post_init__(self) -> None:
        check_range(self.since, self.until)

    def values(self) -> dict[str, Any]:
        """As SQL has them."""
        days = {
            name: str(day) if day else None for name, day in (("since", self.since), ("until", self.until))
        }
        return {**asdict(self), **days}


class TradeQuery(TradeFilter, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Offset = 0


class ExportQuery(TradeFilter, kw_only=True):
    """For a `spreadsheet` no text can be taken for a formula; that file cannot be imported."""

    format: Literal["csv"] = "csv"
    spreadsheet: Flag = "false"


class TradeTagsPut(Struct, kw_only=True, forbid_unknown_fields=True):
    tag_ids: Annotated[list[RowId], Meta(max_length=100)]


class AnswerPut(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmation_id: RowId
    was_present: bool
    notes: Text | None = None


class AnswersPut(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmations: Annotated[list[AnswerPut], Meta(max_length=100)]


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
    opened_at: Instant
    closed_at: Instant | None
    trading_day: DayText | None
    gross_pnl: Decimal | None
    fees: Decimal
    net_pnl: Decimal | None
    initial_risk: Decimal | None
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


class TradeTag(Struct, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    color: str
    type: TagType


class Answer(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmation_id: int
    name: str
    was_present: bool
    notes: str | None


class Trade(TradeListItem, kw_only=True, forbid_unknown_fields=True):
    tags: list[TradeTag]
    confirmations: list[Answer]


def merged(stored: Trade, patch: TradePatch) -> TradeCreate:
    """The trade as the PATCH makes it; raises ValidationFailed for what is wrong with the whole.

    A result that followed from the prices follows them still; one that was sent stays. Moving the stop never
    touches the initial risk. Reopening drops the exit and the result. Another strategy drops the setup, and a
    setup alone brings its strategy.
    """
    before = as_written(stored)
    sent = {name: getattr(patch, name) for name in patch.__struct_fields__}
    sent = {name: value for name, value in sent.items() if value is not UNSET}
    after = copy(before)
    for name, value in sent.items():
        setattr(after, name, value)
    if after.closed_at is None:
        after.exit_price, after.gross_pnl = sent.get("exit_price"), sent.get("gross_pnl")
    elif "gross_pnl" not in sent and before.follows_from_prices():
        after.gross_pnl = None
    if after.strategy_id != stored.strategy_id and "setup_id" not in sent:
        after.setup_id = None
    if sent.get("setup_id") and "strategy_id" not in sent:
        after.strategy_id = None
    after.settle()
    return after


def as_written(stored: Trade) -> TradeCreate:
    """The stored trade in the form in which it would be sent."""
    fields: dict[str, Any] = {name: getattr(stored, name) for name in TradeCreate.__struct_fields__}
    for name, value in fields.items():
        if isinstance(value, Decimal):
            fields[name] = Money(value)
        elif name in ("opened_at", "closed_at") and value is not None:
            fields[name] = Timestamp.fromisoformat(value)
    # With some risk at first, so that none is made of a stop that came later.
    trade = TradeCreate(**{**fields, "initial_risk": PositiveMoney(1)})
    trade.initial_risk = fields["initial_risk"]
    return trade
