"""Fills by hand: docs/api.md#fills."""

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
import time_machine
from factories import Client, create_account, create_trade, details_of, error_of, get_trade, send_file, unwrap
from proofs import examples
from saved_journals import for_rows

OPEN: dict[str, Any] = {"exit_price": None, "closed_at": None}
DAY = "2026-01-05T"
Json = dict[str, Any]


def fill(side: str, quantity: float, price: float, at: str, **members: Any) -> Json:
    """A fill at that time of day."""
    return {"side": side, "quantity": quantity, "price": price, "at": f"{DAY}{at}:00Z", **members}


async def add(client: Client, trade: Any, *fills: Json) -> Any:
    return unwrap(await client.post(f"/trades/{trade['id']}/fills", json={"fills": fills}))


def show(trade: Any) -> list[Any]:
    """Quantity, entry, exit, gross, fees, and the time of day of the close."""
    closed = trade["closed_at"] and trade["closed_at"][11:16]
    return [*(trade[name] for name in ("quantity", "entry_price", "exit_price", "gross_pnl", "fees")), closed]


# What is added to an open long of 1 from 100 at 14:00, with a multiplier of 50.
ADDED: dict[str, tuple[list[Json], list[Any]]] = {
    "a larger position": ([fill("buy", 2, 103, "14:10")], [3, 102, None, None, 0, None]),
    "an entry that was forgotten": ([fill("buy", 1, 98, "13:50")], [2, 99, None, None, 0, None]),
    "its close": ([fill("sell", 1, 101.5, "14:30", fees=2.5)], [1, 100, 101.5, 75, 2.5, "14:30"]),
    "a close at the time of the entry": ([fill("sell", 1, 99, "14:00")], [1, 100, 99, -50, 0, "14:00"]),
    "half of it taken off": (
        [fill("buy", 1, 101, "14:10"), fill("sell", 1, 103, "14:20")],
        [2, 100.5, None, None, 0, None],
    ),
    "an average with more than eight decimals": (
        [fill("buy", 2, 101, "14:10"), fill("sell", 2, 103, "14:20"), fill("sell", 1, 105, "14:30")],
        [3, 100.66666667, 103.66666667, 450, 0, "14:30"],
    ),
    "fills in another order than that of time": (
        [fill("sell", 2, 102, "14:30", fees=1), fill("buy", 1, 101, "14:10", fees=0.5)],
        [2, 100.5, 102, 150, 1.5, "14:30"],
    ),
    "parts of contracts": (
        [fill("sell", 0.25, 101, "14:10"), fill("sell", 0.75, 102, "14:20")],
        [1, 100, 101.75, 87.5, 0, "14:20"],
    ),
}


@for_rows("fills, expected", ADDED.values())
async def test_what_follows_from_the_fills_of_a_trade_follows_from_new_ones_too(
    client: Client, fills: list[Json], expected: list[Any]
) -> None:
    trade = await create_trade(client, multiplier=50, stop_loss=98, mae=5, **OPEN)

    together = await add(client, trade, *fills)
    other = await create_trade(client, multiplier=50, stop_loss=98, **OPEN)
    for one in sorted(fills, key=lambda fill: (fill["side"], fill["at"])):  # the exits last
        response = await client.post(f"/trades/{other['id']}/fills", json=one)

    assert show(together) == expected
    assert show(unwrap(response)) == expected
    assert response.headers["location"] == f"/v1/trades/{other['id']}"
    assert together["initial_risk"] == trade["initial_risk"] == 100
    assert (together["mae"], together["mfe"]) == (5, None)
    assert together["fill_count"] == len(together["fills"]) == 1 + len(fills)
    assert [one["at"] for one in together["fills"]] == sorted(one["at"] for one in together["fills"])
    assert await get_trade(client, trade) == together
    assert together["trading_day"] == (together["closed_at"] and together["closed_at"][:10])


