"""Dates and times in cells, in the forms that files of the generic formats and of platforms have."""

import re
from functools import lru_cache, partial
from typing import Literal, get_args

from journal_api.values.timestamps import CLOCKS, HOURS, FileTime, Timestamp, written_time

DateOrder = Literal["month", "day"]  # which of the two is first
DATE = re.compile(
    r"(?P<year>[0-9]{4})([-/.])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})"
    r"|(?P<first>[0-9]{1,2})([-/.])(?P<second>[0-9]{1,2})\6(?P<last>[0-9]{4}|[0-9]{2})"
)
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,6})?)?(?: ?([AaPp])\.?[Mm]\.?)?")


def timestamp(date: str, clock: str, order: DateOrder | None = None) -> Timestamp:
    """Return a local time.

    The date has the year first, or day and month in that order; without one the month is first, unless there
    are points between them. The time has 24 hours, or AM and PM.
    """
    date_match, clock_match = DATE.fullmatch(date), CLOCK.fullmatch(clock)
    if not date_match or not clock_match or (order is None and date_match["last"] and "." in date):
        raise ValueError("must be a date such as 2026-04-09 or 04/09/2026 and a time such as 15:38:40")
    year, month, day = date_parts(date_match, order)
    hour, minute, second, fraction, half = clock_match.groups()
    if half:
        if not 1 <= int(hour) <= 12:
            raise ValueError("must have an hour from 1 to 12 before AM and PM")
        hour = str(int(hour) % 12 + 12 * (half in "Pp"))
    century = "20" if len(year) == 2 else ""
    return Timestamp.decode(
        f"{century}{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute}:{second or '00'}{fraction or ''}"
    )


def date_parts(date: re.Match[str], order: DateOrder | None) -> tuple[str, str, str]:
    """Return year, month and day. Raises ValueError for a month over 12."""
    if date["year"]:
        return date["year"], date["month"], date["day"]
    month, day = (date["second"], date["first"]) if order == "day" else (date["first"], date["second"])
    if order and int(month) > 12:
        raise ValueError(
            f"has no month {month}: other dates of the file have day and month the other way round"
        )
    return date["last"], month, day


def written_date_and_clock(cell: str, order: DateOrder | None = None) -> FileTime:
    """Return what `date_and_clock` does, for a time of 24 hours with seconds without making a datetime."""
    date, _, clock = cell.replace("T", " ").partition(" ")
    if clock[:2] in HOURS and clock[2:] in CLOCKS and (day := day_in(date, order)) is not None:
        return written_time(f"{day}T{clock}")
    return date_and_clock(cell, order)


@lru_cache(maxsize=4096)
def day_in(date: str, order: DateOrder | None) -> str | None:
    """Return the day such as 2026-04-09, None if the text is not a date."""
    try:
        return midnight(date, order).isoformat()[:10]
    except ValueError:
        return None


def date_and_clock(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return date and time of one cell: 04/09/2026 15:38:40, 1/2/2024 9:30:01 AM, 2024.01.02 15:04."""
    date, _, clock = cell.replace("T", " ").partition(" ")
    return timestamp(date, clock.strip(), order)


def midnight(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return midnight of a date."""
    return timestamp(cell, "00:00", order)


ORDERS: tuple[DateOrder | None, ...] = (None, *get_args(DateOrder))
TIMES = {order: partial(written_date_and_clock, order=order) for order in ORDERS}
DAYS = {order: partial(midnight, order=order) for order in ORDERS}
