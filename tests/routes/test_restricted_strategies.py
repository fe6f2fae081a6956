"""A strategy that is restricted takes trades of its accounts only: docs/api.md#trading-record, T11."""

from typing import Any, NamedTuple

import factories
import pytest
from factories import Client, details_of, error_of, unwrap

REFUSED = "is restricted to other accounts"


class Desk(NamedTuple):
    """Two accounts, and strategies restricted to `own`: one to the account, one to a group that has it."""

    own: int
    other: int
    group: int
    strategies: dict[str, Any]


@pytest.fixture
async def desk(client: Client) -> Desk:
    own, other = [(await factories.create_account(client, name))["id"] for name in ("own", "other")]
    group = (await factories.create_copy_group(client, account_ids=[own]))["id"]
    scopes = {"account": {"account_id": own}, "group": {"copy_group_id": group}}
    strategies = {
        kind: await factories.create_strategy(client, kind, setups=[{"name": "s"}], **scope)
        for kind, scope in scopes.items()
    }
    return Desk(own, other, group, strategies)


@pytest.mark.parametrize("kind", ["account", "group"])
@pytest.mark.parametrize("by_setup", [False, True], ids=["by strategy_id", "by setup_id"])
async def test_only_trades_of_its_accounts_may_name_a_restricted_strategy(
    client: Client, desk: Desk, kind: str, by_setup: bool
) -> None:
    strategy = desk.strategies[kind]
    reference = {"setup_id": strategy["setups"][0]["setup_id"]} if by_setup else {"strategy_id": strategy["id"]}
    allowed, refused = [{"account_id": account, **factories.A_TRADE, **reference} for account in (desk.own, desk.other)]
    trade = await factories.create_trade(client, desk.other)

    for response in (
        await client.post("/trades", json=refused),
        await client.patch(f"/trades/{trade['id']}", json=reference),
    ):
        assert error_of(response) == (400, "validation_error")
        assert details_of(response) == {"fields": {"strategy_id": REFUSED}}
    bulk = await client.post("/trades/bulk", json={"trades": [allowed, refused]})
    assert details_of(bulk) == {"fields": {"trades[1].strategy_id": REFUSED}}
    assert [row["strategy_id"] for row in unwrap(await client.get("/trades"))] == [None]
    assert unwrap(await client.post("/trades", json=allowed))["strategy_id"] == strategy["id"]


async def test_a_trade_leaves_the_accounts_of_its_strategy_only_without_the_strategy(
    client: Client, desk: Desk
) -> None:
    trade = await factories.create_trade(client, desk.own, strategy_id=desk.strategies["account"]["id"])
    path = f"/trades/{trade['id']}"

    refused = await client.patch(path, json={"account_id": desk.other})
    moved = unwrap(await client.patch(path, json={"account_id": desk.other, "strategy_id": None}))

    assert details_of(refused) == {"fields": {"strategy_id": REFUSED}}
    assert (moved["account_id"], moved["strategy_id"]) == (desk.other, None)


async def test_trades_stay_with_a_strategy_that_is_restricted_later(client: Client, desk: Desk) -> None:
    strategy = await factories.create_strategy(client, setups=[{"name": "s"}])
    trade = await factories.create_trade(client, desk.other, strategy_id=strategy["id"])

    await client.patch(f"/strategies/{strategy['id']}", json={"account_id": desk.own})
    graded = unwrap(await client.patch(f"/trades/{trade['id']}", json={**trade, "grade": "A"}))

    assert (graded["grade"], graded["strategy_id"]) == ("A", strategy["id"])
