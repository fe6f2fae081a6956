"""Backups and restores: docs/reliability.md 9, 10 and 11."""

import asyncio
import logging
import os
import re
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from commands import PATIENCE, change, dump, new_key, on_a_terminal, rows, run_failing, run_ok, running
from conftest import client_of, new_key_for, opened, started
from factories import create_category, unwrap
from journals import FOREIGN_FILES, LOOSE_ROW, TRIGGER, Write, crash, large_journal, names, prepare, write_released
from proofs import examples

from journal_api.app import create_app
from journal_api.database import backup
from journal_api.database.backup import STALE, back_up, backup_name, is_due, list_backups
from journal_api.database.restore import restore
from journal_api.database.schemas import VERSION
from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings

TIME = r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z"
# Small enough to stop a copy in the middle, large enough for what SQLite keeps beside the file.
MAX_FILE_SIZE = 40_000
KILLED = """
import os, signal, sys
from pathlib import Path
from journal_api.database.backup import back_up
back_up(Path(sys.argv[1]), Path(sys.argv[2]), is_stopped=lambda: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A new journal in a folder of its own, with a write-ahead log as servers use it."""
    db = tmp_path / "data" / "journal.db"
    prepare(db)
    change(db, "PRAGMA journal_mode = WAL")
    return db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for backups."""
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


@pytest.fixture
def copy(db: Path, folder: Path) -> Path:
    """A backup of the journal, in which the owner has another name since then."""
    copy = back_up(db, folder / "copy.db")
    change(db, "UPDATE users SET name = 'later'")
    return copy


def owner(db: Path) -> str:
    ((name,),) = rows(db, "SELECT name FROM users")
    return str(name)


def with_checksums(*backups: Path) -> set[str]:
    """The names of these backups and of their checksum files."""
    return {name for file in backups for name in (file.name, f"{file.name}.sha256")}


def run_in_little_room(*arguments: str | Path, room: int = MAX_FILE_SIZE) -> str:
    """Run a command while no file may grow beyond `room` bytes; return its one line of error."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        return run_failing(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


# Backups -----------------------------------------------------------------------------------------------


