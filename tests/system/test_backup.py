"""Backups and what comes back of them: docs/reliability.md 10 and 11."""

import asyncio
import logging
import os
import re
import shutil
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
from commands import (
    PATIENCE,
    Ran,
    change,
    done,
    dump,
    environment,
    new_key,
    refused,
    rows,
    running,
    wait_until,
)
from conftest import client_of, new_key_for, started
from factories import create_category, unwrap
from proofs import SOAK, tries
from test_migrations import EVIL, STRANGE, write_released

from journal_api.app import create_app
from journal_api.database.backup import STALE, back_up, backup_name, list_backups
from journal_api.database.backup_schedule import is_due
from journal_api.database.migrations import prepare
from journal_api.database.restore import restore
from journal_api.database.schemas import VERSION
from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings, SettingsError

TIME = r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z"
# Small enough to stop a copy in the middle, large enough for what SQLite keeps beside the file.
MAX_FILE_SIZE = 40_000
IN_LITTLE_ROOM = """
import resource, sys
from journal_api.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
main()
"""

KILLED = """
import os, signal, sys
from pathlib import Path
from journal_api.database.backup import back_up
back_up(Path(sys.argv[1]), Path(sys.argv[2]), is_stopped=lambda: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A journal in a folder of its own, with one key in it."""
    db = tmp_path / "data" / "journal.db"
    new_key(db)
    return db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where backups go."""
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


def add_user(db: Path, name: str) -> None:
    done("users", "add", name, "--db", db)


def users_of(db: Path) -> list[str]:
    return [name for (name,) in rows(db, "SELECT name FROM users ORDER BY id")]


def names_in(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def with_checksums(*backups: Path) -> set[str]:
    """The names of these backups and of what belongs to each."""
    return {name for file in backups for name in (file.name, f"{file.name}.sha256")}


def in_little_room(*arguments: str | Path) -> Ran:
    """What the command leaves behind when no file may grow beyond MAX_FILE_SIZE."""
    ran = subprocess.run(
        [sys.executable, "-c", IN_LITTLE_ROOM, str(MAX_FILE_SIZE), *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def leave_half_a_copy(db: Path, folder: Path) -> Path:
    """What a backup that was killed amid its copying leaves in the folder."""
    before = names_in(folder)
    subprocess.run([sys.executable, "-c", KILLED, db, folder], timeout=PATIENCE, check=False)
    (left,) = {name for name in names_in(folder) - before if not name.endswith("-journal")}
    return folder / left


def be_older(folder: Path, seconds: float) -> None:
    """As if nothing had been written in that folder for so long."""
    for file in folder.iterdir():
        then = file.stat().st_mtime - seconds
        os.utime(file, (then, then))


# Backups -----------------------------------------------------------------------------------------------


def test_a_backup_is_the_same_journal_in_one_file_for_its_owner_alone(db: Path, folder: Path) -> None:
    target = folder / "copy.db"

    told = done("backup", target, "--db", db)

    assert told == f"Backup: {target}\n"
    assert names_in(folder) == {"copy.db", "copy.db.sha256"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert dump(target) == dump(db)
    for pragma in ("application_id", "user_version"):
        assert rows(target, f"PRAGMA {pragma}") == rows(db, f"PRAGMA {pragma}")


def test_a_backup_changes_nothing_of_the_journal(db: Path, folder: Path) -> None:
    before = {file.name: file.read_bytes() for file in db.parent.iterdir()}

    done("backup", folder, "--db", db)

    assert {file.name: file.read_bytes() for file in db.parent.iterdir()} == before


@pytest.mark.promise(10)
def test_a_backup_under_load_holds_every_write_answered_before_it_began_and_a_server_starts_on_it(
    db: Path, folder: Path, seen: Callable[[str], None]
) -> None:
    change(db, MANY_ROWS)
    answered: dict[str, tuple[float, float]] = {}
    is_over = threading.Event()

    def write(number: int) -> None:
        with server.client(key) as client:
            while not is_over.is_set():
                name = f"{number} {len(answered)} {time.monotonic_ns()}"
                began = time.monotonic()
                unwrap(client.post("/tag-categories", json={"name": name}))
                answered[name] = began, time.monotonic()

    key = new_key(db)
    copies: dict[Path, set[str]] = {}
    spans = []
    with running(db) as server:
        writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for writer in writers:
            writer.start()
        try:
            for number in range(tries(5, 1)):
                count = len(answered)
                wait_until(lambda: len(answered) > count + 50)  # noqa: B023  # called at once
                before, began = set(answered), time.monotonic()
                done("backup", folder / f"copy{number}.db", "--db", db)
                spans.append((began, time.monotonic()))
                copies[folder / f"copy{number}.db"] = before
        finally:
            is_over.set()
            for writer in writers:
                writer.join(PATIENCE)

    for copy, before in copies.items():
        held = {name for (name,) in rows(copy, "SELECT name FROM tag_categories WHERE name LIKE '% %'")}
        assert before <= held <= set(answered)
        assert rows(copy, "PRAGMA integrity_check") == [("ok",)]
        with running(copy) as server, server.client(key) as client:
            assert unwrap(client.post("/tag-categories", json={"name": "After"}))
    beside: list[float] = []
    alone: list[float] = []
    for began, ended in answered.values():
        is_beside = any(began < until and since < ended for since, until in spans)
        (beside if is_beside else alone).append((ended - began) * 1000)
    before_them = sum(len(before) for before in copies.values())
    seen(
        f"{len(copies)} backups while 3 clients write: of {before_them} writes answered before they began 0 "
        f"missing, integrity ok, a server starts on {len(copies)} of {len(copies)}; {len(beside)} writes "
        f"meanwhile, the slowest {max(beside):.0f} ms (without a backup {max(alone):.0f} ms)"
    )
    assert max(beside) < 100 or not SOAK


def test_a_backup_never_takes_the_place_of_a_file(db: Path, folder: Path) -> None:
    target = folder / "copy.db"
    target.write_text("mine")

    line = refused("backup", target, "--db", db)

    assert str(target) in line
    assert target.read_text() == "mine"
    assert names_in(folder) == {"copy.db"}


def test_in_a_folder_backups_have_the_time_as_their_name_and_the_newest_are_kept(
    db: Path, folder: Path
) -> None:
    (folder / "journal-by-hand.db").write_text("mine")

    told = [done("backup", folder, "--db", db, "--keep", "2") for _ in range(3)]

    made = [Path(line.removeprefix("Backup: ").rstrip()) for line in told]
    assert all(re.fullmatch(rf"journal-{TIME}\.db", file.name) for file in made)
    assert names_in(folder) == {"journal-by-hand.db", *with_checksums(made[1], made[2])}


def test_a_backup_with_a_name_from_the_future_does_not_cost_the_new_one_its_place(
    db: Path, folder: Path
) -> None:
    (folder / backup_name(datetime.now(UTC) + timedelta(days=400))).write_text("later")

    made = back_up(db, folder, keep=1)

    assert made.exists()


def test_backups_with_names_from_the_future_are_left_alone_and_count_for_nothing(
    db: Path, folder: Path
) -> None:
    future = {backup_name(datetime.now(UTC) + timedelta(days=day)) for day in range(400, 414)}
    for name in future:
        (folder / name).write_text("later")

    made = [back_up(db, folder, keep=2) for _ in range(3)]

    assert names_in(folder) == future | with_checksums(*made[1:])


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
@pytest.mark.parametrize("name", ["copy.db", "mine \\ and\nyours.db"])
def test_the_checksum_beside_a_backup_is_one_that_sha256sum_checks(db: Path, folder: Path, name: str) -> None:
    done("backup", folder / name, "--db", db)

    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", f"{name}.sha256"], cwd=folder, timeout=PATIENCE, check=False
    )

    assert checked.returncode == 0


def test_the_checksum_of_a_backup_that_is_gone_is_replaced(db: Path, folder: Path) -> None:
    back_up(db, folder / "copy.db").unlink()
    change(db, MANY_ROWS)

    back_up(db, folder / "copy.db")

    assert restore(db.with_name("new.db"), folder / "copy.db").is_verified


def test_a_backup_that_finds_no_room_leaves_nothing_behind(db: Path, folder: Path) -> None:
    ran = in_little_room("backup", folder, "--db", db)

    assert (ran.code, ran.out) == (1, "")
    assert re.fullmatch("journal-api: [^\n]+\n", ran.err)
    assert names_in(folder) == set()


def test_a_backup_that_was_killed_has_no_name_and_a_later_one_clears_away_what_it_left(
    db: Path, folder: Path
) -> None:
    (folder / ".journal-notes").write_text("mine")
    left = [leave_half_a_copy(db, place) for place in (folder, db.parent)]
    assert list_backups(folder) == []
    for place in (folder, db.parent):
        be_older(place, STALE + 1)

    made = back_up(db, folder)

    assert not any(file.exists() for file in left)
    assert names_in(folder) == {".journal-notes", *with_checksums(made)}
    assert users_of(db) == ["owner"]


def test_a_copy_that_another_backup_may_still_be_at_work_on_is_left_to_it(db: Path, folder: Path) -> None:
    left = leave_half_a_copy(db, folder)
    be_older(folder, STALE / 2)

    back_up(db, folder)

    assert left.exists()


def test_a_damaged_journal_is_not_called_a_backup(db: Path, folder: Path) -> None:
    change(db, "UPDATE api_keys SET user_id = 99")

    line = refused("backup", folder, "--db", db)

    assert "dangling references" in line
    assert names_in(folder) == set()


@pytest.mark.parametrize("target", ["missing/copy.db", "missing/"])
def test_a_backup_into_a_folder_that_is_not_there_is_refused(db: Path, folder: Path, target: str) -> None:
    line = refused("backup", f"{folder}/none/{target}", "--db", db)

    assert "none" in line
    assert names_in(folder) == set()


@pytest.mark.parametrize("target", ["weekly/", "weekly/.", "weekly//"])
def test_a_missing_folder_is_not_taken_for_the_name_of_a_file(db: Path, folder: Path, target: str) -> None:
    line = refused("backup", f"{folder}/{target}", "--db", db)

    assert f"{folder}/{target}: no such folder" in line
    assert names_in(folder) == set()


def test_no_backup_is_made_of_a_journal_that_is_not_there(tmp_path: Path, folder: Path) -> None:
    line = refused("backup", folder, "--db", tmp_path / "missing.db")

    assert "missing.db" in line
    assert not (tmp_path / "missing.db").exists()
    assert names_in(folder) == set()


@pytest.mark.parametrize("keep", ["0", "-1", "many"])
def test_fewer_than_one_backup_cannot_be_kept(db: Path, folder: Path, keep: str) -> None:
    refused("backup", folder, "--db", db, "--keep", keep)

    assert names_in(folder) == set()


def test_a_single_file_has_no_others_to_keep(db: Path, folder: Path) -> None:
    refused("backup", folder / "copy.db", "--db", db, "--keep", "2")

    assert names_in(folder) == set()


# Restoring ---------------------------------------------------------------------------------------------


def test_what_is_restored_is_the_journal_of_the_backup_and_what_was_there_is_kept(
    db: Path, folder: Path
) -> None:
    copy = folder / "copy.db"
    done("backup", copy, "--db", db)
    add_user(db, "later")

    told = done("restore", copy, "--db", db)

    (kept,) = db.parent.glob("journal.db.before-restore-*")
    assert re.fullmatch(rf"journal\.db\.before-restore-{TIME}", kept.name)
    assert told == f"Restored {db} from {copy} (checksum verified); the replaced file is {kept}\n"
    assert users_of(db) == ["owner"]
    assert users_of(kept) == ["owner", "later"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in (db, kept)} == {0o600}


def test_a_server_starts_on_what_was_restored_where_there_was_nothing(
    db: Path, folder: Path, tmp_path: Path
) -> None:
    copy, new = folder / "copy.db", tmp_path / "new" / "journal.db"
    done("backup", copy, "--db", db)

    told = done("restore", copy, "--db", new)

    assert told == f"Restored {new} from {copy} (checksum verified)\n"
    with running(new, "--first-key") as server:
        assert "tjk_" not in server.out.read_text()
    assert {name for name in names_in(new.parent) if "restore" in name} == set()


def test_the_writes_of_a_server_that_was_killed_are_kept_and_do_not_come_into_the_backup(
    db: Path, folder: Path
) -> None:
    copy = folder / "copy.db"
    done("backup", copy, "--db", db)
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        unwrap(client.post("/tag-categories", json={"name": "In the log"}))
        server.stop(signal.SIGKILL)

    done("restore", copy, "--db", db)

    (kept,) = db.parent.glob("journal.db.before-restore-*")
    assert rows(kept, "SELECT name FROM tag_categories") == [("In the log",)]
    assert rows(db, "SELECT name FROM tag_categories") == []
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]


def test_a_journal_that_is_damaged_is_replaced_too_and_kept_as_it_was(db: Path, folder: Path) -> None:
    copy = folder / "copy.db"
    done("backup", copy, "--db", db)
    db.write_bytes(b"no journal any more" * 1000)
    db.with_name("journal.db-wal").write_bytes(b"nor its log")

    done("restore", copy, "--db", db)

    assert users_of(db) == ["owner"]
    (kept,) = (file for file in db.parent.glob("journal.db.before-restore-*Z"))
    assert kept.read_bytes() == b"no journal any more" * 1000


def test_an_older_journal_is_restored_and_brought_up_to_date_by_the_next_start(
    db: Path, folder: Path
) -> None:
    old = folder / "old.db"
    write_released(old, 1)

    done("restore", old, "--db", db)

    assert rows(db, "PRAGMA user_version") == [(1,)]
    prepare(Settings(db=db))
    assert rows(db, "PRAGMA user_version") == [(VERSION,)]


def write_text(file: Path) -> None:
    file.write_text("Dear diary, today I bought the top.\n" * 100)


def write_nothing(file: Path) -> None:
    file.touch()


def write_other_database(file: Path) -> None:
    change(file, "CREATE TABLE notes (text TEXT)")


def write_newer(file: Path) -> None:
    prepare(Settings(db=file))
    change(file, f"PRAGMA user_version = {VERSION + 1}")


def write_loose_rows(file: Path) -> None:
    prepare(Settings(db=file))
    change(file, "INSERT INTO tag_categories VALUES (1, 99, 'Psychology', 'psychology', '', '')")


def write_damaged(file: Path) -> None:
    prepare(Settings(db=file))
    damaged = bytearray(file.read_bytes())
    damaged[8192:] = b"\xff" * len(damaged[8192:])
    file.write_bytes(damaged)


BAD: list[Callable[[Path], None]] = [
    write_text,
    write_nothing,
    write_other_database,
    write_newer,
    write_loose_rows,
    write_damaged,
    *STRANGE[:2],  # test_migrations.py has every kind
]


@pytest.mark.parametrize("write", BAD, ids=lambda write: write.__name__.removeprefix("write_"))
def test_what_is_no_sound_journal_of_this_release_is_not_restored(
    db: Path, folder: Path, write: Callable[[Path], None]
) -> None:
    write(folder / "bad.db")
    before = dump(db), names_in(db.parent)

    line = refused("restore", folder / "bad.db", "--db", db)

    assert "bad.db" in line
    assert (dump(db), names_in(db.parent)) == before


@pytest.mark.promise(10)
def test_no_byte_of_a_backup_can_change_without_the_restore_being_refused(db: Path, folder: Path) -> None:
    change(db, MANY_ROWS)
    copy = back_up(db, folder / "copy.db")
    content = copy.read_bytes()
    before = dump(db)

    for place in range(100, len(content), len(content) // 30):
        copy.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DatabaseRefused, match=r"copy\.db: the file has changed since it was backed up"):
            restore(db, copy)

    assert dump(db) == before


def test_a_backup_without_a_checksum_is_restored_and_that_is_said(db: Path, folder: Path) -> None:
    copy = back_up(db, folder / "copy.db")
    (folder / "copy.db.sha256").unlink()

    told = done("restore", copy, "--db", db.with_name("new.db"))

    assert told == f"Restored {db.with_name('new.db')} from {copy} (no checksum file)\n"


def test_a_file_beside_a_backup_that_holds_no_checksum_is_not_passed_over(db: Path, folder: Path) -> None:
    copy = back_up(db, folder / "copy.db")
    (folder / "copy.db.sha256").write_text("")

    assert "copy.db.sha256" in refused("restore", copy, "--db", db)


def test_a_journal_with_a_trigger_of_somebody_elses_is_not_backed_up(db: Path, folder: Path) -> None:
    change(db, EVIL)

    line = refused("backup", folder, "--db", db)

    assert "trigger evil on tag_categories" in line
    assert names_in(folder) == set()


def test_nothing_is_restored_under_a_running_server(db: Path, folder: Path) -> None:
    copy = folder / "copy.db"
    done("backup", copy, "--db", db)
    add_user(db, "later")
    with running(db):
        line = refused("restore", copy, "--db", db)

    assert "server" in line
    assert users_of(db) == ["owner", "later"]
    assert [name for name in names_in(db.parent) if "restore" in name or name.endswith(".part")] == []


def test_nothing_is_restored_under_another_command(db: Path, folder: Path) -> None:
    copy = folder / "copy.db"
    done("backup", copy, "--db", db)
    before = dump(db)
    with closing(sqlite3.connect(db)) as command_at_work:
        command_at_work.execute("SELECT name FROM users").fetchall()

        line = refused("restore", copy, "--db", db)

    assert "another command" in line
    assert dump(db) == before
    assert list(db.parent.glob("*restore*")) == []


def test_a_restore_that_finds_no_room_leaves_the_journal_as_it_was(db: Path, folder: Path) -> None:
    copy = folder / "copy.db"
    done("backup", copy, "--db", db)
    before = dump(db)

    ran = in_little_room("restore", copy, "--db", db)

    assert (ran.code, ran.out) == (1, "")
    assert dump(db) == before
    assert names_in(db.parent) - {"journal.db.lock"} == {"journal.db"}


# Before an upgrade -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(1, VERSION))
def test_before_a_journal_is_brought_up_to_date_it_is_copied_as_it_was(version: int, tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    write_released(db, version)
    before = dump(db)

    prepare(Settings(db=db))
    prepare(Settings(db=db))

    (kept,) = db.parent.glob("journal.db.before-*")
    assert re.fullmatch(rf"journal\.db\.before-schema-{VERSION}-{TIME}", kept.name)
    assert dump(kept) == before
    assert rows(kept, "PRAGMA user_version") == [(version,)]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_without_the_room_for_that_copy_the_journal_stays_as_it_is(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    write_released(db, 1)
    before = db.read_bytes()

    ran = in_little_room("users", "list", "--db", db)

    assert ran.code == 1
    assert re.fullmatch("journal-api: [^\n]+backup[^\n]+\n", ran.err)
    assert db.read_bytes() == before
    assert names_in(tmp_path) - {"journal.db.lock"} == {"journal.db"}


def test_a_new_journal_needs_no_copy(db: Path) -> None:
    prepare(Settings(db=db))

    assert list(db.parent.glob("*before*")) == []


# On schedule -------------------------------------------------------------------------------------------


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # what is waited for is a file
            await asyncio.sleep(0.01)


async def test_backups_on_schedule_appear_and_only_the_newest_remain(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    every = timedelta(seconds=0.05)
    settings = Settings(db=tmp_path / "journal.db", backup_dir=folder, backup_every=every, backup_keep=2)
    seen: set[str] = set()

    def has_seen_four() -> bool:
        seen.update(file.name for file in list_backups(folder))
        return len(seen) >= 4

    with caplog.at_level(logging.INFO):
        async with started(create_app(settings)):
            await until(has_seen_four)

    left = sorted(file.name for file in list_backups(folder))
    assert len(left) == 2
    assert names_in(folder) == with_checksums(*list_backups(folder))
    assert left == sorted(seen | set(left))[-2:]
    assert users_of(folder / left[-1]) == ["owner"]
    finished = {record.getMessage() for record in caplog.records}
    assert {f"backup {folder / name} finished" for name in seen} <= finished


async def test_a_backup_that_is_not_yet_due_is_not_made(tmp_path: Path, folder: Path) -> None:
    settings = Settings(db=tmp_path / "journal.db", backup_dir=folder)
    async with started(create_app(settings)):
        await until(lambda: len(list_backups(folder)) == 1)
    before = names_in(folder)

    async with started(create_app(settings)):
        pass

    assert names_in(folder) == before


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


MANY_ROWS = """
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
    INSERT INTO tag_categories (user_id, name, sort_name, created_at, updated_at)
    SELECT 1, n, n, '', '' FROM numbers
