"""SQL of tag categories."""

from aiosqlite import Connection
from msgspec import UnsetType, json
from msgspec.structs import asdict

from journal_api.database import sql
from journal_api.errors import CategoryHasTags
from journal_api.structs.tag_categories import TagCategory, TagCategoryCreate, TagCategoryPatch

TAG_CATEGORY = sql.build_object(
    TagCategory, tag_count="(SELECT count(*) FROM tags WHERE category_id = tag_categories.id)"
)


async def list_of_user(db: Connection, user_id: int) -> str:
    return await sql.list_rows(db, "tag_categories", TAG_CATEGORY, user_id)


async def get(db: Connection, user_id: int, category_id: int) -> str:
    return await sql.find_row(db, "tag_categories", TAG_CATEGORY, user_id, category_id)


async def find(db: Connection, user_id: int, category_id: int) -> TagCategory:
    return json.decode(await get(db, user_id, category_id), type=TagCategory)


async def require(db: Connection, user_id: int, category_id: int | UnsetType) -> None:
    await sql.require_row(db, "tag_categories", user_id, category_id, "category_id")


async def insert(db: Connection, user_id: int, category: TagCategoryCreate) -> int:
    return await sql.insert_row(db, "tag_categories", {**asdict(category), "user_id": user_id})


async def update(db: Connection, stored: TagCategory, patch: TagCategoryPatch) -> None:
    await sql.patch_row(db, "tag_categories", stored, patch)


async def delete(db: Connection, user_id: int, category_id: int) -> None:
    """Delete the tag category. Raises CategoryHasTags."""
    if tag_count := (await find(db, user_id, category_id)).tag_count:
        raise CategoryHasTags(tag_count=tag_count)
    await sql.delete_row(db, "tag_categories", user_id, category_id)
