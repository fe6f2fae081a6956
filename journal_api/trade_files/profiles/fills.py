"""Profiles of kind `fills`, one fill per row: compiles a profile and a header to a reader of rows."""

from collections.abc import Callable, Collection

from journal_api.errors import ValidationFailed
from journal_api.rules.instruments import SHARES_OF_AN_OPTION
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.cells import Row, refused
from journal_api.trade_files.contracts import option_of, with_contract
from journal_api.trade_files.fill_book import Execution, FillId, Instrument
from journal_api.trade_files.profiles.columns import name_in
from journal_api.trade_files.profiles.shared import costs_reader, external_id_reader, sale_reader
from journal_api.trade_files.profiles.times import time_in, time_reader
from journal_api.values.money import ONE, Money, PositiveMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name40, Name100


def execution_reader(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], Execution]:
    """Return the function that reads the fill of a row, with the columns of this header."""
    price = str(name_in(header, profile.price))
    id_column = name_in(header, profile.external_id[0]) if profile.external_id else None
    instrument_of, time_of = instrument_reader(profile, header), fill_time_reader(profile, header)
    quantity_of = quantity_reader(profile, header)
    costs_of, id_of = costs_reader(profile, header), external_id_reader(profile, header)

    def execution_of(row: Row) -> Execution:
        fill_id, cost = id_of(row), costs_of(row)
        return Execution(
            instrument_of(row),
            FillId(str(id_column), fill_id) if fill_id else None,
            time_of(row),
            quantity_of(row),
            row.amount(price, Money).units,
            None if cost is None else cost.units,
        )

    return execution_of


def instrument_reader(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], Instrument]:
    symbol, account = str(name_in(header, profile.symbol)), name_in(header, profile.account)
    multiplier = name_in(header, profile.multiplier)
    option = profile.option
    contract = (
        [name_in(header, part) for part in (option.expires, option.strike, option.right)] if option else []
    )
    expires, strike, right = contract if contract and all(contract) else (None, None, None)

    def instrument_of(row: Row) -> Instrument:
        stated = row.amount_if_any(multiplier, PositiveMoney) if multiplier else None
        name, default = row.read(symbol, Name40.decode), ONE
        if expires and strike and right and row[strike].strip():
            name = with_contract(symbol, name, option_of(row, expires, strike, right))
            default = SHARES_OF_AN_OPTION
        owner = row.read_if_any(account, Name100.decode) if account else None
        return Instrument(owner, name, stated or default, stated is not None)

    return instrument_of


def fill_time_reader(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], Timestamp]:
    """Return the reader of the time of a fill: one cell, or a date and the time of day in another cell."""
    at, clock = str(name_in(header, profile.at)), name_in(header, profile.clock)
    read_time = time_reader(profile)
    if clock is None:
        return lambda row: time_in(row, at, read_time)

    def time_of(row: Row) -> Timestamp:
        text = f"{row[at].strip()} {row[clock].strip()}"
        try:
            return read_time(text, row.rules.date_order)
        except ValueError as error:
            raise refused(f"{at} and {clock}", text, error) from None

    return time_of


def quantity_reader(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], int]:
    """Return the reader of the quantity, negative for a sale: by the side, or without a side by the sign."""
    column, is_sale = str(name_in(header, profile.quantity)), sale_reader(profile, header)

    def quantity_of(row: Row) -> int:
        quantity = row.amount(column, Money).units
        if not quantity:
            raise ValidationFailed(fields={column: "must not be 0"})
        if is_sale is None:
            return quantity
        return -abs(quantity) if is_sale(row) else abs(quantity)

    return quantity_of
