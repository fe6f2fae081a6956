"""SQL of tag categories."""

from aiosqlite import Connection
from msgspec import UnsetType

from journal_api.database import sql
from journal_api.errors import CategoryHasTags
from journal_api.structs.tag_categories import TagCategory

TABLE = sql.Table(
    "tag_categories", TagCategory, tag_count="(SELECT count(*) FROM tags WHERE category_id = tag_categories.id)"
)
list_of_user, get, find = TABLE.list_of_user, TABLE.get, TABLE.find
insert, update = TABLE.insert, TABLE.update


async def require(db: Connection, user_id: int, category_id: int | UnsetType) -> None:
    await sql.require_row(db, "tag_categories", user_id, category_id, "category_id")


async def delete(db: Connection, user_id: int, category_id: int) -> None:
    """Delete the tag category. Raises CategoryHasTags."""
    if tag_count := (await find(db, user_id, category_id)).tag_count:
        raise CategoryHasTags(tag_count=tag_count)
    await TABLE.delete(db, user_id, category_id)
