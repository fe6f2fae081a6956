"""Trades, with the tags and the checklist answers that hang on them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import assignments, fetch, fetch_json, json_list, unique_value
from journal_api.repositories.trade_filters import TradeFilters
from journal_api.rules.trade_draft import TradeDraft
from journal_api.rules.trade_identity import fingerprint_of
from journal_api.structs.trades import AMOUNTS, Trade, TradeQuery
from journal_api.values.clock import now, now_after
from journal_api.values.money import json_number

SCALARS = f"""
    'id', id,
    'account_id', account_id,
    'symbol', symbol,
    'direction', direction,
    {", ".join(f"'{amount}', {json_number(amount)}" for amount in AMOUNTS)},
    'opened_at', opened_at,
    'closed_at', closed_at,
    'trading_day', trading_day,
    'net_pnl', {json_number("net_pnl")},
    'rr_realized', {json_number("rr_realized")},
    'grade', grade,
    'strategy_id', strategy_id,
    'setup_id', setup_id,
    'source_trade_id', source_trade_id,
    'external_id', external_id,
    'notes', notes,
    'tag_ids', json((SELECT json_group_array(tag_id)
                     FROM (SELECT tag_id FROM trade_tags WHERE trade_id = trade.id ORDER BY tag_id))),
    'created_at', created_at,
    'updated_at', updated_at"""
LIST_ITEM = f"json_object({SCALARS})"
TRADE = f"""json_object({SCALARS},
    'tags', json((
        SELECT '[' || coalesce(group_concat(tag), '') || ']'
        FROM (SELECT json_object('id', tags.id, 'name', name, 'color', color, 'type', type) AS tag
              FROM trade_tags
              JOIN tags ON tags.id = tag_id
              WHERE trade_id = trade.id
              ORDER BY sort_name, tags.id))),
    'confirmations', json((
        SELECT '[' || coalesce(group_concat(answer), '') || ']'
        FROM (SELECT json_object(
                  'confirmation_id', confirmation_id,
                  'name', name,
                  'was_present', json(iif(was_present, 'true', 'false')),
                  'notes', confirmation_answers.notes) AS answer
              FROM confirmation_answers
              JOIN confirmations ON confirmations.id = confirmation_id
              WHERE trade_id = trade.id
              ORDER BY sort_order, confirmation_id))))"""
# A trade with what follows from it.
WITH_RATIO = """
    SELECT *, ratio(net_pnl, initial_risk) AS rr_realized
    FROM trades"""
# What a new trade is made of, in the order in which it is bound: by name each value would be looked up.
BOUND = (
    *("id", "user_id", "account_id", "symbol", "direction", *AMOUNTS, "opened_at", "closed_at", "grade"),
    *("strategy_id", "setup_id", "source_trade_id", "external_id", "notes", "import_id", "fingerprint"),
    *("occurrence", "content", "created_at"),
)
AT = {name: f"?{number}" for number, name in enumerate(BOUND, 1)}
INSERT = f"""
    INSERT INTO trades ({", ".join(BOUND)}, updated_at, trading_day)
    VALUES ({", ".join(AT.values())}, {AT["created_at"]},
        (SELECT trading_day({AT["closed_at"]}, timezone, day_rollover)
         FROM users
         WHERE users.id = {AT["user_id"]}))"""
# What a write makes of updated_at: never what it was before, so that it tells an edit from none.
LATER = "max(:now, instant_after(trades.updated_at))"
row_of = itemgetter(*BOUND[:-1], "now")


async def page(db: Connection, user_id: int, query: TradeQuery) -> tuple[str, int]:
    """One page of the trades that match, newest first, and how many there are in all."""
    filters = TradeFilters(query)
    # The inner SELECT finds the ids by index alone, the outer one reads only the rows of the page.
    rows = await db.execute_fetchall(
        f"""
        SELECT '[' || coalesce(group_concat(trade), '') || ']',
            (SELECT count(*) FROM trades WHERE {filters.counted()})
        FROM (SELECT {LIST_ITEM} AS trade
              FROM ({WITH_RATIO}) AS trade
              WHERE id IN (SELECT id
                           FROM trades
                           WHERE {filters.newest_first()}
                           ORDER BY opened_at DESC, id DESC
                           LIMIT :limit OFFSET :offset)
              ORDER BY opened_at DESC, id DESC)
        """,
        {**filters.parameters, "user_id": user_id},
    )
    text, total = next(iter(rows))
    return text, total


async def list_of_ids(db: Connection, user_id: int, trade_ids: Sequence[int]) -> str:
    """Those trades, in the order of their ids."""
    return await fetch_json(
        db,
        f"""
        SELECT '[' || coalesce(group_concat(item), '') || ']'
        FROM (SELECT {LIST_ITEM} AS item
              FROM ({WITH_RATIO}) AS trade
              -- The + keeps SQLite from looking through all trades of the user.
              WHERE +user_id = :user_id AND id IN (SELECT value FROM json_each(:ids))
              ORDER BY id)
        """,
        {"user_id": user_id, "ids": json_list(trade_ids)},
    )


async def get(db: Connection, user_id: int, trade_id: int) -> str:
    """The single form, with tags and answers; raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {TRADE} FROM ({WITH_RATIO}) AS trade WHERE id = :id AND user_id = :user_id",
        {"id": trade_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, trade_id: int) -> Trade:
    """Raises NotFound."""
    return json.decode(await get(db, user_id, trade_id), type=Trade)