async def test_a_fill_without_a_time_is_of_now_and_one_without_an_offset_of_the_owners_zone(client: Client) -> None:
    unwrap(await client.patch("/me", json={"timezone": "America/New_York"}))
    trade = await create_trade(client, quantity=2, **OPEN)

    await add(client, trade, {**fill("sell", 1, 101, "10:00"), "at": f"{DAY}10:00:00"})
    with time_machine.travel("2026-01-06T09:00:00Z", tick=False):
        closed = await add(client, trade, {"side": "sell", "quantity": 1, "price": 102})

    assert [one["at"][:16] for one in closed["fills"][1:]] == [f"{DAY}15:00", "2026-01-06T09:00"]


CHANGED: dict[str, tuple[int, Json, list[Any]]] = {
    "the price of an exit": (4, {"price": 106}, [3, 102, 105.33333333, 500, 6, "14:30"]),
    "the price of an entry": (1, {"price": 103}, [3, 103, 104.66666667, 250, 6, "14:30"]),
    "the fees": (2, {"fees": 0.5}, [3, 102, 104.66666667, 400, 4.5, "14:30"]),
    "the time of the close": (4, {"at": f"{DAY}15:00:00Z"}, [3, 102, 104.66666667, 400, 6, "15:00"]),
    "a smaller last exit": (4, {"quantity": 1}, [3, 102, None, None, 6, None]),
    "the order of the exits": (3, {"at": f"{DAY}14:40:00Z"}, [3, 102, 104.66666667, 400, 6, "14:40"]),
    "nothing": (3, {"price": 104, "fees": 1}, [3, 102, 104.66666667, 400, 6, "14:30"]),
}


async def create_scaled(client: Client) -> Any:
    """1 from 100 and 2 from 103; 1 at 104 and 2 at 105."""
    trade = await create_trade(client, multiplier=50, fees=1, **OPEN)
    return await add(
        client,
        trade,
        fill("buy", 2, 103, "14:10", fees=2, external_id="F-2"),
        fill("sell", 1, 104, "14:20", fees=1),
        fill("sell", 2, 105, "14:30", fees=2),
    )


@for_rows("fill_id, sent, expected", CHANGED.values())
async def test_a_changed_fill_changes_what_follows_from_it(
    client: Client, fill_id: int, sent: Json, expected: list[Any]
) -> None:
    trade = await create_scaled(client)
    before = next(one for one in trade["fills"] if one["id"] == fill_id)

    changed = unwrap(await client.patch(f"/trades/{trade['id']}/fills/{fill_id}", json={**before, **sent}))

    assert show(changed) == expected
    assert {one["id"] for one in changed["fills"]} == {1, 2, 3, 4}
    assert await get_trade(client, trade) == changed
    if sent.items() <= before.items():
        assert changed == trade


async def test_a_deleted_exit_opens_the_trade_again_and_ids_of_fills_stay(client: Client) -> None:
    trade = await create_scaled(client)
    path = f"/trades/{trade['id']}/fills"

    deleted = [await client.delete(f"{path}/{number}") for number in (3, 4, 4)]
    after = await get_trade(client, trade)
    again = await add(client, trade, fill("sell", 3, 104, "14:50"))

    assert [one.status_code for one in deleted] == [204, 204, 404]
    assert show(after) == [3, 102, None, None, 3, None]
    assert [one["id"] for one in again["fills"]] == [1, 2, 3]
    assert show(again) == [3, 102, 104, 300, 3, "14:50"]


async def test_a_trade_of_two_fills_is_one_of_prices_again(client: Client) -> None:
    trade = await create_trade(client, multiplier=50, fees=3)
    path = f"/trades/{trade['id']}/fills"

    assert (await client.delete(f"{path}/2")).status_code == 204
    opened = await get_trade(client, trade)
    closed = await add(client, trade, fill("sell", 1, 101, "15:00"))
    patched = unwrap(await client.patch(f"/trades/{trade['id']}", json={"exit_price": 103, "quantity": 2}))

    assert show(opened) == [1, 100, None, None, 3, None]
    assert {**closed, "updated_at": None} == {**trade, "updated_at": None}
    assert show(patched) == [2, 100, 103, 300, 3, "15:00"]
    assert [one["quantity"] for one in patched["fills"]] == [2, 2]


