"""Handlers of the fills of a trade (docs/api.md#fills)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.positions.draft_fees import charge_changed
from journal_api.positions.fill_edits import add_fills, change_fill, without_fill
from journal_api.positions.trade_draft import TradeDraft
from journal_api.repositories import accounts, trades, users
from journal_api.structs.fills import FillPatch, FillsCreate
from journal_api.structs.trades import Trade
from journal_api.values.clock import now
from journal_api.web.responses import Response, created, no_content, ok


async def create_fills(request: Request, db: Connection, body: FillsCreate) -> Response:
    """Add fills to a trade: more of the position, a part of its exit, or its close.

    Quantity, prices, times, result and fees of the trade follow from its fills.
    """
    trade_id = request.path_params["id"]
    stored = await trades.find(db, request.user.id, trade_id)
    owner = await users.find(db, request.user.id)
    changed = add_fills(TradeDraft.of_stored(stored), body, owner.timezone, now())
    await store(db, request.user.id, stored, changed, owner.timezone)
    return created(f"/v1/trades/{trade_id}", trade=await trades.get(db, request.user.id, trade_id))


async def update_fill(request: Request, db: Connection, patch: FillPatch) -> Response:
    """Update the members of a fill that are sent, and what follows from them in the trade."""
    trade_id, fill_id = request.path_params["id"], request.path_params["fill_id"]
    stored = await trades.find(db, request.user.id, trade_id)
    owner = await users.find(db, request.user.id)
    changed = change_fill(TradeDraft.of_stored(stored), fill_id, patch, owner.timezone)
    await store(db, request.user.id, stored, changed, owner.timezone)
    return ok(trade=await trades.get(db, request.user.id, trade_id))


async def delete_fill(request: Request, db: Connection) -> Response:
    """Delete a fill of a trade; without its exit the trade is open again."""
    trade_id, fill_id = request.path_params["id"], request.path_params["fill_id"]
    stored = await trades.find(db, request.user.id, trade_id)
    owner = await users.find(db, request.user.id)
    changed = without_fill(TradeDraft.of_stored(stored), fill_id)
    await store(db, request.user.id, stored, changed, owner.timezone)
    return no_content()


async def store(db: Connection, user_id: int, stored: Trade, changed: TradeDraft, timezone: str) -> None:
    """Write the trade, with the commission of its account for what the fills add."""
    commissions = await accounts.read_commissions(db, user_id)
    charged = charge_changed(TradeDraft.of_stored(stored), changed, commissions)
    await trades.update(db, stored, charged, timezone)
