"""Handler of the changes of objects (docs/api.md#changes)."""

import asyncio
from contextlib import suppress

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import changes
from journal_api.repositories.changes import Page
from journal_api.structs.changes import ChangeQuery
from journal_api.web.auth import require_still_valid
from journal_api.web.bodies import cancel_on_disconnect
from journal_api.web.change_signal import ChangeSignal
from journal_api.web.responses import Response, changes_page


async def list_changes(request: Request, db: Connection, query: ChangeQuery) -> Response:
    """List the objects that changed since a cursor, in the order of their last change; deleted ones too.

    With `wait`, a response without changes waits so many seconds for the first.
    """
    if query.wait and query.since is not None:
        page = await cancel_on_disconnect(request, wait_for_page(request, db, query))
    else:
        page = await read_page(request, db, query)
    return changes_page(page.cursor, page.more, changes=page.changes)


async def read_page(request: Request, db: Connection, query: ChangeQuery) -> Page:
    return await changes.read_page(db, request.user.id, request.user.scopes, query)


async def wait_for_page(request: Request, db: Connection, query: ChangeQuery) -> Page:
    """Return the first page with changes, or the last one before the time is over or the server stops.

    Raises Unauthorized, KeyRevoked or KeyExpired if the key is no longer valid by then.
    """
    signal: ChangeSignal = request.app.state.change_signal
    until = asyncio.get_running_loop().time() + query.wait
    with signal.listening(request.user.id):
        while True:
            # Taken before the page is read, so that no change falls in between.
            changed = signal.changed(request.user.id)
            page = await read_page(request, db, query)
            left = until - asyncio.get_running_loop().time()
            if page.changes != "[]" or left <= 0 or signal.is_stopped:
                return page
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), left)
            await require_still_valid(db, request.user)
