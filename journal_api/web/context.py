"""The objects that belong to a request: its query and the application's database."""

from typing import TypeVar

from msgspec import Struct
from starlette.requests import Request

from journal_api.database.database import Database

S = TypeVar("S", bound=Struct)


def get_query(request: Request, struct: type[S]) -> S:
    """Return the query of the request, which the operation has decoded."""
    query = request.scope["query"]
    assert isinstance(query, struct), "the route's row states another struct"
    return query


def database(request: Request) -> Database:
    opened: Database = request.app.state.database
    return opened
