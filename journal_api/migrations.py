"""The database file: made from schema.sql when new, checked and brought up to date when not."""

import sqlite3
from contextlib import closing
from pathlib import Path

from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings
from journal_api.values import now

APPLICATION_ID = 0x4A524E4C  # "JRNL"
# The SQL that leads from version n to n + 1 stands at index n - 1.
MIGRATIONS: tuple[str, ...] = ()
VERSION = 1 + len(MIGRATIONS)


def prepare(settings: Settings) -> None:
    """Leave a database of the current version at `settings.db`, with at least its owner.

    Raises DatabaseRefused, the file untouched, when it belongs to something else or to a newer release.
    """
    path = settings.db
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            path.touch(mode=0o600)
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as witness,
            closing(sqlite3.connect(path, isolation_level=None)) as db,
        ):
            db.execute("PRAGMA busy_timeout = 10000")
            # The last to close would fold the log into the file, but one that only reads cannot: so a file
            # that is refused stays as it is.
            for connection in (db, witness):
                connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
            bring_up_to_date(db, settings)
    except (OSError, sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(f"{path}: {error}") from error


def bring_up_to_date(db: sqlite3.Connection, settings: Settings) -> None:
    if version_of(db) == VERSION:
        return
    db.execute("PRAGMA foreign_keys = OFF")  # rebuilding a table would delete its children
    db.execute("BEGIN IMMEDIATE")
    try:
        # Asked again: another process may have done it while this one waited for the lock.
        version = version_of(db)
        if version == 0:
            create(db, settings)
        for script in MIGRATIONS[max(version, 1) - 1 :]:
            run(db, script)
        if db.execute("PRAGMA foreign_key_check").fetchone():
            raise DatabaseRefused("the database holds rows that point nowhere; nothing was changed")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def version_of(db: sqlite3.Connection) -> int:
    """The schema version of the file, 0 for an empty one; raises DatabaseRefused for a foreign one."""
    # In one statement, so that all three are of one moment.
    application_id, version, has_tables = db.execute(
        """
        SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema)
        FROM pragma_application_id, pragma_user_version
        """
    ).fetchone()
    if (application_id, version, has_tables) == (0, 0, 0):
        return 0
    if application_id != APPLICATION_ID:
        raise DatabaseRefused("this file is not a journal")
    if not 1 <= version <= VERSION:
        raise DatabaseRefused(
            f"this journal has schema {version}, written by another release; this one knows 1 to {VERSION}"
        )
    return int(version)


def create(db: sqlite3.Connection, settings: Settings) -> None:
    run(db, schema())
    db.execute(
        """
        INSERT INTO users (name, timezone, day_rollover, created_at, updated_at)
        VALUES ('owner', :timezone, :day_rollover, :now, :now)
        """,
        {"timezone": settings.timezone, "day_rollover": settings.day_rollover, "now": now()},
    )


def run(db: sqlite3.Connection, script: str) -> None:
    """Run every statement of a script in the open transaction (`executescript` would commit it first)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def schema() -> str:
    """schema.sql: beside the package in a checkout, inside it once installed."""
    package = Path(__file__).parent
    inside = package / "schema.sql"
    return (inside if inside.exists() else package.parent / "schema.sql").read_text(encoding="utf-8")
