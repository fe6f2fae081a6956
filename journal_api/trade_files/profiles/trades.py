"""Profiles of kind `trades`, one trade per row: compiles a profile and a header to a reader of rows."""

from collections.abc import Callable, Collection
from decimal import Decimal
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import ImportedTrade, unstated
from journal_api.rules.trade_draft import TradeDraft
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.structs.trades import Direction
from journal_api.trade_files.cells import Row
from journal_api.trade_files.derived_amounts import derived, multiplier_of
from journal_api.trade_files.profiles.columns import name_in
from journal_api.trade_files.profiles.shared import costs_reader, external_id_reader, sale_reader
from journal_api.trade_files.profiles.times import time_in, time_reader
from journal_api.values.money import EXACT, ONE, ZERO, Money, PositiveMoney, Result
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name40, Name100


class Legs(NamedTuple):
    """Entry and exit of a trade. The exit of an open trade is None."""

    direction: Direction
    entry_price: Money
    opened_at: Timestamp
    exit_price: Money | None
    closed_at: Timestamp | None

    @property
    def points(self) -> Decimal:
        """The gain in points, 0 while the trade is open."""
        if self.exit_price is None:
            return Decimal()
        rise = EXACT.subtract(self.exit_price, self.entry_price)
        return rise if self.direction == "long" else -rise


def trade_reader(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], ImportedTrade]:
    """Return the function that reads the trade of a row, with the columns of this header."""
    symbol, quantity = (str(name_in(header, columns)) for columns in (profile.symbol, profile.quantity))
    account, stated_multiplier = name_in(header, profile.account), name_in(header, profile.multiplier)
    gross, net = name_in(header, profile.gross_pnl), name_in(header, profile.net_pnl)
    legs_of = matched_legs(profile, header) if profile.bought else stated_legs(profile, header)
    costs_of, id_of = costs_reader(profile, header), external_id_reader(profile, header)

    def trade_of(row: Row) -> ImportedTrade:
        legs, size = legs_of(row), row.amount(quantity, PositiveMoney)
        fees = costs_of(row)
        result = None if legs.closed_at is None else result_of(row, fees)
        multiplier = row.amount_if_any(stated_multiplier, PositiveMoney) if stated_multiplier else None
        is_stated = multiplier is not None
        if multiplier is None and result is not None and legs.points * result > 0:
            multiplier = multiplier_of(legs.points, size, result)
        trade = TradeDraft(
            symbol=row.read(symbol, Name40.decode),
            direction=legs.direction,
            quantity=size,
            multiplier=multiplier or ONE,
            entry_price=legs.entry_price,
            exit_price=legs.exit_price,
            opened_at=legs.opened_at,
            closed_at=legs.closed_at,
            gross_pnl=result,
            fees=fees or ZERO,
            external_id=id_of(row),
        ).with_result()
        return ImportedTrade(
            row.line,
            trade,
            unstated=unstated(multiplier=multiplier, fees=fees),
            is_computed=result is None,
            has_multiplier_of_result=result is not None and not is_stated,
            account=row.read_if_any(account, Name100.decode) if account else None,
        )

    def result_of(row: Row, fees: Result | None) -> Money | None:
        if gross:
            return row.amount(gross, Money)
        if net:
            return derived(net, "with the costs", EXACT.add(row.amount(net, Money), fees or Decimal()))
        return None

    return trade_of


def stated_legs(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], Legs]:
    """Return the reader of rows with a side, two prices and two times."""
    entry, exit_, opened, closed = (
        str(name_in(header, columns))
        for columns in (profile.entry_price, profile.exit_price, profile.opened_at, profile.closed_at)
    )
    is_short, read_time = sale_reader(profile, header), time_reader(profile)
    assert is_short is not None, "a profile of trades has a side, or purchase and sale"

    def legs_of(row: Row) -> Legs:
        is_closed = bool(row[closed].strip())
        return Legs(
            "short" if is_short(row) else "long",
            row.amount(entry, Money),
            time_in(row, opened, read_time),
            row.amount(exit_, Money) if is_closed else None,
            time_in(row, closed, read_time) if is_closed else None,
        )

    return legs_of


def matched_legs(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], Legs]:
    """Return the reader of rows with a purchase and a sale: if the sale was first, the trade is short."""
    fills = profile.bought, profile.sold
    columns = [
        tuple(str(name_in(header, part)) for part in (fill.price, fill.at, fill.id)) for fill in fills if fill
    ]
    read_time = time_reader(profile)

    def legs_of(row: Row) -> Legs:
        (bought, bought_at, buy_id), (sold, sold_at, sell_id) = (
            (row.amount(price, Money), time_in(row, at, read_time), row.read(fill_id, id_number))
            for price, at, fill_id in columns
        )
        try:
            is_short = (sold_at, sell_id) < (bought_at, buy_id)
        except TypeError:
            raise ValidationFailed(fields={columns[1][1]: "must have an offset in both times"}) from None
        if is_short:
            return Legs("short", sold, sold_at, bought, bought_at)
        return Legs("long", bought, bought_at, sold, sold_at)

    return legs_of


def id_number(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 100:
        raise ValueError("must be a fill id")
    return int(cell)
