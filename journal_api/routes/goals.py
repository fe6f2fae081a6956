"""Handlers of goals (docs/api.md#goals)."""

import msgspec
from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import copy_groups, goals, snapshots
from journal_api.rules.goal_warnings import find_unstored_dates, find_warnings
from journal_api.statistics import snapshot_refreshes
from journal_api.structs.goals import Goal, GoalCreate, GoalPatch, GoalQuery
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, created, no_content, ok


async def list_goals(request: Request, db: Connection, query: GoalQuery) -> Response:
    """List the caller's goals, by default the active ones."""
    if query.parts is None:
        return ok(goals=await goals.list_of_user(db, request.user.id, query))
    listing = snapshots.list_with_goals(database(request), request.user.id, query)
    listed = await cancel_on_disconnect(request, listing)
    return ok(goals=with_warnings(listed) if query.parts == "snapshot" else listed)


async def get_goal(request: Request, db: Connection, goal_id: int) -> Response:
    """Get a goal."""
    return ok(goal=await goals.get(db, request.user.id, goal_id))


async def create_goal(request: Request, db: Connection, body: GoalCreate) -> Response:
    """Create a goal; the first read of its snapshots computes its history."""
    await copy_groups.require_scope(db, request.user.id, body)
    goal_id = await goals.insert(db, request.user.id, body)
    goal = await goals.get(db, request.user.id, goal_id)
    return created(f"/v1/goals/{goal_id}", goal=goal).with_warnings(list_warnings(goal))


async def update_goal(request: Request, db: Connection, goal_id: int, patch: GoalPatch) -> Response:
    """Update the fields sent. Pausing or archiving a goal freezes its snapshots.

    A frozen goal that is redefined is computed again, to the day on which it was stopped.
    """
    stored = await goals.find(db, request.user.id, goal_id)
    if patch.scope:
        await copy_groups.require_scope(db, request.user.id, patch.scope, "scope")
    if patch.status in ("paused", "archived"):
        await snapshot_refreshes.refresh(db, goal_id)
    if await goals.update(db, stored, patch):
        await snapshot_refreshes.refresh(db, goal_id, is_stopped=True)
    if patch.status in ("paused", "archived"):
        await snapshot_refreshes.remove_pace(db, goal_id)
    goal = await goals.get(db, request.user.id, goal_id)
    return ok(goal=goal).with_warnings(list_warnings(goal) + find_unstored_dates(stored, patch))


def with_warnings(goals_of_today: str) -> str:
    """Return a JSON array of goals with snapshots with the warnings about each goal."""
    items = msgspec.json.decode(goals_of_today, type=list[dict[str, msgspec.Raw]])
    for item in items:
        goal = msgspec.json.encode({name: value for name, value in item.items() if name != "current"})
        item["warnings"] = msgspec.Raw(msgspec.json.encode(list_warnings(goal)))
    return msgspec.json.encode(items).decode()


def list_warnings(goal: str | bytes) -> list[str]:
    """Return the warnings about a goal in JSON."""
    return find_warnings(msgspec.json.decode(goal, type=Goal))


async def delete_goal(request: Request, db: Connection, goal_id: int) -> Response:
    """Delete a goal and its snapshots."""
    await goals.delete(db, request.user.id, goal_id)
    return no_content()
