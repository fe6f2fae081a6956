"""Trades: what the record holds, and what follows from the prices (DECISIONS 11)."""

from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct

from journal_api.errors import ValidationFailed
from journal_api.money import EXACT, Money, PositiveMoney, from_units, units
from journal_api.values import Name40, Name100, RowId, Text, Timestamp

Direction = Literal["long", "short"]
Grade = Literal["A+", "A", "B", "C", "D", "F"]


class TradeCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """A trade as it is written down. It is open while `closed_at` is null.

    Left out, `gross_pnl` of a closed trade follows from the prices, and `initial_risk` from the stop.
    """

    account_id: RowId
    symbol: Name40
    direction: Direction
    quantity: PositiveMoney
    multiplier: PositiveMoney = PositiveMoney(1)
    entry_price: Money
    exit_price: Money | None = None
    stop_loss: Money | None = None
    opened_at: Timestamp
    closed_at: Timestamp | None = None
    gross_pnl: Money | None = None
    fees: Money = Money(0)
    initial_risk: PositiveMoney | None = None
    grade: Grade | None = None
    strategy_id: RowId | None = None
    setup_id: RowId | None = None
    source_trade_id: RowId | None = None
    external_id: Name100 | None = None
    notes: Text | None = None

    def __post_init__(self) -> None:
        if self.closed_at is None:
            for field in ("exit_price", "gross_pnl"):
                if getattr(self, field) is not None:
                    raise ValidationFailed(fields={field: "belongs to a closed trade; closed_at is missing"})
        elif self.gross_pnl is None:
            if self.exit_price is None:
                raise ValidationFailed(fields={"exit_price": "is required when gross_pnl is left out"})
            self.gross_pnl = self._earned(self.exit_price, "gross_pnl")
        if self.initial_risk is None and self.stop_loss is not None:
            risked = -self._earned(self.stop_loss, "initial_risk")
            # A stop that locks in a profit risks nothing, so it says nothing of the risk at the start.
            self.initial_risk = PositiveMoney(risked) if risked > 0 else None

    def _earned(self, price: Decimal, field: str) -> Money:
        """What leaving at that price earns, to eight decimals; raises ValidationFailed for `field`."""
        points = EXACT.subtract(price, self.entry_price)
        size = EXACT.multiply(self.quantity, self.multiplier)
        earned = from_units(units(EXACT.multiply(points if self.direction == "long" else -points, size)))
        if abs(earned) > 10**10:
            raise ValidationFailed(fields={field: "as it follows from the prices is over 10000000000"})
        return Money(earned)

    def columns(self, timezone: str) -> dict[str, Any]:
        """What is stored of it; times without an offset are read in `timezone`.

        Raises ValidationFailed when it closes before it opens.
        """
        opened_at = self.opened_at.stored(timezone)
        closed_at = self.closed_at.stored(timezone) if self.closed_at else None
        if closed_at and closed_at < opened_at:
            raise ValidationFailed(fields={"closed_at": "must not be before opened_at"})
        columns = {field: getattr(self, field) for field in self.__struct_fields__}
        amounts = {field: value.units for field, value in columns.items() if isinstance(value, Money)}
        return {**columns, **amounts, "opened_at": opened_at, "closed_at": closed_at}
