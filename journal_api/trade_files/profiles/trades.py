"""Profiles of kind `trades`, one trade per row: compiles a profile and a header to a reader of rows."""

from collections.abc import Callable
from decimal import Decimal

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import ImportedTrade
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.file_format import find_column
from journal_api.trade_files.legs import Legs, build_trade, derive_multiplier
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.profiles.cells import (
    Header,
    account_reader,
    costs_reader,
    external_id_reader,
    multiplier_reader,
    read_time,
    sale_reader,
    time_reader,
)
from journal_api.trade_files.profiles.columns import require_column
from journal_api.values.money import EXACT, Money, PositiveMoney, Result
from journal_api.values.types import Name40


def trade_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], ImportedTrade]:
    """Return the function that reads the trade of a row, with the columns of this header."""
    symbol, quantity = (require_column(header, part) for part in (profile.symbol, profile.quantity))
    gross, net = find_column(header, profile.gross_pnl), find_column(header, profile.net_pnl)
    read_legs = matched_legs(profile, header) if profile.bought else stated_legs(profile, header)
    read_costs, read_id = costs_reader(profile, header), external_id_reader(profile, header)
    read_multiplier, read_account = multiplier_reader(profile, header), account_reader(profile, header)

    def read_trade(row: Row) -> ImportedTrade:
        legs, size = read_legs(row), row.amount(quantity, PositiveMoney)
        fees = read_costs(row)
        result = None if legs.closed_at is None else read_result(row, fees)
        stated = read_multiplier(row)
        derived = None if stated or result is None else derive_multiplier(legs.points, size, result)
        trade = build_trade(
            row.line,
            legs,
            row.read(symbol, Name40.decode),
            size,
            result,
            multiplier=stated or derived,
            fees=fees,
            external_id=read_id(row),
            account=read_account(row),
        )
        if result is not None and stated is None:
            return trade
        return replace(
            trade,
            trade=trade.trade.with_result(),
            is_computed=result is None,
            multiplier_from_result=False,
        )

    def read_result(row: Row, fees: Result | None) -> Money | None:
        if gross:
            return row.amount(gross, Money)
        if net:
            return derive_amount(net, "with the costs", EXACT.add(row.amount(net, Money), fees or Decimal()))
        return None

    return read_trade


def stated_legs(profile: ImportProfileCreate, header: Header) -> Callable[[Row], Legs]:
    """Return the reader of rows with a side, two prices and two times."""
    entry, exit_, opened, closed = (
        require_column(header, columns)
        for columns in (profile.entry_price, profile.exit_price, profile.opened_at, profile.closed_at)
    )
    is_short, parse_time = sale_reader(profile, header), time_reader(profile)
    assert is_short is not None, "a profile of trades has a side, or purchase and sale"

    def read_legs(row: Row) -> Legs:
        is_closed = bool(row[closed].strip())
        return Legs(
            "short" if is_short(row) else "long",
            row.amount(entry, Money),
            read_time(row, (opened,), parse_time),
            row.amount(exit_, Money) if is_closed else None,
            read_time(row, (closed,), parse_time) if is_closed else None,
        )

    return read_legs


def matched_legs(profile: ImportProfileCreate, header: Header) -> Callable[[Row], Legs]:
    """Return the reader of rows with a purchase and a sale: if the sale was first, the trade is short."""
    columns = [
        tuple(require_column(header, part) for part in (fill.price, fill.at, fill.id))
        for fill in (profile.bought, profile.sold)
        if fill
    ]
    parse_time = time_reader(profile)

    def read_legs(row: Row) -> Legs:
        (bought, bought_at, buy_id), (sold, sold_at, sell_id) = (
            (row.amount(price, Money), read_time(row, (at,), parse_time), row.read(fill_id, parse_id))
            for price, at, fill_id in columns
        )
        try:
            is_short = (sold_at, sell_id) < (bought_at, buy_id)
        except TypeError:
            raise ValidationFailed(fields={columns[1][1]: "must have an offset in both times"}) from None
        if is_short:
            return Legs("short", sold, sold_at, bought, bought_at)
        return Legs("long", bought, bought_at, sold, sold_at)

    return read_legs


def parse_id(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 100:
        raise ValueError("must be a fill id")
    return int(cell)
