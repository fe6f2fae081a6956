"""Find the route of a request.

Starlette's Router tries every route in turn, a regular expression each. With fifty routes that takes longer
than the query of a small read, so Dispatch tries only the routes of the same resource (DECISIONS 37). It uses
Starlette's public `Router.routes`, `Route.matches()` and `Route.handle()`, and it reimplements the part of
`Router.app` that sets `scope["route"]` and merges the match into the scope; it supports no mounts and no
slash redirects. tests/api/test_contract.py calls every operation through it, so a change of these
interfaces fails there.
"""

from typing import Any

from starlette.routing import BaseRoute, Match, Router
from starlette.types import Receive, Scope, Send

from journal_api.errors import MethodNotAllowed, NotFound

# Paths that are remembered, and their characters.
MAX_FOUND, MAX_FOUND_LENGTH = 1000, 100


class Dispatch:
    """An ASGI application that passes each request to the first matching route of its resource.

    Raises NotFound, or MethodNotAllowed with every method of the path. Other scopes than HTTP go to the
    router.
    """

    def __init__(self, router: Router) -> None:
        self.router = router
        # What was found for methods and paths, so that a client that polls is not searched for again.
        self.found: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.routes_by_resource: dict[str, list[BaseRoute]] = {}
        for route in router.routes:
            resource = resource_of(getattr(route, "path", ""))
            self.routes_by_resource.setdefault(resource, []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.router(scope, receive, send)
            return
        raw_path = scope.get("raw_path", b"")
        if b"%" in raw_path and b"%2f" in raw_path.lower():
            raise NotFound  # an encoded slash separates no segments and is part of no id
        key = (scope["method"], scope.get("root_path", ""), scope["path"])
        found = self.found.get(key)
        if found is not None:
            scope.update(found)
            await found["route"].handle(scope, receive, send)
            return
        methods: set[str] = set()
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        for route in self.routes_by_resource.get(resource_of(path), ()):
            match, child_scope = route.matches(scope)
            if match is Match.NONE:
                continue
            scope.update(child_scope)
            scope["route"] = route
            if match is Match.FULL:
                if len(scope["path"]) <= MAX_FOUND_LENGTH:
                    if len(self.found) >= MAX_FOUND:
                        self.found.clear()
                    self.found[key] = {**child_scope, "route": route}
                await route.handle(scope, receive, send)
                return
            methods |= getattr(route, "methods", None) or set()
        if methods:
            allowed = sorted(methods)
            raise MethodNotAllowed(f"This path supports only {', '.join(allowed)}.", allowed=allowed)
        raise NotFound


def resource_of(path: str) -> str:
    """The part that all paths of a resource share: `tags` for /v1/tags/7, `/health` for /health."""
    segments = path.split("/", 3)
    if segments[1:2] == ["v1"] and len(segments) > 2:
        return segments[2]
    return f"/{segments[1] if len(segments) > 1 else ''}"
