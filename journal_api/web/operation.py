"""A Starlette route that declares its scope, body, query and response, for dispatch and for OpenAPI."""

import re
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

from msgspec import Struct
from starlette.convertors import IntegerConvertor, StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.routing import Route

from journal_api.errors import ApiError
from journal_api.structs.queries import DryRunQuery, NoQuery
from journal_api.web.response_cache import CacheUntil
from journal_api.web.responses import Response

# It gets the request, a connection, the parameters of the path, and what its own parameters name: the decoded body, the
# `query`. A write that prepares something gets, in place of the connection, the function that runs its work as the
# transaction (web/writes.py).
Handler = Callable[..., Awaitable[Response]]


class RowIdConvertor(IntegerConvertor):
    """Converts an id in a path. An id beyond SQLite's integers becomes 0, which no row has."""

    regex = "[1-9][0-9]{0,18}"
    meaning = "an id, which is a whole number from 1"

    def convert(self, value: str) -> int:
        number = int(value)
        return number if number < 2**63 else 0


class ContractRootConvertor(StringConvertor):
    """Converts the root of a contract in a path."""

    regex = "[A-Z0-9]{1,10}"
    meaning = "the root of a contract, which is 1 to 10 capital letters and digits, such as MNQ"


class DayConvertor(StringConvertor):
    """Converts a day in a path. A day that no calendar has, or far from any trade, becomes empty."""

    regex = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

    def convert(self, value: str) -> str:
        try:
            return value if 1970 <= date.fromisoformat(value).year <= 2200 else ""
        except ValueError:
            return ""


register_url_convertor("row_id", RowIdConvertor())
register_url_convertor("contract_root", ContractRootConvertor())
register_url_convertor("day", DayConvertor())


class Operation(Route):
    """One method on one path: the required scope, the input, the output.

    `data` maps the members of the response's `data` to their types; it is empty for a 204. The handler's parameters
    say the structs: `query` is the query, any other the body. Without a `query`, a
    GET has no parameters and any other method has `dry_run` alone. `consumes` are the media types of a body, `produces`
    is the media type of the response. `errors` are the errors of this operation besides those that follow from the
    other arguments, `success_statuses` its statuses of success. A `required_scope` of None accepts any valid key.

    Every JSON response has an ETag, except for a `report` of what was done, which no GET returns again. `etag_source`
    is the GET whose ETag If-Match refers to, unless the body `names_objects`: then the handler compares the ETag over
    these. `cache_until` says how long the response of a GET is cached (see ResponseCache); None means that it is not. A
    GET that is slow in a large journal (`is_slow`) reads from a connection of its own kind, so that no other request
    waits for it.
    """

    etag_source: "Operation | None" = None

    def __init__(
        self,
        method: str,
        path: str,
        handler: Handler,
        required_scope: str | None,
        *,
        data: dict[str, Any] | None = None,
        consumes: tuple[str, ...] = ("application/json",),
        produces: str = "application/json",
        errors: tuple[type[ApiError], ...] = (),
        success_statuses: tuple[int, ...] = (),
        report: bool = False,
        names_objects: bool = False,
        cache_until: CacheUntil | None = "write",
        is_slow: bool = False,
    ) -> None:
        super().__init__(f"/v1{path}", handler, methods=[method])
        # `$` would also match before a final newline.
        self.path_regex = re.compile(self.path_regex.pattern.removesuffix("$") + r"\Z")
        # The path as clients know it: /v1/tags/{id}.
        self.documented_path = re.sub(r"\{(\w+):\w+\}", r"{\1}", self.path)
        self.method, self.required_scope = method, required_scope
        self.data = data or {}
        structs = {name: kind for name, kind in handler.__annotations__.items() if is_struct(kind)}
        self.takes_query = "query" in structs
        self.query = structs.pop("query", NoQuery if method == "GET" else DryRunQuery)
        self.body: type[Struct] | None = next(iter(structs.values()), None)
        assert method == "GET" or issubclass(self.query, DryRunQuery), "every write can be tried"
        self.consumes, self.produces, self.errors = consumes, produces, errors
        self.success_statuses = success_statuses or ({"POST": 201, "DELETE": 204}.get(method, 200),)
        self.has_etag = (bool(self.data) and not report) or produces == "image/*"
        self.cache_until, self.is_slow, self.names_objects = cache_until, is_slow, names_objects
        self.prepares = "write" in handler.__annotations__
        if self.has_etag and method == "GET":
            self.success_statuses += (304,)

    async def call(self, request: Request, connection: object, query: Struct, body: Struct | None = None) -> Response:
        """Run the handler with what it asks for."""
        bodies = () if body is None else (body,)
        asked = {"query": query} if self.takes_query else {}
        of_path = (request.path_params[name] for name in self.param_convertors)
        response: Response = await self.endpoint(request, connection, *of_path, *bodies, **asked)
        return response

    @property
    def consumes_file(self) -> bool:
        return "application/json" not in self.consumes

    @property
    def consumes_picture(self) -> bool:
        return self.consumes[0].startswith("image/")

    @property
    def takes_echo(self) -> bool:
        """Whether the body of a PATCH may have read-only members of the object that is changed."""
        source = self.etag_source
        changes_object = self.method == "PATCH" and self.has_etag and not self.names_objects
        return changes_object and source is not None and source.path == self.path


def is_struct(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def link_etag_sources(operations: list[Operation]) -> list[Operation]:
    """Set the `etag_source` of each write: the GET at its path, or at the nearest path above."""
    sources = {operation.path: operation for operation in operations if operation.method == "GET"}
    for operation in operations:
        if operation.method != "GET":
            path = operation.path
            while path and path not in sources:
                path = path.rpartition("/")[0]
            operation.etag_source = sources[path]
    return operations