def test_a_backup_is_the_same_journal_in_one_file_for_its_owner_alone(db: Path, folder: Path) -> None:
    target = folder / "copy.db"
    before = {file.name: file.read_bytes() for file in db.parent.iterdir()}

    printed = run_ok("backup", target, "--db", db)

    assert printed == f"Backup: {target}\n"
    assert names(folder) == {"copy.db", "copy.db.sha256"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert dump(target) == dump(db)
    for pragma in ("application_id", "user_version"):
        assert rows(target, f"PRAGMA {pragma}") == rows(db, f"PRAGMA {pragma}")
    # The versions of the file format that SQLite needs to write and to read it: 2 with a write-ahead log.
    assert target.read_bytes()[18:20] == b"\x01\x01"
    assert {file.name: file.read_bytes() for file in db.parent.iterdir()} == before


def test_in_a_folder_backups_are_named_by_the_time_and_the_newest_are_kept(db: Path, folder: Path) -> None:
    future = [backup_name(datetime.now(UTC) + timedelta(days=day)) for day in range(400, 414)]
    others = {*future, "journal-by-hand.db"}
    for name in others:
        (folder / name).write_text("mine")

    def make_backup(*options: str) -> Path:
        return Path(run_ok("backup", folder, "--db", db, *options).removeprefix("Backup: ").rstrip())

    made = [make_backup() for _ in range(3)]
    assert all(re.fullmatch(rf"journal-{TIME}\.db", file.name) for file in made)
    assert names(folder) == others | with_checksums(*made)
    for number in (2, 1):
        made.append(make_backup("--keep", str(number)))
        assert names(folder) == others | with_checksums(*made[-number:])


def test_sha256sum_checks_the_checksum_of_a_backup(db: Path, folder: Path) -> None:
    back_up(db, folder / "copy.db").unlink()
    db.write_bytes(large_journal())
    back_up(db, folder / "copy.db")  # replaces the checksum of the deleted backup

    subprocess.run(["sha256sum", "--check", "--strict", "copy.db.sha256"], cwd=folder, check=True)


def leave_half_a_copy(db: Path, folder: Path, age: float) -> Path:
    """What a backup that was killed that many seconds ago leaves in the folder."""
    before = names(folder)
    subprocess.run([sys.executable, "-c", KILLED, db, folder], timeout=PATIENCE, check=False)
    (left,) = {name for name in names(folder) - before if not name.endswith("-journal")}
    os.utime(folder / left, (time.time() - age,) * 2)
    return folder / left


def test_a_backup_deletes_what_killed_backups_left_but_not_what_may_still_be_written(db: Path, folder: Path) -> None:
    (folder / ".journal-notes").write_text("mine")
    new = leave_half_a_copy(db, folder, STALE / 2)
    old = [leave_half_a_copy(db, place, STALE + 1) for place in (db.parent, folder)]
    assert list_backups(folder) == []

    made = back_up(db, folder)

    assert not any(file.exists() for file in old)
    left = {name for name in names(folder) if not name.endswith("-journal")}
    assert left == {".journal-notes", new.name, *with_checksums(made)}


@pytest.mark.parametrize(
    ("sql", "target", "reason"),
    [
        ("", " --keep 0", "--keep"),
        ("", " --keep many", "--keep"),
        ("", "copy.db --keep 2", "--keep"),
        (LOOSE_ROW, "", "journal.db: the journal has rows with dangling references"),
        (TRIGGER, "", "trigger evil on tag_categories"),
        ("DROP TABLE users", "", "users is missing"),
        ("", "none/copy.db", "/none: no such folder"),
        ("", "weekly/", "/weekly/: no such folder"),
        ("", "weekly/.", "/weekly/.: no such folder"),
        ("", "mine.db", "/mine.db: already exists"),
    ],
)
def test_a_backup_of_a_damaged_journal_to_a_bad_place_or_with_a_bad_number_is_refused(
    db: Path, folder: Path, sql: str, target: str, reason: str
) -> None:
    (folder / "mine.db").write_text("mine")
    change(db, sql)

    target, *options = target.split(" ")
    assert reason in run_failing("backup", f"{folder}/{target}", "--db", db, *options)

    assert names(folder) == {"mine.db"}
    assert (folder / "mine.db").read_text() == "mine"


@pytest.mark.promise(9)
@pytest.mark.parametrize("stopped_in", ["copy", "check"])
def test_a_backup_that_is_told_to_stop_stops_amid_its_check_and_leaves_nothing(
    db: Path, folder: Path, stopped_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "STOP_INTERVAL", 0.001)
    db.write_bytes(large_journal())
    is_watched = threading.Event()

    def is_stopped() -> bool:
        """Once the copy is made: the check alone is watched from another thread."""
        if stopped_in == "copy" or threading.current_thread() is not threading.main_thread():
            is_watched.set()
        return is_watched.is_set()

    with pytest.raises(InterruptedError):
        back_up(db, folder, is_stopped=is_stopped)

    assert names(folder) == set()


def test_a_write_during_a_backup_is_not_in_it(db: Path, folder: Path) -> None:
    db.write_bytes(large_journal())
    is_written = threading.Event()

    def write_once() -> bool:
        if not is_written.is_set():
            is_written.set()
            change(db, "DELETE FROM tag_categories")
        return False

    made = back_up(db, folder, is_stopped=write_once)

    assert is_written.is_set()
    assert rows(made, "SELECT count(*) FROM tag_categories") == [(20000,)]


def test_a_backup_is_on_the_disk_before_it_has_its_name(
    db: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync, link = os.fsync, os.link

    def record_fsync(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)

    def link_synced(file: Path, name: Path) -> None:
        assert file.stat().st_ino in synced
        link(file, name)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "link", link_synced)

    made = back_up(db, folder)

    checksum = made.with_name(f"{made.name}.sha256")
    assert {file.stat().st_ino for file in (made, checksum, folder)} <= set(synced)


def test_a_backup_whose_name_is_taken_meanwhile_leaves_nothing_beside_that_file(db: Path, folder: Path) -> None:
    target = folder / "journal.db"

    def take_name() -> bool:
        target.touch()
        return False

    with pytest.raises(FileExistsError):
        back_up(db, target, is_stopped=take_name)

    assert names(folder) == {"journal.db"}


def test_backups_and_restores_work_without_hard_links(db: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*paths: Path) -> None:
        raise PermissionError("the file system has no hard links")

    monkeypatch.setattr(os, "link", refuse)
    copy = back_up(db, folder / "copy.db")
    change(db, "UPDATE users SET name = 'later'")

    kept, is_verified = restore(db, copy)

    assert kept is not None
    assert (owner(db), owner(kept), is_verified) == ("owner", "later", True)
    files = (db, kept, copy, folder / "copy.db.sha256")
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


# Restoring ---------------------------------------------------------------------------------------------


def test_what_is_restored_is_the_journal_of_the_backup_and_what_was_there_is_kept(db: Path, copy: Path) -> None:
    printed = run_ok("restore", copy, "--db", db)

    (kept,) = db.parent.glob("journal.db.before-restore-*")
    assert re.fullmatch(rf"journal\.db\.before-restore-{TIME}", kept.name)
    assert printed == f"Restored {db} from {copy} (checksum verified); the replaced file is {kept}\n"
    assert (owner(db), owner(kept)) == ("owner", "later")
    assert {stat.S_IMODE(file.stat().st_mode) for file in (db, kept)} == {0o600}


def test_a_server_starts_on_what_was_restored_where_there_was_nothing(copy: Path, tmp_path: Path) -> None:
    new = tmp_path / "new" / "journal.db"
    key = new_key(copy)
    copy.with_name("copy.db.sha256").unlink()

    printed = run_ok("restore", copy, "--db", new)

    assert printed == f"Restored {new} from {copy} (no checksum file)\n"
    with running(new) as server, server.client(key) as client:
        assert unwrap(client.get("/me"))["name"] == "owner"
    assert not list(new.parent.glob("*restore*"))


async def test_after_a_restore_a_client_that_followed_reads_everything_again(db: Path, folder: Path) -> None:
    async def create_tag_category(name: str) -> str:
        """Return the cursor after it."""
        async with opened(Settings(db=db)) as client:
            await create_category(client, name)
            return str((await client.get("/changes")).json()["meta"]["cursor"])

    async def find_changes(since: str) -> set[str] | int:
        async with opened(Settings(db=db)) as client:
            answer = await client.get("/changes", params={"since": since})
            return {one["resource"] for one in unwrap(answer)} if answer.is_success else answer.status_code

    copied = await create_tag_category("In the backup")
    copy = back_up(db, folder / "of-a-client.db")
    lost = await create_tag_category("Lost")
    restore(db, copy)
    begun = await create_tag_category("Instead")

    assert [await find_changes(since) for since in (copied, lost, begun)] == [410, 410, {"keys"}]
    await create_tag_category("Later")
    assert await find_changes(begun) == {"tag_categories", "keys"}
    assert await find_changes(lost) == 410


def test_the_writes_of_a_server_that_was_killed_are_kept_and_do_not_come_into_the_backup(db: Path, copy: Path) -> None:
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        unwrap(client.post("/tag-categories", json={"name": "In the log"}))
        server.stop(signal.SIGKILL)

    restore(db, copy)

    (kept,) = db.parent.glob("journal.db.before-restore-*")
    assert rows(kept, "SELECT name FROM tag_categories") == [("In the log",)]
    assert rows(db, "SELECT name FROM tag_categories") == []
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]


