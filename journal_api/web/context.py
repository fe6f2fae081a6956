"""What a handler finds in its request."""

from starlette.requests import Request

from journal_api.database.database import Database


def database(request: Request) -> Database:
    opened: Database = request.scope.get("database") or request.app.state.database
    return opened
