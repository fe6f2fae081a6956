"""Handlers of the fills of a trade (docs/api.md#fills)."""

from collections.abc import Callable

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.positions.commissions import charge_changed
from journal_api.positions.fill_edits import add_fills, change_fill, without_fill
from journal_api.positions.trade_draft import TradeDraft
from journal_api.repositories import accounts, trades, users
from journal_api.structs.fills import FillPatch, FillsCreate
from journal_api.values.clock import now
from journal_api.web.responses import Response, created, no_content, ok


async def create_fills(request: Request, db: Connection, trade_id: int, body: FillsCreate) -> Response:
    """Add fills to a trade: more of the position, a part of its exit, or its close.

    Quantity, prices, times, result and fees of the trade follow from its fills.
    """
    user_id = request.user.id
    await change_trade(db, user_id, trade_id, lambda trade, timezone: add_fills(trade, body, timezone, now()))
    return created(f"/v1/trades/{trade_id}", trade=await trades.get(db, user_id, trade_id))


async def update_fill(request: Request, db: Connection, trade_id: int, fill_id: int, patch: FillPatch) -> Response:
    """Update the members of a fill that are sent, and what follows from them in the trade."""
    user_id = request.user.id
    await change_trade(db, user_id, trade_id, lambda trade, timezone: change_fill(trade, fill_id, patch, timezone))
    return ok(trade=await trades.get(db, user_id, trade_id))


async def delete_fill(request: Request, db: Connection, trade_id: int, fill_id: int) -> Response:
    """Delete a fill of a trade; without its exit the trade is open again."""
    await change_trade(db, request.user.id, trade_id, lambda trade, _: without_fill(trade, fill_id))
    return no_content()


async def change_trade(
    db: Connection, user_id: int, trade_id: int, change: Callable[[TradeDraft, str], TradeDraft]
) -> None:
    """Write the changed trade, with the commission of its account for what the fills add."""
    stored = await trades.find(db, user_id, trade_id)
    owner = await users.find(db, user_id)
    before = TradeDraft.of_stored(stored)
    commissions = await accounts.read_commissions(db, user_id)
    charged = charge_changed(before, change(before, owner.timezone), commissions)
    await trades.update(db, stored, charged, owner.timezone)
