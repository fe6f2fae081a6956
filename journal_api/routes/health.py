"""How the service is, for whoever keeps watch over it; outside /v1."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response as PlainResponse

from journal_api import __version__
from journal_api.database.migrations import VERSION
from journal_api.web.auth import authorize
from journal_api.web.context import database
from journal_api.web.prometheus import MEDIA_TYPE, RequestMetrics
from journal_api.web.responses import Response, ok


async def health(request: Request) -> Response:
    """That the service answers, which release and schema it is, and whether it can write; needs no key."""
    can_write = await database(request).can_write()
    return ok(
        status='"ok"',
        version=f'"{__version__}"',
        schema=str(VERSION),
        writable="true" if can_write else "false",
    )


def metrics_from(meters: RequestMetrics) -> Callable[[Request], Awaitable[PlainResponse]]:
    async def metrics(request: Request) -> PlainResponse:
        """The counts in Prometheus's text format, for any key."""
        await authorize(request, None)
        return PlainResponse(meters.text(), media_type=MEDIA_TYPE)

    return metrics
