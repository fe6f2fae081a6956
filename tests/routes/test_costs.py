"""Costs of trades that are entered by hand, and of earlier ones: docs/imports.md#commissions."""

from typing import Any

import factories
from factories import Client, details_of, error_of, patch_trade, unwrap
from saved_journals import for_rows

FEES = {"ES": 2, "MNQ": 0.37}
OPEN = {"exit_price": None, "closed_at": None}
CLOSE = {"exit_price": 102, "closed_at": "2026-01-05T16:00:00Z"}


async def charge_earlier(client: Client, account_id: int, fees: Any, **query: Any) -> Any:
    return await client.patch(f"/accounts/{account_id}", params={"apply_to": "earlier", **query}, json={"fees": fees})


def costs(trade: Any) -> tuple[float, str]:
    return trade["fees"], trade["fees_source"]


@for_rows(
    "members, expected",
    [
        ({}, (4, "account")),
        ({"quantity": 3, "symbol": "MNQH6", "multiplier": 2}, (2.22, "account")),
        ({"quantity": 3, **OPEN}, (6, "account")),
        ({"fees": 0}, (0, "typed")),
        ({"fees": 1.25}, (1.25, "typed")),
        ({"symbol": "AAPL"}, (0, "none")),
    ],
)
async def test_a_trade_by_hand_pays_the_commission_of_its_account_unless_fees_are_sent(
    client: Client, members: Any, expected: Any
) -> None:
    account = await factories.create_account(client, fees=FEES)

    one = await factories.create_trade(client, account["id"], **members)
    body = {"trades": [{key: one[key] for key in ("account_id", "symbol", "direction", "quantity")}]}
    body["trades"][0] |= {key: one[key] for key in ("entry_price", "exit_price", "opened_at", "closed_at")}
    body["trades"][0] |= {"multiplier": one["multiplier"]}
    body["trades"][0] |= {"fees": members["fees"]} if "fees" in members else {}
    (many,) = unwrap(await client.post("/trades/bulk", json=body))

    assert costs(one) == costs(many) == expected
    assert sum(fill["fees"] for fill in one["fills"]) == one["fees"]


@for_rows(
    "before, patch, expected",
    [
        (OPEN, CLOSE, (4, "account")),
        ({}, {"closed_at": None}, (2, "account")),
        ({}, {"quantity": 5}, (20, "account")),
        ({}, {"symbol": "MNQH6"}, (0.74, "account")),
        ({}, {"symbol": "AAPL"}, (0, "none")),
        ({}, {"fees": 1}, (1, "typed")),
        ({"fees": 1, **OPEN}, CLOSE, (1, "typed")),
        ({"symbol": "AAPL", **OPEN}, CLOSE, (0, "none")),
        ({}, {"notes": "late"}, (4, "account")),
    ],
)
async def test_a_change_of_a_charged_trade_pays_what_it_adds(
    client: Client, before: Any, patch: Any, expected: Any
) -> None:
    account = await factories.create_account(client, fees=FEES)
    trade = await factories.create_trade(client, account["id"], **before)

    changed = await patch_trade(client, trade["id"], **patch)

    assert costs(changed) == expected
    assert await patch_trade(client, trade["id"], fees=changed["fees"]) == changed


async def test_a_trade_that_moves_pays_the_commission_of_the_other_account(client: Client) -> None:
    dear, free = await factories.create_account(client, fees=FEES), await factories.create_account(client, "Free")
    trade = await factories.create_trade(client, dear["id"])

    there = await patch_trade(client, trade["id"], account_id=free["id"])
    back = await patch_trade(client, trade["id"], account_id=dear["id"])

    assert (costs(there), costs(back)) == ((0, "none"), (4, "account"))


async def test_a_smaller_trade_pays_its_part_also_at_other_rates(client: Client) -> None:
    account = await factories.create_account(client, fees=FEES)
    trade = await factories.create_trade(client, account["id"], quantity=3)
    unwrap(await client.patch(f"/accounts/{account['id']}", json={"fees": {"ES": 100}}))

    smaller = await patch_trade(client, trade["id"], quantity=1)
    larger = await patch_trade(client, trade["id"], quantity=2)

    assert (costs(smaller), costs(larger)) == ((4, "account"), (204, "account"))


