"""Snapshots of a goal: interface.md §4."""

from starlette.requests import Request

from journal_api.codec import database, decode_query
from journal_api.envelope import Response, page
from journal_api.periods import trading_day
from journal_api.repositories import snapshots
from journal_api.structs.snapshots import SnapshotQuery
from journal_api.values import check_range, now


async def list_snapshots(request: Request) -> Response:
    """One page of a goal's snapshots, newest period first, true as of this request."""
    query = decode_query(request, SnapshotQuery)
    goal_id, opened = request.path_params["id"], database(request)
    today = trading_day(now(), request.user.timezone, request.user.day_rollover)
    found = await snapshots.true_page(opened.reader, request.user.id, goal_id, today, query)
    check_range(query.since, query.until)
    if found is None:
        async with opened.transaction() as db:
            # Another reader may have done it while this one waited for its turn.
            if not await snapshots.are_true(db, request.user.id, goal_id, today):
                await snapshots.refresh(db, goal_id)
        found = await snapshots.page(opened.reader, goal_id, query)
    text, total = found
    return page(query.limit, query.offset, total, snapshots=text)
