"""From the path of a request to its route."""

from starlette.routing import BaseRoute, Match, Router
from starlette.types import Receive, Scope, Send

from journal_api.errors import MethodNotAllowed, NotFound


class Dispatch:
    """Hands a request to the first route that takes it, as Starlette's router does, but looks only at the
    routes of its resource: with fifty in a row the rest of them cost more than the database (DECISIONS 47).

    Raises NotFound, or MethodNotAllowed naming every method of the path.
    """

    def __init__(self, router: Router) -> None:
        self.router = router
        self.of_resource: dict[str, list[BaseRoute]] = {}
        for route in router.routes:
            self.of_resource.setdefault(resource_of(getattr(route, "path", "")), []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.router(scope, receive, send)
            return
        if b"%2f" in scope.get("raw_path", b"").lower():
            raise NotFound  # not a slash, and nothing that a path may hold
        methods: set[str] = set()
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        for route in self.of_resource.get(resource_of(path), ()):
            match, found = route.matches(scope)
            if match is Match.NONE:
                continue
            scope.update(found)
            scope["route"] = route
            if match is Match.FULL:
                await route.handle(scope, receive, send)
                return
            methods |= getattr(route, "methods", None) or set()
        if methods:
            raise MethodNotAllowed(allowed=sorted(methods))
        raise NotFound


def resource_of(path: str) -> str:
    """`tags` of /v1/tags/7, `/health` of /health: what the routes of one resource have in common."""
    words = path.split("/", 3)
    return words[2] if words[1:2] == ["v1"] and len(words) > 2 else f"/{words[1] if len(words) > 1 else ''}"
