"""Reads files of trades: recognises the format by the header and yields the trades.

Each module in formats/ defines a `FORMAT`; `FORMATS` lists them, the more specific first.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, islice
from operator import itemgetter
from typing import BinaryIO, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, ImportedTrade, LeftOut, Rejected
from journal_api.rules.trade_identity import content_of, fingerprint_of
from journal_api.trade_files.cells import Row
from journal_api.trade_files.file_format import Format, Trades, reason_of
from journal_api.trade_files.formats import (
    executions,
    metatrader5_history,
    ninjatrader_trades,
    round_trips,
    tradervue_trades,
    tradezella_trades,
    tradovate_performance,
)
from journal_api.trade_files.rows import MOST_COLUMNS, Cells, rows_of

FORMATS: tuple[Format, ...] = (
    tradovate_performance.FORMAT,
    metatrader5_history.FORMAT,
    ninjatrader_trades.FORMAT,
    tradezella_trades.FORMAT,
    tradervue_trades.FORMAT,
    executions.FORMAT,
    executions.TRADEZELLA,
    round_trips.FORMAT,
)
# The number of rows in which the header is searched: HTML reports have other rows before it.
ROWS_BEFORE_THE_HEADER = 100
# A blank row beyond them is an error.
MOST_BLANK_ROWS = 10_000
# Characters of a column name, and of a cell in columns that are not for texts of the trader.
LONGEST_NAME, LONGEST_CELL = 255, 10_000


class LeftOutRows:
    """The number of rows that are no trades, by the reason."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def removed_from(self, trades: Trades) -> Iterator[ImportedTrade | Rejected]:
        """Yield the trades and the rejected lines; count the others."""
        for trade in trades:
            if isinstance(trade, LeftOut):
                self.counts[trade.reason] += 1
            else:
                yield trade


class TradeFile(NamedTuple):
    """A recognised file; iterate `candidates` once. `left_out` is complete after the iteration."""

    format: str
    candidates: Iterator[Candidate | Rejected]
    left_out: LeftOutRows


def read(
    file: BinaryIO,
    timezone: str,
    on_bytes: Callable[[int], object] = lambda number: None,
    *,
    into_one_account: bool = True,
) -> TradeFile:
    """Recognise the format and read the file up to the first trade; the rest is read on iteration.

    Times without an offset are local times in `timezone`. `on_bytes` is called with the number of bytes read.
    With `into_one_account` the account names in the file are ignored. Raises ValidationFailed for an unknown
    header, and when the file must name its accounts but does not.
    """
    rows = rows_of(file, on_bytes)
    file_format, columns = header_of(rows)
    if not into_one_account and set(file_format.accounts).isdisjoint(columns):
        reason = "is required: the file has no column 'account'"
        message = "The file has no column 'account'. Name the account: account_id over HTTP, or --account."
        raise ValidationFailed(message, fields={"account_id": reason})
    trades = file_format.trades_of(with_column_names(rows, columns, file_format))
    left_out = LeftOutRows()
    candidates = candidates_of(left_out.removed_from(trades), timezone, into_one_account)
    # A format that needs all rows for its first trade reads them now, before the write lock is acquired.
    first = list(islice(candidates, 1))
    return TradeFile(file_format.name, chain(first, candidates), left_out)


def header_of(rows: Iterator[Cells | Rejected]) -> tuple[Format, list[str]]:
    """Return the format and the column names.

    Raises ValidationFailed with the most similar formats and their missing columns.
    """
    nearest: tuple[int, list[str]] = (1, [])
    for _, row in zip(range(ROWS_BEFORE_THE_HEADER), rows, strict=False):
        if isinstance(row, Rejected):
            raise wrong_header(row.line, row.reason)
        if len(row.cells) > MOST_COLUMNS:
            raise wrong_header(row.line, f"has {len(row.cells)} columns; the maximum is {MOST_COLUMNS}")
        line, columns = row.line, column_names(row.cells)
        if columns == list(round_trips.TITLES):
            reason = "this is the export for spreadsheets, which changes texts: import the exact export"
            raise wrong_header(line, reason)
        for candidate in FORMATS:
            if candidate.columns <= set(columns):
                check_names(candidate, columns, line)
                return candidate, columns
        nearest = max(nearest, (line, columns), key=lambda header: similarity(header[1]))
    raise unknown_header(*nearest)


def column_names(header: list[str]) -> list[str]:
    """Return the column names.

    Repeated names are numbered, as in Time, Time 2; empty ones at the end are dropped.
    """
    seen: Counter[str] = Counter()
    columns = []
    names = [cell.strip() for cell in header]
    while names and not names[-1]:
        names.pop()
    for name in names:
        seen[name] += 1
        columns.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return columns


