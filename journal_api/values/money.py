"""Exact amounts: integers of 10^-8 in the database, JSON numbers in requests and responses (DECISIONS 9)."""

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

from msgspec import Raw
from msgspec.json import Encoder

# For structs whose amounts are JSON numbers.
ENCODER = Encoder(decimal_format="number")
SCALE = 10**8
MAX_AMOUNT = 10**10
MAX_TOLERANCE = 10**6
MAX_STORED = 2**63 - 1
OUT_OF_RANGE = "out_of_range"
# Precise enough for the product of three amounts, so that only `units` rounds.
EXACT = Context(prec=100, rounding=ROUND_HALF_EVEN)


Rule = tuple[Callable[[Decimal], bool], str]  # whether an amount is allowed, and else the reason


class Money(Decimal):
    """An amount, price, quantity or ratio: at most 15 significant digits, 8 decimals, magnitude 10^10.

    JSON numbers are parsed as doubles, so digits are counted in the shortest decimal that equals the double.
    Up to 15 digits that is the number in the request.
    """

    digits: ClassVar[int] = 15
    rules: ClassVar[tuple[Rule, ...]] = ()
    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "minimum": -MAX_AMOUNT, "maximum": MAX_AMOUNT}

    @classmethod
    def decode(cls, value: object) -> Self:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("must be a number")
        return cls.checked(Decimal(repr(value)) if abs(value) <= MAX_AMOUNT else Decimal(MAX_AMOUNT + 1))

    @classmethod
    def checked(cls, value: Decimal) -> Self:
        """Return the value as this type. Raises ValueError with the reason if it exceeds a limit."""
        if not value.is_finite() or abs(value) > MAX_AMOUNT:
            raise ValueError("must be between -10000000000 and 10000000000")
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int), "finite"
        if len(digits) > cls.digits or exponent < -8:
            # Trailing zeros do not count.
            zeros = next((number for number, digit in enumerate(reversed(digits)) if digit), 0)
            if value and (len(digits) - zeros > cls.digits or exponent + zeros < -8):
                raise ValueError(f"must have at most {cls.digits} significant digits and 8 decimals")
        for allows, reason in cls.rules:
            if not allows(value):
                raise ValueError(reason)
        amount = cls(value)
        amount.__dict__["units"] = int(value.scaleb(8))
        return amount

    @cached_property  # set by `checked` and `of_units`, because cached_property acquires a lock
    def units(self) -> int:
        """The amount as an integer of 10^-8; exact, because an amount has at most 8 decimals."""
        return int(self.scaleb(8))

    @classmethod
    def of_units(cls, units: int) -> Self:
        """Return the amount of so many units of 10^-8 without checking its limits."""
        amount = cls(f"{units}E-8")
        amount.__dict__["units"] = units
        return amount


def rounded(value: Decimal, digits: int) -> Decimal:
    """Return the value rounded half to even to eight decimals and `digits` significant digits."""
    last_place = max(-8, value.adjusted() + 1 - digits)
    _, _, exponent = value.as_tuple()
    if abs(value) > MAX_AMOUNT or not isinstance(exponent, int) or exponent >= last_place:
        return value
    return value.quantize(Decimal((0, (1,), last_place)), context=EXACT)


class PositiveMoney(Money):
    """A Money greater than zero."""

    rules: ClassVar[tuple[Rule, ...]] = ((lambda amount: amount > 0, "must be greater than 0"),)
    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_AMOUNT}


class UnsignedMoney(Money):
    """A Money that is not negative."""

    rules = ((lambda amount: amount >= 0, "must not be below 0"),)
    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "minimum": 0, "maximum": MAX_AMOUNT}


class Tolerance(Money):
    """A Money that says how far from 0 still counts as 0."""

    rules = ((lambda amount: 0 <= amount <= MAX_TOLERANCE, f"must be between 0 and {MAX_TOLERANCE}"),)
    json_schema: ClassVar[dict[str, Any]] = {"type": "number", "minimum": 0, "maximum": MAX_TOLERANCE}


ZERO, ONE = Money(0), PositiveMoney(1)


class Result(Money):
    """A Money that may be computed from other amounts: up to 19 digits, as many as 64 bits hold."""

    digits = 19


