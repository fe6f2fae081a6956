"""The quick ways of an import and the plain definitions that they must agree with."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from journal_api.errors import ValidationFailed
from journal_api.rules.trade_draft import TradeDraft
from journal_api.values import time_formats
from journal_api.values.clock import as_text
from journal_api.values.money import EXACT, LARGEST, Money, PositiveMoney, from_units, quotient, units
from journal_api.values.time_formats import TimeFormat
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
FORMATS = (
    *("%m/%d/%Y %H:%M:%S %z", "%m/%d/%y %I:%M:%S %p", "%m/%d/%Y %H:%M:%S %p", "%Y-%m-%d, %H:%M:%S"),
    *("%d %b %Y;%H:%M:%S %Z", "%H:%M:%S %d/%m/%Y", "%m-%Y-%d%H:%M:%S", "%Y:%m:%d %H:%M:%S"),
)
PARTS = {
    "Y": ["2026", "226"],
    "y": ["26"],
    "b": ["Mar", "Xyz"],
    "m": ["1", "03", "13"],
    "d": ["8", "30", "01"],
    "H": ["1", "02", "0", "23", "24", "003"],
    "I": ["1", "02", "12", "0", "13"],
    "M": ["00", "59", "60", "5"],
    "S": ["07", "30", "61"],
    "p": ["AM", "p.m.", "x"],
    "z": ["Z", "-05:00", "+0530", "5"],
    "Z": ["EST", "QQQ"],
}
parts_of_times = st.fixed_dictionaries({name: st.sampled_from(texts) for name, texts in PARTS.items()})
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


@settings(max_examples=500)
@given(st.sampled_from(FORMATS), parts_of_times, st.sampled_from([None, ZoneInfo("America/New_York")]))
def test_a_time_in_a_format_is_the_same_with_its_date_remembered(
    time_format: str, parts: dict[str, str], zone: ZoneInfo | None
) -> None:
    text = time_format
    for name, part in parts.items():
        text = text.replace(f"%{name}", part)
    read = TimeFormat.decode(time_format).reader(zone)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_formats, "read_by_day", lambda read, hours: read)
        definition = TimeFormat.decode(time_format).reader(zone)

    assert outcome(read, text) == outcome(read, text) == outcome(definition, text)


def outcome(read: Callable[[str], Timestamp | None], text: str) -> Any:
    """The time that is read and its zone, or why it is refused."""
    try:
        time = read(text)
    except ValueError as error:
        return str(error)
    return time, time and time.tzinfo
