"""A log line for each finished request (DECISIONS 35)."""

import logging
from typing import NamedTuple

from starlette.types import Scope

log = logging.getLogger("journal_api.requests")


class HandledRequest(NamedTuple):
    """A finished request. Of the client's own text it contains only the request id."""

    method: str
    # The path template, such as /v1/tags/{id}; None if no route matched.
    route: str | None
    # None if the client disconnected before the response.
    status: int | None
    seconds: float
    request_id: str
    # The last four characters of the API key; None unless the key exists.
    key: str | None

    def __str__(self) -> str:
        key = f"key {self.key}" if self.key else "no key"
        request = f"{self.method} {self.route or '(no route)'} {self.status or 'gone'}"
        return f"{request} {self.seconds * 1000:.1f} ms {self.request_id} {key}"

    def as_json_members(self) -> dict[str, object]:
        return {
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": round(self.seconds * 1000, 3),
            "request_id": self.request_id,
            "key": self.key,
        }


def handled_request(scope: Scope, seconds: float) -> HandledRequest:
    state, route = scope["state"], scope.get("route")
    template = getattr(route, "documented_path", None) or getattr(route, "path", None)
    status, key = state.get("status"), state.get("key")
    return HandledRequest(scope["method"], template, status, seconds, state["request_id"], key)


def write_line(request: HandledRequest) -> None:
    log.info(request)
