"""Dates and times in cells, in the forms that files of the generic formats and of platforms have."""

import re
from functools import lru_cache, partial
from typing import Literal, get_args

from journal_api.values.timestamps import Timestamp

DateOrder = Literal["month", "day"]  # which of the two is first
DATE = re.compile(
    r"(?P<year>[0-9]{4})([-/.])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})"
    r"|(?P<first>[0-9]{1,2})([-/.])(?P<second>[0-9]{1,2})\6(?P<last>[0-9]{4}|[0-9]{2})"
)
NOT_A_TIME = "must be a date such as 2026-04-09 or 04/09/2026 and a time such as 15:38:40"
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,6})?)?(?: ?([AaPp])\.?[Mm]\.?)?")


def timestamp(date: str, clock: str, order: DateOrder | None = None) -> Timestamp:
    """Return a local time.

    The date has the year first, or day and month in that order; without one the month is first, unless there
    are points between them. The time has 24 hours, or AM and PM.
    """
    clock_match = CLOCK.fullmatch(clock)
    if not clock_match:
        raise ValueError(NOT_A_TIME)
    day = iso_day(date, order)
    hour, minute, second, fraction, half = clock_match.groups()
    if half:
        if not 1 <= int(hour) <= 12:
            raise ValueError("must have an hour from 1 to 12 before AM and PM")
        hour = str(int(hour) % 12 + 12 * (half in "Pp"))
    return Timestamp.in_form(f"{day}T{hour:0>2}:{minute}:{second or '00'}{fraction or ''}")


@lru_cache(maxsize=4096)  # a day has many trades
def iso_day(text: str, order: DateOrder | None) -> str:
    """Return a date as 2026-04-09, even if there is no such day. Raises ValueError for a month over 12."""
    date = DATE.fullmatch(text)
    if not date or (order is None and date["last"] and "." in text):
        raise ValueError(NOT_A_TIME)
    if date["year"]:
        return f"{date['year']}-{date['month']:0>2}-{date['day']:0>2}"
    month, day = (date["second"], date["first"]) if order == "day" else (date["first"], date["second"])
    if order and int(month) > 12:
        raise ValueError(
            f"has no month {month}: other dates of the file have day and month the other way round"
        )
    century = "20" if len(date["last"]) == 2 else ""
    return f"{century}{date['last']}-{month:0>2}-{day:0>2}"


def date_and_clock(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return date and time of one cell: 04/09/2026 15:38:40, 1/2/2024 9:30:01 AM, 2024.01.02 15:04."""
    date, _, clock = cell.replace("T", " ").partition(" ")
    return timestamp(date, clock.strip(), order)


def midnight(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return midnight of a date."""
    return timestamp(cell, "00:00", order)


ORDERS: tuple[DateOrder | None, ...] = (None, *get_args(DateOrder))
TIMES = {order: partial(date_and_clock, order=order) for order in ORDERS}
DAYS = {order: partial(midnight, order=order) for order in ORDERS}
