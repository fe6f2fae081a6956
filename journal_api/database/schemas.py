"""The schema of every version, and the differences of a file's schema from it."""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from journal_api.errors import DatabaseRefused
from journal_api.values.instruments import canonical_symbol, contract_root

VERSION = 10
# to_<n>.sql migrates a database of version n - 1 to version n. Released scripts are never changed.
SCRIPTS = Path(__file__).parent / "migration_scripts"
# Comments and white space are skipped, because they do not change the meaning of SQL. The pattern matches
# bytes, as SQLite does: all bytes beyond ASCII are part of names.
TOKEN = re.compile(
    rb"""
    --[^\n]* | /\*.*?(?:\*/|\Z) | [ \t\n\f\r]+
    | ( '(?:[^']|'')*' | "(?:[^"]|"")*" | [\w$\x80-\xff]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
# The tables that PRAGMA optimize and ANALYZE add to a database, and those of Litestream, which replicates it.
# A table without a trigger does not change what a write does.
ADDED_TABLES = {
    b"sqlite_stat1": b"CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    b"sqlite_stat4": b"CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    b"_litestream_seq": b"CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
    b"_litestream_lock": b"CREATE TABLE _litestream_lock (id INTEGER)",
}
MAX_NAME_LENGTH = 60  # characters of a name in a message

Key = tuple[bytes, bytes, bytes]  # the type of an object, its name, its table
Objects = Mapping[Key, bytes]  # the SQL of each object, empty for the index of a constraint


def read_schema() -> str:
    """Return schema.sql, the schema of the current version."""
    package = Path(__file__).parent.parent
    # In a checkout schema.sql is beside the package, once installed it is inside.
    installed = package / "schema.sql"
    return (installed if installed.exists() else package.parent / "schema.sql").read_text(encoding="utf-8")


def read_scripts(first: int, last: int) -> list[str]:
    """Return the migration scripts from the version before `first`, 0 for an empty file, to the last version.

    They are the only record of earlier schemas.
    """
    return [(SCRIPTS / f"to_{version}.sql").read_text(encoding="utf-8") for version in range(first, last + 1)]


def run_script(db: sqlite3.Connection, script: str) -> None:
    """Execute all statements of a script in the open transaction (`executescript` would commit it first)."""
    db.create_function("canonical_symbol", 2, canonical_symbol, deterministic=True)
    db.create_function("contract_root", 1, contract_root, deterministic=True)
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def require_schema(db: sqlite3.Connection, version: int) -> None:
    """Raise DatabaseRefused unless the schema of the file is exactly that of the version.

    A foreign trigger would run with every write. This check executes no SQL of the file.
    """
    found = find_differences(db, version)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise DatabaseRefused(
            f"this file does not have the schema of a journal: {found[0]}{more}; "
            "`journal-api check` lists the differences; drop the added objects, or restore a backup"
        )


def find_differences(db: sqlite3.Connection, version: int) -> list[str]:
    """Return a message for each added, missing and changed object of the schema."""
    expected, actual = build_objects(version), read_objects(db)
    added = [f"{format_name(key)} does not belong to it" for key in actual if key not in expected]
    missing = [f"{format_name(key)} is missing" for key in expected if key not in actual]
    changed = [
        f"{format_name(key)} is not the one of schema {version}"
        for key, sql in expected.items()
        if key in actual and sql != actual[key] and split_tokens(key, sql) != split_tokens(key, actual[key])
    ]
    return added + missing + changed


@lru_cache
def build_objects(version: int) -> Objects:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute("BEGIN")
        for script in [read_schema()] if version == VERSION else read_scripts(1, version):
            run_script(db, script)
        return read_objects(db)


def read_objects(db: sqlite3.Connection) -> Objects:
    """Return all objects of the schema except ADDED_TABLES, every value as bytes."""
    rows = db.execute(
        """
        SELECT coalesce(CAST(type AS BLOB), x''), coalesce(CAST(name AS BLOB), x''),
          coalesce(CAST(tbl_name AS BLOB), x''), coalesce(CAST(sql AS BLOB), x'')
        FROM sqlite_schema
        ORDER BY type = 'trigger' DESC, type, name
        """
    )
    return {(kind, name, table): sql for kind, name, table, sql in rows if ADDED_TABLES.get(name) != sql}


def split_tokens(key: Key, sql: bytes) -> list[bytes]:
    """Return the tokens of a statement. The quotes that SQLite adds to a renamed table are removed."""
    _, name, _ = key
    unquoted = sql.replace(b'CREATE TABLE "%b"' % name, b"CREATE TABLE %b" % name, 1)
    return [token for token in TOKEN.findall(unquoted) if token]


def format_name(key: Key) -> str:
    """Return the name of an object for a message, without characters that act on a terminal."""
    kind, name, table = (ascii(part.decode(errors="replace")[:MAX_NAME_LENGTH])[1:-1] for part in key)
    return f"{kind} {name}" if table == name else f"{kind} {name} on {table}"
