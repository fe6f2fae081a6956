"""The trades that rows of a file were recognised as, and what a file corrects of them (DECISIONS 32)."""

from collections.abc import Iterable, Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.repositories import trades
from journal_api.repositories.sql import json_list
from journal_api.repositories.trades import LATER
from journal_api.rules.import_rows import Correction, Ready, Rejected, Stored
from journal_api.rules.trade_identity import BROKER_FIELDS, content_fingerprint_of

# The account and the fingerprint of the content.
Kind = tuple[int, bytes]
# Up to which occurrence the trades of a kind have been looked at and, if entered by hand, taken.
Taken = dict[Kind, int]
# As many trades of each kind as are wanted, each found from the one before it by one step into the index.
# Where there are fewer, a row without an id has the last occurrence of the kind.
NEXT_OF_EACH_KIND = """
    WITH RECURSIVE entered (kind, account_id, fingerprint, occurrence, wanted, id, source_trade_id) AS (
        SELECT key, value ->> 0, from_hex(value ->> 1), value ->> 2, value ->> 3, NULL, NULL
        FROM json_each(:kinds)
        UNION ALL
        SELECT kind, entered.account_id, entered.fingerprint,
            coalesce(trades.occurrence, (
                SELECT max(occurrence)
                FROM trades
                WHERE account_id = entered.account_id AND fingerprint = entered.fingerprint)),
            iif(trades.id IS NULL, 0, wanted - 1), trades.id, trades.source_trade_id
        FROM entered
        LEFT JOIN trades ON trades.id = (
            SELECT id
            FROM trades
            WHERE account_id = entered.account_id
              AND fingerprint = entered.fingerprint
              AND occurrence > entered.occurrence
              -- The + keeps SQLite from looking through all trades of the account without an external id.
              AND +external_id IS NULL
              AND content IS NULL
            ORDER BY occurrence
            LIMIT 1)
        WHERE wanted > 0)
    SELECT kind, occurrence, id, source_trade_id
    FROM entered
    WHERE (id IS NOT NULL OR wanted = 0) AND occurrence IS NOT NULL"""


async def stored_of(db: Connection, rows: Sequence[Ready | Rejected], taken: Taken) -> dict[int, Stored]:
    """The trades that are there already, by the place of the row that each was recognised by.

    `taken` is kept up to date from batch to batch: each trade entered by hand is one row of the file.
    """
    found = await _by_id_or_content(db, rows)
    for place, stored in found.items():
        row = rows[place]
        if isinstance(row, Ready) and row.columns["external_id"] is None and stored.content is None:
            kind = row.columns["account_id"], row.columns["fingerprint"]
            taken[kind] = max(taken.get(kind, 0), row.columns["occurrence"])
    return found | await _entered_by_hand(db, rows, found, taken)


async def _by_id_or_content(db: Connection, rows: Sequence[Ready | Rejected]) -> dict[int, Stored]:
    keys = [
        (
            place,
            row.columns["account_id"],
            row.columns["external_id"],
            row.columns["fingerprint"].hex(),
            row.columns["occurrence"],
        )
        for place, row in enumerate(rows)
        if isinstance(row, Ready)
    ]
    found: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT key.value ->> 0, trades.id, source_trade_id, content, {", ".join(BROKER_FIELDS)}
        FROM json_each(:keys) AS key
        JOIN trades ON trades.id = coalesce(
            (SELECT id
             FROM trades
             WHERE account_id = key.value ->> 1 AND external_id = key.value ->> 2),
            (SELECT id
             FROM trades
             WHERE account_id = key.value ->> 1
               AND fingerprint = from_hex(key.value ->> 3)
               AND occurrence = key.value ->> 4))
        """,
        {"keys": json_list(keys)},
    )
    return {
        place: Stored(trade_id, source_id, content, dict(zip(BROKER_FIELDS, fields, strict=True)))
        for place, trade_id, source_id, content, *fields in found
    }


async def _entered_by_hand(
    db: Connection, rows: Sequence[Ready | Rejected], known: dict[int, Stored], taken: Taken
) -> dict[int, Stored]:
    """Of the rows with an external id: a trade of the same content that the trader wrote down without one.

    Each kind is read on from the last one taken, as many trades as there are rows of it, so that an import
    looks at no trade twice.
    """
    places: dict[Kind, list[int]] = {}
    for place, row in enumerate(rows):
        if isinstance(row, Ready) and row.columns["external_id"] is not None and place not in known:
            kind = row.columns["account_id"], content_fingerprint_of(row.columns)
            places.setdefault(kind, []).append(place)
    asked = [(kind[0], kind[1].hex(), taken.get(kind, 0), len(of_kind)) for kind, of_kind in places.items()]
    found: Iterable[Any] = await db.execute_fetchall(NEXT_OF_EACH_KIND, {"kinds": json_list(asked)})
    stored: dict[int, Stored] = {}
    kinds = [(kind, iter(of_kind)) for kind, of_kind in places.items()]
    for index, occurrence, trade_id, source_id in found:
        kind, left = kinds[index]
        taken[kind] = occurrence
        if trade_id is not None:
            stored[next(left)] = Stored(trade_id, source_id, None, {})
    return stored


async def insert_all(db: Connection, rows: list[Ready]) -> None:
    """The trades with their tags and checklist answers."""
    await trades.insert_all(db, [row.columns for row in rows])
    await db.executemany(
        "INSERT INTO trade_tags (trade_id, tag_id) VALUES (?, ?)",
        [(row.columns["id"], tag_id) for row in rows for tag_id in row.tag_ids],
    )
    await db.executemany(
        """
        INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
        VALUES (?, ?, ?, ?)
        """,
        [(row.columns["id"], *answer) for row in rows for answer in row.answers],
    )


async def correct(db: Connection, import_id: int, corrections: list[Correction], written_at: str) -> None:
    """Write what the file says of these trades, and keep what they were."""
    await db.executemany(
        "UPDATE trades SET content = ? WHERE id = ?",
        [(one.content, one.trade_id) for one in corrections if not one.changed],
    )
    changing = [one for one in corrections if one.changed]
    columns = ", ".join((*BROKER_FIELDS, "content", "updated_at"))
    await db.execute_fetchall(
        f"""
        INSERT INTO import_updates (import_id, trade_id, written_at, {columns})
        SELECT :import_id, id, {LATER}, {columns}
        FROM trades
        WHERE id IN (SELECT value FROM json_each(:ids))
        """,
        {
            "import_id": import_id,
            "ids": json_list([one.trade_id for one in changing]),
            "now": written_at,
        },
    )
    await db.executemany(
        f"""
        UPDATE trades
        SET {", ".join(f"{fact} = :{fact}" for fact in BROKER_FIELDS)},
            trading_day = (SELECT trading_day(:closed_at, timezone, day_rollover)
                           FROM users
                           WHERE users.id = user_id),
            content = :content,
            updated_at = {LATER}
        WHERE id = :id
        """,
        [{**one.fields, "content": one.content, "id": one.trade_id, "now": written_at} for one in changing],
    )
