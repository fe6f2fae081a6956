"""The database file: docs/reliability.md 11, and what a new one holds."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import (
    PATIENCE,
    change,
    command,
    done,
    dump,
    environment,
    free_port,
    import_file,
    refused,
    rows,
    running,
)
from conftest import client_of, new_key_for, started
from factories import create_goal, snapshots_of, unwrap

from journal_api.app import create_app
from journal_api.database import migrations, schemas
from journal_api.database.lock import process_lock
from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings

ROOT = Path(__file__).parents[2]
TRADOVATE = Path(__file__).parents[1] / "data" / "tradovate_position_history.csv"
JOURNAL = 0x4A524E4C


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where the database is, or is going to be."""
    return tmp_path / "journal.db"


def prepare(db: Path) -> None:
    migrations.prepare(Settings(db=db))


def schema_of(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


def files_beside(db: Path) -> dict[str, bytes]:
    """What is stored: the file, and its log if that holds anything."""
    stored = {file.name: file.read_bytes() for file in db.parent.iterdir() if not file.name.endswith("-shm")}
    return {name: content for name, content in stored.items() if content}


# A new database ----------------------------------------------------------------------------------------


def test_a_new_database_is_what_schema_sql_says(db: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as expected:
        expected.executescript((ROOT / "schema.sql").read_text(encoding="utf-8"))

        prepare(db)

        with closing(sqlite3.connect(db)) as made:
            assert schema_of(made) == schema_of(expected)


def test_a_new_database_says_whose_it_is_and_of_which_version(db: Path) -> None:
    prepare(db)

    assert rows(db, "PRAGMA application_id") == [(JOURNAL,)]
    assert rows(db, "PRAGMA user_version") == [(schemas.VERSION,)]


def test_a_new_database_has_one_user_and_nothing_else(db: Path) -> None:
    prepare(db)

    tables = [name for (name,) in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    filled = {name: rows(db, f"SELECT count(*) FROM {name}")[0][0] for name in tables}
    assert {name: count for name, count in filled.items() if count} == {"users": 1, "sqlite_sequence": 1}
    assert rows(db, "SELECT id, name, timezone, day_rollover FROM users") == [(1, "owner", "UTC", "00:00")]


def test_a_new_database_is_sound_and_every_table_of_it_is_strict(db: Path) -> None:
    prepare(db)

    assert rows(db, "PRAGMA integrity_check") == [("ok",)]
    assert rows(db, "PRAGMA foreign_key_check") == []
    loose = (
        "SELECT name FROM pragma_table_list"
        " WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite%'"
    )
    assert rows(db, loose) == []


def test_an_empty_file_becomes_a_journal(db: Path) -> None:
    db.touch()

    prepare(db)

    assert rows(db, "SELECT name FROM users") == [("owner",)]


def test_a_journal_that_is_opened_again_is_left_as_it_is(db: Path) -> None:
    import_file(db, TRADOVATE)
    before = dump(db)

    for arguments in (("users", "list"), ("keys", "list")):
        done(*arguments, "--db", db)

    assert dump(db) == before


# A file that is something else -------------------------------------------------------------------------


def write_text(db: Path) -> None:
    db.write_text("Dear diary, today I bought the top.\n" * 100)


def write_short_text(db: Path) -> None:
    db.write_bytes(b"hi\n")


def write_other_database(db: Path) -> None:
    change(db, "CREATE TABLE notes (text TEXT)")


def write_other_application(db: Path) -> None:
    prepare(db)
    change(db, "PRAGMA application_id = 7")


def write_only_an_application_id(db: Path) -> None:
    change(db, "PRAGMA application_id = 7")


def write_only_a_version(db: Path) -> None:
    change(db, "PRAGMA user_version = 3")


def write_newer_version(db: Path) -> None:
    prepare(db)
    change(db, f"PRAGMA user_version = {schemas.VERSION + 1}")


def write_newer_version_with_log(db: Path) -> None:
    """A journal of a newer release, in the journal mode of a server that was stopped properly."""
    import_file(db, TRADOVATE)
    change(db, f"PRAGMA user_version = {schemas.VERSION + 1}")


def write_version_below_all(db: Path) -> None:
    prepare(db)
    change(db, "PRAGMA user_version = -1")


def write_half_a_journal(db: Path) -> None:
    prepare(db)
    change(db, "PRAGMA user_version = 0")


def write_newer_version_that_was_killed(db: Path) -> None:
    """A journal of a newer release whose last writes are still in its log."""
    import_file(db, TRADOVATE)
    script = (
        "import os, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1])\n"
        f"db.execute('PRAGMA user_version = {schemas.VERSION + 1}')\n"
        f"os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
    )
    subprocess.run([sys.executable, "-c", script, db], timeout=PATIENCE, check=False)
    assert db.with_name("journal.db-wal").stat().st_size


def write_only_the_two_numbers(db: Path) -> None:
    """What a file of anybody's needs to be taken for a journal, if nobody looks further."""
    change(db, f"PRAGMA application_id = {JOURNAL}")
    change(db, f"PRAGMA user_version = {schemas.VERSION}")
    change(db, "CREATE TABLE notes (text TEXT)")


def write_a_trigger_more(db: Path) -> None:
    prepare(db)
    change(db, EVIL)


def write_a_trigger_more_in_an_older_journal(db: Path) -> None:
    write_released(db, 1)
    change(db, EVIL)


def write_a_view_more(db: Path) -> None:
    prepare(db)
    change(db, "CREATE VIEW evil AS SELECT * FROM api_keys")


def write_an_index_less(db: Path) -> None:
    prepare(db)
    change(db, "DROP INDEX tags_of_category")


def write_a_column_more(db: Path) -> None:
    prepare(db)
    change(db, "ALTER TABLE tags ADD COLUMN evil TEXT")


def write_another_trigger_of_that_name(db: Path) -> None:
    prepare(db)
    change_schema(db, "SET sql = replace(sql, 'trade_id = new.id', 'trade_id') WHERE name = :name", OURS)


def write_a_check_that_is_a_comment(db: Path) -> None:
    prepare(db)
    check = "CHECK (type IN (''mistake'', ''custom''))"
    change_schema(db, f"SET sql = replace(sql, '{check}', '/* {check} */') WHERE name = :name", "tags")


def write_a_null_that_is_a_name(db: Path) -> None:
    prepare(db)
    change_schema(db, """SET sql = replace(sql, 'IS NULL', 'IS "NULL"') WHERE name = :name""", "users")


def write_two_triggers_of_one_name(db: Path) -> None:
    prepare(db)
    with closing(sqlite3.connect(db)) as opened, opened:
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute(
            "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)"
            " SELECT type, name, tbl_name, 0, replace(sql, 'trade_id = new.id', 'trade_id')"
            " FROM sqlite_schema WHERE name = ?",
            (OURS,),
        )


EVIL = "CREATE TRIGGER evil AFTER INSERT ON tag_categories BEGIN UPDATE users SET name = 'evil'; END"
OURS = "trades_drop_answers_of_old_setup"


def change_schema(db: Path, change: str, name: str) -> None:
    """Change the SQL of an object past SQLite, as a file that somebody made up may have it."""
    with closing(sqlite3.connect(db)) as opened, opened:
        opened.execute("PRAGMA writable_schema = ON")
        assert opened.execute(f"UPDATE sqlite_schema {change}", {"name": name}).rowcount == 1


STRANGE: list[Callable[[Path], None]] = [
    write_only_the_two_numbers,
    write_a_trigger_more,
    write_a_trigger_more_in_an_older_journal,
    write_a_view_more,
    write_an_index_less,
    write_a_column_more,
    write_another_trigger_of_that_name,
    write_a_check_that_is_a_comment,
    write_a_null_that_is_a_name,
    write_two_triggers_of_one_name,
]
OTHERS: list[Callable[[Path], None]] = [
    write_text,
    write_short_text,
    write_other_database,
    write_other_application,
    write_only_an_application_id,
    write_only_a_version,
    write_newer_version,
    write_newer_version_with_log,
    write_newer_version_that_was_killed,
    write_version_below_all,
    write_half_a_journal,
    *STRANGE,
]


@pytest.mark.parametrize("write", OTHERS, ids=lambda write: write.__name__.removeprefix("write_"))
@pytest.mark.promise(20)
def test_a_file_that_this_release_does_not_know_is_refused_and_stays_byte_identical(
    db: Path, write: Callable[[Path], None]
) -> None:
    write(db)
    before = files_beside(db)

    refused("users", "list", "--db", db)

    assert files_beside(db) == before


@pytest.mark.parametrize(
    "write", [write_text, write_other_database, write_newer_version], ids=lambda write: write.__name__
)
def test_a_refusal_names_the_file(db: Path, write: Callable[[Path], None]) -> None:
    write(db)

    line = refused("users", "list", "--db", db)

    assert str(db) in line


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--first-key", "--port", str(free_port())),
        ("keys", "create", "test", "--scopes", "all"),
        ("import", str(TRADOVATE), "--account", "Sim"),
    ],
    ids=["serve", "keys create", "import"],
)
def test_every_command_refuses_a_journal_of_a_newer_release(db: Path, arguments: tuple[str, ...]) -> None:
    write_newer_version(db)
    before = files_beside(db)

    line = refused(*arguments, "--db", db)

    assert str(schemas.VERSION + 1) in line
    assert files_beside(db) == before


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (write_a_trigger_more, "trigger evil on tag_categories does not belong to it;"),
        (write_a_trigger_more_in_an_older_journal, "trigger evil on tag_categories does not belong to it;"),
        (write_an_index_less, "index tags_of_category on tags is missing;"),
        (write_a_column_more, f"table tags is not the one of schema {schemas.VERSION};"),
        (write_only_the_two_numbers, "table notes does not belong to it (and "),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_refusal_names_the_first_thing_that_differs(
    db: Path, write: Callable[[Path], None], told: str
) -> None:
    write(db)

    assert told in refused("users", "list", "--db", db)


def test_a_name_in_a_file_of_somebody_elses_does_nothing_on_a_terminal(db: Path) -> None:
    prepare(db)
    change(db, 'CREATE TABLE "\x1b]0;pwn\a" (text)')

    assert r"table \x1b]0;pwn\x07 does not belong to it" in refused("users", "list", "--db", db)


def test_the_statistics_that_sqlite_keeps_are_no_difference(db: Path) -> None:
    import_file(db, TRADOVATE)
    change(db, "ANALYZE")

    assert done("users", "list", "--db", db) == "owner\n"


def test_a_table_that_has_but_the_name_of_statistics_is_refused(db: Path) -> None:
    prepare(db)
    change(db, "ANALYZE")
    change_schema(
        db, "SET sql = 'CREATE TABLE sqlite_stat1(tbl, idx, stat, evil)' WHERE name = :name", "sqlite_stat1"
    )

    assert "table sqlite_stat1 does not belong to it" in refused("users", "list", "--db", db)


def test_the_migration_scripts_make_the_current_schema() -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        for script in schemas.read_scripts(1, schemas.VERSION):
            made.executescript(script)

        assert schemas.find_differences(made, schemas.VERSION) == []


def test_a_damaged_journal_is_an_error_in_one_line(db: Path) -> None:
    import_file(db, TRADOVATE)
    damaged = bytearray(db.read_bytes())
    damaged[4096:] = b"\xff" * len(damaged[4096:])
    db.write_bytes(damaged)

    line = refused("users", "list", "--db", db)

    assert "malformed" in line


# Several at once ---------------------------------------------------------------------------------------

ROUNDS = 20
# Each process opens one new database after the other; in every tenth round all of them at the same instant.
OPENING = """
import sys, time
from pathlib import Path
from typing import Any
from journal_api.cli.common import in_database
from journal_api.database.migrations import prepare
from journal_api.repositories import users
from journal_api.settings import Settings
start, late = float(sys.argv[2]), float(sys.argv[4])
for number in range(int(sys.argv[3])):
    settings = Settings(db=Path(sys.argv[1]) / f"{number}.db")
    at = start + number * 0.06 + number % 10 * late
    time.sleep(max(0, at - time.time() - 0.005))
    while time.time() < at:
        pass
    try:
        prepare(settings)
        assert in_database(settings, lambda database: users.names(database.reader)) == ["owner"]
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
"""


def test_processes_that_make_a_database_at_the_same_time_all_succeed(tmp_path: Path) -> None:
    start = time.time() + 1.5
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENING, tmp_path, str(start), str(ROUNDS), str(late)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for late in (0, 0.0004, 0.0008)
    ]

    said = [process.communicate(timeout=PATIENCE)[0] for process in processes]

    assert said == ["", "", ""]
    for number in range(ROUNDS):
        assert rows(tmp_path / f"{number}.db", "SELECT name FROM users") == [("owner",)]


