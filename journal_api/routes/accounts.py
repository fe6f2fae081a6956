"""Handlers of accounts."""

import msgspec
from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts, checkpoints, standings, trades
from journal_api.structs.accounts import AccountCreate, AccountPatch, AccountPatchQuery, AccountQuery
from journal_api.structs.checkpoints import CheckpointListItem
from journal_api.structs.standings import Standing
from journal_api.values.money import ENCODER
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, created, no_content, ok


async def list_accounts(request: Request, db: Connection, query: AccountQuery) -> Response:
    """List the caller's accounts, by name."""
    listed = await accounts.list_of_user(db, request.user.id)
    if query.parts is None:
        return ok(accounts=listed)
    at = str(query.at) if query.at else None
    reading = standings.read_all(database(request), request.user.id, at)
    standing_of = await cancel_on_disconnect(request, reading)
    differing = await checkpoints.list_differing(database(request).slow_reader, request.user.id)
    return ok(accounts=with_standings(listed, standing_of, differing))


def with_standings(
    listed: str, standing_of: dict[int, Standing], differing: dict[int, list[CheckpointListItem]]
) -> str:
    """Return a JSON array of accounts, those that have any with standings and checkpoints that differ."""
    items = msgspec.json.decode(listed, type=list[dict[str, msgspec.Raw]])
    for item in items:
        account_id = int(bytes(item["id"]))
        for name, part in (("standing", standing_of), ("checkpoints", differing)):
            if found := part.get(account_id):
                item[name] = msgspec.Raw(ENCODER.encode(found))
    return msgspec.json.encode(items).decode()


async def get_account(request: Request, db: Connection, account_id: int) -> Response:
    """Get an account."""
    return ok(account=await accounts.get(db, request.user.id, account_id))


async def create_account(request: Request, db: Connection, body: AccountCreate) -> Response:
    """Create an account."""
    account_id = await accounts.insert(db, request.user.id, body)
    return created(f"/v1/accounts/{account_id}", account=await accounts.get(db, request.user.id, account_id))


async def update_account(
    request: Request, db: Connection, account_id: int, patch: AccountPatch, query: AccountPatchQuery
) -> Response:
    """Update the fields sent; a new starting balance changes the values of all balance goals.

    A new time zone or rollover recomputes the trading day of every trade of the account.
    """
    query.require_fees(patch)
    stored = await accounts.find(db, request.user.id, account_id)
    if await accounts.update(db, stored, patch):
        await trades.update_trading_days(db, request.user.id, account_id)
    headers = {}
    if query.apply_to is not None:
        charged = await accounts.charge_earlier(db, request.user.id, account_id)
        headers["X-Trades-Charged"] = str(charged)
    return ok(account=await accounts.get(db, request.user.id, account_id)).with_headers(headers)


async def delete_account(request: Request, db: Connection, account_id: int) -> Response:
    """Delete an account without trades, its goals, cash, rules and checkpoints; its strategies stay."""
    await accounts.delete(db, request.user.id, account_id)
    return no_content()
