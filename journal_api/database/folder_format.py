"""The folder that `export --all` writes and `import-all` reads: its files, and the values in them."""

import re
import sqlite3
from decimal import Decimal
from json import JSONDecoder
from typing import Annotated, Any

from msgspec import Meta, Raw, Struct, json

from journal_api.database.schemas import read_schema
from journal_api.values.money import EXACT, MAX_STORED, SCALE, json_text
from journal_api.values.types import MAX_ID

MANIFEST = "manifest.json"
decode_json = JSONDecoder(parse_float=Decimal).decode  # amounts are exact
# The tables that are not exported: secrets and temporary rows, what follows from other tables, the bytes of
# pictures, which are files, and the tables of SQLite and Litestream.
LEFT_OUT = re.compile(
    r"(api_keys|idempotency_keys|trade_facts|trade_counts|picture_parts|object_changes|changed_objects)"
    r"|(search|sqlite|_litestream)_\w+"
)
LOG_OF_DAYS = {"changed_days", "changes"}  # its name until schema 10
# The columns with integers of 10^-8, which the files have as decimal numbers.
AMOUNTS = re.compile(
    "accepted_difference|actual|amount|balance|best_day_share|breakeven_within|closing_balance|daily_loss"
    "|entry_price|exit_price|fees|floor_distance|floor_locks_at|gross_pnl|initial_risk|mae|mfe|multiplier"
    "|opening_balance|payout_share|per_side|point_value|profit_target|qualifying_amount|quantity"
    "|quantity_multiplier|received|starting_balance|stop_loss|target|target_value"
)
Columns = dict[str, str]  # the kinds of the columns of a table by their names


class File(Struct, forbid_unknown_fields=True):
    rows: int
    sha256: str


class Manifest(Struct, forbid_unknown_fields=True, kw_only=True):
    """What the folder holds, in the order of reading. Written last: a folder without it is incomplete."""

    schema: int
    version: str
    exported_at: str
    files: dict[str, File]
    pictures: int
    # The highest of each table so far: ids are never given out again.
    last_ids: dict[str, Annotated[int, Meta(ge=1, le=MAX_ID)]]


def read_tables(db: sqlite3.Connection) -> dict[str, Columns]:
    """Return the tables that are exported, in the order of schema.sql."""
    schema = read_schema()
    rows = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = [name for (name,) in rows if not LEFT_OUT.fullmatch(name)]
    return {name: read_columns(db, name) for name in sorted(names, key=lambda one: schema.find(f"TABLE {one} ("))}


def read_columns(db: sqlite3.Connection, table: str) -> Columns:
    """Return the columns that are stored, but for the cursors of tables that are left out."""
    rows = db.execute(
        """
        SELECT name, type
        FROM pragma_table_xinfo(:table)
        WHERE hidden = 0 AND name NOT IN ('facts_cursor', 'expired_cursor')
        """,
        {"table": table},
    )
    return {name: "AMOUNT" if AMOUNTS.fullmatch(name) else kind for name, kind in rows}


def table_file(table: str) -> str:
    return "trades.csv" if table == "trades" else f"{table}.jsonl"


def picture_file(content_id: int, media_type: str) -> str:
    return f"pictures/{content_id}.{media_type.removeprefix('image/')}"


def encode_value(kind: str, value: Any) -> Any:
    """Return a stored value as the encoder of JSON takes it: amounts as numbers, bytes in hexadecimal."""
    if kind == "AMOUNT" and value is not None:
        return Raw(json_text(value).encode())
    return value.hex() if isinstance(value, bytes) else value


def decode_value(kind: str, value: Any) -> Any:
    """Return a value of JSON as it is stored. Raises ValueError if it is of another kind."""
    if value is None:
        return None
    if kind == "AMOUNT" and type(value) in (int, Decimal) and -MAX_STORED <= value <= MAX_STORED:
        units = EXACT.multiply(Decimal(value), SCALE)
        if units == int(units):
            return int(units)
    elif kind == "BLOB" and isinstance(value, str):
        return bytes.fromhex(value)
    elif type(value) is {"INTEGER": int, "TEXT": str}.get(kind):
        return value
    raise ValueError(f"{ascii(value)[:60]} is not {kind}")


def encode_cell(value: Any) -> str:
    """Return an encoded value as a cell. An empty cell is null, so an empty text is written as `""`."""
    if value is None:
        return ""
    is_plain = isinstance(value, str) and value[:1] not in ("", '"')
    return value if is_plain else json.encode(value).decode()


def decode_cell(kind: str, cell: str) -> Any:
    """Return the value of JSON that a cell stands for."""
    is_plain = kind in ("TEXT", "BLOB") and cell[:1] != '"'
    return None if not cell else cell if is_plain else decode_json(cell)
