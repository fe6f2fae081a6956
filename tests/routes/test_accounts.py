"""Accounts: docs/api.md#trading-record, #values and #errors."""

from typing import Any

import factories
from factories import Client, details_of, error_of, run_sql, unwrap
from saved_journals import for_rows
from sql_calls import STEPS, count_steps
from starlette.applications import Starlette


@for_rows("fields", [{}, {"closed_at": None, "exit_price": None}])
async def test_an_account_is_not_deleted_until_its_trades_are_gone(client: Client, fields: dict[str, Any]) -> None:
    account = await factories.create_account(client)
    trade = await factories.create_trade(client, account["id"], **fields)
    goal = await factories.create_goal(client, account_id=account["id"])

    refused = await client.delete(f"/accounts/{account['id']}")

    assert error_of(refused) == (409, "account_has_trades")
    assert unwrap(await client.get(f"/accounts/{account['id']}")) == account
    assert unwrap(await client.get(f"/trades/{trade['id']}")) == trade
    assert unwrap(await client.get(f"/goals/{goal['id']}")) == goal
    await client.delete(f"/trades/{trade['id']}")
    assert (await client.delete(f"/accounts/{account['id']}")).status_code == 204


# Rows that say of which account or group they are; the feed of changes keeps what it has told, goals note its place.
TABLES_WITH = """
    SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND columns.name = :column AND tables.name NOT LIKE 'changed%'
        AND tables.name <> 'goals'"""


async def read_rows_of(app: Starlette, column: str, row_id: int) -> dict[str, list[Any]]:
    tables = [name for (name,) in await run_sql(app, TABLES_WITH, {"column": column})]
    return {name: await run_sql(app, f"SELECT * FROM {name} WHERE {column} = :id", {"id": row_id}) for name in tables}


@for_rows("kind", ["account", "copy_group"])
async def test_what_an_account_or_a_group_has_goes_with_it_but_for_strategies(
    app: Starlette, client: Client, kind: str
) -> None:
    goals, strategies, ids = [], [], []
    for name in ("Gone", "Kept"):
        account = (await factories.create_account(client, name))["id"]
        await factories.create_cash(client, account)
        await factories.create_checkpoint(client, account)
        await factories.put_rules(client, account, daily_loss=500)
        group = (await factories.create_copy_group(client, name, [account]))["id"]
        ids.append(account if kind == "account" else group)
        scope: dict[str, Any] = {f"{kind}_id": ids[-1]}
        goals.append(await factories.create_goal(client, **scope, **factories.YEAR))
        await factories.snapshots_of(client, goals[-1]["id"])
        strategies.append(await factories.create_strategy(client, name, **scope, setups=[{"name": "Flag"}]))
    kept = await read_rows_of(app, f"{kind}_id", ids[1])
    path = "accounts" if kind == "account" else "copy-groups"

    assert (await client.delete(f"/{path}/{ids[0]}")).status_code == 204

    assert not any((await read_rows_of(app, f"{kind}_id", ids[0])).values())
    assert await read_rows_of(app, f"{kind}_id", ids[1]) == kept
    assert unwrap(await client.get("/goals")) == [goals[1]]
    assert await run_sql(app, "SELECT DISTINCT goal_id FROM snapshots") == [(goals[1]["id"],)]
    unbound, bound = [await factories.get_strategy(client, one["id"]) for one in strategies]
    assert (unbound[f"{kind}_id"], unbound["setups"], bound) == (None, strategies[0]["setups"], strategies[1])
    assert len(unwrap(await client.get("/accounts"))) == (1 if kind == "account" else 2)


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


async def test_a_new_calendar_moves_many_trades_in_few_steps_each(
    app: Starlette, client: Client, account_id: int
) -> None:
    trade = {"account_id": account_id, **factories.A_TRADE}
    number = 500
    unwrap(await client.post("/trades/bulk", json={"trades": [trade] * number}))
    steps_since_last = await count_steps(app)
    days = {one["trading_day"] for one in unwrap(await client.get("/trades"))}
    steps_since_last()

    unwrap(await client.patch(f"/accounts/{account_id}", json={"timezone": "Pacific/Kiritimati"}))

    assert steps_since_last() * STEPS < 400 * number  # 306; with triggers for each trade 740
    assert {one["trading_day"] for one in unwrap(await client.get("/trades"))}.isdisjoint(days)
