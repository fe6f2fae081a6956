"""Handlers of days: what the owner wrote, beside what was traded (docs/journal.md#days)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import days, snapshots, trade_annotations
from journal_api.statistics import trade_facts
from journal_api.structs.days import DayPatch, DayQuery, DaysQuery
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, no_content, ok, page
from journal_api.web.writes import Write


async def list_days(request: Request, db: Connection, query: DaysQuery) -> Response:
    """List a page of the days with trades, text or pictures, newest first, with their numbers."""
    await cancel_on_disconnect(request, trade_facts.refresh(database(request), request.user.id))
    text, total = await days.list_of_user(db, request.user.id, query)
    return page(query.limit, query.offset, total, days=text)


async def get_day(request: Request, db: Connection, date: str, query: DayQuery) -> Response:
    """Get what was written on a day, its numbers, and the snapshots of daily goals. Every day can be read."""
    if db is database(request).reader:  # a write looks at the day within its own transaction
        await cancel_on_disconnect(request, snapshots.refresh_daily(database(request), request.user.id))
    return ok(day=await days.get(db, request.user.id, date, query))


async def update_day(request: Request, write: Write, date: str, patch: DayPatch) -> Response:
    """Write the fields sent. A day on which nothing is left written is as if nothing had ever been."""
    # Before the transaction, so that the response is what the next GET returns.
    await snapshots.refresh_daily(database(request), request.user.id)
    return await write(lambda db: write_day(db, request.user.id, date, patch))


async def write_day(db: Connection, user_id: int, date: str, patch: DayPatch) -> Response:
    stored = await days.find(db, user_id, date)
    tag_ids = patch.tag_ids or []
    (await trade_annotations.read_known_ids(db, user_id, tag_ids, ())).require_tags(tag_ids)
    await days.update(db, user_id, stored, patch)
    return ok(day=await days.get(db, user_id, date, DayQuery()))


async def delete_day(request: Request, db: Connection, date: str) -> Response:
    """Delete what was written on a day and its pictures, never its trades; 404 if it has neither."""
    await days.delete(db, request.user.id, date)
    return no_content()
