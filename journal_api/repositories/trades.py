"""SQL of trades, with their tags and confirmation answers nested."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import (
    assignments,
    fetch,
    fetch_json,
    json_array_of,
    json_list,
    unique_value,
)
from journal_api.repositories.trade_filters import TradeFilters
from journal_api.rules.trade_draft import TradeDraft
from journal_api.rules.trade_identity import fingerprint_of
from journal_api.structs.trades import AMOUNTS, Trade, TradeQuery
from journal_api.values.clock import now, now_after
from journal_api.values.money import json_number
from journal_api.values.periods import trading_day

TAG_IDS = json_array_of("tag_id", "SELECT tag_id FROM trade_tags WHERE trade_id = trade.id ORDER BY tag_id")
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
    'tag_ids', json(({TAG_IDS})),
    'created_at', created_at,
    'updated_at', updated_at"""
LIST_ITEM = f"json_object({SCALARS})"
TAGS = json_array_of(
    "tag",
    """
    SELECT json_object('id', tags.id, 'name', name, 'color', color, 'type', type) AS tag
    FROM trade_tags
    JOIN tags ON tags.id = tag_id
    WHERE trade_id = trade.id
    ORDER BY sort_name, tags.id
    """,
)
ANSWERS = json_array_of(
    "answer",
    """
    SELECT json_object(
        'confirmation_id', confirmation_id,
        'name', name,
        'was_present', json(iif(was_present, 'true', 'false')),
        'notes', confirmation_answers.notes) AS answer
    FROM confirmation_answers
    JOIN confirmations ON confirmations.id = confirmation_id
    WHERE trade_id = trade.id
    ORDER BY sort_order, confirmation_id
    """,
)
TRADE = f"json_object({SCALARS}, 'tags', json(({TAGS})), 'confirmations', json(({ANSWERS})))"
# A trade with its computed ratio.
WITH_RATIO = """
    SELECT *, ratio(net_pnl, initial_risk) AS rr_realized
    FROM trades"""
# The columns of a new trade in the order of their parameters. Parameters are positional because binding by
# name looks up each value, which matters for imports.
COLUMNS = (
    *("id", "user_id", "account_id", "symbol", "direction", *AMOUNTS, "opened_at", "closed_at", "grade"),
    *("strategy_id", "setup_id", "source_trade_id", "external_id", "notes", "import_id", "fingerprint"),
    *("occurrence", "content"),
)
# Rows per statement: a table with triggers opens a savepoint for every statement.
ROWS_AT_ONCE = 100
# The new updated_at of a write. It always differs from the old one, so that it shows whether a trade was
# edited.
LATER = "max(:now, instant_after(trades.updated_at))"
values_of = itemgetter(*COLUMNS, "now", "now")


async def page(db: Connection, user_id: int, query: TradeQuery) -> tuple[str, int]:
    """Return one page of the matching trades as a JSON array, newest first, and their total number."""
    filters = TradeFilters(query)
    # The inner SELECT selects the ids from an index only, the outer SELECT reads the rows of the page.
    trades = json_array_of(
        "trade",
        f"""
        SELECT {LIST_ITEM} AS trade
        FROM ({WITH_RATIO}) AS trade
        WHERE id IN (SELECT id
                     FROM trades
                     WHERE {filters.newest_first()}
                     ORDER BY opened_at DESC, id DESC
                     LIMIT :limit OFFSET :offset)
        ORDER BY opened_at DESC, id DESC
        """,
    )
    rows = await db.execute_fetchall(
        f"SELECT ({trades}), (SELECT count(*) FROM trades WHERE {filters.counted()})",
        {**filters.parameters, "user_id": user_id},
    )
    text, total = next(iter(rows))
    return text, total


async def list_of_ids(db: Connection, user_id: int, trade_ids: Sequence[int]) -> str:
    """Return the trades with those ids as a JSON array, in the order of ids."""
    return await fetch_json(
        db,
        json_array_of(
            "trade",
            f"""
            SELECT {LIST_ITEM} AS trade
            FROM ({WITH_RATIO}) AS trade
            -- The + makes SQLite look up the ids instead of scanning all trades of the user.
            WHERE +user_id = :user_id AND id IN (SELECT value FROM json_each(:ids))
            ORDER BY id
            """,
        ),
        {"user_id": user_id, "ids": json_list(trade_ids)},
    )


