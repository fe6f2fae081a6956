"""GET /health and GET /metrics, for monitoring; both are outside /v1."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response as PlainResponse

from journal_api import __version__
from journal_api.database.schemas import VERSION
from journal_api.web.auth import authorize
from journal_api.web.context import database
from journal_api.web.prometheus import MEDIA_TYPE, RequestMetrics
from journal_api.web.responses import Response, ok


async def health(request: Request) -> Response:
    """Return the release, the schema version and whether the database can be written; needs no API key."""
    can_write = await database(request).can_write()
    return ok(status='"ok"', version=f'"{__version__}"', schema=str(VERSION), writable="true" if can_write else "false")


def metrics_from(metrics: RequestMetrics) -> Callable[[Request], Awaitable[PlainResponse]]:
    """The handler of GET /metrics, which accepts any valid key and returns Prometheus's text format."""

    async def get_metrics(request: Request) -> PlainResponse:
        await authorize(request, None)
        return PlainResponse(metrics.text(), media_type=MEDIA_TYPE)

    return get_metrics