async def test_earlier_trades_pay_unless_a_file_or_a_person_stated_their_fees(client: Client) -> None:
    account = await factories.create_account(client)
    other = await factories.create_trade(client)
    await factories.create_import(client, factories.A_FILE, account_id=account["id"])
    await factories.create_import(
        client,
        factories.A_FILE.replace("exit_price", "exit_price,fees").replace(",101,", ",103,7,"),
        account_id=account["id"],
    )
    scaled = await factories.create_trade(client, account["id"], exit_price=104)
    fills = [{**factories.A_FILL, "side": side} for side in ("buy", "sell")]
    unwrap(await client.post(f"/trades/{scaled['id']}/fills", json={"fills": fills}))
    await factories.create_trade(client, account["id"], exit_price=105, fees=0)
    await factories.create_trade(client, account["id"], exit_price=106, symbol="AAPL")
    goal = await factories.create_goal(client, account_id=account["id"], **factories.YEAR)
    before = await factories.read_actual(client, goal), await factories.list_trades(client)

    dry = await charge_earlier(client, account["id"], FEES, dry_run=True)
    assert (await factories.read_actual(client, goal), await factories.list_trades(client)) == before
    charged = await charge_earlier(client, account["id"], FEES)
    again = await charge_earlier(client, account["id"], FEES)

    trades = await factories.list_trades(client)
    assert [one.headers["x-trades-charged"] for one in (dry, charged, again)] == ["2", "2", "0"]
    assert dry.json()["data"]["account"]["fees"] == FEES
    assert [costs(trade) for trade in trades] == [
        (0, "none"), (4, "account"), (7, "file"), (8, "account"), (0, "typed"), (0, "none"),
    ]  # fmt: skip
    assert trades[0] == next(one for one in before[1] if one["id"] == other["id"])
    assert [fill["fees"] for fill in (await factories.get_trade(client, scaled))["fills"]] == [8, 0, 0, 0]
    assert await factories.read_actual(client, goal) == before[0] - 12

    back = await charge_earlier(client, account["id"], {})

    assert back.headers["x-trades-charged"] == "2"
    assert await factories.read_actual(client, goal) == before[0]


async def test_undo_of_an_import_takes_the_trades_that_were_charged_since(client: Client) -> None:
    report = await factories.create_import(client)
    await charge_earlier(client, report["account_id"], FEES)

    undone = await client.delete(f"/imports/{report['id']}")

    assert "x-trades-kept" not in undone.headers
    assert await factories.list_trades(client) == []


async def test_a_trade_that_was_charged_still_pays_when_an_earlier_correction_is_undone(client: Client) -> None:
    first = factories.build_file({"external_id": "1"})
    report = await factories.create_import(client, first)
    later = await factories.create_import(
        client, factories.build_file({"external_id": "1", "exit_price": "103"}), account_id=report["account_id"]
    )
    await charge_earlier(client, report["account_id"], FEES)
    corrected = await factories.list_trades(client)

    undone = await client.delete(f"/imports/{later['id']}")

    assert [costs(trade) for trade in corrected] == [(4, "account")]
    assert "x-trades-kept" not in undone.headers
    restored = await factories.list_trades(client)
    assert [(trade["exit_price"], *costs(trade)) for trade in restored] == [(101, 4, "account")]


async def test_only_commissions_can_be_applied_to_earlier_trades(client: Client, account_id: int) -> None:
    path = f"/accounts/{account_id}"

    nothing = await client.patch(path, params={"apply_to": "earlier"}, json={"name": "Live"})
    later = await client.patch(path, params={"apply_to": "later"}, json={"fees": {}})
    plain = await client.patch(path, json={"fees": FEES})

    assert error_of(nothing) == error_of(later) == (400, "validation_error")
    assert details_of(nothing)["fields"] == {"fees": "is required with apply_to=earlier"}
    assert "x-trades-charged" not in plain.headers
    assert unwrap(await client.get(path))["name"] == "Sim"


FILL = {"side": "sell", "quantity": 1, "price": 101, "at": "2026-01-05T15:00:00Z"}


@for_rows(
    "fills, expected",
    [
        ([FILL], (8, "account")),
        ([FILL, FILL], (10, "account")),
        ([FILL, {**FILL, "side": "buy", "at": "2026-01-05T14:30:00Z"}], (10, "account")),
        ([{**FILL, "fees": 1}], (7, "typed")),
        ([{**FILL, "quantity": 3}], (12, "account")),
    ],
)
async def test_a_fill_by_hand_pays_the_commission_too(client: Client, fills: Any, expected: Any) -> None:
    account = await factories.create_account(client, fees=FEES)
    trade = await factories.create_trade(client, account["id"], quantity=3, **OPEN)
    path = f"/trades/{trade['id']}"

    filled = unwrap(await client.post(f"{path}/fills", json={"fills": fills}))

    assert costs(trade) == (6, "account")
    assert costs(filled) == expected
    assert sum(fill["fees"] for fill in filled["fills"]) == filled["fees"]
    for fill in filled["fills"][:0:-1]:
        assert (await client.delete(f"{path}/fills/{fill['id']}")).status_code == 204
    back = unwrap(await client.get(path))
    assert costs(back) == (6, expected[1])
