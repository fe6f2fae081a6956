"""What a file turns out to hold: trades, and lines that are none."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import ImportedTrade, Rejected
from journal_api.trade_files.cells import Row

T = TypeVar("T")


Rows = Iterable[Row | Rejected]
Found = Iterator[ImportedTrade | Rejected]


class Format(NamedTuple):
    """A format that is told by the columns of its header, and how its rows become trades.

    A row has the `columns` and those of the `optional` that the header has; all else of it is left out.
    """

    name: str
    columns: frozenset[str]
    trades_of: Callable[[Rows], Found]
    accounts: tuple[str, ...] = ()  # the columns that name an account of the journal, if there is one
    optional: frozenset[str] = frozenset()
    long: frozenset[str] = frozenset()  # the columns whose cells may be longer than others


def one_a_row(trade_of: Callable[[Row], ImportedTrade]) -> Callable[[Rows], Found]:
    """For a format in which every row is a trade."""

    def trades_of(rows: Rows) -> Found:
        for row in rows:
            yield row if isinstance(row, Rejected) else read_row(row, trade_of)

    return trades_of


def read_row(row: Row, reader: Callable[[Row], T]) -> T | Rejected:
    """The row as the reader has it, or its line and what the reader said of it."""
    try:
        return reader(row)
    except ValidationFailed as error:
        return Rejected(row.line, reason_of(error))


def reason_of(error: ValidationFailed) -> str:
    column, reason = next(iter(error.details["fields"].items()))
    return f"{column} {reason}"
