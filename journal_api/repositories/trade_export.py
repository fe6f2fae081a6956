"""SQL of the export: trades with the names of the objects that they refer to."""

from typing import Any

from aiosqlite import Connection

from journal_api.database.sql import build_json_array
from journal_api.database.trade_filters import TradeFilters
from journal_api.structs.trades import AMOUNTS, ExportQuery

PAGE_SIZE = 500
TAG_NAMES = build_json_array(
    "tag",
    """
    SELECT json_quote(name) AS tag
    FROM trade_tags
    JOIN tags ON tags.id = tag_id
    WHERE trade_id = trade.id
    ORDER BY tag_id
    """,
)
# Each answer is an array of name, answer and notes.
ANSWERS = build_json_array(
    "answer",
    """
    SELECT json_array(
        name, json(iif(was_present, 'true', 'false')), confirmation_answers.notes) AS answer
    FROM confirmation_answers
    JOIN confirmations ON confirmations.id = confirmation_id
    WHERE trade_id = trade.id
    ORDER BY sort_order, confirmation_id
    """,
)
# The columns of the export. `row` is set only for a trade that has copies, to which `copy_of` refers.
COLUMNS = f"""
    id,
    iif(EXISTS (SELECT 1 FROM trades WHERE source_trade_id = trade.id), id, NULL) AS row,
    (SELECT name FROM accounts WHERE id = trade.account_id) AS account,
    symbol, direction, {", ".join(AMOUNTS)}, opened_at, closed_at, grade,
    (SELECT name FROM strategies WHERE id = trade.strategy_id) AS strategy,
    (SELECT name FROM setups WHERE id = trade.setup_id) AS setup,
    ({TAG_NAMES}) AS tags,
    ({ANSWERS}) AS confirmations,
    external_id, notes, fills, fees_source"""


async def rows_after(db: Connection, user_id: int, query: ExportQuery, trade_id: int) -> list[dict[str, Any]]:
    """Return the next PAGE_SIZE matching trades after an id, in the order of ids, amounts in units of 10^-8.

    A copy refers to its original only if the original matches too.
    """
    filters = TradeFilters(query)
    conditions = filters.checked()
    rows: Any = await db.execute_fetchall(
        f"""
        SELECT {COLUMNS},
            (SELECT id FROM trades WHERE id = trade.source_trade_id AND {conditions}) AS copy_of
        FROM trades AS trade
        WHERE id > :after AND {conditions}
        ORDER BY id
        LIMIT {PAGE_SIZE}
        """,
        {**filters.parameters, "user_id": user_id, "after": trade_id},
    )
    return [dict(row) for row in rows]
