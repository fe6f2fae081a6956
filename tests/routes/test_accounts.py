"""Accounts: docs/api.md#trading-record, #values and #errors."""

from typing import Any

import factories
from factories import Client, details_of, error_of, run_sql, unwrap
from saved_journals import for_rows
from sql_calls import STEPS, count_steps
from starlette.applications import Starlette

NOT_FOUND = (404, "not_found")


async def get_account(client: Client, account: Any) -> Any:
    return unwrap(await client.get(f"/accounts/{account['id']}"))


async def list_names(client: Client) -> list[str]:
    return [account["name"] for account in unwrap(await client.get("/accounts"))]


# Delete --------------------------------------------------------------------------------------------------


@for_rows("fields", [{}, {"closed_at": None, "exit_price": None}])
async def test_an_account_is_not_deleted_until_its_trades_are_gone(client: Client, fields: dict[str, Any]) -> None:
    account = await factories.create_account(client)
    trade = await factories.create_trade(client, account["id"], **fields)
    goal = await factories.create_goal(client, account_id=account["id"])

    refused = await client.delete(f"/accounts/{account['id']}")

    assert error_of(refused) == (409, "account_has_trades")
    assert await get_account(client, account) == account
    assert unwrap(await client.get(f"/trades/{trade['id']}")) == trade
    assert unwrap(await client.get(f"/goals/{goal['id']}")) == goal
    await client.delete(f"/trades/{trade['id']}")
    assert (await client.delete(f"/accounts/{account['id']}")).status_code == 204


async def test_the_goals_of_a_deleted_account_go_with_their_snapshots_and_its_strategies_stay(
    app: Starlette, client: Client
) -> None:
    account, other = await factories.create_account(client, "Gone"), await factories.create_account(client, "Kept")
    goals = [await factories.create_goal(client, account_id=one["id"], **factories.YEAR) for one in (account, other)]
    for goal in goals:
        await factories.snapshots_of(client, goal["id"])
    strategies = [
        await factories.create_strategy(client, one["name"], account_id=one["id"], setups=[{"name": "Flag"}])
        for one in (account, other)
    ]

    deleted = await client.delete(f"/accounts/{account['id']}")

    assert deleted.status_code == 204
    assert error_of(await client.get(f"/goals/{goals[0]['id']}")) == NOT_FOUND
    assert unwrap(await client.get("/goals")) == [goals[1]]
    assert await run_sql(app, "SELECT DISTINCT goal_id FROM snapshots") == [(goals[1]["id"],)]
    unbound, bound = [await factories.get_strategy(client, one["id"]) for one in strategies]
    assert (unbound["account_id"], unbound["setups"]) == (None, strategies[0]["setups"])
    assert bound == strategies[1]


async def test_a_deleted_account_leaves_its_copy_group_and_the_active_selection(client: Client) -> None:
    master, copy = await factories.create_account(client, "Master"), await factories.create_account(client, "Copy")
    group = await factories.create_copy_group(client, account_ids=[master["id"], copy["id"]])
    await client.patch(f"/copy-groups/{group['id']}", json={"master_account_id": master["id"]})
    await client.patch("/me", json={"active_selection": f"account_{master['id']}"})

    deleted = await client.delete(f"/accounts/{master['id']}")

    assert deleted.status_code == 204
    left = unwrap(await client.get(f"/copy-groups/{group['id']}"))
    assert (left["master_account_id"], left["member_count"]) == (None, 1)
    assert [member["account_id"] for member in left["members"]] == [copy["id"]]
    assert unwrap(await client.get("/me"))["active_selection"] == "all"


# Fees ----------------------------------------------------------------------------------------------------


@for_rows(
    "fees, reason",
    [
        ({"MNQ": -1}, "of MNQ must not be negative"),
        ({"MNQ": "1"}, "of MNQ must be a number"),
        ({"mnq": 1}, "must have contract roots such as MNQ, or default, as names"),
        ([], "must be an object of contract root, or default, to amount"),
        (None, "must be an object of contract root, or default, to amount"),
        ({f"R{number}": 1 for number in range(201)}, "must have at most 200 members"),
    ],
)
async def test_fees_that_are_no_amounts_by_root_are_refused(client: Client, fees: Any, reason: str) -> None:
    refused = await client.post("/accounts", json={"name": "Sim", "fees": fees})

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["fields"] == {"fees": reason}


async def test_a_new_calendar_moves_many_trades_in_few_steps_each(app: Starlette, client: Client) -> None:
    account = await factories.create_account(client)
    trade = {"account_id": account["id"], **factories.A_TRADE}
    number = 500
    unwrap(await client.post("/trades/bulk", json={"trades": [trade] * number}))
    steps_since_last = await count_steps(app)
    days = {one["trading_day"] for one in unwrap(await client.get("/trades"))}
    steps_since_last()

    unwrap(await client.patch(f"/accounts/{account['id']}", json={"timezone": "Pacific/Kiritimati"}))

    assert steps_since_last() * STEPS < 400 * number  # 306; with triggers for each trade 740
    assert {one["trading_day"] for one in unwrap(await client.get("/trades"))}.isdisjoint(days)
