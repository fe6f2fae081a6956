"""`journal-api watch` and `serve --watch` as processes: docs/imports.md#files-by-themselves."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import commands
import pytest
from commands import PATIENCE, command, environment, import_file, make_journal, rows, run_ok, running, start, wait_until
from factories import build_file
from proofs import examples


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder is looked at each 20 ms, by processes and by commands in this one."""
    for name in ("app.EVERY", "cli.watch.EVERY"):
        monkeypatch.setitem(commands.CONSTANTS, name, 0.02)
    monkeypatch.setattr("journal_api.cli.watch.EVERY", 0.02)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A journal with the account Sim and a trade, by a file outside of the folder."""
    db, file = tmp_path / "data" / "journal.db", tmp_path / "first.csv"
    db.parent.mkdir()
    make_journal(db)
    file.write_text(build_file({"external_id": "first"}))
    import_file(db, file)
    return db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a subfolder for the account Sim."""
    (tmp_path / "drop" / "Sim").mkdir(parents=True)
    return tmp_path / "drop"


def add_files(folder: Path, number: int, name: str = "day") -> None:
    for index in range(number):
        (folder / f"{name}{index}.csv").write_text(build_file({"external_id": f"{name}{index}"}))


def count_files(folder: Path) -> int:
    """Those with content: a kill between the reservation of a name and the move leaves an empty file."""
    return sum(file.stat().st_size > 0 for file in folder.rglob("*.csv"))


def has_files(folder: Path, number: int) -> bool:
    return count_files(folder) == number


def has_more(db: Path, before: list[str]) -> bool:
    return len(list_ids(db)) > len(before)


def list_ids(db: Path) -> list[str]:
    return [external_id for (external_id,) in rows(db, "SELECT external_id FROM trades ORDER BY 1")]


def test_the_command_imports_what_is_there_once_and_says_what_was_refused(db: Path, folder: Path) -> None:
    add_files(folder, 1)
    arguments = ("watch", folder, "--account", "Sim", "--once", "--db", db)

    assert run_ok(*arguments) == "day0.csv imported: 1 new, 0 already there\n"
    (folder / "bad\n.csv").write_text("bad")
    ran = command(*arguments)

    assert (ran.code, ran.out.count("\n")) == (1, 1)
    assert f"journal-api: files refused: 1; {folder}/refused has them with the reasons\n" in ran.err
    assert list_ids(db) == ["day0", "first"]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--account", "", "--account must be 1 to 100 characters"),
        ("--timezone", "Mars", "--timezone must be an IANA time zone"),
        ("--user", "nobody", "there is no user 'nobody'"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_read(
    db: Path, folder: Path, option: str, value: str, message: str
) -> None:
    add_files(folder, 1)

    ran = command("watch", folder, "--once", "--db", db, option, value)

    assert ran.code == 1
    assert message in ran.err
    assert count_files(folder) == 1


def test_files_appear_beside_a_server_that_is_running(db: Path, folder: Path) -> None:
    with running(db), db.with_name("watch.out").open("wb") as out:
        arguments = ["watch", str(folder), "--account", "Sim", "--db", str(db)]
        process = start(arguments, environment(), out.fileno(), out.fileno())
        try:
            for name, imported in (("early", 3), ("late", 6)):
                add_files(folder, 3, name)
                wait_until(partial(has_files, folder / "imported", imported))
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 1
        finally:
            process.kill()
            process.wait(PATIENCE)

    assert list_ids(db) == [*(f"early{index}" for index in range(3)), "first", "late0", "late1", "late2"]


def test_a_server_imports_what_appears_and_logs_it(db: Path, folder: Path) -> None:
    with running(db, JOURNAL_WATCH=str(folder)) as server:
        add_files(folder / "Sim", 2)
        wait_until(lambda: "Sim/day1.csv imported: 1 new" in server.err.read_text())
        assert server.stop() == 0

    assert list_ids(db) == ["day0", "day1", "first"]
    assert count_files(folder / "imported") == 2


@pytest.mark.soak
@pytest.mark.promise(28)
def test_a_server_that_is_killed_in_the_middle_loses_nothing_and_imports_nothing_twice(
    db: Path, folder: Path, record_observation: Callable[[str], None]
) -> None:
    """Each kill is as soon as a further file is stored, and so before, amid or after its move."""
    kills, files = examples(full=20, ci=2), examples(full=300, ci=30)
    add_files(folder / "Sim", files)

    for _ in range(kills):
        with running(db, "--watch", str(folder)) as server:
            wait_until(partial(has_more, db, list_ids(db)))
            server.stop(signal.SIGKILL)
        assert count_files(folder) == files

    with running(db, "--watch", str(folder)):
        wait_until(lambda: not any((folder / "Sim").iterdir()))
    assert list_ids(db) == sorted(["first", *(f"day{index}" for index in range(files))])
    assert count_files(folder / "imported") == files
    ((added, again),) = rows(db, "SELECT sum(added), sum(duplicates) FROM imports")
    assert added == files + 1
    record_observation(f"{kills} kills, {files} files: 0 lost, 0 stored twice, {again} read again")


def test_a_stop_waits_for_the_import_that_has_begun(db: Path, folder: Path) -> None:
    rows_of_file = [{"external_id": str(number)} for number in range(5000)]
    (folder / "Sim" / "large.csv").write_text(build_file(*rows_of_file))
    log = db.with_name("journal.db-wal")

    with running(db, "--watch", str(folder)) as server:
        wait_until(lambda: log.exists() and os.path.getsize(log) > 10**6)
        assert server.stop() == 0

    assert len(list_ids(db)) in (1, 5001)
    assert rows(db, "PRAGMA integrity_check") == [("ok",)]
    assert count_files(folder) == 1
