"""`journal-api check`: what it reports about a database, and that it changes nothing."""

import os
import re
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import journals
import pytest
from commands import change, command, new_key, rows, running
from factories import unwrap

from journal_api.database import check as database_check
from journal_api.database.check import Finding, examine, query
from journal_api.database.schemas import VERSION
from journal_api.errors import DatabaseRefused
from journal_api.statistics.row_checks import CHECKS

TIME = "2026-01-05T09:00:00.000000Z"
# An open trade from 09:00 with fees of 1, of which a part was sold; its user and account are left out.
A_SCALED_TRADE = """
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at, fees,
        created_at, updated_at, fills)
    VALUES (1, 1, 'ES', 'long', 200000000, 1, '2026-01-05T09:00:00.000000Z', 100000000, '', '', '[
        {{"id": 1, "side": "buy", "quantity": 2, "price": 1, "at": "2026-01-05T09:00:00.000000Z",
         "fees": 0.7}},
        {{"id": 2, "side": "sell", "quantity": {size}, "price": 1, "at": "2026-01-05T09:10:00.000000Z",
         "fees": {fees}}}]')"""
AN_ACCOUNT = """
    INSERT INTO accounts (user_id, name, sort_name, created_at, updated_at)
    VALUES (1, 'Live', 'live', '', '')"""
A_LOST_TEXT = """
    INSERT INTO search_documents (user_id, resource, row_id, part, at, text)
    VALUES (1, 'trades', 1, 0, '', 'Calm')"""
AN_OLD_TEXT = "UPDATE search_documents SET text = 'Late'"
A_CONTENT = "INSERT INTO picture_contents VALUES (1, 1, '', 'image/png', 1, 1, 3)"
A_PART = "INSERT INTO picture_parts VALUES (1, 0, x'010203')"
A_CLOSED_TRADE = """
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at, closed_at,
        trading_day, gross_pnl, created_at, updated_at)
    VALUES (1, 1, 'ES', 'long', 1, 1, '2026-01-05T09:00:00.000000Z', '2026-01-05T10:00:00.000000Z',
        '2026-01-05', 1, '', '')"""
