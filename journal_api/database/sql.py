"""SQL helpers that all repositories use."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar, get_args, get_origin

import msgspec
from aiosqlite import Connection
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import asdict

from journal_api.errors import Conflict, DuplicateName, NotFound, ValidationFailed
from journal_api.values.clock import now, now_after
from journal_api.values.money import Money, json_number
from journal_api.values.types import Day, list_parts, sort_name

S = TypeVar("S", bound=Struct)
# The types of members whose columns SQLite writes as they are.
PLAIN = {str, int, float, date, Literal, type(None), UnsetType}


async def fetch(db: Connection, sql: str, values: Mapping[str, Any]) -> Any:
    """Return the first column of the first row, None without a row."""
    for row in await db.execute_fetchall(sql, values):
        return row[0]
    return None


async def fetch_column(db: Connection, sql: str, values: Mapping[str, Any]) -> list[Any]:
    """Return the first column of all rows."""
    return [row[0] for row in await db.execute_fetchall(sql, values)]


async def fetch_json(db: Connection, sql: str, values: Mapping[str, Any]) -> str:
    """Return the JSON text that the statement selects. Raises NotFound without a row."""
    text = await fetch(db, sql, values)
    if text is None:
        raise NotFound
    return str(text)


async def fetch_json_array(db: Connection, select: str, values: Mapping[str, Any]) -> str:
    """Return a JSON array of the JSON texts in the column `item` of the rows of `select`, in their order."""
    return await fetch_json(db, build_json_array("item", select), values)


def build_json_array(column: str, select: str) -> str:
    """Return a SELECT of one JSON array: the JSON texts in `column` of the rows of `select`, in their order.

    group_concat copies the texts, where json_group_array would parse and write each of them again: twice as
    fast for a list of 200 tags. Inside another JSON function the array needs `json((...))` around it, because
    SQLite 3.54 treats JSON from a subquery as text.
    """
    return f"SELECT '[' || coalesce(group_concat({column}), '') || ']' FROM ({select})"


def build_object(struct: type[Struct], **expressions: str) -> str:
    """Return an SQL expression for the JSON of a response struct: each member is its expression, else its column.

    The type of a member says how that becomes JSON. The expression of an amount is an integer of 10^-8, or a
    subquery of its JSON number.
    """
    return f"json_object({build_members(struct, **expressions)})"


def build_members(struct: type[Struct], **expressions: str) -> str:
    """Return the arguments of json_object for the members of a response struct."""
    members = ((one.name, expressions.get(one.name, one.name), one.type) for one in msgspec.structs.fields(struct))
    return ", ".join(f"'{name}', {as_json(expression, kind)}" for name, expression, kind in members)


def as_json(expression: str, kind: Any) -> str:
    """Return an SQL expression as JSON of that type."""
    bare = [get_args(part)[0] if get_origin(part) is Annotated else part for part in list_parts(kind)]
    parts = {get_origin(part) or part for part in bare}
    if Decimal in parts and not expression.startswith("(SELECT"):
        return json_number(expression)
    if bool in parts:
        return json_boolean(expression)
    return expression if parts <= PLAIN else f"json(({expression}))"


def json_boolean(condition: str) -> str:
    return f"json(CASE {condition} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END)"


def json_list(values: Sequence[object]) -> str:
    """Return a list as one parameter for `json_each(:values)`."""
    return msgspec.json.encode(values, enc_hook=str).decode()


@contextmanager
def unique_name() -> Iterator[None]:
    """Raise DuplicateName when a statement of the block violates a UNIQUE constraint."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            raise DuplicateName from None
        raise


@contextmanager
def unique_value(field: str) -> Iterator[None]:
    """Raise Conflict for `field` when a statement of the block violates a UNIQUE constraint."""
    try:
        with unique_name():
            yield
    except DuplicateName:
        raise Conflict(f"That {field} is taken.", fields={field: "is taken"}) from None


def assignments(changed: Iterable[str]) -> str:
    return ", ".join(f"{column} = :{column}" for column in changed)


def find_changed(stored: object, patch: Struct) -> dict[str, Any]:
    """Return the members of a PATCH that differ."""
    return {
        name: value
        for name in patch.__struct_fields__
        if (value := day_as_text(getattr(patch, name))) is not UNSET and value != getattr(stored, name)
    }


def day_as_text(value: Any) -> Any:
    """Return a day as it is stored and returned, any other member as it is."""
    return value.isoformat() if isinstance(value, Day) else value


class Stored(Protocol):
    """A row as it was read."""

    id: int
    updated_at: str


async def find_row(db: Connection, table: str, json_object: str, user_id: int, row_id: int) -> str:
    return await fetch_json(
        db,
        f"SELECT {json_object} FROM {table} WHERE id = :id AND user_id = :user_id",
        {"id": row_id, "user_id": user_id},
    )


async def delete_where(db: Connection, table: str, condition: str, values: Mapping[str, Any]) -> None:
    """Delete the rows that meet a condition. Raises NotFound without any."""
    if await fetch(db, f"DELETE FROM {table} WHERE {condition} RETURNING 1", values) is None:
        raise NotFound


