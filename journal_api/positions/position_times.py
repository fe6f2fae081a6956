"""Compares the times and prices of two trades: whether they overlap, or are one in two formats."""

from datetime import datetime
from typing import Any

EVER = "9999"
# Seconds between the times of one fill in two formats: some have no fractions, some the time of the order.
MAX_DIFFERENCE = 2
# Seconds between the time of a fill and the time that a trader types, without seconds.
MAX_ROUNDING = 60
# Prices of two formats agree if they differ by less than this part of the price: averages are rounded.
PRICE_PARTS = 10_000
# Seconds by which time zones differ, or a multiple of them.
QUARTER = 900


def overlaps(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two trades were open at the same time."""
    return bool(
        other["opened_at"] < (one["closed_at"] or EVER) and one["opened_at"] < (other["closed_at"] or EVER)
    )


def meets(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two trades overlap, or one opened in the instant in which the other closed."""
    return bool(
        other["opened_at"] <= (one["closed_at"] or EVER) and one["opened_at"] <= (other["closed_at"] or EVER)
    )


def is_within(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether a closed trade is within another, also if it closed as it opened."""
    times = one["opened_at"], one["closed_at"]
    return all(time and other["opened_at"] <= time <= (other["closed_at"] or time) for time in times)


def is_same_position(one: dict[str, Any], other: dict[str, Any], seconds: int = MAX_DIFFERENCE) -> bool:
    """Return whether two formats tell of one position, with times that differ by so many seconds at most."""
    if any(one[name] != other[name] for name in ("direction", "quantity")):
        return False
    if (one["closed_at"] is None) != (other["closed_at"] is None):
        return False
    return all(is_near(one[name], other[name], seconds) for name in ("opened_at", "closed_at")) and all(
        is_near_price(one[name], other[name]) for name in ("entry_price", "exit_price")
    )


def is_shifted(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two closed positions differ by quarters of an hour alone, as time zones do."""
    times = [one["opened_at"], other["opened_at"], one["closed_at"], other["closed_at"]]
    if None in times or any(one[name] != other[name] for name in ("direction", "quantity")):
        return False
    begin, other_begin, end, other_end = map(datetime.fromisoformat, times)
    opened, closed = ((a - b).total_seconds() for a, b in ((begin, other_begin), (end, other_end)))
    quarters = round(opened / QUARTER)
    return (
        quarters != 0
        and abs(opened - quarters * QUARTER) <= MAX_DIFFERENCE
        and abs(opened - closed) <= MAX_DIFFERENCE
        and all(is_near_price(one[name], other[name]) for name in ("entry_price", "exit_price"))
    )


def is_near(one: str | None, other: str | None, seconds: int = MAX_DIFFERENCE) -> bool:
    if one is None or other is None:
        return one == other
    difference = datetime.fromisoformat(one) - datetime.fromisoformat(other)
    return abs(difference.total_seconds()) <= seconds


def is_near_price(one: int | None, other: int | None) -> bool:
    if one is None or other is None:
        return True  # a result without a price
    return abs(one - other) * PRICE_PARTS <= max(abs(one), abs(other))
