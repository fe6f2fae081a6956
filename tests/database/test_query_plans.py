"""No statement of the service looks through a table that grows with the journal.

The statements are those that SQLite is really sent while every operation is called; the plans are SQLite's.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from typing import Any, NamedTuple, get_args

import pytest
from conftest import opened
from factories import A_TRADE, Client, create_goal, snapshots_of, unwrap
from openapi_examples import send_examples
from operations import path_of
from sql_calls import noted_statements
from starlette.applications import Starlette

from journal_api.database.connections import Reader, connect
from journal_api.metrics.groupings import GROUPINGS, GroupBy
from journal_api.metrics.metrics import METRICS
from journal_api.repositories.staged_rows import stage
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings

TIMEFRAMES = ("daily", "weekly", "monthly", "quarterly")
QUERIES: dict[str, Any] = {
    **dict.fromkeys(("account_id", "copy_group_id", "strategy_id", "setup_id", "tag_id"), 1),
    **dict.fromkeys(("category_id", "import_id"), 1),
    "symbol": "ES",
    "direction": "long",
    "grade": "A",
    "outcome": "win",
    "fees_source": "none",
    "source_trade_id": 1,
    "copies": "false",
    "from": "2026-01-01",
    "to": "2026-12-31",
}
# These have a row for each table, or one at all; keys have a row for each sign-in, users one for each person.
NEVER_GROW = {"sqlite_sequence", "sqlite_schema", "api_keys", "users"}


async def use_everything(client: Client) -> None:
    """Every operation, with every filter and every metric, what makes snapshots stale, and every deletion."""
    await send_examples(client)
    for operation in OPERATIONS:
        if operation.method == "GET":
            for query in ({}, QUERIES, *({name: value} for name, value in QUERIES.items())):
                await client.get(path_of(operation, 1), params=query)
    for typed in ("entry -news", "-news", "tag:FOMO -tag:Calm", "symbol:ES -symbol:NQ", '"late entry" tag:A'):
        unwrap(await client.get("/search", params={"q": typed}))
    floor = {"kind": "trade", "distance": 1}
    for account in unwrap(await client.get("/accounts")):
        unwrap(await client.put(f"/accounts/{account['id']}/rules", json={"floor": floor}))
    unwrap(await client.get("/accounts?with=standing"))
    for group_by in get_args(GroupBy):
        of_category = {"category_id": 1} if group_by == "category" else {}
        query = {"group_by": group_by, "metrics": "max_drawdown,win_streak", **of_category}
        for filters in ({}, {"account_id": 1}, {name: QUERIES[name] for name in ("from", "to", "grade")}):
            unwrap(await client.get("/reports", params={**query, **filters}))
    goals = [
        await create_goal(client, metric=metric, timeframe=timeframe, target_value=1)
        for metric, timeframe in zip(METRICS, cycle(TIMEFRAMES), strict=False)
    ]
    goals.append(await create_goal(client, timeframe="custom", custom_start="2026-01-01", custom_end="2026-12-31"))
    for _ in range(2):
        (account, *_) = unwrap(await client.get("/accounts"))
        unwrap(await client.post("/trades", json={"account_id": account["id"], **A_TRADE}))
        for goal in goals:
            await snapshots_of(client, goal["id"])
    await client.post("/trades", json={"account_id": 1, **A_TRADE}, headers={"Idempotency-Key": "once"})
    for operation in reversed(OPERATIONS):
        if operation.method == "DELETE":
            await client.delete(path_of(operation, 1))


def plans_of(db: sqlite3.Connection, noted: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    """(step, SQL) of every statement that reads or writes rows."""
    return [
        (step, " ".join(sql.split()))
        for sql, values in dict(noted).items()
        if sql.split(maxsplit=1)[0] in ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
        for *_, step in db.execute(f"EXPLAIN QUERY PLAN {sql}", values)
    ]


@contextmanager
def planning(settings: Settings) -> Iterator[sqlite3.Connection]:
    """A connection that knows the functions of the service; its plans are without checks of foreign keys."""
    with closing(connect(settings.db, "ro", Reader)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("PRAGMA trusted_schema = ON")  # as the writer has it
        for key, grouping in GROUPINGS.items():
            if grouping.placed or grouping.place_day:  # which some reports store of their decisions
                db.execute(f"CREATE TEMP TABLE placed_{key} (decision INTEGER PRIMARY KEY, part)")
        db.execute("CREATE TEMP TABLE moved (id INTEGER PRIMARY KEY, account_id, old_day, new_day)")
        staged = stage([], [])  # by an import
        db.execute("ATTACH ? AS staged", [staged.uri])
        yield db


def tables_of(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


class Usage(NamedTuple):
    """What every operation sent to SQLite: the statements, (step, SQL) of their plans, and the tables."""

    statements: list[str]
    plans: list[tuple[str, str]]
    tables: set[str]


@pytest.fixture(scope="module")
async def usage(tmp_path_factory: pytest.TempPathFactory) -> Usage:
    settings = Settings(db=tmp_path_factory.mktemp("usage") / "journal.db")
    async with opened(settings) as client:
        with noted_statements() as noted:
            await use_everything(client)
        with planning(settings) as db:
            return Usage(list(dict(noted)), plans_of(db, noted), tables_of(db))


def test_no_statement_scans_a_table_that_grows(usage: Usage) -> None:
    growing = usage.tables - NEVER_GROW

    assert len(usage.plans) > 70
    assert [
        (step, sql)
        for step, sql in usage.plans
        if (found := re.match(r"SCAN (\w+)(?! VIRTUAL TABLE INDEX \d+:M)", step))  # which looks words up
        and alias_of(sql, found[1]) in growing
    ] == []


def test_no_statement_looks_through_rows_again_for_each_row_of_another_table(usage: Usage) -> None:
    """SQLite gives a CTE an index only if it expects many rows of it, which depends on all filters."""
    pairs = zip(usage.plans, usage.plans[1:], strict=False)
    assert [
        (step, sql)
        for (before, _), (step, sql) in pairs
        if before.startswith("CORRELATED") and re.fullmatch(r"SCAN \w+", step) and step != "SCAN CONSTANT ROW"
    ] == []


def test_only_lists_look_through_all_trades_of_their_owner(usage: Usage) -> None:
    through_all = {
        sql
        for step, sql in usage.plans
        if (found := re.match(r"SEARCH (\w+) USING .*\((?:user_id|external_id)=\?\)$", step))
        and alias_of(sql, found[1]) == "trades"
    }
    lists = {sql for sql in through_all if "ORDER BY opened_at DESC, id DESC" in sql}
    assert lists
    # A report finds trades of some filters by an index, a change of time zone moves every trading day.
    reports = {sql for sql in through_all if sql.startswith("WITH facts")}
    moves = {sql for sql in through_all if "changed_at = :now" in sql}
    open_positions = {sql for sql in through_all if "WHERE user_id = :user_id AND closed_at IS NULL" in sql}
    assert through_all - lists - reports - moves - open_positions == set()


def test_json_that_comes_out_of_a_subquery_is_made_json_again(usage: Usage) -> None:
    """Without `json()` SQLite since 3.54 would answer it as text; older ones would not tell."""
    statements = [re.sub(r"\( SELECT", "(SELECT", " ".join(sql.split())) for sql in usage.statements]
    # The value of a member of an object, without `json()` around it.
    unwrapped = re.compile(r"', \(SELECT (?:json_|'\[')")
    assert [sql for sql in statements if unwrapped.search(sql)] == []
    assert len([sql for sql in statements if "json((SELECT '['" in sql]) > 5


# Filters that may leave few of many trades, and the indexes that lead to those: of the page, and of its total
# if that is not kept.
INDEXES: dict[str, set[str]] = {
    "": {"trades_of_user"},
    "account_id=1": {"trades_of_account"},
    "symbol=NQ": {"trades_of_contract"},
    "grade=A": {"trades_of_grade"},
    "strategy_id=1": {"trades_of_strategy"},
    "setup_id=1&direction=long": {"trades_of_setup"},
    "outcome=open": {"trades_open"},
    "account_id=1&outcome=open": {"trades_open"},
    "from=2026-01-01&to=2026-01-31": {"trades_of_user", "trades_in_order"},
    "account_id=1&from=2026-01-01&to=2026-01-31": {"trades_of_account", "trades_in_order"},
    "symbol=NQ&from=2026-01-01": {"trades_of_contract"},
    # In the order of the list for many trades, and to be sorted for few.
    "copy_group_id=1": {"trades_of_user", "trades_of_account"},
    "root=NQ": {"trades_of_user", "trades_of_contract"},
    "outcome=breakeven": {"trades_of_user", "trades_of_result"},
    "outcome=loss&direction=long": {"trades_of_user", "trades_of_result"},
    "account_id=1&outcome=win": {"trades_of_account", "trades_of_result"},
    "copy_group_id=1&outcome=win": {"trades_of_user", "trades_of_result"},
    "root=NQ&outcome=loss": {"trades_of_user", "trades_of_contract"},
    "setup_id=1&outcome=breakeven": {"trades_of_setup"},
    "outcome=breakeven&from=2026-01-01": {"trades_of_user", "trades_of_result"},
}
# Filters that may leave many, all of which are read in the order of the list.
MANY = ["", "direction=long", "to=2026-01-31", "account_id=1", "account_id=1&to=2026-01-31"]
MANY += ["strategy_id=1", "setup_id=1&outcome=win"]
# Filters whose totals are kept.
KEPT = ["", "account_id=1", "symbol=NQ&direction=long", "outcome=win&copy_group_id=1", "root=NQ", "setup_id=1"]


async def steps_of_list(client: Client, settings: Settings, query: str) -> list[str]:
    with noted_statements() as noted:
        unwrap(await client.get(f"/trades?{query}"))
    with planning(settings) as db:
        return [step for step, _ in plans_of(db, noted)]


async def test_a_list_of_few_trades_reads_those_few_and_many_are_read_in_their_order(
    client: Client, settings: Settings
) -> None:
    for query, indexes in INDEXES.items():
        steps = await steps_of_list(client, settings, query)
        found = [re.match(r"SEARCH trades USING (?:COVERING )?INDEX (\w+)", step) for step in steps]
        assert {one[1] for one in found if one} == indexes, query
    for query in MANY:
        steps = await steps_of_list(client, settings, f"{query}&limit=7")
        # The page that was found is put in order once more.
        assert len([step for step in steps if "USE TEMP B-TREE FOR ORDER BY" in step]) == 1, query


async def test_the_total_of_a_list_is_read_from_kept_counts(app: Starlette, client: Client, settings: Settings) -> None:
    for query in KEPT:
        with noted_statements() as noted:
            unwrap(await client.get(f"/trades?{query}&limit=7"))
        (sql,) = (sql for sql, _ in noted if "trade_counts" in sql)
        assert "count(*)" not in sql, query


async def test_an_export_by_any_filter_reads_on_where_it_stopped(
    app: Starlette, client: Client, settings: Settings
) -> None:
    with noted_statements() as noted:
        for name, value in QUERIES.items():
            await client.get("/trades/export", params={name: value})

    # The trades of an import come from two indexes, so that they are sorted.
    exports = {sql: values for sql, values in noted if "FROM trades AS trade" in sql and "statements" not in sql}
    with planning(settings) as db:
        # A step whose parent is 0 is of the whole statement; lists within a trade may be sorted.
        steps = [
            step
            for sql, values in exports.items()
            for _, parent, _, step in db.execute(f"EXPLAIN QUERY PLAN {sql}", values)
            if parent == 0
        ]
    assert len(exports) > 5
    assert [step for step in steps if "ORDER BY" in step] == []


async def test_closing_leaves_no_statistics_which_would_mislead_once_the_journal_has_grown(settings: Settings) -> None:
    async with opened(settings) as client:
        await send_examples(client)

    with closing(sqlite3.connect(settings.db)) as db:
        assert [name for name in tables_of(db) if name.startswith("sqlite_stat")] == []


def alias_of(sql: str, name: str) -> str:
    """The table that the statement calls so."""
    found = re.search(rf"\b(?:FROM|JOIN) (\w+) AS {name}\b", sql)
    return found[1] if found else name
