"""SQL of tag categories."""

from aiosqlite import Connection
from msgspec import UnsetType, json
from msgspec.structs import asdict

from journal_api.errors import CategoryHasTags
from journal_api.repositories.sql import fetch_json_array, find_row, insert_row, require_row, update_row
from journal_api.rules.partial_update import changes
from journal_api.structs.tag_categories import TagCategory, TagCategoryCreate, TagCategoryPatch

TAG_CATEGORY = """json_object(
    'id', id,
    'name', name,
    'tag_count', (SELECT count(*) FROM tags WHERE category_id = tag_categories.id),
    'created_at', created_at,
    'updated_at', updated_at)"""


async def list_of_user(db: Connection, user_id: int) -> str:
    """Return the tag categories as a JSON array, sorted by name."""
    return await fetch_json_array(
        db,
        f"SELECT {TAG_CATEGORY} AS item FROM tag_categories WHERE user_id = :user_id ORDER BY sort_name, id",
        {"user_id": user_id},
    )


async def get(db: Connection, user_id: int, category_id: int) -> str:
    """Return the tag category as JSON. Raises NotFound."""
    return await find_row(db, "tag_categories", TAG_CATEGORY, user_id, category_id)


async def find(db: Connection, user_id: int, category_id: int) -> TagCategory:
    """Return the tag category as a struct. Raises NotFound."""
    return json.decode(await get(db, user_id, category_id), type=TagCategory)


async def require(db: Connection, user_id: int, category_id: int | UnsetType) -> None:
    """Raise ValidationFailed unless the tag category is the user's. UNSET is accepted."""
    await require_row(db, "tag_categories", user_id, category_id, "category_id")


async def insert(db: Connection, user_id: int, category: TagCategoryCreate) -> int:
    """Return the new id. Raises DuplicateName."""
    return await insert_row(db, "tag_categories", {**asdict(category), "user_id": user_id})


async def update(db: Connection, stored: TagCategory, patch: TagCategoryPatch) -> None:
    """Write the members that differ. Raises DuplicateName."""
    if changed := changes(stored, patch):
        await update_row(db, "tag_categories", stored, changed)


async def delete(db: Connection, stored: TagCategory) -> None:
    """Delete the tag category. Raises CategoryHasTags."""
    if stored.tag_count:
        raise CategoryHasTags(tag_count=stored.tag_count)
    await db.execute_fetchall("DELETE FROM tag_categories WHERE id = :id", {"id": stored.id})
