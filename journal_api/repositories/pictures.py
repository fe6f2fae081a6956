"""SQL of pictures and of their contents, which are stored once for each user."""

from collections.abc import AsyncIterator
from typing import IO, NamedTuple

from aiosqlite import Connection

from journal_api.database import sql
from journal_api.errors import NotFound
from journal_api.structs.pictures import PART, Picture, PictureType

WITH_CONTENT = """(
    SELECT pictures.*, sha256, media_type, width, height, bytes
    FROM pictures
    JOIN picture_contents AS content ON content.id = content_id)"""
TABLE = sql.Table("pictures", Picture, source=WITH_CONTENT)
get, find, update, delete = TABLE.get, TABLE.find, TABLE.update, TABLE.delete


def list_where(condition: str) -> str:
    """Return an SQL expression for the pictures of a trade or a day, as a JSON array."""
    return sql.build_json_array(
        "picture", f"SELECT {TABLE.object} AS picture FROM {WITH_CONTENT} WHERE {condition} ORDER BY sort_order, id"
    )


# The pictures of a trade and of a day, for their single forms.
OF_TRADE = list_where("trade_id = trade.id")
OF_DAY = list_where("user_id = :user_id AND day = listed.date")


class Place(NamedTuple):
    """What a picture belongs to: a trade or a day."""

    trade_id: int | None = None
    day: str | None = None


class Content(NamedTuple):
    """What is stored once: the bytes are in the table picture_parts."""

    sha256: str
    media_type: PictureType
    width: int
    height: int
    bytes: int


async def list_of_day(db: Connection, user_id: int, day: str) -> str:
    select = list_where("user_id = :user_id AND day = :day")
    return await sql.fetch_json(db, select, {"user_id": user_id, "day": day})


async def count(db: Connection, user_id: int, place: Place) -> tuple[int, int]:
    """Return the number of pictures of the trade or the day, and of the user."""
    ((of_place, of_user),) = await db.execute_fetchall(
        """
        SELECT iif(:trade_id IS NULL,
            (SELECT count(*) FROM pictures WHERE user_id = :user_id AND day = :day),
            (SELECT count(*) FROM pictures WHERE trade_id = :trade_id)),
          (SELECT count(*) FROM pictures WHERE user_id = :user_id)
        """,
        {"user_id": user_id, **place._asdict()},
    )
    return of_place, of_user


async def insert(db: Connection, user_id: int, place: Place, content: Content, file: IO[bytes]) -> int:
    """Store the file as the last picture of the trade or the day; return its id."""
    content_id = await find_or_insert_content(db, user_id, content, file)
    columns = {"user_id": user_id, **place._asdict(), "content_id": content_id}
    sort_order = await sql.fetch(
        db,
        """
        SELECT min(coalesce(max(sort_order) + 1, 0), 2147483647)
        FROM pictures
        WHERE trade_id = :trade_id OR (user_id = :user_id AND day = :day)
        """,
        columns,
    )
    return await sql.insert_row(db, "pictures", {**columns, "sort_order": sort_order})


async def find_or_insert_content(db: Connection, user_id: int, content: Content, file: IO[bytes]) -> int:
    """Return the id of the content, which another picture of the user may have already."""
    values = {"user_id": user_id, **content._asdict()}
    select = "SELECT id FROM picture_contents WHERE user_id = :user_id AND sha256 = :sha256"
    known = await sql.fetch(db, select, values)
    if known is not None:
        return int(known)
    insert = sql.build_insert("picture_contents", values)
    content_id = await sql.fetch(db, f"{insert} RETURNING id", values)
    file.seek(0)
    parts = iter(lambda: file.read(PART), b"")
    await db.executemany(
        "INSERT INTO picture_parts (content_id, position, bytes) VALUES (?, ?, ?)",
        ((content_id, position, part) for position, part in enumerate(parts)),
    )
    return int(content_id)


async def read_content(db: Connection, picture: Picture) -> AsyncIterator[bytes]:
    """Yield the bytes part by part, each read by itself. Raises NotFound if they are deleted meanwhile."""
    for position in range(-(-picture.bytes // PART)):
        part = await sql.fetch(
            db,
            """
            SELECT bytes
            FROM picture_parts
            WHERE content_id = (SELECT content_id FROM pictures WHERE id = :id) AND position = :position
            """,
            {"id": picture.id, "position": position},
        )
        if part is None:
            raise NotFound
        yield part


async def move_to_whole(db: Connection, trade_ids: list[int]) -> None:
    """Give the first of the trades the pictures of all, in the order of the trades."""
    await db.execute_fetchall(
        """
        UPDATE pictures
        SET trade_id = :first_id, sort_order = moved.place
        FROM (
            SELECT pictures.id, row_number() OVER (ORDER BY part.key, sort_order, pictures.id) - 1 AS place
            FROM json_each(:ids) AS part
            JOIN pictures ON trade_id = part.value) AS moved
        WHERE pictures.id = moved.id
        """,
        {"first_id": trade_ids[0], "ids": sql.json_list(trade_ids)},
    )


async def move_to_part(db: Connection, whole_id: int, part_id: int, picture_ids: list[int]) -> None:
    """Give a part of a merged trade its pictures back, unless they were deleted since."""
    await db.execute_fetchall(
        """
        UPDATE pictures
        SET trade_id = :part_id
        WHERE trade_id = :whole_id AND id IN (SELECT value FROM json_each(:ids))
        """,
        {"whole_id": whole_id, "part_id": part_id, "ids": sql.json_list(picture_ids)},
    )
