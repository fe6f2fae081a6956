"""The id of a request, and a log line for each finished one (DECISIONS 35)."""

import logging
import random
import re
from typing import NamedTuple

from starlette.types import Scope

from journal_api.values import api_keys

log = logging.getLogger("journal_api.requests")
REQUEST_ID = re.compile("[A-Za-z0-9_-]{1,64}")


def read_request_id(scope: Scope) -> str:
    """Return the X-Request-Id, or a new id for none, a malformed one or an API key: ids are echoed and logged."""
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            header = value.decode("latin-1")
            run_key = scope["app"].state.settings.run_key
            is_usable = REQUEST_ID.fullmatch(header) and not api_keys.is_in(header, run_key)
            return header if is_usable else new_request_id()
    return new_request_id()


def new_request_id() -> str:
    # Request ids are not secret. The system's random source would cost a system call and release the GIL.
    return f"req_{random.getrandbits(64):016x}"


class HandledRequest(NamedTuple):
    """A finished request, as it is logged. Of the client's own text it contains only the request id."""

    method: str
    # The path template, such as /v1/tags/{id}; None if no route matched.
    route: str | None
    # None if the client disconnected before the response.
    status: int | None
    ms: float
    request_id: str
    # The last four characters of the API key; None unless the key exists.
    key: str | None

    def __str__(self) -> str:
        key = f"key {self.key}" if self.key else "no key"
        request = f"{self.method} {self.route or '(no route)'} {self.status or 'gone'}"
        return f"{request} {self.ms:.1f} ms {self.request_id} {key}"


def handled_request(scope: Scope, seconds: float) -> HandledRequest:
    state, route = scope["state"], scope.get("route")
    template = getattr(route, "documented_path", None) or getattr(route, "path", None)
    status, key = state.get("status"), state.get("key")
    return HandledRequest(scope["method"], template, status, round(seconds * 1000, 3), state["request_id"], key)


def write_line(request: HandledRequest) -> None:
    log.info(request)
