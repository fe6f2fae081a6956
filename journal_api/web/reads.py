"""The way of every read, from top to bottom. The handler's work stands in the middle."""

from starlette.requests import Request

from journal_api.web.context import database
from journal_api.web.decoding import decode_query
from journal_api.web.operation import Operation
from journal_api.web.response_cache import ResponseCache
from journal_api.web.responses import Response, with_cursor


async def respond_to_read(request: Request, operation: Operation) -> Response:
    """Run the handler, unless its response is cached. The query of a cached response was valid."""

    async def read() -> Response:
        query = decode_query(request, operation.query)
        opened = database(request)
        # Before the data, so that no change between them is missed.
        cursor = opened.cursor(request.user.id)
        connection = opened.slow_reader if operation.is_slow else opened.reader
        return with_cursor(await operation.call(request, connection, query), cursor)

    if operation.cache_until is None:
        return await read()
    cache: ResponseCache = request.app.state.response_cache
    return await cache.find_or_make(request, operation.cache_until, read)
