"""Reads files of trades: recognises the format by the header and yields the trades."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

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
from journal_api.trade_files.amounts import Comma, guess_comma
from journal_api.trade_files.dates import CLOCK, ROWS_SEARCHED, DateOrder, FileDates, find_date_order
from journal_api.trade_files.file_format import CANNOT_BE_READ, Format, Trades, first_reason
from journal_api.trade_files.headers import Header, UnknownHeader, recognise
from journal_api.trade_files.known_formats import known_formats
from journal_api.trade_files.named_rows import RoundedCells
from journal_api.trade_files.pairs import join_pairs, keep_rows
from journal_api.trade_files.point_values import with_point_values
from journal_api.trade_files.profiles.profile_format import in_date_order, known_profile
from journal_api.trade_files.rows import Cells
from journal_api.trade_files.table_rows import Reading, name_cells
from journal_api.trade_files.texts import read_text
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.instruments import BUILT_IN, InstrumentTable

BATCH_SIZE, MAX_REASONS = 500, 100
ROWS_OF_NUMBERS = 500  # that are searched for the meaning of a comma
# The options of the command by those of the API.
OPTIONS = {"account_id": "account_id (--account)", "day": "day (--day)", "timezone": "timezone (--timezone)"}
ANY_DAY = date(2000, 1, 1)  # in place of one that must be stated, to find what else must be
NO_DAY = "is required: the times in this file have no day"


class LeftOutCounter:
    """Counts the rows that are no trades, by the reason, and keeps the warnings of the file.

    With `skip_errors` rows that cannot be read are counted too, but not what ends the reading of a file.
    """

    def __init__(
        self, instruments: InstrumentTable = BUILT_IN, *, force: bool = False, skip_errors: bool = False
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.has_failed_check = False
        self.ends: set[int] = set()  # the lines at which reading ends
        self._instruments, self._force, self._skip_errors = instruments, force, skip_errors

    def remove_from(self, trades: Trades) -> Iterator[ImportedTrade | Rejected]:
        """Yield the trades and the rejected lines; count the others."""
        for trade in trades:
            if isinstance(trade, LeftOut):
                self._count(trade.reason)
            elif isinstance(trade, Noted):
                self.warnings.append(trade.text)
            elif isinstance(trade, FileCheck):
                yield from self._check(trade)
            else:
                yield trade

    def remove_errors(self, rows: Iterator[Candidate | Rejected]) -> Iterator[Candidate | Rejected]:
        """Yield the trades; with `skip_errors` count the errors."""
        for row in rows:
            if self._skip_errors and isinstance(row, Rejected) and row.line not in self.ends:
                self._count(f"{CANNOT_BE_READ}{row.reason}")
            else:
                yield row

    def _count(self, reason: str) -> None:
        is_known = reason in self.counts or len(self.counts) < MAX_REASONS
        self.counts[reason if is_known else "another reason"] += 1

    def _check(self, check: FileCheck) -> Iterator[Rejected]:
        """Reject the file if its check fails; with `force`, the report only warns."""
        if (warning := check.find_warning(self._instruments)) is None:
            return
        self.has_failed_check = True
        if self._force:
            self.warnings.append(warning)
        else:
            self.ends.add(check.line)
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
    day: date | None = None,
    one_trade_is: Callable[[str], OneTradeIs] = lambda file_format: "position",
    force: bool = False,
    skip_errors: bool = False,
) -> TradeFile | UnknownHeader:
    """Recognise the format and read the first batch; the rest is read on iteration.

    The owner's `profiles` go before the known formats. Dates have day and month in `date_order`; by default
    the file decides. Times without a day are of `day`. `instruments` are the point values of contracts whose
    multiplier the file does not state. With `force` a file is read whose check fails, with `skip_errors` the
    rest of one with errors. `on_bytes` is called with the number of bytes read. Raises ValidationFailed with
    everything that the file does not say: the account, unless it goes `into_one_account`, the day, the time
    zone; also on iteration, when the time zone is unknown.
    """
    text = read_text(file, on_bytes)
    own = [known_profile(in_date_order(profile, date_order)) for profile in profiles]
    recognised = recognise(text, (*own, *known_formats(date_order)))
    if isinstance(recognised, UnknownHeader):
        return recognised
    header, rows = recognised
    first_rows = list(islice(rows, ROWS_SEARCHED if header.format.dates else ROWS_OF_NUMBERS))
    dates, comma = find_dates(first_rows, header), find_comma(first_rows, header)
    if date_order and dates.order:
        dates = FileDates(date_order, "stated")
    unsaid = find_unsaid(header, first_rows, day, into_one_account=into_one_account)
    left_out = LeftOutCounter(instruments, force=force, skip_errors=skip_errors)
    reading = Reading(
        *(dates.order, comma, str(day or ANY_DAY), skip_errors),
        *(left_out.warnings, left_out.ends),
    )
    named_rows = name_cells(chain(first_rows, rows), header, reading)
    trades = with_point_values(left_out.remove_from(header.format.read_trades(named_rows)), instruments)
    unit = one_trade_is(header.format.name)
    if header.format.is_pairs and unit == "position":
        trades = join_pairs(trades)
    elif header.format.is_pairs:
        trades = keep_rows(trades)
    candidates = build_candidates(trades, timezone, header.format, into_one_account)
    batches = split_batches(left_out.remove_errors(candidates))
    # A format that needs all rows for its first trade reads them now, before the write lock is acquired.
    try:
        first = list(islice(batches, 1))
    except ValidationFailed as error:
        raise (ask(unsaid | error.details["fields"]) if unsaid else error) from None
    if unsaid:
        raise ask(unsaid)
    return TradeFile(
        *(header.format.name, chain(first, batches), timezone, left_out, text.encoding, dates),
        *(reading.rounded, unit),
        has_pairs=header.format.is_pairs,
    )


def find_unsaid(
    header: Header, rows: Iterable[Cells | Rejected], day: date | None, *, into_one_account: bool
) -> dict[str, str]:
    """Return what the import must state, because the file does not: by the option, why."""
    unsaid = {}
    if not into_one_account and set(header.format.accounts).isdisjoint(header.columns):
        column = (*header.format.accounts, "account")[0]
        unsaid["account_id"] = f"is required: the file has no column {column!r}"
    times = [cell.strip() for cell in read_columns(rows, header, header.format.dates)]
    if day is None and any(times) and all(map(CLOCK.fullmatch, filter(None, times))):
        unsaid["day"] = NO_DAY
    return unsaid


def ask(fields: dict[str, str]) -> ValidationFailed:
    """Return the error that asks for all of this at once."""
    options = ", ".join(OPTIONS.get(name, name) for name in fields)
    reasons = "; ".join(f"{name} {reason}" for name, reason in fields.items())
    return ValidationFailed(
        f"State what the file does not say: {reasons}. Options: {options}.", fields=fields
    )


def find_comma(rows: Iterable[Cells | Rejected], header: Header) -> Comma | None:
    """Return the meaning of a comma in the numbers of the first rows, None for a file that people write."""
    first = next((row for row in rows if isinstance(row, Cells)), None)
    if header.format.is_typed or first is None:
        return None
    read = (header.format.columns | header.format.optional) - set(header.format.dates)
    return guess_comma(read_columns(islice(rows, ROWS_OF_NUMBERS), header, read), first.comma)


def read_columns(rows: Iterable[Cells | Rejected], header: Header, columns: Collection[str]) -> Iterator[str]:
    """Yield the cells of these columns."""
    indexes = [index for index, name in enumerate(header.columns) if name in columns]
    return (
        row.cells[index]
        for row in rows
        if isinstance(row, Cells)
        for index in indexes
        if index < len(row.cells)
    )


def find_dates(rows: Sequence[Cells | Rejected], header: Header) -> FileDates:
    """Return the order of day and month in the rows."""
    comma: Comma = next((row.comma for row in rows if isinstance(row, Cells)), "thousands")
    cells = read_columns(rows, header, header.format.dates)
    return find_date_order(cells, comma, is_local=header.format.has_local_dates)


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
