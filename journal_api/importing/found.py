"""What a file turns out to hold: trades, and lines that are none."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from msgspec import Struct

from journal_api.errors import ValidationFailed
from journal_api.importing.cells import Row
from journal_api.trade_draft import TradeDraft

T = TypeVar("T")


class Answered(NamedTuple):
    """A confirmation of the trade's setup, by name, and its answer."""

    name: str
    was_present: bool
    notes: str | None = None


class ImportedTrade(Struct, frozen=True):
    """A trade, the line on which it stands or begins, and the names of what it points at."""

    line: int
    trade: TradeDraft
    unstated: tuple[str, ...] = ()  # the facts that the file says nothing of
    is_computed: bool = False  # the result: made of prices and multiplier, not stated
    account: str | None = None
    strategy: str | None = None
    setup: str | None = None
    tags: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    row_name: str | None = None  # what `copy_of` of another row calls this one
    copy_of: str | None = None


class Rejected(NamedTuple):
    """A line that cannot be read, and why."""

    line: int
    reason: str


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
