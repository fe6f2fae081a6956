"""A strategy that is restricted takes trades of its accounts only: docs/api.md#trading-record, T10."""

from typing import Any, NamedTuple

import httpx
import pytest
from factories import (
    A_TRADE,
    create_account,
    create_copy_group,
    create_strategy,
    create_trade,
    details_of,
    error_of,
    unwrap,
)

REFUSED = {"strategy_id": "is restricted to other accounts"}


class Desk(NamedTuple):
    """The strategies are restricted to `own`: one to the account, one to a group that has it."""

    own: int
    other: int
    strategies: list[Any]
    group: int


@pytest.fixture
async def desk(client: httpx.AsyncClient) -> Desk:
    own, other = [(await create_account(client, name))["id"] for name in ("own", "other")]
    group = (await create_copy_group(client, account_ids=[own]))["id"]
    strategies = [
        await create_strategy(client, name, setups=[{"name": "s"}], **scope)
        for name, scope in (("of account", {"account_id": own}), ("of group", {"copy_group_id": group}))
    ]
    return Desk(own, other, strategies, group)


def references(strategy: Any) -> list[dict[str, int]]:
    return [{"strategy_id": strategy["id"]}, {"setup_id": strategy["setups"][0]["setup_id"]}]


async def test_a_trade_of_another_account_may_not_name_the_strategy_or_its_setup(
    client: httpx.AsyncClient, desk: Desk
) -> None:
    trade = await create_trade(client, desk.other)
    for strategy in desk.strategies:
        for reference in references(strategy):
            created = await client.post("/trades", json={"account_id": desk.other, **A_TRADE, **reference})
            patched = await client.patch(f"/trades/{trade['id']}", json=reference)
            bulk = await client.post(
                "/trades/bulk",
                json={
                    "trades": [
                        {"account_id": account, **A_TRADE, **reference} for account in (desk.own, desk.other)
                    ]
                },
            )

            for refused in (created, patched):
                assert error_of(refused) == (400, "validation_error")
                assert details_of(refused) == {"fields": REFUSED}
            assert details_of(bulk) == {"fields": {"trades[1].strategy_id": REFUSED["strategy_id"]}}
    assert unwrap(await client.get("/trades")) == [await list_item(client, trade["id"])]


async def list_item(client: httpx.AsyncClient, trade_id: int) -> Any:
    (trade,) = [row for row in unwrap(await client.get("/trades")) if row["id"] == trade_id]
    return trade


async def test_a_trade_of_its_accounts_may_name_it(client: httpx.AsyncClient, desk: Desk) -> None:
    for strategy in desk.strategies:
        for reference in references(strategy):
            assert (await create_trade(client, desk.own, **reference))["strategy_id"] == strategy["id"]


async def test_a_trade_does_not_leave_the_accounts_of_its_strategy(
    client: httpx.AsyncClient, desk: Desk
) -> None:
    trade = await create_trade(client, desk.own, strategy_id=desk.strategies[0]["id"])
    path = f"/trades/{trade['id']}"

    refused = await client.patch(path, json={"account_id": desk.other})
    without = unwrap(await client.patch(path, json={"account_id": desk.other, "strategy_id": None}))

    assert details_of(refused) == {"fields": REFUSED}
    assert (without["account_id"], without["strategy_id"]) == (desk.other, None)


async def test_trades_stay_with_a_strategy_that_is_restricted_later(
    client: httpx.AsyncClient, desk: Desk
) -> None:
    strategy = await create_strategy(client, setups=[{"name": "s"}])
    trade = await create_trade(client, desk.other, strategy_id=strategy["id"])

    await client.patch(f"/strategies/{strategy['id']}", json={"account_id": desk.own})
    graded = unwrap(await client.patch(f"/trades/{trade['id']}", json={**trade, "grade": "A"}))

    assert (graded["grade"], graded["strategy_id"]) == ("A", strategy["id"])


async def test_an_account_that_joins_the_group_may_name_the_strategy(
    client: httpx.AsyncClient, desk: Desk
) -> None:
    members = [{"account_id": account} for account in (desk.own, desk.other)]
    await client.put(f"/copy-groups/{desk.group}/members", json={"members": members})

    trade = await create_trade(client, desk.other, strategy_id=desk.strategies[1]["id"])

    assert trade["strategy_id"] == desk.strategies[1]["id"]
