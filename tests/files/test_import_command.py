"""`journal-api import`: a verdict for every row, dry runs, and the accounts that a file names."""

import csv
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import httpx
import pytest
from commands import (
    PATIENCE,
    change,
    command,
    dump,
    environment,
    import_file,
    make_journal,
    notes_in,
    rows,
    run_failing,
    run_ok,
)
from conftest import client_of, new_key_for, started
from factories import create_account, create_import, create_trade, send_file, unwrap

from journal_api.app import create_app
from journal_api.settings import Settings

PLAIN = {
    "symbol": "ES",
    "direction": "long",
    "quantity": "1",
    "entry_price": "100",
    "exit_price": "101",
    "opened_at": "2026-01-05 14:00:00",
    "closed_at": "2026-01-05 15:00:00",
}
FIRST = [{"external_id": "1", "fees": "1"}, {"external_id": "2", "fees": "1"}]
# One of each verdict but error, once FIRST is there.
SECOND = [*FIRST[:1], {"external_id": "2", "fees": "2", "exit_price": "102"}, {"external_id": "3"}]
BROKEN = [{}, {"quantity": "0"}, {"fees": "free"}, {}, {"opened_at": "today"}]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """An empty journal."""
    make_journal(tmp_path / "journal.db")
    return tmp_path / "journal.db"


