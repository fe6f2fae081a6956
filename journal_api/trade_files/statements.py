"""Makes statements of the fills and trades of a file: what each row says, with times in UTC."""

from collections.abc import Iterable, Iterator

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Candidate, ImportedFill, ImportedTrade, Rejected
from journal_api.positions.statements import Side, Statement
from journal_api.trade_files.file_format import Format, find_first_reason
from journal_api.trade_files.timezones import FileTimezone


def read_statements(
    trades: Iterable[ImportedTrade | ImportedFill | Rejected],
    timezone: FileTimezone,
    file_format: Format,
    into_one_account: bool,
    *,
    is_apart: bool,
) -> Iterator[Candidate | Rejected]:
    """Yield what each row states."""
    for row in trades:
        if isinstance(row, Rejected):
            yield row
            continue
        account = "" if into_one_account else row.account or ""
        if isinstance(row, ImportedFill):
            times = [row.time]
        else:
            times = [time for time in (row.trade.opened_at, row.trade.closed_at) if time is not None]
        is_local = {time.is_local for time in times}
        try:
            zone = timezone.find_zone(account, file_format, is_local=True in is_local)
            written = tuple([time.isoformat() for time in times]) if False not in is_local else ()
            if isinstance(row, ImportedFill):
                yield Candidate(row.line, row.account, state_fill(row, zone), times=written)
            else:
                is_pair = file_format.is_pairs and row.trade.closed_at is not None
                statement = state_trade(row, zone, is_pair, is_apart)
                imported = row if row.is_annotated else None
                yield Candidate(row.line, row.account, statement, imported, () if row.fills else written)
        except ValidationFailed as error:
            if "timezone" in error.details["fields"]:
                raise
            yield Rejected(row.line, find_first_reason(error))


def state_fill(fill: ImportedFill, zone: str) -> Statement:
    """Return what a row with one fill states."""
    at, instrument = check_time("time", fill.time.stored(zone)), fill.instrument
    return Statement(
        "fill",
        str(instrument.symbol),  # msgspec does not encode a Name40
        instrument.multiplier.units,
        (Side(fill.quantity, fill.price, at, str(fill.fill_id.text) if fill.fill_id else None),),
        fees=fill.cost,
        has_multiplier=instrument.is_stated,
        effect=fill.effect or None,
        is_future=instrument.is_future,
    )


def state_trade(row: ImportedTrade, zone: str, is_pair: bool, is_apart: bool) -> Statement:
    """Return what a row with an entry and its exit states. Raises ValidationFailed."""
    trade = row.trade
    return Statement(
        "pair" if is_pair else "whole",
        str(trade.symbol),
        trade.multiplier.units,
        tuple(list_sides(row, zone)),
        fees=trade.fees.units if row.states("fees") else None,
        gross_pnl=None if row.is_computed or trade.gross_pnl is None else trade.gross_pnl.units,
        external_id=trade.external_id and str(trade.external_id),
        has_multiplier=row.states("multiplier"),
        mae=None if trade.mae is None else trade.mae.units,
        mfe=None if trade.mfe is None else trade.mfe.units,
        fees_source=row.fees_source,
        is_future=row.is_future,
        is_apart=is_pair and is_apart,
    )


def list_sides(row: ImportedTrade, zone: str) -> Iterator[Side]:
    """Yield the fills of a trade: those that are stated, else entry and exit."""
    for side, size, price, time, fees, external_id in row.fills:
        known = external_id and str(external_id)
        yield Side(size if side == "buy" else -size, price, time.stored(zone), known, fees)
    if row.fills:
        return
    trade, (entry_id, exit_id) = row.trade, map(str, row.fill_ids) if row.fill_ids else (None, None)
    size = trade.quantity.units if trade.direction == "long" else -trade.quantity.units
    opened_at = check_time("opened_at", trade.opened_at.stored(zone))
    yield Side(size, trade.entry_price.units, opened_at, entry_id)
    if trade.closed_at is not None:
        closed_at = check_time("closed_at", trade.closed_at.stored(zone))
        if closed_at < opened_at:
            raise ValidationFailed(fields={"closed_at": "must not be before opened_at"})
        price = None if trade.exit_price is None else trade.exit_price.units
        yield Side(-size, price, closed_at, exit_id)


def check_time(name: str, instant: str) -> str:
    if not "1970" <= instant < "2201":
        raise ValidationFailed(fields={name: "must be in the years 1970 to 2200"})
    return instant
