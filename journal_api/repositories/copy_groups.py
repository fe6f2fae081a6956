"""Copy groups, as far as strategies, goals and imports point at them."""

from aiosqlite import Connection
from msgspec import UnsetType

from journal_api.database import fetch
from journal_api.errors import ValidationFailed


async def require(
    db: Connection, user_id: int, copy_group_id: int | None | UnsetType, field: str = "copy_group_id"
) -> None:
    """Raises ValidationFailed when one was sent that is not the user's; `field` is what it was sent as."""
    if not isinstance(copy_group_id, int):
        return
    found = await fetch(
        db,
        "SELECT 1 FROM copy_groups WHERE id = :id AND user_id = :user_id",
        {"id": copy_group_id, "user_id": user_id},
    )
    if not found:
        raise ValidationFailed(fields={field: "is not one of your copy groups"})
