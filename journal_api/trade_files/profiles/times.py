"""Reads the times of a file in the formats of its profile."""

from collections.abc import Callable
from zoneinfo import ZoneInfo

from journal_api.structs.import_profiles import Columns, ImportProfileCreate
from journal_api.trade_files.cells import Row, refused
from journal_api.trade_files.date_cells import DateOrder, date_and_clock
from journal_api.values.timestamps import Timestamp

# Of a text, and the order of day and month in the file.
TimeReader = Callable[[str, DateOrder | None], Timestamp]


def time_reader(profile: ImportProfileCreate) -> TimeReader:
    """Return the reader of times, which raises ValueError. It tries the formats in their order.

    Without formats, the date has the year first, or day and month in the order of the file.
    """
    zone = None if profile.zone is None else ZoneInfo(profile.zone)
    readers = [time_format.reader(zone) for time_format in profile.time]

    def read(cell: str, order: DateOrder | None) -> Timestamp:
        if not readers:
            return date_and_clock(cell, order).replace(tzinfo=zone)
        reasons = []
        for reader in readers:
            try:
                if (time := reader(cell)) is not None:
                    return time
            except ValueError as error:
                reasons.append(str(error))
        raise ValueError((reasons or [f"must be a time in the format {' or '.join(profile.time)}"])[0])

    return read


def time_columns(profile: ImportProfileCreate) -> list[Columns]:
    """Return the columns with dates."""
    fills = [fill.at for fill in (profile.bought, profile.sold) if fill]
    columns = [profile.opened_at, profile.closed_at, profile.at, *fills]
    return [part for part in columns if part is not None]


def time_in(row: Row, column: str, read_time: TimeReader) -> Timestamp:
    """Return the time in a cell. Raises ValidationFailed."""
    cell = row[column]
    try:
        return read_time(cell.strip(), row.rules.date_order)
    except ValueError as error:
        raise refused(column, cell, error) from None
