"""The objects that belong to a request: its query, its database, and the application's."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct
from starlette.requests import Request
from starlette.types import Message

from journal_api.database.database import Database
from journal_api.database.transactions import Transactions

S = TypeVar("S", bound=Struct)

REQUEST_DATABASE = "journal_api.database"  # a key of the ASGI scope


def query_of(request: Request, struct: type[S]) -> S:
    """The query of the request, which the operation has decoded."""
    query = request.scope["query"]
    assert isinstance(query, struct), "the route's row states another struct"
    return query


def database(request: Request) -> Transactions:
    """The database of the request: the one set by `with_database`, else the application's."""
    replacement: Transactions | None = request.scope.get(REQUEST_DATABASE)
    return application_database(request) if replacement is None else replacement


def application_database(request: Request) -> Database:
    """The open database of the application."""
    opened: Database = request.app.state.database
    return opened


def with_database(
    request: Request, transactions: Transactions, receive: Callable[[], Awaitable[Message]]
) -> Request:
    """A copy of the request whose handler uses `transactions` and reads the body from `receive`."""
    return Request({**request.scope, REQUEST_DATABASE: transactions}, receive)