async def test_a_stated_result_stays_until_the_fills_are_worth_something_else(client: Client) -> None:
    trade = await create_trade(client, gross_pnl=7)
    path = f"/trades/{trade['id']}/fills/2"

    with_id = unwrap(await client.patch(path, json={"external_id": "F-9", "fees": 1}))
    with_price = unwrap(await client.patch(path, json={"price": 103}))
    stated = await create_trade(client, gross_pnl=7, exit_price=None)
    refused = await client.post(f"/trades/{stated['id']}/fills", json=fill("buy", 1, 99, "14:30"))
    priced = unwrap(await client.patch(f"/trades/{stated['id']}/fills/2", json={"price": 104}))

    assert (with_id["gross_pnl"], with_price["gross_pnl"], priced["gross_pnl"]) == (7, 3, 4)
    assert list(details_of(refused)["fields"]) == ["price"]


# What is refused on the trade of `create_scaled`, of whose last exit 1 is left.
REFUSED: dict[str, tuple[str, str, Json | None, str]] = {
    "an exit larger than what is left": ("POST", "", fill("sell", 3, 104, "14:30"), "quantity"),
    "an exit before there is enough": ("POST", "", fill("sell", 2, 104, "14:05"), "quantity"),
    "a sale before the first purchase": ("POST", "", fill("sell", 1, 104, "13:00"), "side"),
    "a larger exit": ("PATCH", "/3", {"quantity": 4}, "quantity"),
    "an entry that is a sale": ("PATCH", "/1", {"side": "sell"}, "side"),
    "a second entry before the first exit is missing": ("DELETE", "/2", None, "at"),
    "a fill of another id": ("PATCH", "/3", {"id": 2}, "id"),
    "no price": ("PATCH", "/3", {"price": None}, "price"),
    "nothing of a fill": ("POST", "", {"side": "buy"}, "quantity"),
    "both forms": ("POST", "", {**fill("buy", 1, 1, "14:00"), "fills": [fill("buy", 1, 1, "14:00")]}, "fills"),
    "fees that are too large": ("POST", "", fill("buy", 1, 1, "14:25", fees=10**10), "fees"),
}


@for_rows("method, path, body, field", REFUSED.values())
async def test_fills_that_make_no_position_are_refused_and_change_nothing(
    client: Client, method: str, path: str, body: Json | None, field: str
) -> None:
    trade = await create_scaled(client)
    await client.patch(f"/trades/{trade['id']}/fills/4", json={"quantity": 1})
    if path == "/2":
        await client.patch(f"/trades/{trade['id']}/fills/4", json={"quantity": 2})
    before = await get_trade(client, trade)

    refused = await client.request(method, f"/trades/{trade['id']}/fills{path}", json=body)

    assert error_of(refused) == (400, "validation_error")
    assert field in details_of(refused)["fields"]
    assert await get_trade(client, trade) == before


async def test_a_fill_that_turns_the_position_over_or_begins_another_is_told_what_to_do(client: Client) -> None:
    trade = await create_trade(client, quantity=3, **OPEN)

    turned = await client.post(f"/trades/{trade['id']}/fills", json=fill("sell", 5, 101, "14:30"))
    await add(client, trade, fill("sell", 3, 101, "14:30"))
    another = await client.post(f"/trades/{trade['id']}/fills", json=fill("buy", 1, 101, "14:40"))
    several = await client.post(
        f"/trades/{trade['id']}/fills", json={"fills": [fill("buy", 1, 101, "14:20"), fill("sell", 5, 101, "14:50")]}
    )

    assert details_of(turned)["fields"]["quantity"] == (
        "would turn the position over, of which 3 is left: close this trade with that, then open another"
    )
    assert details_of(another)["fields"]["at"] == ("is after the position was flat: a new position is a new trade")
    assert list(details_of(several)["fields"]) == ["fills[1].quantity"]


