"""Handler of what accounts cost and pay (docs/accounts.md#what-accounts-cost-and-pay)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import cash_flow
from journal_api.structs.cash_flow import CashFlowQuery
from journal_api.values.money import ENCODER
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, ok


async def get_cash_flow(request: Request, db: Connection, query: CashFlowQuery) -> Response:
    """Get what accounts cost and pay: what the owner paid and received, by account, broker or month."""
    reading = cash_flow.read(database(request), request.user.id, query)
    return ok(cash_flow=ENCODER.encode(await cancel_on_disconnect(request, reading)).decode())
