"""The time zone of times without an offset in an imported file (docs/imports.md#time-zones)."""

import re
from collections.abc import Mapping
from datetime import tzinfo
from functools import lru_cache

from journal_api.errors import ValidationFailed
from journal_api.structs.imports import TimezoneSource
from journal_api.trade_files.file_format import Format
from journal_api.values.time_formats import find_literal_zone

# The zone in the name of a column: Opening time (UTC+0), Time (UTC+02:00), Update Time (EDT).
ZONE_OF_COLUMN = re.compile(r".*\((?P<zone>(?:UTC|GMT)[+-][0-9]{1,2}(?::[0-9]{2})?|[A-Z]{3})\)")
# What only a proposal takes for a zone, as a person looks at it: Date(UTC+1 28 Jan 2024 - 28 Jan 2025), Date (+01),
# OpenDateUtc; not what names two.
LIKELY_ZONE = re.compile(
    r".*\((?:UTC|GMT)(?P<hours>[+-][0-9]{1,2})[ ,](?:(?!UTC|GMT)[^()])*\)|.*\((?P<offset>[+-][0-9]{2})(?::?00)?\)"
    r"|.*(?<=[a-z])(?:U(?:TC|tc)|G(?:MT|mt))"
)


class FileTimezone:
    """Chooses the time zone `name` of a file, the same for all of its accounts.

    It is the stated zone, else the remembered one, else the owner's if the format has the owner's times.
    `source` is None and `accounts` is empty until a time without an offset is read.
    """

    def __init__(
        self, stated: str | None, owner: str = "UTC", remembered: Mapping[tuple[str, str], str] | None = None
    ) -> None:
        self._stated = stated and str(stated)  # msgspec does not encode a TimeZone
        self._owner = owner
        # By the name of the account in the file and format; the name is empty for an import into one account.
        self._remembered = remembered or {}
        self.name = self._stated or owner
        self.source: TimezoneSource | None = None
        self.accounts: set[str] = set()  # those with times without an offset
        self.replaced: set[str] = set()  # the remembered zones that differ from the stated one

    def find_zone(self, account: str, file_format: Format, *, is_local: bool) -> str:
        """Return the zone for the times of a row. Raises ValidationFailed if it is needed and unknown."""
        if not is_local or account in self.accounts:
            return self.name
        remembered = self._remembered.get((account, file_format.name))
        owner = self._owner if file_format.has_owners_times else None
        choices: dict[TimezoneSource, str | None] = {"stated": self._stated, "remembered": remembered, "owner": owner}
        source: TimezoneSource = next((source for source, name in choices.items() if name), "owner")
        if (name := choices[source]) is None:
            of_account = f" of {account!r}" if account else ""
            raise ValidationFailed(
                f"The times in this file have no offset, and no earlier file{of_account} in the format "
                f"{file_format.name!r} stated their time zone. State it once: timezone over HTTP, or --timezone.",
                fields={"timezone": "is required: the times in this file have no offset"},
            )
        if self.accounts and name != self.name:
            raise ValidationFailed(
                f"The times in this file have no offset, and its accounts have different time zones: {account!r} has "
                f"{name}, an account before it {self.name}. State the zone of this file: timezone over HTTP, or "
                "--timezone.",
                fields={"timezone": "is required: the accounts in this file have different time zones"},
            )
        if self._stated and remembered and remembered != name:
            self.replaced.add(remembered)
        self.name, self.source = name, self.source or source
        self.accounts.add(account)
        return self.name


@lru_cache(maxsize=256)
def find_zone_of_column(column: str) -> tzinfo | None:
    """Return the zone that the name of a column states, None without one."""
    match = ZONE_OF_COLUMN.fullmatch(column)
    return match and find_literal_zone(match["zone"])


def guess_zone_of_column(column: str) -> str:
    """Return the name of the zone that the name of a column seems to state, empty without one."""
    if (match := LIKELY_ZONE.fullmatch(column)) is None:
        return ""
    hours = int(match["hours"] or match["offset"] or 0)
    return f"Etc/GMT{-hours:+d}" if hours else "Etc/UTC"