def check_names(file_format: Format, columns: list[str], line: int) -> None:
    """Raise ValidationFailed for a column name that is too long or repeated, unless the format repeats it."""
    if any(len(name) > LONGEST_NAME for name in columns):
        raise wrong_header(line, f"has a column whose name has over {LONGEST_NAME} characters")
    other_names = set(columns) - file_format.columns
    for name in columns:
        if name and f"{name} 2" in other_names:
            raise wrong_header(line, f"the column {name!r} is repeated")


def wrong_header(line: int, reason: str) -> ValidationFailed:
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason)


def similarity(columns: list[str]) -> int:
    """Return the largest number of columns that a format has in common with the header."""
    return max(len(file_format.columns & set(columns)) for file_format in FORMATS)


def unknown_header(line: int, columns: list[str]) -> ValidationFailed:
    """Return the error for an unknown header, with the missing columns of similar formats."""
    similar = [file_format for file_format in FORMATS if file_format.columns & set(columns)] or FORMATS

    def missing_share(file_format: Format) -> float:
        return len(file_format.columns - set(columns)) / len(file_format.columns)

    missing = {
        file_format.name: sorted(file_format.columns - set(columns))
        for file_format in sorted(similar, key=missing_share)
    }
    nearest = list(missing.items())[:2] if len(similar) < len(FORMATS) else []
    details = "; ".join(f"{name} misses {', '.join(names)}" for name, names in nearest)
    reason = f"this header is of no known format: {details or 'known are ' + ', '.join(missing)}"
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason, missing=missing)


def with_column_names(
    rows: Iterator[Cells | Rejected], columns: list[str], file_format: Format
) -> Iterator[Row | Rejected]:
    """Yield each row by column name, with the columns that the format uses.

    Blank rows are skipped, up to MOST_BLANK_ROWS: reading them takes time in which no trade is returned.
    """
    blank_rows = 0
    used = file_format.columns | file_format.optional
    cells_used = itemgetter(*[index for index, name in enumerate(columns) if name in used])
    names = cells_used(columns)
    for cells_or_error in rows:
        if isinstance(cells_or_error, Rejected):
            yield cells_or_error
            continue
        line, cells, comma = cells_or_error
        if not any(map(str.strip, cells)):
            blank_rows += 1
            if blank_rows > MOST_BLANK_ROWS:
                yield Rejected(line, f"is blank, and at most {MOST_BLANK_ROWS} blank rows are skipped")
            continue
        if len(cells) < len(columns) or any(cells[len(columns) :]):
            yield Rejected(line, f"has {len(cells)} cells where the header has {len(columns)}")
            continue
        row = Row(zip(names, cells_used(cells), strict=True))
        row.line, row.comma = line, comma
        too_long = too_long_column(row, file_format)
        yield row if too_long is None else Rejected(line, f"{too_long} has over {LONGEST_CELL} characters")


def too_long_column(row: Row, file_format: Format) -> str | None:
    """Return the first column whose cell is too long, None without one."""
    if max(map(len, row.values())) <= LONGEST_CELL:
        return None
    columns = (
        name for name, cell in row.items() if len(cell) > LONGEST_CELL and name not in file_format.long
    )
    return next(columns, None)


def candidates_of(
    trades: Iterator[ImportedTrade | Rejected], timezone: str, into_one_account: bool
) -> Iterator[Candidate | Rejected]:
    """Yield each trade with its columns.

    `occurrence` numbers the trades of the file with equal fingerprints.
    """
    counts: dict[int, int] = {}
    for trade in trades:
        if isinstance(trade, Rejected):
            yield trade
            continue
        try:
            columns = trade.trade.columns(timezone)
        except ValidationFailed as error:
            yield Rejected(trade.line, reason_of(error))
            continue
        fingerprint = fingerprint_of(columns)
        account = "" if into_one_account else trade.account or ""
        # Eight bytes of the fingerprint, so that the counts of a million rows stay small.
        key = int.from_bytes(fingerprint[:8], "big") ^ zlib.crc32(account.encode())
        occurrence = counts[key] = counts.get(key, 0) + 1
        # The same content twice in one file is two trades, the same external id is one trade.
        repeats_external_id = columns["external_id"] is not None and occurrence > 1
        columns |= {
            "fingerprint": fingerprint,
            "occurrence": 1 if repeats_external_id else occurrence,
            "content": content_of(columns, trade.unstated),
        }
        yield Candidate(trade, columns, repeats_external_id)
