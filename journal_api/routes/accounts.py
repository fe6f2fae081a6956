"""Handlers of accounts (DECISIONS 13)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts
from journal_api.structs.accounts import AccountCreate, AccountPatch
from journal_api.web.context import database
from journal_api.web.decoding import decode_body
from journal_api.web.responses import Response, created, no_content, ok


async def list_accounts(request: Request) -> Response:
    """List the caller's accounts, by name."""
    return ok(accounts=await accounts.list_of_user(database(request).reader, request.user.id))


async def get_account(request: Request) -> Response:
    """Get an account."""
    account = await accounts.get(database(request).reader, request.user.id, request.path_params["id"])
    return ok(account=account)


async def create_account(request: Request) -> Response:
    """Create an account."""
    body = await decode_body(request, AccountCreate)

    async def create(db: Connection) -> Response:
        account_id = await accounts.insert(db, request.user.id, body)
        account = await accounts.get(db, request.user.id, account_id)
        return created(f"/v1/accounts/{account_id}", account=account)

    return await database(request).write(create)


async def update_account(request: Request) -> Response:
    """Update the fields sent; a new starting balance changes the values of all balance goals."""
    patch = await decode_body(request, AccountPatch)
    account_id = request.path_params["id"]

    async def update(db: Connection) -> Response:
        stored = await accounts.find(db, request.user.id, account_id)
        await accounts.update(db, stored, patch)
        account = await accounts.get(db, request.user.id, account_id)
        return ok(account=account)

    return await database(request).write(update)


async def delete_account(request: Request) -> Response:
    """Delete an account without trades, and its goals; its strategies then belong to all accounts."""

    async def delete(db: Connection) -> Response:
        stored = await accounts.find(db, request.user.id, request.path_params["id"])
        await accounts.delete(db, stored)
        return no_content()

    return await database(request).write(delete)
