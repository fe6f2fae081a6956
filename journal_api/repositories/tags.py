"""SQL of tags. Foreign keys remove a deleted tag from all trades."""

from aiosqlite import Connection
from msgspec import json

from journal_api.repositories.sql import (
    assignments,
    fetch,
    fetch_json,
    json_array_of,
    unique_name,
)
from journal_api.rules.partial_update import changes, with_sort_name
from journal_api.structs.tags import Tag, TagCreate, TagPatch, TagQuery
from journal_api.values.clock import now, now_after
from journal_api.values.types import sort_name

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
    return await fetch_json(
        db,
        json_array_of(
            "tag",
            f"""
            SELECT {TAG} AS tag
            FROM tags
            WHERE user_id = :user_id
              AND (:category_id IS NULL OR category_id = :category_id)
              AND (:type IS NULL OR type = :type)
            ORDER BY sort_name, id
            """,
        ),
        {"user_id": user_id, "category_id": query.category_id, "type": query.type},
    )


async def get(db: Connection, user_id: int, tag_id: int) -> str:
    """Return the tag as JSON. Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {TAG} FROM tags WHERE id = :id AND user_id = :user_id",
        {"id": tag_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, tag_id: int) -> Tag:
    """Return the tag as a struct. Raises NotFound."""
    return json.decode(await get(db, user_id, tag_id), type=Tag)


async def insert(db: Connection, user_id: int, tag: TagCreate) -> int:
    """Return the new id. Raises DuplicateName."""
    with unique_name():
        return int(
            await fetch(
                db,
                """
                INSERT INTO tags (user_id, category_id, name, sort_name, color, type, created_at, updated_at)
                VALUES (:user_id, :category_id, :name, :sort_name, :color, :type, :now, :now)
                RETURNING id
                """,
                {
                    "user_id": user_id,
                    "category_id": tag.category_id,
                    "name": tag.name,
                    "sort_name": sort_name(tag.name),
                    "color": tag.color,
                    "type": tag.type,
                    "now": now(),
                },
            )
        )


async def update(db: Connection, stored: Tag, patch: TagPatch) -> None:
    """Write the members that differ. Raises DuplicateName."""
    if changed := with_sort_name(changes(stored, patch)):
        columns = {**changed, "updated_at": now_after(stored.updated_at)}
        with unique_name():
            await db.execute_fetchall(
                f"UPDATE tags SET {assignments(columns)} WHERE id = :id", {**columns, "id": stored.id}
            )


async def delete(db: Connection, stored: Tag) -> None:
    """Delete the tag."""
    await db.execute_fetchall("DELETE FROM tags WHERE id = :id", {"id": stored.id})
