"""Dates and times in cells, and the order of day and month in a file, which files do not state."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache, partial
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from journal_api.trade_files.amounts import Comma
from journal_api.values.time_formats import find_literal_zone
from journal_api.values.timestamps import Timestamp

DateOrder = Literal["month", "day", "year"]  # which of them is first; the year of two digits
# The number of rows that are searched for a number over 12.
ROWS_SEARCHED = 5000
SATURDAY = 5
PLAUSIBLE_AGE = timedelta(days=5 * 366)  # of a file with one day, which can be read as another
# Beginnings of their names, also German, French, Spanish, Italian, Portuguese, Dutch, Danish, Norwegian and Swedish.
MONTHS = """jan ene gen,feb fév fev,mar mär mrt,apr avr abr,may mai mei maj mag,jun juin giu,jul juil lug,
  aug aoû aou ago,sep set,oct okt ott out,nov,dec dez déc des dic"""
MONTH_NUMBERS = {name: number for number, names in enumerate(MONTHS.split(","), 1) for name in names.split()}
NAME = rf"(?P<{{}}>{'|'.join(MONTH_NUMBERS)})[^\W\d_]*\.?"
DATE = re.compile(
    r"(?P<year>[0-9]{4}|1[0-9]{2}(?=[/年]))([-/.年]) ?(?P<month>[0-9]{1,2})(?:\2|月) ?(?P<day>[0-9]{1,2})"
    r"(?:日|\.)?(?![0-9])"
    r"|(?P<first>[0-9]{1,2})([-/.])(?P<second>[0-9]{1,2})\6(?P<last>[0-9]{4}|[0-9]{2})(?![0-9])"
    rf"|(?P<before>[0-9]{{1,2}})(?:[ /-]|\. ?| de )?{NAME.format('name')}(?:[ /-]| de )?"
    r"(?P<after>[0-9]{4}|[0-9]{2})(?![0-9])"
    rf"|{NAME.format('first_name')}[ -](?P<its_day>[0-9]{{1,2}}),?[ -](?P<its_year>[0-9]{{4}})"
    r"|(?P<compact>(?:19|20)[0-9]{6})(?![0-9])",
    re.IGNORECASE,
)
DAY_AND_MONTH = re.compile(
    r"(?P<first>[0-9]{1,2})(?P<separator>[-/.])(?P<second>[0-9]{1,2})(?P=separator)"
    r"(?P<last>[0-9]{4}|[0-9]{2})(?![0-9])"
)
# Hour, minute, second, fraction, half of the day.
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.:,]([0-9]{1,9}))?)?(?: ?([AaPp])\.? ?[Mm]\.?)?")
CLOCK_FIRST = re.compile(rf"{CLOCK.pattern}\s+(?=\S)")
COMPACT_CLOCK = re.compile("([0-9]{2})([0-9]{2})([0-9]{2})()()")
# What stands between a date and its clock.
BETWEEN = re.compile(r"(?:[T;]|,? +(?:(?:-|à|at|um|klo) +)?|,)")
# What may stand behind a time and says nothing of it, as Sierra Chart's BP.
BEHIND = re.compile(r"[BE]P|Uhr|as of .*")
BOOKED = re.compile(r"[0-9/]+ as of (?=[0-9]+/)")  # the day on which Schwab books what happened earlier
ZONE_NAME = re.compile(r"(?<=[0-9]) \([^()]*\)\Z")  # GMT-0700 (Pacific Daylight Time)
US_ZONES = {"ET": "America/New_York", "CT": "America/Chicago", "PT": "America/Los_Angeles"}
# Seconds since 1970, also with milliseconds or microseconds.
UNIX = re.compile(r"(1[0-9]{9})([0-9]{3}|[0-9]{6})?(?:\.[0-9]+)?")
WEEKDAY = re.compile("(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? ", re.IGNORECASE)
NOT_A_TIME = "must be a date such as 2026-04-09 or 04/09/2026 and a time such as 15:38:40"


class FileDates(NamedTuple):
    """The order of day and month in a file, None if no date of it needs one, and the reason for it.

    `stated`: by whoever imports the file; `file`: by a number over 12; `assumed`: the file does not tell; None:
    it must be stated.
    """

    order: DateOrder | None = None
    source: Literal["stated", "file", "assumed"] | None = None


def find_date_order(cells: Iterable[str], comma: Comma, *, is_local: bool) -> FileDates:
    """Return the order of day and month for all dates of a file.

    Without a number over 12 the day is first in dates with points and, in a file whose dates follow the
    settings of a computer (`is_local`), in dates with dashes and in files with semicolons; but dates without
    points have the other order if it makes working days of weekends, or sorts the rows.
    """
    dates = [found for cell in cells if (found := DAY_AND_MONTH.match(CLOCK_FIRST.sub("", cell.strip())))]
    if not dates:
        return FileDates()
    if any("2400" < found["last"] < "2700" and len(found["last"]) == 4 for found in dates):  # of Thailand
        return FileDates("day", "file")
    if any(int(found["first"]) > 12 for found in dates):
        return find_first_year(dates)
    if any(int(found["second"]) > 12 for found in dates):
        return FileDates("month", "file")
    separators = {found["separator"] for found in dates}
    if "." in separators:
        return FileDates("day", "assumed")
    is_day = is_local and (comma == "decimals" or "-" in separators)
    usual, other = (list_days(dates, order) for order in (("day", "month") if is_day else ("month", "day")))
    is_other = has_weekend(usual) > has_weekend(other) or is_sorted(usual) < is_sorted(other)
    is_usual = has_weekend(usual) < has_weekend(other) or is_sorted(usual) > is_sorted(other)
    return FileDates("day" if is_day != (is_other and not is_usual) else "month", "assumed")


def find_first_year(dates: Sequence[re.Match[str]]) -> FileDates:
    """Return whether the year or the day is first in dates that cannot begin with a month, as 26-03-04.

    Of two possible readings the file has the one whose days are closer together, and no trade is of tomorrow.
    """
    orders: tuple[DateOrder, DateOrder] = ("day", "year")
    readings = {order: [day for day, _ in list_days(dates, order)] for order in orders}
    tomorrow = datetime.now() + timedelta(days=1)
    days, years = readings.values()
    if any(len(found["last"]) > 2 for found in dates) or len(years) < max(len(days), 1) or max(years) > tomorrow:
        return FileDates("day", "file")
    if len(days) < len(years) or max(days) > tomorrow:
        return FileDates("year", "file")
    spans = [max(read) - min(read) for read in (days, years)]
    if spans[0] == spans[1]:
        ages = sorted((tomorrow - max(read), order) for order, read in readings.items())
        is_clear = ages[1][0] > PLAUSIBLE_AGE >= ages[0][0]
        return FileDates(ages[0][1], "assumed" if is_clear else None)
    return FileDates("day" if spans[0] < spans[1] else "year", "assumed")


def list_days(dates: Iterable[re.Match[str]], order: DateOrder) -> list[tuple[datetime, bool]]:
    """Return the days of dates in that order, without repetition, and whether each has a time of day."""
    days = []
    for text, has_time in dict.fromkeys((found[0], ":" in found.string) for found in dates):
        with suppress(ValueError):  # 0/0/2026
            days.append((datetime.fromisoformat(parse_day(text, order)), has_time))
    return days


def has_weekend(days: Iterable[tuple[datetime, bool]]) -> bool:
    """Return whether a day is one without trade. On Sundays futures trade in the evening."""
    return any(day.weekday() == SATURDAY or (day.weekday() > SATURDAY and not timed) for day, timed in days)


def is_sorted(days: Sequence[tuple[datetime, bool]]) -> bool:
    """Return whether the days ascend or descend."""
    return sorted(days) in (days, [*reversed(days)])


def parse_clock(cell: str) -> time:
    """Return a time of day, with 24 hours, or AM and PM. Raises ValueError."""
    match = CLOCK.fullmatch(cell)
    if not match:
        raise ValueError(NOT_A_TIME)
    return time.fromisoformat(read_clock(match))


def read_clock(match: re.Match[str]) -> str:
    """Return the time of day of a match. Raises ValueError for 13:00 PM."""
    hour, minute, second, fraction, half = match.groups()
    if half:
        if not 1 <= int(hour) <= 12:
            raise ValueError("must have an hour from 1 to 12 before AM and PM")
        hour = str(int(hour) % 12 + 12 * (half in "Pp"))
    clock = f"{hour:0>2}:{minute}:{second or '00'}"
    return f"{clock}.{fraction[:6]:0<6}" if fraction else clock


@lru_cache(maxsize=4096)  # a day has many trades
def parse_day(text: str, order: DateOrder | None) -> str:
    """Return a date as 2026-04-09, even if there is no such day. Raises ValueError for a month over 12.

    The year is first, or day and month in that order; without an order the month is first, unless there are
    points between them.
    """
    date = DATE.fullmatch(text)
    if not date or (order is None and date["last"] and "." in text):
        raise ValueError(NOT_A_TIME)
    if compact := date["compact"]:
        return f"{compact[:4]}-{compact[4:6]}-{compact[6:]}"
    if date["year"]:
        return f"{complete_year(date['year'])}-{date['month']:0>2}-{date['day']:0>2}"
    if name := date["name"] or date["first_name"]:
        if not (number := MONTH_NUMBERS.get(name.lower())):  # İ and ſ match i and s
            raise ValueError(NOT_A_TIME)
        day = date["before"] or date["its_day"]
        return f"{complete_year(date['after'] or date['its_year'])}-{number:02}-{day:0>2}"
    month, day, year = date["first"], date["second"], date["last"]
    if order == "year" and len(year) == 2:
        year, month, day = month, day, year
    elif order == "day":
        month, day = day, month
    if order and int(month) > 12:
        raise ValueError(f"has no month {month}: other dates of the file have another order of day and month")
    return f"{complete_year(year)}-{month:0>2}-{day:0>2}"


def complete_year(year: str) -> str:
    """Return a year of the common era: 26 is 2026, 115 of the Republic of China too, as 2569 of the Buddhist era."""
    if len(year) == 3:
        return str(int(year) + 1911)
    return f"20{year}" if len(year) == 2 else str(int(year) - 543) if year > "2400" else year


def parse_any_time(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return date and time of one cell, midnight if it has a date alone; with the zone that it names.

    04/09/2026 15:38:40, 1/2/2024 9:30:01 AM, 2024.01.02 15:04, 20260304;093001, 4 Apr 2026, 09:30 EST.
    """
    if unix := UNIX.fullmatch(cell):
        seconds, fraction = int(unix[1]), f"{unix[2] or '':0<6}"
        return Timestamp.fromtimestamp(seconds, UTC).replace(microsecond=int(fraction))
    cell = BOOKED.sub("", WEEKDAY.sub("", cell, count=1), count=1)
    if clock_first := CLOCK_FIRST.match(cell):
        cell = f"{cell[clock_first.end() :]} {clock_first[0].rstrip()}"
    first, _, second = cell.partition(" ")
    if usual := CLOCK.fullmatch(second):
        return Timestamp.in_form(f"{parse_day(first.removesuffix(','), order)}T{read_clock(usual)}")
    date = DATE.match(cell)
    if not date:
        raise ValueError(NOT_A_TIME)
    day, rest = parse_day(date[0], order), cell[date.end() :]
    between = BETWEEN.match(rest)
    start = rest[between.end() :].lstrip() if between else rest
    clock = (CLOCK.match(start) or COMPACT_CLOCK.match(start)) if between else None
    at, behind = (read_clock(clock), start[clock.end() :]) if clock else ("00:00:00", rest)
    return Timestamp.in_form(f"{day}T{at}").replace(tzinfo=parse_zone(behind.strip()))


