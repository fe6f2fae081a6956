"""Database files: journals of older releases, damaged journals, and files that are something else."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from commands import change, make_journal, rows
from released_schemas import read_statements

from journal_api.database import migrations, schemas
from journal_api.settings import Settings

DATA = Path(__file__).parents[1] / "data"
APPLICATION_ID = 0x4A524E4C
NEWER = schemas.VERSION + 1
SEARCHED = 10  # the first schema with an index of the search
TRIGGER = "CREATE TRIGGER evil AFTER INSERT ON tag_categories BEGIN UPDATE users SET name = 'evil'; END"
LOOSE_ROW = "INSERT INTO tag_categories VALUES (1, 99, 'Psychology', 'psychology', '', '', 0)"
MANY_ROWS = """
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
    INSERT INTO tag_categories (user_id, name, sort_name, created_at, updated_at)
    SELECT 1, n, n, '', '' FROM numbers
"""
TEXT = b"Dear diary, today I bought the top.\n" * 100
OWN_TRIGGER = "trades_drop_answers_of_old_setup"

Write = Callable[[Path], object]


def prepare(db: Path) -> None:
    """Migrate the journal, or write a new one."""
    if db.exists():
        migrations.prepare(Settings(db=db))
    else:
        make_journal(db)


def write_released(db: Path, version: int) -> None:
    """The journal that the release with that schema left behind."""
    db.write_bytes(released_journal(version))


@cache
def released_journal(version: int) -> bytes:
    """The file of that journal. Its rows include what triggers added."""
    with closing(sqlite3.connect(":memory:")) as opened:
        schemas.create_tables(opened, version)
        # Version 7 changed a trigger alone, so its rows are those of version 6.
        opened.executescript((DATA / f"journal_{6 if version == 7 else version}.sql").read_text())
        opened.executescript("".join(read_statements(version)))
        if version >= SEARCHED:
            opened.execute("INSERT INTO search_index (search_index) VALUES ('rebuild')")
        opened.commit()
        opened.execute(f"PRAGMA user_version = {version}")
        return opened.serialize()


@cache
def large_journal() -> bytes:
    """A journal of 20,000 tag categories with a write-ahead log."""
    with TemporaryDirectory() as folder:
        db = Path(folder) / "journal.db"
        new_journal("PRAGMA journal_mode = WAL", MANY_ROWS)(db)
        return db.read_bytes()


def crash(db: Path, sql: str) -> None:
    """Run the statement, and leave the log and its index as a process that is killed leaves them."""
    aside = db.parent.with_name("aside")
    with closing(sqlite3.connect(db, isolation_level=None)) as opened:
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute(sql)
        shutil.copytree(db.parent, aside)
    shutil.rmtree(db.parent)
    aside.rename(db.parent)
    assert db.with_name(f"{db.name}-wal").stat().st_size > 0


def change_schema(db: Path, sql: str) -> None:
    """Run a statement that writes to sqlite_schema, as whoever forges a file may."""
    with closing(sqlite3.connect(db)) as opened, opened:
        opened.execute("PRAGMA writable_schema = ON")
        assert opened.execute(sql).rowcount == 1


def content(data: bytes) -> Write:
    return lambda db: db.write_bytes(data)


def in_turn(*writes: Write) -> Write:
    def write(db: Path) -> None:
        for one in writes:
            one(db)

    return write


def statements(*texts: str) -> Write:
    """Run these statements in the database, which is created if there is none."""
    return in_turn(*(partial(change, sql=text) for text in texts))


def new_journal(*texts: str) -> Write:
    return in_turn(prepare, statements(*texts))


def replace_in_schema(name: str, old: str, new: str) -> Write:
    old, new = (text.replace("'", "''") for text in (old, new))
    sql = f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'"
    return in_turn(prepare, partial(change_schema, sql=sql))


def damaged_journal(db: Path) -> None:
    prepare(db)
    pages = bytearray(db.read_bytes())
    pages[8192:] = b"\xff" * len(pages[8192:])
    db.write_bytes(pages)


def crashed_newer_journal(db: Path) -> None:
    """The last writes are in the log."""
    prepare(db)
    crash(db, f"PRAGMA user_version = {NEWER}")


def older_journal_with_a_trigger(db: Path) -> None:
    write_released(db, 1)
    change(db, TRIGGER)


def older_journal_with_a_changed_trigger(db: Path) -> None:
    write_released(db, 1)
    change_trigger = "UPDATE sqlite_schema SET sql = replace(sql, 'trade_id = new.id', 'trade_id')"
    change_schema(db, f"{change_trigger} WHERE name = '{OWN_TRIGGER}'")


def two_triggers_of_one_name(db: Path) -> None:
    prepare(db)
    change_schema(
        db,
        "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)"
        " SELECT type, name, tbl_name, 0, replace(sql, 'trade_id = new.id', 'trade_id')"
        f" FROM sqlite_schema WHERE name = '{OWN_TRIGGER}'",
    )


def forged_statistics(db: Path) -> None:
    new_journal("ANALYZE")(db)
    forged = "CREATE TABLE sqlite_stat1(tbl, idx, stat, evil)"
    change_schema(db, f"UPDATE sqlite_schema SET sql = '{forged}' WHERE name = 'sqlite_stat1'")


CHANGED = f"is not the one of schema {schemas.VERSION};"
OTHER_RELEASE, NO_JOURNAL = "of another release", "this file is not a journal"
TYPE_CHECK = "CHECK (type IN ('mistake', 'custom'))"
# Files that no release wrote, and what the refusal says about them.
FOREIGN_FILES: dict[str, tuple[Write, str]] = {
    "a text": (content(TEXT), "file is not a database"),
    "a short text": (content(b"hi\n"), "file is not a database"),
    "another database": (statements("CREATE TABLE notes (text TEXT)"), NO_JOURNAL),
    "another application": (new_journal("PRAGMA application_id = 7"), NO_JOURNAL),
    "only an application id": (statements("PRAGMA application_id = 7"), NO_JOURNAL),
    "only a version": (statements("PRAGMA user_version = 3"), NO_JOURNAL),
    "a newer journal": (new_journal(f"PRAGMA user_version = {NEWER}"), f"schema {NEWER} {OTHER_RELEASE}"),
    "a newer journal with a log": (
        new_journal("PRAGMA journal_mode = WAL", f"PRAGMA user_version = {NEWER}"),
        OTHER_RELEASE,
    ),
    "a newer journal after a crash": (crashed_newer_journal, OTHER_RELEASE),
    "a version below all": (new_journal("PRAGMA user_version = -1"), OTHER_RELEASE),
    "half a journal": (new_journal("PRAGMA user_version = 0"), OTHER_RELEASE),
    "a damaged journal": (damaged_journal, "malformed"),
    "only the two numbers": (
        statements(
            f"PRAGMA application_id = {APPLICATION_ID}",
            f"PRAGMA user_version = {schemas.VERSION}",
            "CREATE TABLE notes (text TEXT)",
        ),
        "table notes does not belong to it (and ",
    ),
    "an added trigger": (new_journal(TRIGGER), "trigger evil on tag_categories does not belong to it;"),
    "an added trigger in an older journal": (
        older_journal_with_a_trigger,
        "trigger evil on tag_categories does not belong to it;",
    ),
    "a changed trigger in an older journal": (
        older_journal_with_a_changed_trigger,
        f"trigger {OWN_TRIGGER} on trades is not the one of schema 1;",
    ),
    "a trigger on a table of Litestream": (
        new_journal(
            "CREATE TABLE _litestream_lock (id INTEGER)",
            "CREATE TRIGGER evil AFTER INSERT ON _litestream_lock BEGIN DELETE FROM trades; END",
        ),
        "trigger evil on _litestream_lock does not belong to it",
    ),
    "an added view": (new_journal("CREATE VIEW evil AS SELECT * FROM api_keys"), "view evil does not belong"),
    "an added table whose name acts on terminals": (
        new_journal('CREATE TABLE "\x1b]0;pwn\a" (text)'),
        r"table \x1b]0;pwn\x07 does not belong to it",
    ),
    "an added trigger and a missing index": (
        new_journal(TRIGGER, "DROP INDEX tags_of_category"),
        "trigger evil on tag_categories does not belong to it (and 1 more);",
    ),
    "a missing index": (new_journal("DROP INDEX tags_of_category"), "tags_of_category on tags is missing;"),
    "an added column": (new_journal("ALTER TABLE tags ADD COLUMN evil TEXT"), f"table tags {CHANGED}"),
    "a changed trigger": (replace_in_schema(OWN_TRIGGER, "trade_id = new.id", "trade_id"), CHANGED),
    "a check that is a comment": (replace_in_schema("tags", TYPE_CHECK, f"/* {TYPE_CHECK} */"), CHANGED),
    "a NULL that is a name": (replace_in_schema("users", "IS NULL", 'IS "NULL"'), CHANGED),
    "two triggers of one name": (two_triggers_of_one_name, "already exists"),
    "a table with the name of statistics": (forged_statistics, "table sqlite_stat1 does not belong to it"),
}


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def stored(folder: Path) -> dict[str, bytes]:
    """The content of every file that has any; the index of a log holds no data."""
    contents = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}
    return {name: content for name, content in contents.items() if content}


def assert_sound(db: Path) -> None:
    """Every page and every reference of the journal is as SQLite wants it."""
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]
    assert rows(db, "PRAGMA foreign_key_check") == []
