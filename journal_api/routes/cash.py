"""Handlers of the cash of an account (docs/accounts.md#cash)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts, cash
from journal_api.structs.cash import CashCreate, CashPatch, CashQuery
from journal_api.web.responses import Response, created, no_content, ok, page


async def list_cash(request: Request, db: Connection, account_id: int, query: CashQuery) -> Response:
    """List a page of the deposits, withdrawals and other cash of an account, oldest day first."""
    text, total = await cash.list_of_account(db, request.user.id, account_id, query)
    return page(query.limit, query.offset, total, cash=text)


async def get_cash(request: Request, db: Connection, account_id: int, cash_id: int) -> Response:
    """Get one movement of cash."""
    return ok(cash=await cash.get(db, request.user.id, account_id, cash_id))


async def create_cash(request: Request, db: Connection, account_id: int, body: CashCreate) -> Response:
    """Enter money that moved in or out of an account, or a reset of its balance.

    Balance goals count it from its day on, in closed periods too.
    """
    await accounts.get(db, request.user.id, account_id)
    cash_id = await cash.insert(db, account_id, body)
    text = await cash.get(db, request.user.id, account_id, cash_id)
    return created(f"/v1/accounts/{account_id}/cash/{cash_id}", cash=text)


async def update_cash(request: Request, db: Connection, account_id: int, cash_id: int, patch: CashPatch) -> Response:
    """Update the fields sent."""
    await cash.update(db, await cash.find(db, request.user.id, account_id, cash_id), patch)
    return ok(cash=await cash.get(db, request.user.id, account_id, cash_id))


async def delete_cash(request: Request, db: Connection, account_id: int, cash_id: int) -> Response:
    """Delete a movement of cash."""
    await cash.delete(db, request.user.id, account_id, cash_id)
    return no_content()
