"""Profiles of kind `fills`, one fill per row: compiles a profile and a header to a reader of rows."""

from collections.abc import Callable

from journal_api.errors import ValidationFailed
from journal_api.rules.instruments import SHARES_OF_AN_OPTION
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.file_format import find_column
from journal_api.trade_files.fill_book import Execution, FillId, Instrument, add_contract, read_option
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
from journal_api.trade_files.profiles.columns import find_columns, require_column
from journal_api.values.money import ONE, Money
from journal_api.values.types import Name40


def execution_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], Execution]:
    """Return the function that reads the fill of a row, with the columns of this header."""
    price = require_column(header, profile.price)
    clock = (require_column(header, profile.clock),) if profile.clock else ()
    time = require_column(header, profile.at), *clock
    id_column = find_column(header, profile.external_id[0]) if profile.external_id else None
    read_instrument, parse_time = instrument_reader(profile, header), time_reader(profile)
    read_quantity = quantity_reader(profile, header)
    read_costs, read_id = costs_reader(profile, header), external_id_reader(profile, header)

    def read_execution(row: Row) -> Execution:
        fill_id, cost = read_id(row), read_costs(row)
        return Execution(
            read_instrument(row),
            FillId(str(id_column), fill_id) if fill_id else None,
            read_time(row, time, parse_time),
            read_quantity(row),
            row.amount(price, Money).units,
            None if cost is None else cost.units,
        )

    return read_execution


def instrument_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], Instrument]:
    """Return the reader of the instrument. It is an option in the rows with a strike."""
    symbol, option = require_column(header, profile.symbol), profile.option
    read_multiplier, read_account = multiplier_reader(profile, header), account_reader(profile, header)
    contract = find_columns(header, (option.expires, option.strike, option.right)) if option else []

    def read_instrument(row: Row) -> Instrument:
        stated = read_multiplier(row)
        name, default = row.read(symbol, Name40.decode), ONE
        if len(contract) == 3 and row[contract[1]].strip():
            name = add_contract(symbol, name, read_option(row, *contract))
            default = SHARES_OF_AN_OPTION
        return Instrument(read_account(row), name, stated or default, stated is not None)

    return read_instrument


def quantity_reader(profile: ImportProfileCreate, header: Header) -> Callable[[Row], int]:
    """Return the reader of the quantity, negative for a sale: by the side, or without a side by the sign."""
    column, is_sale = require_column(header, profile.quantity), sale_reader(profile, header)

    def read_quantity(row: Row) -> int:
        quantity = row.amount(column, Money).units
        if not quantity:
            raise ValidationFailed(fields={column: "must not be 0"})
        if is_sale is None:
            return quantity
        return -abs(quantity) if is_sale(row) else abs(quantity)

    return read_quantity
