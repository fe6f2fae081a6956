"""A Starlette route that states what it is: scope, body, query and answer, for the code and the documents."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from journal_api.auth import admit
from journal_api.envelope import Response

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
    structs that the handler decodes, `takes` the media types of a body, `gives`
    that of the answer. A scope of None is any valid key.
    """

    def __init__(
        self,
        method: str,
        path: str,
        handler: Handler,
        scope: str | None,
        *,
        data: dict[str, Any] | None = None,
        body: type | None = None,
        query: type | None = None,
        takes: tuple[str, ...] = ("application/json",),
        gives: str = "application/json",
    ) -> None:
        super().__init__(f"/v1{path}", handler, methods=[method])
        # `$` would also match before a final newline.
        self.path_regex = re.compile(self.path_regex.pattern.removesuffix("$") + r"\Z")
        self.method, self.scope = method, scope
        self.data, self.body, self.query = data or {}, body, query
        self.takes, self.gives = takes, gives

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Method, key, scope, rate, then the handler: the order of DECISIONS 4."""
        if self.methods is not None and scope["method"] not in self.methods:
            raise HTTPException(405)
        request = Request(scope, receive)
        scope["user"], scope["operation"] = await admit(request, self.scope), self
        response = await self.endpoint(request)
        await response(scope, receive, send)
