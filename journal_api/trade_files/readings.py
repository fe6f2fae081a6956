"""Chooses how a file is split into rows: CSV, HTML, or a form of Interactive Brokers."""

from collections.abc import Iterable, Iterator
from itertools import chain, tee

from journal_api.rules.import_rows import Rejected
from journal_api.trade_files import activity_statement, flex_query
from journal_api.trade_files.rows import COMMAS, Cells, rows_of_csv, rows_of_html
from journal_api.trade_files.texts import Unreadable


def readings_of(pieces: Iterator[str | Unreadable]) -> Iterator[Iterator[Cells | Rejected]]:
    """Yield the rows of the text in each of the ways in which it can be read, the most likely first.

    The beginning of the text decides. CSV has one way for each separator, beginning with the most frequent of
    the first line. Drop this iterator to keep the pieces that one way has passed from waiting for the others.
    """
    first = next(pieces, "")
    head = first if isinstance(first, str) else ""
    rest: Iterator[str | Unreadable] = chain([first], pieces)
    if head.lstrip().startswith(flex_query.BEGINNINGS):
        yield until_unreadable(flex_query.rows_of_xml(readable(rest)))
        return
    if head.startswith(activity_statement.BEGINNINGS):
        rows = rows_of_csv(readable(rest), ",")
        yield until_unreadable(activity_statement.rows_of_statement(rows))
        return
    if head.lstrip().startswith("<"):
        yield until_unreadable(rows_of_html(readable(rest)))
        return
    for delimiter in sorted(COMMAS, key=head.count, reverse=True):
        attempt, rest = tee(rest)
        yield until_unreadable(rows_of_csv(readable(attempt), delimiter))


def readable(pieces: Iterable[str | Unreadable]) -> Iterator[str]:
    """Yield the pieces. Raises Unreadable in place of it."""
    for piece in pieces:
        if isinstance(piece, Unreadable):
            raise piece
        yield piece


def until_unreadable(rows: Iterator[Cells | Rejected]) -> Iterator[Cells | Rejected]:
    """Yield the rows. A line that cannot be read is rejected and ends the file."""
    try:
        yield from rows
    except Unreadable as error:
        yield Rejected(error.line, str(error))
