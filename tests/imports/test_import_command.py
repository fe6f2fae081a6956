"""`journal-api import`: what it prints, its options, and the journal that it shares with the service."""

import os
import pty
import signal
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import factories
import pytest
from commands import (
    PATIENCE,
    command,
    dump,
    environment,
    import_file,
    make_journal,
    notes_in,
    rows,
    run_failing,
    run_ok,
    start,
)
from conftest import opened
from factories import unwrap

from journal_api.settings import Settings

FIRST = [{"external_id": "1", "fees": "1"}, {"external_id": "2", "fees": "1"}]
# One of each verdict but error, once FIRST is there.
SECOND = [*FIRST[:1], {"external_id": "2", "fees": "2", "exit_price": "102"}, {"external_id": "3"}]
BROKEN = [{}, {"quantity": "0"}, {"fees": "free"}, {}, {"opened_at": "today"}]
LOCAL = {"opened_at": "2026-01-05 14:00:00", "closed_at": "2026-01-05 15:00:00"}
# What a dry run of SECOND shows of its new trade.
PREVIEW = [
    "Total: 1 trade, quantity 1, gross 1, fees 0, net 1",
    "ES: 1 trade, quantity 1, gross 1, fees 0, net 1",
    "2026-01-05: 1 trade, quantity 1, gross 1, fees 0, net 1",
    "line 4: long 1 ES, 2026-01-05T14:00:00.000000Z at 100 to 2026-01-05T15:00:00.000000Z at 101, net 1",
]
CAFE = "Caf\N{LATIN SMALL LETTER E WITH ACUTE}"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """An empty journal."""
    make_journal(tmp_path / "journal.db")
    return tmp_path / "journal.db"


def write_file(folder: Path, *trades: dict[str, str], name: str = "trades.csv") -> Path:
    file = folder / name
    file.write_text(factories.build_file(*trades))
    return file


@pytest.mark.parametrize("options", [["--rows"], ["--dry-run", "--rows"]], ids=["import", "dry run"])
def test_rows_prints_a_verdict_for_every_row_and_the_counts_last(db: Path, tmp_path: Path, options: list[str]) -> None:
    first = import_file(db, write_file(tmp_path, *FIRST))
    before = dump(db)

    ran = import_file(db, write_file(tmp_path, *SECOND), *options)

    assert (first.out, ran.code) == ("2 new, 0 already there\n", 0)
    assert ran.out.splitlines() == [
        "line 2: duplicate",
        "line 3: updated: exit_price 101 -> 102, gross_pnl 1 -> 2, fees 1 -> 2",
        "line 4: new",
        *(PREVIEW if "--dry-run" in options else []),
        "1 new, 1 updated, 1 already there",
    ]
    assert ("nothing was written" in ran.err) == ("--dry-run" in options) == (dump(db) == before)
    counts = [(2, 0, 0)] if "--dry-run" in options else [(2, 0, 0), (1, 1, 1)]
    assert rows(db, "SELECT added, updated, duplicates FROM imports") == counts


@pytest.mark.parametrize("account", ["Sim", "Other"], ids=["known account", "new account"])
@pytest.mark.promise(23)
def test_a_dry_run_needs_no_turn_to_write(db: Path, tmp_path: Path, account: str) -> None:
    import_file(db, write_file(tmp_path, *FIRST))
    before = dump(db)
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        ran = import_file(db, write_file(tmp_path, *SECOND), "--dry-run", account=account)

    assert ran.code == 0, ran.err
    counts = {"Sim": "1 new, 1 updated, 1 already there\n", "Other": "3 new, 0 already there\n"}
    assert ran.out.endswith(counts[account])
    assert ("'Other'" in ran.err) == (account == "Other")
    assert dump(db) == before


