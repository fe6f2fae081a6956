"""Handlers of the example journal, which shows a new user what the journal can show."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import example_journal
from journal_api.web.responses import Response, created, no_content, ok


async def get_example_journal(request: Request, db: Connection) -> Response:
    """Get whether the example journal is loaded."""
    return ok(example_journal=await example_journal.get(db, request.user.id))


async def create_example_journal(request: Request, db: Connection) -> Response:
    """Load the example journal.

    It is an account with some 120 trades of the last months, tags, two strategies and six goals. A
    name that is taken gets ` (example)` at its end, or ` (example 2)` and so on.
    """
    await example_journal.insert(db, request.user.id, request.app.state.settings.max_strategies)
    return created("/v1/example-journal", example_journal=await example_journal.get(db, request.user.id))


async def delete_example_journal(request: Request, db: Connection) -> Response:
    """Remove exactly what was loaded, except what something of your own uses.

    409 conflict, and nothing is removed, if its account has anything of your own.
    """
    await example_journal.delete(db, request.user.id)
    return no_content()
