"""Handlers of instruments (docs/api.md#instruments)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import instruments
from journal_api.structs.instruments import InstrumentPut
from journal_api.web.responses import Response, no_content, ok


async def list_instruments(request: Request, db: Connection) -> Response:
    """List the contract roots whose point value is known, by root: built-in ones and the caller's own."""
    return ok(instruments=await instruments.list_of_user(db, request.user.id))


async def get_instrument(request: Request, db: Connection, root: str) -> Response:
    """Get the point value of a contract root."""
    return ok(instrument=await instruments.get(db, request.user.id, root))


async def replace_instrument(request: Request, db: Connection, root: str, body: InstrumentPut) -> Response:
    """Set the caller's own point value of a contract root, for trades that are added from now on."""
    await instruments.replace(db, request.user.id, root, body)
    return ok(instrument=await instruments.get(db, request.user.id, root))


async def delete_instrument(request: Request, db: Connection, root: str) -> Response:
    """Delete the caller's own point value of a contract root; the built-in one applies again."""
    await instruments.delete(db, request.user.id, root)
    return no_content()
