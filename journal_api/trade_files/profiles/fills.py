"""Profiles of kind `fills`, one fill per row: compiles a profile and a header to a reader of rows."""

import re
from collections.abc import Callable
from itertools import count

from journal_api.positions.import_rows import FillId, ImportedFill, Instrument
from journal_api.positions.statements import Effect
from journal_api.trade_files.amounts import parse_broker_number
from journal_api.trade_files.fill_book import add_contract, read_option
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.profiles.columns import find_columns
from journal_api.trade_files.profiles.readers import ProfileReader
from journal_api.values.instruments import SHARES_OF_AN_OPTION
from journal_api.values.money import ONE, Money, PositiveMoney
from journal_api.values.options import find_option, find_root, looks_like_option
from journal_api.values.types import Name40

# ThinkOrSwim's option on a future, with the value of a point behind 1/: /NQM22 1/20 APR 22 (Wk5).
OF_FUTURE = re.compile(r"/[A-Z0-9]+ 1/(?P<points>[1-9][0-9]{0,5})\b")
MAX_SAMPLES = 1000  # of values, by which the others are judged


def make_fill_reader(reader: ProfileReader, value: str, rate: str, result: str) -> Callable[[Row], ImportedFill]:
    """Return the function that reads the fill of a row. It is of an option in the rows with a strike.

    `value` and `result` are the columns of what the file says of the fill, empty without one. The value is not
    read in rows with a `rate` at which it is converted.
    """
    profile, header, option = reader.profile, reader.header, reader.profile.option
    symbol, quantity, price = reader.column(profile.symbol), reader.quantity, reader.price
    times = [reader.column(part) for part in (profile.at, profile.clock) if part]
    contract = find_columns(header, (option.expires, option.strike, option.right)) if option else []
    id_column = next(iter(find_columns(header, profile.external_id or ())), "")
    rows = count()

    def read_fill(row: Row) -> ImportedFill:
        effect = reader.effect(row)
        expires = effect == Effect.EXPIRES
        reader.require_trade(row, *(() if expires else (price,)))
        fill_id, fees = reader.external_id(row), reader.fees(row)
        return ImportedFill(
            row.line,
            read_instrument(row),
            FillId(id_column, fill_id) if fill_id else None,
            reader.time(row, *times),
            read_expired(row) if expires else read_quantity(row),
            0 if expires and not row.has(price) else reader.amount(row, price, Money).units,
            None if fees is None else fees.units,
            effect,
            reader.position(row),
            read_value(row) if value else None,
            read_number(row, result) if result else None,
        )

    def read_value(row: Row) -> float | None:
        is_converted = rate and read_number(row, rate) not in (None, 1)
        return None if is_converted or next(rows) >= MAX_SAMPLES else read_number(row, value)

    def read_expired(row: Row) -> int:
        """Return the quantity of an option that expires; a letter after it, as in 2S, is its position's."""
        row[quantity] = row[quantity].strip().rstrip("LSls")
        return -abs(reader.size(row))

    def read_instrument(row: Row) -> Instrument:
        stated, name, default = reader.multiplier(row), reader.symbol(row), ONE
        if len(contract) == 3 and row.has(contract[1]) and row[contract[1]].strip("0. "):
            default = SHARES_OF_AN_OPTION
            if future := OF_FUTURE.match(name):
                default, code = PositiveMoney(future["points"]), row[contract[0]].strip().lstrip("/")
                name = add_contract(symbol, Name40.decode(code), read_option(row, "", *contract[1:]))
            elif not find_option(name):
                root = Name40(find_root(name) if looks_like_option(name) else name)
                name = add_contract(symbol, root, read_option(row, *contract))
        return Instrument(reader.account(row), name, stated or default, stated is not None)

    def read_quantity(row: Row) -> int:
        """Return the quantity, negative for a sale: by the side, or without a side by the sign."""
        units, is_sale = reader.size(row), reader.is_sale(row)
        reader.negative_purchases += units < 0 and not is_sale
        return -abs(units) if is_sale else abs(units)

    return read_fill


def read_number(row: Row, column: str) -> float | None:
    """Return the number of a cell, None for another text."""
    try:
        return float(parse_broker_number(row[column], row.rules.comma))
    except ValueError:
        return None
