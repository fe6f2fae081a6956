"""The id of a request: the client's X-Request-Id if it is well formed, otherwise a new one."""

import random
import re

from starlette.types import Scope

from journal_api.values import api_keys

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
