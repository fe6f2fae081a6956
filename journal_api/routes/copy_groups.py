"""Handlers of copy groups."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.positions.copy_match import CopyMatches, describe_ambiguous, match_copies
from journal_api.repositories import copies, copy_groups
from journal_api.structs.copy_groups import CopyGroupCreate, CopyGroupPatch, MembersPut
from journal_api.values.clock import now
from journal_api.values.money import ENCODER
from journal_api.web.responses import Response, created, no_content, ok


async def list_copy_groups(request: Request, db: Connection) -> Response:
    """List the caller's copy groups, by name, each with its number of members."""
    return ok(copy_groups=await copy_groups.list_of_user(db, request.user.id))


async def get_copy_group(request: Request, db: Connection, copy_group_id: int) -> Response:
    """Get a copy group with its members."""
    return ok(copy_group=await copy_groups.get(db, request.user.id, copy_group_id))


async def create_copy_group(request: Request, db: Connection, body: CopyGroupCreate) -> Response:
    """Create a copy group without members."""
    copy_group_id = await copy_groups.insert(db, request.user.id, body)
    copy_group = await copy_groups.get(db, request.user.id, copy_group_id)
    return created(f"/v1/copy-groups/{copy_group_id}", copy_group=copy_group)


async def update_copy_group(request: Request, db: Connection, copy_group_id: int, patch: CopyGroupPatch) -> Response:
    """Update the fields sent; the master account must be a member."""
    stored = await copy_groups.find(db, request.user.id, copy_group_id)
    await copy_groups.update(db, stored, patch)
    return ok(copy_group=await copy_groups.get(db, request.user.id, copy_group_id))


async def replace_members(request: Request, db: Connection, copy_group_id: int, body: MembersPut) -> Response:
    """Replace the members of the group; an account can be in one group only."""
    stored = await copy_groups.find(db, request.user.id, copy_group_id)
    await copy_groups.replace_members(db, request.user.id, stored, body)
    return ok(copy_group=await copy_groups.get(db, request.user.id, copy_group_id))


async def link_copies(request: Request, db: Connection, copy_group_id: int) -> Response:
    """Link the copies among the trades of the group, as imports do for the trades that they add.

    Positions that may be copies of several others are left alone and listed.
    """
    await copy_groups.find(db, request.user.id, copy_group_id)
    matches = CopyMatches([], [])
    for rules in await copies.read_rules(db, request.user.id, copy_group_id):
        matches = match_copies(rules, await copies.list_positions(db, rules.multipliers))
    await copies.link(db, matches.links, now())
    ambiguous = ENCODER.encode(describe_ambiguous(matches.ambiguous)).decode()
    return ok(linked=str(len(matches.links)), ambiguous=ambiguous)


async def delete_copy_group(request: Request, db: Connection, copy_group_id: int) -> Response:
    """Delete a copy group and its goals; its accounts stay, its strategies then belong to all accounts."""
    await copy_groups.delete(db, request.user.id, copy_group_id)
    return no_content()
