"""Reads files of trades: recognises the format by the header and yields the trades.

Each module in formats/ defines a `FORMAT`; `FORMATS` lists them, the more specific first.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, ImportedTrade, Rejected
from journal_api.rules.trade_identity import content_of, fingerprint_of
from journal_api.trade_files.cells import DateOrder, RoundedCells
from journal_api.trade_files.dates import ROWS_SEARCHED, FileDates
from journal_api.trade_files.file_format import Format, reason_of
from journal_api.trade_files.formats import (
    executions,
    metatrader5_history,
    ninjatrader_trades,
    round_trips,
    tradervue_trades,
    tradezella_trades,
    tradovate_performance,
)
from journal_api.trade_files.named_rows import dates_in, row_maker, with_column_names
from journal_api.trade_files.rows import MOST_COLUMNS, Cells, readings_of
from journal_api.trade_files.texts import FileText, text_of

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
LONGEST_NAME = 255  # characters of a column name


class TradeFile(NamedTuple):
    """A recognised file; iterate `candidates` once. `rounded` is complete when they are."""

    format: str
    candidates: Iterator[Candidate | Rejected]
    encoding: str = "utf-8"
    dates: FileDates = FileDates()
    rounded: RoundedCells = RoundedCells()


def read(
    file: BinaryIO,
    timezone: str,
    on_bytes: Callable[[int], object] = lambda number: None,
    *,
    into_one_account: bool = True,
    date_order: DateOrder | None = None,
) -> TradeFile:
    """Recognise the format and read the file up to the first trade; the rest is read on iteration.

    Times without an offset are local times in `timezone`, and dates have day and month in `date_order`; by
    default the file decides. `on_bytes` is called with the number of bytes read.
    Raises ValidationFailed for an unknown header, and, unless the file goes `into_one_account`, when it has
    no column that names accounts.
    """
    text = text_of(file, on_bytes)
    file_format, columns, rows = recognised(text)
    if not into_one_account and set(file_format.accounts).isdisjoint(columns):
        column = (*file_format.accounts, "account")[0]
        reason = f"is required: the file has no column {column!r}"
        message = f"The file has no column {column!r}. Name the account: account_id over HTTP, or --account."
        raise ValidationFailed(message, fields={"account_id": reason})
    first_rows = list(islice(rows, ROWS_SEARCHED)) if file_format.dates else []
    dates = dates_in(first_rows, columns, file_format)
    if date_order and dates.order:
        dates = FileDates(date_order, "stated")
    rounded = RoundedCells()
    row_of = row_maker(columns, file_format, dates.order, rounded)
    trades = file_format.trades_of(with_column_names(chain(first_rows, rows), columns, row_of))
    candidates = candidates_of(trades, timezone)
    # A format that needs all rows for its first trade reads them now, before the write lock is acquired.
    first = list(islice(candidates, 1))
    return TradeFile(file_format.name, chain(first, candidates), text.encoding, dates, rounded)


def recognised(text: FileText) -> tuple[Format, list[str], Iterator[Cells | Rejected]]:
    """Return the format, the column names and the rows after the header.

    Every separator is tried. Raises ValidationFailed for the most likely one, or for the first of which the
    header is similar to a format.
    """
    errors = []
    for rows in readings_of(text.pieces):
        try:
            return (*header_of(rows), rows)
        except ValidationFailed as error:
            errors.append(error)
    raise next(filter(is_similar, errors), errors[0])


def is_similar(error: ValidationFailed) -> bool:
    """Return whether the unknown header has a column of some format."""
    return len(error.details.get("missing", FORMATS)) < len(FORMATS)


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
            names = column_names(row.cells, candidate.aliases) if candidate.aliases else columns
            if candidate.columns <= set(names):
                check_names(candidate, names, line)
                return candidate, names
        nearest = max(nearest, (line, columns), key=lambda header: similarity(header[1]))
    raise unknown_header(*nearest)


def column_names(header: list[str], aliases: Mapping[str, str] = {}) -> list[str]:
    """Return the column names, for an alias the name that the format has.

    Repeated names are numbered, as in Time, Time 2; empty ones at the end are dropped.
    """
    seen: Counter[str] = Counter()
    columns = []
    names = [aliases.get(cell.strip(), cell.strip()) for cell in header]
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


def candidates_of(
    trades: Iterator[ImportedTrade | Rejected], timezone: str
) -> Iterator[Candidate | Rejected]:
    """Yield each trade with its columns."""
    for trade in trades:
        if isinstance(trade, Rejected):
            yield trade
            continue
        try:
            columns = trade.trade.columns(timezone)
        except ValidationFailed as error:
            yield Rejected(trade.line, reason_of(error))
            continue
        columns |= {"fingerprint": fingerprint_of(columns), "content": content_of(columns, trade.unstated)}
        yield Candidate(trade, columns)
