"""Find the route of a request and run it, a read here; respond 404 and 405 with our errors, which explain the path."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from journal_api.errors import MethodNotAllowed, NotFound
from journal_api.web.auth import authorize
from journal_api.web.context import database
from journal_api.web.decoding import decode_query
from journal_api.web.etags import with_etag
from journal_api.web.operation import Operation
from journal_api.web.quoting import quote
from journal_api.web.response_cache import ResponseCache
from journal_api.web.responses import Response, with_cursor
from journal_api.web.writes import respond_to_write

ENCODED_SLASH = "A path has no encoded slash (%2F): no id contains one. GET /docs lists the paths."
MAX_COMPARED_LENGTH = 200  # of a path that is not found


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


def explain_unknown_path(path: str, routes: Sequence[Route]) -> str:
    """Say what is wrong with the path, and which path is probably meant."""
    plain = "/" + "/".join(filter(None, path.split("/")))
    if route := find_route(path, routes):
        return explain_parameters(path, route)
    if plain != path and find_route(plain, routes):
        return f"A path has no slash at its end and no two in a row: use {quote(plain)}."
    meant = f"/v1{plain}" if find_route(f"/v1{plain}", routes) else find_nearest(plain, routes)
    question = f"; did you mean {quote(meant)}?" if meant else "."
    return f"There is no path {quote(path)}{question} GET /docs lists the paths."


def find_route(path: str, routes: Sequence[Route]) -> Route | None:
    """Return the route that has this path, or has it with other parameters."""
    parts = path.split("/")
    for route in routes:
        expected = route.path_format.split("/")
        if len(parts) == len(expected) and all(
            part if name.startswith("{") else part == name for name, part in zip(expected, parts, strict=True)
        ):
            return route
    return None


def explain_parameters(path: str, route: Route) -> str:
    """Name the first parameter that is not what it should be."""
    for name, part in zip(route.path_format.split("/"), path.split("/"), strict=True):
        convertor = route.param_convertors.get(name.strip("{}"))
        if convertor and not re.fullmatch(convertor.regex, part):
            return f"{quote(part)} is not {getattr(convertor, 'meaning', f'a valid {name}')}."
    return f"There is no path {quote(path)}."


def find_nearest(path: str, routes: Sequence[Route]) -> str:
    if len(path) > MAX_COMPARED_LENGTH:
        return ""
    known = {route.path_format for route in routes}
    return next(iter(get_close_matches(path.lower(), known, n=1, cutoff=0.8)), "")
