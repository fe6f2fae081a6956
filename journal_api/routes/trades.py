"""Trades, their tags and their checklist answers: DECISIONS 34."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.codec import IndexedErrors, database, decode_body, decode_each, decode_query
from journal_api.envelope import Response, created, no_content, ok, page
from journal_api.errors import ValidationFailed
from journal_api.repositories import (
    accounts,
    confirmation_answers,
    setups,
    strategies,
    tags,
    trade_tags,
    trades,
    users,
)
from journal_api.structs.trades import (
    AnswersPut,
    TradeCreate,
    TradePatch,
    TradeQuery,
    TradesCreate,
    TradeTagsPut,
    merged,
)


async def list_trades(request: Request) -> Response:
    """The caller's trades that match, newest first."""
    query = decode_query(request, TradeQuery)
    found, total = await trades.page(database(request).reader, request.user.id, query)
    return page(query.limit, query.offset, total, trades=found)


async def get_trade(request: Request) -> Response:
    """One trade with its tags and checklist answers."""
    return ok(trade=await trades.get(database(request).reader, request.user.id, request.path_params["id"]))


async def create_trade(request: Request) -> Response:
    """Write a trade down; result and initial risk follow from the prices where they are left out."""
    sent = await decode_body(request, TradeCreate)
    async with database(request).transaction() as db:
        await settle_references(db, request.user.id, sent, None)
        owner = await users.find(db, request.user.id)
        trade_id = await trades.insert(db, request.user.id, sent, owner.timezone)
        trade = await trades.get(db, request.user.id, trade_id)
    return created(f"/v1/trades/{trade_id}", trade=trade)


async def create_trades(request: Request) -> Response:
    """Write up to 1,000 trades down, all of them or none; every error is told by its index."""
    sent = await decode_body(request, TradesCreate)
    new = decode_each(sent.trades, TradeCreate, "trades")
    errors = IndexedErrors("trades")
    trade_ids: list[int] = []
    async with database(request).transaction() as db:
        owner = await users.find(db, request.user.id)
        for index, trade in enumerate(new):
            with errors.at(index):
                await settle_references(db, request.user.id, trade, None)
                trade_ids.append(await trades.insert(db, request.user.id, trade, owner.timezone))
        errors.raise_if_any()
        found = await trades.list_of_ids(db, request.user.id, trade_ids)
    return created("/v1/trades", trades=found)


async def update_trade(request: Request) -> Response:
    """Update the fields sent. A trade that changes its setup loses the answers of the old one."""
    patch = await decode_body(request, TradePatch)
    trade_id = request.path_params["id"]
    async with database(request).transaction() as db:
        stored = await trades.find(db, request.user.id, trade_id)
        changed = merged(stored, patch)
        await settle_references(db, request.user.id, changed, trade_id)
        owner = await users.find(db, request.user.id)
        await trades.update(db, stored, changed, owner.timezone)
        trade = await trades.get(db, request.user.id, trade_id)
    return ok(trade=trade)


async def replace_tags(request: Request) -> Response:
    """Make these the tags of the trade."""
    sent = await decode_body(request, TradeTagsPut)
    trade_id = request.path_params["id"]
    async with database(request).transaction() as db:
        stored = await trades.find(db, request.user.id, trade_id)
        await tags.require_all(db, request.user.id, sent.tag_ids)
        await trade_tags.replace(db, stored, sent.tag_ids)
        trade = await trades.get(db, request.user.id, trade_id)
    return ok(trade=trade)


async def replace_answers(request: Request) -> Response:
    """Make these the answers to the checklist of the trade's setup."""
    sent = await decode_body(request, AnswersPut)
    trade_id = request.path_params["id"]
    async with database(request).transaction() as db:
        stored = await trades.find(db, request.user.id, trade_id)
        await confirmation_answers.replace(db, stored, sent.confirmations)
        trade = await trades.get(db, request.user.id, trade_id)
    return ok(trade=trade)


async def delete_trade(request: Request) -> Response:
    """Delete a trade; the goals that counted it show it at the next read."""
    async with database(request).transaction() as db:
        stored = await trades.find(db, request.user.id, request.path_params["id"])
        await trades.delete(db, stored)
    return no_content()


async def settle_references(db: Connection, user_id: int, trade: TradeCreate, trade_id: int | None) -> None:
    """Hold what the trade points at to what is the user's; a setup alone brings its strategy.

    Raises ValidationFailed.
    """
    await accounts.require(db, user_id, trade.account_id)
    await strategies.require(db, user_id, trade.strategy_id)
    if trade.setup_id is not None:
        strategy_id = await setups.strategy_of(db, user_id, trade.setup_id)
        if trade.strategy_id not in (None, strategy_id):
            raise ValidationFailed(fields={"setup_id": "is not a setup of that strategy"})
        trade.strategy_id = strategy_id
    trade.source_trade_id = await trades.original_of(db, user_id, trade.source_trade_id, trade_id)
