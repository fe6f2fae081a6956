"""Find the route of a request; respond 404 and 405 with our errors."""

from starlette.routing import Match, Router
from starlette.types import Receive, Scope, Send

from journal_api.errors import MethodNotAllowed, NotFound


class Dispatch:
    """An ASGI application that passes each request to the first matching route.

    Starlette's Router names the methods of one route in its 405; this one names every method of the path.
    Raises NotFound or MethodNotAllowed. Other scopes than HTTP go to the router.
    """

    def __init__(self, router: Router) -> None:
        self.router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.router(scope, receive, send)
            return
        if b"%2f" in scope.get("raw_path", b"").lower():
            raise NotFound  # an encoded slash separates no segments and is part of no id
        methods: set[str] = set()
        for route in self.router.routes:
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
