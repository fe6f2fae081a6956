"""SQL that charges the commissions of an account for its earlier trades."""

from collections.abc import Iterable
from typing import Any

from aiosqlite import Connection

from journal_api.positions.commissions import NO_COMMISSIONS, Commissions
from journal_api.positions.fills import charge_fills
from journal_api.repositories import accounts
from journal_api.repositories.trades import LATER
from journal_api.values.clock import now

# A trade that is as an import wrote it stays so: undoing the import deletes or restores it.
STAYS_AS_IMPORTED = """import_id IS NOT NULL AND updated_at = created_at
    OR EXISTS (SELECT 1 FROM import_updates WHERE trade_id = trades.id AND written_at = trades.updated_at)
    OR EXISTS (SELECT 1 FROM import_links WHERE trade_id = trades.id AND written_at = trades.updated_at)"""


# What decides the commission of a trade, and the commission that it has.
COLUMNS = ("symbol", "quantity", "closed_at", "fills", "fees", "fees_source")


async def charge_earlier(db: Connection, user_id: int, account_id: int) -> int:
    """Charge the trades of the account whose fees no file stated and no person typed.

    What undoing an import restores is charged alike. Trades without an amount for their symbol pay nothing.
    Returns the number of trades that change. Raises ValidationFailed if a commission is too large.
    """
    known = await accounts.read_commissions(db, user_id)
    commissions = known.get(account_id, NO_COMMISSIONS)
    changes = find_changes(await read_uncharged(db, account_id), commissions)
    await db.executemany(
        f"""
        UPDATE trades
        SET fees = :fees, fees_source = :fees_source, fills = :fills,
            updated_at = iif({STAYS_AS_IMPORTED}, updated_at, {LATER})
        WHERE id = :id
        """,
        [{**change, "now": now()} for change in changes],
    )
    await db.executemany(
        """
        UPDATE import_updates
        SET fees = :fees, fees_source = :fees_source, fills = :fills
        WHERE import_id = :import_id AND trade_id = :id
        """,
        find_changes(await read_uncharged_before(db, account_id), commissions),
    )
    return len(changes)


async def read_uncharged(db: Connection, account_id: int) -> list[dict[str, Any]]:
    """Return what decides the commissions of the trades that the account may charge."""
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT id, {", ".join(COLUMNS)}
        FROM trades
        WHERE account_id = :account_id AND fees_source IN ('none', 'account')
        """,
        {"account_id": account_id},
    )
    return [dict(zip(("id", *COLUMNS), row, strict=True)) for row in rows]


async def read_uncharged_before(db: Connection, account_id: int) -> list[dict[str, Any]]:
    """Return the same of trades as they were before an import updated them."""
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT before.import_id, trade_id, {", ".join(f"before.{name}" for name in COLUMNS)}
        FROM trades
        JOIN import_updates AS before ON before.trade_id = trades.id
        WHERE account_id = :account_id AND before.fees_source IN ('none', 'account')
        """,
        {"account_id": account_id},
    )
    return [dict(zip(("import_id", "id", *COLUMNS), row, strict=True)) for row in rows]


def find_changes(trades: Iterable[dict[str, Any]], commissions: Commissions) -> list[dict[str, Any]]:
    """Return the trades that pay other fees than they have, with those."""
    changes = []
    for trade in trades:
        due = commissions.compute(trade, is_future=False)
        source = "none" if due is None else "account"
        if (trade["fees"], trade["fees_source"]) != (due or 0, source):
            fills = trade["fills"] and charge_fills(trade["fills"], due or 0)
            changes.append({**trade, "fees": due or 0, "fees_source": source, "fills": fills})
    return changes
