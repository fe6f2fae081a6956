"""Handlers of the pictures of trades and days (docs/journal.md#pictures)."""

import hashlib
from functools import partial
from typing import BinaryIO, get_args

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.database import sql
from journal_api.database.user_threads import in_thread
from journal_api.errors import LimitReached, NotFound, UnsupportedMediaType, ValidationFailed
from journal_api.repositories import pictures, trades
from journal_api.repositories.pictures import Content, Place
from journal_api.rules.picture_formats.cleaning import clean, find_media_type
from journal_api.rules.picture_formats.parts import DamagedPicture
from journal_api.settings import Settings
from journal_api.structs.pictures import AcceptedType, Picture, PicturePatch
from journal_api.web.bodies import receive_upload
from journal_api.web.context import database
from journal_api.web.responses import Response, StoredFile, created, no_content, ok
from journal_api.web.writes import Write

# A picture never changes, but another key may not be shown it.
KEPT_BY_BROWSERS = {"Cache-Control": "private, max-age=31536000, immutable", "Vary": "Authorization"}
# Nothing in the file is run, even if a browser opens it as a page.
INERT = {"Content-Security-Policy": "sandbox; default-src 'none'"}


async def create_trade_picture(request: Request, write: Write, trade_id: int) -> Response:
    """Add a picture to a trade, as its last: PNG, JPEG or WebP, by its first bytes.

    What is stored has no metadata: no place, no device, no comments.
    """
    return await create_picture(request, write, Place(trade_id=trade_id))


async def create_day_picture(request: Request, write: Write, date: str) -> Response:
    """Add a picture to a day, as its last. See POST /trades/{id}/pictures."""
    return await create_picture(request, write, Place(day=require_day(date)))


async def list_day_pictures(request: Request, db: Connection, date: str) -> Response:
    """List the pictures of a day, in their order."""
    return ok(pictures=await pictures.list_of_day(db, request.user.id, require_day(date)))


async def get_picture(request: Request, db: Connection, picture_id: int) -> Response:
    """Get what is known of a picture. The key needs the scope of its trade or its day."""
    await find(request, db, picture_id)
    return ok(picture=await pictures.get(db, request.user.id, picture_id))


async def get_picture_content(request: Request, db: Connection, picture_id: int) -> Response:
    """Get the picture itself. The key needs the scope of its trade or its day."""
    picture = await find(request, db, picture_id)
    name = f"picture-{picture.id}.{picture.media_type.removeprefix('image/')}"
    headers = {
        **KEPT_BY_BROWSERS,
        **INERT,
        "Content-Type": picture.media_type,
        "Content-Disposition": f'inline; filename="{name}"',
    }
    parts = pictures.read_content(database(request).slow_reader, picture)
    return StoredFile(headers, picture.bytes, f'"{picture.sha256}"', parts)


async def update_picture(request: Request, db: Connection, picture_id: int, patch: PicturePatch) -> Response:
    """Update the fields sent."""
    stored = await find(request, db, picture_id)
    if sql.find_changed(stored, patch):
        await pictures.update(db, stored, patch)
        await trades.note_edit(db, stored.trade_id)
    return ok(picture=await pictures.get(db, request.user.id, stored.id))


async def delete_picture(request: Request, db: Connection, picture_id: int) -> Response:
    """Delete a picture; its bytes are deleted with the last picture that shows them."""
    stored = await find(request, db, picture_id)
    await pictures.delete(db, request.user.id, stored.id)
    await trades.note_edit(db, stored.trade_id)
    return no_content()


async def create_picture(request: Request, write: Write, place: Place) -> Response:
    async with receive_upload(request) as upload:
        try:
            content = await in_thread(request.user.id, partial(clean_file, upload.file))
        except DamagedPicture as error:
            raise ValidationFailed(f"The picture cannot be stored: it {error}.") from None

        async def store(db: Connection) -> Response:
            if place.trade_id is not None:
                await trades.get(db, request.user.id, place.trade_id)
            await require_room(request, db, place)
            picture_id = await pictures.insert(db, request.user.id, place, content, upload.file)
            await trades.note_edit(db, place.trade_id)
            text = await pictures.get(db, request.user.id, picture_id)
            return created(f"/v1/pictures/{picture_id}", picture=text)

        return await write(store)


def clean_file(file: BinaryIO) -> Content:
    """Remove the metadata of the picture in the file. Raises DamagedPicture, or UnsupportedMediaType by its bytes."""
    data = file.read()
    media_type = find_media_type(data)
    if media_type is None:
        allowed = get_args(AcceptedType)
        message = f"The file is none of {', '.join(allowed)}. Save the picture as PNG."
        raise UnsupportedMediaType(message, allowed=list(allowed))
    picture = clean(data, media_type)
    file.seek(0)
    file.truncate()
    file.write(picture.content)
    sha256 = hashlib.sha256(picture.content).hexdigest()
    return Content(sha256, media_type, picture.width, picture.height, len(picture.content))


async def require_room(request: Request, db: Connection, place: Place) -> None:
    """Raise LimitReached if the trade or day, or the user, has as many pictures as the settings allow."""
    settings: Settings = request.app.state.settings
    of_place, of_user = await pictures.count(db, request.user.id, place)
    for current, limit, name in (
        (of_place, settings.max_pictures_each, "JOURNAL_MAX_PICTURES_EACH"),
        (of_user, settings.max_pictures, "JOURNAL_MAX_PICTURES"),
    ):
        if limit and current >= limit:
            message = f"There are {current} pictures, the most there may be; delete one, or raise {name}."
            raise LimitReached(message, limit=limit, current=current)


async def find(request: Request, db: Connection, picture_id: int) -> Picture:
    """Return the picture. Raises NotFound, and ForbiddenScope without its trade's or day's scope.

    The scope is the called operation's: a PATCH with If-Match reads the picture too.
    """
    picture = await pictures.find(db, request.user.id, picture_id)
    action = "read" if request.scope["route"].method == "GET" else "write"
    request.user.require(f"{action}:days" if picture.trade_id is None else f"{action}:trades")
    return picture


def require_day(date: str) -> str:
    """Return the day. Raises NotFound for a day that cannot be."""
    if not date:
        raise NotFound
    return date
