"""`journal-api watch` and `serve --watch` as processes: docs/imports.md#files-by-themselves."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from commands import (
    PATIENCE,
    command,
    environment,
    import_file,
    make_journal,
    rows,
    run_ok,
    running,
    start,
    wait_until,
)
from factories import build_file
from proofs import examples


@pytest.fixture
def db(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    make_journal(tmp_path / "data" / "journal.db")
    return tmp_path / "data" / "journal.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a subfolder for the account Sim."""
    (tmp_path / "drop" / "Sim").mkdir(parents=True)
    return tmp_path / "drop"


def add_files(folder: Path, number: int, name: str = "day") -> None:
    for index in range(number):
        (folder / f"{name}{index}.csv").write_text(build_file({"external_id": f"{name}{index}"}))


def are_imported(folder: Path, names: Sequence[str]) -> bool:
    return all((folder / "imported" / name).exists() for name in names)


def is_one_more(db: Path, before: Sequence[str]) -> bool:
    return len(list_ids(db)) > len(before)


def count_imported(folder: Path) -> int:
    return len(list((folder / "imported").rglob("*.csv")))


def list_ids(db: Path) -> list[str]:
    return [external_id for (external_id,) in rows(db, "SELECT external_id FROM trades ORDER BY 1")]


@contextmanager
def watching(db: Path, folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    arguments = ["watch", str(folder), "--db", str(db), *options]
    with db.with_name("watch.out").open("wb") as out:
        process = start(arguments, environment(), out.fileno(), out.fileno())
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE)


def test_the_command_imports_what_is_there_once_and_says_what_was_refused(db: Path, folder: Path) -> None:
    add_files(folder, 1)
    arguments = ("watch", folder, "--account", "Sim", "--once", "--db", db)

    assert run_ok(*arguments) == "day0.csv imported: 1 new, 0 already there\n"
    (folder / "bad\n.csv").write_text("bad")
    ran = command(*arguments)

    assert (ran.code, ran.out.count("\n")) == (1, 1)
    assert f"journal-api: files refused: 1; {folder}/refused has them with the reasons\n" in ran.err
    assert list_ids(db) == ["day0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--account", ""), "--account must be 1 to 100 characters"),
        (("--timezone", "Mars"), "--timezone must be an IANA time zone"),
        (("--user", "nobody"), "there is no user 'nobody'"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_read(
    db: Path, folder: Path, options: tuple[str, ...], message: str
) -> None:
    add_files(folder, 1)

    ran = command("watch", folder, "--once", "--db", db, *options)

    assert ran.code == 1
    assert message in ran.err
    assert (folder / "day0.csv").exists()


def test_files_appear_beside_a_server_that_is_running(db: Path, folder: Path) -> None:
    with running(db), watching(db, folder, "--account", "Sim") as process:
        for name in ("first", "second"):
            add_files(folder, 3, name)
            wait_until(partial(are_imported, folder, [f"{name}{index}.csv" for index in range(3)]))
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 1

    assert list_ids(db) == [f"{name}{index}" for name in ("first", "second") for index in range(3)]


@pytest.mark.parametrize("by_option", [True, False], ids=["--watch", "JOURNAL_WATCH"])
def test_a_server_imports_what_appears_and_logs_it(db: Path, folder: Path, by_option: bool) -> None:
    import_file(db, write_first(folder))
    server_of = running(db, "--watch", str(folder)) if by_option else running(db, JOURNAL_WATCH=str(folder))

    with server_of as server:
        add_files(folder / "Sim", 2)
        wait_until(lambda: count_imported(folder) == 2)
        wait_until(lambda: "Sim/day1.csv imported: 1 new" in server.err.read_text())
        assert server.stop() == 0

    assert list_ids(db) == ["day0", "day1", "first"]


def write_first(folder: Path) -> Path:
    """A file outside of the folder, whose import creates the account."""
    file = folder.with_name("first.csv")
    file.write_text(build_file({"external_id": "first"}))
    return file


@pytest.mark.soak
@pytest.mark.promise(28)
def test_a_server_that_is_killed_in_the_middle_loses_nothing_and_imports_nothing_twice(
    db: Path, folder: Path, record_observation: Callable[[str], None]
) -> None:
    """Each kill is as soon as a further file is stored, and so before, amid or after its move."""
    kills, files = examples(full=20, ci=2), examples(full=300, ci=30)
    import_file(db, write_first(folder))
    add_files(folder / "Sim", files)

    for _ in range(kills):
        with running(db, "--watch", str(folder)) as server:
            wait_until(partial(is_one_more, db, list_ids(db)))
            server.stop(signal.SIGKILL)
        assert len(list((folder / "Sim").iterdir())) + count_non_empty(folder) == files

    with running(db, "--watch", str(folder)):
        wait_until(lambda: not list((folder / "Sim").iterdir()))
    assert list_ids(db) == sorted(["first", *(f"day{index}" for index in range(files))])
    assert count_non_empty(folder) == files
    ((added, again),) = rows(db, "SELECT sum(added), sum(duplicates) FROM imports")
    assert added == files + 1
    record_observation(f"{kills} kills, {files} files: 0 lost, 0 stored twice, {again} read again")


def count_non_empty(folder: Path) -> int:
    """A kill between the reservation of a name and the move leaves an empty file."""
    return sum(file.stat().st_size > 0 for file in (folder / "imported").rglob("*.csv"))


def test_a_stop_waits_for_the_import_that_has_begun(db: Path, folder: Path) -> None:
    import_file(db, write_first(folder))
    rows_of_file = [{"external_id": str(number)} for number in range(10_000)]
    (folder / "Sim" / "large.csv").write_text(build_file(*rows_of_file))

    with running(db, "--watch", str(folder)) as server:
        wait_until(lambda: is_writing(db))
        assert server.stop() == 0

    assert len(list_ids(db)) in (1, 10_001)
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]
    assert count_imported(folder) + len(list((folder / "Sim").iterdir())) == 1


def is_writing(db: Path) -> bool:
    return os.path.exists(f"{db}-wal") and os.path.getsize(f"{db}-wal") > 10**6
