"""Handler of the search (docs/journal.md#search)."""

from typing import get_args

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import search
from journal_api.rules.search import parse_query
from journal_api.structs.search import SearchQuery, SearchResource
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.context import database
from journal_api.web.responses import Response, page

# What is found with the scope of another resource: a setup is read with its strategy.
SCOPES = {**{name: f"read:{name}" for name in get_args(SearchResource)}, "setups": "read:strategies"}


async def find_texts(request: Request, db: Connection, query: SearchQuery) -> Response:
    """Find notes, texts of days, and names and descriptions, as far as the key may read them."""
    readable = [name for name, scope in SCOPES.items() if scope in request.user.scopes]
    terms = parse_query(query.q)
    searching = search.list_of_user(database(request), request.user.id, readable, terms, query)
    results, total = await cancel_on_disconnect(request, searching)
    return page(query.limit, query.offset, total, results=results)
