"""Handlers of the caller's settings."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts, copy_groups, trades, users
from journal_api.structs.me import MePatch
from journal_api.web.responses import Response, ok


async def get_me(request: Request, db: Connection) -> Response:
    """Get the name, time zone, day rollover, trading weekdays and active selection of the caller."""
    return ok(me=await users.get(db, request.user.id))


async def update_me(request: Request, db: Connection, patch: MePatch) -> Response:
    """Update the fields sent. A new time zone or rollover recomputes the trading day of every trade."""
    stored = await users.find(db, request.user.id)
    if patch.active_selection:
        selection = patch.active_selection
        await accounts.require(db, request.user.id, selection.account_id, "active_selection")
        await copy_groups.require(db, request.user.id, selection.copy_group_id, "active_selection")
    if await users.update(db, stored, patch):
        await trades.update_trading_days(db, request.user.id)
    return ok(me=await users.get(db, request.user.id))
