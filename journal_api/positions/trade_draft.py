"""A trade before it is stored: its derived amounts and the effect of a PATCH (DECISIONS 11)."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Self

from msgspec import UNSET, Struct
from msgspec.structs import asdict, replace

from journal_api.errors import ValidationFailed
from journal_api.positions.fills import (
    SIDES,
    Fill,
    FillRefused,
    Position,
    encode_fills,
    read_fill,
    sort_fills,
    state_fills,
    summarize,
)
from journal_api.structs.trades import AMOUNTS, Direction, FeesSource, Grade, Trade, TradeCreate, TradesSet
from journal_api.values.instruments import BUILT_IN, InstrumentTable, canonical_symbol, contract_root
from journal_api.values.money import MAX_AMOUNT, ONE, SCALE, ZERO, Money, PositiveMoney, quotient
from journal_api.values.timestamps import Timestamp

ANNOTATIONS = ("tag_ids", "confirmations")
# What follows from the fills of a trade with more than one entry and one exit.
FROM_FILLS = ("direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at")


class TradeDraft(Struct, frozen=True, kw_only=True, gc=False):
    """A trade with its derived amounts, but not validated against the database.

    `account_id` is None for a row of a file: its account comes from the row's account name or from the
    import.
    """

    account_id: int | None = None
    symbol: str
    direction: Direction
    quantity: Money
    multiplier: Money = ONE
    entry_price: Money
    exit_price: Money | None = None
    stop_loss: Money | None = None
    opened_at: Timestamp
    closed_at: Timestamp | None = None
    gross_pnl: Money | None = None
    fees: Money = ZERO
    initial_risk: Money | None = None
    grade: Grade | None = None
    strategy_id: int | None = None
    setup_id: int | None = None
    source_trade_id: int | None = None
    external_id: str | None = None
    notes: str | None = None
    fees_source: FeesSource = "typed"
    mae: Money | None = None
    mfe: Money | None = None
    fills: tuple[Fill, ...] = ()  # empty while the trade is one entry and one exit that its fields state

    @classmethod
    def of_body(cls, body: TradeCreate, instruments: InstrumentTable = BUILT_IN) -> Self:
        """Return the draft of a new trade with its derived amounts. Raises ValidationFailed."""
        fields = {name: getattr(body, name) for name in TradeCreate.__struct_fields__ if name not in ANNOTATIONS}
        if body.fees is UNSET:
            fields |= {"fees": ZERO, "fees_source": "none"}
        if body.multiplier is UNSET:
            fields["multiplier"] = instruments.point_value(body.symbol) or ONE
        return cls(**fields).with_result().with_initial_risk()

    @classmethod
    def of_stored(cls, trade: Trade) -> Self:
        """Return the draft of a stored trade."""
        fields: dict[str, Any] = {name: getattr(trade, name) for name in cls.__struct_fields__}
        amounts = {name: Money(fields[name]) for name in AMOUNTS if fields[name] is not None}
        times = {
            name: Timestamp.fromisoformat(fields[name])
            for name in ("opened_at", "closed_at")
            if fields[name] is not None
        }
        return cls(**{**fields, **amounts, **times, "fills": tuple(map(read_fill, trade.fills))})

    @property
    def is_scaled(self) -> bool:
        """Whether the trade has more than one entry, more than one exit, or an exit of a part."""
        sides = {fill.side for fill in self.fills}
        return len(sides) < len(self.fills) or len({fill.quantity for fill in self.fills}) > 1

    @property
    def is_priced(self) -> bool:
        """Whether the price of every fill is known."""
        return all(fill.price is not None for fill in self.fills)

    def count_sides(self) -> int:
        """Return the quantity that was bought and sold, in units of 10^-8."""
        if self.is_scaled:
            return sum(fill.quantity for fill in self.fills)
        return self.quantity.units * (1 if self.closed_at is None else 2)

    def with_result(self) -> Self:
        """Return the trade with `gross_pnl`, computed from the prices if it is closed and has none.

        Raises ValidationFailed for an open trade with an exit price or a result, and for a closed trade with
        neither.
        """
        if self.closed_at is None:
            for name in ("exit_price", "gross_pnl"):
                if getattr(self, name) is not None:
                    raise ValidationFailed(fields={name: "requires closed_at"})
            return self
        if self.gross_pnl is not None:
            return self
        if self.exit_price is None:
            raise ValidationFailed(fields={"exit_price": "is required without gross_pnl"})
        return replace(self, gross_pnl=check_result(self.compute_units(self.exit_price), "gross_pnl"))

    def with_initial_risk(self) -> Self:
        """Return the trade with `initial_risk`, computed from the stop if it has none.

        A stop that locks in a profit has no risk, so the initial risk stays unknown.
        """
        if self.initial_risk is not None or self.stop_loss is None:
            return self
        risk = -check_result(self.compute_units_at(self.stop_loss), "initial_risk")
        return replace(self, initial_risk=PositiveMoney(risk)) if risk > 0 else self

    def compute_units(self, exit_price: Money) -> int:
        """Return the result that follows from the fills, or from the prices of one entry and one exit."""
        if not (self.is_scaled and self.is_priced):
            return self.compute_units_at(exit_price)
        result = summarize(self.fills, may_be_flat=True).gross(self.multiplier.units)
        return self.compute_units_at(exit_price) if result is None else result

    def compute_units_at(self, price: Money) -> int:
        """Return the result of an exit at that price in units of 10^-8, however large."""
        points = price.units - self.entry_price.units
        amount = points * self.quantity.units * self.multiplier.units
        # The product of three amounts has 24 decimals, of which it keeps 8: rounded half to even.
        return quotient(amount if self.direction == "long" else -amount, SCALE**2)

    def with_multiplier(self, multiplier: Money) -> Self:
        """Return the trade with another multiplier and the result that it makes.

        A result that does not follow from the prices, because they are averages, is scaled. Raises
        ValidationFailed if the result is too large.
        """
        if multiplier == self.multiplier:
            return self
        if self.gross_pnl is None:
            return replace(self, multiplier=multiplier)
        if self.exit_price is not None and self.has_derived_result():
            return replace(self, multiplier=multiplier, gross_pnl=None).with_result()
        scaled = quotient(self.gross_pnl.units * multiplier.units, self.multiplier.units)
        return replace(self, multiplier=multiplier, gross_pnl=check_result(scaled, "gross_pnl"))

    def has_derived_result(self) -> bool:
        """Return whether `gross_pnl` equals the result computed from the prices."""
        if self.exit_price is None or self.gross_pnl is None:
            return False
        return self.gross_pnl.units == self.compute_units(self.exit_price)

    def apply_patch(self, patch: TradesSet) -> Self:
        """Return the trade after a PATCH. Raises ValidationFailed when the merged trade is invalid.

        A result that was computed from the prices is computed again, also if it is sent back as it was read;
        a stated result stays. Other fees are typed. A new stop does not change the initial risk. Reopening
        clears the exit price and the result. Another strategy clears the setup; a setup without a strategy
        sets its strategy.
        """
        members = {name: getattr(patch, name) for name in patch.__struct_fields__ if name not in ANNOTATIONS}
        members = {name: value for name, value in members.items() if value is not UNSET}
        if self.is_scaled:
            self.require_unchanged(members)
        changes = dict(members)
        if members.get("fees", self.fees) != self.fees:
            changes["fees_source"] = "typed"
        if members.get("closed_at", self.closed_at) is None:
            changes |= {"exit_price": members.get("exit_price"), "gross_pnl": members.get("gross_pnl")}
        elif members.get("gross_pnl", self.gross_pnl) == self.gross_pnl and self.has_derived_result():
            changes["gross_pnl"] = None
        if members.get("strategy_id", self.strategy_id) != self.strategy_id and "setup_id" not in members:
            changes["setup_id"] = None
        if members.get("setup_id") and "strategy_id" not in members:
            changes["strategy_id"] = None
        return replace(self, **changes).with_result()

    def with_fills(self, fills: Sequence[Fill]) -> Self:
        """Return the trade with these fills and with what follows from them.

        Raises ValidationFailed if the fills are no position, or one of the other direction.
        """
        ordered = sort_fills(fills)
        entry, _ = SIDES[self.direction]
        if ordered[0].side != entry and max(len(ordered), len(self.fills)) > 1:
            reason = f"would begin the {self.direction} trade, whose first fill must be a {entry}: state its time"
            raise FillRefused(ordered[0], "side", reason)
        position = summarize(ordered, may_be_flat=self.is_flat_between())
        closed_at, exit_price = position.closed_at, position.exit_price
        return replace(
            self,
            fills=tuple(ordered),
            direction=position.direction,
            quantity=check_amount(position.quantity, "quantity"),
            entry_price=Money.of_units(position.entry_price),
            exit_price=None if exit_price is None else Money.of_units(exit_price),
            opened_at=Timestamp.fromisoformat(position.opened_at),
            closed_at=None if closed_at is None else Timestamp.fromisoformat(closed_at),
            fees=check_amount(position.fees, "fees"),
            gross_pnl=self.compute_result(position),
        )

    def compute_result(self, position: Position) -> Money | None:
        """Return the result of changed fills: the stored one if they are worth as much as before."""
        if position.value is None:
            return None
        if self.is_priced and position.value == summarize(self.fills, may_be_flat=True).value:
            return self.gross_pnl
        return check_result(position.gross(self.multiplier.units) or 0, "gross_pnl")

    def is_flat_between(self) -> bool:
        """Return whether the position is flat between two of its fills, as the position of a merged trade may be."""
        sizes = list(accumulate(fill.signed for fill in self.fills))
        return 0 in sizes[:-1]

    def require_unchanged(self, members: dict[str, Any]) -> None:
        """Raise ValidationFailed for a member that follows from the fills and would change."""
        changed = [name for name in FROM_FILLS if name in members and members[name] != getattr(self, name)]
        if changed:
            reason = "follows from the fills of the trade: change those"
            raise ValidationFailed(fields=dict.fromkeys(changed, reason))


def check_result(result: int, name: str) -> Money:
    """Return a result in units of 10^-8. Raises ValidationFailed for the field `name` if it is too large."""
    return check_amount(result, name, "computed from the prices")


def check_amount(amount: int, name: str, origin: str = "of all fills together") -> Money:
    """Return an amount in units of 10^-8. Raises ValidationFailed for the field `name` if it is too large."""
    if abs(amount) > MAX_AMOUNT * SCALE:
        raise ValidationFailed(fields={name: f"{origin} exceeds {MAX_AMOUNT}"})
    return Money.of_units(amount)


def build_columns(trade: TradeDraft, timezone: str) -> dict[str, Any]:
    """Return the stored columns. Times without an offset are local time in `timezone`.

    Raises ValidationFailed when the trade closes before it opens.
    """
    opened_at = trade.opened_at.stored(timezone)
    closed_at = trade.closed_at.stored(timezone) if trade.closed_at else None
    times = {"opened_at": opened_at, "closed_at": closed_at}
    for name, instant in times.items():
        if instant is not None and not "1970" <= instant < "2201":
            raise ValidationFailed(fields={name: "must be in the years 1970 to 2200"})
    if closed_at is not None and closed_at < opened_at:
        raise ValidationFailed(fields={"closed_at": "must not be before opened_at"})
    contract = {"contract": canonical_symbol(trade.symbol, opened_at), "root": contract_root(trade.symbol)}
    columns = {**asdict(trade), **times, **contract, "fills": None}
    for name in AMOUNTS:
        if columns[name] is not None:
            columns[name] = columns[name].units
    if trade.fills:
        columns["fills"] = build_fills(trade, columns)
    return columns


def build_fills(trade: TradeDraft, columns: dict[str, Any]) -> str | None:
    """Return the fills as JSON, in agreement with the other columns. None if these state them."""
    stated = state_fills(columns)
    fills = trade.fills
    if not trade.is_scaled:
        known = {fill.side: fill for fill in fills}
        fills = tuple(
            fill._replace(id=one.id, external_id=one.external_id, fees=one.fees)
            if (one := known.get(fill.side))
            else fill
            for fill in stated
        )
    missing = columns["fees"] - sum(fill.fees for fill in fills)
    fills = (fills[0]._replace(fees=fills[0].fees + missing), *fills[1:])
    return None if list(fills) == stated else encode_fills(fills)
