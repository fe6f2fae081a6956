"""The schema of every version, and the differences of a file's schema from it."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from journal_api.database import triggers, version_12
from journal_api.database.sqlite_errors import primary_code
from journal_api.errors import NoJournal
from journal_api.values.instruments import canonical_symbol, contract_root

VERSION = 13
# to_<n>.sql migrates the tables of version n - 1 and their rows to version n.
SCRIPTS = Path(__file__).parent / "migration_scripts"
# The tables whose rows triggers derive from other tables.
FOLLOWING_TABLES = ("trade_counts", "search_documents")
# The objects of released schemas that no script makes: first and last version, type, name, table, hash.
RELEASED = Path(__file__).parent / "released_objects.txt"
# A statement that makes what has no rows of its own, after comments.
DERIVED = re.compile(r"(?:\s|--[^\n]*\n)*CREATE (?:UNIQUE INDEX|INDEX|VIEW|TRIGGER|VIRTUAL TABLE)\b")
# Comments and white space are skipped, because they do not change the meaning of SQL. The pattern matches
# bytes, as SQLite does: all bytes beyond ASCII are part of names.
TOKEN = re.compile(
    rb"""
    --[^\n]* | /\*.*?(?:\*/|\Z) | [ \t\n\f\r]+
    | ( '(?:[^']|'')*' | "(?:[^"]|"")*" | [\w$\x80-\xff]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
# The tables that PRAGMA optimize and ANALYZE add to a database, and the tables of Litestream, which replicates it.
# A table without a trigger does not change what a write does.
ADDED_TABLES = {
    b"sqlite_stat1": b"CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    b"sqlite_stat4": b"CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    b"_litestream_seq": b"CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
    b"_litestream_lock": b"CREATE TABLE _litestream_lock (id INTEGER)",
}
HASH = 16  # digits of a hash
MAX_NAME_LENGTH = 60  # characters of a name in a message

Key = tuple[bytes, bytes, bytes]  # the type of an object, its name, its table
# The SQL of each object, empty for the index of a constraint, or the hash of its tokens.
Objects = Mapping[Key, bytes]


def read_schema() -> str:
    """Return schema.sql, the current schema but for the triggers of one shape."""
    package = Path(__file__).parent.parent
    # In a checkout schema.sql is beside the package, once installed it is inside.
    installed = package / "schema.sql"
    return (installed if installed.exists() else package.parent / "schema.sql").read_text(encoding="utf-8")


def read_scripts(first: int, last: int) -> list[str]:
    """Return the migration scripts to the versions from `first` to `last`; to_1.sql needs an empty file."""
    return [(SCRIPTS / f"to_{version}.sql").read_text(encoding="utf-8") for version in range(first, last + 1)]


def create_schema(db: sqlite3.Connection) -> None:
    run_script(db, read_schema())
    for statement in triggers.list_statements():
        db.execute(statement)


def create_tables(db: sqlite3.Connection, version: int) -> None:
    """Create the tables of a version in an empty database, and nothing else, in the open transaction."""
    if version == VERSION:
        run_script(db, "".join(one for one in split_statements(read_schema()) if not DERIVED.match(one)))
        return
    for script in read_scripts(1, version):
        run_script(db, script)


def upgrade(db: sqlite3.Connection, version: int, report: Callable[[float], None] = lambda _: None) -> None:
    """Give the tables of a version the current schema, in the open transaction.

    Migration scripts see tables and rows alone. What has no rows of its own is dropped before them, and made
    from the current schema after them, with the rows that follow from others.
    """
    drop_derived(db)
    for script in read_scripts(version + 1, VERSION):
        run_script(db, script)
    for table in FOLLOWING_TABLES:
        db.execute(f"DELETE FROM {table}")
    derived = filter(DERIVED.match, split_statements(read_schema()))
    statements = [*derived, *triggers.list_statements(), *triggers.list_fills()]
    for number, statement in enumerate(statements, 1):
        db.execute(statement)
        report(number / len(statements))


