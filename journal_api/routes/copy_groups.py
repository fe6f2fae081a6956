"""Handlers of copy groups."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import copy_groups
from journal_api.structs.copy_groups import CopyGroupCreate, CopyGroupPatch, MembersPut
from journal_api.web.decoding import decode_body
from journal_api.web.responses import Response, created, ok
from journal_api.web.writes import write, write_deletion


async def list_copy_groups(request: Request, db: Connection) -> Response:
    """List the caller's copy groups, by name, each with its number of members."""
    return ok(copy_groups=await copy_groups.list_of_user(db, request.user.id))


async def get_copy_group(request: Request, db: Connection) -> Response:
    """Get a copy group with its members."""
    copy_group = await copy_groups.get(db, request.user.id, request.path_params["id"])
    return ok(copy_group=copy_group)


async def create_copy_group(request: Request) -> Response:
    """Create a copy group without members."""
    body = await decode_body(request, CopyGroupCreate)

    async def create(db: Connection) -> Response:
        copy_group_id = await copy_groups.insert(db, request.user.id, body)
        copy_group = await copy_groups.get(db, request.user.id, copy_group_id)
        return created(f"/v1/copy-groups/{copy_group_id}", copy_group=copy_group)

    return await write(request, create)


async def update_copy_group(request: Request) -> Response:
    """Update the fields sent; the master account must be a member."""
    patch = await decode_body(request, CopyGroupPatch)
    copy_group_id = request.path_params["id"]

    async def update(db: Connection) -> Response:
        stored = await copy_groups.find(db, request.user.id, copy_group_id)
        await copy_groups.update(db, stored, patch)
        return ok(copy_group=await copy_groups.get(db, request.user.id, copy_group_id))

    return await write(request, update)


async def replace_members(request: Request) -> Response:
    """Replace the members of the group; an account can be in one group only."""
    body = await decode_body(request, MembersPut)
    copy_group_id = request.path_params["id"]

    async def replace(db: Connection) -> Response:
        stored = await copy_groups.find(db, request.user.id, copy_group_id)
        await copy_groups.replace_members(db, request.user.id, stored, body)
        return ok(copy_group=await copy_groups.get(db, request.user.id, copy_group_id))

    return await write(request, replace)


async def delete_copy_group(request: Request) -> Response:
    """Delete a copy group and its goals; its accounts stay, its strategies then belong to all accounts."""
    return await write_deletion(request, copy_groups.delete)
