"""The response to a request that the protocol rejects, as bytes; the connection closes after it."""

from http import HTTPStatus

from journal_api import __version__
from journal_api.errors import ApiError
from journal_api.web import responses
from journal_api.web.request_log import HandledRequest, new_request_id, write_line


def last_response(error: ApiError) -> bytes:
    """The complete HTTP response to a request that never reached the application; it is logged."""
    request_id = new_request_id()
    write_line(HandledRequest("-", None, error.status, 0, request_id, None))
    response = responses.failed(error)
    body = response.content + response.end(request_id)
    phrase = HTTPStatus(error.status).phrase
    head = (
        f"HTTP/1.1 {error.status} {phrase}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\nX-Request-Id: {request_id}\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        f"X-Journal-Version: {__version__}\r\n\r\n"
    )
    return head.encode() + body
