"""The interface of a file format."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import FileCheck, ImportedFill, ImportedTrade, LeftOut, Noted, Rejected
from journal_api.structs.import_profiles import Columns
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.vocabulary import (
    ANYTHING,
    NAMES,
    SUMS,
    ColumnNames,
    find_column,
    simplify,
    translate,
    translate_all,
)

T = TypeVar("T")
MAX_NAMES_SHOWN = 5
CANNOT_BE_READ = "cannot be read: "
Rows = Iterable[Row | Rejected | LeftOut]
Trades = Iterator[ImportedTrade | ImportedFill | Rejected | LeftOut | Noted | FileCheck]
# A column that names accounts: Account display name. Others with that word hold amounts of an account.
NO_ACCOUNT = "type|balance|value|currency|equity|cash|size|profit|p ?& ?l|risk"
ACCOUNT = re.compile(rf"(?!.*(?:{NO_ACCOUNT})).*account.*", re.IGNORECASE)


class Format(NamedTuple):
    """The format of a file with a known header, and the function that parses its rows.

    A row has the required `columns` and the `optional` columns of the header; other columns are ignored.
    """

    name: str
    columns: frozenset[str]
    read_trades: Callable[[Rows], Trades]
    accounts: tuple[str, ...] = ()  # the columns that may name an account of the journal
    optional: frozenset[str] = frozenset()
    # Whether times without an offset are in the owner's time zone; otherwise another program's zone.
    has_owners_times: bool = False
    long: frozenset[str] = frozenset()  # the columns whose cells may be longer than MAX_CELL_LENGTH
    dates: tuple[str, ...] = ()  # the columns with dates, which may have the day or the month first
    has_local_dates: bool = False  # whether the settings of a computer decide how dates are written
    is_typed: bool = False  # whether people write such files: amounts of too many decimals are refused
    section: str | None = None  # the heading of the section of a statement, which ends at a blank line
    symbol: str = ""  # the column of the symbols, for a format whose columns may have other names
    is_pairs: bool = False  # whether a row is one of the pairs of an entry and an exit of a position
    unread: frozenset[str] = frozenset()  # the required columns that only tell the format

    @property
    def read(self) -> frozenset[str]:
        """The columns whose cells say something of a trade."""
        return (self.columns | self.optional) - self.unread


class KnownFormat(NamedTuple):
    """A format before the header of a file is known.

    `header` are the required columns, each with its alternative names. `for_header` returns the format of a
    file that has them. A format whose rows are read by its `own_names` has columns of other names renamed.
    """

    name: str
    header: tuple[tuple[str, ...], ...]
    for_header: Callable[[Collection[str]], Format]
    section: str | None = None
    own_names: Mapping[str, str] = {}  # by their simple forms
    is_exact: bool = False  # whether people write the header, as documented

    def fits(self, columns: Collection[str], heading: str) -> bool:
        """Return whether this is the format of a file with this header below that heading."""
        if self.section is not None and not self.has_section(heading):
            return False
        return all(self.has(columns, names) for names in self.header)

    def has(self, columns: Collection[str], names: tuple[str, ...]) -> bool:
        """Return whether one of the names is in a header."""
        return names[0] in columns if self.is_exact else find_column(columns, names) is not None

    def has_section(self, heading: str) -> bool:
        """Return whether the rows of the format stand in the section with that heading."""
        return self.section is not None and word_matches(self.section, heading.strip().casefold())

    def count_columns(self, columns: ColumnNames) -> int:
        """Return how many of the required columns are in a row: none in nearly all rows that are no header."""
        known, is_beginning = translate_header(self.header)
        if known.keys().isdisjoint(columns.simple) and not is_beginning:
            return 0
        return sum(self.has(columns, names) for names in self.header)

    def find_missing_columns(self, columns: Collection[str]) -> list[str]:
        """Return the required columns that a header does not have, with few of their other names."""
        return sorted(" or ".join(names[:MAX_NAMES_SHOWN]) for names in self.header if not self.has(columns, names))


@lru_cache(maxsize=1024)
def translate_header(header: tuple[tuple[str, ...], ...]) -> tuple[dict[str, None], bool]:
    """Return `translate_all` of all names of the columns of a header."""
    return translate_all(tuple(chain.from_iterable(header)))


def make_known_format(file_format: Format) -> KnownFormat:
    """Return a format whose columns have one name each, but that of the symbols, which has any name of a symbol."""
    symbols = {name: tuple(NAMES["symbol"]) for name in file_format.columns if translate(name) in NAMES["symbol"]}
    columns = tuple((name, *symbols.get(name, ())) for name in sorted(file_format.columns))
    read = () if file_format.is_typed else file_format.columns | file_format.optional
    others = {other: name for name in read for other in symbols.get(name, ())}
    return KnownFormat(
        *(file_format.name, columns, lambda header: file_format),
        own_names=others | {translate(name): name for name in read},
        is_exact=file_format.is_typed,
    )


def list_names(columns: Columns) -> tuple[str, ...]:
    """Return the alternative names of a column."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


def find_account_columns(header: Iterable[str]) -> list[str]:
    """Return the columns that seem to name an account."""
    return [name for name in header if ACCOUNT.fullmatch(name)]


def failed_check(line: int, text: str) -> FileCheck:
    """Return what rejects a file that contradicts itself, without force."""
    return FileCheck(line, lambda instruments: text)


def word_matches(word: str, folded: str) -> bool:
    """Return whether a stripped cell in folded case is the word, or begins with a word that ends with *."""
    if word.endswith(ANYTHING):
        return bool(folded) and folded.startswith(word.removesuffix(ANYTHING).casefold())
    return folded == word.casefold()


def one_trade_per_row(read_trade: Callable[[Row], ImportedTrade]) -> Callable[[Rows], Trades]:
    """Return the function that parses the rows of a format with one trade per row."""

    def read_trades(rows: Rows) -> Trades:
        for row in rows:
            yield read_row(row, read_trade) if isinstance(row, Row) else row

    return read_trades


class NoTrade(Exception):
    """A row that is no trade, such as a cancelled order or a dividend, and the reason."""


def require_symbol(row: Row, *columns: str) -> None:
    """Raise NoTrade for a row in which all of the columns are empty, or one says that the row is a total."""
    for column in columns:
        if simplify(row[column]) in SUMS:
            raise NoTrade(f"{column} is a total")
    if not any(map(row.has, columns)):
        raise NoTrade(f"{columns[0]} is empty")


def read_row(row: Row, reader: Callable[[Row], T]) -> T | Rejected | LeftOut:
    """Return the parsed row, or its line and the reason why it is none."""
    try:
        return reader(row)
    except NoTrade as reason:
        return LeftOut(row.line, str(reason))
    except ValidationFailed as error:
        return reject(row.line, find_first_reason(error), skips=row.rules.skips_errors)


def reject(line: int, reason: str, *, skips: bool) -> Rejected | LeftOut:
    """Return the error of a row, or the row as one to leave out if the import skips errors."""
    return LeftOut(line, f"{CANNOT_BE_READ}{reason}") if skips else Rejected(line, reason)


def find_first_reason(error: ValidationFailed) -> str:
    """Return the column and the reason of the first error."""
    column, reason = next(iter(error.details["fields"].items()))
    return f"{column} {reason}"
