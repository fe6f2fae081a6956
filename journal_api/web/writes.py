"""The write transaction of a request: what it checks first, and what it stores with its effect."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database.threads import Work
from journal_api.errors import NotFound
from journal_api.repositories import changes
from journal_api.structs.dry_run import DryRunQuery
from journal_api.web.auth import require_still_valid
from journal_api.web.context import database, get_query
from journal_api.web.decoding import decode_body
from journal_api.web.etags import check_conditions, is_conditional
from journal_api.web.idempotency import stored_once
from journal_api.web.read_only_echo import check_echo, has_echo
from journal_api.web.responses import Envelope, Response, with_cursor


async def write(request: Request, work: Work[Response]) -> Response:
    """Run `work` as one transaction and return its response; a dry run is rolled back.

    Raises Unauthorized, NotFound, PreconditionFailed or ValidationFailed before `work` runs.
    """
    is_dry_run = get_query(request, DryRunQuery).dry_run
    transaction = stored_once(request, checked(request, work))
    return await database(request).write(transaction, commit=not is_dry_run)


def in_transaction(
    handler: Callable[..., Coroutine[Any, Any, Response]],
) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """Run a handler as one transaction: it gets the request, the connection, and the decoded body if any."""
    _, _, *structs, _ = handler.__annotations__.values()

    @wraps(handler)
    async def run(request: Request) -> Response:
        body = [await decode_body(request, struct) for struct in structs]
        return await write(request, lambda db: handler(request, db, *body))

    return run


def checked(request: Request, work: Work[Response]) -> Work[Response]:
    """Return `work` after a look at the key and at the object that the request changes, with X-Cursor."""

    async def check_and_work(db: Connection) -> Response:
        await require_still_valid(db, request.user)
        if is_conditional(request) or has_echo(request):
            await check_stored(db, request)
        # Before the write, so that following from it names the write too.
        cursor = await changes.read_cursor(db, request.user.id)
        return with_cursor(await work(db), cursor)

    return check_and_work


async def check_stored(db: Connection, request: Request) -> None:
    """Compare the object with If-Match, If-None-Match and the read-only members of a PATCH.

    An object that does not exist meets If-None-Match: the request may create it.
    """
    try:
        stored = await request.scope["operation"].read_stored(db, request)
    except NotFound:
        if "if-match" in request.headers or has_echo(request):
            raise
        return
    assert isinstance(stored, Envelope), "what can be changed is read as JSON"
    check_conditions(request, stored.etag)
    check_echo(request, stored)