"""


def test_a_backup_that_is_told_to_stop_stops_in_the_middle_and_leaves_nothing(db: Path, folder: Path) -> None:
    change(db, MANY_ROWS)

    with pytest.raises(InterruptedError):
        back_up(db, folder, is_stopped=lambda: True)

    assert names_in(folder) == set()


def test_a_write_during_a_backup_is_not_in_it(db: Path, folder: Path) -> None:
    change(db, MANY_ROWS)
    is_written = threading.Event()

    def write_once() -> bool:
        if not is_written.is_set():
            is_written.set()
            change(db, "DELETE FROM tag_categories")
        return False

    backup = back_up(db, folder, is_stopped=write_once)

    assert is_written.is_set()
    assert rows(backup, "SELECT count(*) FROM tag_categories") == [(20000,)]


def test_a_backup_needs_no_write_ahead_log(db: Path, folder: Path) -> None:
    backup = back_up(db, folder)

    # The versions of the file format that SQLite needs to write and to read it: 2 with such a log.
    assert backup.read_bytes()[18:20] == b"\x01\x01"


def test_a_backup_is_on_the_disk_before_it_has_its_name(
    db: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync, link = os.fsync, os.link

    def noted_fsync(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(os.fstat(descriptor).st_ino)

    def link_of_synced(file: Path, name: Path) -> None:
        assert file.stat().st_ino in synced
        link(file, name)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "link", link_of_synced)

    backup = back_up(db, folder)

    assert {backup.stat().st_ino, folder.stat().st_ino} <= set(synced)


def test_a_backup_whose_name_is_taken_meanwhile_leaves_nothing_beside_that_file(
    db: Path, folder: Path
) -> None:
    target = folder / "journal.db"

    def take_name() -> bool:
        target.touch()
        return False

    with pytest.raises(FileExistsError):
        back_up(db, target, is_stopped=take_name)

    assert names_in(folder) == {"journal.db"}


@pytest.mark.promise(9)
def test_a_backup_that_is_told_to_stop_stops_amid_its_check_and_leaves_nothing(
    db: Path, folder: Path
) -> None:
    change(db, MANY_ROWS.replace("20000", "200000"))
    is_watched = threading.Event()

    def is_stopped() -> bool:
        """Once the copy is made: the check alone is watched from another thread."""
        if threading.current_thread() is not threading.main_thread():
            is_watched.set()
        return is_watched.is_set()

    with pytest.raises(InterruptedError):
        back_up(db, folder, is_stopped=is_stopped)

    assert names_in(folder) == set()


@pytest.mark.parametrize(
    ("text", "every"), [("1", 1), ("24", 24), ("24h", 24), ("7d", 168), ("9999d", 9999 * 24)]
)
def test_the_interval_is_hours_or_days(text: str, every: int) -> None:
    settings = Settings.from_environ({"JOURNAL_DB": "x.db", "JOURNAL_BACKUP_EVERY": text})

    assert settings.backup_every == timedelta(hours=every)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("EVERY", "0"),
        ("EVERY", "-1h"),
        ("EVERY", "1.5h"),
        ("EVERY", "24m"),
        ("EVERY", "24 h"),
        ("EVERY", "10000d"),
        ("EVERY", "\N{ARABIC-INDIC DIGIT EIGHT}h"),
        ("EVERY", "24h\n"),
        ("KEEP", "-1"),
        ("KEEP", "all"),
    ],
)
def test_a_schedule_that_cannot_be_read_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"JOURNAL_BACKUP_{name} must be "):
        Settings.from_environ({"JOURNAL_DB": "x.db", f"JOURNAL_BACKUP_{name}": text})


def test_without_variables_no_backups_are_made_and_with_a_folder_one_a_day() -> None:
    without = Settings.from_environ({"JOURNAL_DB": "x.db"})
    with_folder = Settings.from_environ({"JOURNAL_DB": "x.db", "JOURNAL_BACKUP_DIR": "backups"})

    assert without.backup_dir is None
    assert (with_folder.backup_dir, with_folder.backup_every, with_folder.backup_keep) == (
        Path("backups"),
        timedelta(days=1),
        14,
    )