async def get(db: Connection, user_id: int, trade_id: int) -> str:
    """Return the trade with tags and answers as JSON. Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {TRADE} FROM ({WITH_RATIO}) AS trade WHERE id = :id AND user_id = :user_id",
        {"id": trade_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, trade_id: int) -> Trade:
    """Return the trade as a struct. Raises NotFound."""
    return json.decode(await get(db, user_id, trade_id), type=Trade)


async def insert(db: Connection, user_id: int, trade: TradeDraft, timezone: str) -> int:
    """Return the new id. Raises Conflict when the account has a trade with that external_id."""
    with unique_value("external_id"):
        (trade_id,) = await insert_many(db, user_id, [trade.columns(timezone)])
    return trade_id


async def duplicate_external_ids(db: Connection, rows: Mapping[int, dict[str, Any]]) -> list[int]:
    """Return the keys of the rows whose external_id exists in their account or in an earlier row."""
    with_external_id = [
        {"key": key, "account_id": row["account_id"], "external_id": row["external_id"]}
        for key, row in rows.items()
        if row["external_id"] is not None
    ]
    stored: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT value ->> '$.key'
        FROM json_each(:rows)
        JOIN trades ON account_id = value ->> '$.account_id' AND external_id = value ->> '$.external_id'
        """,
        {"rows": json_list(with_external_id)},
    )
    duplicates = {key for (key,) in stored}
    first_keys: dict[tuple[int, str], int] = {}
    for row in with_external_id:
        if first_keys.setdefault((row["account_id"], row["external_id"]), row["key"]) != row["key"]:
            duplicates.add(row["key"])
    return sorted(duplicates)


async def insert_many(db: Connection, user_id: int, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Return the new ids, in the order of the rows. The caller has checked that external_ids are unique."""
    last_id = await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = 'trades'", {}) or 0
    common = {"user_id": user_id, "import_id": None, "content": None, "now": now()}
    kinds = [Kind(row["account_id"], fingerprint_of(row)) for row in rows]
    occurrences = await next_occurrences(db, kinds)
    new_rows = [
        {**row, **common, "id": row_id, "fingerprint": kind.fingerprint, "occurrence": occurrence}
        for row_id, (row, kind, occurrence) in enumerate(
            zip(rows, kinds, occurrences, strict=True), last_id + 1
        )
    ]
    await insert_all(db, new_rows)
    return [row["id"] for row in new_rows]


class Kind(NamedTuple):
    """The trades of one account with equal fingerprints; `occurrence` numbers them from 1."""

    account_id: int
    fingerprint: bytes


async def next_occurrences(db: Connection, kinds: Sequence[Kind]) -> list[int]:
    """Return the `occurrence` of new trades of those kinds: their ordinals among the trades of their kind."""
    distinct = list(dict.fromkeys(kinds))
    # The subquery reads one entry of an index, however many trades of the kind there are.
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT key,
            (SELECT coalesce(max(occurrence), 0)
             FROM trades
             WHERE account_id = value ->> '$.account_id'
               AND fingerprint = from_hex(value ->> '$.fingerprint'))
        FROM json_each(:kinds)
        """,
        {
            "kinds": json_list(
                [{"account_id": kind.account_id, "fingerprint": kind.fingerprint.hex()} for kind in distinct]
            )
        },
    )
    last = Counter({distinct[index]: occurrence for index, occurrence in rows})
    occurrences = []
    for kind in kinds:
        last[kind] += 1
        occurrences.append(last[kind])
    return occurrences


async def insert_all(db: Connection, rows: Iterable[dict[str, Any]]) -> None:
    """Insert trades of one user that already have their ids."""
    batch = list(rows)
    if not batch:
        return
    zones: Iterable[Any] = await db.execute_fetchall(
        "SELECT timezone, day_rollover FROM users WHERE id = :id", {"id": batch[0]["user_id"]}
    )
    ((timezone, day_rollover),) = zones
    for begin in range(0, len(batch), ROWS_AT_ONCE):
        part = batch[begin : begin + ROWS_AT_ONCE]
        values = [(*values_of(row), trading_day(row["closed_at"], timezone, day_rollover)) for row in part]
        await db.execute_fetchall(insert_statement(len(part)), list(chain.from_iterable(values)))


@cache  # of up to ROWS_AT_ONCE statements
def insert_statement(rows: int) -> str:
    """Return the INSERT of that many trades."""
    columns = (*COLUMNS, "created_at", "updated_at", "trading_day")
    values = f"({', '.join('?' * len(columns))})"
    return f"""
        INSERT INTO trades ({", ".join(columns)})
        VALUES {", ".join([values] * rows)}
        """


async def update(db: Connection, stored: Trade, trade: TradeDraft, timezone: str) -> None:
    """Write the columns that differ.

    Raises Conflict when the account has another trade with that external_id.
    """
    before, after = TradeDraft.of_stored(stored).columns(timezone), trade.columns(timezone)
    changed = {name: value for name, value in after.items() if value != before[name]}
    if not changed:
        return
    changed["updated_at"] = now_after(stored.updated_at)
    # An imported trade keeps the fingerprint of its file; that of any other trade follows its columns.
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
    """Delete the trade."""
    await db.execute_fetchall("DELETE FROM trades WHERE id = :id", {"id": stored.id})


async def update_trading_days(db: Connection, user_id: int) -> None:
    """Update the trading days of all trades after a change of the user's time zone or rollover."""
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
