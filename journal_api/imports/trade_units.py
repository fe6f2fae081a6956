"""What one trade is in a file of pairs: a position from flat to flat, or a row as the broker writes it."""

from collections.abc import Callable

from aiosqlite import Connection

from journal_api.repositories import imports
from journal_api.structs.import_profiles import OneTradeIs


async def choose_trade_unit(
    db: Connection, user_id: int, account_id: int | None, stated: OneTradeIs | None
) -> Callable[[str], OneTradeIs]:
    """Return the function from the name of a format to what one trade is.

    The request states it, else the account; else it is as in the newest import of the account and format.
    Rows that are stored as trades would otherwise be stored once more, as positions.
    """
    known = await imports.list_trade_units(db, user_id, account_id)
    setting = await imports.find_trade_unit(db, account_id)
    return lambda file_format: stated or setting or known.get(file_format, "position")
