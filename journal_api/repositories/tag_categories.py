"""Tag categories: a name, and the tags that belong to it."""

from aiosqlite import Connection
from msgspec import UnsetType, json

from journal_api.errors import CategoryHasTags, ValidationFailed
from journal_api.repositories.sql import assignments, fetch, fetch_json, unique_name
from journal_api.rules.partial_update import changes, with_sort_name
from journal_api.structs.tag_categories import TagCategory, TagCategoryCreate, TagCategoryPatch
from journal_api.values.clock import now
from journal_api.values.types import sort_name

TAG_CATEGORY = """json_object(
    'id', id,
    'name', name,
    'tag_count', (SELECT count(*) FROM tags WHERE category_id = tag_categories.id),
    'created_at', created_at,
    'updated_at', updated_at)"""


async def list_of_user(db: Connection, user_id: int) -> str:
    return await fetch_json(
        db,
        f"""
        SELECT '[' || coalesce(group_concat(tag_category), '') || ']'
        FROM (SELECT {TAG_CATEGORY} AS tag_category
              FROM tag_categories
              WHERE user_id = :user_id
              ORDER BY sort_name, id)
        """,
        {"user_id": user_id},
    )


async def get(db: Connection, user_id: int, category_id: int) -> str:
    """Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {TAG_CATEGORY} FROM tag_categories WHERE id = :id AND user_id = :user_id",
        {"id": category_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, category_id: int) -> TagCategory:
    """Raises NotFound."""
    return json.decode(await get(db, user_id, category_id), type=TagCategory)


async def require(db: Connection, user_id: int, category_id: int | UnsetType) -> None:
    """Raises ValidationFailed when a category was sent that is not the user's."""
    if isinstance(category_id, UnsetType):
        return
    found = await fetch(
        db,
        "SELECT 1 FROM tag_categories WHERE id = :id AND user_id = :user_id",
        {"id": category_id, "user_id": user_id},
    )
    if not found:
        raise ValidationFailed(fields={"category_id": "is not one of your tag categories"})


async def insert(db: Connection, user_id: int, category: TagCategoryCreate) -> int:
    """The new id; raises DuplicateName."""
    with unique_name():
        return int(
            await fetch(
                db,
                """
                INSERT INTO tag_categories (user_id, name, sort_name, created_at, updated_at)
                VALUES (:user_id, :name, :sort_name, :now, :now)
                RETURNING id
                """,
                {
                    "user_id": user_id,
                    "name": category.name,
                    "sort_name": sort_name(category.name),
                    "now": now(),
                },
            )
        )


async def update(db: Connection, stored: TagCategory, patch: TagCategoryPatch) -> None:
    """Raises DuplicateName."""
    if changed := with_sort_name(changes(stored, patch)):
        changed["updated_at"] = now()
        with unique_name():
            await db.execute_fetchall(
                f"UPDATE tag_categories SET {assignments(changed)} WHERE id = :id",
                {**changed, "id": stored.id},
            )


async def delete(db: Connection, stored: TagCategory) -> None:
    """Raises CategoryHasTags."""
    if stored.tag_count:
        raise CategoryHasTags(tag_count=stored.tag_count)
    await db.execute_fetchall("DELETE FROM tag_categories WHERE id = :id", {"id": stored.id})
