"""Who watches the service: a line of the log a request, and counts for Prometheus (DECISIONS 46)."""

import logging
from typing import NamedTuple

from starlette.types import Scope

log = logging.getLogger("journal_api.requests")


class HandledRequest(NamedTuple):
    """A request and what became of it; nothing in it is the client's own but the id of the request."""

    method: str
    # The template of the path, such as /v1/tags/{id}; None where there is no such route.
    route: str | None
    # None when the client went away before its answer.
    status: int | None
    seconds: float
    request_id: str
    # The last four characters of the key, once it is known to be good.
    key: str | None

    def __str__(self) -> str:
        key = f"key {self.key}" if self.key else "no key"
        what = f"{self.method} {self.route or '(no route)'} {self.status or 'gone'}"
        return f"{what} {self.seconds * 1000:.1f} ms {self.request_id} {key}"

    def told(self) -> dict[str, object]:
        """As members of a JSON line."""
        return {
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": round(self.seconds * 1000, 3),
            "request_id": self.request_id,
            "key": self.key,
        }


def handled(scope: Scope, status: int | None, seconds: float) -> HandledRequest:
    """What is told of a request that is over."""
    state, route = scope["state"], scope.get("route")
    template = getattr(route, "documented_path", None) or getattr(route, "path", None)
    return HandledRequest(scope["method"], template, status, seconds, state["request_id"], state.get("key"))


def write_line(request: HandledRequest) -> None:
    if log.isEnabledFor(logging.INFO):
        # Not `log.info`, which walks the stack to find the line that called it.
        log.handle(log.makeRecord(log.name, logging.INFO, "", 0, request, (), None))
