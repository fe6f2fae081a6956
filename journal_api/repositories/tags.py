"""SQL of tags. Foreign keys remove a deleted tag from all trades."""

from collections.abc import Sequence

from aiosqlite import Connection
from msgspec import UNSET

from journal_api.database import sql
from journal_api.repositories import tag_categories
from journal_api.structs.tags import Tag, TagPatch, TradeTag

TABLE = sql.Table("tags", Tag)
list_of_user, get, find = TABLE.list_of_user, TABLE.get, TABLE.find
insert, delete = TABLE.insert, TABLE.delete


def select_ids(table: str, condition: str) -> str:
    """Return the SELECT of the ids of the tags of a trade or a day as a JSON array."""
    return sql.build_json_array("tag_id", f"SELECT tag_id FROM {table} WHERE {condition} ORDER BY tag_id")


def select_tags(table: str, condition: str) -> str:
    """Return the SELECT of the tags of a trade or a day as a JSON array, by name."""
    return sql.build_json_array(
        "tag",
        f"""
        SELECT {sql.build_object(TradeTag, id="tags.id")} AS tag
        FROM {table}
        JOIN tags ON tags.id = tag_id
        WHERE {condition}
        ORDER BY sort_name, tags.id
        """,
    )


async def update(db: Connection, user_id: int, stored: Tag, patch: TagPatch) -> None:
    """Write the members that differ. Raises Conflict if trades would have two tags of a single category."""
    await TABLE.update(db, stored, patch)
    if patch.category_id not in (UNSET, stored.category_id):
        category = await tag_categories.find(db, user_id, patch.category_id)
        if category.single:
            await tag_categories.require_one_each(db, category.id, "category_id")


async def replace_links(db: Connection, table: str, owner: str, owner_id: int, tag_ids: Sequence[int]) -> None:
    """Make these the tags of a trade or a day."""
    await sql.replace_rows(db, table, owner, owner_id, "tag_id", [{"tag_id": tag_id} for tag_id in tag_ids])
