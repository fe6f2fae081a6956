"""Handlers of reports: the statistics of groups of trades, and what other exits would have made of them."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.statistics import exits_sql, reports_sql
from journal_api.structs.exits import ExitQuery
from journal_api.structs.reports import ReportQuery
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, ok, page

OF_DAYS = frozenset(("day_rating", "day_tag"))  # what is written on days


async def get_report(request: Request, db: Connection, query: ReportQuery) -> Response:
    """Get the statistics of the selected trades in groups: by day, weekday, symbol, setup, tag and so on."""
    if not OF_DAYS.isdisjoint(query.keys):
        request.user.require("read:days")
    computing = reports_sql.get(
        database(request), request.user.id, request.user.timezone, request.user.day_rollover, query
    )
    text, count = await cancel_on_disconnect(request, computing)
    return page(query.limit, query.offset, count, report=text)


async def get_exits(request: Request, db: Connection, query: ExitQuery) -> Response:
    """Get what an additional stop or target would have made of the selected trades, each with each."""
    computing = exits_sql.get(database(request), request.user.id, query)
    return ok(exits=await cancel_on_disconnect(request, computing))
