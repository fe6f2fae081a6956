"""SQL that inserts trades."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database import calendars
from journal_api.database.sql import fetch, json_list, unique_value
from journal_api.positions.trade_columns import build_columns
from journal_api.positions.trade_draft import TradeDraft
from journal_api.positions.trade_identity import compute_fingerprint
from journal_api.values.clock import now
from journal_api.values.periods import trading_day

# The columns of a new trade in the order of their parameters. Parameters are positional because binding by
# name looks up each value, which matters for imports.
COLUMNS = ("id", *TradeDraft.__struct_fields__, "contract", "root", "fingerprint", "occurrence", "content")
# Rows per statement: a table with triggers opens a savepoint for every statement.
ROWS_AT_ONCE = 250
read_values = itemgetter(*COLUMNS)


async def insert(db: Connection, user_id: int, trade: TradeDraft, timezone: str) -> int:
    """Return the new id. Raises Conflict when the account has a trade with that external_id."""
    with unique_value("external_id"):
        (trade_id,) = await insert_many(db, user_id, [build_columns(trade, timezone)])
    return trade_id


async def find_duplicate_external_ids(db: Connection, rows: Mapping[int, dict[str, Any]]) -> list[int]:
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
    kinds = [Kind(row["account_id"], compute_fingerprint(row)) for row in rows]
    occurrences = await find_next_occurrences(db, kinds)
    new_rows = [
        {**row, "content": None, "id": row_id, "fingerprint": kind.fingerprint, "occurrence": occurrence}
        for row_id, (row, kind, occurrence) in enumerate(
            zip(rows, kinds, occurrences, strict=True), last_id + 1
        )
    ]
    await insert_all(db, user_id, new_rows, None, now())
    return [row["id"] for row in new_rows]


class Kind(NamedTuple):
    """The trades of one account with equal fingerprints; `occurrence` numbers them from 1."""

    account_id: int
    fingerprint: bytes


async def find_next_occurrences(db: Connection, kinds: Sequence[Kind]) -> list[int]:
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


async def insert_all(
    db: Connection,
    user_id: int,
    rows: Sequence[Mapping[str, Any]],
    import_id: int | None,
    written_at: str,
) -> None:
    """Insert trades of one user that already have their ids."""
    if not rows:
        return
    columns = dict(zip(COLUMNS, zip(*map(read_values, rows), strict=True), strict=True))
    by_account = await calendars.by_account(db, user_id)
    days = [trading_day(row["closed_at"], *by_account[row["account_id"]]) for row in rows]
    common = {"user_id": user_id, "import_id": import_id, "created_at": written_at, "updated_at": written_at}
    every_row = {name: (value,) * len(days) for name, value in common.items()}
    # Most trades have no notes, grade or stop: a column that is NULL in all rows is left out.
    complete = {**columns, "trading_day": days, **every_row}
    filled = {name: values for name, values in complete.items() if values.count(None) < len(values)}
    values = list(zip(*filled.values(), strict=True))
    for begin in range(0, len(values), ROWS_AT_ONCE):
        part = values[begin : begin + ROWS_AT_ONCE]
        await db.execute_fetchall(build_insert(tuple(filled), len(part)), list(chain.from_iterable(part)))


@lru_cache(maxsize=256)
def build_insert(columns: tuple[str, ...], rows: int) -> str:
    """Return the INSERT of that many trades with those columns."""
    values = f"({', '.join('?' * len(columns))})"
    return f"""
        INSERT INTO trades ({", ".join(columns)})
        VALUES {", ".join([values] * rows)}
        """
