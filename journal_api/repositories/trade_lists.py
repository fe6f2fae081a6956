"""SQL of lists of trades: one page of a list with the number of all its trades, and the export.

Most pages cost the same in a journal of a million trades: `total` comes from kept counts, and the page is
read in the order of an index, from the nearer end of the list.
"""

from typing import Any

from aiosqlite import Connection

from journal_api.database import sql
from journal_api.database.sql import build_json_array
from journal_api.database.trade_filters import TradeFilters
from journal_api.errors import ValidationFailed
from journal_api.repositories.trades import LIST_ITEM, WITH_RATIO
from journal_api.structs.trades import AMOUNTS, ExportQuery, TradeFilter, TradeQuery

NEWEST_FIRST = "opened_at DESC, id DESC"
# Whether it is less work to look up all matching trades and sort them than to find the page among all trades.
IS_SORTED = """total * {read} <= (:offset + :limit) * (
            SELECT sum(trades) FROM trade_counts WHERE user_id = :user_id)"""


async def read_page(db: Connection, user_id: int, query: TradeQuery) -> tuple[str, int]:
    """Return one page of the matching trades as a JSON array, newest first, and their total number."""
    filters = TradeFilters(query)
    is_sorted = IS_SORTED.format(read=filters.sorted_number()) if filters.is_sortable else "0"
    trades = sql.build_json_array(
        "trade",
        f"""
        SELECT {LIST_ITEM} AS trade
        FROM {WITH_RATIO}
        WHERE id IN ({" UNION ALL ".join(list_ways(filters))})
        ORDER BY {NEWEST_FIRST}
        """,
    )
    rows = await db.execute_fetchall(
        f"""
        WITH
        matching (total) AS ({filters.count()}),
        -- The length of the page, and how it is read. A SELECT that knows its length stops at its last trade.
        page (total, length, way) AS MATERIALIZED (
            SELECT total, max(0, min(:limit, total - :offset)),
                CASE WHEN {is_sorted} THEN 'sorted'
                     WHEN :offset <= total / 2 OR :since IS NOT NULL THEN 'newest'
                     ELSE 'oldest' END
            FROM matching)
        SELECT ({trades}), total
        FROM page
        """,
        {**filters.parameters, "user_id": user_id},
    )
    text, total = next(iter(rows))
    return text, total


async def list_ids(db: Connection, user_id: int, query: TradeFilter, maximum: int) -> list[int]:
    """Return the ids of the matching trades in the order of lists. Raises ValidationFailed for too many."""
    filters = TradeFilters(query)
    values = {**filters.parameters, "user_id": user_id}
    total = await sql.fetch(db, filters.count(), values)
    if total > maximum:
        raise ValidationFailed(fields={"where": f"matches {total} trades, and must match at most {maximum}"})
    return await sql.fetch_column(
        db, f"SELECT id FROM trades WHERE {filters.in_order()} ORDER BY {NEWEST_FIRST}", values
    )


def list_ways(filters: TradeFilters) -> list[str]:
    """Return the SELECTs of the ids on the page, of which all but one have LIMIT 0: SQLite skips those."""
    in_order = filters.in_order()
    ways = [
        select_ids("newest", in_order, NEWEST_FIRST, ":offset"),
        select_ids("oldest", in_order, "opened_at, id", "(SELECT total - :offset - length FROM page)"),
    ]
    if filters.is_sortable:
        # The + keeps SQLite from reading all trades in their order.
        ways.append(select_ids("sorted", filters.sortable(), f"+{NEWEST_FIRST}", ":offset"))
    return ways


def select_ids(way: str, clause: str, order: str, offset: str) -> str:
    """Return a SELECT of the ids on the page, of none unless the page is read that way."""
    return f"""
        SELECT id
        FROM (SELECT id
              FROM trades
              WHERE {clause}
              ORDER BY {order}
              LIMIT (SELECT iif(way = '{way}', length, 0) FROM page)
              OFFSET {offset})"""


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


async def list_rows_after(db: Connection, user_id: int, query: ExportQuery, trade_id: int) -> list[dict[str, Any]]:
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
