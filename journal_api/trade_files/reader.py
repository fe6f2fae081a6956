"""Reads files of trades: recognises the format by the header and yields the trades.

known_formats.py lists the formats.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, takewhile
from operator import itemgetter
from typing import BinaryIO, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, ImportedTrade, Rejected
from journal_api.rules.instruments import BUILT_IN, InstrumentTable
from journal_api.rules.trade_identity import content_of, fingerprint_of
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.cells import Row
from journal_api.trade_files.file_format import Format, reason_of
from journal_api.trade_files.formats import round_trips
from journal_api.trade_files.known_formats import KnownFormat, known_formats, of_profile
from journal_api.trade_files.left_out import LeftOutCounter
from journal_api.trade_files.point_values import with_point_values
from journal_api.trade_files.rows import MOST_COLUMNS, Cells, rows_of

# The number of rows in which the header is searched: HTML reports have other rows before it.
ROWS_BEFORE_THE_HEADER = 100
# In the rows after them, only the headers of sections are searched.
ROWS_BEFORE_A_SECTION = 20_000
# A blank row beyond them is an error.
MOST_BLANK_ROWS = 10_000
# Characters of a column name, and of a cell in columns that are not for texts of the trader.
LONGEST_NAME, LONGEST_CELL = 255, 10_000


class TradeFile(NamedTuple):
    """A recognised file; iterate `candidates` once. `left_out` is complete after the iteration."""

    format: str
    candidates: Iterator[Candidate | Rejected]
    left_out: LeftOutCounter


def read(
    file: BinaryIO,
    timezone: str,
    on_bytes: Callable[[int], object] = lambda number: None,
    *,
    into_one_account: bool = True,
    profiles: Sequence[ImportProfileCreate] = (),
    instruments: InstrumentTable = BUILT_IN,
) -> TradeFile:
    """Recognise the format and read the file up to the first trade; the rest is read on iteration.

    The owner's `profiles` go before the known formats. Times without an offset are local times in `timezone`.
    `on_bytes` is called with the number of bytes read. With `into_one_account` the account names in the file
    are ignored. `instruments` are the point values of contracts whose multiplier the file does not state.
    Raises ValidationFailed for an unknown header, and when the file must name its accounts but does not.
    """
    rows = rows_of(file, on_bytes)
    file_format, columns = header_of(rows, (*map(of_profile, profiles), *known_formats()))
    rows = section_of(rows) if file_format.section else rows
    if not into_one_account and set(file_format.accounts).isdisjoint(columns):
        reason = "is required: the file has no column 'account'"
        message = "The file has no column 'account'. Name the account: account_id over HTTP, or --account."
        raise ValidationFailed(message, fields={"account_id": reason})
    trades = file_format.trades_of(with_column_names(rows, columns, file_format))
    left_out = LeftOutCounter()
    with_values = with_point_values(left_out.removed_from(trades), instruments)
    candidates = candidates_of(with_values, timezone, into_one_account)
    # A format that needs all rows for its first trade reads them now, before the write lock is acquired.
    first = list(islice(candidates, 1))
    return TradeFile(file_format.name, chain(first, candidates), left_out)


def header_of(rows: Iterator[Cells | Rejected], formats: Sequence[KnownFormat]) -> tuple[Format, list[str]]:
    """Return the format and the column names.

    Raises ValidationFailed with the most similar formats and their missing columns.
    """
    nearest: tuple[int, list[str]] = (1, [])
    heading = ""
    for index, row in zip(range(ROWS_BEFORE_A_SECTION), rows, strict=False):
        if isinstance(row, Rejected):
            raise wrong_header(row.line, row.reason)
        if len(row.cells) > MOST_COLUMNS:
            raise wrong_header(row.line, f"has {len(row.cells)} columns; the maximum is {MOST_COLUMNS}")
        if (index < ROWS_BEFORE_THE_HEADER or heading) and any(row.cells):
            line, columns = row.line, column_names(row.cells)
            if columns == list(round_trips.TITLES):
                reason = "this is the export for spreadsheets, which changes texts: import the exact export"
                raise wrong_header(line, reason)
            header = dict.fromkeys(columns)
            for known in formats:
                if known.fits(header, heading):
                    file_format = known.for_header(header)
                    check_names(file_format, columns, line)
                    return file_format, columns
            nearest = max(nearest, (line, columns), key=lambda header: similarity(header[1], formats))
        heading = heading_after(row.cells, heading)
    raise unknown_header(*nearest, formats)


def heading_after(cells: list[str], heading: str) -> str:
    """Return the heading of the next row: the only text of this row, the same after a blank row."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    return texts[0] if len(texts) == 1 else "" if texts else heading


def section_of(rows: Iterator[Cells | Rejected]) -> Iterator[Cells | Rejected]:
    """Yield the rows up to a blank row or the heading of the next section."""
    return takewhile(lambda row: isinstance(row, Rejected) or sum(map(bool, row.cells)) > 1, rows)


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


def similarity(columns: list[str], formats: Sequence[KnownFormat]) -> int:
    """Return the largest number of columns that a format has in common with the header."""
    header = dict.fromkeys(columns)
    return max(len(known.header) - len(known.missing(header)) for known in formats)


def unknown_header(line: int, columns: list[str], formats: Sequence[KnownFormat]) -> ValidationFailed:
    """Return the error for an unknown header: the formats that it nearly has, with the missing columns."""
    header = dict.fromkeys(columns)
    near = [known for known in formats if known.lacks_few_of(header)]
    missing = {known.name: known.missing(header) for known in near}
    missing = dict(sorted(missing.items(), key=lambda item: len(item[1])))
    reason = "this header is of no known format: a dry run proposes a profile for it"
    for name, names in list(missing.items())[:1]:
        reason = f"this looks like {name}, but it has no column {', '.join(map(repr, names))}"
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason, missing=missing)


def with_column_names(
    rows: Iterator[Cells | Rejected], columns: list[str], file_format: Format
) -> Iterator[Row | Rejected]:
    """Yield each row by column name, with the columns that the format uses.

    Blank rows are skipped, up to MOST_BLANK_ROWS: reading them takes time in which no trade is returned.
    """
    blank_rows = 0
    used = file_format.columns | file_format.optional
    indexes = [index for index, name in enumerate(columns) if name in used]
    # Of one index, itemgetter would return a string instead of a tuple.
    cells_used = itemgetter(*indexes) if len(indexes) > 1 else lambda cells: (cells[indexes[0]],)
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
            "content": content_of(columns | amounts_as_read(trade), trade.unstated),
        }
        yield Candidate(trade, columns, repeats_external_id)


def amounts_as_read(trade: ImportedTrade) -> dict[str, int | None]:
    """Return multiplier and result before point values, so that a new point value changes no known trade."""
    as_read = trade.as_read or trade.trade
    return {
        "multiplier": as_read.multiplier.units,
        "gross_pnl": None if as_read.gross_pnl is None else as_read.gross_pnl.units,
    }
