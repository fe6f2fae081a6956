"""Whether two trades were open at the same time."""

from typing import Any

EVER = "9999"


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