@pytest.mark.parametrize(
    ("trades", "options", "start", "end"),
    [
        (BROKEN, [], "line 3: quantity must be ", " (and 2 more)"),
        (BROKEN, ["--dry-run"], "line 3: quantity must be ", " (and 2 more)"),
        (BROKEN[:2], [], "line 3: quantity must be ", "greater than 0 ('0')"),
        ([{"account": "Live"}], [], "line 2: account ", ""),
    ],
    ids=["several", "dry run", "one", "an account that the journal does not have"],
)
def test_bad_rows_are_one_line_of_error_and_nothing_is_written(
    db: Path, tmp_path: Path, trades: list[dict[str, str]], options: list[str], start: str, end: str
) -> None:
    before = dump(db)
    account = [] if "account" in trades[0] else ["--account", "Sim"]

    line = run_failing("import", write_file(tmp_path, *trades), *account, "--db", db, *options)

    assert line.startswith(f"journal-api: {start}")
    assert line.endswith(end)
    assert dump(db) == before


def test_a_dry_run_of_a_broken_file_prints_every_row_and_fails(db: Path, tmp_path: Path) -> None:
    ran = import_file(db, write_file(tmp_path, *BROKEN), "--dry-run", "--rows")

    assert ran.code == 1
    assert [line.split(": ")[:2] for line in ran.out.splitlines()] == [
        ["line 2", "new"],
        ["line 3", "error"],
        ["line 4", "error"],
        ["line 5", "new"],
        ["line 6", "error"],
    ]
    assert "line 3: error: quantity must be " in ran.out
    assert ran.err.startswith("journal-api: line 3: quantity must be ")
    assert ran.err.count("\n") == 1


def describe_change(change: Any) -> str:
    return f"{change['field']} {change['before']} -> {change['after']}"


async def test_linked_copies_are_counted_and_ambiguous_ones_are_named(db: Path, tmp_path: Path) -> None:
    async with opened(Settings(db=db)) as client:
        accounts = [(await factories.create_account(client, name))["id"] for name in ("Master", "Follower")]
        group = await factories.create_copy_group(client, account_ids=accounts)
        await client.patch(f"/copy-groups/{group['id']}", json={"master_account_id": accounts[0]})
    import_file(db, write_file(tmp_path, {}, {"symbol": "NQ"}), account="Master")

    ran = import_file(db, write_file(tmp_path, {}, {"symbol": "NQ"}, {"symbol": "NQ"}), account="Follower")

    one = "long 1 NQ at 2026-01-05T14:00:00.000000Z in account"
    assert ran.out.splitlines() == [
        "3 new, 0 already there",
        "1 linked as copies",
        f"Not linked: {one} {accounts[0]} may belong to {one} {accounts[1]} or {one} {accounts[1]}",
    ]


async def test_the_command_and_the_service_tell_the_same_and_know_each_others_imports(db: Path, tmp_path: Path) -> None:
    import_file(db, write_file(tmp_path, *FIRST, name="first.csv"))
    second = write_file(tmp_path, *SECOND, {"symbol": "NQ"}, {"symbol": "NQ"}, {"quantity": "none"})
    third = write_file(tmp_path, {"symbol": "CL"}, name="third.csv")
    async with opened(Settings(db=db)) as client:
        await factories.create_trade(client, 1, symbol="NQ")
        told = unwrap(await factories.send_file(client, second.read_bytes(), 1, dry_run="true"))["rows"]
        await factories.create_import(client, third.read_bytes(), account_id=1)

    ran = import_file(db, second, "--dry-run", "--rows")
    again = import_file(db, third)
    async with opened(Settings(db=db)) as client:
        listed = unwrap(await client.get("/imports"))
        undone = [await client.delete(f"/imports/{one['id']}") for one in listed]
        left = await factories.list_trades(client)

    assert [row["verdict"] for row in told] == ["duplicate", "updated", "new", "duplicate", "new", "error"]
    said = [(row, row["reason"] or ", ".join(map(describe_change, row.get("changes", ())))) for row in told]
    assert ran.out.splitlines() == [
        f"line {row['line']}: {row['verdict']}" + (f": {why}" if why else "") for row, why in said
    ]
    assert again.out == "0 new, 1 already there\n"
    assert [one["file_name"] for one in listed] == ["third.csv", None, "first.csv"]
    assert listed[0]["sha256"] == listed[1]["sha256"]
    assert [response.status_code for response in undone] == [204] * 3
    assert [trade["symbol"] for trade in left] == ["NQ"]


