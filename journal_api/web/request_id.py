"""The id of a request: the client's own if it is well formed, else a new one."""

import random
import re

from starlette.types import Scope

from journal_api.values import api_keys

REQUEST_ID = re.compile("[A-Za-z0-9_-]{1,64}")


def id_of_request(scope: Scope) -> str:
    """The first that the client sent, if it is one; else a new one.

    A key that was sent by mistake is none, because ids are echoed and logged.
    """
    sent = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"x-request-id"), "")
    is_id = REQUEST_ID.fullmatch(sent) and not api_keys.is_in(sent, scope["app"].state.settings.run_key)
    return sent if is_id else new_request_id()


def new_request_id() -> str:
    # No secret, so not from the system, which would hand the interpreter to another thread meanwhile.
    return f"req_{random.getrandbits(64):016x}"
