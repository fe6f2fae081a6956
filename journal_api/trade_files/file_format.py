"""The interface of a file format."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import ImportedTrade, LeftOut, Rejected
from journal_api.trade_files.cells import Row

T = TypeVar("T")


Rows = Iterable[Row | Rejected | LeftOut]
Trades = Iterator[ImportedTrade | Rejected | LeftOut]


class Format(NamedTuple):
    """A format, which is recognised by the columns of its header, and the function that parses its rows.

    A row has the required `columns` and the `optional` columns of the header; other columns are ignored.
    """

    name: str
    columns: frozenset[str]
    trades_of: Callable[[Rows], Trades]
    accounts: tuple[str, ...] = ()  # the columns that may name an account of the journal
    optional: frozenset[str] = frozenset()
    # Whether times without an offset are in the owner's time zone; otherwise in that of another program.
    has_owners_times: bool = False
    long: frozenset[str] = frozenset()  # the columns whose cells may be longer than MAX_CELL_LENGTH
    dates: tuple[str, ...] = ()  # the columns with dates, which may have the day or the month first
    has_local_dates: bool = False  # whether the settings of a computer decide how dates are written
    is_typed: bool = False  # whether people write such files: amounts of too many decimals are refused
    aliases: Mapping[str, str] = {}  # the columns by their names in other languages
    section: str | None = None  # the heading of the section of a statement, which ends at a blank line


def one_trade_per_row(trade_of: Callable[[Row], ImportedTrade]) -> Callable[[Rows], Trades]:
    """Return the function that parses the rows of a format with one trade per row."""

    def trades_of(rows: Rows) -> Trades:
        for row in rows:
            yield read_row(row, trade_of) if isinstance(row, Row) else row

    return trades_of


def read_row(row: Row, reader: Callable[[Row], T]) -> T | Rejected:
    """Return the parsed row, or its line and the error."""
    try:
        return reader(row)
    except ValidationFailed as error:
        return Rejected(row.line, reason_of(error))


def reason_of(error: ValidationFailed) -> str:
    """Return the column and the reason of the first error."""
    column, reason = next(iter(error.details["fields"].items()))
    return f"{column} {reason}"
