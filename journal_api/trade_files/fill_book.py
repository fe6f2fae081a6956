"""The fills of a file, with what must hold of them together."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from journal_api.database.user_threads import with_cancel_checks
from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import FileCheck, FillId, ImportedFill, Instrument, LeftOut, Noted, Rejected
from journal_api.positions.statements import Effect
from journal_api.trade_files.cells import parse_right
from journal_api.trade_files.file_format import Rows, Trades, read_row
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.point_values import is_share
from journal_api.values.instruments import canonical_in_year
from journal_api.values.money import PositiveMoney, json_text
from journal_api.values.types import Name40

# Symbols per account. The limit keeps memory bounded; no real file has that many.
MAX_INSTRUMENTS = 10_000
MIN_ROWS_OF_ONE_ID = 3


class Book:
    """The fills of a file, their ids and instruments."""

    def __init__(self) -> None:
        self.instruments: list[Instrument] = []
        self.fills: list[ImportedFill] = []
        self.one_id: FillId | None = None  # that all rows have, so that it identifies none
        self._repeated_in = self._rows_with_id = 0  # the line that repeats it first
        self._numbers: dict[tuple[str | None, str], int] = {}  # of the instruments, by contract
        self._ids_of_account: defaultdict[str | None, set[str]] = defaultdict(set)

    def add(self, fill: ImportedFill) -> None:
        """Add a fill. Raises ValidationFailed."""
        self._check_id(fill)
        if self.fills and fill.time.is_local != self.fills[0].time.is_local:
            raise ValidationFailed(fields={"time": "must have an offset in all rows or in none"})
        fill.number = self._number(fill.instrument, fill.time.year)
        self.fills.append(fill)

    def list_fills(self) -> Iterator[ImportedFill]:
        """Yield the fills with what all of them show of their instruments.

        One that closes, and after which the file states a position on its side, reverses.
        """
        instruments = [one._replace(symbol=one.contract) for one in self.instruments]
        for fill in self.fills:
            fill.instrument = instruments[fill.number]
            if fill.position and fill.position * fill.quantity > 0:
                fill.effect = Effect.NOT_STATED
            if self.one_id:
                fill.fill_id = None
            yield fill

    def find_difference(self) -> str | None:
        """Return where the file states another position than the one that its fills make, if it does.

        Fills of one time may be in another order, so the position after any of them will do.
        """
        size: Counter[int] = Counter()
        times, line = 0, 0
        in_order = sorted(with_cancel_checks(self.fills), key=lambda fill: fill.time)
        for _, fills in groupby(in_order, key=lambda fill: (fill.time, fill.number)):
            group = list(fills)
            size[group[0].number] += sum(fill.quantity for fill in group)
            stated = [fill.position for fill in group]
            if None not in stated and size[group[0].number] not in stated:
                times, line = times + 1, line or group[0].line
        if not times:
            return None
        return (
            f"the position that the file states is not the sum of its fills {times} times, first in line"
            f" {line}: the file begins inside a position, or fills are missing"
        )

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

    def _check_id(self, fill: ImportedFill) -> None:
        """Raise ValidationFailed for a repeated id, whose fill would count twice."""
        if fill.fill_id is None:
            return
        column, text = fill.fill_id
        self._rows_with_id += 1
        known = self._ids_of_account[fill.account]
        if text not in known:
            known.add(text)
        elif not self._has_one_id():
            raise ValidationFailed(fields={column: f"{text!r} is repeated"})
        elif self.one_id is None:
            self.one_id, self._repeated_in = fill.fill_id, fill.line


def read_fills(
    read_fill: Callable[[Row], ImportedFill], correct: Callable[[Book], Iterable[Noted | FileCheck]] = lambda book: ()
) -> Callable[[Rows], Trades]:
    """Return the function that parses the rows of a format with one fill per row.

    It yields all fills, or only the rejected lines: without their fills the trades would be wrong. `correct`
    changes the instruments by what all fills show.
    """

    def read_trades(rows: Rows) -> Trades:
        book, has_errors = Book(), False

        def add(row: Row) -> None:
            fill = read_fill(row)
            if row.rules.is_long_only and fill.quantity < 0 and not fill.effect and is_share(fill.instrument):
                fill.effect = Effect.HELD
            book.add(fill)

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
            yield from book.list_fills()
            if difference := book.find_difference():
                yield Noted(difference)
            if book.one_id:
                yield Noted(f"all rows have the {book.one_id.column} {book.one_id.text!r}, which identifies none")

    return read_trades


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
    """Return expiration, if it has a column, strike and right from the cells of these columns.

    Raises ValidationFailed.
    """
    day = [row.day(expires).date().isoformat()] if expires else []
    return [*day, json_text(row.amount(strike, PositiveMoney).units), row.read(call_or_put, parse_right)]
