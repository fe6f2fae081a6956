"""Handlers of accounts."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts
from journal_api.structs.accounts import AccountCreate, AccountPatch
from journal_api.web.responses import Response, created, no_content, ok
from journal_api.web.writes import in_transaction


async def list_accounts(request: Request, db: Connection) -> Response:
    """List the caller's accounts, by name."""
    return ok(accounts=await accounts.list_of_user(db, request.user.id))


async def get_account(request: Request, db: Connection) -> Response:
    """Get an account."""
    return ok(account=await accounts.get(db, request.user.id, request.path_params["id"]))


@in_transaction
async def create_account(request: Request, db: Connection, body: AccountCreate) -> Response:
    """Create an account."""
    account_id = await accounts.insert(db, request.user.id, body)
    return created(f"/v1/accounts/{account_id}", account=await accounts.get(db, request.user.id, account_id))


@in_transaction
async def update_account(request: Request, db: Connection, patch: AccountPatch) -> Response:
    """Update the fields sent; a new starting balance changes the values of all balance goals."""
    account_id = request.path_params["id"]
    stored = await accounts.find(db, request.user.id, account_id)
    await accounts.update(db, stored, patch)
    return ok(account=await accounts.get(db, request.user.id, account_id))


@in_transaction
async def delete_account(request: Request, db: Connection) -> Response:
    """Delete an account without trades, and its goals; its strategies then belong to all accounts."""
    await accounts.delete(db, request.user.id, request.path_params["id"])
    return no_content()