def test_an_account_is_made_once_and_recognised_by_its_normalised_name(db: Path, tmp_path: Path) -> None:
    file = write_file(tmp_path, LOCAL)

    first = import_file(db, file, account=CAFE)
    second = import_file(db, file, account="  Cafe\N{COMBINING ACUTE ACCENT} ")

    zone = "Times without an offset are in UTC, as stated.\n"
    costs = notes_in(second).removesuffix(zone)
    assert costs.startswith("Gross = net, no costs: the file states none, and account 1 has no commissions")
    assert notes_in(first) == f"New account '{CAFE}'.\n{costs}{zone}"
    assert second.out == "0 new, 1 already there\n"
    assert rows(db, "SELECT name FROM accounts") == [(CAFE,)]


def test_an_import_for_another_user_goes_into_an_account_of_their_own(db: Path, tmp_path: Path) -> None:
    import_file(db, write_file(tmp_path, {}), account="Sim")
    run_ok("users", "add", "other", "--db", db)

    unknown = run_failing("import", write_file(tmp_path, {"account": "Sim"}), "--user", "other", "--db", db)
    ran = import_file(db, write_file(tmp_path, {}), "--user", "other", account="Sim")

    assert unknown.startswith("journal-api: line 2: account ")
    assert ran.out == "1 new, 0 already there\n"
    assert rows(db, "SELECT user_id, account_id FROM trades") == [(1, 1), (2, 2)]


def test_without_an_account_option_the_file_says_which(db: Path, tmp_path: Path) -> None:
    for name in ("Live", "Sim"):
        import_file(db, write_file(tmp_path, {"symbol": name}), account=name)
    file = write_file(tmp_path, {"account": "Sim"}, {"account": "Live"}, {"account": " Sim "})

    ran = command("import", file, "--db", db)
    line = run_failing("import", write_file(tmp_path, {}), "--db", db)

    assert (ran.code, ran.out) == (0, "3 new, 0 already there\n")
    assert rows(db, "SELECT account_id FROM trades WHERE symbol = 'ES' ORDER BY id") == [(2,), (1,), (2,)]
    assert rows(db, "SELECT account_id FROM imports ORDER BY id") == [(1,), (2,), (None,)]
    assert "account" in line


@pytest.mark.parametrize(
    ("name", "shown"),
    [("\x1b]0;pwn\x07a.csv", "\ufffd]0;pwn\ufffda.csv"), ("a\nb\x9b.csv ", "a\ufffdb\ufffd.csv"), (" ", None)],
    ids=["an escape", "a line end, a control of eight bits, white space around", "white space alone"],
)
def test_control_characters_in_the_name_of_a_file_are_neither_kept_nor_shown(
    db: Path, tmp_path: Path, name: str, shown: Any
) -> None:
    ran = import_file(db, write_file(tmp_path, {}, name=name))

    assert ran.code == 0
    assert rows(db, "SELECT file_name FROM imports") == [(shown,)]
    assert not set(ran.out + ran.err) & set("\x1b\x07\x9b\r\t")


def test_ctrl_c_amid_a_file_imports_nothing_and_the_bar_shows_no_control_characters_of_its_name(
    db: Path, tmp_path: Path
) -> None:
    file = tmp_path / "\x1b]0;pwn\x07a.csv"
    file.write_text("Date,Time,Symbol,Quantity,Price,Side\n" + "2026-03-09,09:31,A,1,1,B\n" * 200_000)
    ours, theirs = pty.openpty()
    arguments = ["import", str(file), "--account", "Sim", "--timezone", "UTC", "--db", str(db)]
    process = start(arguments, environment(), subprocess.DEVNULL, theirs)
    os.close(theirs)

    told, is_stopped = b"", False
    with suppress(OSError):  # what a terminal is without its other end
        while part := os.read(ours, 4096):
            told += part
            if b" 1%" in told and not is_stopped:
                process.send_signal(signal.SIGINT)
                is_stopped = True
    os.close(ours)

    assert (process.wait(PATIENCE), rows(db, "SELECT count(*) FROM trades")) == (1, [(0,)])
    assert "\ufffd]0;pwn\ufffda.csv".encode() in told
    assert told.strip().endswith(b"journal-api: stopped")
    assert b"\x1b]" not in told
    assert b"\x07" not in told
