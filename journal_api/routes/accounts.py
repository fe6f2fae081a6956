"""Handlers of accounts."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts
from journal_api.structs.accounts import AccountCreate, AccountPatch
from journal_api.web.decoding import decode_body
from journal_api.web.responses import Response, created, ok
from journal_api.web.writes import write, write_deletion


async def list_accounts(request: Request, db: Connection) -> Response:
    """List the caller's accounts, by name."""
    return ok(accounts=await accounts.list_of_user(db, request.user.id))


async def get_account(request: Request, db: Connection) -> Response:
    """Get an account."""
    account = await accounts.get(db, request.user.id, request.path_params["id"])
    return ok(account=account)


async def create_account(request: Request) -> Response:
    """Create an account."""
    body = await decode_body(request, AccountCreate)

    async def create(db: Connection) -> Response:
        account_id = await accounts.insert(db, request.user.id, body)
        account = await accounts.get(db, request.user.id, account_id)
        return created(f"/v1/accounts/{account_id}", account=account)

    return await write(request, create)


async def update_account(request: Request) -> Response:
    """Update the fields sent; a new starting balance changes the values of all balance goals."""
    patch = await decode_body(request, AccountPatch)
    account_id = request.path_params["id"]

    async def update(db: Connection) -> Response:
        stored = await accounts.find(db, request.user.id, account_id)
        await accounts.update(db, stored, patch)
        return ok(account=await accounts.get(db, request.user.id, account_id))

    return await write(request, update)


async def delete_account(request: Request) -> Response:
    """Delete an account without trades, and its goals; its strategies then belong to all accounts."""
    return await write_deletion(request, accounts.delete)