def test_a_damaged_journal_is_replaced_without_its_log_and_kept(db: Path, copy: Path) -> None:
    crash(db, "UPDATE users SET name = 'in the log'")  # SQLite would apply this log to the restored file
    db.write_bytes(b"no journal any more" + db.read_bytes()[19:])

    kept, _ = restore(db, copy)

    assert owner(db) == "owner"
    assert kept is not None
    assert kept.read_bytes().startswith(b"no journal any more")


def test_an_older_journal_is_restored_and_brought_up_to_date_by_the_next_start(folder: Path) -> None:
    new = folder / "new" / "journal.db"
    write_released(folder / "old.db", 1)

    restore(new, folder / "old.db")

    assert stat.S_IMODE(new.parent.stat().st_mode) == 0o700
    assert rows(new, "PRAGMA user_version") == [(1,)]
    prepare(new)
    assert rows(new, "PRAGMA user_version") == [(VERSION,)]


def write_loose_row(file: Path) -> None:
    prepare(file)
    change(file, LOOSE_ROW)


BAD_FILES: dict[str, Write] = {
    "an empty file": Path.touch,
    "a folder": Path.mkdir,
    "a missing file": lambda file: None,
    "a loose row": write_loose_row,
    **{
        name: FOREIGN_FILES[name][0]  # test_migrations.py has all of them
        for name in ("a text", "another database", "a newer journal", "a damaged journal", "an added trigger")
    },
}


