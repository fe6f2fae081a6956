"""Handlers of the rules of an account and of how it stands by them (docs/accounts.md#rules)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import account_rules, accounts, standings
from journal_api.structs.account_rules import AccountRulesPut
from journal_api.structs.standings import StandingQuery
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, no_content, ok


async def get_account_rules(request: Request, db: Connection, account_id: int) -> Response:
    """Get the rules of an account; 404 without any."""
    return ok(rules=await account_rules.get(db, request.user.id, account_id))


async def replace_account_rules(request: Request, db: Connection, account_id: int, body: AccountRulesPut) -> Response:
    """Set all rules of an account; one that is omitted or null does not apply."""
    await accounts.get(db, request.user.id, account_id)
    await account_rules.replace(db, account_id, body)
    return ok(rules=await account_rules.get(db, request.user.id, account_id))


async def delete_account_rules(request: Request, db: Connection, account_id: int) -> Response:
    """Delete all rules of an account."""
    await accounts.get(db, request.user.id, account_id)
    await account_rules.delete(db, account_id)
    return no_content()


async def get_standing(request: Request, db: Connection, account_id: int, query: StandingQuery) -> Response:
    """Get how an account stands by its rules, as far as closed trades show: balance, floor, room, targets."""
    await accounts.get(db, request.user.id, account_id)
    at = None if query.at is None else query.at.isoformat()
    with_days = query.parts == "days"
    reading = standings.read(database(request), request.user.id, account_id, at, with_days=with_days)
    return ok(standing=await cancel_on_disconnect(request, reading))
