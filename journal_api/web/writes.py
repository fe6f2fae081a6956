"""The way of every write, from top to bottom (DECISIONS 2, 4). The handler's work stands in the middle."""

from collections.abc import Awaitable, Callable
from tempfile import SpooledTemporaryFile

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database.thread_connection import Work
from journal_api.errors import NotFound
from journal_api.repositories import changes
from journal_api.structs.queries import DryRunQuery
from journal_api.web.auth import require_still_valid
from journal_api.web.context import database
from journal_api.web.decoding import decode_body, decode_query
from journal_api.web.etags import check_conditions, is_conditional
from journal_api.web.idempotency import find_response, read_keyed, store_response
from journal_api.web.operation import Operation
from journal_api.web.read_only_echo import check_echo
from journal_api.web.responses import Envelope, Response, with_cursor

MAX_IN_MEMORY = 1024 * 1024  # bytes of a body that is read before it is decoded
# Runs work as the transaction of a request: for handlers that prepare something before it.
ResponseWork = Work[Response]  # named once: an annotation of an inner function is evaluated by every request
Write = Callable[[ResponseWork], Awaitable[Response]]


async def respond_to_write(request: Request, operation: Operation) -> Response:
    """Run the handler's work as one transaction; a dry run is rolled back.

    Raises Unauthorized, NotFound, PreconditionFailed or ValidationFailed before the work.
    """
    query = decode_query(request, operation.query)
    assert isinstance(query, DryRunQuery)
    with SpooledTemporaryFile(max_size=MAX_IN_MEMORY) as copy:
        # A repeated request gets the response to the first one.
        request, keyed = await read_keyed(request, operation, copy)
        if keyed and (stored := await find_response(database(request).reader, keyed)):
            return stored
        body, echo = await decode_body(request, operation, keyed)

        async def write(work: ResponseWork) -> Response:
            async def transact(db: Connection) -> Response:
                if keyed and (stored := await find_response(db, keyed)):
                    return stored
                await require_still_valid(db, request.user)
                if echo or (is_conditional(request) and not operation.names_objects):
                    before = await read_stored(db, request, operation, may_be_missing=not echo)
                    if before:
                        check_conditions(request, before.etag)
                    check_echo(echo, before)
                # Before the write, so that following from it names the write too.
                cursor = await changes.read_cursor(db, request.user.id)
                response = with_cursor(await work(db), cursor)
                if keyed:
                    assert isinstance(response, Envelope), "a POST responds with an envelope"
                    await store_response(db, keyed, response)
                return response

            return await database(request).write(transact, commit=not query.dry_run)

        if operation.prepares:
            return await operation.call(request, write, query, body)
        return await write(lambda db: operation.call(request, db, query, body))


async def read_stored(
    db: Connection, request: Request, operation: Operation, *, may_be_missing: bool
) -> Envelope | None:
    """Return what the ETag source says in the transaction; None for what a request may create. Raises NotFound."""
    source = operation.etag_source
    assert source is not None, "every write has a GET at its path or above"
    get = Request({**request.scope, "operation": source, "method": "GET"})
    try:
        response = await source.call(get, db, source.query())
    except NotFound:
        if may_be_missing and "if-match" not in request.headers:
            return None
        raise
    assert isinstance(response, Envelope), "what can be changed is read as JSON"
    return response
