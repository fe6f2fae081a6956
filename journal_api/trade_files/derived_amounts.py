"""Amounts that are computed from other amounts of a row."""

from decimal import Decimal
from functools import lru_cache

from journal_api.errors import ValidationFailed
from journal_api.values.money import EXACT, ONE, PositiveMoney, Result


def multiplier_of(points: Decimal, quantity: Decimal, gross_pnl: Decimal) -> PositiveMoney:
    """Return the value of a point, computed from the P&L; 1 if it cannot be computed."""
    if not points:
        return ONE
    value = EXACT.divide(gross_pnl, EXACT.multiply(points, quantity))
    try:
        return PositiveMoney.checked(value.quantize(Decimal("0.00000001"), context=EXACT))
    except ValueError:
        return ONE


@lru_cache(maxsize=8192)  # the costs of fills repeat
def derived(column: str, how: str, value: Decimal) -> Result:
    """Return an amount computed from several cells. Raises ValidationFailed if it exceeds a limit."""
    try:
        return Result.checked(value)
    except ValueError as error:
        raise ValidationFailed(fields={column: f"{how} {error}"}) from None