def drop_derived(db: sqlite3.Connection) -> None:
    """Drop all triggers, views and indexes, and the index of the search with its tables."""
    derived = db.execute(
        """
        SELECT type, name
        FROM sqlite_schema
        WHERE type IN ('trigger', 'view')
           OR (type = 'index' AND sql IS NOT NULL)
           OR sql LIKE 'CREATE VIRTUAL %'
        ORDER BY type = 'trigger' DESC
        """
    ).fetchall()
    for kind, name in derived:
        try:
            db.execute(f"DROP {kind} {name}")
        except sqlite3.DatabaseError as error:
            # A full disk or a lock is no damage, and may have ended the transaction.
            is_damaged = primary_code(error) in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT)
            if kind != "table" or not is_damaged or not db.in_transaction:
                raise
            drop_damaged_index(db, name)


def drop_damaged_index(db: sqlite3.Connection, name: str) -> None:
    """Drop an index of texts that FTS5 cannot open any more, and the tables that it is stored in."""
    db.execute("PRAGMA writable_schema = ON")
    db.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
    db.execute("PRAGMA writable_schema = RESET")
    for part in ("data", "idx", "content", "docsize", "config"):
        db.execute(f"DROP TABLE IF EXISTS {name}_{part}")


def run_script(db: sqlite3.Connection, script: str) -> None:
    """Execute all statements of a script in the open transaction (`executescript` would commit it first)."""
    db.create_function("canonical_symbol", 2, canonical_symbol, deterministic=True)
    db.create_function("contract_root", 1, contract_root, deterministic=True)
    for function in (version_12.edited_columns, version_12.edited_of_whole, version_12.state_parts):
        db.create_function(function.__name__, -1, function, deterministic=True)
    for statement in split_statements(script):
        db.execute(statement)


def split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, each with the comments before it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def require_schema(db: sqlite3.Connection, version: int) -> None:
    """Raise NoJournal unless the schema is exactly the version's: a foreign trigger would run with every write."""
    found = find_differences(db, version)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise NoJournal(
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
        if key in actual and differs(key, sql, actual[key])
    ]
    return added + missing + changed


def differs(key: Key, expected: bytes, actual: bytes) -> bool:
    """Return whether an object has other tokens than the expected statement, or the statement of the expected hash."""
    return actual != expected and hash_tokens(key, actual) not in (expected, hash_tokens(key, expected))


@lru_cache
def build_objects(version: int) -> Objects:
    """Return the objects of a version; what no script makes of an older one has a hash in place of SQL."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute("BEGIN")
        if version == VERSION:
            create_schema(db)
            return read_objects(db)
        create_tables(db, version)
        return {**read_released(version), **read_objects(db)}


def read_released(version: int) -> Objects:
    """Return the hashes of the objects of a released version that no script makes."""
    lines = [line.split() for line in RELEASED.read_bytes().splitlines()]
    return {
        (kind, name, table): hashed
        for first, last, kind, name, table, hashed in lines
        if int(first) <= version <= int(last)
    }


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


def hash_tokens(key: Key, sql: bytes) -> bytes:
    """Return the hash of a statement's tokens, without the quotes that SQLite adds to a renamed table."""
    _, name, _ = key
    unquoted = sql.replace(b'CREATE TABLE "%b"' % name, b"CREATE TABLE %b" % name, 1)
    tokens = [token for token in TOKEN.findall(unquoted) if token]
    return sha256(repr(tokens).encode()).hexdigest()[:HASH].encode()


def format_name(key: Key) -> str:
    """Return the name of an object for a message, without characters that act on a terminal."""
    kind, name, table = (ascii(part.decode(errors="replace")[:MAX_NAME_LENGTH])[1:-1] for part in key)
    return f"{kind} {name}" if table == name else f"{kind} {name} on {table}"
