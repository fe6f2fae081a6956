"""Trades with the names of what they point at, for the export."""

from typing import Any

from aiosqlite import Connection

from journal_api.repositories.trade_filters import TradeFilters
from journal_api.structs.trades import AMOUNTS, ExportQuery

AT_ONCE = 500
# The columns of the export. `row` names a trade only if another one copies it.
COLUMNS = f"""
    id,
    iif(EXISTS (SELECT 1 FROM trades WHERE source_trade_id = trade.id), id, NULL) AS row,
    (SELECT name FROM accounts WHERE id = trade.account_id) AS account,
    symbol, direction, {", ".join(AMOUNTS)}, opened_at, closed_at, grade,
    (SELECT name FROM strategies WHERE id = trade.strategy_id) AS strategy,
    (SELECT name FROM setups WHERE id = trade.setup_id) AS setup,
    (SELECT json_group_array(name)
     FROM (SELECT name
           FROM trade_tags
           JOIN tags ON tags.id = tag_id
           WHERE trade_id = trade.id
           ORDER BY tag_id)) AS tags,
    (SELECT json_group_array(json_array(name, json(iif(was_present, 'true', 'false')), notes))
     FROM (SELECT name, was_present, confirmation_answers.notes
           FROM confirmation_answers
           JOIN confirmations ON confirmations.id = confirmation_id
           WHERE trade_id = trade.id
           ORDER BY sort_order, confirmation_id)) AS confirmations,
    external_id, notes"""


async def rows_after(db: Connection, user_id: int, query: ExportQuery, trade_id: int) -> list[dict[str, Any]]:
    """The next trades that match, oldest id first, as they are stored.

    A copy points at its original only if that matches too.
    """
    filters = TradeFilters(query)
    conditions = filters.checked()
    found: Any = await db.execute_fetchall(
        f"""
        SELECT {COLUMNS},
            (SELECT id FROM trades WHERE id = trade.source_trade_id AND {conditions}) AS copy_of
        FROM trades AS trade
        WHERE id > :after AND {conditions}
        ORDER BY id
        LIMIT {AT_ONCE}
        """,
        {**filters.parameters, "user_id": user_id, "after": trade_id},
    )
    return [dict(row) for row in found]
