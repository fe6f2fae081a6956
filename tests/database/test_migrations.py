"""The database file: what a new one holds, which files are refused, and how older journals are migrated."""

import json
import re
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing, nullcontext
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import journals
import pytest
from commands import PATIENCE, change, command, dump, environment, rows, run_ok, running
from conftest import opened
from desktop import pipe
from factories import create_goal, history_of, unwrap
from proofs import examples
from released_schemas import list_hashes

from journal_api.database import migrations, schemas, triggers
from journal_api.database.check import examine
from journal_api.database.lock import process_lock
from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings
from journal_api.statistics.row_checks import CHECKS
from journal_api.values.api_keys import parse_scopes

TIME = r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z"
# Tables whose rows no response shows as they are written: derived or temporary.
NOT_SHOWN = {
    *("users", "idempotency_keys", "goal_targets", "snapshots", "example_rows"),
    *("import_timezones", "statements", "restatements", "import_links", "picture_contents", "picture_parts"),
    *("trade_facts", "trade_counts", "changed_days", "changed_objects", "search_documents"),
}
# In CI every fourth: the scripts of all run from the first.
OLDER_VERSIONS = pytest.mark.parametrize(
    "version", sorted({1, *range(schemas.VERSION - 1, 0, -examples(full=1, ci=4))})
)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """The path of the database, in an otherwise empty folder."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "journal.db"


# A new database ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_empty_file", [False, True])
def test_a_new_database_is_what_schema_sql_says_and_has_one_user(db: Path, is_empty_file: bool) -> None:
    if is_empty_file:
        db.touch()

    migrations.prepare(Settings(db=db))

    sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    with closing(sqlite3.connect(":memory:")) as expected:
        expected.executescript((Path(__file__).parents[2] / "schema.sql").read_text(encoding="utf-8"))
        expected.executescript(";".join(triggers.list_statements()))
        assert rows(db, sql) == expected.execute(sql).fetchall()
    assert rows(db, "PRAGMA application_id") == [(journals.APPLICATION_ID,)]
    assert rows(db, "PRAGMA user_version") == [(schemas.VERSION,)]
    tables = [name for (name,) in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    counts = read_each(db, (f"SELECT count(*) FROM {name}" for name in tables))
    filled = {name: count for name, [(count,)] in zip(tables, counts, strict=True) if count}
    of_the_search = {"search_index_config", "search_index_data"}
    assert {name: filled[name] for name in filled.keys() - of_the_search} == {"users": 1, "sqlite_sequence": 1}
    assert rows(db, "SELECT id, name, timezone, day_rollover FROM users") == [(1, "owner", "UTC", "00:00")]


def test_every_table_is_described_for_clients_that_follow_changes(db: Path) -> None:
    journals.prepare(db)

    tables = {name for (name,) in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    shown = {table for table, *_ in triggers.parse(triggers.SHOWN)}
    assert {one for one in tables if not re.match("sqlite_|search_index", one)} == shown | NOT_SHOWN
    assert not shown & NOT_SHOWN
    columns = {name for (name,) in rows(db, "SELECT name FROM pragma_table_info('trades')")}
    never_shown_alone = {"id", "user_id", "trading_day", "created_at", "changed_at"}
    assert columns - never_shown_alone == set(triggers.SHOWN_COLUMNS["trades"].split(", "))


def test_every_table_is_strict(db: Path) -> None:
    journals.prepare(db)

    loose = (
        "SELECT name FROM pragma_table_list"
        " WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite%'"
    )
    assert rows(db, loose) == []


def test_a_journal_is_left_as_it_is_with_the_tables_that_sqlite_and_litestream_add(db: Path) -> None:
    journals.prepare(db)
    change(db, "ANALYZE")
    change(db, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
    change(db, "CREATE TABLE _litestream_lock (id INTEGER)")
    before = dump(db)

    assert run_ok("users", "list", "--db", db) == "owner\n"

    assert dump(db) == before


# Files that are something else ---------------------------------------------------------------------------


@pytest.mark.parametrize(("write", "reason"), journals.FOREIGN_FILES.values(), ids=journals.FOREIGN_FILES)
@pytest.mark.promise(20)
def test_a_file_that_this_release_does_not_know_is_refused_and_stays_byte_identical(
    db: Path, write: journals.Write, reason: str
) -> None:
    write(db)
    before = journals.stored(db.parent)

    with pytest.raises(DatabaseRefused) as refusal:
        journals.prepare(db)

    assert journals.stored(db.parent) == before
    assert str(refusal.value).startswith(f"{db}: ")
    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("kept", "hint"),
    [
        ([], "install the newer release again"),
        ([journals.NEWER - 1], "install the newer release again"),
        (
            [journals.NEWER - 1, journals.NEWER, journals.NEWER + 1],
            f"put {{db}}.before-schema-{journals.NEWER}-20261101T080000.000000Z in its",
        ),
    ],
)
def test_a_journal_of_a_newer_release_says_where_the_journal_before_the_upgrade_is(
    db: Path, kept: list[int], hint: str
) -> None:
    journals.new_journal(f"PRAGMA user_version = {journals.NEWER}")(db)
    for version in kept:
        for stamp in ("20261031T080000.000000Z", "20261101T080000.000000Z"):
            db.with_name(f"{db.name}.before-schema-{version}-{stamp}").touch()
    db.with_name(f"{db.name}.before-schema-{journals.NEWER}-of-mine.Z").touch()

    with pytest.raises(DatabaseRefused) as refusal:
        journals.prepare(db)

    assert str(refusal.value).endswith(
        (hint.format(db=db), f"{hint.format(db=db)} place, which is from before the upgrade")
    )


# Several at once ---------------------------------------------------------------------------------------

ROUNDS = examples(full=10, ci=2)
# Each process opens one new database after the other, all of them at about the same time once all are there.
OPENING = """
import sys, time
from pathlib import Path
from journal_api.database.migrations import prepare
from journal_api.settings import Settings
print("here", flush=True)
start, late = float(sys.stdin.readline()), float(sys.argv[3])
for number in range(int(sys.argv[2])):
    while time.time() < start + number * 0.06 + number * late:
        pass
    try:
        prepare(Settings(db=Path(sys.argv[1]) / f"{number}.db"))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
