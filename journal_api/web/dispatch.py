"""Find the route of a request; respond 404 and 405 with our errors."""

from collections.abc import Sequence

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from journal_api.errors import MethodNotAllowed, NotFound


class Dispatch:
    """An ASGI application that passes each request to the first matching route.

    Starlette's Router names the methods of one route in its 405; this one names every method of the path.
    Raises NotFound or MethodNotAllowed.
    """

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self.routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if b"%2f" in scope.get("raw_path", b"").lower():
            raise NotFound  # an encoded slash separates no segments and is part of no id
        methods: set[str] = set()
        for route in self.routes:
            match, child_scope = route.matches(scope)
            if match is Match.NONE:
                continue
            scope.update(child_scope, route=route)
            if match is Match.FULL:
                await route.handle(scope, receive, send)
                return
            methods |= getattr(route, "methods", None) or set()
        if methods:
            allowed = sorted(methods)
            raise MethodNotAllowed(f"This path supports only {', '.join(allowed)}.", allowed=allowed)
        raise NotFound
