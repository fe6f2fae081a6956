"""The number of SQL statements of a request does not grow with what it reads or writes."""

from collections.abc import Awaitable, Callable
from typing import Any

import factories
import httpx
import pytest
from factories import Client, unwrap
from saved_journals import for_rows
from sql_calls import noted_statements

Size = tuple[int, int]
SMALL, LARGE = (2, 2), (50, 100)
SIZES = (SMALL, SMALL, LARGE)  # what the server deletes as it starts may be in the first
Send = Callable[[Client, Any, Size], Awaitable[httpx.Response]]


def new_setups(size: Size, suffix: str = "") -> list[dict[str, Any]]:
    setups, confirmations = size
    return [
        {
            "name": f"s{number}{suffix}",
            "confirmations": [{"name": f"c{place}{suffix}"} for place in range(confirmations)],
        }
        for number in range(setups)
    ]


# The setups that a PATCH sends for a strategy.
REPLACEMENTS: dict[str, Callable[[Any, Size], list[dict[str, Any]]]] = {
    "all in place": lambda strategy, size: factories.renamed(strategy["setups"]),
    "all new": lambda strategy, size: new_setups(size, " new"),
    "all kept": lambda strategy, size: [{"setup_id": one["setup_id"]} for one in strategy["setups"]],
    "none": lambda strategy, size: [],
    "confirmations cleared": lambda strategy, size: [
        {"setup_id": one["setup_id"], "confirmations": []} for one in strategy["setups"]
    ],
}


async def create(client: Client, strategy: Any, size: Size) -> httpx.Response:
    return await client.post("/strategies", json={"name": f"New {strategy['name']}", "setups": new_setups(size)})


async def delete(client: Client, strategy: Any, size: Size) -> httpx.Response:
    return await client.delete(f"/strategies/{strategy['id']}")


def replace(setups: Callable[[Any, Size], list[dict[str, Any]]]) -> Send:
    return lambda client, strategy, size: client.patch(
        f"/strategies/{strategy['id']}", json={"setups": setups(strategy, size)}
    )


SENDS: dict[str, Send] = {"create": create, "delete": delete} | {
    f"replace, {kind}": replace(setups) for kind, setups in REPLACEMENTS.items()
}


@pytest.fixture
async def strategies(client: Client) -> list[Any]:
    return [
        await factories.create_strategy(client, f"{number}", setups=new_setups(size))
        for number, size in enumerate(SIZES)
    ]


@for_rows("send", SENDS.values())
async def test_a_write_of_50_times_100_takes_as_many_statements_as_2_times_2(
    client: Client, strategies: list[Any], send: Send
) -> None:
    counts = []
    for strategy, size in zip(strategies, SIZES, strict=True):
        with noted_statements() as noted:
            response = await send(client, strategy, size)
        assert response.is_success, response.text
        counts.append(len(noted))

    _, small, large = counts
    assert 0 < large == small


@pytest.mark.parametrize("suffix", ["", "/setups"])
async def test_reading_50_times_100_is_one_statement(client: Client, suffix: str) -> None:
    strategy = await factories.create_strategy(client, setups=new_setups(LARGE))

    with noted_statements() as noted:
        unwrap(await client.get(f"/strategies/{strategy['id']}{suffix}"))

    assert len(noted) == 1


async def test_1000_trades_at_once_take_one_statement_more_for_each_250_rows(client: Client, account_id: int) -> None:
    counts = []
    for size in (2, 1000):
        trades = [{"account_id": account_id, **factories.A_TRADE, "external_id": f"{size} {n}"} for n in range(size)]
        with noted_statements() as noted:
            unwrap(await client.post("/trades/bulk", json={"trades": trades}))
        counts.append(len(noted))

    few, many = counts
    assert many == few + 3


@pytest.mark.parametrize("path", ["/tags", "/tag-categories", "/goals", "/strategies"])
async def test_a_list_is_one_statement_however_long(client: Client, path: str) -> None:
    category = await factories.create_category(client)
    for number in range(20):
        await factories.create_tag(client, f"{number}", category_id=category["id"])
        await factories.create_category(client, f"{number}")
        await factories.create_goal(client)
        await factories.create_strategy(client, f"{number}", setups=[{"name": "a"}])

    with noted_statements() as noted:
        listed = unwrap(await client.get(path))

    assert len(listed) >= 20
    assert len(noted) == 1
