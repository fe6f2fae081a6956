"""Executions: one fill a row, in the form that Tradervue and TradeZella take; flat to flat is a trade."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import ImportedTrade, Rejected
from journal_api.rules.trade_draft import TradeDraft
from journal_api.trade_files.cells import Row, timestamp
from journal_api.trade_files.file_format import Format, Rows, Trades, read_row, reason_of
from journal_api.trade_files.fills import Fill, Fills, RoundTrip, round_trips_of
from journal_api.values.money import Money, PositiveMoney, Result, from_units, json_text
from journal_api.values.types import Name40, Name100, Timestamp

M = TypeVar("M", bound=Money)
# Columns that may be called one or the other.
SIDES = ("Side", "Buy/Sell")
ACCOUNTS = ("Account", "account")
# Not the id of an order, which may have many fills.
IDS = ("Execution ID", "Exec ID", "Fill ID")
COSTS = ("Commission", "Fees", "TransFee", "ECNFee")
# An option is quoted by the share and is for a hundred of them; those that are not have to say so.
SHARES_OF_AN_OPTION = PositiveMoney(100)
# Symbols, in an account each. A file of this many makes no sense and much to remember.
MOST_INSTRUMENTS = 10_000
EPOCH = Timestamp(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAMED_MONTH = re.compile(
    rf"(?P<day>[0-9]{{1,2}})[ -](?P<month>{'|'.join(MONTHS)})[ -](?P<year>[0-9]{{4}}|[0-9]{{2}})"
)


class Instrument(NamedTuple):
    """What is held apart from all else: a symbol in an account."""

    account: str | None
    symbol: Name40
    multiplier: PositiveMoney
    is_stated: bool  # the multiplier


class Book:
    """The fills of a file, and what they are fills of."""

    def __init__(self) -> None:
        self.fills = Fills()
        self.ids: list[str | None] = []  # of each fill
        self.instruments: list[Instrument] = []
        self.has_costs = False
        self._numbers: dict[tuple[str | None, str], int] = {}  # of the instruments
        self._seen: defaultdict[str | None, set[str]] = defaultdict(set)

    def add(self, row: Row) -> None:
        """Raises ValidationFailed."""
        instrument = instrument_of(row)
        own_id = self._id_of(row, instrument.account)
        fill = Fill(
            instrument=self._number_of(instrument),
            time=(row.read("Date", day) + row.read("Time", clock) - EPOCH) // MICROSECOND,
            line=row.line,
            quantity=quantity_of(row),
            price=row.amount("Price", Money).units,
            cost=cost_of(row),
        )
        self.fills.add(fill)
        self.ids.append(own_id)
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
        """Raises ValidationFailed for an id that is there twice: its fill would be counted twice."""
        if (column := filled(row, IDS)) is None:
            return None
        own_id = row.read(column, Name100.decode)
        if own_id in self._seen[account]:
            raise ValidationFailed(fields={column: f"{own_id!r} stands there twice"})
        self._seen[account].add(own_id)
        return own_id


def trades_of(rows: Rows) -> Trades:
    """All trades; or only the lines that cannot be read, since without them the trades would be others."""
    book, is_broken = Book(), False
    for row in rows:
        read = row if isinstance(row, Rejected) else read_row(row, book.add)
        if isinstance(read, Rejected):
            is_broken = True
            yield read
    if not is_broken:
        yield from closed_and_open(book)


def closed_and_open(book: Book) -> Iterator[ImportedTrade | Rejected]:
    for trip in round_trips_of(book.fills):
        try:
            yield trade_of(book, trip)
        except ValidationFailed as error:
            yield Rejected(trip.first.line, reason_of(error))


def trade_of(book: Book, trip: RoundTrip) -> ImportedTrade:
    """Raises ValidationFailed for what is beyond any amount."""
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
    told = {"fees": book.has_costs, "multiplier": instrument.is_stated}
    return ImportedTrade(
        trip.first.line,
        trade,
        unstated=tuple(fact for fact, is_told in told.items() if not is_told),
        account=instrument.account,
        is_computed=True,
    )


def made_id(instrument: Instrument, trip: RoundTrip) -> str:
    """Of a trade whose first fill has no id of its own: the same in every later export, closed or open."""
    _, time, _, quantity, price, _ = trip.first
    parts = (instrument.account or "", instrument.symbol, time, quantity, price, trip.occurrence)
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode())
    return f"fill-{digest.hexdigest()[:16]}"


def instrument_of(row: Row) -> Instrument:
    """Raises ValidationFailed."""
    account = filled(row, ACCOUNTS)
    stated = row.amount_if_any("Multiplier", PositiveMoney)
    usual = SHARES_OF_AN_OPTION if filled(row, ("Strike", "Call/Put", "Option")) else PositiveMoney(1)
    return Instrument(
        account and row.read(account, Name100.decode), symbol_of(row), stated or usual, stated is not None
    )


def symbol_of(row: Row) -> Name40:
    """With the rest of the contract, such as SPY 2024-01-19 470 C. Raises ValidationFailed."""
    symbol = row.read("Symbol", Name40.decode)
    if not (rest := contract_of(row)):
        return symbol
    try:
        return Name40.decode(" ".join([symbol, *rest]))
    except ValueError as error:
        raise ValidationFailed(fields={"Symbol": f"with the rest of the contract {error}"}) from None


def contract_of(row: Row) -> list[str]:
    """Of an option its expiration, strike and right, of a future its expiration. Raises ValidationFailed."""
    if filled(row, ("Strike", "Call/Put")):
        strike = json_text(row.amount("Strike", PositiveMoney).units)
        return [row.read("Expiration", expiration), strike, row.read("Call/Put", right)]
    found = row.read_if_any("Expiration", expiration), row.read_if_any("Option", Name40.decode)
    return [part for part in found if part]


def quantity_of(row: Row) -> int:
    """Negative when sold: the side says it, and if there is none the sign. Raises ValidationFailed."""
    quantity = row.amount("Quantity", Money).units
    if not quantity:
        raise ValidationFailed(fields={"Quantity": "must not be 0"})
    if not (side := filled(row, SIDES)):
        return quantity
    return -abs(quantity) if row.read(side, is_sale) else abs(quantity)


def cost_of(row: Row) -> int:
    """Raises ValidationFailed."""
    return sum(found.units for column in COSTS if (found := row.amount_if_any(column, Money)) is not None)


def filled(row: Row, columns: Iterable[str]) -> str | None:
    """The first of the columns with something in its cell."""
    return next((column for column in columns if row.get(column, "").strip()), None)


def is_sale(cell: str) -> bool:
    """Buy, BOT, B, BTO, BTC, and Sell, SLD, SS, Short, STO, STC: the first letter tells."""
    if cell[0] not in "BbSs":
        raise ValueError("must begin with B or S, as Buy and Sell do")
    return cell[0] in "Ss"


def right(cell: str) -> str:
    if cell.upper() not in ("C", "P", "CALL", "PUT"):
        raise ValueError("must be Call or Put")
    return cell[0].upper()


def expiration(cell: str) -> str:
    """The day as 2024-01-19, told so, or as 1/19/24, or as 19 Jan 24."""
    if named := NAMED_MONTH.fullmatch(cell.lower()):
        cell = f"{MONTHS.index(named['month']) + 1}/{named['day']}/{named['year']}"
    return day(cell).date().isoformat()


def day(cell: str) -> Timestamp:
    """Its midnight."""
    return timestamp(cell, "00:00")


def clock(cell: str) -> timedelta:
    """How long after midnight."""
    if not cell:
        raise ValueError("is required: it says in which order the fills were made")
    return timestamp("2000-01-01", cell) - day("2000-01-01")


def wall_clock(microseconds: int) -> Timestamp:
    return EPOCH + microseconds * MICROSECOND


def significant(units: int) -> int:
    """Rounded to the digits that an amount may have."""
    return round(units, min(Money.digits - len(str(abs(units))), 0))


def amount(name: str, kind: type[M], units: int) -> M:
    """Raises ValidationFailed for an amount beyond the limits."""
    try:
        return kind.checked(from_units(units))
    except ValueError as error:
        raise ValidationFailed(fields={name: f"as it follows from the fills {error}"}) from None


COLUMNS = frozenset({"Date", "Time", "Symbol", "Quantity", "Price"})
OPTIONAL = frozenset(
    {
        *(*SIDES, *ACCOUNTS, *IDS, *COSTS),
        *("Multiplier", "Expiration", "Strike", "Call/Put", "Option"),
    }
)
FORMAT = Format("executions", COLUMNS | {"Side"}, trades_of, ACCOUNTS, OPTIONAL)
TRADEZELLA = Format("TradeZella template", COLUMNS | {"Buy/Sell"}, trades_of, ACCOUNTS, OPTIONAL)
