"""SQL of trades, with their tags and confirmation answers nested; lists are in trade_lists.py."""

from collections.abc import Iterable, Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.database import sql
from journal_api.database.sql import json_list
from journal_api.positions.fills import decode_fills
from journal_api.positions.position_columns import FILE_COLUMNS, OF_POSITION
from journal_api.positions.trade_draft import TradeDraft, build_columns
from journal_api.repositories import pictures, tags
from journal_api.structs.trades import Answer, Trade, TradeListItem, TypedTrade
from journal_api.values.clock import now, now_after
from journal_api.values.money import json_number

# The members of a list item whose JSON differs from the column.
EXPRESSIONS = {
    "tag_ids": tags.select_ids("trade_tags", "trade_id = trade.id"),
    "updated_at": "max(updated_at, coalesce(changed_at, ''))",
    "fill_count": "iif(fills IS NULL, 1 + (closed_at IS NOT NULL), json_array_length(fills))",
}
STATED_FILL = f"""json_object(
    'id', {{id}}, 'side', {{side}}, 'quantity', {json_number("quantity")}, 'price', {{price}}, 'at', {{at}},
    'fees', {{fees}}, 'external_id', NULL)"""
ENTRY = STATED_FILL.format(
    id=1,
    side="iif(direction = 'long', 'buy', 'sell')",
    price=json_number("entry_price"),
    at="opened_at",
    fees=json_number("fees"),
)
EXIT = STATED_FILL.format(
    id=2, side="iif(direction = 'long', 'sell', 'buy')", price=json_number("exit_price"), at="closed_at", fees=0
)
# The fills that are stored, else the entry and the exit that the columns state.
FILLS = f"coalesce(fills, '[' || {ENTRY} || iif(closed_at IS NULL, '', ',' || {EXIT}) || ']')"
# The ids in all parts of a merged trade. A part may have been merged itself.
MERGED_IDS = """(
    SELECT json_group_array(DISTINCT value)
    FROM (SELECT value FROM json_tree(merged) WHERE key = 'id' AND value <> trade.id ORDER BY value))"""
LIST_ITEM = sql.build_object(TradeListItem, **EXPRESSIONS)
ANSWER = sql.build_object(Answer, notes="confirmation_answers.notes")
ANSWERS = sql.build_json_array(
    "answer",
    f"""
    SELECT {ANSWER} AS answer
    FROM confirmation_answers
    JOIN confirmations ON confirmations.id = confirmation_id
    WHERE trade_id = trade.id
    ORDER BY sort_order, confirmation_id
    """,
)
TYPED = sql.build_object(TypedTrade, **{name: f"(typed ->> '{name}')" for name in TypedTrade.__struct_fields__})
# A trade with its computed ratio.
WITH_RATIO = "(SELECT *, ratio(net_pnl, initial_risk) AS rr_realized FROM trades) AS trade"
TABLE = sql.Table(
    "trades",
    Trade,
    source=WITH_RATIO,
    **EXPRESSIONS,
    fills=FILLS,
    typed=f"iif(typed IS NULL, 'null', {TYPED})",
    merged_ids=MERGED_IDS,
    tags=tags.select_tags("trade_tags", "trade_id = trade.id"),
    confirmations=ANSWERS,
    pictures=pictures.OF_TRADE,
)
get, find, delete = TABLE.get, TABLE.find, TABLE.delete
# The new updated_at of a write. It always differs from the old one, so that it shows whether a trade was edited.
LATER = "max(:now, instant_after(trades.updated_at))"
# The new changed_at of a write that is no edit: what a file states, or what follows from it.
CHANGED = "max(:now, instant_after(max(trades.updated_at, coalesce(trades.changed_at, ''))))"


async def list_of_ids(db: Connection, user_id: int, trade_ids: Sequence[int], item: str = LIST_ITEM) -> str:
    """Return the trades with those ids as a JSON array, in their order."""
    return await sql.fetch_json_array(
        db,
        f"""
        SELECT {item} AS item
        FROM (SELECT key AS place, value AS sent_id FROM json_each(:ids))
        -- The + makes SQLite look up the ids instead of scanning all trades of the user.
        CROSS JOIN {WITH_RATIO} ON trade.id = sent_id AND +user_id = :user_id
        ORDER BY place
        """,
        {"user_id": user_id, "ids": sql.json_list(trade_ids)},
    )


