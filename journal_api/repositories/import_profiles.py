"""SQL of import profiles, which are stored as JSON."""

from aiosqlite import Connection
from msgspec import json

from journal_api.database.sql import Table, fetch, fetch_column, insert_row
from journal_api.errors import LimitReached
from journal_api.structs.import_profiles import ImportProfile, ImportProfileCreate
from journal_api.values.types import decode_value

# Every import compares its header with all of them.
MAX_PROFILES = 100
TABLE = Table("import_profiles", ImportProfile)
TABLE.object = "json_set(profile, '$.id', id, '$.created_at', created_at, '$.updated_at', updated_at)"
list_of_user, get, delete = TABLE.list_of_user, TABLE.get, TABLE.delete


async def read_profiles(db: Connection, user_id: int) -> list[ImportProfileCreate]:
    """Return the import profiles as structs, sorted by name."""
    select = "SELECT profile FROM import_profiles WHERE user_id = :user_id ORDER BY sort_name, id"
    profiles = await fetch_column(db, select, {"user_id": user_id})
    return [json.decode(profile, type=ImportProfileCreate, dec_hook=decode_value) for profile in profiles]


async def insert(db: Connection, user_id: int, profile: ImportProfileCreate) -> int:
    """Return the new id. Raises DuplicateName, or LimitReached beyond MAX_PROFILES."""
    stored = await fetch(db, "SELECT count(*) FROM import_profiles WHERE user_id = :user_id", {"user_id": user_id})
    if stored >= MAX_PROFILES:
        raise LimitReached(f"There are {MAX_PROFILES} import profiles already; delete one.")
    text = json.encode(profile, enc_hook=str).decode()
    return await insert_row(db, "import_profiles", {"user_id": user_id, "name": profile.name, "profile": text})
