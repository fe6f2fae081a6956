"""Reads the times of a file in the formats of its profile."""

from collections.abc import Callable
from functools import lru_cache
from zoneinfo import ZoneInfo

from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.cells import date_and_clock
from journal_api.values.types import Timestamp

TimeReader = Callable[[str], Timestamp]


def time_reader(profile: ImportProfileCreate) -> TimeReader:
    """Return the reader of times, which raises ValueError. It tries the formats in their order.

    Without formats, the date has the year or the month first.
    """
    zone = None if profile.zone is None else ZoneInfo(profile.zone)
    readers = [time_format.reader(zone) for time_format in profile.time]

    @lru_cache(maxsize=1024)
    def read(cell: str) -> Timestamp:
        if not readers:
            return date_and_clock(cell).replace(tzinfo=zone)
        reasons = []
        for reader in readers:
            try:
                if (time := reader(cell)) is not None:
                    return time
            except ValueError as error:
                reasons.append(str(error))
        raise ValueError((reasons or [f"must be a time in the format {' or '.join(profile.time)}"])[0])

    return read
