"""Handlers of the caller's settings."""

from aiosqlite import Connection
from msgspec import UNSET
from starlette.requests import Request

from journal_api.errors import ValidationFailed
from journal_api.repositories import copy_groups, trades, users
from journal_api.structs.me import MePatch
from journal_api.web.responses import Response, ok

# Else a user could take a name that is free, and the proxy would sign its bearer in to their journal.
NAMED_BY_PROXY = "is the name by which the proxy signs you in; `journal-api users rename` changes it"


async def get_me(request: Request, db: Connection) -> Response:
    """Get the name, time zone, day rollover, trading weekdays and active selection of the caller."""
    return ok(me=await users.get(db, request.user.id))


async def update_me(request: Request, db: Connection, patch: MePatch) -> Response:
    """Update the fields sent. A new time zone or rollover recomputes the trading day of every trade."""
    stored = await users.find(db, request.user.id)
    if request.app.state.settings.user_header and patch.name not in (UNSET, stored.name):
        raise ValidationFailed(fields={"name": NAMED_BY_PROXY})
    if patch.active_selection:
        await copy_groups.require_scope(db, request.user.id, patch.active_selection, "active_selection")
    if await users.update(db, stored, patch):
        await trades.update_trading_days(db, request.user.id)
    return ok(me=await users.get(db, request.user.id))
