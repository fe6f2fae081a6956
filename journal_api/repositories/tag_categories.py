"""SQL of tag categories."""

from aiosqlite import Connection

from journal_api.database import sql
from journal_api.errors import CategoryHasTags
from journal_api.structs.tag_categories import TagCategory

TABLE = sql.Table(
    "tag_categories", TagCategory, tag_count="(SELECT count(*) FROM tags WHERE category_id = tag_categories.id)"
)
list_of_user, get, find, require = TABLE.list_of_user, TABLE.get, TABLE.find, TABLE.require
insert, update = TABLE.insert, TABLE.update


async def delete(db: Connection, user_id: int, category_id: int) -> None:
    """Delete the tag category. Raises CategoryHasTags."""
    if tag_count := (await find(db, user_id, category_id)).tag_count:
        raise CategoryHasTags(tag_count=tag_count)
    await TABLE.delete(db, user_id, category_id)
