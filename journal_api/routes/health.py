"""GET /health, for monitoring, outside /v1."""

from starlette.requests import Request

from journal_api import __version__
from journal_api.database.schemas import VERSION
from journal_api.web.context import database
from journal_api.web.responses import Response, ok


async def health(request: Request) -> Response:
    """Return the release, the schema version and whether the database can be written; needs no API key."""
    can_write = await database(request).can_write()
    return ok(status='"ok"', version=f'"{__version__}"', schema=str(VERSION), writable="true" if can_write else "false")
