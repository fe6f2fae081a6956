"""Exact money: the limits of docs/api.md#values, and no float on the way out."""

import sqlite3
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from proofs import max_examples
from saved_journals import for_rows

from journal_api.values import money

quick = max_examples(full=300, ci=80)
ONE = 10**8
MAX_UNITS = 10**10 * ONE
int64 = st.integers(-(2**63), 2**63 - 1)
CONNECTION = sqlite3.connect(":memory:", check_same_thread=False)


def decoded(sent: str) -> money.Money:
    """What a JSON number becomes in a body."""

    class Body(msgspec.Struct):
        amount: money.Money

    def hook(kind: Any, value: object) -> object:
        return kind.decode(value)

    return msgspec.json.decode(f'{{"amount": {sent}}}', type=Body, dec_hook=hook).amount


def in_sql(expression: str, value: int | None) -> Any:
    ((written,),) = CONNECTION.execute(f"SELECT {expression} FROM (SELECT ? AS amount)", (value,)).fetchall()
    return written


def digits_of(value: Decimal) -> int:
    return len(value.normalize().as_tuple().digits)


@given(st.integers(-MAX_UNITS, MAX_UNITS))
@quick
@example(MAX_UNITS)
@example(-MAX_UNITS)
@example(1)
@example(-1)
@example(123456712345678)
@example(999999999999999)
def test_up_to_15_digits_and_8_decimals_an_amount_is_exactly_what_was_sent(amount: int) -> None:
    sent = Decimal(amount).scaleb(-8)
    if digits_of(sent) > 15:
        sent = Decimal(f"{sent:.14e}")

    kept = decoded(f"{sent:f}")

    assert kept == sent == money.Money.checked(Decimal(f"{sent:.20f}"))
    assert kept.units == Fraction(sent) * ONE


@given(st.integers(10**15, 10**18 - 1).filter(lambda digits: digits % 10 != 0), st.booleans())
@quick
def test_16_significant_digits_are_refused(digits: int, negative: bool) -> None:
    sixteen = Decimal(int(str(digits)[:15] + "1") * (-1 if negative else 1)).scaleb(-8)
    assert digits_of(sixteen) == 16

    with pytest.raises(ValueError, match="15 significant digits"):
        money.Money.checked(sixteen)


@for_rows(
    "texts, reason",
    [
        ("0.123456789 1e-9 -1e-9 0.000000001 100.000000001 1e-300", "8 decimals"),
        ("10000000000.1 -10000000000.1 10000000001 1e11 -1e11 1e308 " + "9" * 400, "between"),
        ("1e400 -1e400 NaN Infinity 01 +1 .5 5. 0x1 1_0", None),
        ('"5" true false null [] {}', "must be a number"),
    ],
)
def test_a_number_is_refused_with_its_reason(texts: str, reason: str | None) -> None:
    for sent in texts.split():
        with pytest.raises(msgspec.ValidationError if reason else msgspec.DecodeError, match=reason):
            decoded(sent)


@for_rows(
    "texts, amount",
    [
        ("0 -0 0.0 -0.0 1e-400 0e9", 0),
        ("1e2 100 100.0 1.00E+2 10000e-2 100.00000000000000", 100 * ONE),
        ("1234567.12345678 1234567.123456780", 123456712345678),
    ],
)
def test_spellings_of_one_number_are_one_amount(texts: str, amount: int) -> None:
    assert {decoded(sent).units for sent in texts.split()} == {amount}


@for_rows("value", [0, -0.0, -1, -0.00000001])
def test_a_positive_amount_is_over_zero(value: float) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        money.PositiveMoney.decode(value)
    assert money.PositiveMoney.decode(0.00000001).units == 1


@for_rows(
    "value, expected",
    [("0.000000005", 0), ("0.000000015", 2), ("0.000000025", 2), ("-0.000000015", -2), ("-0.000000005", 0)],
)
def test_units_are_rounded_half_to_even(value: str, expected: int) -> None:
    assert money.units(Decimal(value)) == expected


@given(int64)
@quick
def test_units_and_back_is_the_same_amount(amount: int) -> None:
    assert money.units(money.from_units(amount)) == amount
    assert Fraction(money.from_units(amount)) == Fraction(amount, ONE)


@given(int64, int64.filter(bool))
@quick
@example(10**18, 10**8)
@example(10**18 + 1, 10**8)
@example(-(10**18), 10**8)
@example(2**63 - 1, 1)
@example(-(2**63), -1)
def test_a_ratio_in_sql_is_exact_or_null_over_ten_milliards(numerator: int, denominator: int) -> None:
    exact = money.ratio(numerator, denominator)

    in_sql = money.sql_ratio(numerator, denominator)

    assert in_sql == (exact if abs(exact) <= MAX_UNITS else None)


@for_rows("numerator, denominator", [(None, 1), (1, None), (None, None)])
def test_a_ratio_of_nothing_is_null(numerator: int | None, denominator: int | None) -> None:
    assert money.sql_ratio(numerator, denominator) is None


@given(int64 | st.integers(-(10**10), 10**10))
@quick
@example(-(2**63))
@example(-(2**63) + 1)
@example(2**63 - 1)
@example(0)
@example(-1)
@example(1)
@example(-ONE)
@example(-ONE + 1)
@example(10 * ONE)
@example(100)
def test_sql_and_python_write_the_same_exact_number(amount: int) -> None:
    in_python = money.json_text(amount)
    from_sql = in_sql(money.json_number("amount"), amount)

    assert from_sql == in_python
    assert in_sql(f"json_object('amount', {money.json_number('amount')})", amount) == f'{{"amount":{in_python}}}'
    assert in_python == f"{Decimal(amount).scaleb(-8):f}".rstrip("0").rstrip(".")
    assert msgspec.json.decode(in_python, type=Decimal) == Decimal(amount).scaleb(-8)


def test_no_amount_is_null() -> None:
    assert in_sql(money.json_number("amount"), None) == "null"


@for_rows(
    "value, shown",
    [("1.68553459", "1.69"), ("-285.71428571", "-285.71"), ("0.00000001", "0.00000001"), ("2", "2.00"), ("0", "0.00")],
)
def test_an_amount_is_shown_with_two_decimals_unless_it_would_look_like_nothing(value: str, shown: str) -> None:
    assert money.format_money(Decimal(value)) == shown
