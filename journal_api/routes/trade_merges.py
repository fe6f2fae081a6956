"""Handlers that merge trades into one position and split it again (docs/api.md#merging-trades)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.errors import ValidationFailed
from journal_api.imports.contract_writes import refold
from journal_api.positions.trade_merge import find_positions, require_one_position, sort_parts
from journal_api.repositories import imports, statements, trade_merges, trade_splits, trades
from journal_api.structs.many_trades import TradesMerge
from journal_api.web.etags import check_versions
from journal_api.web.responses import Response, ok


async def merge_trades(request: Request, db: Connection, body: TradesMerge) -> Response:
    """Merge trades that are one position into the trade that opened first.

    They have one account, contract root, direction and multiplier, and their times touch or overlap.
    """
    await trade_merges.require_short_texts(db, request.user.id, body.ids)
    parts = sort_parts(await trade_merges.find_many(db, request.user.id, body.ids))
    if unknown := set(body.ids) - {trade.id for trade in parts}:
        numbers = ", ".join(map(str, sorted(unknown)))
        raise ValidationFailed(fields={"ids": f"must be of your trades, and these are not: {numbers}"})
    check_versions(request, parts)
    if len(parts) == 1:
        raise ValidationFailed(fields={"ids": "must name two trades at least"})
    require_one_position(parts)
    await trade_merges.merge(db, request.user.id, parts)
    return ok(trade=await trades.get(db, request.user.id, parts[0].id))


async def join_import(request: Request, db: Connection, import_id: int) -> Response:
    """Join the trades that imports of the same format have added to its accounts as rows of pairs.

    Returns the positions that are new. Later files of the format are read as positions.
    """
    ids = await trade_merges.list_of_format(db, request.user.id, import_id)
    positions = find_positions(await trade_merges.find_many(db, request.user.id, ids))
    for parts in positions:
        await trade_merges.merge(db, request.user.id, parts)
    await imports.set_trade_unit(db, request.user.id, import_id, "position")
    return ok(
        joined=str(sum(map(len, positions))),
        trades=await trades.list_of_ids(db, request.user.id, sorted(parts[0].id for parts in positions)),
    )


async def split_import(request: Request, db: Connection, import_id: int) -> Response:
    """Split the positions that were joined from rows of an import's format, in its accounts.

    Returns the rows, as they were. Later files of the format are read as rows.
    """
    ids = await trade_merges.list_of_format(db, request.user.id, import_id)
    merged = [one.id for one in await trade_merges.find_many(db, request.user.id, ids) if one.merged_ids]
    rows = [row for one in merged for row in await trade_splits.split(db, request.user.id, one)]
    await refold(db, request.user.id, await statements.list_of_trades(db, rows))
    if rows:
        await imports.set_trade_unit(db, request.user.id, import_id, "row")
    return ok(trades=await trades.list_of_ids(db, request.user.id, sorted(rows)))


async def split_trade(request: Request, db: Connection, trade_id: int) -> Response:
    """Split a merged trade into the trades that it was made of.

    Each is what it was, or what files have stated of it since. Annotations since the merge stay on the first.
    """
    ids = await trade_splits.split(db, request.user.id, trade_id)
    await refold(db, request.user.id, await statements.list_of_trades(db, ids))
    return ok(trades=await trades.list_of_ids(db, request.user.id, sorted(ids)))