async def test_a_change_that_another_fill_does_not_allow_says_which_to_change_first(client: Client) -> None:
    trade = await create_trade(client, quantity=2, **OPEN)
    path = f"/trades/{trade['id']}/fills"
    later = [fill("sell", 1, 101, "14:30"), fill("buy", 1, 101, "14:40"), fill("sell", 2, 102, "14:50")]
    unwrap(await client.post(path, json={"fills": later}))

    refused = [
        await client.delete(f"{path}/3"),
        await client.patch(f"{path}/2", json={"quantity": 2}),
        await client.post(path, json=fill("sell", 1, 102, "14:45")),
    ]

    assert [details_of(one)["fields"] for one in refused] == [
        {"quantity": "of fill 4 would turn the position over, of which 1 is left: change or delete fill 4 first"},
        {"at": "of fill 3 is after the position was flat: change or delete fill 3 first"},
        {"quantity": "of fill 4 would turn the position over, of which 1 is left: change or delete fill 4 first"},
    ]


@for_rows("fields, reason", [(OPEN, "delete the trade instead"), ({}, "delete its exits first, or the trade")])
async def test_a_fill_without_which_there_is_no_trade_is_not_deleted(
    client: Client, fields: dict[str, Any], reason: str
) -> None:
    trade = await create_trade(client, **fields)

    refused = await client.delete(f"/trades/{trade['id']}/fills/1")

    assert error_of(refused) == (409, "conflict")
    assert reason in refused.text
    assert await get_trade(client, trade) == trade


async def test_a_fill_that_is_sent_again_under_its_key_is_added_once(client: Client) -> None:
    trade = await create_trade(client, **OPEN)
    path, key = f"/trades/{trade['id']}/fills", {"Idempotency-Key": "key-1"}

    sent = [await client.post(path, json=fill("buy", 1, 99, "14:30"), headers=key) for _ in range(2)]

    assert unwrap(sent[0]) == unwrap(sent[1]) == await get_trade(client, trade)
    assert unwrap(sent[0])["fill_count"] == 2


async def test_a_patch_of_the_trade_leaves_its_fills_alone(client: Client) -> None:
    trade = await create_scaled(client)
    path = f"/trades/{trade['id']}"

    annotated = unwrap(await client.patch(path, json={"grade": "A", "notes": "Scaled", "multiplier": 2}))
    same = unwrap(await client.patch(path, json={**annotated, "quantity": 3, "exit_price": 104.66666667}))
    refused = await client.patch(path, json={"quantity": 5})
    dearer = unwrap(await client.patch(path, json={"fees": 10}))

    assert (annotated["gross_pnl"], annotated["fills"]) == (16, trade["fills"])
    assert same == annotated
    assert details_of(refused)["fields"] == {"quantity": "follows from the fills of the trade: change those"}
    assert [one["fees"] for one in dearer["fills"]] == [5, 2, 1, 2]


async def test_a_fill_of_an_imported_trade_that_was_changed_stays_when_the_file_comes_again(
    client: Client, account_id: int
) -> None:
    file = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at\n" + (
        f"ES,long,1,100,101,{DAY}14:00:00Z,{DAY}15:00:00Z\n"
    )
    (row,) = unwrap(await send_file(client, file, account_id))["rows"]
    path = f"/trades/{row['trade_id']}"
    await client.post(f"{path}/fills", json=fill("buy", 1, 99, "14:10"))
    await client.post(f"{path}/fills", json=fill("sell", 1, 103, "15:10"))
    before = unwrap(await client.get(path))

    again = unwrap(await send_file(client, file, account_id))

    assert again["counts"] == {**again["counts"], "duplicate": 1, "new": 0, "updated": 0}
    assert unwrap(await client.get(path)) == before


class Model(NamedTuple):
    """A fill as the test remembers it: everything exact."""

    side: str
    quantity: Fraction
    price: Fraction
    at: str
    fees: Fraction

    @property
    def signed(self) -> Fraction:
        return self.quantity if self.side == "buy" else -self.quantity


