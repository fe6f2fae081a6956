"""Handlers of tag categories (docs/api.md#tags)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import tag_categories
from journal_api.structs.tag_categories import TagCategoryCreate, TagCategoryPatch
from journal_api.web.decoding import decode_body
from journal_api.web.responses import Response, created, ok
from journal_api.web.writes import write, write_deletion


async def list_tag_categories(request: Request, db: Connection) -> Response:
    """List the caller's tag categories, by name."""
    categories = await tag_categories.list_of_user(db, request.user.id)
    return ok(tag_categories=categories)


async def get_tag_category(request: Request, db: Connection) -> Response:
    """Get a category with its number of tags."""
    tag_category = await tag_categories.get(db, request.user.id, request.path_params["id"])
    return ok(tag_category=tag_category)


async def create_tag_category(request: Request) -> Response:
    """Create a category; 409 duplicate_name if the caller has a category of that name."""
    body = await decode_body(request, TagCategoryCreate)

    async def create(db: Connection) -> Response:
        category_id = await tag_categories.insert(db, request.user.id, body)
        tag_category = await tag_categories.get(db, request.user.id, category_id)
        return created(f"/v1/tag-categories/{category_id}", tag_category=tag_category)

    return await write(request, create)


async def update_tag_category(request: Request) -> Response:
    """Rename a category."""
    patch = await decode_body(request, TagCategoryPatch)
    category_id = request.path_params["id"]

    async def update(db: Connection) -> Response:
        stored = await tag_categories.find(db, request.user.id, category_id)
        await tag_categories.update(db, stored, patch)
        return ok(tag_category=await tag_categories.get(db, request.user.id, category_id))

    return await write(request, update)


async def delete_tag_category(request: Request) -> Response:
    """Delete a category; 409 category_has_tags if it has tags."""
    return await write_deletion(request, tag_categories.delete)
