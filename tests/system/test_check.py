"""`journal-api check`: what it says of a database, and that it changes nothing."""

import os
import shutil
import signal
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from commands import Ran, change, command, done, new_key, refused, rows, running
from factories import unwrap
from test_migrations import EVIL, write_released

from journal_api.database import check as database_check
from journal_api.database.schemas import VERSION

CHECKS = ("database", "permissions", "disk", "SQLite", "write-ahead", "server", "schema")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A database in a folder of its own, as the command makes it, with a key in it."""
    db = tmp_path / "data" / "journal.db"
    new_key(db)
    return db


def check(db: Path, *options: str) -> Ran:
    ran = command("check", "--db", db, *options)
    assert ran.err == ""
    return ran


def line_about(ran: Ran, check: str) -> str:
    """The one line of the report about that."""
    (line,) = (line for line in ran.out.splitlines() if line[6:].startswith(check))
    return line


def contents(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file: its bytes, its mode, and when it was written."""
    return {
        file.name: (file.read_bytes(), file.stat().st_mode, file.stat().st_mtime_ns)
        for file in folder.iterdir()
    }


# What is fine ------------------------------------------------------------------------------------------


def test_of_a_fine_database_every_line_says_ok_and_the_exit_code_is_0(db: Path) -> None:
    ran = check(db)

    assert ran.code == 0
    lines = ran.out.splitlines()
    assert all(line.startswith("ok    ") for line in lines)
    assert [line.split()[1].rstrip(":") for line in lines] == [*CHECKS, "quick_check", "foreign_key_check"]


def test_the_report_names_the_file_its_size_and_the_versions(db: Path) -> None:
    ran = check(db)

    assert line_about(ran, "database") == f"ok    database {db}, {db.stat().st_size / 10**6:.1f} MB"
    assert line_about(ran, "schema") == f"ok    schema {VERSION} of {VERSION}"
    assert line_about(ran, "SQLite") == f"ok    SQLite {sqlite3.sqlite_version}"


def test_with_full_the_whole_integrity_check_takes_the_place_of_the_quick_one(db: Path) -> None:
    ran = check(db, "--full")

    assert ran.code == 0
    assert line_about(ran, "integrity_check") == "ok    integrity_check"
    assert "quick_check" not in ran.out


def test_the_variable_says_which_database(db: Path) -> None:
    told = done("check", settings={"JOURNAL_DB": str(db)})

    assert f"database {db}," in told


# Beside a server ---------------------------------------------------------------------------------------


def test_beside_a_running_server_all_is_fine_and_the_server_goes_on(db: Path) -> None:
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        unwrap(client.post("/tag-categories", json={"name": "Before"}))
        ran = check(db)
        unwrap(client.post("/tag-categories", json={"name": "After"}))
        code = server.stop()

    assert ran.code == 0
    assert line_about(ran, "server") == "ok    server: one is running"
    assert code == 0
    assert rows(db, "SELECT name FROM tag_categories ORDER BY id") == [("Before",), ("After",)]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_server_that_has_ended_is_not_told_as_running(db: Path, how: signal.Signals) -> None:
    with running(db) as server:
        server.stop(how)

    ran = check(db)

    assert ran.code == 0
    assert line_about(ran, "server") == "ok    server: none is running"