@pytest.mark.parametrize("write", BAD_FILES.values(), ids=BAD_FILES)
def test_what_is_no_sound_journal_of_this_release_is_not_restored(db: Path, folder: Path, write: Write) -> None:
    write(folder / "bad.db")
    before = dump(db)

    with pytest.raises(DatabaseRefused, match=r"bad\.db: "):
        restore(db, folder / "bad.db")

    assert dump(db) == before
    assert names(db.parent) - {"journal.db.lock"} == {"journal.db"}


@pytest.mark.promise(10)
def test_no_byte_of_a_backup_can_change_without_the_restore_being_refused(db: Path, folder: Path) -> None:
    db.write_bytes(large_journal())
    copy = back_up(db, folder / "copy.db")
    content = copy.read_bytes()
    before = dump(db)

    for place in range(100, len(content), len(content) // examples(30, 8)):
        copy.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DatabaseRefused, match=r"copy\.db: the file has changed since it was backed up"):
            restore(db, copy)

    assert dump(db) == before


def test_a_checksum_file_without_a_checksum_is_not_passed_over(db: Path, copy: Path) -> None:
    checksum = copy.with_name("copy.db.sha256")
    checksum.write_bytes(b"\\" + checksum.read_bytes())  # as sha256sum writes it for a name with escapes
    assert restore(db, copy).is_verified
    checksum.write_text("")

    assert "copy.db.sha256" in run_failing("restore", copy, "--db", db)