def test_a_journal_that_was_copied_while_closed_is_the_same_journal(db: Path, tmp_path: Path) -> None:
    import_file(db, TRADOVATE)
    copy = tmp_path / "copy.db"

    shutil.copyfile(db, copy)

    assert import_file(copy, TRADOVATE).out == "0 new, 5 already there\n"


# An older database -------------------------------------------------------------------------------------


def shape_of(db: Path) -> dict[str, Any]:
    """Every table, index, trigger and view as SQLite understands them, however the SQL was written."""
    with closing(sqlite3.connect(db)) as opened:
        objects = opened.execute(
            "SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type, name"
        ).fetchall()
        tables = [name for kind, name, _ in objects if kind == "table" and not name.startswith("sqlite_stat")]
        shape: dict[str, Any] = {"objects": [one for one in objects if "sqlite_stat" not in one[1]]}
        for table in tables:
            for about in ("table_xinfo", "foreign_key_list", "index_list"):
                shape[f"{table}: {about}"] = opened.execute(f"PRAGMA {about}({table})").fetchall()
        shape["indexes"] = {
            name: opened.execute(f"PRAGMA index_xinfo({name})").fetchall()
            for kind, name, _ in objects
            if kind == "index"
        }
        shape["table_list"] = sorted(opened.execute("PRAGMA main.table_list").fetchall())
        shape["triggers"] = opened.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name"
        ).fetchall()
        shape["triggers"] = [(name, " ".join(sql.split())) for name, sql in shape["triggers"]]
    return shape


