"""Imports: the rows of a file become trades, all of them or none, and none of them twice."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database import fetch
from journal_api.errors import ValidationFailed
from journal_api.importing import TradeFile, at_line
from journal_api.importing.cells import ImportedTrade
from journal_api.repositories import trades
from journal_api.values import now

AT_ONCE = 1000


class Outcome(NamedTuple):
    """How many rows the file had of each kind."""

    added: int
    duplicates: int


class Names(NamedTuple):
    """What the names in a file stand for."""

    strategies: dict[str, int]
    setups: dict[tuple[int, str], int]
    tags: dict[str, int]


async def insert_trades(
    db: Connection, user_id: int, account_id: int, file: TradeFile, file_name: str, sha256: str, timezone: str
) -> Outcome:
    """Import the file into the account; naive times are read in `timezone`.

    Raises ValidationFailed naming the line and the reason, with nothing to keep of what came before it.
    """
    import_id = await insert(db, user_id, account_id, file.format, file_name, sha256, timezone)
    names = await names_of(db, user_id)
    rows = rows_of(file.trades, names, timezone, {"user_id": user_id, "import_id": import_id, "now": now()})
    read = 0
    while batch := list(islice(rows, AT_ONCE)):
        await trades.insert_new(db, (columns for columns, _ in batch))
        await tag_new(db, import_id, batch)
        read += len(batch)
    added = await fetch(db, "SELECT count(*) FROM trades WHERE import_id = :id", {"id": import_id})
    await db.execute_fetchall(
        "UPDATE imports SET added = :added, duplicates = :duplicates WHERE id = :id",
        {"added": added, "duplicates": read - added, "id": import_id},
    )
    return Outcome(added, read - added)


async def insert(
    db: Connection, user_id: int, account_id: int, form: str, file_name: str, sha256: str, timezone: str
) -> int:
    return int(
        await fetch(
            db,
            """
            INSERT INTO imports (user_id, account_id, format, file_name, sha256, timezone, added, duplicates,
                created_at)
            VALUES (:user_id, :account_id, :format, :file_name, :sha256, :timezone, 0, 0, :now)
            RETURNING id
            """,
            {
                "user_id": user_id,
                "account_id": account_id,
                "format": form,
                "file_name": file_name,
                "sha256": sha256,
                "timezone": timezone,
                "now": now(),
            },
        )
    )


async def names_of(db: Connection, user_id: int) -> Names:
    strategies: Iterable[Any] = await db.execute_fetchall(
        "SELECT name, id FROM strategies WHERE user_id = :user_id", {"user_id": user_id}
    )
    setups = await db.execute_fetchall(
        """
        SELECT strategy_id, setups.name, min(setups.id)
        FROM setups
        JOIN strategies ON strategies.id = strategy_id
        WHERE user_id = :user_id
        GROUP BY strategy_id, setups.name
        """,
        {"user_id": user_id},
    )
    tags: Iterable[Any] = await db.execute_fetchall(
        "SELECT name, id FROM tags WHERE user_id = :user_id", {"user_id": user_id}
    )
    return Names(
        dict(strategies),
        {(strategy_id, name): row_id for strategy_id, name, row_id in setups},
        dict(tags),
    )


def rows_of(
    found: Iterable[tuple[int, ImportedTrade]], names: Names, timezone: str, common: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """The columns of each trade and the ids of its tags; raises ValidationFailed naming the line."""
    seen: Counter[bytes] = Counter()
    for line, imported in found:
        try:
            columns = imported.trade.columns(timezone)
            strategy_id, setup_id = strategy_of(imported, names)
            tag_ids = [known(names.tags.get(name), "tags", name) for name in dict.fromkeys(imported.tags)]
        except ValidationFailed as error:
            field, reason = next(iter(error.details["fields"].items()))
            raise at_line(line, f"{field} {reason}") from None
        fingerprint = trades.fingerprint_of(columns)
        seen[fingerprint] += 1
        # The same content twice in one file is two trades; the same external id is one, with its first tags.
        is_again = columns["external_id"] is not None and seen[fingerprint] > 1
        columns |= {
            **common,
            "strategy_id": strategy_id,
            "setup_id": setup_id,
            "fingerprint": fingerprint,
            "occurrence": 1 if is_again else seen[fingerprint],
        }
        yield columns, [] if is_again else tag_ids


def strategy_of(imported: ImportedTrade, names: Names) -> tuple[int | None, int | None]:
    if imported.strategy is None:
        if imported.setup is not None:
            raise ValidationFailed(fields={"setup": "needs its strategy in the same row"})
        return None, None
    strategy_id = known(names.strategies.get(imported.strategy), "strategy", imported.strategy)
    if imported.setup is None:
        return strategy_id, None
    return strategy_id, known(names.setups.get((strategy_id, imported.setup)), "setup", imported.setup)


def known(row_id: int | None, column: str, name: str) -> int:
    """The id that was found for a name; raises ValidationFailed when none was."""
    if row_id is None:
        raise ValidationFailed(fields={column: f"names {name!r}, which is not in the journal"})
    return row_id


async def tag_new(db: Connection, import_id: int, batch: list[tuple[dict[str, Any], list[int]]]) -> None:
    """Put the tags of the batch on the trades that this import has added."""
    await db.executemany(
        """
        INSERT INTO trade_tags (trade_id, tag_id)
        SELECT id, :tag_id
        FROM trades
        WHERE account_id = :account_id
          AND fingerprint = :fingerprint
          AND occurrence = :occurrence
          AND import_id = :import_id
        """,
        [
            {
                "tag_id": tag_id,
                "import_id": import_id,
                "account_id": columns["account_id"],
                "fingerprint": columns["fingerprint"],
                "occurrence": columns["occurrence"],
            }
            for columns, tag_ids in batch
            for tag_id in tag_ids
        ],
    )
