"""Reads files of trades: recognises the format by the header and yields the trades."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from typing import Any, BinaryIO, NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, ImportedTrade, Rejected, TradeColumns
from journal_api.rules.instruments import BUILT_IN, InstrumentTable
from journal_api.rules.trade_identity import content_of, fingerprint_of
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.cells import RoundedCells
from journal_api.trade_files.date_cells import DateOrder
from journal_api.trade_files.dates import ROWS_SEARCHED, FileDates
from journal_api.trade_files.file_format import Format, reason_of
from journal_api.trade_files.formats import round_trips
from journal_api.trade_files.formats.plain_round_trips import PlainReader
from journal_api.trade_files.headers import recognised
from journal_api.trade_files.known_formats import known_formats, of_profile
from journal_api.trade_files.left_out import LeftOutCounter
from journal_api.trade_files.named_rows import dates_in, row_maker, with_column_names
from journal_api.trade_files.point_values import with_point_values
from journal_api.trade_files.rows import Cells
from journal_api.trade_files.texts import text_of
from journal_api.trade_files.timezones import FileTimezone

T = TypeVar("T")
BATCH_SIZE = 500


def no_columns() -> None:
    return None


class Batch(NamedTuple):
    """Some rows of a file. Iterate `candidates` once, or take `columns`, which are None unless all are plain.

    Reading columns takes time that is lost if the candidates are iterated after it.
    """

    candidates: Iterable[Candidate | Rejected]
    columns: Callable[[], TradeColumns | None] = no_columns


class TradeFile(NamedTuple):
    """A recognised file; iterate `batches` once. `left_out` and `rounded` are complete when they are."""

    format: str
    batches: Iterator[Batch]
    timezone: FileTimezone
    left_out: LeftOutCounter
    encoding: str = "utf-8"
    dates: FileDates = FileDates()
    rounded: RoundedCells = RoundedCells()

    @property
    def candidates(self) -> Iterator[Candidate | Rejected]:
        """All rows, each read by itself."""
        return chain.from_iterable(batch.candidates for batch in self.batches)


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
    left_out, rounded, blank_rows = LeftOutCounter(), RoundedCells(), count(1)
    row_of = row_maker(columns, file_format, dates.order, rounded)

    def candidates_in(rows: Iterable[Cells | Rejected]) -> Iterator[Candidate | Rejected]:
        trades = file_format.trades_of(with_column_names(rows, columns, row_of, blank_rows))
        with_values = with_point_values(left_out.removed_from(trades), instruments)
        return candidates_of(with_values, timezone, file_format, into_one_account)

    all_rows = chain(first_rows, rows)
    if file_format is round_trips.FORMAT and into_one_account:
        plain = PlainReader(columns, timezone, instruments)
        batches = (Batch(candidates_in(part), partial(plain.read, part)) for part in parts_of(all_rows))
    else:
        batches = (Batch(part) for part in parts_of(candidates_in(all_rows)))
    # A format that needs all rows for its first trade reads them now, before the write lock is acquired.
    first = list(islice(batches, 1))
    return TradeFile(
        file_format.name, chain(first, batches), timezone, left_out, text.encoding, dates, rounded
    )


def parts_of(items: Iterator[T]) -> Iterator[list[T]]:
    """Yield the items in lists of BATCH_SIZE."""
    while part := list(islice(items, BATCH_SIZE)):
        yield part


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
            "fingerprint": fingerprint_of(columns),
            "content": content_of(columns_as_read(trade, columns), trade.unstated),
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