TWO_OF_MARKET = (
    f"""INSERT INTO tag_categories (id, user_id, name, sort_name, created_at, updated_at)
        VALUES (1, 1, 'Market', 'market', '{TIME}', '{TIME}')""",
    f"""INSERT INTO tags (id, user_id, category_id, name, sort_name, color, type, created_at, updated_at)
        VALUES (1, 1, 1, 'Trend', 'trend', '#000000', 'custom', '{TIME}', '{TIME}'),
            (2, 1, 1, 'Range', 'range', '#000000', 'custom', '{TIME}', '{TIME}')""",
    "INSERT INTO trade_tags VALUES (1, 1), (1, 2)",
    "UPDATE tag_categories SET single = 1",
)
LINES = ("database", "permissions", "disk", "SQLite", "write-ahead", "server", "schema")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A new journal in a folder of its own."""
    db = tmp_path / "data" / "journal.db"
    journals.prepare(db)
    return db


def find(db: Path, subject: str, full: bool = False) -> Finding:
    """The one finding about that."""
    (finding,) = (finding for finding in examine(db, CHECKS, full=full) if finding.text.startswith(subject))
    return finding


def contents(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """The bytes, the mode and the time of every file."""
    return {
        file.name: (file.read_bytes(), file.stat().st_mode, file.stat().st_mtime_ns)
        for file in folder.iterdir()
        if not file.name.endswith("-shm")  # every reader of a log writes in its index
    }


@pytest.mark.parametrize(
    ("options", "pages"), [((), "quick_check"), (("--full",), "integrity_check")], ids=["quick", "full"]
)
def test_of_a_sound_journal_every_line_says_ok_and_the_exit_code_is_0(
    db: Path, options: tuple[str, ...], pages: str
) -> None:
    ran = command("check", "--db", db, *options)

    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert all(line.startswith("ok    ") for line in lines)
    assert [line.split()[1].rstrip(":") for line in lines] == [
        *LINES,
        pages,
        "foreign_key_check",
        "values",
        *(name for name, _ in CHECKS),
    ]
    assert lines[0] == f"ok    database {db}, {db.stat().st_size / 10**6:.1f} MB"
    free = float(lines[2].split()[2].replace(",", ""))
    assert free == pytest.approx(shutil.disk_usage(db).free / 10**6, rel=0.5)
    assert lines[3] == f"ok    SQLite {sqlite3.sqlite_version}"
    assert lines[6] == f"ok    schema {VERSION} of {VERSION}"


def test_a_running_server_is_reported_and_goes_on(db: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(db)
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        unwrap(client.post("/tag-categories", json={"name": "Before"}))
        beside = [list(examine(path, CHECKS)) for path in (db, link)]
        unwrap(client.post("/tag-categories", json={"name": "After"}))
        server.stop(signal.SIGKILL)

    assert {finding.verdict for findings in beside for finding in findings} == {"ok"}
    assert [findings[5].text for findings in beside] == ["server: one is running"] * 2
    assert find(db, "server").text == "server: none is running"
    with running(db) as server, server.client(key) as client:
        assert len(unwrap(client.get("/tag-categories"))) == 2


def after_a_crash(db: Path) -> None:
    journals.crash(db, "UPDATE users SET name = 'in the log'")


def after_a_crash_and_a_copy(db: Path) -> None:
    after_a_crash(db)
    db.with_name("journal.db-shm").unlink()


def of_an_older_release(db: Path) -> None:
    db.unlink()
    journals.write_released(db, 1)
    db.chmod(0o600)


STATES: dict[str, journals.Write] = {
    "new": lambda db: None,
    "log mode": journals.statements("PRAGMA journal_mode = WAL"),
    "crash": after_a_crash,
    "crash and copy": after_a_crash_and_a_copy,
    "older": of_an_older_release,
    "trigger": journals.statements(journals.TRIGGER),
    "empty": journals.content(b""),
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_check_leaves_every_file_as_it_was(db: Path, state: journals.Write) -> None:
    state(db)
    before = contents(db.parent)

    for full in (False, True):
        list(examine(db, CHECKS, full=full))

    assert contents(db.parent) == before


@pytest.mark.parametrize("seen", ["the old row", "an error"])
def test_a_file_that_is_written_while_it_is_read_is_read_again(db: Path, seen: str) -> None:
    def read_name(opened: sqlite3.Connection) -> str:
        ((name,),) = opened.execute("SELECT name FROM users").fetchall()
        if name == "owner":
            change(db, "UPDATE users SET name = 'renamed'")
            if seen == "an error":
                raise sqlite3.DatabaseError("pages of two moments")
        return str(name)

    assert query(db, read_name) == "renamed"


def test_an_error_of_a_file_that_nobody_writes_is_an_error(db: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        query(db, lambda opened: opened.execute("SELECT * FROM missing"))

    assert [file.name for file in db.parent.iterdir()] == ["journal.db"]


def other_database(db: Path) -> None:
    db.unlink()
    change(db, "CREATE TABLE bookmarks (url TEXT)")


NO_JOURNALS: dict[str, tuple[journals.Write, str]] = {
    "missing": (Path.unlink, "no such database"),
    "folder": (journals.in_turn(Path.unlink, Path.mkdir), "is a folder"),
    "text": (journals.content(journals.TEXT), "file is not a database"),
    "other database": (other_database, "this file is not a journal"),
    "newer": (
        journals.statements(f"PRAGMA user_version = {journals.NEWER}"),
        f"this journal has schema {journals.NEWER}",
    ),
}


@pytest.mark.parametrize(("state", "reason"), NO_JOURNALS.values(), ids=NO_JOURNALS)
def test_what_is_no_journal_of_this_release_is_refused(db: Path, state: journals.Write, reason: str) -> None:
    state(db)
    before = {file.name for file in db.parent.iterdir()}

    with pytest.raises(DatabaseRefused, match=f"^{db}: {reason}"):
        list(examine(db, CHECKS))

    assert {file.name for file in db.parent.iterdir()} == before


def with_a_trade(*sql: str) -> journals.Write:
    return journals.statements(AN_ACCOUNT, A_CLOSED_TRADE, *sql)


MANY_TABLES = [f"t{number:02}" for number in range(12)]
OF_SCHEMA = f"of {VERSION}: "
LOOSE = "foreign_key_check: rows with dangling references: 1, in tag_categories"
AN_OBJECT = "objects: not in agreement with rows accounts 1"
FINDINGS: dict[str, tuple[journals.Write, str, str]] = {
    "empty": (journals.content(b""), "wrong", f"schema 0 {OF_SCHEMA}the file is empty"),
    "older": (of_an_older_release, "warn", f"schema 1 {OF_SCHEMA}the next start of the service migrates it"),
    "differences": (
        journals.statements(journals.TRIGGER, "DROP INDEX tags_of_category"),
        "wrong",
        f"schema {VERSION} {OF_SCHEMA}trigger evil on tag_categories does not belong to it; "
        "index tags_of_category on tags is missing",
    ),
    "many differences": (
        journals.statements(*(f"CREATE TABLE {name} (a)" for name in MANY_TABLES)),
        "wrong",
        f"schema {VERSION} {OF_SCHEMA}"
        + "; ".join(f"table {name} does not belong to it" for name in MANY_TABLES[:10])
        + " (and 2 more)",
    ),
    "loose row": (journals.statements(journals.LOOSE_ROW), "wrong", LOOSE),
    "loose row in the log": (lambda db: journals.crash(db, journals.LOOSE_ROW), "wrong", LOOSE),
    "fills": (
        journals.statements(A_SCALED_TRADE.format(fees=0.3, size=1)),
        "ok",
        "fills: in agreement with their trades",
    ),
    **{
        f"fees {fees} and size {size} of fills": (
            journals.statements(A_SCALED_TRADE.format(fees=fees, size=size)),
            *("wrong", "fills: not in agreement with trades 1"),
        )
        for fees, size in ((1.3, 1), (0.3, 2))
    },
    "facts to come": (with_a_trade(), "ok", "facts: in agreement with their trades"),
    "missing facts": (
        with_a_trade("UPDATE users SET facts_cursor = 1"),
        *("wrong", "facts: not in agreement with trades 1"),
    ),
    "wrong counts": (
        with_a_trade("UPDATE trade_counts SET trades = 2"),
        *("wrong", "counts: not in agreement with trades 1"),
    ),
    "lost text": (with_a_trade(A_LOST_TEXT), "wrong", "search: not in agreement with texts trades 1"),
    "old text": (
        with_a_trade("UPDATE trades SET notes = 'Calm'", AN_OLD_TEXT),
        *("wrong", "search: not in agreement with texts trades 1"),
    ),
    "missing day": (
        with_a_trade("DELETE FROM changed_days"),
        *("wrong", "changes: not in agreement with days 2026-01-05 of account 1"),
    ),
    "object that is there": (
        journals.statements(AN_ACCOUNT, "UPDATE changed_objects SET deleted = 1"),
        *("wrong", AN_OBJECT),
    ),
    "object that is gone": (
        journals.statements(AN_ACCOUNT, "DELETE FROM accounts", "UPDATE changed_objects SET deleted = 0"),
        *("wrong", AN_OBJECT),
    ),
    "two tags": (
        journals.statements(*TWO_OF_MARKET),
        *("wrong", "values: trade_tags trade_id 1: a trade must have at most one tag of Market"),
    ),
    **{
        sql: (journals.statements(sql), "wrong", f"values: {finding}")
        for sql, finding in {
            "UPDATE users SET timezone = '../../etc/passwd'": "users id 1: timezone must be an IANA time zone",
            "UPDATE users SET day_rollover = '99:99', updated_at = 'x'": "users id 1: day_rollover must be a time",
            f"UPDATE sqlite_sequence SET seq = {2**63 - 1} WHERE name = 'users'": "users id 9223372036854775807: ",
        }.items()
    },
    "picture": (journals.statements(A_CONTENT, A_PART), "ok", "pictures: in agreement with their contents"),
    "cut picture": (
        journals.statements(A_CONTENT, A_PART, "UPDATE picture_parts SET bytes = x'01'"),
        *("wrong", "pictures: not in agreement with contents 1"),
    ),
}


@pytest.mark.parametrize(("state", "verdict", "text"), FINDINGS.values(), ids=FINDINGS)
def test_a_finding_says_what_is_wrong_also_by_a_link(
    db: Path, tmp_path: Path, state: journals.Write, verdict: str, text: str
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(db)
    state(db)

    found = find(link, re.split("[: ]", text)[0])

    assert (found.verdict, found.text[: len(text)]) == (verdict, text)


def test_pages_that_were_overwritten_are_found_and_the_other_checks_still_made(db: Path) -> None:
    ((page, size),) = rows(
        db, "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'idempotency_keys'"
    )
    with db.open("r+b") as file:  # no connection is open
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)

    findings = list(examine(db, CHECKS))

    assert [finding.verdict for finding in findings] == ["ok"] * 7 + ["wrong"] * 2 + ["ok"] * 9
    assert findings[7].text.startswith("quick_check: ")


def test_an_index_without_some_of_its_rows_is_found_by_the_full_check_alone(db: Path) -> None:
    index = "tag_categories_in_order"
    with closing(sqlite3.connect(db, isolation_level=None)) as opened:
        stored = opened.execute("SELECT * FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
    # While the index is not known.
    change(db, "INSERT INTO tag_categories VALUES (1, 1, 'Psychology', 'psychology', '', '', 0)")
    with closing(sqlite3.connect(db, isolation_level=None)) as opened:
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", stored)

    assert find(db, "quick_check").verdict == "ok"
    verdict, text = find(db, "integrity_check", full=True)
    assert verdict == "wrong"
    assert f"missing from index {index}" in text


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_modes_that_let_others_in_are_a_warning_and_damage_makes_the_exit_code_1(db: Path) -> None:
    for file_mode, folder_mode in ((0o644, 0o700), (0o600, 0o755), (0o660, 0o770), (0o606, 0o700)):
        db.chmod(file_mode)
        db.parent.chmod(folder_mode)
        assert find(db, "permissions") == (
            "warn",
            f"permissions: file {file_mode:04o}, folder {folder_mode:04o}; only the owner needs access: "
            "use 0600 and 0700",
        )
    assert command("check", "--db", db).code == 0
    change(db, journals.LOOSE_ROW)

    ran = command("check", "--db", db)

    assert ran.code == 1
    assert {line[:6] for line in ran.out.splitlines()} == {"ok    ", "warn  ", "wrong "}


@pytest.fixture
def closed_folder(db: Path) -> Iterator[Path]:
    """The folder of the database, without the permission to write."""
    db.parent.chmod(0o500)
    if os.access(db.parent, os.W_OK):
        pytest.skip("this user may write everywhere")
    yield db.parent
    db.parent.chmod(0o700)


def test_a_file_in_a_folder_that_cannot_be_written_is_wrong_but_is_read(db: Path, closed_folder: Path) -> None:
    verdicts = {finding.text.split(":")[0]: finding.verdict for finding in examine(db, CHECKS)}

    assert (verdicts["permissions"], verdicts["write-ahead log"]) == ("wrong", "wrong")
    assert verdicts["quick_check"] == "ok"
    assert [file.name for file in closed_folder.iterdir()] == ["journal.db"]


@pytest.mark.parametrize(
    ("free", "size", "verdict"),
    [
        (10**9, 10**6, "ok"),
        (10**9, 2 * 10**9, "warn"),
        (32 * 1024**2, 0, "ok"),
        (32 * 1024**2, 1, "warn"),
        (32 * 1024**2 - 1, 0, "wrong"),
    ],
)
def test_the_disk_needs_room_for_the_log_and_better_for_a_copy(free: int, size: int, verdict: str) -> None:
    finding = database_check.check_free_space(free, size)

    assert finding.verdict == verdict


def test_an_sqlite_that_is_too_old_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_check, "MIN_SQLITE", (99, 1))

    finding = database_check.check_sqlite()

    assert finding == ("wrong", f"SQLite {sqlite3.sqlite_version}; 99.1 or later is required")
