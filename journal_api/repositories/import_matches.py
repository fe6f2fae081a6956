"""The trades that rows of a file were recognised as, and what a file corrects of them (DECISIONS 32)."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database import json_list
from journal_api.importing.found import Rejected
from journal_api.recognition import FACTS, content_fingerprint_of, restated
from journal_api.repositories.import_names import Ready

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


class Stored(NamedTuple):
    """A trade that a row was recognised as. `content` is None of one that no import has brought."""

    trade_id: int
    source_trade_id: int | None
    content: bytes | None
    facts: dict[str, Any]

    @property
    def original_id(self) -> int:
        return self.source_trade_id or self.trade_id


class Correction(NamedTuple):
    """What a file makes of a trade: the facts, which of them it changes, and what it has said of them."""

    trade_id: int
    facts: dict[str, Any]
    changed: list[str]
    content: bytes


def correction_of(row: Ready, stored: Stored) -> Correction | None:
    """None for a trade that an import does not touch, and while the file says what was said before.

    A fact changes when the file says something else of it than the last one did. So what the trader has
    edited stays, until the broker corrects just that.
    """
    if stored.content is None or (row.columns["closed_at"] is None and stored.facts["closed_at"] is not None):
        return None  # the trader's own, or an older file, from before the trade was closed
    said, content = restated(stored.content, row.columns["content"])
    if content == stored.content:
        return None
    facts = stored.facts | {fact: row.columns[fact] for fact in said}
    if (facts["closed_at"] is None) != (facts["gross_pnl"] is None):  # reopened by the trader meanwhile
        said += ["exit_price", "closed_at", "gross_pnl"]
        facts |= {fact: row.columns[fact] for fact in said}
    is_made_here = row.imported.is_computed and "multiplier" in row.imported.unstated
    if is_made_here and "gross_pnl" in said and facts["gross_pnl"] is not None:
        # The file's result was made with a multiplier that it does not know.
        ratio = Fraction(facts["multiplier"], row.columns["multiplier"])
        facts["gross_pnl"] = round(facts["gross_pnl"] * ratio)
    changed = [fact for fact in FACTS if facts[fact] != stored.facts[fact]]
    return Correction(stored.trade_id, facts, changed, content)


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
        SELECT key.value ->> 0, trades.id, source_trade_id, content, {", ".join(FACTS)}
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
        place: Stored(trade_id, source_id, content, dict(zip(FACTS, facts, strict=True)))
        for place, trade_id, source_id, content, *facts in found
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