async def insert_row(db: Connection, table: str, members: Mapping[str, Any]) -> int:
    """Insert a row that has both timestamps, and return its id. Raises DuplicateName."""
    columns = stored_columns(members)
    columns["created_at"] = columns["updated_at"] = now()
    with unique_name():
        return int(await fetch(db, f"{build_insert(table, columns)} RETURNING id", columns))


def build_insert(table: str, columns: Iterable[str]) -> str:
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def build_upsert(table: str, columns: Iterable[str], changed: Iterable[str]) -> str:
    """Return an INSERT that writes the changed columns of a row that is there already."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in changed)
    return f"{build_insert(table, columns)} ON CONFLICT DO UPDATE SET {changes}"


async def update_row(db: Connection, table: str, stored: Stored, members: Mapping[str, Any]) -> None:
    """Write the changed members of a row and its `updated_at`. Raises DuplicateName."""
    columns = {**stored_columns(members), "updated_at": now_after(stored.updated_at)}
    with unique_name():
        await db.execute_fetchall(
            f"UPDATE {table} SET {assignments(columns)} WHERE id = :id", {**columns, "id": stored.id}
        )


async def replace_rows(
    db: Connection, table: str, owner: str, owner_id: int, key: str, rows: Sequence[object], columns: Sequence[str] = ()
) -> None:
    """Make these the rows of an owner, told apart by `key`. They come first: a day that loses its last tag may go."""
    names, values = (key, *columns), {"id": owner_id, "rows": json_list(rows)}
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
    await db.execute_fetchall(
        f"""
        INSERT INTO {table} ({owner}, {", ".join(names)})
        SELECT :id, {", ".join(f"value ->> '$.{name}'" for name in names)} FROM json_each(:rows) WHERE true
        ON CONFLICT DO {f"UPDATE SET {changes}" if columns else "NOTHING"}
        """,
        values,
    )
    await db.execute_fetchall(
        f"DELETE FROM {table} WHERE {owner} = :id AND {key} NOT IN (SELECT value ->> '$.{key}' FROM json_each(:rows))",
        values,
    )


def stored_columns(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members of a struct as columns, a name with its `sort_name`."""
    columns = {name: stored_value(value) for name, value in members.items()}
    return columns | {"sort_name": sort_name(members["name"])} if "name" in members else columns


def stored_value(value: Any) -> Any:
    """Return a member as a column: an amount as an integer, free-form JSON as text, its null as NULL."""
    value = day_as_text(value)
    if isinstance(value, Raw):
        text = bytes(value).decode()
        return None if text == "null" else text
    return value.units if isinstance(value, Money) else value


class Table(Generic[S]):
    """A table whose rows users own, and its response struct, with the expressions of `build_object`.

    Rows are read from `source`, which adds to the columns of the table, and is the table by default.
    """

    def __init__(
        self, name: str, struct: type[S], order: str = "sort_name, id", source: str = "", **expressions: str
    ) -> None:
        self.name, self.struct, self.order, self.source = name, struct, order, source or name
        self.members = build_members(struct, **expressions)
        self.object = f"json_object({self.members})"

    async def list_of_user(self, db: Connection, user_id: int, query: Struct | None = None) -> str:
        """Return the rows of the user, with the values that the query has, as a JSON array."""
        values = {"user_id": user_id, **(asdict(query) if query else {})}
        where = " AND ".join(f"{name} = :{name}" for name, value in values.items() if value is not None)
        select = f"SELECT {self.object} AS item FROM {self.name} WHERE {where} ORDER BY {self.order}"
        return await fetch_json_array(db, select, values)

    async def get(self, db: Connection, user_id: int, row_id: int) -> str:
        return await find_row(db, self.source, self.object, user_id, row_id)

    async def find(self, db: Connection, user_id: int, row_id: int) -> S:
        return msgspec.json.decode(await self.get(db, user_id, row_id), type=self.struct)

    async def find_id(self, db: Connection, user_id: int, name: str) -> int | None:
        """Return the id of the row with that name, None without one."""
        select = f"SELECT id FROM {self.name} WHERE user_id = :user_id AND name = :name"
        row_id: int | None = await fetch(db, select, {"user_id": user_id, "name": name})
        return row_id

    async def require(self, db: Connection, user_id: int, row_id: object, field: str) -> None:
        """Raise ValidationFailed for `field` unless the row is the user's. None and UNSET are accepted."""
        values = {"id": row_id, "user_id": user_id}
        select = f"SELECT 1 FROM {self.name} WHERE id = :id AND user_id = :user_id"
        if isinstance(row_id, int) and not await fetch(db, select, values):
            raise ValidationFailed(fields={field: f"is not one of your {self.name.replace('_', ' ')}"})

    async def insert(self, db: Connection, user_id: int, body: Struct) -> int:
        return await insert_row(db, self.name, {**asdict(body), "user_id": user_id})

    async def update(self, db: Connection, stored: Stored, patch: Struct) -> None:
        """Write the members of a PATCH that differ from the stored row. Raises DuplicateName."""
        if changed := find_changed(stored, patch):
            await update_row(db, self.name, stored, changed)

    async def delete(self, db: Connection, user_id: int, row_id: int) -> None:
        await delete_where(db, self.name, "id = :id AND user_id = :user_id", {"id": row_id, "user_id": user_id})
