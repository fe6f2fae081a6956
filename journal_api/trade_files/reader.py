"""Reads files of trades: recognises the format by the header and yields the trades."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, groupby, islice
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple, get_args

from journal_api.errors import ValidationFailed
from journal_api.positions.fills import Fill, decode_fills, encode_fills, state_fills
from journal_api.positions.import_rows import (
    Candidate,
    FileCheck,
    FileFill,
    ImportedTrade,
    LeftOut,
    Noted,
    Rejected,
)
from journal_api.positions.trade_columns import build_columns
from journal_api.positions.trade_identity import build_row_key, compute_checksums, compute_fingerprint
from journal_api.structs.import_profiles import ImportProfileCreate, OneTradeIs
from journal_api.structs.imports import LeftOutRows
from journal_api.trade_files.amounts import CACHED_AMOUNTS, Comma
from journal_api.trade_files.dates import ROWS_SEARCHED, DateOrder, FileDates, find_date_order
from journal_api.trade_files.file_format import Format, Trades, find_account_column, first_reason
from journal_api.trade_files.headers import Header, UnknownHeader, recognise
from journal_api.trade_files.known_formats import known_formats
from journal_api.trade_files.named_rows import CellRules, RoundedCells, Row, shorten
from journal_api.trade_files.pairs import join_pairs, keep_rows
from journal_api.trade_files.point_values import with_point_values
from journal_api.trade_files.profiles.profile_format import in_date_order, known_profile
from journal_api.trade_files.profiles.proposal import find_costs
from journal_api.trade_files.rows import MAX_BLANK_ROWS, Cells
from journal_api.trade_files.texts import read_text
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.instruments import BUILT_IN, InstrumentTable

BATCH_SIZE = 500
# Rows of text below a table.
MAX_ROWS_BELOW = 100
# Characters of a title in a table below.
MAX_TITLE_LENGTH = 40
# Characters of a cell in columns that are not for texts of the trader.
MAX_CELL_LENGTH = 10_000


class LeftOutCounter:
    """Counts the rows that are no trades, by the reason, and keeps the warnings of the file."""

    def __init__(self, instruments: InstrumentTable = BUILT_IN, *, force: bool = False) -> None:
        self.counts: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.has_failed_check = False
        self._instruments, self._force = instruments, force

    def remove_from(self, trades: Trades) -> Iterator[ImportedTrade | Rejected]:
        """Yield the trades and the rejected lines; count the others."""
        for trade in trades:
            if isinstance(trade, LeftOut):
                self.counts[trade.reason] += 1
            elif isinstance(trade, Noted):
                self.warnings.append(trade.text)
            elif isinstance(trade, FileCheck):
                yield from self._check(trade)
            else:
                yield trade

    def _check(self, check: FileCheck) -> Iterator[Rejected]:
        """Reject the file if its check fails; with `force`, the report only warns."""
        if (warning := check.find_warning(self._instruments)) is None:
            return
        self.has_failed_check = True
        if self._force:
            self.warnings.append(warning)
        else:
            yield Rejected(check.line, f"{warning}; force (--force) imports it as it is")

    def report(self) -> list[LeftOutRows]:
        return [LeftOutRows(reason=reason, rows=rows) for reason, rows in self.counts.items()]


class TradeFile(NamedTuple):
    """A recognised file; iterate `batches` once. `left_out` and `rounded` are complete when they are."""

    format: str
    batches: Iterator[list[Candidate | Rejected]]
    timezone: FileTimezone
    left_out: LeftOutCounter
    encoding: str = "utf-8"
    dates: FileDates = FileDates()
    rounded: RoundedCells = RoundedCells()
    one_trade_is: OneTradeIs = "position"
    has_pairs: bool = False

    @property
    def candidates(self) -> Iterator[Candidate | Rejected]:
        """All rows."""
        return chain.from_iterable(self.batches)


def read(
    file: BinaryIO,
    timezone: FileTimezone,
    on_bytes: Callable[[int], object] = lambda number: None,
    *,
    into_one_account: bool = True,
    profiles: Sequence[ImportProfileCreate] = (),
    instruments: InstrumentTable = BUILT_IN,
    date_order: DateOrder | None = None,
    one_trade_is: Callable[[str], OneTradeIs] = lambda file_format: "position",
    force: bool = False,
) -> TradeFile | UnknownHeader:
    """Recognise the format and read the first batch; the rest is read on iteration.

    The owner's `profiles` go before the known formats. Dates have day and month in `date_order`; by default
    the file decides. `instruments` are the point values of contracts whose multiplier the file does not
    state. With `force` a file is read whose check fails. `on_bytes` is called with the number of bytes read.
    Raises ValidationFailed, unless the file goes `into_one_account`, when it has no column that names
    accounts; also on iteration, when the time zone is unknown.
    """
    text = read_text(file, on_bytes)
    own = [known_profile(in_date_order(profile, date_order)) for profile in profiles]
    recognised = recognise(text, (*own, *known_formats(date_order)))
    if isinstance(recognised, UnknownHeader):
        return recognised
    header, rows = recognised
    if not into_one_account:
        require_account_column(header)
    first_rows = list(islice(rows, ROWS_SEARCHED)) if header.format.dates else []
    dates = find_dates(first_rows, header)
    if date_order and dates.order:
        dates = FileDates(date_order, "stated")
    left_out, rounded = LeftOutCounter(instruments, force=force), RoundedCells()
    named_rows = name_cells(chain(first_rows, rows), header, dates.order, rounded, left_out.warnings)
    trades = with_point_values(left_out.remove_from(header.format.read_trades(named_rows)), instruments)
    unit = one_trade_is(header.format.name)
    if header.format.is_pairs and unit == "position":
        trades = join_pairs(trades)
    elif header.format.is_pairs:
        trades = keep_rows(trades)
    candidates = build_candidates(trades, timezone, header.format, into_one_account)
    batches = split_batches(candidates)
    # A format that needs all rows for its first trade reads them now, before the write lock is acquired.
    first = list(islice(batches, 1))
    return TradeFile(
        *(header.format.name, chain(first, batches), timezone, left_out, text.encoding, dates, rounded, unit),
        has_pairs=header.format.is_pairs,
    )


def require_account_column(header: Header) -> None:
    """Raise ValidationFailed unless a column names accounts."""
    if not set(header.format.accounts).isdisjoint(header.columns):
        return
    column = (*header.format.accounts, "account")[0]
    reason = f"is required: the file has no column {column!r}"
    message = f"The file has no column {column!r}. Name the account: account_id over HTTP, or --account."
    raise ValidationFailed(message, fields={"account_id": reason})


def find_dates(rows: Iterable[Cells | Rejected], header: Header) -> FileDates:
    """Return the order of day and month in the rows."""
    indexes = [index for index, name in enumerate(header.columns) if name in header.format.dates]
    known = [row for row in rows if isinstance(row, Cells)]
    cells = (row.cells[index] for row in known for index in indexes if index < len(row.cells))
    comma = known[0].comma if known else "thousands"
    return find_date_order(cells, comma, is_local=header.format.has_local_dates)


def name_cells(
    rows: Iterable[Cells | Rejected],
    header: Header,
    date_order: DateOrder | None,
    rounded: RoundedCells,
    warnings: list[str],
) -> Iterator[Row | Rejected | LeftOut]:
    """Yield each row by column name.

    Blank rows are skipped, up to MAX_BLANK_ROWS: reading them takes time in which no trade is returned.
    """
    width, blank_rows = len(header.columns), count(1)
    build_row = row_builder(header, date_order, rounded)
    widened = (row.widened(width) if isinstance(row, Cells) else row for row in rows)
    rows_of_table = widened if header.format.is_typed else leave_out_text_below(widened, width, warnings)
    for row in rows_of_table if header.format.accounts else of_one_account(rows_of_table, header):
        if not isinstance(row, Cells):
            yield row
        elif not any(map(str.strip, row.cells)):
            if next(blank_rows) > MAX_BLANK_ROWS:
                yield Rejected(row.line, f"is blank, and at most {MAX_BLANK_ROWS} blank rows are skipped")
        elif not row.fits(width):
            yield Rejected(row.line, f"has {len(row.cells)} cells where the header has {width}")
        else:
            yield build_row(row)


def of_one_account(
    rows: Iterable[Cells | Rejected | LeftOut], header: Header
) -> Iterator[Cells | Rejected | LeftOut]:
    """Yield the rows of a format without accounts, and reject those of a second account."""
    column = find_account_column(header.columns)
    index = -1 if column is None else header.columns.index(column)
    first = ""
    for row in rows:
        if column is not None and isinstance(row, Cells) and index < len(row.cells):
            first, name = first or row.cells[index].strip(), row.cells[index].strip()
            if name not in (first, ""):
                reason = f"{column} is {shorten(name)!r}, but earlier rows have {shorten(first)!r}"
                yield Rejected(row.line, f"{reason}: import a file for each account")
                continue
        yield row


def leave_out_text_below(
    rows: Iterable[Cells | Rejected], width: int, warnings: list[str]
) -> Iterator[Cells | Rejected | LeftOut]:
    """Yield the rows, and leave out the text below the table, such as a disclaimer.

    The text begins with a blank row or a row of one cell, and no row of it is as wide as the header. Other
    tables in it are added to the warnings.
    """
    below: list[Cells] = []
    for row in rows:
        if isinstance(row, Cells) and len(below) < MAX_ROWS_BELOW and may_be_below(row, width, below):
            below.append(row)
        else:
            yield from below
            yield row
            below = []
    for table in split_tables(below):
        names = ", ".join(map(shorten, table[0].cells[:10]))
        if is_table := len(table) > 1:
            costs = " and has costs that the trades lack" if find_costs(table[0].cells) else ""
            warnings.append(f"the table in line {table[0].line} ({names}) is not read{costs}")
        for row in table:
            reason = f"is in another table: {names}" if is_table else "is text below the table"
            yield LeftOut(row.line, reason) if any(map(str.strip, row.cells)) else row


def split_tables(below: Sequence[Cells]) -> Iterator[list[Cells]]:
    """Yield the rows of each table together, and every other row alone.

    A table has at least two rows of one width, below a header of short names. A sentence that is cut at its
    commas has blanks at the beginning of its parts.
    """
    for _, group in groupby(below, lambda row: len(row.cells)):
        rows = list(group)
        names = rows[0].cells
        is_header = len(names) > 1 and all(
            name and name == name.strip() and len(name) <= MAX_TITLE_LENGTH for name in names
        )
        yield from [rows] if is_header and len(rows) > 1 else ([row] for row in rows)


def may_be_below(row: Cells, width: int, below: list[Cells]) -> bool:
    """Return whether the row may be text below the table, after the others that may be."""
    return not row.fits(width) and (bool(below) or sum(map(bool, row.cells)) <= 1)


def row_builder(
    header: Header, date_order: DateOrder | None, rounded: RoundedCells
) -> Callable[[Cells], Row | Rejected]:
    """Return the function that builds a row with the columns that the format uses."""
    used = header.format.columns | header.format.optional
    indexes = [index for index, name in enumerate(header.columns) if name in used]
    # Of one index, itemgetter would return a string instead of a tuple.
    pick_cells = itemgetter(*indexes) if len(indexes) > 1 else lambda cells: (cells[indexes[0]],)
    names = pick_cells(header.columns)
    rounds = None if header.format.is_typed else rounded
    rules = {
        comma: (CellRules(comma, date_order, rounds), CACHED_AMOUNTS[comma]) for comma in get_args(Comma)
    }

    def build_row(cells: Cells) -> Row | Rejected:
        row = Row(zip(names, pick_cells(cells.cells), strict=True))
        row.line, (row.rules, row.amounts) = cells.line, rules[cells.comma]
        if len("".join(cells.cells)) > MAX_CELL_LENGTH:
            for name, cell in row.items():
                if len(cell) > MAX_CELL_LENGTH and name not in header.format.long:
                    return Rejected(cells.line, f"{name} has over {MAX_CELL_LENGTH} characters")
        return row

    return build_row


def build_candidates(
    trades: Iterator[ImportedTrade | Rejected],
    timezone: FileTimezone,
    file_format: Format,
    into_one_account: bool,
) -> Iterator[Candidate | Rejected]:
    """Yield each trade with its columns."""
    for trade in trades:
        if isinstance(trade, Rejected):
            yield trade
            continue
        account = "" if into_one_account else trade.account or ""
        zone = timezone.find_zone(trade.trade, account, file_format)
        try:
            columns = build_columns(trade.trade, zone)
        except ValidationFailed as error:
            yield Rejected(trade.line, first_reason(error))
            continue
        columns["fees_source"] = trade.fees_source or ("file" if trade.states("fees") else "none")
        if trade.fills:
            columns["fills"] = encode_file_fills(trade.fills, zone, columns)
        content = compute_checksums(restore_multiplier(trade, columns), trade.unstated)
        columns |= {
            "fingerprint": compute_fingerprint(columns),
            "content": content + b"".join(identify_rows(trade, columns)) if trade.pairs else content,
        }
        yield Candidate(trade, columns)


def identify_rows(trade: ImportedTrade, columns: dict[str, Any]) -> Iterator[bytes]:
    """Yield the keys of the rows that a position was joined from."""
    fills = [] if trade.pairs[0].external_id else decode_fills(columns["fills"])
    occurrences = Counter[bytes]()
    for row in trade.pairs:
        fields = {
            "external_id": row.external_id,
            "symbol": columns["symbol"],
            "direction": columns["direction"],
        }
        if fills:
            entry, exit_ = fills[row.entry], fills[row.exit]
            fields |= {"quantity": row.quantity, "entry_price": entry.price, "exit_price": exit_.price}
            fields |= {"opened_at": entry.at, "closed_at": exit_.at}
        fingerprint = compute_fingerprint(fields)
        occurrences[fingerprint] += 1
        yield build_row_key(fingerprint, occurrences[fingerprint])


def encode_file_fills(file_fills: Sequence[FileFill], zone: str, columns: dict[str, Any]) -> str | None:
    """Return the fills as JSON, None if the columns state them."""
    first, last = file_fills[0].time, file_fills[-1].time
    # The first and the last time are stored already, and most positions have no others.
    known = {first: columns["opened_at"], last: columns["closed_at"] or last.stored(zone)}
    fills = [
        Fill(number, side, quantity, price, known.get(time) or time.stored(zone), fees, external_id)
        for number, (side, quantity, price, time, fees, external_id) in enumerate(file_fills, 1)
    ]
    return None if fills == state_fills(columns) else encode_fills(fills)


def restore_multiplier(trade: ImportedTrade, columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns before point values, so that a new point value changes no known trade."""
    if trade.as_read is None:
        return columns
    gross_pnl = trade.as_read.gross_pnl
    return columns | {
        "multiplier": trade.as_read.multiplier.units,
        "gross_pnl": None if gross_pnl is None else gross_pnl.units,
    }


def split_batches(candidates: Iterator[Candidate | Rejected]) -> Iterator[list[Candidate | Rejected]]:
    """Yield the candidates in lists of BATCH_SIZE."""
    while batch := list(islice(candidates, BATCH_SIZE)):
        yield batch