def test_by_a_link_the_server_of_the_file_is_found(db: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(db)
    with running(db):
        ran = check(link)

    assert ran.code == 0
    assert line_about(ran, "server") == "ok    server: one is running"
    assert line_about(ran, "permissions") == "ok    permissions: file 0600, folder 0700"


def test_a_server_starts_right_after_a_check(db: Path) -> None:
    with running(db):
        pass
    check(db)

    with running(db) as server:
        code = server.stop()

    assert code == 0


# Nothing is changed ------------------------------------------------------------------------------------


def at_rest(db: Path) -> None:
    """As a command leaves it."""


def after_a_crash(db: Path) -> None:
    """With the log and its index, as a process that is killed leaves them."""
    aside = db.parent.with_name("aside")
    with closing(sqlite3.connect(db, isolation_level=None)) as opened:
        opened.execute("UPDATE users SET name = 'in the log'")
        shutil.copytree(db.parent, aside)
    shutil.rmtree(db.parent)
    aside.rename(db.parent)
    assert db.with_name("journal.db-wal").stat().st_size > 0


def copied_after_a_crash(db: Path) -> None:
    """With the log, but without the index of it."""
    after_a_crash(db)
    db.with_name("journal.db-shm").unlink()


def never_served(db: Path) -> None:
    """With a rollback journal in place of the log."""
    change(db, "PRAGMA journal_mode = DELETE")


def of_an_older_release(db: Path) -> None:
    db.unlink()
    write_released(db, 1)
    db.chmod(0o600)


def empty(db: Path) -> None:
    db.write_bytes(b"")


@pytest.mark.parametrize(
    "state", [at_rest, after_a_crash, copied_after_a_crash, never_served, of_an_older_release, empty]
)
def test_a_check_leaves_every_file_as_it_was(db: Path, state: Callable[[Path], None]) -> None:
    state(db)
    before = contents(db.parent)

    check(db)
    check(db, "--full")

    after = contents(db.parent)
    # The index of a log is nobody's data: every reader writes in it.
    for files in (before, after):
        files.pop("journal.db-shm", None)
    assert after == before


def test_a_database_that_is_missing_is_told_and_not_made(tmp_path: Path) -> None:
    db = tmp_path / "folder" / "journal.db"

    line = refused("check", "--db", db)

    assert line == f"journal-api: {db}: no such database"
    assert list(tmp_path.iterdir()) == []


def test_an_older_schema_is_a_warning_and_is_not_migrated(db: Path) -> None:
    of_an_older_release(db)

    ran = check(db)

    assert ran.code == 0
    assert line_about(ran, "schema").startswith(f"warn  schema 1 of {VERSION}: ")
    assert rows(db, "PRAGMA user_version") == [(1,)]


@pytest.mark.parametrize("seen", ["what was there", "an error"])
def test_a_file_that_someone_writes_amid_the_reading_is_read_again(db: Path, seen: str) -> None:
    def name_of_owner(opened: sqlite3.Connection) -> str:
        ((name,),) = opened.execute("SELECT name FROM users").fetchall()
        if name == "owner":
            change(db, "UPDATE users SET name = 'renamed'")
            if seen == "an error":
                raise sqlite3.DatabaseError("pages of two moments")
        return str(name)

    told = database_check.query(db, name_of_owner)

    assert told == "renamed"


def test_an_error_of_a_file_that_nobody_writes_is_an_error(db: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        database_check.query(db, lambda opened: opened.execute("SELECT * FROM missing"))

    assert [file.name for file in db.parent.iterdir()] == ["journal.db"]


# What is wrong -----------------------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Bought the break of the high.\n" * 100)

    line = refused("check", "--db", file)

    assert line == f"journal-api: {file}: file is not a database"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    line = refused("check", "--db", tmp_path)

    assert line.startswith(f"journal-api: {tmp_path}: ")


def test_a_database_of_something_else_is_refused_in_one_line(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    change(other, "CREATE TABLE bookmarks (url TEXT)")
    before = contents(tmp_path)

    line = refused("check", "--db", other)

    assert line == f"journal-api: {other}: this file is not a journal"
    assert contents(tmp_path) == before


def test_a_journal_of_a_newer_release_is_refused_in_one_line(db: Path) -> None:
    change(db, f"PRAGMA user_version = {VERSION + 1}")

    line = refused("check", "--db", db)

    assert f"schema {VERSION + 1}" in line


def test_an_empty_file_is_no_journal_yet(db: Path) -> None:
    empty(db)

    ran = check(db)

    assert ran.code == 1
    assert line_about(ran, "schema") == f"wrong schema 0 of {VERSION}: the file is empty"


def test_rows_that_point_nowhere_are_counted_and_their_tables_named(db: Path) -> None:
    change(db, "UPDATE api_keys SET user_id = 99")

    ran = check(db)

    assert ran.code == 1
    assert line_about(ran, "foreign_key_check") == (
        "wrong foreign_key_check: rows with dangling references: 1, in api_keys"
    )
    assert line_about(ran, "quick_check") == "ok    quick_check"


def test_what_is_not_in_the_schema_is_named_and_nothing_of_it_runs(db: Path) -> None:
    change(db, EVIL)
    change(db, "DROP INDEX tags_of_category")
    before = contents(db.parent)

    ran = check(db, "--full")

    assert ran.code == 1
    assert line_about(ran, "schema") == (
        f"wrong schema {VERSION} of {VERSION}: trigger evil on tag_categories does not belong to it; "
        "index tags_of_category on tags is missing"
    )
    assert contents(db.parent) == before


@pytest.mark.parametrize("by", ["its name", "a link"])
def test_what_stands_in_the_log_alone_is_checked_too(db: Path, tmp_path: Path, by: str) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(db)
    with closing(sqlite3.connect(db, isolation_level=None)) as opened:
        opened.execute("UPDATE api_keys SET user_id = 99")

        ran = check(link if by == "a link" else db)

        assert db.with_name("journal.db-wal").stat().st_size > 0
    assert ran.code == 1
    assert line_about(ran, "foreign_key_check").startswith("wrong ")


def test_pages_that_were_overwritten_are_found_and_the_other_checks_still_made(db: Path) -> None:
    ((page, size),) = rows(
        db,
        "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'api_keys'",
    )
    with db.open("r+b") as file:  # no connection is open
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)

    ran = check(db)

    assert ran.code == 1
    assert line_about(ran, "quick_check").startswith("wrong quick_check: ")
    assert line_about(ran, "foreign_key_check").startswith("wrong foreign_key_check: ")
    assert [line.split()[1].rstrip(":") for line in ran.out.splitlines()][:7] == list(CHECKS)


def test_an_index_without_some_of_its_rows_is_found_by_the_full_check_alone(db: Path) -> None:
    with closing(sqlite3.connect(db, isolation_level=None)) as opened:
        index = "tag_categories_in_order"
        stored = opened.execute("SELECT * FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
    # While the index is not known.
    change(db, "INSERT INTO tag_categories VALUES (1, 1, 'Psychology', 'psychology', '', '')")
    with closing(sqlite3.connect(db, isolation_level=None)) as opened:
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", stored)

    quick, full = check(db), check(db, "--full")

    assert (quick.code, full.code) == (0, 1)
    assert f"missing from index {index}" in line_about(full, "integrity_check")


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
@pytest.mark.parametrize(
    ("file_mode", "folder_mode"), [(0o644, 0o700), (0o600, 0o755), (0o660, 0o770), (0o606, 0o700)]
)
def test_modes_that_let_others_in_are_a_warning(db: Path, file_mode: int, folder_mode: int) -> None:
    db.chmod(file_mode)
    db.parent.chmod(folder_mode)

    ran = check(db)

    assert ran.code == 0
    told = f"warn  permissions: file {file_mode:04o}, folder {folder_mode:04o}; "
    assert line_about(ran, "permissions").startswith(told)
    assert stat.S_IMODE(db.stat().st_mode) == file_mode


@pytest.fixture
def closed_folder(db: Path) -> Iterator[Path]:
    """The folder of the database, which nobody may write in."""
    db.parent.chmod(0o500)
    if os.access(db.parent, os.W_OK):
        pytest.skip("this user may write everywhere")
    yield db.parent
    db.parent.chmod(0o700)


def test_a_file_in_a_folder_that_cannot_be_written_is_wrong_but_is_read(
    db: Path, closed_folder: Path
) -> None:
    ran = check(db)

    assert ran.code == 1
    assert line_about(ran, "permissions").startswith("wrong ")
    assert line_about(ran, "write-ahead log").startswith("wrong ")
    assert line_about(ran, "quick_check") == "ok    quick_check"
    assert [file.name for file in closed_folder.iterdir()] == ["journal.db"]


@pytest.mark.parametrize(
    ("free", "size", "verdict"),
    [
        (10**9, 10**6, "ok"),
        (10**9, 2 * 10**9, "warn"),
        (32 * 1024**2, 0, "ok"),
        (32 * 1024**2, 1, "warn"),
        (32 * 1024**2 - 1, 0, "wrong"),
        (0, 10**6, "wrong"),
    ],
)
def test_the_disk_needs_room_for_the_log_and_better_for_a_copy(free: int, size: int, verdict: str) -> None:
    finding = database_check.check_free_space(free, size)

    assert finding.verdict == verdict


def test_the_free_room_is_that_of_the_disk_of_the_database(db: Path) -> None:
    ran = check(db)

    told = float(line_about(ran, "disk").split()[2].replace(",", ""))
    assert told == pytest.approx(shutil.disk_usage(db).free / 10**6, rel=0.5)


def test_an_sqlite_that_is_too_old_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_check, "OLDEST_SQLITE", (99, 1))

    finding = database_check.check_sqlite()

    assert finding == ("wrong", f"SQLite {sqlite3.sqlite_version}; 99.1 or later is required")


def test_the_wrong_and_the_fine_stand_in_one_report_and_the_exit_code_is_1(db: Path) -> None:
    change(db, "UPDATE api_keys SET user_id = 99")
    db.chmod(0o644)

    ran = check(db)

    assert ran.code == 1
    assert {line[:6] for line in ran.out.splitlines()} == {"ok    ", "warn  ", "wrong "}