@lru_cache(maxsize=256)
def parse_zone(text: str) -> tzinfo | None:
    """Return the zone that stands behind a time, None if nothing does. Raises ValueError for other text."""
    if not text or BEHIND.fullmatch(text):
        return None
    if text in US_ZONES:
        return ZoneInfo(US_ZONES[text])
    zone = find_literal_zone(ZONE_NAME.sub("", text).upper().strip("()"))
    if zone is None:
        raise ValueError(NOT_A_TIME)
    return zone


def parse_date_and_clock(cell: str, order: DateOrder | None = None) -> Timestamp:
    """Return date and time of one cell, which has both."""
    if ":" not in cell and not UNIX.fullmatch(cell):
        raise ValueError(NOT_A_TIME)
    return parse_any_time(cell, order)


def parse_midnight(cell: str, order: DateOrder | None = None) -> Timestamp:
    return Timestamp.in_form(f"{parse_day(cell, order)}T00:00:00")


@lru_cache(maxsize=8192)  # a column is asked for each member that it may be
def is_time(cell: str) -> bool:
    """Return whether a cell has a date, in whichever order."""
    for order in get_args(DateOrder):
        try:
            parse_any_time(cell, order)
        except ValueError:
            continue
        return True
    return False


# The readers of cells by order; one function for each order, because the values of cells are cached by it.
ORDERS: tuple[DateOrder | None, ...] = (None, *get_args(DateOrder))
TIMES = {order: partial(parse_date_and_clock, order=order) for order in ORDERS}
ANY_TIMES = {order: partial(parse_any_time, order=order) for order in ORDERS}
DAYS = {order: partial(parse_midnight, order=order) for order in ORDERS}
