"""Results of trades, exact products rounded half to even once; multipliers and commissions."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from proofs import max_examples

from journal_api.errors import ValidationFailed
from journal_api.positions.commissions import Commissions
from journal_api.positions.trade_draft import TradeDraft
from journal_api.values.money import EXACT, MAX_AMOUNT, SCALE, Money, PositiveMoney, from_units, quotient, units
from journal_api.values.timestamps import Timestamp

amounts = st.decimals(-MAX_AMOUNT, MAX_AMOUNT, places=5).map(lambda value: Money(round(value, 3)))
HALF = {"entry": Money(0), "quantity": PositiveMoney("0.5"), "multiplier": PositiveMoney(1), "is_long": True}
sizes = st.decimals(Decimal("0.00000001"), 10_000_000, places=8).map(PositiveMoney)
prices = st.decimals(-10_000, 10_000, places=4).map(Money)
quantities = st.decimals("0.001", 1000, places=3).map(PositiveMoney)
multipliers = st.sampled_from(["0.1", "0.5", "1", "2", "50", "12500000"]).map(PositiveMoney)


def trade(quantity: PositiveMoney, entry: Money, exit_price: Money) -> TradeDraft:
    """A long with multiplier 1."""
    at = Timestamp(2026, 1, 5)
    return TradeDraft(
        symbol="X",
        direction="long",
        quantity=quantity,
        entry_price=entry,
        exit_price=exit_price,
        opened_at=at,
        closed_at=at,
    )


@max_examples(full=500, ci=150)
@given(st.integers(), st.integers().filter(bool))
@example(1, 2)
@example(3, 2)
@example(-1, 2)
@example(3, -2)
def test_a_quotient_is_rounded_half_to_even(numerator: int, denominator: int) -> None:
    assert quotient(numerator, denominator) == round(Fraction(numerator, denominator))


@max_examples(full=500, ci=150)
@given(amounts, amounts, sizes, sizes, st.booleans())
@example(leave=Money("0.00000001"), **HALF)
@example(leave=Money("0.00000003"), **HALF)
@example(leave=Money("-0.00000003"), **HALF)
@example(leave=Money(MAX_AMOUNT), **{**HALF, "quantity": PositiveMoney(1)})
def test_a_result_is_the_exact_product_rounded_half_to_even(
    entry: Money, leave: Money, quantity: PositiveMoney, multiplier: PositiveMoney, is_long: bool
) -> None:
    traded = replace(trade(quantity, entry, leave), multiplier=multiplier)
    traded = traded if is_long else replace(traded, direction="short")
    points = EXACT.subtract(leave, entry) if is_long else EXACT.subtract(entry, leave)
    expected = from_units(units(EXACT.multiply(points, EXACT.multiply(quantity, multiplier))))

    try:
        assert traded.with_result().gross_pnl == expected
    except ValidationFailed:
        assert abs(expected) > MAX_AMOUNT


@given(quantities, prices, prices, multipliers)
def test_another_multiplier_makes_the_result_that_the_prices_make(
    quantity: PositiveMoney, entry: Money, exit_price: Money, multiplier: PositiveMoney
) -> None:
    plain = trade(quantity, entry, exit_price).with_result()

    try:
        direct = replace(trade(quantity, entry, exit_price), multiplier=multiplier).with_result()
    except ValidationFailed:
        with pytest.raises(ValidationFailed):
            plain.with_multiplier(multiplier)
    else:
        assert plain.with_multiplier(multiplier) == direct


def test_a_result_of_averages_is_scaled() -> None:
    """Two at 100 and one at 101, sold at 102, are 5 points, whatever the rounded average says."""
    average = trade(PositiveMoney(3), Money("100.33333333"), Money(102))
    known = replace(average, gross_pnl=Money(5))

    assert known.with_multiplier(PositiveMoney(50)).gross_pnl == 250


@given(st.integers(1, 10**6), st.integers(0, 10**4), st.booleans())
def test_a_commission_is_quantity_times_amount_times_sides(contracts: int, cents: int, is_open: bool) -> None:
    commissions = Commissions({"MNQ": cents * SCALE // 100, "default": 7 * SCALE})
    fields = {
        "symbol": "MNQU6",
        "quantity": contracts * SCALE,
        "closed_at": None if is_open else "2026-01-05T15:00:00.000000Z",
        "fills": None,
    }

    amount = commissions.compute(fields, is_future=False)

    assert amount is not None
    assert Decimal(amount) / SCALE == Decimal(cents) / 100 * contracts * (1 if is_open else 2)


def test_an_amount_is_that_of_the_root_then_of_the_symbol_then_the_default() -> None:
    commissions = Commissions({"MNQ": 1, "AAPL": 2, "default": 3})

    symbols = ("MNQU6", "/MNQU26", "MNQ", "aapl", "ESU6")
    assert [commissions.charge(symbol, SCALE, is_future=False) for symbol in symbols] == [1, 1, 1, 2, 3]
    assert Commissions({}).charge("MNQU6", SCALE, is_future=False) is None
