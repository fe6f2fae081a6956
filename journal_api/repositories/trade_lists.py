"""SQL of one page of a list of trades, and of the number of all trades in the list.

Most pages cost the same in a journal of a million trades: `total` comes from kept counts, and the page is
read in the order of an index, from the nearer end of the list.
"""

from collections.abc import Iterable
from typing import Any

from aiosqlite import Connection

from journal_api.database import sql
from journal_api.database.trade_filters import TradeFilters
from journal_api.errors import ValidationFailed
from journal_api.repositories.trades import LIST_ITEM, WITH_RATIO
from journal_api.structs.trades import TradeFilter, TradeQuery

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
        FROM ({WITH_RATIO}) AS trade
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
    rows: Iterable[Any] = await db.execute_fetchall(
        f"SELECT id FROM trades WHERE {filters.in_order()} ORDER BY {NEWEST_FIRST}", values
    )
    return [trade_id for (trade_id,) in rows]


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
