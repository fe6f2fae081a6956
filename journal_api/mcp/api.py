"""Requests to the journal's HTTP API, whose errors become errors of the tool call."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import httpx
from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from journal_api.mcp.results import clip, encode

MAX_DETAILS_LENGTH = 1000  # characters


class ToolError(Exception):
    """The reason why a tool call failed, for the agent to read."""


class Forbidden(ToolError):
    """The API key lacks the scope of a request."""


class Error(Struct):
    code: str
    message: str
    details: dict[str, Any]


class Envelope(Struct):
    ok: bool
    data: dict[str, Any] = {}
    error: Error | None = None
    meta: dict[str, Any] = {}


# Amounts keep the digits of the response.
DECODER = Decoder(Envelope, float_hook=Decimal)


class ApiResponse(NamedTuple):
    """The single member of a response's `data`, the ETag, and the length of a list of which it is a page."""

    data: Any
    etag: str
    total: int

    @property
    def version(self) -> str:
        return self.etag.strip('"')


async def get(client: httpx.AsyncClient, path: str, query: Mapping[str, Any] | None = None) -> ApiResponse:
    """GET a path below /v1. Raises ToolError."""
    return await request(client, "GET", path, params=query)


async def write(client: httpx.AsyncClient, method: str, path: str, body: object, etag: str) -> ApiResponse:
    """Send a body, to be written only if the object still has this ETag. Raises ToolError."""
    headers = {"If-Match": etag, "Content-Type": "application/json"}
    return await request(client, method, path, content=encode(body), headers=headers)


async def request(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> ApiResponse:
    try:
        response = await client.request(method, path, **options)
    except httpx.HTTPError as error:
        unknown = "" if method == "GET" else " It is not known whether it was written: read it again."
        raise ToolError(
            f"The journal at {client.base_url} does not answer ({type(error).__name__}): "
            f"is the server running?{unknown}"
        ) from None
    return read_response(response)


def read_response(response: httpx.Response) -> ApiResponse:
    """Raises ToolError with the API's message, or if no journal responds."""
    try:
        envelope = DECODER.decode(response.content)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        envelope = Envelope(ok=False)
    if envelope.error is not None:
        failure = Forbidden if envelope.error.code == "forbidden_scope" else ToolError
        raise failure(write_error_line(envelope.error.code, envelope.error.message, envelope.error.details))
    if len(envelope.data) != 1:
        raise ToolError(
            f"The server responded {response.status_code}, but not as a journal does: is JOURNAL_URL right?"
        )
    (data,) = envelope.data.values()
    total = envelope.meta.get("pagination", {}).get("total", 0)
    return ApiResponse(data, response.headers.get("etag", ""), total)


def write_error_line(code: str, message: str, details: Mapping[str, Any]) -> str:
    return f"{code}: {message} {clip(encode(details), MAX_DETAILS_LENGTH) if details else ''}".rstrip()
