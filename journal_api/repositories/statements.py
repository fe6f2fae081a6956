"""SQL of statements: what the files of imports state of the fills of a contract."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.positions.sources import SourceStatement
from journal_api.positions.statements import Key, choose_last, decode


class Contract(NamedTuple):
    """What has one position at a time."""

    account_id: int
    name: str


async def list_of_contract(db: Connection, contract: Contract) -> dict[Key, list[SourceStatement]]:
    """Return the statements of a contract by key. One of another contract that corrects them holds instead.

    Each has the import that stated it first, and those that have stated the same since.
    """
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT key, statements.id, import_id,
            (SELECT group_concat(import_id) FROM restatements WHERE statement_id = statements.id),
            trade_id, is_left_out, format, stated
        FROM statements
        JOIN imports ON imports.id = import_id
        WHERE statements.account_id = :account_id
          AND contract = :name
          AND NOT EXISTS (
            SELECT 1
            FROM statements AS later
            WHERE later.account_id = statements.account_id AND later.key = statements.key
              AND later.contract <> statements.contract AND later.import_id > statements.import_id)
        """,
        contract._asdict(),
    )
    found: dict[Key, list[SourceStatement]] = {}
    for key, row_id, import_id, others, trade_id, is_left_out, file_format, text in rows:
        stated = SourceStatement(
            decode(text),
            file_format,
            imports=[import_id, *map(int, others.split(","))] if others else [import_id],
            row_id=row_id,
            trade_id=trade_id,
            is_left_out=bool(is_left_out),
        )
        found.setdefault(key, []).append(stated)
    return found


def choose_versions(versions: Iterable[Sequence[SourceStatement]]) -> list[SourceStatement]:
    """Return of each key the statement that holds."""
    chosen = []
    for same in versions:
        stated = same[0]
        if len(same) > 1:
            index, statement = choose_last([(one.statement, max(one.imports)) for one in same])
            stated = same[index]
            stated.statement = statement
            stated.imports = tuple(sorted({number for one in same for number in one.imports}))
        chosen.append(stated)
    return chosen


class Moved(NamedTuple):
    """A statement whose symbol the file corrects: where it was, and the trade that it is in."""

    contract: Contract
    trade_id: int | None


async def find_moved(db: Connection, account_id: int, keys: Mapping[Key, str]) -> dict[Key, Moved]:
    """Return what is stored in other contracts than those that are given by key."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT statements.key, contract, trade_id
        FROM json_each(:keys)
        JOIN statements ON account_id = :account_id AND statements.key = CAST(value ->> '$[0]' AS INTEGER)
        WHERE contract <> value ->> '$[1]'
        ORDER BY statements.id
        """,
        {"account_id": account_id, "keys": json_list(list(keys.items()))},
    )
    return {key: Moved(Contract(account_id, name), trade_id) for key, name, trade_id in rows}


async def list_of_trades(db: Connection, trade_ids: Sequence[int]) -> list[Contract]:
    """Return the contracts of the statements that trades are made of."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT DISTINCT account_id, contract
        FROM statements
        WHERE trade_id IN (SELECT value FROM json_each(:ids))
        """,
        {"ids": json_list(trade_ids)},
    )
    return [Contract(*row) for row in rows]


async def list_of_import(db: Connection, import_id: int) -> list[Contract]:
    """Return the contracts for which the file of an import states or corrects something."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT account_id, contract
        FROM statements
        WHERE import_id = :id
        UNION
        SELECT other.account_id, other.contract
        FROM statements
        JOIN statements AS other ON other.account_id = statements.account_id AND other.key = statements.key
        WHERE statements.import_id = :id
        UNION
        SELECT account_id, contract
        FROM restatements
        JOIN statements ON statements.id = statement_id
        WHERE restatements.import_id = :id
        """,
        {"id": import_id},
    )
    return [Contract(*row) for row in rows]


async def restate(db: Connection, import_id: int, row_ids: Sequence[int]) -> None:
    """Write that the file of an import states again what is stored. Its trade is none that was deleted then."""
    values = {"import_id": import_id, "ids": json_list(row_ids)}
    await db.execute_fetchall(
        "INSERT INTO restatements (statement_id, import_id) SELECT value, :import_id FROM json_each(:ids)", values
    )
    await db.execute_fetchall(
        "UPDATE statements SET is_left_out = 0 WHERE id IN (SELECT value FROM json_each(:ids)) AND is_left_out", values
    )


async def set_trades(db: Connection, trade_ids: Iterable[tuple[int | None, int]]) -> None:
    """Write the trades that statements are in: pairs of the id of the trade and of the statement."""
    await db.executemany("UPDATE statements SET trade_id = ? WHERE id = ?", list(trade_ids))


async def leave(db: Connection, moved: Sequence[tuple[int, Key, int | None]]) -> None:
    """Take what is stored of keys out of other trades than the one behind each account and key."""
    await db.executemany(
        "UPDATE statements SET trade_id = NULL WHERE account_id = ? AND key = ? AND trade_id IS NOT ?", moved
    )


async def withdraw(db: Connection, import_id: int, kept_trade_ids: Sequence[int] = ()) -> None:
    """Delete what only the file of the import states, except of trades that are kept."""
    values = {"id": import_id, "kept": json_list(kept_trade_ids)}
    kept = "coalesce(trade_id, 0) NOT IN (SELECT value FROM json_each(:kept))"
    await db.execute_fetchall(
        f"DELETE FROM restatements WHERE import_id = :id AND statement_id IN (SELECT id FROM statements WHERE {kept})",
        values,
    )
    # What another file states as well is its statement from now on.
    await db.execute_fetchall(
        """
        UPDATE statements
        SET import_id = (SELECT min(import_id) FROM restatements WHERE statement_id = statements.id)
        WHERE import_id = :id AND EXISTS (SELECT 1 FROM restatements WHERE statement_id = statements.id)
        """,
        values,
    )
    await db.execute_fetchall(
        "DELETE FROM restatements WHERE (statement_id, import_id) IN (SELECT id, import_id FROM statements)"
    )
    await db.execute_fetchall(f"DELETE FROM statements WHERE import_id = :id AND {kept}", values)
