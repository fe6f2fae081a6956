"""Point values by contract root (docs/api.md#instruments)."""

from factories import A_TRADE, Client, create_instrument, create_trade, details_of, error_of, unwrap
from saved_journals import for_rows

MNQ = {
    "root": "MNQ",
    "name": "Micro E-mini Nasdaq-100",
    "exchange": "CME",
    "currency": "USD",
    "point_value": 2,
    "source": "built-in",
}


async def test_the_list_has_the_built_in_and_the_owners_point_values_by_root(client: Client) -> None:
    await create_instrument(client, "MNQ", 3)
    await create_instrument(client, "AAA", 7)

    instruments = unwrap(await client.get("/instruments"))

    roots = [instrument["root"] for instrument in instruments]
    assert roots == sorted(roots)
    by_root = {instrument["root"]: instrument for instrument in instruments}
    assert by_root["ES"]["point_value"] == 50
    assert by_root["MYM"]["point_value"] == 0.5
    assert by_root["FDAX"]["currency"] == "EUR"
    assert by_root["MNQ"] == {**MNQ, "point_value": 3, "source": "own"}
    unknown = {"name": None, "exchange": None, "currency": None}
    assert by_root["AAA"] == {"root": "AAA", **unknown, "point_value": 7, "source": "own"}


async def test_a_deleted_value_restores_the_built_in_one_if_there_is_one(client: Client) -> None:
    for root in ("MNQ", "XYZ"):
        await create_instrument(client, root, 3)
        deleted = [await client.delete(f"/instruments/{root}") for _ in range(2)]
        assert (deleted[0].status_code, error_of(deleted[1])) == (204, (404, "not_found"))

    assert unwrap(await client.get("/instruments/MNQ")) == MNQ
    assert error_of(await client.get("/instruments/XYZ")) == (404, "not_found")


@for_rows(
    "symbol, multiplier, gross_pnl",
    [("ESU6", 50, 500), ("/NQM26", 20, 200), ("SPY240422P00496000", 100, 1000), ("ES", 1, 10)],
)
async def test_ten_points_of_a_contract_are_worth_ten_times_its_point_value(
    client: Client, symbol: str, multiplier: int, gross_pnl: int
) -> None:
    trade = await create_trade(client, symbol=symbol, exit_price=110, stop_loss=98)

    assert (trade["multiplier"], trade["gross_pnl"]) == (multiplier, gross_pnl)
    assert (trade["initial_risk"], trade["rr_realized"]) == (2 * multiplier, 5)


async def test_the_owners_point_value_is_for_new_trades_only(client: Client, account_id: int) -> None:
    before = await create_trade(client, account_id, symbol="MNQU6")
    await create_instrument(client, "MNQ", 3)
    bare = await create_trade(client, account_id, symbol="MNQ", exit_price=110)
    after = await create_trade(client, account_id, symbol="MNQU6", exit_price=102)

    assert (before["multiplier"], after["multiplier"], after["gross_pnl"]) == (2, 3, 6)
    assert unwrap(await client.get(f"/trades/{before['id']}"))["multiplier"] == 2
    assert bare["gross_pnl"] == 30


async def test_a_future_without_a_point_value_is_refused_until_it_has_one(client: Client, account_id: int) -> None:
    body = {"account_id": account_id, **A_TRADE, "symbol": "XYZU6"}

    refused = await client.post("/trades", json=body)
    many = await client.post("/trades/bulk", json={"trades": [body, {**body, "multiplier": 7}]})
    stated = await client.post("/trades", json={**body, "multiplier": 7})
    await create_instrument(client, "XYZ", 4)
    known = await client.post("/trades", json=body)

    reason = details_of(refused)["fields"]["multiplier"]
    assert "PUT /v1/instruments/XYZ" in reason
    assert details_of(many) == {"fields": {"trades[0].multiplier": reason}}
    assert [unwrap(response)["multiplier"] for response in (stated, known)] == [7, 4]


async def test_a_new_symbol_leaves_the_multiplier_as_it_is(client: Client) -> None:
    trade = await create_trade(client, symbol="ESU6")

    renamed = unwrap(await client.patch(f"/trades/{trade['id']}", json={"symbol": "MESU6"}))

    assert (renamed["multiplier"], renamed["gross_pnl"]) == (50, 50)
