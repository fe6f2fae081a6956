"""Dates and times in cells, and the order of day and month in a file, which files do not state."""

import re
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Literal, NamedTuple, get_args

from journal_api.trade_files.amounts import Comma
from journal_api.values.timestamps import Timestamp

DateOrder = Literal["month", "day"]  # which of the two is first
# The number of rows that are searched for a number over 12.
ROWS_SEARCHED = 5000
DATE = re.compile(
    r"(?P<year>[0-9]{4})([-/.])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})"
    r"|(?P<first>[0-9]{1,2})([-/.])(?P<second>[0-9]{1,2})\6(?P<last>[0-9]{4}|[0-9]{2})"
)
DAY_AND_MONTH = re.compile(
    r"(?P<first>[0-9]{1,2})(?P<separator>[-/.])(?P<second>[0-9]{1,2})(?P=separator)"
    r"(?:[0-9]{4}|[0-9]{2})(?![0-9])"
)
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,6})?)?(?: ?([AaPp])\.?[Mm]\.?)?")
NOT_A_TIME = "must be a date such as 2026-04-09 or 04/09/2026 and a time such as 15:38:40"


class FileDates(NamedTuple):
    """The order of day and month in a file, None if no date of it needs one, and the reason for it.

    `stated`: by whoever imports the file; `file`: by a number over 12; `assumed`: the file does not tell.
    """

    order: DateOrder | None = None
    source: Literal["stated", "file", "assumed"] | None = None


def find_date_order(cells: Iterable[str], comma: Comma, *, is_local: bool) -> FileDates:
    """Return the order of day and month for all dates of a file.

    Without a number over 12 the day is first in dates with points and, in a file whose dates follow the
    settings of a computer (`is_local`), in dates with dashes and in files with semicolons.
    """
    dates = [date for cell in cells if (date := DAY_AND_MONTH.match(cell.strip()))]
    if not dates:
        return FileDates()
    if any(int(date["first"]) > 12 for date in dates):
        return FileDates("day", "file")
    if any(int(date["second"]) > 12 for date in dates):
        return FileDates("month", "file")
    separators = {date["separator"] for date in dates}
    if "." in separators or (is_local and (comma == "decimals" or "-" in separators)):
        return FileDates("day", "assumed")
    return FileDates("month", "assumed")


def parse_time(date: str, clock: str, order: DateOrder | None = None) -> Timestamp:
    """Return a local time. Raises ValueError.

    The date has the year first, or day and month in that order; without an order the month is first, unless
    there are points between them. The time has 24 hours, or AM and PM.
    """
    match = CLOCK.fullmatch(clock)
    if not match:
        raise ValueError(NOT_A_TIME)
    day = parse_day(date, order)
    hour, minute, second, fraction, half = match.groups()
    if half:
        if not 1 <= int(hour) <= 12:
            raise ValueError("must have an hour from 1 to 12 before AM and PM")
        hour = str(int(hour) % 12 + 12 * (half in "Pp"))
    return Timestamp.in_form(f"{day}T{hour:0>2}:{minute}:{second or '00'}{fraction or ''}")


@lru_cache(maxsize=4096)  # a day has many trades
def parse_day(text: str, order: DateOrder | None) -> str:
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


def parse_date_and_clock(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return date and time of one cell: 04/09/2026 15:38:40, 1/2/2024 9:30:01 AM, 2024.01.02 15:04."""
    date, _, clock = cell.replace("T", " ").partition(" ")
    return parse_time(date, clock.strip(), order)


def parse_midnight(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return midnight of a date."""
    return parse_time(cell, "00:00", order)


# The readers of cells by order; one function for each order, because the values of cells are cached by it.
ORDERS: tuple[DateOrder | None, ...] = (None, *get_args(DateOrder))
TIMES = {order: partial(parse_date_and_clock, order=order) for order in ORDERS}
DAYS = {order: partial(parse_midnight, order=order) for order in ORDERS}