def write_released(db: Path, version: int) -> None:
    """The journal that the release with that schema left behind. Its rows have what triggers once added."""
    with closing(sqlite3.connect(db)) as opened:
        for script in schemas.read_scripts(1, version):
            opened.executescript(script)
        triggers = opened.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        opened.executescript("".join(f"DROP TRIGGER {name};" for name, _ in triggers))
        opened.executescript((Path(__file__).parents[1] / "data" / f"journal_{version}.sql").read_text())
        opened.executescript("".join(f"{sql};" for _, sql in triggers))
        opened.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("version", range(1, schemas.VERSION))
def test_a_journal_of_every_older_schema_becomes_the_schema_of_a_new_one(
    version: int, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    write_released(old, version)

    prepare(old)
    prepare(new)

    assert shape_of(old) == shape_of(new)
    assert rows(old, "PRAGMA user_version") == [(schemas.VERSION,)]
    assert rows(old, "PRAGMA integrity_check") == [("ok",)]
    assert rows(old, "PRAGMA foreign_key_check") == []


def test_a_migration_is_a_line_of_the_servers_log_that_names_the_copy(db: Path) -> None:
    write_released(db, 1)

    with running(db) as server:
        server.stop()

    (copy,) = db.parent.glob("journal.db.before-*")
    lines = [json.loads(line)["message"] for line in server.err.read_text().splitlines() if "schema" in line]
    assert lines == [
        f"journal {db} migrated from schema 1 to {schemas.VERSION}; the file as it was is {copy}"
    ]


def test_a_command_that_migrates_the_journal_says_so(db: Path) -> None:
    write_released(db, 1)

    first, second = command("users", "list", "--db", db), command("users", "list", "--db", db)

    assert (first.code, first.out) == (0, second.out)
    assert f"Journal {db}: migrated from schema 1 to {schemas.VERSION}; " in first.err
    assert second.err == ""


def test_a_journal_that_a_server_of_an_older_release_has_open_is_left_to_it(db: Path) -> None:
    write_released(db, schemas.VERSION - 1)
    before = db.read_bytes()

    with process_lock(db), pytest.raises(DatabaseRefused, match=r"a server has \S+ open; stop it"):
        prepare(db)

    assert db.read_bytes() == before
    prepare(db)
    assert rows(db, "PRAGMA user_version") == [(schemas.VERSION,)]


@pytest.mark.parametrize("version", range(1, schemas.VERSION))
def test_an_older_journal_keeps_every_row_and_every_id_given_out(version: int, db: Path) -> None:
    write_released(db, version)
    tables = [name for (name,) in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    counts = {table: rows(db, f"SELECT count(*) FROM {table}") for table in tables}
    sequences = rows(db, "SELECT name, seq FROM sqlite_sequence ORDER BY name")

    prepare(db)

    assert {table: rows(db, f"SELECT count(*) FROM {table}") for table in tables} == counts
    assert rows(db, "SELECT name, seq FROM sqlite_sequence ORDER BY name") == sequences


@pytest.mark.parametrize("version", range(1, schemas.VERSION))
def test_an_older_journal_keeps_its_snapshots_and_changes(version: int, db: Path) -> None:
    write_released(db, version)
    columns = ", ".join(name for (name,) in rows(db, "SELECT name FROM pragma_table_info('snapshots')"))
    kept = [
        f"SELECT {columns} FROM snapshots ORDER BY goal_id, period_start",
        "SELECT * FROM changes ORDER BY sequence",
    ]
    before = [rows(db, sql) for sql in kept]

    prepare(db)

    assert [rows(db, sql) for sql in kept] == before
    assert all(before)


@pytest.mark.parametrize("version", range(1, 4))
def test_the_history_of_every_goal_is_rebuilt_and_balances_are_carried(version: int, db: Path) -> None:
    write_released(db, version)
    change(db, "UPDATE goals SET metric = 'balance_target' WHERE id = (SELECT max(id) FROM goals)")
    change(db, "UPDATE goals SET seen_change = 1 WHERE seen_change IS NULL")
    before = rows(db, "SELECT id, metric = 'balance_target' FROM goals ORDER BY id")

    prepare(db)

    assert rows(db, "SELECT id, change_cursor, carries_balance FROM goals ORDER BY id") == [
        (goal_id, None, carries_balance) for goal_id, carries_balance in before
    ]
    assert any(carries_balance for *_, carries_balance in before)


def test_running_periods_are_evaluated_again_for_their_pace_and_drawdowns_for_their_peak(db: Path) -> None:
    write_released(db, 5)
    change(db, "UPDATE goals SET metric = 'max_drawdown' WHERE id = (SELECT max(id) FROM goals)")
    change(db, "UPDATE goals SET status = 'active', change_cursor = 1, evaluated_on = '2026-01-01'")

    prepare(db)

    *others, drawdown = rows(db, "SELECT change_cursor, evaluated_on FROM goals ORDER BY id")
    assert set(others) == {(1, None)}
    assert drawdown == (None, None)


@pytest.mark.parametrize("version", range(1, schemas.VERSION))
async def test_the_goals_of_an_older_journal_tell_what_new_ones_tell(version: int, db: Path) -> None:
    write_released(db, version)
    app = create_app(Settings(db=db))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        goals = unwrap(await client.get("/goals"))
        for goal in goals:
            unwrap(await client.patch(f"/goals/{goal['id']}", json={"status": "active"}))
        new = [await create_goal(client, **definition_of(goal)) for goal in goals]

        for old_one, new_one in zip(goals, new, strict=True):
            assert await told_by(client, old_one) == await told_by(client, new_one)


def definition_of(goal: Any) -> dict[str, Any]:
    named = ("metric", "target_value", "direction", "timeframe", "account_id", "copy_group_id")
    return {name: goal[name] for name in named if goal[name] is not None}


async def told_by(client: httpx.AsyncClient, goal: Any) -> list[Any]:
    """Its snapshots without what is each goal's own."""
    return [
        {name: value for name, value in one.items() if name not in ("goal_id", "computed_at")}
        for one in await snapshots_of(client, goal["id"], limit=365)
    ]


@pytest.mark.parametrize("version", range(1, schemas.VERSION))
async def test_the_imports_of_an_older_journal_tell_how_many_of_their_trades_are_left(
    version: int, db: Path
) -> None:
    write_released(db, version)
    app = create_app(Settings(db=db))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        imports = unwrap(await client.get("/imports"))
        left = {one["id"]: one["trade_count"] for one in imports}

    stored = rows(db, "SELECT import_id, count(*) FROM trades WHERE import_id IS NOT NULL GROUP BY 1")
    assert left == dict(stored)
    assert imports


def test_imports_of_what_was_called_performance_are_of_position_history(db: Path) -> None:
    write_released(db, 1)

    prepare(db)

    assert rows(db, "SELECT format FROM imports") == [("Tradovate position history",)]
