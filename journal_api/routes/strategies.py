"""Handlers of strategies with their setups and confirmations (docs/api.md#strategies)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import copy_groups, setups, strategies
from journal_api.repositories.setups import CascadeCounts
from journal_api.structs.strategies import StrategyCreate, StrategyPatch, StrategyQuery
from journal_api.web.responses import Response, created, no_content, ok


async def list_strategies(request: Request, db: Connection, query: StrategyQuery) -> Response:
    """List the caller's strategies, by name, each with its number of setups; optionally of one scope."""
    return ok(strategies=await strategies.list_of_user(db, request.user.id, query))


async def get_strategy(request: Request, db: Connection, strategy_id: int) -> Response:
    """Get a strategy with its setups, their confirmations, and the free-form fields."""
    return ok(strategy=await strategies.get(db, request.user.id, strategy_id))


async def list_setups(request: Request, db: Connection, strategy_id: int) -> Response:
    """List the setups of a strategy, each with its confirmations."""
    return ok(setups=await setups.list_of_strategy(db, request.user.id, strategy_id))


async def create_strategy(request: Request, db: Connection, body: StrategyCreate) -> Response:
    """Create a strategy with its setups; 429 limit_reached if there are as many as the settings allow."""
    maximum = request.app.state.settings.max_strategies
    await copy_groups.require_scope(db, request.user.id, body)
    strategy_id = await strategies.insert(db, request.user.id, body, maximum)
    strategy = await strategies.get_after_write(db, request.user.id, strategy_id)
    return created(f"/v1/strategies/{strategy_id}", strategy=strategy)


async def update_strategy(request: Request, db: Connection, strategy_id: int, patch: StrategyPatch) -> Response:
    """Update the fields sent; `setups`, if sent, replaces the whole list.

    X-Trades-Unlinked and X-Answers-Deleted count the trades and answers of deleted setups and confirmations.
    """
    stored = await strategies.find(db, request.user.id, strategy_id)
    patch.settle_scope()
    await copy_groups.require_scope(db, request.user.id, patch)
    counts = await strategies.update(db, stored, patch)
    strategy = await strategies.get_after_write(db, request.user.id, strategy_id)
    return ok(strategy=strategy).with_headers(count_in_headers(counts))


async def delete_strategy(request: Request, db: Connection, strategy_id: int) -> Response:
    """Delete a strategy; its trades stay. X-Trades-Unlinked and X-Answers-Deleted count its trades and answers."""
    counts = await strategies.delete(db, request.user.id, strategy_id)
    return no_content(count_in_headers(counts))


def count_in_headers(counts: CascadeCounts) -> dict[str, str]:
    return {"X-Trades-Unlinked": str(counts.trades_unlinked), "X-Answers-Deleted": str(counts.answers_deleted)}
