"""Results of trades: exact products of the amounts, rounded half to even once."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal_api.errors import ValidationFailed
from journal_api.rules.trade_draft import TradeDraft
from journal_api.values.money import EXACT, LARGEST, Money, PositiveMoney, from_units, quotient, units
from journal_api.values.timestamps import Timestamp

amounts = st.decimals(-LARGEST, LARGEST, places=5).map(lambda value: Money(round(value, 3)))
HALF = {"entry": Money(0), "quantity": PositiveMoney("0.5"), "multiplier": PositiveMoney(1), "is_long": True}
sizes = st.decimals(Decimal("0.00000001"), 10_000_000, places=8).map(PositiveMoney)


@settings(max_examples=500)
@given(st.integers(), st.integers().filter(bool))
@example(1, 2)
@example(3, 2)
@example(-1, 2)
@example(3, -2)
def test_a_quotient_is_rounded_half_to_even(numerator: int, denominator: int) -> None:
    assert quotient(numerator, denominator) == round(Fraction(numerator, denominator))


@settings(max_examples=500)
@given(amounts, amounts, sizes, sizes, st.booleans())
@example(leave=Money("0.00000001"), **HALF)
@example(leave=Money("0.00000003"), **HALF)
@example(leave=Money("-0.00000003"), **HALF)
def test_a_result_is_the_exact_product_rounded_half_to_even(
    entry: Money, leave: Money, quantity: PositiveMoney, multiplier: PositiveMoney, is_long: bool
) -> None:
    trade = TradeDraft(
        symbol="ES",
        direction="long" if is_long else "short",
        quantity=quantity,
        multiplier=multiplier,
        entry_price=entry,
        exit_price=leave,
        opened_at=Timestamp(2026, 1, 5),
        closed_at=Timestamp(2026, 1, 5),
    )
    points = EXACT.subtract(leave, entry) if is_long else EXACT.subtract(entry, leave)
    expected = from_units(units(EXACT.multiply(points, EXACT.multiply(quantity, multiplier))))

    try:
        assert trade.with_result().gross_pnl == expected
    except ValidationFailed:
        assert abs(expected) > LARGEST
