"""All formats of trade files: the modules in formats/ and the built-in profiles."""

from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from typing import NamedTuple

from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.file_format import Format
from journal_api.trade_files.formats import (
    executions,
    metatrader4_statement,
    metatrader5_history,
    ninjatrader_trades,
    round_trips,
    tradervue_trades,
    tradezella_trades,
    tradingview_trades,
)
from journal_api.trade_files.profiles.columns import alternatives, is_word, name_in, required_columns
from journal_api.trade_files.profiles.profile_format import built_in_profiles, format_of

MODULES = (
    metatrader4_statement.FORMAT,
    metatrader5_history.FORMAT,
    ninjatrader_trades.FORMAT,
    tradezella_trades.FORMAT,
    tradervue_trades.FORMAT,
    executions.FORMAT,
    executions.TRADEZELLA,
    round_trips.FORMAT,
)


class KnownFormat(NamedTuple):
    """A format before the header of a file is known.

    `header` are the required columns, each with its alternative names. `for_header` returns the format of a
    file that has them.
    """

    name: str
    header: tuple[tuple[str, ...], ...]
    section: str | None
    for_header: Callable[[Collection[str]], Format]
    aliases: Mapping[str, str] = {}  # the columns by their names in other languages

    def fits(self, columns: Collection[str], heading: str) -> bool:
        """Return whether this is the format of a file with this header below that heading."""
        if self.section is not None and not self.has_section(heading):
            return False
        return all(name_in(columns, list(names)) is not None for names in self.header)

    def has_section(self, heading: str) -> bool:
        """Return whether the heading is that of the section in which the format has its rows."""
        return self.section is not None and is_word([self.section])(heading)

    def missing(self, columns: Collection[str]) -> list[str]:
        """Return the required columns that a header does not have."""
        return sorted(" or ".join(names) for names in self.header if name_in(columns, list(names)) is None)

    def lacks_few_of(self, columns: Collection[str]) -> bool:
        """Return whether a header nearly is that of the format: at most a quarter is missing."""
        return 4 * len(self.missing(columns)) <= len(self.header)


def of_module(file_format: Format) -> KnownFormat:
    columns = tuple((name,) for name in sorted(file_format.columns))
    return KnownFormat(file_format.name, columns, None, lambda header: file_format, file_format.aliases)


def of_profile(profile: ImportProfileCreate) -> KnownFormat:
    columns = tuple(alternatives(part) for part in required_columns(profile))
    return KnownFormat(str(profile.name), columns, profile.section, partial(format_of, profile))


@cache
def known_formats() -> tuple[KnownFormat, ...]:
    """Return all formats, those with the most columns first, because they are the most specific."""
    tradingview = KnownFormat(
        tradingview_trades.NAME, tradingview_trades.HEADER, None, tradingview_trades.format_for
    )
    formats = [*map(of_module, MODULES), *map(of_profile, built_in_profiles()), tradingview]
    return tuple(sorted(formats, key=lambda known: (known.section is None, -len(known.header))))
