"""The quick ways of an import and the plain definitions that they must agree with."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal_api.errors import ValidationFailed
from journal_api.rules.trade_draft import TradeDraft
from journal_api.values.clock import as_text
from journal_api.values.money import EXACT, LARGEST, Money, PositiveMoney, from_units, quotient, units
from journal_api.values.timestamps import Timestamp, written_time

ZONES = (
    *("UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"),
    *("Pacific/Apia", "America/St_Johns", "Africa/Casablanca", "Asia/Kathmandu"),
)
local_times = st.datetimes(datetime(1970, 1, 2), datetime(2200, 12, 30))
offsets = st.one_of(
    st.none(),
    st.builds(lambda minutes: timezone(timedelta(minutes=minutes)), st.integers(-1439, 1439)),
)
amounts = st.decimals(-LARGEST, LARGEST, places=5).map(lambda value: Money(round(value, 3)))
sizes = st.decimals(Decimal("0.00000001"), 10_000_000, places=8).map(PositiveMoney)


@settings(max_examples=500)
@given(local_times, offsets, st.sampled_from(ZONES))
@example(datetime(2026, 3, 29, 2, 30), None, "Europe/Berlin")
@example(datetime(2026, 10, 25, 2, 30), None, "Europe/Berlin")
@example(datetime(2006, 10, 29, 0, 0, 30), None, "America/St_Johns")
@example(datetime(2006, 10, 28, 23, 30), None, "America/St_Johns")
@example(datetime(2026, 4, 5, 1, 45), None, "Australia/Lord_Howe")
def test_a_time_is_stored_as_the_instant_that_its_zone_says(
    local: datetime, offset: timezone | None, zone: str
) -> None:
    time = Timestamp.decode(local.replace(tzinfo=offset).isoformat())

    aware = local.replace(tzinfo=offset or ZoneInfo(zone))
    assert time.stored(zone) == as_text(aware)
    assert written_time(local.replace(tzinfo=offset).isoformat()).stored(zone) == as_text(aware)


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


def test_a_half_of_the_last_digit_is_rounded_to_the_even_digit() -> None:
    def result_of(exit_price: str) -> Decimal | None:
        return (
            TradeDraft(
                symbol="ES",
                direction="long",
                quantity=PositiveMoney("0.5"),
                entry_price=Money(0),
                exit_price=Money(exit_price),
                opened_at=Timestamp(2026, 1, 5),
                closed_at=Timestamp(2026, 1, 5),
            )
            .with_result()
            .gross_pnl
        )

    assert result_of("0.00000001") == 0
    assert result_of("0.00000003") == Decimal("0.00000002")
    assert result_of("-0.00000001") == 0
    assert result_of("-0.00000003") == Decimal("-0.00000002")
