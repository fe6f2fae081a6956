"""SQL of accounts. Foreign keys delete the goals of a deleted account and clear it in its strategies."""

from collections.abc import Iterable
from typing import Any

from aiosqlite import Connection
from msgspec import UnsetType, json

from journal_api.errors import AccountHasTrades, ValidationFailed
from journal_api.repositories.sql import assignments, fetch, fetch_json, json_array_of, json_list, unique_name
from journal_api.rules.commissions import Commissions
from journal_api.rules.partial_update import changes, with_sort_name
from journal_api.structs.accounts import Account, AccountCreate, AccountPatch, Fees
from journal_api.values.clock import now, now_after
from journal_api.values.money import Money, json_number
from journal_api.values.types import sort_name

ACCOUNT = f"""json_object(
    'id', id,
    'name', name,
    'currency', currency,
    'starting_balance', {json_number("starting_balance")},
    'broker', broker,
    'archived', json(iif(archived, 'true', 'false')),
    'fees', json((
        SELECT json_group_object(root, {json_number("per_side")})
        FROM (SELECT root, per_side FROM account_fees WHERE account_id = accounts.id ORDER BY root))),
    'created_at', created_at,
    'updated_at', updated_at)"""


async def list_of_user(db: Connection, user_id: int) -> str:
    """Return the accounts as a JSON array, sorted by name."""
    return await fetch_json(
        db,
        json_array_of(
            "account",
            f"""
            SELECT {ACCOUNT} AS account
            FROM accounts
            WHERE user_id = :user_id
            ORDER BY sort_name, id
            """,
        ),
        {"user_id": user_id},
    )


async def get(db: Connection, user_id: int, account_id: int) -> str:
    """Return the account as JSON. Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {ACCOUNT} FROM accounts WHERE id = :id AND user_id = :user_id",
        {"id": account_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, account_id: int) -> Account:
    """Return the account as a struct. Raises NotFound."""
    return json.decode(await get(db, user_id, account_id), type=Account)


async def require(
    db: Connection, user_id: int, account_id: int | None | UnsetType, field: str = "account_id"
) -> None:
    """Raise ValidationFailed for `field` unless the account is the user's. None and UNSET are accepted."""
    if not isinstance(account_id, int):
        return
    is_owned = await fetch(
        db,
        "SELECT 1 FROM accounts WHERE id = :id AND user_id = :user_id",
        {"id": account_id, "user_id": user_id},
    )
    if not is_owned:
        raise ValidationFailed(fields={field: "is not one of your accounts"})


async def id_of(db: Connection, user_id: int, name: str) -> int | None:
    """Return the id of the account with that name, None without one."""
    account_id = await fetch(
        db,
        "SELECT id FROM accounts WHERE user_id = :user_id AND name = :name",
        {"user_id": user_id, "name": name},
    )
    return None if account_id is None else int(account_id)


async def ids_by_name(db: Connection, user_id: int) -> dict[str, int]:
    """Return the ids of the user's accounts by name."""
    rows: Iterable[Any] = await db.execute_fetchall(
        "SELECT name, id FROM accounts WHERE user_id = :user_id", {"user_id": user_id}
    )
    return dict(rows)


async def insert(db: Connection, user_id: int, account: AccountCreate) -> int:
    """Return the new id. Raises DuplicateName."""
    with unique_name():
        account_id = int(
            await fetch(
                db,
                """
                INSERT INTO accounts (user_id, name, sort_name, currency, starting_balance, broker, archived,
                    created_at, updated_at)
                VALUES (:user_id, :name, :sort_name, :currency, :starting_balance, :broker, :archived,
                    :now, :now)
                RETURNING id
                """,
                {
                    "user_id": user_id,
                    "name": account.name,
                    "sort_name": sort_name(account.name),
                    "currency": account.currency,
                    "starting_balance": account.starting_balance.units,
                    "broker": account.broker,
                    "archived": account.archived,
                    "now": now(),
                },
            )
        )
    if account.fees:
        await replace_fees(db, account_id, account.fees)
    return account_id


async def replace_fees(db: Connection, account_id: int, fees: Fees) -> None:
    """Replace all commissions of the account."""
    values = {"id": account_id, "fees": json_list([(root, amount.units) for root, amount in fees.items()])}
    await db.execute_fetchall("DELETE FROM account_fees WHERE account_id = :id", values)
    await db.execute_fetchall(
        """
        INSERT INTO account_fees (account_id, root, per_side)
        SELECT :id, value ->> 0, value ->> 1 FROM json_each(:fees)
        """,
        values,
    )


async def commissions_of_user(db: Connection, user_id: int) -> dict[int, Commissions]:
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


async def update(db: Connection, stored: Account, patch: AccountPatch) -> None:
    """Write the members that differ. Raises DuplicateName."""
    if changed := with_sort_name(changes(stored, patch)):
        fees = changed.pop("fees", None)
        columns: dict[str, Any] = {
            column: value.units if isinstance(value, Money) else value for column, value in changed.items()
        }
        columns["updated_at"] = now_after(stored.updated_at)
        with unique_name():
            await db.execute_fetchall(
                f"UPDATE accounts SET {assignments(columns)} WHERE id = :id", {**columns, "id": stored.id}
            )
        if fees is not None:
            await replace_fees(db, stored.id, fees)


async def delete(db: Connection, stored: Account) -> None:
    """Delete the account. Raises AccountHasTrades."""
    trade_count = await fetch(db, "SELECT count(*) FROM trades WHERE account_id = :id", {"id": stored.id})
    if trade_count:
        raise AccountHasTrades(trade_count=trade_count)
    await db.execute_fetchall("DELETE FROM accounts WHERE id = :id", {"id": stored.id})
