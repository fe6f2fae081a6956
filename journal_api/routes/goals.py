"""Handlers of goals (docs/api.md#goals)."""

from starlette.requests import Request

from journal_api.repositories import accounts, copy_groups, goals, snapshots, users
from journal_api.structs.goals import GoalCreate, GoalPatch, GoalQuery
from journal_api.web.context import database
from journal_api.web.decoding import decode_body, decode_query
from journal_api.web.responses import Response, created, no_content, ok


async def list_goals(request: Request) -> Response:
    """List the caller's goals, by default the active ones."""
    query = decode_query(request, GoalQuery)
    return ok(goals=await goals.list_of_user(database(request).reader, request.user.id, query))


async def get_goal(request: Request) -> Response:
    """Get a goal."""
    return ok(goal=await goals.get(database(request).reader, request.user.id, request.path_params["id"]))


async def create_goal(request: Request) -> Response:
    """Create a goal; the first read of its snapshots computes its history."""
    body = await decode_body(request, GoalCreate)
    async with database(request).transaction() as db:
        await accounts.require(db, request.user.id, body.account_id)
        await copy_groups.require(db, request.user.id, body.copy_group_id)
        goal_id = await goals.insert(db, request.user.id, body)
        goal = await goals.get(db, request.user.id, goal_id)
    return created(f"/v1/goals/{goal_id}", goal=goal)


async def update_goal(request: Request) -> Response:
    """Update the fields sent. Pausing or archiving a goal freezes its snapshots."""
    patch = await decode_body(request, GoalPatch)
    goal_id = request.path_params["id"]
    async with database(request).transaction() as db:
        stored = await goals.find(db, request.user.id, goal_id)
        if patch.scope:
            await accounts.require(db, request.user.id, patch.scope.account_id, "scope")
            await copy_groups.require(db, request.user.id, patch.scope.copy_group_id, "scope")
        if patch.status in ("paused", "archived"):
            await snapshots.refresh(db, goal_id)
        await goals.update(db, stored, patch, await users.today(db, request.user.id))
        goal = await goals.get(db, request.user.id, goal_id)
    return ok(goal=goal)


async def delete_goal(request: Request) -> Response:
    """Delete a goal and its snapshots."""
    async with database(request).transaction() as db:
        stored = await goals.find(db, request.user.id, request.path_params["id"])
        await goals.delete(db, stored)
    return no_content()
