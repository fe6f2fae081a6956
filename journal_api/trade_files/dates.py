"""The order of day and month in a file, such as 7/28/2026 or 28.07.2026, which files do not state."""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from journal_api.trade_files.cells import Comma
from journal_api.trade_files.date_cells import DateOrder

# The number of rows that are searched for a number over 12.
ROWS_SEARCHED = 5000
DATE = re.compile(
    r"(?P<first>[0-9]{1,2})(?P<separator>[-/.])(?P<second>[0-9]{1,2})(?P=separator)"
    r"(?:[0-9]{4}|[0-9]{2})(?![0-9])"
)


class FileDates(NamedTuple):
    """The order of day and month in a file, None if no date of it needs one, and the reason for it.

    `stated`: by whoever imports the file; `file`: by a number over 12; `assumed`: the file does not tell.
    """

    order: DateOrder | None = None
    source: Literal["stated", "file", "assumed"] | None = None


def dates_of(cells: Iterable[str], comma: Comma, *, is_local: bool) -> FileDates:
    """Return the order of day and month for all dates of a file.

    Without a number over 12 the day is first in dates with points and, in a file whose dates follow the
    settings of a computer (`is_local`), in dates with dashes and in files with semicolons.
    """
    dates = [date for cell in cells if (date := DATE.match(cell.strip()))]
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
