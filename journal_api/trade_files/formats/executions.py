"""Executions: one fill per row, as Tradervue and TradeZella import them. A trade is from flat to flat."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from typing import NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import ImportedTrade, Rejected
from journal_api.rules.instruments import SHARES_OF_AN_OPTION
from journal_api.rules.trade_draft import TradeDraft
from journal_api.trade_files.cells import ORDERS, DateOrder, Row, midnight, timestamp
from journal_api.trade_files.directions import is_sale
from journal_api.trade_files.file_format import Format, Rows, Trades, read_row, reason_of
from journal_api.trade_files.fills import Fill, Fills, RoundTrip, round_trips_of
from journal_api.values.money import Money, PositiveMoney, Result, from_units, json_text
from journal_api.values.types import Name40, Name100, Timestamp

M = TypeVar("M", bound=Money)
# Alternative names of a column.
SIDES = ("Side", "Buy/Sell")
ACCOUNTS = ("Account", "account")
# Ids of fills. The id of an order does not identify a fill, because an order may have many.
IDS = ("Execution ID", "Exec ID", "Fill ID")
COSTS = ("Commission", "Fees", "TransFee", "ECNFee")
# Symbols per account. The limit keeps memory bounded; no real file has that many.
MOST_INSTRUMENTS = 10_000
EPOCH = Timestamp(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAMED_MONTH = re.compile(
    rf"(?P<day>[0-9]{{1,2}})[ -](?P<month>{'|'.join(MONTHS)})[ -](?P<year>[0-9]{{4}}|[0-9]{{2}})"
)


class Instrument(NamedTuple):
    """A symbol in an account, which has its own position."""

    account: str | None
    symbol: Name40
    multiplier: PositiveMoney
    is_stated: bool  # whether the file states the multiplier
    is_future: bool


class Book:
    """The fills of a file, their ids and instruments."""

    def __init__(self) -> None:
        self.fills = Fills()
        self.ids: list[str | None] = []  # the id of each fill
        self.instruments: list[Instrument] = []
        self.has_costs = False
        self._numbers: dict[tuple[str | None, str], int] = {}  # of the instruments
        self._ids_of_account: defaultdict[str | None, set[str]] = defaultdict(set)

    def add(self, row: Row) -> None:
        """Add the fill of a row. Raises ValidationFailed."""
        instrument = instrument_of(row)
        fill_id = self._id_of(row, instrument.account)
        fill = Fill(
            instrument=self._number_of(instrument),
            time=(row.day("Date") + row.read("Time", clock) - EPOCH) // MICROSECOND,
            line=row.line,
            quantity=quantity_of(row),
            price=row.amount("Price", Money).units,
            cost=cost_of(row),
        )
        self.fills.add(fill)
        self.ids.append(fill_id)
        self.has_costs = not row.keys().isdisjoint(COSTS)

    def _number_of(self, instrument: Instrument) -> int:
        number = self._numbers.setdefault((instrument.account, instrument.symbol), len(self.instruments))
        if number == len(self.instruments):
            if number == MOST_INSTRUMENTS:
                del self._numbers[instrument.account, instrument.symbol]
                raise ValidationFailed(fields={"Symbol": f"is the {number + 1}th: split the file"})
            self.instruments.append(instrument)
        elif instrument.multiplier != self.instruments[number].multiplier:
            raise ValidationFailed(fields={"Multiplier": "must be the same for all fills of a symbol"})
        return number

    def _id_of(self, row: Row, account: str | None) -> str | None:
        """Return the id of the fill.

        Raises ValidationFailed for a repeated id, whose fill would count twice.
        """
        if (column := filled(row, IDS)) is None:
            return None
        fill_id = row.read(column, Name100.decode)
        if fill_id in self._ids_of_account[account]:
            raise ValidationFailed(fields={column: f"{fill_id!r} is repeated"})
        self._ids_of_account[account].add(fill_id)
        return fill_id


def trades_of(rows: Rows) -> Trades:
    """Yield all trades, or only the rejected lines: without their fills the trades would be wrong."""
    book, has_errors = Book(), False
    for row in rows:
        result = row if isinstance(row, Rejected) else read_row(row, book.add)
        if isinstance(result, Rejected):
            has_errors = True
            yield result
    if not has_errors:
        yield from closed_and_open(book)


def closed_and_open(book: Book) -> Iterator[ImportedTrade | Rejected]:
    """Yield the trades of all fills."""
    for trip in round_trips_of(book.fills):
        try:
            yield trade_of(book, trip)
        except ValidationFailed as error:
            yield Rejected(trip.first.line, reason_of(error))


def trade_of(book: Book, trip: RoundTrip) -> ImportedTrade:
    """Return the trade of a round trip. Raises ValidationFailed for an amount that exceeds a limit."""
    instrument = book.instruments[trip.first.instrument]
    is_closed = trip.closed_at is not None
    trade = TradeDraft(
        symbol=instrument.symbol,
        direction="long" if trip.sign > 0 else "short",
        quantity=amount("quantity", PositiveMoney, significant(trip.opened)),
        multiplier=instrument.multiplier,
        entry_price=amount("entry_price", Money, significant(trip.entry_price)),
        exit_price=amount("exit_price", Money, significant(trip.exit_price)) if is_closed else None,
        opened_at=wall_clock(trip.first.time),
        closed_at=None if trip.closed_at is None else wall_clock(trip.closed_at),
        gross_pnl=amount("gross_pnl", Result, trip.result(instrument.multiplier.units))
        if is_closed
        else None,
        fees=amount("fees", Result, trip.cost),
        external_id=Name100(book.ids[trip.number] or made_id(instrument, trip)),
    )
    stated = {"fees": book.has_costs, "multiplier": instrument.is_stated}
    return ImportedTrade(
        trip.first.line,
        trade,
        unstated=tuple(field for field, is_stated in stated.items() if not is_stated),
        account=instrument.account,
        is_computed=True,
        is_future=instrument.is_future,
    )


def made_id(instrument: Instrument, trip: RoundTrip) -> str:
    """Return the id of a trade whose first fill has none: the same in every later export of the trade."""
    _, time, _, quantity, price, _ = trip.first
    parts = (instrument.account or "", instrument.symbol, time, quantity, price, trip.occurrence)
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode())
    return f"fill-{digest.hexdigest()[:16]}"


def instrument_of(row: Row) -> Instrument:
    """Return the instrument of a fill. Raises ValidationFailed."""
    account = filled(row, ACCOUNTS)
    stated = row.amount_if_any("Multiplier", PositiveMoney)
    is_option = filled(row, ("Strike", "Call/Put", "Option")) is not None
    default = SHARES_OF_AN_OPTION if is_option else PositiveMoney(1)
    return Instrument(
        account and row.read(account, Name100.decode),
        symbol_of(row),
        stated or default,
        is_stated=stated is not None,
        is_future=not is_option and filled(row, ("Expiration",)) is not None,
    )


def symbol_of(row: Row) -> Name40:
    """Return the symbol with the contract, such as SPY 2024-01-19 470 C. Raises ValidationFailed."""
    symbol = row.read("Symbol", Name40.decode)
    if not (rest := contract_of(row)):
        return symbol
    try:
        return Name40.decode(" ".join([symbol, *rest]))
    except ValueError as error:
        raise ValidationFailed(fields={"Symbol": f"with the rest of the contract {error}"}) from None


def contract_of(row: Row) -> list[str]:
    """Return expiration, strike and right of an option, or the expiration of a future.

    Raises ValidationFailed.
    """
    expiration_of_row = EXPIRATIONS[row.date_order]
    if filled(row, ("Strike", "Call/Put")):
        strike = json_text(row.amount("Strike", PositiveMoney).units)
        return [row.read("Expiration", expiration_of_row), strike, row.read("Call/Put", right)]
    parts = row.read_if_any("Expiration", expiration_of_row), row.read_if_any("Option", Name40.decode)
    return [part for part in parts if part]


def quantity_of(row: Row) -> int:
    """Return the quantity, negative for a sale: by the side, or without one by the sign.

    Raises ValidationFailed.
    """
    quantity = row.amount("Quantity", Money).units
    if not quantity:
        raise ValidationFailed(fields={"Quantity": "must not be 0"})
    if not (side := filled(row, SIDES)):
        return quantity
    return -abs(quantity) if row.read(side, is_sale) else abs(quantity)


def cost_of(row: Row) -> int:
    """Return the sum of all costs. Raises ValidationFailed."""
    return sum(cost.units for column in COSTS if (cost := row.amount_if_any(column, Money)) is not None)


def filled(row: Row, columns: Iterable[str]) -> str | None:
    """Return the first of the columns whose cell is not empty."""
    return next((column for column in columns if row.get(column, "").strip()), None)


def right(cell: str) -> str:
    """Return C or P."""
    if cell.upper() not in ("C", "P", "CALL", "PUT"):
        raise ValueError("must be Call or Put")
    return cell[0].upper()


def expiration(cell: str, order: DateOrder | None) -> str:
    """Return the day as 2024-01-19, from 2024-01-19, 1/19/24 or 19 Jan 24."""
    if named := NAMED_MONTH.fullmatch(cell.lower()):
        cell, order = f"{MONTHS.index(named['month']) + 1}/{named['day']}/{named['year']}", "month"
    return midnight(cell, order).date().isoformat()


EXPIRATIONS = {order: partial(expiration, order=order) for order in ORDERS}


def clock(cell: str) -> timedelta:
    """Return the time since midnight."""
    if not cell:
        raise ValueError("is required: it defines the order of the fills")
    return timestamp("2000-01-01", cell) - midnight("2000-01-01")


def wall_clock(microseconds: int) -> Timestamp:
    return EPOCH + microseconds * MICROSECOND


def significant(units: int) -> int:
    """Return the amount rounded to the digits that an amount may have."""
    return round(units, min(Money.digits - len(str(abs(units))), 0))


def amount(name: str, kind: type[M], units: int) -> M:
    """Return an amount computed from fills. Raises ValidationFailed if it exceeds a limit."""
    try:
        return kind.checked(from_units(units))
    except ValueError as error:
        raise ValidationFailed(fields={name: f"computed from the fills {error}"}) from None


COLUMNS = frozenset({"Date", "Time", "Symbol", "Quantity", "Price"})
OPTIONAL = frozenset(
    {
        *(*SIDES, *ACCOUNTS, *IDS, *COSTS),
        *("Multiplier", "Expiration", "Strike", "Call/Put", "Option"),
    }
)
FORMAT = Format(
    "executions", COLUMNS | {"Side"}, trades_of, ACCOUNTS, OPTIONAL, dates=("Date",), is_typed=True
)
TRADEZELLA = FORMAT._replace(name="TradeZella template", columns=COLUMNS | {"Buy/Sell"})
