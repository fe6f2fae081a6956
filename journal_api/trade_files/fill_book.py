"""Builds trades from the fills of a file: a book of fills and instruments, and the trade of a round trip."""

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, timedelta
from typing import NamedTuple, TypeVar

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import (
    FileFill,
    ImportedTrade,
    LeftOut,
    Noted,
    Rejected,
    RowKind,
    unstated,
)
from journal_api.positions.trade_draft import TradeDraft
from journal_api.structs.trades import FillSide
from journal_api.trade_files.cells import EXPIRATIONS, parse_right
from journal_api.trade_files.file_format import Rows, Trades, first_reason, read_row
from journal_api.trade_files.fills import Differing, Effect, Fill, Fills, Part, RoundTrip, find_round_trips
from journal_api.trade_files.named_rows import Row
from journal_api.values.instruments import canonical_in_year
from journal_api.values.money import Money, PositiveMoney, Result, from_units, json_text
from journal_api.values.options import find_option
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name40, Name100

M = TypeVar("M", bound=Money)
# Symbols per account. The limit keeps memory bounded; no real file has that many.
MAX_INSTRUMENTS = 10_000
MIN_ROWS_OF_ONE_ID = 3
EPOCH, EPOCH_IN_UTC = Timestamp(1970, 1, 1), Timestamp(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Instrument(NamedTuple):
    """A symbol in an account, as the file writes it. Each contract has its own position."""

    account: str | None
    symbol: Name40
    multiplier: PositiveMoney
    is_stated: bool  # whether the file states the multiplier
    is_future: bool = False

    @property
    def contract(self) -> str:
        """The symbol of the trade: the canonical symbol of an option, whatever the file's form of it."""
        return find_option(self.symbol) or self.symbol


class FillId(NamedTuple):
    """The id of a fill and its column."""

    column: str
    text: str


class Execution(NamedTuple):
    """The fill of a row. Amounts are integers of 10^-8; the quantity of a sale is negative."""

    instrument: Instrument
    fill_id: FillId | None
    time: Timestamp
    quantity: int
    price: int
    cost: int | None  # None if the file states no costs
    effect: Effect = Effect.NOT_STATED
    position: int | None = None  # after the fill, as the file states it


class Book:
    """The fills of a file, their ids and instruments."""

    def __init__(self) -> None:
        self.fills = Fills()
        self.ids: list[str | None] = []  # the id of each fill
        self.instruments: list[Instrument] = []
        self.has_costs = False
        self.one_id: FillId | None = None  # that all rows have, so that it identifies none
        self._repeated_in = self._rows_with_id = 0  # the line that repeats it first
        self._has_offsets: bool | None = None  # whether the times have an offset; they are in UTC then
        self._numbers: dict[tuple[str | None, str], int] = {}  # of the instruments, by contract
        self._ids_of_account: defaultdict[str | None, set[str]] = defaultdict(set)

    def add(self, line: int, execution: Execution) -> None:
        """Add a fill. Raises ValidationFailed."""
        instrument = execution.instrument
        fill_id = self._check_id(line, execution.fill_id, instrument.account)
        number = self._number(instrument, execution.time.year)
        time = self._count_microseconds(execution.time)
        fill = Fill(number, time, line, execution.quantity, execution.price, execution.cost or 0)
        self.fills.add(fill, execution.effect, execution.position)
        self.ids.append(fill_id)
        self.has_costs |= execution.cost is not None

    def time(self, microseconds: int) -> Timestamp:
        """Return the time of a fill: in UTC if the file states offsets, otherwise a local time."""
        time = EPOCH + microseconds * MICROSECOND
        return time.replace(tzinfo=UTC) if self._has_offsets else time

    def numeric_ids(self) -> "array[int] | None":
        """Return the ids as numbers, None unless all of them are numbers of 64 bits."""
        try:
            return array("q", [int(fill_id or "") for fill_id in self.ids])
        except (ValueError, OverflowError):
            return None

    def read_fill(self, part: Part) -> FileFill:
        """Return the part of a fill that belongs to a trade."""
        number, fill, quantity, cost = part
        side: FillSide = "buy" if quantity > 0 else "sell"
        return FileFill(side, abs(quantity), fill.price, self.time(fill.time), cost, self.ids[number])

    def _count_microseconds(self, time: Timestamp) -> int:
        has_offset = time.tzinfo is not None
        if self._has_offsets is None:
            self._has_offsets = has_offset
        elif self._has_offsets != has_offset:
            raise ValidationFailed(fields={"time": "must have an offset in all rows or in none"})
        return (time - (EPOCH_IN_UTC if has_offset else EPOCH)) // MICROSECOND

    def _number(self, instrument: Instrument, year: int) -> int:
        key = instrument.account, canonical_in_year(instrument.symbol, year)
        number = self._numbers.get(key)
        if number is None:
            number = len(self.instruments)
            if number == MAX_INSTRUMENTS:
                raise ValidationFailed(fields={"Symbol": f"is the {number + 1}th: split the file"})
            self._numbers[key] = number
            self.instruments.append(instrument)
        elif instrument.multiplier != self.instruments[number].multiplier:
            raise ValidationFailed(fields={"Multiplier": "must be the same for all fills of a symbol"})
        return number

    def reject_repeated_id(self) -> Rejected | None:
        """Return the row that repeats an id. One id in all of at least MIN_ROWS_OF_ONE_ID rows is none."""
        is_of_all = self._has_one_id() and self._rows_with_id == len(self.fills) >= MIN_ROWS_OF_ONE_ID
        if self.one_id is None or is_of_all:
            return None
        return Rejected(self._repeated_in, f"{self.one_id.column} {self.one_id.text!r} is repeated")

    def _has_one_id(self) -> bool:
        return sum(map(len, self._ids_of_account.values())) == 1

    def _check_id(self, line: int, fill_id: FillId | None, account: str | None) -> str | None:
        """Return the id. Raises ValidationFailed for a repeated one, whose fill would count twice."""
        if fill_id is None:
            return None
        self._rows_with_id += 1
        if fill_id.text not in self._ids_of_account[account]:
            self._ids_of_account[account].add(fill_id.text)
            return fill_id.text
        if not self._has_one_id():
            raise ValidationFailed(fields={fill_id.column: f"{fill_id.text!r} is repeated"})
        if self.one_id is None:
            self.one_id, self._repeated_in, self.ids[:] = fill_id, line, [None] * len(self.ids)
        return None


def read_fills(
    read_execution: Callable[[Row], Execution],
    correct: Callable[[Book], Iterable[Noted]] = lambda book: (),
) -> Callable[[Rows], Trades]:
    """Return the function that parses the rows of a format with one fill per row.

    It yields all trades, or only the rejected lines: without their fills the trades would be wrong. `correct`
    changes the instruments by what all fills show.
    """

    def read_trades(rows: Rows) -> Trades:
        book, has_errors = Book(), False

        def add(row: Row) -> None:
            book.add(row.line, read_execution(row))

        for row in rows:
            result = read_row(row, add) if isinstance(row, Row) else row
            has_errors |= isinstance(result, Rejected)
            if isinstance(result, Rejected | LeftOut):
                yield result
        if rejected := book.reject_repeated_id():
            has_errors = True
            yield rejected
        if not has_errors:
            yield from correct(book)
            for trip in find_round_trips(book.fills, book.numeric_ids()):
                try:
                    yield build_trade(book, trip)
                except ValidationFailed as error:
                    yield Rejected(trip.first.line, first_reason(error))
            if (differing := book.fills.differing).times:
                yield Noted(describe_difference(differing))
            if book.one_id:
                yield Noted(
                    f"all rows have the {book.one_id.column} {book.one_id.text!r}, which identifies none"
                )

    return read_trades


def describe_difference(differing: Differing) -> str:
    return (
        f"the position that the file states is not the sum of its fills {differing.times} times, first in"
        f" line {differing.line}: the file begins inside a position, or fills are missing"
    )


def build_trade(book: Book, trip: RoundTrip) -> ImportedTrade:
    """Return the trade of a round trip. Raises ValidationFailed for an amount that exceeds a limit."""
    instrument = book.instruments[trip.first.instrument]
    is_closed = trip.closed_at is not None
    multiplier = instrument.multiplier
    trade = TradeDraft(
        symbol=instrument.contract,
        direction="long" if trip.sign > 0 else "short",
        quantity=check_amount("quantity", PositiveMoney, round_digits(trip.largest)),
        multiplier=multiplier,
        entry_price=check_amount("entry_price", Money, round_digits(trip.entry_price)),
        exit_price=check_amount("exit_price", Money, round_digits(trip.exit_price)) if is_closed else None,
        opened_at=book.time(trip.first.time),
        closed_at=None if trip.closed_at is None else book.time(trip.closed_at),
        gross_pnl=check_amount("gross_pnl", Result, trip.result(multiplier.units)) if is_closed else None,
        fees=check_amount("fees", Result, trip.cost),
        external_id=Name100(book.ids[trip.number] or make_id(instrument, trip)),
    )
    return ImportedTrade(
        trip.first.line,
        trade,
        unstated=unstated(multiplier=instrument.is_stated or None, fees=book.has_costs or None),
        account=instrument.account,
        is_computed=True,
        is_future=instrument.is_future,
        fills=tuple(book.read_fill(part) for part in trip.parts),
        kind=find_kind(book, trip),
        rows=len(trip.parts),
    )


def find_kind(book: Book, trip: RoundTrip) -> RowKind:
    if not trip.is_unmatched:
        return "fills"
    return "expiring" if book.fills.has_no_side(trip.number) else "closing"


def make_id(instrument: Instrument, trip: RoundTrip) -> str:
    """Return the id of a trade whose first fill has none: the same in every later export of the trade."""
    _, time, _, quantity, price, _ = trip.first
    parts = (instrument.account or "", instrument.symbol, time, quantity, price, trip.occurrence)
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode())
    return f"fill-{digest.hexdigest()[:16]}"


