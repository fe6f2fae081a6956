"""Handlers that merge trades into one position and split it again (docs/api.md#merging-trades)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.errors import ValidationFailed
from journal_api.repositories import trade_merges, trades, users
from journal_api.rules.trade_merge import build_whole, join_tags, require_one_position, sort_parts
from journal_api.structs.fills import TradesMerge
from journal_api.web.responses import Response, ok
from journal_api.web.writes import in_transaction


@in_transaction
async def merge_trades(request: Request, db: Connection, body: TradesMerge) -> Response:
    """Merge trades that are one position into the trade that opened first.

    They have one account, contract root, direction and multiplier, and their times touch or overlap.
    """
    parts = sort_parts(await trade_merges.find_many(db, request.user.id, body.ids))
    if unknown := set(body.ids) - {trade.id for trade in parts}:
        numbers = ", ".join(map(str, sorted(unknown)))
        raise ValidationFailed(fields={"ids": f"must be of your trades, and these are not: {numbers}"})
    if len(parts) == 1:
        raise ValidationFailed(fields={"ids": "must name two trades at least"})
    require_one_position(parts)
    owner = await users.find(db, request.user.id)
    await trade_merges.merge(db, parts, build_whole(parts), join_tags(parts), owner.timezone)
    return ok(trade=await trades.get(db, request.user.id, parts[0].id))


@in_transaction
async def split_trade(request: Request, db: Connection) -> Response:
    """Split a merged trade into the trades that it was made of.

    Each is what it was. What was annotated since the merge stays on the first.
    """
    ids = await trade_merges.split(db, request.user.id, request.path_params["id"])
    return ok(trades=await trades.list_of_ids(db, request.user.id, ids))
