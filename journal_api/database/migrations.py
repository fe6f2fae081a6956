"""Creates the database file from schema.sql, or migrates an existing file to the current schema version."""

import glob
import re
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import NamedTuple

from journal_api.database.backup import BUSY_TIMEOUT, Report, copy_checked, give_name, kept_path, sync, to_nobody
from journal_api.database.connections import connect
from journal_api.database.lock import without_server
from journal_api.database.schemas import VERSION, create_schema, require_schema, upgrade
from journal_api.errors import DatabaseRefused, NewerRelease, NoJournal
from journal_api.settings import Settings
from journal_api.values.clock import now

APPLICATION_ID = 0x4A524E4C  # "JRNL"
# The end of the name of a copy that was kept before a migration, with the schema that followed.
KEPT = re.compile(r"\.before-schema-([1-9][0-9]{0,3})-[0-9.TZ]+$")


class Prepared(NamedTuple):
    """What had to be done before the database could be opened; `migration` says it for people."""

    is_new: bool = False
    migration: str | None = None


# Yields the function that shows the share of a migration that is done.
Showing = Callable[[], AbstractContextManager[Report]]


def prepare(settings: Settings, *, creates: bool = True, showing: Showing = lambda: nullcontext(to_nobody)) -> Prepared:
    """Create or migrate the database at `settings.db`, so that it has the current version and an owner.

    Raises DatabaseRefused and leaves the file unchanged when it is not a journal or of a newer release; with
    `creates=False` also when there is no file, or an empty file.
    """
    path = settings.db
    try:
        if path.is_dir():
            raise DatabaseRefused("is a folder; name the file of the journal, such as journal.db in it")
        if not creates and (not path.exists() or path.stat().st_size == 0):
            raise DatabaseRefused(
                "there is no journal; `journal-api serve` creates one, and --db or JOURNAL_DB names another"
            )
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            path.touch(mode=0o600)
        with closing(connect(path, "ro")) as read_only, closing(connect(path, "rw", timeout=BUSY_TIMEOUT)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            # The last connection to close checkpoints the log into the file. A read-only connection cannot,
            # so a file that is refused stays unchanged.
            for connection in (db, read_only):
                connection.execute("PRAGMA data_version").fetchall()
            return create_or_migrate(db, settings, showing)
    except (OSError, sqlite3.Error, DatabaseRefused) as error:
        hint = describe_copy(path.resolve()) if isinstance(error, NewerRelease) else ""
        raise DatabaseRefused(f"{path}: {error}{hint}") from error


def describe_copy(file: Path) -> str:
    """Say where the journal is as it was before a newer release migrated it from a schema of this one."""
    copies = [
        (int(match[1]), path)
        for path in sorted(file.parent.glob(f"{glob.escape(file.name)}.before-schema-*Z"), reverse=True)
        if (match := KEPT.search(path.name)) and int(match[1]) > VERSION
    ]
    if not copies:
        return "; install the newer release again"
    _, copy = min(copies, key=lambda one: one[0])
    return f"; install the newer release again, or put {copy} in its place, which is from before the upgrade"


def create_or_migrate(db: sqlite3.Connection, settings: Settings, showing: Showing) -> Prepared:
    """Create or migrate the schema unless it is current. Raises DatabaseRefused while a server runs."""
    db.execute("BEGIN")
    version = read_known_version(db)
    db.execute("ROLLBACK")
    if version == VERSION:
        return Prepared()
    # A server of an older release would go on with its own schema.
    with without_server(settings.db) if version else nullcontext():
        return migrate(db, settings, showing)


def migrate(db: sqlite3.Connection, settings: Settings, showing: Showing) -> Prepared:
    """Create the schema in an empty file, or upgrade the file, in one transaction."""
    db.execute("PRAGMA foreign_keys = OFF")  # otherwise dropping a table for a rebuild deletes its child rows
    db.execute("BEGIN IMMEDIATE")
    copy: Path | None = None
    try:
        # Read again: another process may have migrated the file while this one waited for the lock.
        version = read_known_version(db)
        prepared = Prepared()
        if version == 0:
            create(db, settings)
            prepared = Prepared(is_new=True)
        elif version < VERSION:
            with showing() as report:
                copy = keep_copy(settings.db.resolve(), lambda share: report(share / 2))
                db.execute("PRAGMA trusted_schema = ON")  # it is a journal's; triggers fill the index of the search
                upgrade(db, version, lambda share: report((1 + share) / 2))
            migration = f"migrated from schema {version} to {VERSION}; the file as it was is {copy}"
            prepared = Prepared(migration=migration)
        if db.execute("PRAGMA foreign_key_check").fetchone():
            raise NoJournal("the database has rows with dangling references; nothing was changed")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
        return prepared
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
            if copy:
                copy.unlink()  # a service that starts again and again would fill the disk
        raise


def keep_copy(file: Path, report: Report) -> Path:
    """Back up the file beside itself, within the transaction, and return its path. Raises DatabaseRefused."""
    try:
        path = kept_path(file, f"schema-{VERSION}")
        with copy_checked(file, path, report=report) as copy:
            give_name(copy, path)
        sync(path.parent)
        return path
    except (OSError, sqlite3.Error, DatabaseRefused) as error:
        raise DatabaseRefused(
            f"it has to be migrated to schema {VERSION}, but the backup before the migration failed: {error}"
        ) from error


def read_known_version(db: sqlite3.Connection) -> int:
    """Return the version, 0 for an empty file. Raises DatabaseRefused for another schema. Call it in a transaction."""
    version = read_version(db)
    if version:
        require_schema(db, version)
    return version


def read_version(db: sqlite3.Connection) -> int:
    """Return the schema version of the file, 0 for an empty file. Raises DatabaseRefused for other files."""
    # One statement, so that all three values are read from one snapshot.
    application_id, version, has_tables = db.execute(
        """
        SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema)
        FROM pragma_application_id, pragma_user_version
        """
    ).fetchone()
    if (application_id, version, has_tables) == (0, 0, 0):
        return 0
    if application_id != APPLICATION_ID:
        raise NoJournal("this file is not a journal")
    if not 1 <= version <= VERSION:
        refusal = NewerRelease if version > VERSION else NoJournal
        raise refusal(f"this journal has schema {version} of another release; this release supports 1 to {VERSION}")
    return int(version)


def create(db: sqlite3.Connection, settings: Settings) -> None:
    create_schema(db)
    db.execute(
        """
        INSERT INTO users (name, timezone, day_rollover, created_at, updated_at)
        VALUES ('owner', :timezone, :day_rollover, :now, :now)
        """,
        {"timezone": settings.timezone, "day_rollover": settings.day_rollover, "now": now()},
    )
