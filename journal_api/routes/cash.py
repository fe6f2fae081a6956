"""Handlers of the cash of an account (docs/accounts.md#cash)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts, cash
from journal_api.structs.cash import CashCreate, CashPatch, CashQuery
from journal_api.web.responses import Response, created, no_content, ok, page


async def list_cash(request: Request, db: Connection, query: CashQuery) -> Response:
    """List a page of the deposits, withdrawals and other cash of an account, oldest day first."""
    text, total = await cash.list_of_account(db, request.user.id, request.path_params["id"], query)
    return page(query.limit, query.offset, total, cash=text)


async def get_cash(request: Request, db: Connection) -> Response:
    """Get one movement of cash."""
    return ok(cash=await cash.get(db, *read_ids(request)))


async def create_cash(request: Request, db: Connection, body: CashCreate) -> Response:
    """Enter money that moved in or out of an account, or a reset of its balance.

    Balance goals count it from its day on, in closed periods too.
    """
    user_id, account_id = request.user.id, request.path_params["id"]
    await accounts.get(db, user_id, account_id)
    cash_id = await cash.insert(db, account_id, body)
    text = await cash.get(db, user_id, account_id, cash_id)
    return created(f"/v1/accounts/{account_id}/cash/{cash_id}", cash=text)


async def update_cash(request: Request, db: Connection, patch: CashPatch) -> Response:
    """Update the fields sent."""
    stored = await cash.find(db, *read_ids(request))
    await cash.update(db, stored, patch)
    return ok(cash=await cash.get(db, *read_ids(request)))


async def delete_cash(request: Request, db: Connection) -> Response:
    """Delete a movement of cash."""
    await cash.delete(db, *read_ids(request))
    return no_content()


def read_ids(request: Request) -> tuple[int, int, int]:
    """Return the ids of the user, the account and the movement."""
    return request.user.id, request.path_params["id"], request.path_params["cash_id"]