def test_nothing_is_restored_under_a_running_server(db: Path, copy: Path) -> None:
    with running(db):
        line = run_failing("restore", copy, "--db", db)

    assert "server" in line
    assert owner(db) == "later"
    assert not [name for name in names(db.parent) if "restore" in name or name.endswith(".part")]


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_nothing_is_restored_while_another_command_reads(
    db: Path, copy: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journal_api.database.backup.BUSY_TIMEOUT", 0.1)
    change(db, f"PRAGMA journal_mode = {mode}")
    with closing(sqlite3.connect(db)) as command_at_work:
        command_at_work.execute("BEGIN")
        command_at_work.execute("SELECT name FROM users").fetchall()

        with pytest.raises(DatabaseRefused, match="another command uses it; try again"):
            restore(db, copy)

    assert owner(db) == "later"
    assert not list(db.parent.glob("*restore*"))


@pytest.mark.parametrize("command", [("backup",), ("restore",), ("users", "list")], ids=lambda one: one[0])
def test_a_copy_that_finds_no_room_leaves_nothing_behind(db: Path, folder: Path, command: tuple[str, ...]) -> None:
    target = {"backup": [folder], "restore": [back_up(db, folder / "copy.db")]}.get(command[0], [])
    if command[0] == "users":  # which migrates an older journal
        db.unlink()
        write_released(db, 1)
    before = dump(db), names(folder)

    line = run_in_little_room(*command, *target, "--db", db)

    assert (dump(db), names(folder)) == before
    assert names(db.parent) - {"journal.db.lock"} == {"journal.db"}
    assert command[0] != "users" or "the backup before the migration failed" in line


def test_a_backup_for_whose_first_page_is_no_room_says_so_in_one_line(db: Path, folder: Path) -> None:
    with closing(sqlite3.connect(db)) as opened:  # it keeps the files beside the journal, which have their size
        opened.execute("SELECT 1 FROM sqlite_schema").fetchall()
        assert "disk I/O error" in run_in_little_room("backup", folder, "--db", db, room=0)

    assert names(folder) == set()


# On schedule -------------------------------------------------------------------------------------------


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # the condition is about files
            await asyncio.sleep(0.01)


async def test_backups_on_schedule_appear_and_only_the_newest_remain(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    every = timedelta(seconds=0.05)
    settings = Settings(db=tmp_path / "journal.db", backup_dir=folder, backup_every=every, backup_keep=2)
    appeared: set[str] = set()

    def have_four_appeared() -> bool:
        appeared.update(file.name for file in list_backups(folder))
        return len(appeared) >= 4

    with caplog.at_level(logging.INFO):
        async with started(create_app(settings)):
            await until(have_four_appeared)

    left = sorted(file.name for file in list_backups(folder))
    assert len(left) == 2
    assert names(folder) == with_checksums(*list_backups(folder))
    assert left == sorted(appeared | set(left))[-2:]
    assert owner(folder / left[-1]) == "owner"
    finished = {record.getMessage() for record in caplog.records}
    assert {f"backup {folder / name} finished" for name in appeared} <= finished


async def test_a_backup_that_is_not_yet_due_is_not_made(tmp_path: Path, folder: Path) -> None:
    settings = Settings(db=tmp_path / "journal.db", backup_dir=folder)
    async with started(create_app(settings)):
        await until(lambda: len(list_backups(folder)) == 1)
    before = names(folder)

    async with started(create_app(settings)):
        pass

    assert names(folder) == before


@pytest.mark.parametrize(
    ("hours", "expected"), [((), True), ((-1,), False), ((-25,), True), ((1,), True), ((-25, -1, 1), False)]
)
def test_a_backup_is_due_when_none_of_the_last_interval_is_there(
    folder: Path, hours: tuple[int, ...], expected: bool
) -> None:
    for hour in hours:
        (folder / backup_name(datetime.now(UTC) + timedelta(hours=hour))).touch()

    assert is_due(folder, timedelta(hours=24)) is expected


async def test_a_folder_that_is_not_there_is_logged_and_the_server_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    missing = tmp_path / "missing"
    settings = Settings(db=tmp_path / "journal.db", backup_dir=missing, backup_every=timedelta(seconds=0.05))

    app = create_app(settings)
    with caplog.at_level(logging.ERROR):
        async with started(app):
            await until(lambda: len(caplog.records) >= 2)
            async with client_of(app, await new_key_for(app)) as client:
                await create_category(client)
            missing.mkdir()
            await until(lambda: bool(list_backups(missing)))

    lines = {record.getMessage() for record in caplog.records}
    assert all(str(missing) in line and "\n" not in line for line in lines)


def test_a_backup_shows_in_a_terminal_how_far_it_is(db: Path, tmp_path: Path) -> None:
    assert re.search("Copying .*100%", on_a_terminal("backup", tmp_path / "copy.db", "--db", db))
