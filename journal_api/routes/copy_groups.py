"""Handlers of copy groups (DECISIONS 13)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import copy_groups
from journal_api.structs.copy_groups import CopyGroupCreate, CopyGroupPatch, MembersPut
from journal_api.web.context import database
from journal_api.web.decoding import decode_body
from journal_api.web.responses import Response, created, no_content, ok


async def list_copy_groups(request: Request) -> Response:
    """List the caller's copy groups, by name, each with its number of members."""
    return ok(copy_groups=await copy_groups.list_of_user(database(request).reader, request.user.id))


async def get_copy_group(request: Request) -> Response:
    """Get a copy group with its members."""
    copy_group = await copy_groups.get(database(request).reader, request.user.id, request.path_params["id"])
    return ok(copy_group=copy_group)


async def create_copy_group(request: Request) -> Response:
    """Create a copy group without members."""
    body = await decode_body(request, CopyGroupCreate)

    async def create(db: Connection) -> Response:
        copy_group_id = await copy_groups.insert(db, request.user.id, body)
        copy_group = await copy_groups.get(db, request.user.id, copy_group_id)
        return created(f"/v1/copy-groups/{copy_group_id}", copy_group=copy_group)

    return await database(request).write(create)


async def update_copy_group(request: Request) -> Response:
    """Update the fields sent; the master account must be a member."""
    patch = await decode_body(request, CopyGroupPatch)
    copy_group_id = request.path_params["id"]

    async def update(db: Connection) -> Response:
        stored = await copy_groups.find(db, request.user.id, copy_group_id)
        await copy_groups.update(db, stored, patch)
        copy_group = await copy_groups.get(db, request.user.id, copy_group_id)
        return ok(copy_group=copy_group)

    return await database(request).write(update)


async def replace_members(request: Request) -> Response:
    """Replace the members of the group; an account can be in one group only."""
    body = await decode_body(request, MembersPut)
    copy_group_id = request.path_params["id"]

    async def replace(db: Connection) -> Response:
        stored = await copy_groups.find(db, request.user.id, copy_group_id)
        await copy_groups.replace_members(db, request.user.id, stored, body)
        copy_group = await copy_groups.get(db, request.user.id, copy_group_id)
        return ok(copy_group=copy_group)

    return await database(request).write(replace)


async def delete_copy_group(request: Request) -> Response:
    """Delete a copy group and its goals; its accounts stay, its strategies then belong to all accounts."""

    async def delete(db: Connection) -> Response:
        stored = await copy_groups.find(db, request.user.id, request.path_params["id"])
        await copy_groups.delete(db, stored)
        return no_content()

    return await database(request).write(delete)
