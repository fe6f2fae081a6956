"""SQL of tag categories."""

from aiosqlite import Connection

from journal_api.database import sql
from journal_api.errors import CategoryHasTags, Conflict
from journal_api.structs.tag_categories import TagCategory, TagCategoryPatch

TABLE = sql.Table(
    "tag_categories", TagCategory, tag_count="(SELECT count(*) FROM tags WHERE category_id = tag_categories.id)"
)
list_of_user, get, find, require = TABLE.list_of_user, TABLE.get, TABLE.find, TABLE.require
insert = TABLE.insert


async def update(db: Connection, stored: TagCategory, patch: TagCategoryPatch) -> None:
    """Write the members that differ. Raises DuplicateName, and Conflict if trades have two of its tags."""
    if patch.single is True and not stored.single:
        await require_one_each(db, stored.id, "single")
    await TABLE.update(db, stored, patch)


async def require_one_each(db: Connection, category_id: int, field: str) -> None:
    """Raise Conflict for `field` if trades have more than one tag of the category."""
    trade_count = await sql.fetch(
        db,
        """
        SELECT count(*)
        FROM (SELECT trade_id
              FROM tags
              JOIN trade_tags ON tag_id = tags.id
              WHERE category_id = :id
              GROUP BY trade_id
              HAVING count(*) > 1)
        """,
        {"id": category_id},
    )
    if trade_count:
        reason = f"{trade_count} of your trades have several tags of the category; leave one on each"
        raise Conflict(f"{reason}.", fields={field: reason}, trade_count=trade_count)


async def delete(db: Connection, user_id: int, category_id: int) -> None:
    """Delete the tag category. Raises CategoryHasTags."""
    if tag_count := (await find(db, user_id, category_id)).tag_count:
        raise CategoryHasTags(tag_count=tag_count)
    await TABLE.delete(db, user_id, category_id)