class PositiveResult(PositiveMoney):
    """A Result greater than zero."""

    digits = 19


def units(value: Decimal) -> int:
    return int(EXACT.to_integral_value(EXACT.multiply(value, Decimal(SCALE))))


def from_units(amount: int) -> Decimal:
    return EXACT.divide(Decimal(amount), Decimal(SCALE))


def shown(amount: int) -> Decimal | None:
    """Return the decimal value of an integer of 10^-8, None for one that does not fit into 64 bits."""
    return from_units(amount) if abs(amount) <= MAX_STORED else None


def format_money(value: Decimal) -> str:
    """Return the amount with two decimals, or as many as it needs not to look like nothing."""
    whole, _, decimals = f"{shorten(value):f}".partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}"


def shorten(value: Decimal) -> Decimal:
    """Return the value with at most two decimals, unless that is 0: a mean has eight."""
    short = round(value, 2)
    return short if short and short != value else value


def quotient(numerator: int, denominator: int) -> int:
    """Return the quotient of two integers, rounded half to even.

    Six times as fast as `round(Fraction(...))`, and called for every row of a file and decision of a report.
    """
    floor, rest = divmod(numerator, denominator)
    # The rest has the sign of the denominator.
    twice, whole = abs(2 * rest), abs(denominator)
    return floor + (twice > whole or (twice == whole and floor % 2 == 1))


def ratio(numerator: int, denominator: int) -> int:
    """Return the quotient as an integer of 10^-8, rounded half to even."""
    return quotient(numerator * SCALE, denominator)


def share_of(amount: int, percentage: int | None) -> int:
    """Return that percentage of an amount, rounded half to even; None is all of it."""
    return amount if percentage is None else quotient(amount * percentage, 100 * SCALE)


def json_number(column: str) -> str:
    """Return an SQL expression for an amount as a JSON number with all its digits; NULL becomes null."""
    return (
        f"json(CASE WHEN {column} IS NULL THEN 'null' ELSE rtrim(rtrim(printf('%s%d.%08d',"
        f" iif({column} < 0, '-', ''), abs({column} / {SCALE}), abs({column} % {SCALE})), '0'), '.') END)"
    )


@lru_cache(maxsize=8192)  # an import writes each price several times
def json_text(amount: int) -> str:
    """Return an amount as a JSON number with all its digits, like `json_number` in SQL."""
    whole, decimals = divmod(abs(amount), SCALE)
    return f"{'-' if amount < 0 else ''}{whole}.{decimals:08d}".rstrip("0").rstrip(".")


def decimal_json(amount: int | None) -> Raw | None:
    """Return an amount as a JSON number for an encoder, None for None."""
    return None if amount is None else Raw(json_text(amount).encode())


def sql_ratio(numerator: int | str | None, denominator: int | str | None) -> int | str | None:
    """Return `ratio` for SQL: None if an argument is, or beyond 10^10; OUT_OF_RANGE if an argument is that."""
    if numerator is None or denominator is None:
        return None
    if isinstance(numerator, str) or isinstance(denominator, str):
        return OUT_OF_RANGE
    value = ratio(numerator, denominator)
    return value if abs(value) <= MAX_AMOUNT * SCALE else None


class SumOfIntegers:
    """An aggregate function of SQL: the sum of integers in text, as text because of its size."""

    def __init__(self) -> None:
        self.sum = 0

    def step(self, value: str | int | None, /) -> None:
        self.sum += int(value or 0)

    def finalize(self) -> Any:
        return str(self.sum)


class SumOrOutOfRange:
    """SQL's sum(), or OUT_OF_RANGE beyond 64 bits, where sum() fails, and of anything that is OUT_OF_RANGE."""

    def __init__(self) -> None:
        self.sum: int | None = None
        self.is_out_of_range = False

    def step(self, value: int | str | None, /) -> None:
        if isinstance(value, str):
            self.is_out_of_range = True
        elif value is not None:
            self.sum = (self.sum or 0) + value

    def finalize(self) -> Any:
        if self.is_out_of_range or not -(2**63) <= (self.sum or 0) < 2**63:
            return OUT_OF_RANGE
        return self.sum
