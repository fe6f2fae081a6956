"""POST /trades/bulk: many trades in one transaction, errors by index."""

import httpx
from factories import (
    A_TRADE,
    create_account,
    create_trade,
    details_of,
    error_of,
    list_trades,
    unwrap,
)


async def test_many_trades_are_written_at_once_in_the_order_sent(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    sent = [{"account_id": account["id"], **A_TRADE, "symbol": f"S{number}"} for number in range(1000)]

    created = await client.post("/trades/bulk", json={"trades": sent})

    assert created.status_code == 201
    assert [trade["symbol"] for trade in unwrap(created)] == [f"S{number}" for number in range(1000)]
    assert (await client.get("/trades")).json()["meta"]["pagination"]["total"] == 1000


async def test_every_error_is_told_by_its_index_and_nothing_is_written(client: httpx.AsyncClient) -> None:
    good = {"account_id": (await create_account(client))["id"], **A_TRADE}
    sent = [good, {**good, "quantity": 0}, good, {**good, "wins": 1}, {**good, "exit_price": None}]

    refused = await client.post("/trades/bulk", json={"trades": sent})

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused) == {
        "fields": {
            "trades[1].quantity": "must be greater than 0",
            "trades[4].exit_price": "is required without gross_pnl",
        },
        "unknown_fields": ["trades[3].wins"],
    }
    assert await list_trades(client) == []


async def test_what_points_elsewhere_is_told_by_its_index_too(client: httpx.AsyncClient) -> None:
    stored = await create_trade(client, external_id="0")
    good = {"account_id": stored["account_id"], **A_TRADE}
    ids = [{**good, "external_id": name} for name in ("1", "1", "0")]

    refused = await client.post("/trades/bulk", json={"trades": [*ids, {**good, "account_id": 99}]})

    assert details_of(refused) == {
        "fields": {
            "trades[1].external_id": "is taken",
            "trades[2].external_id": "is taken",
            "trades[3].account_id": "is not one of your accounts",
        }
    }
    assert len(await list_trades(client)) == 1
