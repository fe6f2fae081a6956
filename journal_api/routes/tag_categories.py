"""Handlers of tag categories."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import tag_categories
from journal_api.structs.tag_categories import TagCategoryCreate, TagCategoryPatch
from journal_api.web.responses import Response, created, no_content, ok


async def list_tag_categories(request: Request, db: Connection) -> Response:
    """List the caller's tag categories, by name."""
    return ok(tag_categories=await tag_categories.list_of_user(db, request.user.id))


async def get_tag_category(request: Request, db: Connection, category_id: int) -> Response:
    """Get a category with its number of tags."""
    return ok(tag_category=await tag_categories.get(db, request.user.id, category_id))


async def create_tag_category(request: Request, db: Connection, body: TagCategoryCreate) -> Response:
    """Create a category; 409 duplicate_name if the caller has a category of that name."""
    category_id = await tag_categories.insert(db, request.user.id, body)
    tag_category = await tag_categories.get(db, request.user.id, category_id)
    return created(f"/v1/tag-categories/{category_id}", tag_category=tag_category)


async def update_tag_category(request: Request, db: Connection, category_id: int, patch: TagCategoryPatch) -> Response:
    """Rename a category, or let trades have one of its tags only; 409 conflict while any have two."""
    stored = await tag_categories.find(db, request.user.id, category_id)
    await tag_categories.update(db, stored, patch)
    return ok(tag_category=await tag_categories.get(db, request.user.id, category_id))


async def delete_tag_category(request: Request, db: Connection, category_id: int) -> Response:
    """Delete a category; 409 category_has_tags if it has tags."""
    await tag_categories.delete(db, request.user.id, category_id)
    return no_content()
