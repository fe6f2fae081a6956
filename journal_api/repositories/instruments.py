"""SQL of instruments: the built-in point values and the owner's own."""

from aiosqlite import Connection
from msgspec import json

from journal_api.database.sql import build_object, build_upsert, delete_where, fetch_json, fetch_json_array
from journal_api.structs.instruments import Instrument, InstrumentPut
from journal_api.values.instruments import CONTRACT_ROOTS, InstrumentTable
from journal_api.values.money import PositiveMoney, from_units

# The built-in table as a parameter for json_each, by root.
BUILT_IN = json.encode(
    {
        root: {**contract._asdict(), "point_value": contract.point_value.units}
        for root, contract in CONTRACT_ROOTS.items()
    }
).decode()
INSTRUMENT = build_object(
    Instrument,
    point_value="coalesce(own.point_value, built_in.point_value)",
    source="iif(own.root IS NULL, 'built-in', 'own')",
)
# All instruments of the user, one JSON object each.
INSTRUMENTS = f"""
    WITH
    built_in (root, name, exchange, currency, point_value) AS MATERIALIZED (
        SELECT key, value ->> '$.name', value ->> '$.exchange', value ->> '$.currency',
            value ->> '$.point_value'
        FROM json_each(:built_in)
    ),
    own (root, point_value) AS MATERIALIZED (
        SELECT root, point_value FROM instruments WHERE user_id = :user_id
    )
    SELECT root,
        {INSTRUMENT} AS item
    FROM (SELECT root FROM built_in UNION SELECT root FROM own)
    LEFT JOIN built_in USING (root)
    LEFT JOIN own USING (root)"""


async def list_of_user(db: Connection, user_id: int) -> str:
    values = {"user_id": user_id, "built_in": BUILT_IN}
    return await fetch_json_array(db, f"SELECT item FROM ({INSTRUMENTS}) ORDER BY root", values)


async def get(db: Connection, user_id: int, root: str) -> str:
    values = {"user_id": user_id, "built_in": BUILT_IN, "root": root}
    return await fetch_json(db, f"SELECT item FROM ({INSTRUMENTS}) WHERE root = :root", values)


async def read_table(db: Connection, user_id: int) -> InstrumentTable:
    rows = await db.execute_fetchall(
        "SELECT root, point_value FROM instruments WHERE user_id = :user_id", {"user_id": user_id}
    )
    return InstrumentTable({root: PositiveMoney(from_units(point_value)) for root, point_value in rows})


async def replace(db: Connection, user_id: int, root: str, instrument: InstrumentPut) -> None:
    columns = {"user_id": user_id, "root": root, "point_value": instrument.point_value.units}
    await db.execute_fetchall(build_upsert("instruments", columns, ["point_value"]), columns)


async def delete(db: Connection, user_id: int, root: str) -> None:
    values = {"user_id": user_id, "root": root}
    await delete_where(db, "instruments", "user_id = :user_id AND root = :root", values)
