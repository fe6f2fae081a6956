"""Handler of a goal's snapshots, one for each period."""

from starlette.requests import Request

from journal_api.errors import ValidationFailed
from journal_api.repositories import goals, snapshots
from journal_api.structs.queries import check_range
from journal_api.structs.snapshots import SnapshotQuery
from journal_api.values.clock import now
from journal_api.values.periods import trading_day
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import application_database, database, query_of
from journal_api.web.responses import Response, page


async def list_snapshots(request: Request) -> Response:
    """List a page of a goal's snapshots, newest period first, brought up to date by this request."""
    query = query_of(request, SnapshotQuery)
    try:
        check_range(query.since, query.until)
    except ValidationFailed:
        # A missing goal takes precedence over an invalid range (DECISIONS 2).
        await goals.get(database(request).reader, request.user.id, request.path_params["id"])
        raise
    today = trading_day(now(), request.user.timezone, request.user.day_rollover)
    goal_id = request.path_params["id"]
    reading = snapshots.current_page(application_database(request), request.user.id, goal_id, today, query)
    text, total = await cancel_on_disconnect(request, reading)
    return page(query.limit, query.offset, total, snapshots=text)
