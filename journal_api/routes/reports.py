"""Handler of reports: the statistics of groups of trades."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.statistics import reports_sql
from journal_api.structs.reports import ReportQuery
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, page


async def get_report(request: Request, db: Connection, query: ReportQuery) -> Response:
    """Get the statistics of the selected trades in groups: by day, weekday, symbol, setup, tag and so on."""
    computing = reports_sql.get(
        database(request), request.user.id, request.user.timezone, request.user.day_rollover, query
    )
    text, count = await cancel_on_disconnect(request, computing)
    return page(query.limit, query.offset, count, report=text)
