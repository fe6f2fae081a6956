"""Files of trades: which format it is, told by the header, and the trades in it one by one.

A format is a module with a `FORMAT`; `FORMATS` lists them, the more particular first.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, islice
from operator import itemgetter
from typing import BinaryIO, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, ImportedTrade, Rejected
from journal_api.rules.trade_identity import content_of, fingerprint_of
from journal_api.trade_files.cells import Row
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
# In a page of HTML the tables stand after other things.
ROWS_BEFORE_THE_HEADER = 100
# Characters of the name of a column, and of a cell of those columns that hold no texts of the trader's.
LONGEST_NAME, LONGEST_CELL = 255, 10_000


class TradeFile(NamedTuple):
    """A recognised file; iterate `candidates` once."""

    format: str
    candidates: Iterator[Candidate | Rejected]


def read(
    file: BinaryIO,
    timezone: str,
    on_bytes: Callable[[int], object] = lambda number: None,
    *,
    into_one_account: bool = True,
) -> TradeFile:
    """Recognise the file and read it as it is asked for, up to the first trade at once.

    Times without an offset are read in `timezone`. `on_bytes` hears of every line's length. Into one account
    goes all of the file, whatever accounts it names. Raises ValidationFailed when the header is of no format,
    or when the accounts are to be named and are not.
    """
    rows = rows_of(file, on_bytes)
    chosen, columns = header_of(rows)
    if not into_one_account and set(chosen.accounts).isdisjoint(columns):
        reason = "is required: the file has no column 'account'"
        message = "The file has no column 'account'. Name the account: account_id over HTTP, or --account."
        raise ValidationFailed(message, fields={"account_id": reason})
    candidates = candidates_of(chosen.trades_of(named(rows, columns, chosen)), timezone, into_one_account)
    # A format that needs all of its rows for the first trade reads them now, not under the write lock.
    first = list(islice(candidates, 1))
    return TradeFile(chosen.name, chain(first, candidates))


def header_of(rows: Iterator[Cells | Rejected]) -> tuple[Format, list[str]]:
    """The format and the names of its columns.

    Raises ValidationFailed saying which formats the header is nearest to, and what each misses.
    """
    nearest: tuple[int, list[str]] = (1, [])
    for _, row in zip(range(ROWS_BEFORE_THE_HEADER), rows, strict=False):
        if isinstance(row, Rejected):
            raise wrong_header(row.line, row.reason)
        if len(row.cells) > MOST_COLUMNS:
            raise wrong_header(row.line, f"has {len(row.cells)} columns, and at most {MOST_COLUMNS} are read")
        line, columns = row.line, numbered(row.cells)
        if columns == list(round_trips.TITLES):
            reason = "this is the export for spreadsheets, which changes texts: import the one without it"
            raise wrong_header(line, reason)
        for candidate in FORMATS:
            if candidate.columns <= set(columns):
                check_names(candidate, columns, line)
                return candidate, columns
        nearest = max(nearest, (line, columns), key=lambda one: likeness(one[1]))
    raise unknown_header(*nearest)


def numbered(header: list[str]) -> list[str]:
    """The names of the columns: a repeated one is numbered, as in Time, Time 2; empty ones at the end go."""
    seen: Counter[str] = Counter()
    columns = []
    names = [cell.strip() for cell in header]
    while names and not names[-1]:
        names.pop()
    for name in names:
        seen[name] += 1
        columns.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return columns


def check_names(chosen: Format, columns: list[str], line: int) -> None:
    """Raises ValidationFailed for the name of a column that is too long, or stands there twice.

    A format may have one twice.
    """
    if any(len(name) > LONGEST_NAME for name in columns):
        raise wrong_header(line, f"has a column whose name has over {LONGEST_NAME} characters")
    known = set(columns) - chosen.columns
    for name in columns:
        if name and f"{name} 2" in known:
            raise wrong_header(line, f"the column {name!r} stands there twice")


def wrong_header(line: int, reason: str) -> ValidationFailed:
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason)


def likeness(columns: list[str]) -> int:
    """How many columns it shares with the format that it shares most with."""
    return max(len(one.columns & set(columns)) for one in FORMATS)


def unknown_header(line: int, columns: list[str]) -> ValidationFailed:
    like = [one for one in FORMATS if one.columns & set(columns)] or FORMATS
    missing = {
        one.name: sorted(one.columns - set(columns))
        for one in sorted(like, key=lambda one: len(one.columns - set(columns)) / len(one.columns))
    }
    nearest = list(missing.items())[:2] if len(like) < len(FORMATS) else []
    told = "; ".join(f"{name} misses {', '.join(names)}" for name, names in nearest)
    reason = f"this header is of no known format: {told or 'known are ' + ', '.join(missing)}"
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason, missing=missing)


def named(rows: Iterator[Cells | Rejected], columns: list[str], chosen: Format) -> Iterator[Row | Rejected]:
    """Each row under the names of the columns that the format reads; blank rows are left out."""
    read = chosen.columns | chosen.optional
    places = [place for place, name in enumerate(columns) if name in read]
    cells_read = itemgetter(*places)
    names = cells_read(columns)
    for found in rows:
        if isinstance(found, Rejected):
            yield found
            continue
        line, cells, comma = found
        if not any(map(str.strip, cells)):
            continue
        if len(cells) < len(columns) or any(cells[len(columns) :]):
            yield Rejected(line, f"has {len(cells)} cells where the header has {len(columns)}")
            continue
        row = Row(zip(names, cells_read(cells), strict=True))
        row.line, row.comma = line, comma
        too_long = too_long_in(row, chosen)
        yield row if too_long is None else Rejected(line, f"{too_long} has over {LONGEST_CELL} characters")


def too_long_in(row: Row, chosen: Format) -> str | None:
    """The first column with a cell that is longer than anything that can stand there."""
    if max(map(len, row.values())) <= LONGEST_CELL:
        return None
    columns = (name for name, cell in row.items() if len(cell) > LONGEST_CELL and name not in chosen.long)
    return next(columns, None)


def candidates_of(
    found: Iterator[ImportedTrade | Rejected], timezone: str, into_one_account: bool
) -> Iterator[Candidate | Rejected]:
    """Each trade with its columns, told from the others of its kind in the file by its `occurrence`."""
    seen: dict[int, int] = {}
    for one in found:
        if isinstance(one, Rejected):
            yield one
            continue
        try:
            columns = one.trade.columns(timezone)
        except ValidationFailed as error:
            yield Rejected(one.line, reason_of(error))
            continue
        fingerprint = fingerprint_of(columns)
        account = "" if into_one_account else one.account or ""
        # Eight bytes of it, so that the counts of a million rows stay small.
        key = int.from_bytes(fingerprint[:8], "big") ^ zlib.crc32(account.encode())
        times = seen[key] = seen.get(key, 0) + 1
        # The same content twice in one file is two trades; the same external id is one.
        repeats_external_id = columns["external_id"] is not None and times > 1
        columns |= {
            "fingerprint": fingerprint,
            "occurrence": 1 if repeats_external_id else times,
            "content": content_of(columns, one.unstated),
        }
        yield Candidate(one, columns, repeats_external_id)
