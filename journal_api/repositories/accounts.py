"""SQL of accounts. Foreign keys delete the goals of a deleted account and clear it in its strategies."""

from collections.abc import Iterable
from typing import Any

from aiosqlite import Connection
from msgspec.structs import asdict

from journal_api.database import sql
from journal_api.errors import AccountHasTrades
from journal_api.positions.commissions import NO_COMMISSIONS, Commissions
from journal_api.positions.fills import charge_fills
from journal_api.repositories.trades import CHANGED
from journal_api.structs.accounts import Account, AccountCreate, AccountPatch, Fees
from journal_api.values.clock import now
from journal_api.values.money import json_number

TABLE = sql.Table(
    "accounts",
    Account,
    fees=f"""
        SELECT json_group_object(root, {json_number("per_side")})
        FROM (SELECT root, per_side FROM account_fees WHERE account_id = accounts.id ORDER BY root)""",
)
list_of_user, get, find, require = TABLE.list_of_user, TABLE.get, TABLE.find, TABLE.require
find_id = TABLE.find_id


async def list_ids_by_name(db: Connection, user_id: int) -> dict[str, int]:
    rows: Iterable[Any] = await db.execute_fetchall(
        "SELECT name, id FROM accounts WHERE user_id = :user_id", {"user_id": user_id}
    )
    return dict(rows)


async def insert(db: Connection, user_id: int, account: AccountCreate) -> int:
    columns = {**asdict(account), "user_id": user_id}
    fees = columns.pop("fees")
    account_id = await sql.insert_row(db, "accounts", columns)
    if fees:
        await replace_fees(db, account_id, fees)
    return account_id


async def replace_fees(db: Connection, account_id: int, fees: Fees) -> None:
    rows = [{"root": root, "per_side": amount.units} for root, amount in fees.items()]
    await sql.replace_rows(db, "account_fees", "account_id", account_id, "root", rows, ["per_side"])


async def read_commissions(db: Connection, user_id: int) -> dict[int, Commissions]:
    """Return the commissions of the accounts that have any, by account id."""
    by_account: dict[int, dict[str, int]] = {}
    for account_id, root, per_side in await db.execute_fetchall(
        """
        SELECT account_id, root, per_side
        FROM accounts
        JOIN account_fees ON account_id = id
        WHERE user_id = :user_id
        """,
        {"user_id": user_id},
    ):
        by_account.setdefault(account_id, {})[root] = per_side
    return {account_id: Commissions(per_side) for account_id, per_side in by_account.items()}


async def update(db: Connection, stored: Account, patch: AccountPatch) -> bool:
    """Write the members that differ and return whether the trading days of the account's trades change."""
    changed = sql.find_changed(stored, patch)
    if not changed:
        return False
    fees = changed.pop("fees", None)
    await sql.update_row(db, "accounts", stored, changed)
    if fees is not None:
        await replace_fees(db, stored.id, fees)
    return "timezone" in changed or "day_rollover" in changed


async def delete(db: Connection, user_id: int, account_id: int) -> None:
    """Delete the account. Raises AccountHasTrades."""
    await get(db, user_id, account_id)
    trade_count = await sql.fetch(db, "SELECT count(*) FROM trades WHERE account_id = :id", {"id": account_id})
    if trade_count:
        raise AccountHasTrades(trade_count=trade_count)
    await TABLE.delete(db, user_id, account_id)


# What decides the commission of a trade, and the commission that it has.
CHARGED = ("symbol", "quantity", "closed_at", "fills", "fees", "fees_source")


async def charge_earlier(db: Connection, user_id: int, account_id: int) -> int:
    """Charge trades whose fees nobody stated, 0 without an amount. Return how many change. Raises ValidationFailed."""
    known = await read_commissions(db, user_id)
    commissions = known.get(account_id, NO_COMMISSIONS)
    changes = find_changes(await read_uncharged(db, account_id), commissions)
    await db.executemany(
        f"""
        UPDATE trades
        SET fees = :fees, fees_source = :fees_source, fills = :fills,
            changed_at = {CHANGED}
        WHERE id = :id
        """,
        [{**change, "now": now()} for change in changes],
    )
    return len(changes)


async def read_uncharged(db: Connection, account_id: int) -> list[dict[str, Any]]:
    """Return what decides the commissions of the trades that the account may charge."""
    rows: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT id, {", ".join(CHARGED)}
        FROM trades
        WHERE account_id = :account_id AND fees_source IN ('none', 'account')
        """,
        {"account_id": account_id},
    )
    return [dict(zip(("id", *CHARGED), row, strict=True)) for row in rows]


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