def round_digits(units: int) -> int:
    """Return the amount rounded to the digits that an amount may have."""
    if abs(units) < 10**Money.digits:
        return units
    return round(units, Money.digits - len(str(abs(units))))


def check_amount(name: str, kind: type[M], units: int) -> M:
    """Return an amount computed from fills. Raises ValidationFailed if it exceeds a limit."""
    lowest = 0 if issubclass(kind, PositiveMoney) else -(10**Money.digits)
    if lowest < units < 10**Money.digits:
        return kind.of_units(units)  # no limit can be exceeded
    try:
        return kind.checked(from_units(units))
    except ValueError as error:
        raise ValidationFailed(fields={name: f"computed from the fills {error}"}) from None


def add_contract(column: str, symbol: Name40, contract: Iterable[str]) -> Name40:
    """Return the symbol followed by the parts of the contract, such as SPY 2024-01-19 470 C.

    Raises ValidationFailed if it is too long.
    """
    if not (parts := list(contract)):
        return symbol
    try:
        return Name40.decode(" ".join([symbol, *parts]))
    except ValueError as error:
        raise ValidationFailed(fields={column: f"with the rest of the contract {error}"}) from None


def read_option(row: Row, expires: str, strike: str, call_or_put: str) -> list[str]:
    """Return expiration, strike and right from the cells of these columns. Raises ValidationFailed."""
    price = json_text(row.amount(strike, PositiveMoney).units)
    return [row.read(expires, EXPIRATIONS[row.rules.date_order]), price, row.read(call_or_put, parse_right)]
