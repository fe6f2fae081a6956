"""A Starlette route that states what it is: scope, body, query and answer, for the code and the documents."""

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from aiosqlite import Connection
from msgspec import Struct
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from journal_api.errors import (
    ApiError,
    Busy,
    ForbiddenScope,
    IdempotencyConflict,
    InternalError,
    KeyExpired,
    KeyRevoked,
    MisdirectedRequest,
    NotFound,
    PreconditionFailed,
    RateLimited,
    RequestTimeout,
    RequestTooLarge,
    StorageUnavailable,
    Unauthorized,
    UnsupportedMediaType,
    ValidationFailed,
)
from journal_api.web.auth import authorize
from journal_api.web.context import database
from journal_api.web.etags import Conditional, Within, is_conditional, with_etag
from journal_api.web.idempotency import run_once
from journal_api.web.responses import Response

# What any operation can answer with.
ALWAYS: tuple[type[ApiError], ...] = (
    *(Unauthorized, KeyRevoked, KeyExpired, MisdirectedRequest, RateLimited),
    *(InternalError, Busy, StorageUnavailable),
)
Handler = Callable[[Request], Awaitable[Response]]


class RowIdConvertor(Convertor[int]):
    """An id in a path. One beyond SQLite's integers is read as 0, the id that no row has."""

    regex = "[1-9][0-9]{0,18}"

    def convert(self, value: str) -> int:
        number = int(value)
        return number if number < 2**63 else 0

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("row_id", RowIdConvertor())


class Operation(Route):
    """One method on one path: who may call it, what goes in, what comes out.

    `data` maps the members of the answer's `data` to their types; empty for 204. `body` and `query` are the
    structs that the handler decodes; `consumes` are the media types of a body, `produces` is that of the
    answer. `errors` are conflicts of its own, `success_statuses` those of success. A `required_scope` of None
    accepts any valid key.

    Every JSON answer has an ETag, unless it is a `report` of what was done: that is at no address to be read
    again. `read_by` is the GET by which clients know what this operation changes (`linked`).
    """

    read_by: "Operation | None" = None

    def __init__(
        self,
        method: str,
        path: str,
        handler: Handler,
        required_scope: str | None,
        *,
        data: dict[str, Any] | None = None,
        body: type[Struct] | None = None,
        query: type[Struct] | None = None,
        consumes: tuple[str, ...] = ("application/json",),
        produces: str = "application/json",
        errors: tuple[type[ApiError], ...] = (),
        success_statuses: tuple[int, ...] = (),
        report: bool = False,
    ) -> None:
        super().__init__(f"/v1{path}", handler, methods=[method])
        # `$` would also match before a final newline.
        self.path_regex = re.compile(self.path_regex.pattern.removesuffix("$") + r"\Z")
        # The path as clients know it: /v1/tags/{id}.
        self.documented_path = re.sub(r"\{(\w+):row_id\}", r"{\1}", self.path)
        self.method, self.required_scope = method, required_scope
        self.data, self.body, self.query = data or {}, body, query
        self.consumes, self.produces, self.errors = consumes, produces, errors
        self.success_statuses = success_statuses or ({"POST": 201, "DELETE": 204}.get(method, 200),)
        self.has_etag = bool(self.data) and not report
        if self.has_etag and method == "GET":
            self.success_statuses += (304,)

    @property
    def consumes_file(self) -> bool:
        return "application/json" not in self.consumes

    @property
    def is_paged(self) -> bool:
        return self.query is not None and "limit" in self.query.__struct_fields__

    @property
    def possible_errors(self) -> tuple[type[ApiError], ...]:
        """Every error that it can answer with."""
        found: list[type[ApiError]] = [*ALWAYS, *self.errors]
        if self.required_scope:
            found.append(ForbiddenScope)
        if "{" in self.path:
            found.append(NotFound)
        if self.body or self.query or self.method == "POST":
            found.append(ValidationFailed)
        if self.method == "POST":
            found.append(IdempotencyConflict)
        if self.read_by:
            found.append(PreconditionFailed)
        if self.body or self.consumes_file:
            found += [RequestTimeout, RequestTooLarge, UnsupportedMediaType]
        return tuple(found)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Key, scope, rate, then the handler: the order of DECISIONS 4."""
        request = Request(scope, receive)
        scope["user"], scope["operation"] = await authorize(request, self.required_scope), self
        key = request.headers.get("idempotency-key") if self.method == "POST" else None
        response = await (self.answer(request) if key is None else run_once(request, key, self.answer))
        if self.has_etag:
            response = with_etag(request, response)
        await response(scope, receive, send)

    async def answer(self, request: Request) -> Response:
        """The handler's answer; its transaction is held to the conditions that were sent."""
        if self.read_by is not None and is_conditional(request):
            checked = Conditional(database(request), request, partial(self.read_by.current, request))
            request = Request({**request.scope, "database": checked}, request.receive)
        response: Response = await self.endpoint(request)
        return response

    async def current(self, request: Request, db: Connection) -> Response:
        """What this GET answers about the object of another request, as the transaction sees it."""
        asked = {"operation": self, "method": "GET", "query_string": b"", "database": Within(db)}
        response: Response = await self.endpoint(Request({**request.scope, **asked}))
        return response


def linked(operations: list[Operation]) -> list[Operation]:
    """The same operations, each that changes something with the GET at its path, or at the next above it."""
    readers = {operation.path: operation for operation in operations if operation.method == "GET"}
    for operation in operations:
        if operation.method != "GET":
            path = operation.path
            while path and path not in readers:
                path = path.rpartition("/")[0]
            operation.read_by = readers[path]
    return operations
