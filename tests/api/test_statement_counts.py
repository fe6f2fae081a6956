"""The number of SQL statements of a request does not grow with what it reads or writes."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from factories import (
    A_TRADE,
    create_account,
    create_category,
    create_goal,
    create_strategy,
    create_tag,
    unwrap,
)
from starlette.applications import Starlette

SMALL, LARGE = (2, 2), (50, 100)
Size = tuple[int, int]


@contextmanager
def statements_of(app: Starlette) -> Iterator[list[str]]:
    """The statements that the block sends to SQLite, on any connection, but for the look-up of the key.

    Noted where aiosqlite calls sqlite3: the trace of Python 3.11 repeats a statement for every row that it
    has a trigger run for. A row of `executemany` is a statement.
    """
    seen: list[str] = []

    def note(sql: str) -> None:
        if "FROM api_keys" not in sql:
            seen.append(sql)

    database = app.state.database
    opened = {connection._conn for connection in (database._writer, *database._open)}
    for connection in opened:
        connection.execute = noting(connection.execute, note)
        connection.executemany = noting_each(connection.executemany, note)
    try:
        yield seen
    finally:
        for connection in opened:
            del connection.execute, connection.executemany


def noting(execute: Callable[..., Any], note: Callable[[str], None]) -> Callable[..., Any]:
    def run(sql: str, values: Any = ()) -> Any:
        note(sql)
        return execute(sql, values)

    return run


def noting_each(executemany: Callable[..., Any], note: Callable[[str], None]) -> Callable[..., Any]:
    def run(sql: str, rows: Iterable[Any]) -> Any:
        every = list(rows)
        for _ in every:
            note(sql)
        return executemany(sql, every)

    return run


def new_setups(size: Size, suffix: str = "") -> list[dict[str, Any]]:
    setups, confirmations = size
    return [
        {
            "name": f"s{number}{suffix}",
            "confirmations": [{"name": f"c{place}{suffix}"} for place in range(confirmations)],
        }
        for number in range(setups)
    ]


def renamed(setups: Any) -> list[dict[str, Any]]:
    """Every setup and every confirmation in place, each with another name."""
    return [
        {
            **setup,
            "name": f"{setup['name']}, new",
            "confirmations": [{**one, "name": f"{one['name']}, new"} for one in setup["confirmations"]],
        }
        for setup in setups
    ]


def all_in_place(strategy: Any, size: Size) -> list[dict[str, Any]]:
    return renamed(strategy["setups"])


def all_new(strategy: Any, size: Size) -> list[dict[str, Any]]:
    return new_setups(size, " new")


def half_and_half(strategy: Any, size: Size) -> list[dict[str, Any]]:
    """The first half of the setups in place, half of their confirmations new; the other half new."""
    setups, confirmations = size
    kept = renamed(strategy["setups"][: setups // 2])
    for setup in kept:
        new = new_setups((1, confirmations - confirmations // 2), " new")[0]["confirmations"]
        setup["confirmations"] = setup["confirmations"][: confirmations // 2] + new
    return kept + new_setups((setups - setups // 2, confirmations), " new")


def all_kept(strategy: Any, size: Size) -> list[dict[str, Any]]:
    return [{"setup_id": setup["setup_id"]} for setup in strategy["setups"]]


def none(strategy: Any, size: Size) -> list[dict[str, Any]]:
    return []


def confirmations_cleared(strategy: Any, size: Size) -> list[dict[str, Any]]:
    return [{"setup_id": setup["setup_id"], "confirmations": []} for setup in strategy["setups"]]


async def count_at(
    app: Starlette,
    client: httpx.AsyncClient,
    size: Size,
    request: Callable[[Any], Awaitable[httpx.Response]],
) -> int:
    """How many statements the request takes for a strategy of that size."""
    strategy = await create_strategy(client, f"{size}", setups=new_setups(size))
    with statements_of(app) as seen:
        response = await request(strategy)
    assert response.status_code in (200, 201, 204), response.text
    return len(seen)


async def test_creating_50_times_100_takes_as_many_statements_as_2_times_2(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    def create(size: Size) -> Callable[[Any], Awaitable[httpx.Response]]:
        return lambda _: client.post("/strategies", json={"name": f"New {size}", "setups": new_setups(size)})

    small = await count_at(app, client, SMALL, create(SMALL))
    large = await count_at(app, client, LARGE, create(LARGE))

    assert 0 < large == small


@pytest.mark.parametrize(
    "setups", [all_in_place, all_new, half_and_half, all_kept, none, confirmations_cleared]
)
async def test_replacing_50_times_100_takes_as_many_statements_as_2_times_2(
    app: Starlette, client: httpx.AsyncClient, setups: Callable[[Any, Size], list[dict[str, Any]]]
) -> None:
    def replace(size: Size) -> Callable[[Any], Awaitable[httpx.Response]]:
        return lambda strategy: client.patch(
            f"/strategies/{strategy['id']}", json={"setups": setups(strategy, size)}
        )

    small = await count_at(app, client, SMALL, replace(SMALL))
    large = await count_at(app, client, LARGE, replace(LARGE))

    assert 0 < large == small


async def test_deleting_50_times_100_takes_as_many_statements_as_2_times_2(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    def delete(strategy: Any) -> Awaitable[httpx.Response]:
        return client.delete(f"/strategies/{strategy['id']}")

    small = await count_at(app, client, SMALL, delete)
    large = await count_at(app, client, LARGE, delete)

    assert 0 < large == small


@pytest.mark.parametrize("suffix", ["", "/setups"])
async def test_reading_50_times_100_is_one_statement(
    app: Starlette, client: httpx.AsyncClient, suffix: str
) -> None:
    count = await count_at(
        app, client, LARGE, lambda strategy: client.get(f"/strategies/{strategy['id']}{suffix}")
    )

    assert count == 1


async def make_100_tags(client: httpx.AsyncClient) -> None:
    category = await create_category(client)
    for number in range(100):
        await create_tag(client, f"Tag {number}", category_id=category["id"])


async def make_100_categories(client: httpx.AsyncClient) -> None:
    for number in range(100):
        await create_tag(client, f"Tag {number}")


async def make_100_goals(client: httpx.AsyncClient) -> None:
    for number in range(100):
        await create_goal(client, goal_name=f"Goal {number}")


async def make_100_strategies(client: httpx.AsyncClient) -> None:
    for number in range(100):
        await create_strategy(client, f"Strategy {number}", setups=[{"name": "a"}])


@pytest.mark.parametrize(
    ("make", "path"),
    [
        pytest.param(make_100_tags, "/tags", id="tags"),
        pytest.param(make_100_categories, "/tag-categories", id="tag categories"),
        pytest.param(make_100_goals, "/goals", id="goals"),
        pytest.param(make_100_strategies, "/strategies", id="strategies"),
    ],
)
async def test_a_list_of_100_is_one_statement(
    app: Starlette,
    client: httpx.AsyncClient,
    make: Callable[[httpx.AsyncClient], Awaitable[None]],
    path: str,
) -> None:
    await make(client)

    with statements_of(app) as seen:
        listed = await client.get(path)

    assert len(unwrap(listed)) == 100
    assert len(seen) == 1


async def test_1000_trades_at_once_take_as_many_statements_as_2_but_for_one_for_250_rows(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await create_account(client)

    async def statements_for(number: int) -> list[str]:
        trades = [
            {"account_id": account["id"], **A_TRADE, "external_id": f"{number} {n}"} for n in range(number)
        ]
        with statements_of(app) as seen:
            created = await client.post("/trades/bulk", json={"trades": trades})
        assert created.status_code == 201
        return seen.copy()

    assert len(await statements_for(1000)) == len(await statements_for(2)) + 3
