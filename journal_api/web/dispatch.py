"""Find the route of a request and run it, a read here; respond 404 and 405 with our errors."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from journal_api.errors import MethodNotAllowed, NotFound
from journal_api.web.auth import authorize
from journal_api.web.context import database
from journal_api.web.decoding import decode_query
from journal_api.web.etags import with_etag
from journal_api.web.operation import Operation
from journal_api.web.response_cache import ResponseCache
from journal_api.web.responses import Response, with_cursor
from journal_api.web.unknown_paths import explain_unknown_path
from journal_api.web.writes import respond_to_write

ENCODED_SLASH = "A path has no encoded slash (%2F): no id contains one. GET /docs lists the paths."


class Dispatch:
    """An ASGI application that passes each request to the first matching route.

    Starlette's Router names the methods of one route in its 405; this one names every method of the path.
    Raises NotFound or MethodNotAllowed.
    """

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        # With what every path of the route contains: cheaper to look for than its pattern.
        self.routes = [(str(getattr(route, "path", "")).partition("{")[0], route) for route in routes]
        self.known = [route for route in routes if isinstance(route, Route)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if b"%2f" in scope.get("raw_path", b"").lower():
            raise NotFound(ENCODED_SLASH)
        methods: set[str] = set()
        for literal, route in self.routes:
            if literal not in scope["path"]:
                continue
            match, child_scope = route.matches(scope)
            if match is Match.NONE:
                continue
            scope.update(child_scope, route=route)
            if match is Match.FULL:
                if isinstance(route, Operation):
                    return await respond(route, scope, receive, send)
                return await route.handle(scope, receive, send)
            methods |= getattr(route, "methods", None) or set()
        if methods:
            allowed = sorted(methods)
            raise MethodNotAllowed(f"This path supports only {', '.join(allowed)}.", allowed=allowed)
        raise NotFound(explain_unknown_path(scope["path"], self.known))


async def respond(operation: Operation, scope: Scope, receive: Receive, send: Send) -> None:
    """Check key, scope and rate limit, then run the handler: the order of DECISIONS 2."""
    request = Request(scope, receive)
    scope["user"], scope["operation"] = authorize(request, operation.required_scope), operation
    respond_to = respond_to_read if operation.method == "GET" else respond_to_write
    response = await respond_to(request, operation)
    if operation.has_etag:
        response = with_etag(request, response)
    await response(scope, receive, send)


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
