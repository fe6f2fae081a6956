"""Exact amounts: integers of 10^-8 inside, JSON numbers at the edge (DECISIONS 9)."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar, Self

SCALE = 10**8
LARGEST = 10**10
# Wide enough for the product of three amounts: nothing is rounded before `units` rounds it.
EXACT = Context(prec=100, rounding=ROUND_HALF_EVEN)


class Money(Decimal):
    """An amount, price, quantity or ratio: at most 15 significant digits, 8 decimals, magnitude 10^10.

    JSON numbers arrive as doubles, so the digits counted are those of the shortest decimal that means
    the same double. Up to 15 of them that is exactly what was sent.
    """

    digits: ClassVar[int] = 15
    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if isinstance(sent, bool) or not isinstance(sent, int | float):
            raise ValueError("must be a number")
        return cls.checked(Decimal(repr(sent)) if abs(sent) <= LARGEST else Decimal(LARGEST + 1))

    @classmethod
    def checked(cls, value: Decimal) -> Self:
        """The same value if it keeps the limits; ValueError with the reason if not."""
        if not value.is_finite() or abs(value) > LARGEST:
            raise ValueError("must be between -10000000000 and 10000000000")
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int), "finite"
        if len(digits) > cls.digits or exponent < -8:
            # Zeros at the end count for nothing, however many were written.
            zeros = next((number for number, digit in enumerate(reversed(digits)) if digit), 0)
            if value and (len(digits) - zeros > cls.digits or exponent + zeros < -8):
                raise ValueError(f"must have at most {cls.digits} significant digits and 8 decimals")
        return cls(value)

    @property
    def units(self) -> int:
        """The amount in 10^-8, which it has no decimals beyond."""
        return int(self.scaleb(8))


class PositiveMoney(Money):
    """A Money over zero."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST}

    @classmethod
    def checked(cls, value: Decimal) -> Self:
        amount = super().checked(value)
        if amount <= 0:
            raise ValueError("must be over 0")
        return amount


class Result(Money):
    """A Money that may follow from others, and so have all the digits that can be stored."""

    digits = 19


class PositiveResult(PositiveMoney):
    digits = 19


def units(value: Decimal) -> int:
    """The value in 10^-8, rounded half to even."""
    return int(EXACT.to_integral_value(EXACT.multiply(value, Decimal(SCALE))))


def from_units(amount: int) -> Decimal:
    return EXACT.divide(Decimal(amount), Decimal(SCALE))


def ratio(numerator: int, denominator: int) -> int:
    """The quotient in 10^-8, rounded half to even."""
    return round(Fraction(numerator * SCALE, denominator))


def json_number(column: str) -> str:
    """The SQL that writes an amount as a JSON number, every digit of it, and NULL as null."""
    return (
        f"json(CASE WHEN {column} IS NULL THEN 'null' ELSE rtrim(rtrim(printf('%s%d.%08d',"
        f" iif({column} < 0, '-', ''), abs({column} / {SCALE}), abs({column} % {SCALE})), '0'), '.') END)"
    )


def json_text(amount: int) -> str:
    """The amount as a JSON number, every digit of it: what `json_number` does, in Python."""
    whole, decimals = divmod(abs(amount), SCALE)
    return f"{'-' if amount < 0 else ''}{whole}.{decimals:08d}".rstrip("0").rstrip(".")


def sql_ratio(numerator: int | None, denominator: int | None) -> int | None:
    """`ratio` for SQL: null for a null, and for a quotient over 10^10."""
    if numerator is None or denominator is None:
        return None
    quotient = ratio(numerator, denominator)
    return quotient if abs(quotient) <= LARGEST * SCALE else None
