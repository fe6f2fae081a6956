"""Handlers of tags."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import tag_categories, tags
from journal_api.structs.tags import TagCreate, TagPatch, TagQuery
from journal_api.web.responses import Response, created, no_content, ok


async def list_tags(request: Request, db: Connection, query: TagQuery) -> Response:
    """List the caller's tags, by name; optionally of one category or type."""
    return ok(tags=await tags.list_of_user(db, request.user.id, query))


async def get_tag(request: Request, db: Connection, tag_id: int) -> Response:
    """Get a tag."""
    return ok(tag=await tags.get(db, request.user.id, tag_id))


async def create_tag(request: Request, db: Connection, body: TagCreate) -> Response:
    """Create a tag in one of the caller's categories."""
    await tag_categories.require(db, request.user.id, body.category_id, "category_id")
    tag_id = await tags.insert(db, request.user.id, body)
    return created(f"/v1/tags/{tag_id}", tag=await tags.get(db, request.user.id, tag_id))


async def update_tag(request: Request, db: Connection, tag_id: int, patch: TagPatch) -> Response:
    """Update the fields sent; trades keep the tag. 409 conflict if any would have two of a single category."""
    stored = await tags.find(db, request.user.id, tag_id)
    await tag_categories.require(db, request.user.id, patch.category_id, "category_id")
    await tags.update(db, request.user.id, stored, patch)
    return ok(tag=await tags.get(db, request.user.id, tag_id))


async def delete_tag(request: Request, db: Connection, tag_id: int) -> Response:
    """Delete a tag and remove it from every trade."""
    await tags.delete(db, request.user.id, tag_id)
    return no_content()
