"""What files say only through other amounts."""

from decimal import Decimal

from journal_api.errors import ValidationFailed
from journal_api.values.money import EXACT, PositiveMoney, Result


def multiplier_of(points: Decimal, quantity: Decimal, gross_pnl: Decimal) -> PositiveMoney:
    """The value of a point, which the file says only through the P/L; 1 when the two do not tell it."""
    if not points:
        return PositiveMoney(1)
    value = EXACT.divide(gross_pnl, EXACT.multiply(points, quantity))
    try:
        return PositiveMoney.checked(value.quantize(Decimal("0.00000001"), context=EXACT))
    except ValueError:
        return PositiveMoney(1)


def derived(column: str, how: str, value: Decimal) -> Result:
    """An amount made of several cells; raises ValidationFailed for one beyond the limits."""
    try:
        return Result.checked(value)
    except ValueError as error:
        raise ValidationFailed(fields={column: f"{how} {error}"}) from None
