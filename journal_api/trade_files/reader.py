"""Reads files of trades: recognises the format by the header and yields the trades."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, ImportedTrade, Rejected
from journal_api.rules.instruments import BUILT_IN, InstrumentTable
from journal_api.rules.trade_identity import compute_checksums, compute_fingerprint
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.cells import RoundedCells
from journal_api.trade_files.date_cells import DateOrder
from journal_api.trade_files.dates import ROWS_SEARCHED, FileDates
from journal_api.trade_files.file_format import Format, reason_of
from journal_api.trade_files.headers import recognised
from journal_api.trade_files.known_formats import known_formats, of_profile
from journal_api.trade_files.left_out import LeftOutCounter
from journal_api.trade_files.named_rows import dates_in, row_maker, with_column_names
from journal_api.trade_files.point_values import with_point_values
from journal_api.trade_files.texts import text_of
from journal_api.trade_files.timezones import FileTimezone

BATCH_SIZE = 500


class TradeFile(NamedTuple):
    """A recognised file; iterate `batches` once. `left_out` and `rounded` are complete when they are."""

    format: str
    batches: Iterator[list[Candidate | Rejected]]
    timezone: FileTimezone
    left_out: LeftOutCounter
    encoding: str = "utf-8"
    dates: FileDates = FileDates()
    rounded: RoundedCells = RoundedCells()

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
) -> TradeFile:
    """Recognise the format and read the first batch; the rest is read on iteration.

    The owner's `profiles` go before the known formats. Dates have day and month in `date_order`; by default
    the file decides. `instruments` are the point values of contracts whose multiplier the file does not
    state. `on_bytes` is called with the number of bytes read.
    Raises ValidationFailed for an unknown header, and, unless the file goes `into_one_account`, when it has
    no column that names accounts; also on iteration, when the time zone is unknown.
    """
    text = text_of(file, on_bytes)
    formats = (*map(of_profile, profiles), *known_formats())
    file_format, columns, rows = recognised(text, formats)
    if not into_one_account and set(file_format.accounts).isdisjoint(columns):
        column = (*file_format.accounts, "account")[0]
        reason = f"is required: the file has no column {column!r}"
        message = f"The file has no column {column!r}. Name the account: account_id over HTTP, or --account."
        raise ValidationFailed(message, fields={"account_id": reason})
    first_rows = list(islice(rows, ROWS_SEARCHED)) if file_format.dates else []
    dates = dates_in(first_rows, columns, file_format)
    if date_order and dates.order:
        dates = FileDates(date_order, "stated")
    left_out, rounded = LeftOutCounter(), RoundedCells()
    row_of = row_maker(columns, file_format, dates.order, rounded)
    trades = file_format.trades_of(with_column_names(chain(first_rows, rows), columns, row_of))
    with_values = with_point_values(left_out.removed_from(trades), instruments)
    batches = batches_of(candidates_of(with_values, timezone, file_format, into_one_account))
    # A format that needs all rows for its first trade reads them now, before the write lock is acquired.
    first = list(islice(batches, 1))
    return TradeFile(
        file_format.name, chain(first, batches), timezone, left_out, text.encoding, dates, rounded
    )


def batches_of(candidates: Iterator[Candidate | Rejected]) -> Iterator[list[Candidate | Rejected]]:
    """Yield the candidates in lists of BATCH_SIZE."""
    while batch := list(islice(candidates, BATCH_SIZE)):
        yield batch


def candidates_of(
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
        zone = timezone.of(trade.trade, account, file_format)
        try:
            columns = trade.trade.columns(zone)
        except ValidationFailed as error:
            yield Rejected(trade.line, reason_of(error))
            continue
        columns |= {
            "fingerprint": compute_fingerprint(columns),
            "content": compute_checksums(columns_as_read(trade, columns), trade.unstated),
        }
        yield Candidate(trade, columns)


def columns_as_read(trade: ImportedTrade, columns: dict[str, Any]) -> dict[str, Any]:
    """Return the columns before point values, so that a new point value changes no known trade."""
    if trade.as_read is None:
        return columns
    gross_pnl = trade.as_read.gross_pnl
    return columns | {
        "multiplier": trade.as_read.multiplier.units,
        "gross_pnl": None if gross_pnl is None else gross_pnl.units,
    }