def file_at(folder: Path, *trades: dict[str, str], name: str = "trades.csv") -> Path:
    """Round trips; each is a long of one ES from 100 to 101 but for those cells."""
    table = [PLAIN | trade for trade in trades]
    file = folder / name
    with file.open("w", newline="") as opened:
        columns = list(dict.fromkeys(column for row in table for column in row))
        writer = csv.DictWriter(opened, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return file


@asynccontextmanager
async def journal_at(db: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The service in this process on that file, until the end of the block."""
    app = create_app(Settings(db=db))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        yield client


# Verdicts ------------------------------------------------------------------------------------------------


def test_an_import_counts_what_was_new_what_was_corrected_and_what_was_there(
    db: Path, tmp_path: Path
) -> None:
    outcomes = [import_file(db, file_at(tmp_path, *trades)).out for trades in (FIRST, SECOND, SECOND)]

    assert outcomes == [
        "2 new, 0 already there\n",
        "1 new, 1 updated, 1 already there\n",
        "0 new, 3 already there\n",
    ]
    assert rows(db, "SELECT added, updated, duplicates FROM imports") == [(2, 0, 0), (1, 1, 1), (0, 0, 3)]
    assert rows(db, "SELECT external_id, fees, exit_price FROM trades ORDER BY id") == [
        ("1", 10**8, 101 * 10**8),
        ("2", 2 * 10**8, 102 * 10**8),
        ("3", 0, 101 * 10**8),
    ]


def test_rows_prints_a_verdict_for_every_row_and_the_counts_last(db: Path, tmp_path: Path) -> None:
    import_file(db, file_at(tmp_path, *FIRST))

    ran = import_file(db, file_at(tmp_path, *SECOND), "--rows")

    assert ran.code == 0
    assert ran.out.splitlines() == [
        "line 2: duplicate",
        "line 3: updated: exit_price, gross_pnl, fees",
        "line 4: new",
        "1 new, 1 updated, 1 already there",
    ]


async def test_the_command_tells_the_verdicts_that_the_service_tells(db: Path, tmp_path: Path) -> None:
    second = file_at(tmp_path, *SECOND, {"symbol": "NQ"}, {"symbol": "NQ"}, {"quantity": "none"})
    import_file(db, file_at(tmp_path, *FIRST, name="first.csv"))
    async with journal_at(db) as client:
        await create_trade(client, 1, symbol="NQ")
        answer = await send_file(client, second.read_bytes(), 1, dry_run="true")

    ran = import_file(db, second, "--dry-run", "--rows")

    told = unwrap(answer)["rows"]
    assert [row["verdict"] for row in told] == ["duplicate", "updated", "new", "duplicate", "new", "error"]
    said = [(row, row["reason"] or ", ".join(row["changed"])) for row in told]
    assert ran.out.splitlines() == [
        f"line {row['line']}: {row['verdict']}" + (f": {why}" if why else "") for row, why in said
    ]


async def test_what_the_command_imports_the_service_recognises_lists_and_takes_back(
    db: Path, tmp_path: Path
) -> None:
    file = file_at(tmp_path, *FIRST, {})
    import_file(db, file)

    async with journal_at(db) as client:
        again = await create_import(client, file.read_bytes(), account_id=1)
        listed = unwrap(await client.get("/imports"))
        undone = [await client.delete(f"/imports/{one['id']}") for one in listed]
        left = unwrap(await client.get("/trades"))

    assert {row["verdict"] for row in again["rows"]} == {"duplicate"}
    assert [(one["file_name"], one["trade_count"]) for one in listed] == [(None, 0), ("trades.csv", 3)]
    assert listed[0]["sha256"] == listed[1]["sha256"] == again["sha256"]
    assert [answer.status_code for answer in undone] == [204, 204]
    assert left == []


async def test_what_the_service_imported_the_command_recognises(db: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, *FIRST, {}, {})
    async with journal_at(db) as client:
        account = await create_account(client, "Sim")
        await create_import(client, file.read_bytes(), account_id=account["id"])

    ran = import_file(db, file)

    assert ran.out == "0 new, 4 already there\n"


def test_a_traders_own_edit_is_not_reverted_by_the_command(db: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, *FIRST)
    import_file(db, file)
    change(db, "UPDATE trades SET fees = 7, grade = 'A' WHERE id = 1")

    ran = import_file(db, file)

    assert ran.out == "0 new, 2 already there\n"
    assert rows(db, "SELECT fees, grade FROM trades WHERE id = 1") == [(7, "A")]


# The dry run ---------------------------------------------------------------------------------------------


def test_a_dry_run_tells_the_counts_and_writes_nothing(db: Path, tmp_path: Path) -> None:
    import_file(db, file_at(tmp_path, *FIRST))
    file, before = file_at(tmp_path, *SECOND), dump(db)

    ran = import_file(db, file, "--dry-run")

    assert (ran.code, ran.out) == (0, "1 new, 1 updated, 1 already there\n")
    assert "nothing was written" in ran.err
    assert dump(db) == before


def test_a_dry_run_does_not_make_the_account_and_says_that_it_would(db: Path, tmp_path: Path) -> None:
    before = dump(db)

    ran = import_file(db, file_at(tmp_path, *FIRST), "--dry-run", account="Sim")

    assert (ran.code, ran.out) == (0, "2 new, 0 already there\n")
    assert "'Sim'" in ran.err
    assert dump(db) == before


@pytest.mark.parametrize("account", ["Sim", "Other"], ids=["known account", "new account"])
@pytest.mark.promise(23)
def test_a_dry_run_needs_no_turn_to_write(db: Path, tmp_path: Path, account: str) -> None:
    import_file(db, file_at(tmp_path, *FIRST))
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        ran = import_file(db, file_at(tmp_path, *SECOND), "--dry-run", account=account)

    assert ran.code == 0, ran.err
    assert ran.out == (
        "1 new, 1 updated, 1 already there\n" if account == "Sim" else "3 new, 0 already there\n"
    )


def test_a_dry_run_prints_the_rows_that_the_import_then_prints(db: Path, tmp_path: Path) -> None:
    import_file(db, file_at(tmp_path, *FIRST))
    file = file_at(tmp_path, *SECOND)

    foretold = import_file(db, file, "--dry-run", "--rows")
    ran = import_file(db, file, "--rows")

    assert foretold.out == ran.out
    assert "line 4: new" in ran.out


def test_a_dry_run_of_a_broken_file_prints_every_row_and_fails_in_one_line(db: Path, tmp_path: Path) -> None:
    file, before = file_at(tmp_path, *BROKEN), dump(db)

    ran = import_file(db, file, "--dry-run", "--rows")

    assert ran.code == 1
    assert [line.split(": ")[:2] for line in ran.out.splitlines()] == [
        ["line 2", "new"],
        ["line 3", "error"],
        ["line 4", "error"],
        ["line 5", "new"],
        ["line 6", "error"],
    ]
    assert "line 3: error: quantity must be " in ran.out
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("journal-api: line 3: quantity must be ")
    assert dump(db) == before


# Bad rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["import", "dry run"])
def test_of_several_bad_rows_the_first_is_named_and_the_others_counted(
    db: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    file = file_at(tmp_path, *BROKEN)

    line = run_failing("import", file, "--account", "Sim", "--db", db, *options)

    assert line.startswith("journal-api: line 3: quantity must be ")
    assert line.endswith(" (and 2 more)")
    assert rows(db, "SELECT (SELECT count(*) FROM trades) + (SELECT count(*) FROM imports)") == [(0,)]
    assert rows(db, "SELECT count(*) FROM accounts") == [(0,)]


def test_a_bad_row_that_is_alone_is_named_without_a_count(db: Path, tmp_path: Path) -> None:
    line = run_failing("import", file_at(tmp_path, *BROKEN[:2]), "--account", "Sim", "--db", db)

    assert line.startswith("journal-api: line 3: quantity must be ")
    assert "more)" not in line


def test_the_bad_row_that_is_named_is_the_first_in_the_file(db: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, {"row": "1", "copy_of": "9"}, {"row": "2", "quantity": "0"})

    line = run_failing("import", file, "--account", "Sim", "--db", db)

    assert line.startswith("journal-api: line 2: copy_of ")
    assert line.endswith(" (and 1 more)")


def test_of_very_many_bad_rows_all_are_counted(db: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, *[{"quantity": "0"}] * 2500)

    line = run_failing("import", file, "--account", "Sim", "--db", db)

    assert line.endswith(" (and 2499 more)")


# Which account, which zone -------------------------------------------------------------------------------


def accounts_at(db: Path, tmp_path: Path, *names: str) -> None:
    """Make accounts of those names, without a trade."""
    file = tmp_path / "empty.csv"
    file.write_text(",".join(PLAIN) + "\n")
    for name in names:
        import_file(db, file, account=name)
    change(db, "DELETE FROM imports")


def trades_by_account(db: Path) -> list[tuple[str, int]]:
    return rows(
        db,
        """
        SELECT name, count(*)
        FROM trades
        JOIN accounts ON accounts.id = account_id
        GROUP BY name
        ORDER BY name
        """,
    )


def test_without_an_account_the_file_says_which(db: Path, tmp_path: Path) -> None:
    accounts_at(db, tmp_path, "Live", "Sim")
    file = file_at(tmp_path, {"account": "Sim"}, {"account": "Live"}, {"account": " Sim "})

    ran = command("import", file, "--db", db)

    assert (ran.code, ran.out) == (0, "3 new, 0 already there\n")
    assert trades_by_account(db) == [("Live", 1), ("Sim", 2)]
    assert rows(db, "SELECT account_id FROM imports") == [(None,)]


def test_an_account_that_only_the_file_names_is_not_made_but_an_error(db: Path, tmp_path: Path) -> None:
    accounts_at(db, tmp_path, "Sim")
    before = dump(db)
    file = file_at(tmp_path, {"account": "Sim"}, {"account": "Live"})

    line = run_failing("import", file, "--db", db)

    assert line.startswith("journal-api: line 3: account ")
    assert "'Live'" in line
    assert dump(db) == before


def test_an_account_of_another_user_is_not_found(db: Path, tmp_path: Path) -> None:
    accounts_at(db, tmp_path, "Sim")
    run_ok("users", "add", "other", "--db", db)

    line = run_failing("import", file_at(tmp_path, {"account": "Sim"}), "--user", "other", "--db", db)

    assert line.startswith("journal-api: line 2: account ")


def test_a_file_that_names_no_account_needs_one_on_the_command_line(db: Path, tmp_path: Path) -> None:
    line = run_failing("import", file_at(tmp_path, {}), "--db", db)

    assert "account" in line
    assert rows(db, "SELECT count(*) FROM imports") == [(0,)]


def test_a_new_account_is_told_on_standard_error_and_a_known_one_is_not(db: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, {})

    first, second = import_file(db, file), import_file(db, file)

    zone = "Times without an offset are in UTC, as stated.\n"
    assert (notes_in(first), notes_in(second)) == (f"New account 'Sim'.\n{zone}", zone)
    assert rows(db, "SELECT name FROM accounts") == [("Sim",)]


def test_the_zone_says_what_times_without_an_offset_mean(db: Path, tmp_path: Path) -> None:
    file = file_at(tmp_path, {}, {"opened_at": "2026-01-05T14:00:00Z", "closed_at": "2026-01-05T15:00:00Z"})

    ran = command("import", file, "--account", "Sim", "--timezone", "America/New_York", "--db", db)

    assert ran.out == "2 new, 0 already there\n"
    assert rows(db, "SELECT opened_at FROM trades ORDER BY id") == [
        ("2026-01-05T19:00:00.000000Z",),
        ("2026-01-05T14:00:00.000000Z",),
    ]
    assert rows(db, "SELECT timezone FROM imports") == [("America/New_York",)]


def test_copies_in_a_file_lead_to_their_original(db: Path, tmp_path: Path) -> None:
    accounts_at(db, tmp_path, "A", "B", "Leader")
    file = file_at(
        tmp_path,
        {"account": "A", "copy_of": "1"},
        {"account": "Leader", "row": "1"},
        {"account": "B", "copy_of": "1"},
    )

    command("import", file, "--db", db)

    assert rows(
        db,
        """
        SELECT copy.name, original.name
        FROM trades
        JOIN accounts AS copy ON copy.id = trades.account_id
        LEFT JOIN trades AS source ON source.id = trades.source_trade_id
        LEFT JOIN accounts AS original ON original.id = source.account_id
        ORDER BY copy.name
        """,
    ) == [("A", "Leader"), ("B", "Leader"), ("Leader", None)]


# Names of files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\x1b]0;pwn\x07a.csv", "\ufffd]0;pwn\ufffda.csv"),
        ("a\nb\r\t.csv", "a\ufffdb\ufffd\ufffd.csv"),
        ("\x9b31m.csv", "\ufffd31m.csv"),
        (" a.csv ", "a.csv"),
        (" ", None),
    ],
    ids=["an escape", "line ends", "a control of eight bits", "white space around", "white space alone"],
)
async def test_control_characters_in_the_name_of_a_file_are_neither_kept_nor_shown(
    db: Path, tmp_path: Path, name: str, shown: str | None
) -> None:
    file = file_at(tmp_path, {}, name=name)

    ran = import_file(db, file)
    async with journal_at(db) as client:
        listed = unwrap(await client.get("/imports"))

    assert ran.code == 0
    assert [one["file_name"] for one in listed] == [shown]
    assert not set(ran.out + ran.err) & set("\x1b\x07\x9b\r\t")


def test_the_bar_on_a_terminal_shows_no_control_characters_of_the_name_of_a_file(
    db: Path, tmp_path: Path
) -> None:
    file = file_at(tmp_path, {}, name="\x1b]0;pwn\x07a.csv")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "journal_api", "import", str(file), "--account", "Sim", "--db", str(db)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)

    told = b""
    with suppress(OSError):  # what a terminal is without its other end
        while part := os.read(ours, 4096):
            told += part
    os.close(ours)

    assert process.wait(PATIENCE) == 0
    assert "\ufffd]0;pwn\ufffda.csv".encode() in told
    assert b"\x1b]" not in told
    assert b"\x07" not in told


def test_an_error_about_a_file_shows_no_control_characters_of_its_name(db: Path, tmp_path: Path) -> None:
    line = run_failing("import", tmp_path / "\x1b]0;pwn\x07.csv", "--db", db)

    assert "]0;pwn" in line
    assert not set(line) & set("\x1b\x07")
