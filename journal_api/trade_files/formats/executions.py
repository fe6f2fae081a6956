"""Executions: one fill per row, as Tradervue and TradeZella import them. A trade is from flat to flat."""

from datetime import time

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import FillId, ImportedFill, Instrument
from journal_api.positions.statements import Effect
from journal_api.trade_files.cells import is_sale, parse_symbol
from journal_api.trade_files.dates import parse_clock
from journal_api.trade_files.file_format import Format
from journal_api.trade_files.fill_book import add_contract, read_fills, read_option
from journal_api.trade_files.fill_checks import check_sales
from journal_api.trade_files.named_rows import Row
from journal_api.trade_files.vocabulary import closes
from journal_api.values.instruments import SHARES_OF_AN_OPTION
from journal_api.values.money import ONE, Money, PositiveMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Name40, Name100

# Alternative names of a column.
SIDES = ("Side", "Buy/Sell")
ACCOUNTS = ("Account", "account")
# Ids of fills. The id of an order does not identify a fill, because an order may have many.
IDS = ("Execution ID", "Exec ID", "Fill ID")
COSTS = ("Commission", "Fees", "TransFee", "ECNFee")


def read_fill(row: Row) -> ImportedFill:
    """Return the fill of a row. Raises ValidationFailed."""
    instrument = read_instrument(row)
    id_column = row.find(IDS)
    return ImportedFill(
        row.line,
        instrument,
        None if id_column is None else FillId(id_column, row.read(id_column, Name100.decode)),
        Timestamp.combine(row.day("Date"), row.read("Time", parse_time)),
        read_quantity(row),
        row.amount("Price", Money).units,
        sum_costs(row),
        Effect.CLOSES if any(closes(row.get(side, "")) for side in SIDES) else Effect.NOT_STATED,
    )


def read_instrument(row: Row) -> Instrument:
    account = row.find(ACCOUNTS)
    stated = row.amount_if_any("Multiplier", PositiveMoney)
    is_option = row.find(("Strike", "Call/Put", "Option")) is not None
    default = SHARES_OF_AN_OPTION if is_option else ONE
    return Instrument(
        account and row.read(account, Name100.decode),
        add_contract("Symbol", row.read("Symbol", parse_symbol), read_contract(row)),
        stated or default,
        is_stated=stated is not None,
        is_future=not is_option and row.has("Expiration"),
    )


def read_contract(row: Row) -> list[str]:
    """Return expiration, strike and right of an option, or the expiration of a future. Raises ValidationFailed."""
    if row.find(("Strike", "Call/Put")):
        return read_option(row, "Expiration", "Strike", "Call/Put")
    expires = row.day("Expiration").date().isoformat() if row.has("Expiration") else None
    return [part for part in (expires, row.read_if_any("Option", Name40.decode)) if part]


def read_quantity(row: Row) -> int:
    """Return the quantity, negative for a sale: by the side, or without one by the sign. Raises ValidationFailed."""
    quantity = row.amount("Quantity", Money).units
    if not quantity:
        raise ValidationFailed(fields={"Quantity": "must not be 0"})
    if not (side := row.find(SIDES)):
        return quantity
    return -abs(quantity) if row.read(side, is_sale) else abs(quantity)


def sum_costs(row: Row) -> int | None:
    """Return the sum of all costs, None without a column of costs. Raises ValidationFailed."""
    if row.keys().isdisjoint(COSTS):
        return None
    return sum(cost.units for column in COSTS if (cost := row.amount_if_any(column, Money)) is not None)


def parse_time(cell: str) -> time:
    if not cell:
        raise ValueError("is required: it defines the order of the fills")
    return parse_clock(cell)


COLUMNS = frozenset({"Date", "Time", "Symbol", "Quantity", "Price"})
OPTIONAL = frozenset(
    {*(*SIDES, *ACCOUNTS, *IDS, *COSTS), *("Multiplier", "Expiration", "Strike", "Call/Put", "Option")}
)
FORMAT = Format(
    "executions",
    COLUMNS | {"Side"},
    read_fills(read_fill, check_sales),
    ACCOUNTS,
    OPTIONAL,
    dates=("Date",),
    is_typed=True,
)
TRADEZELLA = FORMAT._replace(name="TradeZella template", columns=COLUMNS | {"Buy/Sell"})