def expected_of(fills: list[Model], direction: str) -> Json | None:
    """What a trade of these fills is, summed with fractions; None if they are no position that way."""
    sign = 1 if direction == "long" else -1
    ordered = sorted(fills, key=lambda fill: fill.at)
    size, largest = Fraction(0), Fraction(0)
    for number, one in enumerate(ordered):
        if number and not size:
            return None
        size += sign * one.signed
        if size < 0:
            return None
        largest = max(largest, size)
    entries = [one for one in ordered if one.signed * sign > 0]
    exits = [one for one in ordered if one.signed * sign < 0]
    value = sum((-one.signed * one.price for one in ordered), Fraction(0))
    return {
        "quantity": rounded(largest),
        "entry_price": rounded(average(entries)),
        "exit_price": None if size else rounded(average(exits)),
        "gross_pnl": None if size else rounded(value * 5),
        "fees": rounded(sum((one.fees for one in ordered), Fraction(0))),
        "opened_at": ordered[0].at,
        "closed_at": None if size else ordered[-1].at,
        "fill_count": len(ordered),
    }


def average(fills: list[Model]) -> Fraction:
    return sum((one.quantity * one.price for one in fills), Fraction(0)) / sum(one.quantity for one in fills)


def rounded(value: Fraction) -> float:
    """The value with eight decimals, half to even."""
    return float(Decimal(round(value * 10**8)).scaleb(-8))


def random_fill(chosen: random.Random) -> tuple[Json, Model]:
    side, tenths = chosen.choice(["buy", "sell"]), chosen.randint(1, 30)
    price, fees = chosen.randint(-400, 4000), chosen.randint(0, 500)
    at = f"2026-01-{chosen.randint(5, 6):02}T{chosen.randint(0, 23):02}:{chosen.randint(0, 59):02}:00.000000Z"
    body = {"side": side, "quantity": tenths / 10, "price": price / 4, "at": at, "fees": fees / 100}
    return body, Model(side, Fraction(tenths, 10), Fraction(price, 4), at, Fraction(fees, 100))


@pytest.mark.soak
@for_rows("seed", range(examples(full=40, ci=2)))
async def test_a_trade_is_what_its_fills_make_it_whatever_is_done_to_them(client: Client, seed: int) -> None:
    chosen = random.Random(seed)
    account = await create_account(client)
    done = 0
    for direction in ("long", "short") * 3:
        body, first = random_fill(chosen)
        body["side"] = "buy" if direction == "long" else "sell"
        sent = {"symbol": "ES", "direction": direction, "quantity": body["quantity"], "multiplier": 5}
        sent |= {"entry_price": body["price"], "opened_at": body["at"], "fees": body["fees"]}
        trade = unwrap(await client.post("/trades", json={"account_id": account["id"], **sent}))
        model = {1: first._replace(side=body["side"])}
        for _ in range(examples(full=60, ci=20)):
            body, new = random_fill(chosen)
            fill_id = chosen.choice(list(model))
            kind = chosen.choice(["POST", "POST", "POST", "POST", "PATCH", "DELETE"])
            after = {one: value for one, value in model.items() if kind != "DELETE" or one != fill_id}
            if kind == "POST":
                after[1 + max(model)] = new
            elif kind == "PATCH":
                after[fill_id] = new
            expected = expected_of(list(after.values()), direction) if after else None
            path = f"/trades/{trade['id']}/fills" + ("" if kind == "POST" else f"/{fill_id}")

            response = await client.request(kind, path, json=None if kind == "DELETE" else body)

            if len(after) == 1 and kind == "PATCH" and new.side != model[fill_id].side:
                direction = "short" if direction == "long" else "long"
                expected = expected_of(list(after.values()), direction)
            assert response.is_success == (expected is not None), (seed, model, kind, body, response.text)
            if expected is not None:
                # Fills of one time stay in the order in which they are stored.
                model, done = dict(sorted(after.items(), key=lambda item: item[1].at)), done + 1
                stored = await get_trade(client, trade)
                assert {name: stored[name] for name in expected} == expected
                assert {one["id"] for one in stored["fills"]} == model.keys()
    assert done > 20
