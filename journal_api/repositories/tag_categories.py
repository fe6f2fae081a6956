"""SQL of tag categories."""

from aiosqlite import Connection
from msgspec import UnsetType, json

from journal_api.errors import CategoryHasTags, ValidationFailed
from journal_api.repositories.sql import assignments, fetch, fetch_json, json_array_of, unique_name
from journal_api.rules.partial_update import changes, with_sort_name
from journal_api.structs.tag_categories import TagCategory, TagCategoryCreate, TagCategoryPatch
from journal_api.values.clock import now, now_after
from journal_api.values.types import sort_name

TAG_CATEGORY = """json_object(
    'id', id,
    'name', name,
    'tag_count', (SELECT count(*) FROM tags WHERE category_id = tag_categories.id),
    'created_at', created_at,
    'updated_at', updated_at)"""


async def list_of_user(db: Connection, user_id: int) -> str:
    """Return the tag categories as a JSON array, sorted by name."""
    return await fetch_json(
        db,
        json_array_of(
            "tag_category",
            f"""
            SELECT {TAG_CATEGORY} AS tag_category
            FROM tag_categories
            WHERE user_id = :user_id
            ORDER BY sort_name, id
            """,
        ),
        {"user_id": user_id},
    )


async def get(db: Connection, user_id: int, category_id: int) -> str:
    """Return the tag category as JSON. Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {TAG_CATEGORY} FROM tag_categories WHERE id = :id AND user_id = :user_id",
        {"id": category_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, category_id: int) -> TagCategory:
    """Return the tag category as a struct. Raises NotFound."""
    return json.decode(await get(db, user_id, category_id), type=TagCategory)


async def require(db: Connection, user_id: int, category_id: int | UnsetType) -> None:
    """Raise ValidationFailed unless the tag category is the user's. UNSET is accepted."""
    if isinstance(category_id, UnsetType):
        return
    is_owned = await fetch(
        db,
        "SELECT 1 FROM tag_categories WHERE id = :id AND user_id = :user_id",
        {"id": category_id, "user_id": user_id},
    )
    if not is_owned:
        raise ValidationFailed(fields={"category_id": "is not one of your tag categories"})


async def insert(db: Connection, user_id: int, category: TagCategoryCreate) -> int:
    """Return the new id. Raises DuplicateName."""
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
    """Write the members that differ. Raises DuplicateName."""
    if changed := with_sort_name(changes(stored, patch)):
        columns = {**changed, "updated_at": now_after(stored.updated_at)}
        with unique_name():
            await db.execute_fetchall(
                f"UPDATE tag_categories SET {assignments(columns)} WHERE id = :id",
                {**columns, "id": stored.id},
            )


async def delete(db: Connection, stored: TagCategory) -> None:
    """Delete the tag category. Raises CategoryHasTags."""
    if stored.tag_count:
        raise CategoryHasTags(tag_count=stored.tag_count)
    await db.execute_fetchall("DELETE FROM tag_categories WHERE id = :id", {"id": stored.id})
