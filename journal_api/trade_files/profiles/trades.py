"""Profiles of kind `trades`, one trade per row: compiles a profile and a header to a reader of rows."""

from collections.abc import Callable
from decimal import Decimal

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import ImportedTrade
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.amounts import derive_amount
from journal_api.trade_files.file_format import NoTrade
from journal_api.trade_files.named_rows import Row, shorten
from journal_api.trade_files.profiles.readers import ProfileReader
from journal_api.trade_files.stated_results import Legs, build_trade, derive_multiplier
from journal_api.trade_files.vocabulary import read_words, spell, translate
from journal_api.values.money import EXACT, Money, PositiveMoney, Result

DIGITS = frozenset("123456789")  # of a price
PURCHASE_AND_SALE = (("buyprice", "sellprice"), ("buydate", "selldate"))
PENDING = {"stop", "limit"}  # orders, which MetaTrader lists beside trades


def make_trade_reader(reader: ProfileReader) -> Callable[[Row], ImportedTrade]:
    """Return the function that reads the trade of a row."""
    profile = reader.profile
    quantity = reader.column(profile.quantity)
    gross = reader.column(profile.gross_pnl) if profile.gross_pnl else None
    net = reader.column(profile.net_pnl) if profile.net_pnl else None
    result_column = gross or net
    read_legs = make_matched_reader(profile, reader) if profile.bought else make_stated_reader(profile, reader)

    def read_trade(row: Row) -> ImportedTrade:
        reader.require_trade(row)
        if result_column and not row.has(result_column) and PENDING & read_words(row.get(reader.side, "")):
            raise NoTrade(f"{reader.side} is {shorten(row[reader.side])!r}")
        legs, size = read_legs(row), read_size(row)
        fees = reader.fees(row)
        result = None if legs.closed_at is None else read_result(row, fees)
        stated = reader.multiplier(row)
        trade = build_trade(
            row.line,
            legs,
            reader.symbol(row),
            size,
            result,
            fees=fees,
            find_multiplier=(lambda *_: stated) if stated else derive_multiplier,
            external_id=reader.external_id(row),
            account=reader.account(row),
        )
        if result is not None and stated is None:
            return trade
        draft = trade.trade.with_result()
        return replace(trade, trade=draft, is_computed=result is None, multiplier_from_result=False)

    def read_size(row: Row) -> PositiveMoney:
        """Return the quantity, which without a side has the sign of the direction."""
        if profile.side or profile.bought:
            return reader.amount(row, quantity, PositiveMoney)
        return PositiveMoney(abs(reader.amount(row, quantity, Money)))

    def read_result(row: Row, fees: Result | None) -> Money | None:
        if gross:
            return reader.amount(row, gross, Money)
        if net:
            return derive_amount(net, "with the costs", EXACT.add(reader.amount(row, net, Money), fees or Decimal()))
        return None

    return read_trade


def make_stated_reader(profile: ImportProfileCreate, reader: ProfileReader) -> Callable[[Row], Legs]:
    """Return the reader of rows with a side, two prices and two times."""
    prices = tuple(map(reader.column, (profile.entry_price, profile.exit_price)))
    times = tuple(map(reader.column, (profile.opened_at, profile.closed_at)))
    turned = [columns[:: -1 if are_of_fills(*columns) else 1] for columns in (prices, times)]

    def read_legs(row: Row) -> Legs:
        is_sale = reader.is_sale(row)
        (entry, exit_), (opened, closed) = turned if is_sale else (prices, times)
        is_closed = row.has(closed) and (row.has(exit_) or closed != opened)
        legs = Legs(
            "short" if is_sale else "long",
            reader.amount(row, entry, Money),
            reader.time(row, opened),
            reader.amount(row, exit_, Money) if is_closed else None,
            reader.time(row, closed) if is_closed else None,
        )
        reader.exits_without_time += not (is_closed or DIGITS.isdisjoint(row[exit_]))
        return legs

    return read_legs


def are_of_fills(entry: str, exit_: str) -> bool:
    """Return whether the columns of the ends are named as purchase and sale, by which a short trade enters."""
    named = [{translate(name), spell(name)} for name in (entry, exit_)]
    return any(one in named[0] and other in named[1] for one, other in PURCHASE_AND_SALE)


def make_matched_reader(profile: ImportProfileCreate, reader: ProfileReader) -> Callable[[Row], Legs]:
    """Return the reader of rows with a purchase and a sale: if the sale was first, the trade is short."""
    fills = [fill for fill in (profile.bought, profile.sold) if fill]
    columns = [[reader.column(part) for part in (fill.price, fill.at, fill.id)] for fill in fills]

    def read_legs(row: Row) -> Legs:
        (bought, bought_at, buy_id), (sold, sold_at, sell_id) = (
            (reader.amount(row, price, Money), reader.time(row, at), row.read(fill_id, parse_id))
            for price, at, fill_id in columns
        )
        try:
            is_short = (sold_at, sell_id) < (bought_at, buy_id)
        except TypeError:
            raise ValidationFailed(fields={columns[1][1]: "must have an offset in both times"}) from None
        if is_short:
            return Legs("short", sold, sold_at, bought, bought_at, (str(sell_id), str(buy_id)))
        return Legs("long", bought, bought_at, sold, sold_at, (str(buy_id), str(sell_id)))

    return read_legs


def parse_id(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()) or len(cell) > 100:
        raise ValueError("must be a fill id")
    return int(cell)
