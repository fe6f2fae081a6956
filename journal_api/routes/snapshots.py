"""Handler of a goal's snapshots, one for each period."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.errors import ValidationFailed
from journal_api.repositories import goals, snapshots
from journal_api.structs.queries import check_range
from journal_api.structs.snapshots import SnapshotQuery
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, page


async def list_snapshots(request: Request, db: Connection, goal_id: int, query: SnapshotQuery) -> Response:
    """List a page of a goal's snapshots, newest period first, brought up to date by this request."""
    try:
        check_range(query.since, query.until)
    except ValidationFailed:
        # A missing goal takes precedence over an invalid range (DECISIONS 2).
        await goals.get(db, request.user.id, goal_id)
        raise
    reading = snapshots.read_current_page(database(request), request.user.id, goal_id, query)
    text, total = await cancel_on_disconnect(request, reading)
    return page(query.limit, query.offset, total, snapshots=text)