"""


def test_processes_that_make_a_database_at_the_same_time_all_succeed(tmp_path: Path) -> None:
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", OPENING, tmp_path, str(ROUNDS), str(late)],
                    env=environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )
            for late in (0, 0.0004, 0.0008)
        ]
        assert [pipe(process.stdout).readline() for process in processes] == ["here\n"] * 3
        start = time.time() + 0.05
        for process in processes:
            print(start, file=process.stdin, flush=True)

        printed = [process.communicate(timeout=PATIENCE)[0] for process in processes]

    assert printed == ["", "", ""]
    for number in range(ROUNDS):
        assert rows(tmp_path / f"{number}.db", "SELECT name FROM users") == [("owner",)]


# An older database -------------------------------------------------------------------------------------


def test_the_migration_scripts_make_the_current_schema() -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        schemas.create_tables(made, schemas.VERSION)
        schemas.upgrade(made, schemas.VERSION)

        assert schemas.find_differences(made, schemas.VERSION) == []


@pytest.mark.parametrize("script", sorted(schemas.SCRIPTS.glob("*.sql")), ids=lambda script: script.stem)
def test_a_migration_script_changes_tables_and_rows_alone(script: Path) -> None:
    statements = list(schemas.split_statements(script.read_text(encoding="utf-8")))

    assert [one for one in statements if schemas.DERIVED.match(one) or "DROP INDEX" in one] == []


def test_the_hashes_of_released_schemas_are_those_of_their_statements() -> None:
    assert schemas.RELEASED.read_text(encoding="utf-8").splitlines() == list_hashes()


def read_shape(db: Path) -> dict[str, Any]:
    """Every table, index, trigger and view as SQLite understands them, however the SQL was written."""
    with closing(sqlite3.connect(db)) as opened:

        def read(sql: str) -> list[Any]:
            return opened.execute(sql).fetchall()

        objects = read("SELECT name, type, tbl_name FROM sqlite_schema ORDER BY type, name")
        shape: dict[str, Any] = {"objects": [one for one in objects if "sqlite_stat" not in one[0]]}
        for name, kind, _ in shape["objects"]:
            pragmas = {"table": ("table_xinfo", "foreign_key_list", "index_list"), "index": ("index_xinfo",)}
            for pragma in pragmas.get(kind, ()):
                shape[f"{name}: {pragma}"] = read(f"PRAGMA {pragma}({name})")
        shape["tables"] = sorted(read("PRAGMA main.table_list"))
        texts = read("SELECT name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name")
    shape["texts"] = [(name, " ".join(sql.split())) for name, sql in texts]
    return shape


@cache
def read_new_shape() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        journals.prepare(Path(folder) / "new.db")
        return read_shape(Path(folder) / "new.db")


def with_new_names(sql: str) -> str:
    """A statement about an older schema as one about this."""
    for old, new in {"changes": "changed_days", "object_changes": "changed_objects"}.items():
        sql = re.sub(rf"\b{old}\b", new, sql)
    return sql


def read_each(db: Path, statements: Iterable[str]) -> list[Any]:
    """The rows of each statement, by one connection, which reads the schema once."""
    with closing(sqlite3.connect(db)) as opened:
        return [opened.execute(sql).fetchall() for sql in statements]


# Every text that the search finds: resource, row, part, time, title, text.
WRITTEN = """
    SELECT 'trades', id, 0, opened_at, NULL, notes FROM trades WHERE notes IS NOT NULL
    UNION ALL
    SELECT 'trades', trade_id, confirmation_id, opened_at, NULL, confirmation_answers.notes
    FROM confirmation_answers
    JOIN trades ON trades.id = trade_id
    WHERE confirmation_answers.notes IS NOT NULL
    UNION ALL
    SELECT 'strategies', id, 0, created_at, name, description FROM strategies
    UNION ALL
    SELECT 'setups', setups.id, 0, created_at, setups.name, setups.description
    FROM setups
    JOIN strategies ON strategies.id = strategy_id
    UNION ALL
    SELECT 'tags', id, 0, created_at, name, NULL FROM tags
    UNION ALL
    SELECT 'goals', id, 0, created_at, goal_name, NULL FROM goals
    UNION ALL
    SELECT 'days', id, 0, date, NULL, plan || char(10, 10) || review FROM days
    UNION ALL
    SELECT 'trades', trade_id, -pictures.id, opened_at, NULL, caption
    FROM pictures
    JOIN trades ON trades.id = trade_id
    UNION ALL
    SELECT 'days', id, -1, day, NULL, caption FROM pictures WHERE day IS NOT NULL
    """


@OLDER_VERSIONS
@pytest.mark.soak
def test_a_journal_of_every_older_schema_is_copied_keeps_its_rows_and_is_then_like_a_new_one(
    version: int, db: Path
) -> None:
    journals.write_released(db, version)
    change(db, "UPDATE trades SET notes = 'Revenge' WHERE id IN (1, 2)")
    change(db, "UPDATE confirmation_answers SET notes = 'Calm' WHERE confirmation_id = 1")
    tables = [name for (name,) in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    (days,) = {"changes", "changed_days"}.intersection(tables)
    columns = ", ".join(name for (name,) in rows(db, "SELECT name FROM pragma_table_info('snapshots')"))
    kept = [
        *(
            f"SELECT count(*) FROM {table}"
            for table in tables
            if not re.match("search_index|sqlite_sequence|import_updates", table)
        ),
        f"SELECT seq FROM sqlite_sequence WHERE name <> 'statements' ORDER BY name <> '{days}', name",
        f"SELECT {columns} FROM snapshots ORDER BY goal_id, period_start",
        f"SELECT * FROM {days} ORDER BY sequence",
    ]
    before, all_before = read_each(db, kept), dump(db)

    journals.prepare(db)
    journals.prepare(db)  # which has nothing to do

    (copy,) = db.parent.glob("journal.db.before-*")
    assert re.fullmatch(rf"journal\.db\.before-schema-{schemas.VERSION}-{TIME}", copy.name)
    assert (dump(copy), rows(copy, "PRAGMA user_version")) == (all_before, [(version,)])
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert read_each(db, map(with_new_names, kept)) == before
    assert all(before)
    assert read_shape(db) == read_new_shape()
    assert rows(db, "PRAGMA user_version") == [(schemas.VERSION,)]
    assert {within for (within,) in rows(db, "SELECT breakeven_within FROM users")} == {0}
    assert [one.text for one in examine(db, CHECKS, full=True) if one.verdict == "wrong"] == []
    found = rows(db, "SELECT resource, row_id, part, at, title, text FROM search_documents")
    assert sorted(found, key=repr) == sorted(rows(db, WRITTEN), key=repr)
    assert rows(db, "SELECT count(*) FROM search_index WHERE search_index MATCH 'revenge OR calm'") > [(2,)]


def test_a_migration_is_a_line_of_the_servers_log_that_names_the_copy(db: Path) -> None:
    journals.write_released(db, 1)

    with running(db) as server:
        server.stop()

    (copy,) = db.parent.glob("journal.db.before-*")
    lines = [json.loads(line)["message"] for line in server.err.read_text().splitlines() if "schema" in line]
    assert lines == [f"journal {db} migrated from schema 1 to {schemas.VERSION}; the file as it was is {copy}"]


def test_a_command_that_migrates_the_journal_says_so(db: Path) -> None:
    journals.write_released(db, 1)

    first, second = command("users", "list", "--db", db), command("users", "list", "--db", db)

    assert (first.code, first.out) == (0, second.out)
    assert f"Journal {db}: migrated from schema 1 to {schemas.VERSION}; " in first.err
    assert second.err == ""


def test_a_migration_and_nothing_else_says_how_much_of_it_is_done(db: Path) -> None:
    shares: list[float] = []
    journals.write_released(db, 1)
    for _ in range(2):
        migrations.prepare(Settings(db=db), showing=lambda: nullcontext(shares.append))

    assert shares == sorted(shares)
    assert shares[0] == 0.5  # the copy of a small file is one step
    assert shares.count(1.0) == 1


def test_a_journal_that_a_server_of_an_older_release_has_open_is_left_to_it(db: Path) -> None:
    journals.write_released(db, schemas.VERSION - 1)
    before = db.read_bytes()

    with process_lock(db), pytest.raises(DatabaseRefused, match=r"a server has \S+ open; stop it"):
        journals.prepare(db)

    assert db.read_bytes() == before
    journals.prepare(db)
    assert rows(db, "PRAGMA user_version") == [(schemas.VERSION,)]


def test_a_migration_that_leaves_dangling_references_is_undone(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journals.write_released(db, 1)
    before = dump(db)
    read_scripts = schemas.read_scripts
    dangling = "DELETE FROM tag_categories;"
    monkeypatch.setattr(schemas, "read_scripts", lambda first, last: [*read_scripts(first, last), dangling])

    with pytest.raises(DatabaseRefused, match="dangling references; nothing was changed"):
        journals.prepare(db)

    assert dump(db) == before
    assert rows(db, "PRAGMA user_version") == [(1,)]
    assert [*db.parent.glob("journal.db.before-*")] == []


@pytest.mark.parametrize("part", ["data", "config", "docsize"])
def test_an_index_of_texts_that_is_damaged_is_made_again(db: Path, part: str) -> None:
    journals.write_released(db, 10)
    change(db, f"DELETE FROM search_index_{part}")

    journals.prepare(db)

    journals.assert_sound(db)
    assert rows(db, "SELECT count(*) FROM search_index") == rows(db, "SELECT count(*) FROM search_documents")


@pytest.mark.parametrize("version", range(1, 4))
def test_the_history_of_every_goal_is_rebuilt_and_balances_are_carried(version: int, db: Path) -> None:
    journals.write_released(db, version)
    change(db, "UPDATE goals SET metric = 'balance_target' WHERE id = (SELECT max(id) FROM goals)")
    change(db, "UPDATE goals SET seen_change = 1 WHERE seen_change IS NULL")
    before = rows(db, "SELECT id, metric = 'balance_target' FROM goals ORDER BY id")

    journals.prepare(db)

    assert rows(db, "SELECT id, change_cursor, carries_balance FROM goals ORDER BY id") == [
        (goal_id, None, carries_balance) for goal_id, carries_balance in before
    ]
    assert any(carries_balance for *_, carries_balance in before)


def test_running_periods_are_evaluated_again_for_their_pace_and_drawdowns_for_their_peak(db: Path) -> None:
    journals.write_released(db, 5)
    change(db, "UPDATE goals SET metric = 'max_drawdown' WHERE id = (SELECT max(id) FROM goals)")
    change(db, "UPDATE goals SET status = 'active', change_cursor = 1, evaluated_on = '2026-01-01'")

    journals.prepare(db)

    *others, drawdown = rows(db, "SELECT change_cursor, evaluated_on FROM goals ORDER BY id")
    assert set(others) == {(1, None)}
    assert drawdown == (None, None)


COSTS = "UPDATE trades SET fees = {}, content = {}"
STATED, NOT_STATED = "x'00000000000000FF'", "x'0000000100000000'"  # the last four bytes are of the fees
# What stood in a journal of a version, what is read after the migration, and the one row that there is.
FOLLOWED: list[tuple[int, str, str, tuple[Any, ...]]] = [
    (
        4,
        "UPDATE goals SET status = 'paused', evaluated_on = '2026-02-03'",
        "SELECT stopped_on FROM goals",
        ("2026-02-03",),
    ),
    (
        4,
        "UPDATE goals SET status = 'paused', evaluated_on = NULL, updated_at = '2026-03-04T05:06:07Z'",
        "SELECT stopped_on FROM goals",
        ("2026-03-04",),
    ),
    (4, "UPDATE goals SET status = 'active'", "SELECT stopped_on FROM goals", (None,)),
    (7, COSTS.format(0, "NULL"), "SELECT fees_source FROM trades", ("none",)),
    (7, COSTS.format(5, "NULL"), "SELECT fees_source FROM trades", ("typed",)),
    (7, COSTS.format(5, STATED), "SELECT fees_source FROM trades", ("file",)),
    (7, COSTS.format(0, STATED), "SELECT fees_source FROM trades", ("file",)),
    (7, COSTS.format(5, NOT_STATED), "SELECT fees_source FROM trades", ("account",)),
    (7, COSTS.format(0, NOT_STATED), "SELECT fees_source FROM trades", ("none",)),
    (7, "UPDATE trades SET symbol = 'mnq 12-26'", "SELECT contract, root FROM trades", ("MNQZ26", "MNQ")),
    (7, "UPDATE imports SET added = added", "SELECT one_trade_is FROM imports", ("row",)),
]


@pytest.mark.parametrize(("version", "stood", "read", "expected"), FOLLOWED, ids=str)
def test_a_migration_fills_what_follows_from_the_rows_that_are_there(
    version: int, stood: str, read: str, expected: tuple[Any, ...], db: Path
) -> None:
    journals.write_released(db, version)
    change(db, stood)

    journals.prepare(db)

    assert set(rows(db, read)) == {expected}


@OLDER_VERSIONS
@pytest.mark.soak
async def test_goals_imports_reports_and_lists_of_an_older_journal_read_like_new_ones(version: int, db: Path) -> None:
    journals.write_released(db, version)
    async with opened(Settings(db=db)) as client:
        for goal in unwrap(await client.get("/goals")):
            unwrap(await client.patch(f"/goals/{goal['id']}", json={"status": "active"}))
            named = ("metric", "target_value", "direction", "timeframe", "account_id", "copy_group_id")
            definition = {name: goal[name] for name in named if goal[name] is not None}
            new_goal = await create_goal(client, **definition)

            assert await history_of(client, goal) == await history_of(client, new_goal)
        imports = {one["id"]: one["trade_count"] for one in unwrap(await client.get("/imports"))}
        reported = unwrap(await client.get("/reports"))["total"]["statistics"]
        listed = (await client.get("/trades?limit=1")).json()["meta"]["pagination"]["total"]

    closed = rows(db, "SELECT count(*), sum(net_pnl) / 1e8 FROM trades WHERE closed_at IS NOT NULL")
    assert [(reported["trades"], reported["net_pnl"])] == closed
    assert [(listed,)] == rows(db, "SELECT count(*) FROM trades")
    left = rows(db, "SELECT import_id, count(*) FROM trades WHERE import_id IS NOT NULL GROUP BY 1")
    assert {import_id: count for import_id, count in imports.items() if count} == dict(left)
    assert imports


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("all", "all"),
        ("read", "read"),
        ("read:tags", "read:tags"),
        ("read:trades,write:trades", "read:trades,write:trades"),
    ],
)
def test_keys_with_all_scopes_or_all_that_read_get_those_of_days(db: Path, before: str, after: str) -> None:
    journals.write_released(db, 9)
    scopes = [scope for scope in parse_scopes(before) if not scope.endswith(":days")]
    change(db, f"UPDATE api_keys SET scopes = '{' '.join(scopes)}'")

    journals.prepare(db)

    assert {scopes for (scopes,) in rows(db, "SELECT scopes FROM api_keys")} == {" ".join(parse_scopes(after))}


def test_imports_of_what_was_called_performance_are_of_position_history(db: Path) -> None:
    journals.write_released(db, 1)

    journals.prepare(db)

    assert rows(db, "SELECT format FROM imports") == [("Tradovate position history",)]
