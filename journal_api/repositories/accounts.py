"""Accounts, as far as strategies, goals and imports point at them."""

from aiosqlite import Connection
from msgspec import UnsetType

from journal_api.database import fetch, unique_name
from journal_api.errors import ValidationFailed
from journal_api.values import now, sort_name


async def require(
    db: Connection, user_id: int, account_id: int | None | UnsetType, field: str = "account_id"
) -> None:
    """Raises ValidationFailed when one was sent that is not the user's; `field` is what it was sent as."""
    if not isinstance(account_id, int):
        return
    found = await fetch(
        db,
        "SELECT 1 FROM accounts WHERE id = :id AND user_id = :user_id",
        {"id": account_id, "user_id": user_id},
    )
    if not found:
        raise ValidationFailed(fields={field: "is not one of your accounts"})


async def id_of(db: Connection, user_id: int, name: str) -> int | None:
    found = await fetch(
        db,
        "SELECT id FROM accounts WHERE user_id = :user_id AND name = :name",
        {"user_id": user_id, "name": name},
    )
    return None if found is None else int(found)


async def insert(db: Connection, user_id: int, name: str) -> int:
    """The new id; raises DuplicateName."""
    with unique_name():
        return int(
            await fetch(
                db,
                """
                INSERT INTO accounts (user_id, name, sort_name, created_at, updated_at)
                VALUES (:user_id, :name, :sort_name, :now, :now)
                RETURNING id
                """,
                {"user_id": user_id, "name": name, "sort_name": sort_name(name), "now": now()},
            )
        )
