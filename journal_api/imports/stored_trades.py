"""SQL of the trades that an import changes, and of those that its statements may be."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.database import calendars
from journal_api.database.sql import json_list
from journal_api.positions.plans import StoredTrade
from journal_api.positions.position_columns import FILE_COLUMNS
from journal_api.repositories import trades
from journal_api.repositories.statements import Contract
from journal_api.values.periods import trading_day

COLUMNS = (*FILE_COLUMNS, "contract", "root")
WRITTEN_BY_HAND = "updated_at > created_at"


async def read_trades(db: Connection, trade_ids: Iterable[int]) -> dict[int, StoredTrade]:
    return await fetch_trades(db, "id IN (SELECT value FROM json_each(:ids))", {"ids": json_list(sorted(trade_ids))})


async def read_changed(db: Connection, user_id: int, contract: Contract) -> dict[int, StoredTrade]:
    """Return the imported trades of a contract that their owner has merged or edited, its name perhaps."""
    return await fetch_trades(
        db,
        """
        user_id = :user_id AND contract = :name AND account_id = :account_id
        AND coalesce(merged, edited) IS NOT NULL
        AND EXISTS (SELECT 1 FROM statements WHERE trade_id = trades.id)
        """,
        {"user_id": user_id, **contract._asdict()},
    )


async def read_without_statements(
    db: Connection, user_id: int, account_id: int, contracts: Sequence[str]
) -> dict[int, StoredTrade]:
    """Return the trades of contracts that no file has now: typed ones, and those whose statements another trade has."""
    return await fetch_trades(
        db,
        """
        user_id = :user_id
        AND contract IN (SELECT value FROM json_each(:contracts))
        AND account_id = :account_id
        AND NOT EXISTS (SELECT 1 FROM statements WHERE trade_id = trades.id)
        """,
        {"user_id": user_id, "account_id": account_id, "contracts": json_list(contracts)},
    )


async def fetch_trades(db: Connection, condition: str, values: Mapping[str, Any]) -> dict[int, StoredTrade]:
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT id, import_id, edited, typed, merged IS NOT NULL, {WRITTEN_BY_HAND}, source_trade_id,
            {", ".join(COLUMNS)}
        FROM trades
        WHERE {condition}
        ORDER BY id
        """,
        dict(values),
    )
    return {
        row[0]: StoredTrade(
            row[0],
            dict(zip(COLUMNS, row[7:], strict=True)),
            row[1],
            tuple(row[2].split(",")) if row[2] else (),
            row[3],
            bool(row[4]),
            bool(row[5]),
            row[6],
        )
        for row in rows
    }


async def delete_trades(db: Connection, trade_ids: Sequence[int]) -> None:
    """Delete trades that no longer follow from what files state: their owner has not left out what made them."""
    if trade_ids:
        await db.execute_fetchall(
            "UPDATE statements SET trade_id = NULL WHERE trade_id IN (SELECT value FROM json_each(:ids))",
            {"ids": json_list(trade_ids)},
        )
        await trades.delete_many(db, trade_ids)


async def update_trades(
    db: Connection, user_id: int, changes: Iterable[tuple[int, dict[str, Any], int | None, str | None]], written_at: str
) -> None:
    """Write columns, first import, and what was typed. It is no edit of the owner, so `changed_at` changes alone."""
    by_account = await calendars.by_account(db, user_id)
    rows = list(changes)
    ids = [trade_id for trade_id, *_ in rows]
    accounts: Iterable[Any] = await db.execute_fetchall(
        "SELECT id, account_id FROM trades WHERE id IN (SELECT value FROM json_each(:ids))", {"ids": json_list(ids)}
    )
    account_of: dict[int, int] = dict(accounts)
    # The id of a trade as it was typed may be another trade's by now.
    as_typed = [
        (account_of[trade_id], columns["external_id"]) for trade_id, columns, import_id, _ in rows if import_id is None
    ]
    taken = await trades.find_external_ids(db, as_typed, ids) if as_typed else set()
    await db.executemany(
        f"""
        UPDATE trades
        SET {", ".join(f"{name} = :{name}" for name in COLUMNS)},
            trading_day = :trading_day,
            import_id = :import_id,
            typed = :typed,
            changed_at = {trades.CHANGED}
        WHERE id = :id
        """,
        [
            {
                **columns,
                "external_id": None
                if import_id is None and (account_of[trade_id], columns["external_id"]) in taken
                else columns["external_id"],
                "trading_day": trading_day(columns["closed_at"], *by_account[account_of[trade_id]]),
                "id": trade_id,
                "import_id": import_id,
                "typed": typed,
                "now": written_at,
            }
            for trade_id, columns, import_id, typed in rows
        ],
    )
