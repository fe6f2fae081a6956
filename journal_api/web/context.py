"""The application's database, for a request."""

from starlette.requests import Request

from journal_api.database.database import Database


def database(request: Request) -> Database:
    opened: Database = request.app.state.database
    return opened
