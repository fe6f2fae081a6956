"""The schema of every version, and how that of a file differs from it."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from journal_api.errors import DatabaseRefused

# What SQL means does not depend on comments and white space. Bytes, because SQLite reads bytes, too: all that
# are not ASCII belong to names.
TOKEN = re.compile(
    rb"""
    --[^\n]* | /\*.*?(?:\*/|\Z) | [ \t\n\f\r]+
    | ( '(?:[^']|'')*' | "(?:[^"]|"")*" | [\w$\x80-\xff]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
# What PRAGMA optimize and ANALYZE add to any database.
STATISTICS = {
    b"sqlite_stat1": b"CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    b"sqlite_stat4": b"CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
LONGEST_NAME = 60  # characters of a name that is told

Key = tuple[bytes, bytes, bytes]  # the kind of an object, its name, the table that it belongs to
# And its SQL, empty for an index that a constraint makes; two only in a file that somebody made up.
Objects = Mapping[Key, Sequence[bytes]]


def schema(version: int | None = None) -> str:
    """schema.sql, or the script that an earlier version was made with."""
    earlier = Path(__file__).parent / "earlier_schemas" / f"{version}.sql"
    if version is not None and earlier.exists():
        return earlier.read_text(encoding="utf-8")
    package = Path(__file__).parent.parent
    # Beside the package in a checkout, inside it once installed.
    inside = package / "schema.sql"
    return (inside if inside.exists() else package.parent / "schema.sql").read_text(encoding="utf-8")


def run(db: sqlite3.Connection, script: str) -> None:
    """Run every statement of a script in the open transaction (`executescript` would commit it first)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def require_schema(db: sqlite3.Connection, version: int) -> None:
    """Raises DatabaseRefused unless the schema of the file is exactly that of the version.

    A trigger of somebody else's would run with every write. Nothing of the file runs for this question.
    """
    found = differences(db, version)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise DatabaseRefused(
            f"this file does not have the schema of a journal: {found[0]}{more}; "
            "`journal-api check` lists what differs; drop what was added, or restore a backup"
        )


def differences(db: sqlite3.Connection, version: int) -> list[str]:
    """What the file has beyond the schema of that version, what it lacks and what it has otherwise."""
    expected, found = objects_of_version(version), objects_in(db)
    strange = [f"{told(key)} does not belong to it" for key in found if key not in expected]
    missing = [f"{told(key)} is missing" for key in expected if key not in found]
    changed = [
        f"{told(key)} is not the one of schema {version}"
        for key, sql in expected.items()
        if key in found and sql != found[key] and meaning(key, sql) != meaning(key, found[key])
    ]
    return strange + missing + changed


@lru_cache
def objects_of_version(version: int) -> Objects:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute("BEGIN")
        run(db, schema(version))
        return objects_in(db)


def objects_in(db: sqlite3.Connection) -> Objects:
    """All that stands in the schema but SQLite's own statistics; every value as the bytes of its text."""
    rows = db.execute(
        """
        SELECT coalesce(CAST(type AS BLOB), x''), coalesce(CAST(name AS BLOB), x''),
          coalesce(CAST(tbl_name AS BLOB), x''), coalesce(CAST(sql AS BLOB), x'')
        FROM sqlite_schema
        ORDER BY type = 'trigger' DESC, type, name
        """
    )
    found: dict[Key, list[bytes]] = {}
    for kind, name, table, sql in rows:
        if STATISTICS.get(name) != sql:
            found.setdefault((kind, name, table), []).append(sql)
    return found


def meaning(key: Key, found: Sequence[bytes]) -> list[list[bytes]]:
    """The words and signs of the SQL. A table that was renamed has its name in quotes, once."""
    _, name, _ = key
    plain = (sql.replace(b'CREATE TABLE "%b"' % name, b"CREATE TABLE %b" % name, 1) for sql in found)
    return [[token for token in TOKEN.findall(sql) if token] for sql in plain]


def told(key: Key) -> str:
    """What a message calls the object. Its names may be anybody's, so nothing of them acts on a terminal."""
    kind, name, table = (ascii(part.decode(errors="replace")[:LONGEST_NAME])[1:-1] for part in key)
    return f"{kind} {name}" if table == name else f"{kind} {name} on {table}"
