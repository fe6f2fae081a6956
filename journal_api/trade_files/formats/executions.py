"""Executions: one fill per row, as Tradervue and TradeZella import them. A trade is from flat to flat."""

from collections.abc import Iterable
from datetime import timedelta

from journal_api.errors import ValidationFailed
from journal_api.rules.instruments import SHARES_OF_AN_OPTION
from journal_api.trade_files.cells import Row
from journal_api.trade_files.contracts import EXPIRATIONS, option_of, with_contract
from journal_api.trade_files.date_cells import midnight, timestamp
from journal_api.trade_files.directions import is_sale
from journal_api.trade_files.file_format import Format
from journal_api.trade_files.fill_book import Execution, FillId, Instrument, trades_from
from journal_api.values.money import ONE, Money, PositiveMoney
from journal_api.values.types import Name40, Name100

# Alternative names of a column.
SIDES = ("Side", "Buy/Sell")
ACCOUNTS = ("Account", "account")
# Ids of fills. The id of an order does not identify a fill, because an order may have many.
IDS = ("Execution ID", "Exec ID", "Fill ID")
COSTS = ("Commission", "Fees", "TransFee", "ECNFee")


def execution_of(row: Row) -> Execution:
    """Return the fill of a row. Raises ValidationFailed."""
    return Execution(
        instrument_of(row),
        fill_id_of(row),
        row.day("Date") + row.read("Time", clock),
        quantity_of(row),
        row.amount("Price", Money).units,
        cost_of(row),
    )


def instrument_of(row: Row) -> Instrument:
    """Return the instrument of a fill. Raises ValidationFailed."""
    account = filled(row, ACCOUNTS)
    stated = row.amount_if_any("Multiplier", PositiveMoney)
    is_option = filled(row, ("Strike", "Call/Put", "Option")) is not None
    default = SHARES_OF_AN_OPTION if is_option else ONE
    return Instrument(
        account and row.read(account, Name100.decode),
        with_contract("Symbol", row.read("Symbol", Name40.decode), contract_of(row)),
        stated or default,
        is_stated=stated is not None,
        is_future=not is_option and filled(row, ("Expiration",)) is not None,
    )


def contract_of(row: Row) -> list[str]:
    """Return expiration, strike and right of an option, or the expiration of a future.

    Raises ValidationFailed.
    """
    if filled(row, ("Strike", "Call/Put")):
        return option_of(row, "Expiration", "Strike", "Call/Put")
    parts = (
        row.read_if_any("Expiration", EXPIRATIONS[row.rules.date_order]),
        row.read_if_any("Option", Name40.decode),
    )
    return [part for part in parts if part]


def fill_id_of(row: Row) -> FillId | None:
    column = filled(row, IDS)
    return None if column is None else FillId(column, row.read(column, Name100.decode))


def quantity_of(row: Row) -> int:
    """Return the quantity, negative for a sale: by the side, or without one by the sign.

    Raises ValidationFailed.
    """
    quantity = row.amount("Quantity", Money).units
    if not quantity:
        raise ValidationFailed(fields={"Quantity": "must not be 0"})
    if not (side := filled(row, SIDES)):
        return quantity
    return -abs(quantity) if row.read(side, is_sale) else abs(quantity)


def cost_of(row: Row) -> int | None:
    """Return the sum of all costs, None without a column of costs. Raises ValidationFailed."""
    if row.keys().isdisjoint(COSTS):
        return None
    return sum(cost.units for column in COSTS if (cost := row.amount_if_any(column, Money)) is not None)


def filled(row: Row, columns: Iterable[str]) -> str | None:
    """Return the first of the columns whose cell is not empty."""
    for column in columns:
        cell = row.get(column)
        if cell and not cell.isspace():
            return column
    return None


def clock(cell: str) -> timedelta:
    """Return the time since midnight."""
    if not cell:
        raise ValueError("is required: it defines the order of the fills")
    return timestamp("2000-01-01", cell) - midnight("2000-01-01")


COLUMNS = frozenset({"Date", "Time", "Symbol", "Quantity", "Price"})
OPTIONAL = frozenset(
    {
        *(*SIDES, *ACCOUNTS, *IDS, *COSTS),
        *("Multiplier", "Expiration", "Strike", "Call/Put", "Option"),
    }
)
FORMAT = Format(
    "executions",
    COLUMNS | {"Side"},
    trades_from(execution_of),
    ACCOUNTS,
    OPTIONAL,
    dates=("Date",),
    is_typed=True,
)
TRADEZELLA = FORMAT._replace(name="TradeZella template", columns=COLUMNS | {"Buy/Sell"})
