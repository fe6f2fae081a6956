"""The symbol of an option or a future from the cells of its contract, such as SPY 2024-01-19 470 C."""

import re
from collections.abc import Iterable
from functools import partial

from journal_api.errors import ValidationFailed
from journal_api.trade_files.cells import Row
from journal_api.trade_files.date_cells import ORDERS, DateOrder, midnight
from journal_api.values.money import PositiveMoney, json_text
from journal_api.values.types import Name40

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAMED_MONTH = re.compile(
    rf"(?P<day>[0-9]{{1,2}})[ -](?P<month>{'|'.join(MONTHS)})[ -](?P<year>[0-9]{{4}}|[0-9]{{2}})"
)


def with_contract(column: str, symbol: Name40, contract: Iterable[str]) -> Name40:
    """Return the symbol followed by the parts of the contract. Raises ValidationFailed if it is too long."""
    if not (parts := list(contract)):
        return symbol
    try:
        return Name40.decode(" ".join([symbol, *parts]))
    except ValueError as error:
        raise ValidationFailed(fields={column: f"with the rest of the contract {error}"}) from None


def option_of(row: Row, expires: str, strike: str, call_or_put: str) -> list[str]:
    """Return expiration, strike and right from the cells of these columns. Raises ValidationFailed."""
    price = json_text(row.amount(strike, PositiveMoney).units)
    return [row.read(expires, EXPIRATIONS[row.rules.date_order]), price, row.read(call_or_put, right)]


def right(cell: str) -> str:
    """Return C or P."""
    if cell.upper() not in ("C", "P", "CALL", "PUT"):
        raise ValueError("must be Call or Put")
    return cell[0].upper()


def expiration(cell: str, order: DateOrder | None) -> str:
    """Return the day as 2024-01-19, from 2024-01-19, 1/19/24 or 19 Jan 24."""
    if named := NAMED_MONTH.fullmatch(cell.lower()):
        cell, order = f"{MONTHS.index(named['month']) + 1}/{named['day']}/{named['year']}", "month"
    return midnight(cell, order).date().isoformat()


EXPIRATIONS = {order: partial(expiration, order=order) for order in ORDERS}