async def update(db: Connection, stored: Trade, trade: TradeDraft, timezone: str) -> None:
    """Write the columns that differ. Raises Conflict when the account has another trade with that external_id."""
    before, after = build_columns(TradeDraft.of_stored(stored), timezone), build_columns(trade, timezone)
    changed = {name: value for name, value in after.items() if value != before[name]}
    if not changed:
        return
    changed["updated_at"] = now_after(stored.updated_at)
    if "source_trade_id" in changed:
        changed["unlinked"] = changed["source_trade_id"] is None
    values = {"id": stored.id, "closes": after["closed_at"], "account": after["account_id"]}
    # What files state of the trade gives way to what its owner says.
    names = sorted(find_edited(name for name in changed if name != "fills" or moves_fills(before, after)))
    with sql.unique_value("external_id"):
        await db.execute_fetchall(
            f"""
            UPDATE trades
            SET {sql.assignments(changed)},
                trading_day = (SELECT trading_day(:closes, timezone, day_rollover)
                               FROM calendars
                               WHERE calendars.account_id = :account),
                edited = iif(import_id IS NULL, NULL, (
                    SELECT group_concat(value)
                    FROM (SELECT value FROM json_each(:edited)
                          UNION
                          SELECT value FROM json_each('["' || replace(edited, ',', '","') || '"]'))))
            WHERE id = :id
            """,
            {**changed, **values, "edited": json_list(names)},
        )
    if "account_id" in changed:
        # What files state of the trade moves with it: from now on it is matched with files of the other account.
        await db.execute_fetchall("UPDATE statements SET account_id = :account WHERE trade_id = :id", values)


def moves_fills(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether fills differ by more than their fees: those follow from the fees of the trade."""
    exchanges = [
        [fill._replace(id=0, fees=0) for fill in decode_fills(columns["fills"] or "[]")] for columns in (before, after)
    ]
    return exchanges[0] != exchanges[1]


def find_edited(changed: Iterable[str]) -> set[str]:
    """Return the columns that are the owner's after a change of some columns, and no longer the files'.

    A change of one column that follows from the fills makes all of them the owner's; a result that follows from
    another multiplier is not the owner's.
    """
    edited = set(changed) & set(FILE_COLUMNS)
    if edited & {"multiplier", "quantity"}:
        edited.discard("gross_pnl")
    if edited & set(OF_POSITION) - {"gross_pnl"}:
        edited |= set(OF_POSITION)
    if "fees" in edited:
        edited.add("fees_source")
    return edited | ({"contract", "root"} if "symbol" in edited else set())


async def find_external_ids(
    db: Connection, wanted: Sequence[tuple[int, str | None]], leaving: Iterable[int]
) -> set[tuple[int, str | None]]:
    """Return the pairs of account and external id that trades have which are not leaving."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT account_id, external_id
        FROM json_each(:wanted)
        JOIN trades ON account_id = value ->> '$[0]' AND external_id = value ->> '$[1]'
        WHERE trades.id NOT IN (SELECT value FROM json_each(:leaving))
        """,
        {"wanted": json_list([one for one in wanted if one[1] is not None]), "leaving": json_list(sorted(leaving))},
    )
    return {(account_id, external_id) for account_id, external_id in rows}


async def clear_external_ids(db: Connection, trade_ids: Sequence[int]) -> None:
    await db.execute_fetchall(
        "UPDATE trades SET external_id = NULL WHERE id IN (SELECT value FROM json_each(:ids))",
        {"ids": json_list(trade_ids)},
    )


async def note_edit(db: Connection, trade_id: int | None) -> None:
    """Write that something of the trade was edited which its own row does not have."""
    await db.execute_fetchall(f"UPDATE trades SET updated_at = {LATER} WHERE id = :id", {"id": trade_id, "now": now()})


async def delete_many(db: Connection, trade_ids: Sequence[int]) -> None:
    """Delete trades that the caller has checked."""
    values = {"ids": sql.json_list(trade_ids)}
    await db.execute_fetchall("DELETE FROM trades WHERE id IN (SELECT value FROM json_each(:ids))", values)


async def update_trading_days(db: Connection, user_id: int, account_id: int | None = None) -> None:
    """Update the trading days of all trades, or of an account's trades, after a change of a calendar.

    No trigger records a new trading day of each trade; they are recorded together, in half the time.
    """
    values = {"user_id": user_id, "account_id": account_id, "now": now()}
    for statement in (
        "CREATE TEMP TABLE moved (id INTEGER PRIMARY KEY, account_id, old_day, new_day)",
        """
        INSERT INTO moved
        WITH placed AS MATERIALIZED (
            SELECT trades.id, trades.account_id, trading_day AS old_day,
                trading_day(closed_at, timezone, day_rollover) AS new_day
            FROM calendars
            CROSS JOIN trades ON trades.account_id = calendars.account_id
            WHERE calendars.user_id = :user_id
              AND calendars.account_id = coalesce(:account_id, calendars.account_id)
              AND closed_at IS NOT NULL)
        SELECT * FROM placed WHERE old_day <> new_day
        """,
        """
        INSERT INTO record_change
        SELECT account_id, old_day FROM moved UNION SELECT account_id, new_day FROM moved
        """,
        """
        UPDATE trades
        SET trading_day = (SELECT new_day FROM moved WHERE moved.id = trades.id), changed_at = :now
        WHERE id IN (SELECT id FROM moved)
        """,
        """
        INSERT OR REPLACE INTO changed_objects
        SELECT :user_id, last.seq + id, 'trades', id, 0, :now
        FROM (SELECT coalesce(max(seq), 0) + 1 - (SELECT min(id) FROM moved) AS seq
              FROM changed_objects WHERE user_id = :user_id) AS last
        CROSS JOIN moved
        """,
        "DROP TABLE moved",
    ):
        await db.execute_fetchall(statement, values)
