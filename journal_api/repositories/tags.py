"""SQL of tags. Foreign keys remove a deleted tag from all trades."""

from aiosqlite import Connection
from msgspec import json
from msgspec.structs import asdict

from journal_api.repositories.sql import fetch_json_array, find_row, insert_row, update_row
from journal_api.rules.partial_update import changes
from journal_api.structs.tags import Tag, TagCreate, TagPatch, TagQuery

TAG = """json_object(
    'id', id,
    'category_id', category_id,
    'name', name,
    'color', color,
    'type', type,
    'created_at', created_at,
    'updated_at', updated_at)"""


async def list_of_user(db: Connection, user_id: int, query: TagQuery) -> str:
    """Return the tags as a JSON array, sorted by name."""
    return await fetch_json_array(
        db,
        f"""
        SELECT {TAG} AS item
        FROM tags
        WHERE user_id = :user_id
          AND (:category_id IS NULL OR category_id = :category_id)
          AND (:type IS NULL OR type = :type)
        ORDER BY sort_name, id
        """,
        {**asdict(query), "user_id": user_id},
    )


async def get(db: Connection, user_id: int, tag_id: int) -> str:
    """Return the tag as JSON. Raises NotFound."""
    return await find_row(db, "tags", TAG, user_id, tag_id)


async def find(db: Connection, user_id: int, tag_id: int) -> Tag:
    """Return the tag as a struct. Raises NotFound."""
    return json.decode(await get(db, user_id, tag_id), type=Tag)


async def insert(db: Connection, user_id: int, tag: TagCreate) -> int:
    """Return the new id. Raises DuplicateName."""
    return await insert_row(db, "tags", {**asdict(tag), "user_id": user_id})


async def update(db: Connection, stored: Tag, patch: TagPatch) -> None:
    """Write the members that differ. Raises DuplicateName."""
    if changed := changes(stored, patch):
        await update_row(db, "tags", stored, changed)


async def delete(db: Connection, stored: Tag) -> None:
    """Delete the tag."""
    await db.execute_fetchall("DELETE FROM tags WHERE id = :id", {"id": stored.id})