async def insert(db: Connection, user_id: int, trade: TradeDraft, timezone: str) -> int:
    """The new id; raises Conflict when the account has a trade of that external_id."""
    with unique_value("external_id"):
        (trade_id,) = await insert_many(db, user_id, [trade.columns(timezone)])
    return trade_id


async def with_taken_ids(db: Connection, rows: Mapping[int, dict[str, Any]]) -> list[int]:
    """The keys of the rows whose external_id a trade of their account has, or an earlier row."""
    sent = [
        (key, row["account_id"], row["external_id"])
        for key, row in rows.items()
        if row["external_id"] is not None
    ]
    found: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT value ->> 0
        FROM json_each(:sent) AS row
        JOIN trades ON account_id = value ->> 1 AND external_id = value ->> 2
        """,
        {"sent": json_list(sent)},
    )
    taken = {key for (key,) in found}
    first: dict[tuple[int, str], int] = {}
    for key, *place in sent:
        if first.setdefault((place[0], place[1]), key) != key:
            taken.add(key)
    return sorted(taken)


async def insert_many(db: Connection, user_id: int, rows: Sequence[dict[str, Any]]) -> list[int]:
    """The new ids, in the order of the rows; no external_id of theirs is taken."""
    last_id = await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = 'trades'", {}) or 0
    common = {"user_id": user_id, "import_id": None, "content": None, "now": now()}
    for row_id, row in enumerate(rows, last_id + 1):
        row |= {**common, "id": row_id, "fingerprint": fingerprint_of(row)}
    await number_kinds(db, rows)
    await insert_all(db, rows)
    return [row["id"] for row in rows]


async def number_kinds(db: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Give each row its `occurrence`: the how-manieth of its kind it is in its account."""
    kinds = [(row["account_id"], row["fingerprint"].hex()) for row in rows]
    # The last occurrence of a kind is one step into the index, however many there are of it.
    found: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT value ->> 0, value ->> 1,
            (SELECT max(occurrence)
             FROM trades
             WHERE account_id = value ->> 0 AND fingerprint = from_hex(value ->> 1))
        FROM json_each(:kinds)
        """,
        {"kinds": json_list(list(dict.fromkeys(kinds)))},
    )
    seen = Counter({(account_id, fingerprint): last or 0 for account_id, fingerprint, last in found})
    for row, kind in zip(rows, kinds, strict=True):
        seen[kind] += 1
        row["occurrence"] = seen[kind]


async def insert_all(db: Connection, rows: Iterable[dict[str, Any]]) -> None:
    """Insert trades under the ids that they have been given."""
    await db.executemany(INSERT, map(row_of, rows))


async def update(db: Connection, stored: Trade, trade: TradeDraft, timezone: str) -> None:
    """Write what differs; raises Conflict when the account has another trade of that external_id."""
    before, after = TradeDraft.of_stored(stored).columns(timezone), trade.columns(timezone)
    changed = {name: value for name, value in after.items() if value != before[name]}
    if not changed:
        return
    changed["updated_at"] = now_after(stored.updated_at)
    # Of what an import has brought, the fingerprint is what its file says; of all else, what it is now.
    values = {
        "id": stored.id,
        "closes": after["closed_at"],
        "account": after["account_id"],
        "fingerprint": fingerprint_of(after),
    }
    with unique_value("external_id"):
        await db.execute_fetchall(
            f"""
            UPDATE trades
            SET {assignments(changed)},
                trading_day = (SELECT trading_day(:closes, timezone, day_rollover)
                               FROM users
                               WHERE users.id = user_id),
                fingerprint = kind.fingerprint,
                occurrence = kind.occurrence
            FROM (
                SELECT iif(content IS NULL, :fingerprint, fingerprint) AS fingerprint,
                    CASE WHEN account_id = :account AND (content IS NOT NULL OR fingerprint = :fingerprint)
                    THEN occurrence
                    ELSE (SELECT coalesce(max(other.occurrence), 0) + 1
                          FROM trades AS other
                          WHERE other.account_id = :account
                            AND other.fingerprint = iif(trades.content IS NULL, :fingerprint,
                                trades.fingerprint))
                    END AS occurrence
                FROM trades
                WHERE id = :id) AS kind
            WHERE id = :id
            """,
            {**changed, **values},
        )


async def delete(db: Connection, stored: Trade) -> None:
    await db.execute_fetchall("DELETE FROM trades WHERE id = :id", {"id": stored.id})


async def move_to_their_days(db: Connection, user_id: int) -> None:
    """Write the trading day of every trade anew, for the owner's zone and rollover as they are now."""
    await db.execute_fetchall(
        """
        UPDATE trades
        SET trading_day = trading_day(closed_at, timezone, day_rollover)
        FROM users
        WHERE users.id = :user_id
          AND trades.user_id = users.id
          AND trading_day <> trading_day(closed_at, timezone, day_rollover)
        """,
        {"user_id": user_id},
    )
