"""Checkpoints: what the broker said the balance was (docs/accounts.md#checkpoints)."""

from typing import Any

import factories
from factories import Client, details_of, error_of, unwrap
from starlette.applications import Starlette


async def read(client: Client, checkpoint: Any) -> Any:
    return unwrap(await client.get(f"/accounts/{checkpoint['account_id']}/checkpoints/{checkpoint['id']}"))


async def patch(client: Client, checkpoint: Any, **members: Any) -> Any:
    path = f"/accounts/{checkpoint['account_id']}/checkpoints/{checkpoint['id']}"
    return unwrap(await client.patch(path, json=members))


async def trade_on(client: Client, account: Any, day: str, net_pnl: float) -> Any:
    times = {"opened_at": f"{day}T10:00:00Z", "closed_at": f"{day}T11:00:00Z"}
    return await factories.create_trade(client, account["id"], **times, gross_pnl=net_pnl)


async def test_a_difference_lists_the_days_since_the_balances_agreed(client: Client) -> None:
    account = await factories.create_account(client, starting_balance=1000)
    await trade_on(client, account, "2026-01-05", 100.1)
    agreed = await factories.create_checkpoint(client, account["id"], day="2026-01-05", balance=1100.1)
    await trade_on(client, account, "2026-01-07", 50.2)
    await factories.create_cash(client, account["id"], kind="fee", amount=20, day="2026-01-08")
    await trade_on(client, account, "2026-01-10", 1)

    late = await factories.create_checkpoint(client, account["id"], day="2026-01-09", balance=1125.3, note="May")

    assert (agreed["difference"], agreed["unexplained"], agreed["since"]) == (0, 0, None)
    assert late == {
        "id": 2,
        "account_id": account["id"],
        "day": "2026-01-09",
        "balance": 1125.3,
        "accepted": False,
        "note": "May",
        "difference": 5,
        "unexplained": 5,
        "since": "2026-01-05",
        "created_at": late["created_at"],
        "updated_at": late["updated_at"],
        "days": [
            {"day": "2026-01-07", "net_pnl": 50.2, "cash": 0, "balance": 1150.3},
            {"day": "2026-01-08", "net_pnl": 0, "cash": -20, "balance": 1130.3},
        ],
    }
    without_days = [{name: one[name] for name in one if name != "days"} for one in (agreed, late)]
    assert unwrap(await client.get(f"/accounts/{account['id']}/checkpoints")) == without_days


async def test_an_explained_difference_vanishes(client: Client, account_id: int) -> None:
    checkpoint = await factories.create_checkpoint(client, account_id, balance=-5)
    assert checkpoint["difference"] == 5

    await factories.create_cash(client, account_id, kind="fee", amount=5, day="2026-01-05")

    explained = await read(client, checkpoint)
    assert (explained["difference"], explained["unexplained"]) == (0, 0)


async def test_an_accepted_difference_is_carried_until_a_reset(client: Client, account_id: int) -> None:
    first = await factories.create_checkpoint(client, account_id, day="2026-01-05", balance=-5)
    second = await factories.create_checkpoint(client, account_id, day="2026-01-06", balance=-5)
    third = await factories.create_checkpoint(client, account_id, day="2026-01-07", balance=-8)
    await factories.create_cash(client, account_id, kind="reset", amount=100, day="2026-01-09")
    fresh = await factories.create_checkpoint(client, account_id, day="2026-01-09", balance=99)

    accepted = await patch(client, first, accepted=True, note="Rounding")

    assert (accepted["difference"], accepted["unexplained"], accepted["note"]) == (5, 0, "Rounding")
    found = [await read(client, one) for one in (second, third, fresh)]
    assert [one["difference"] for one in found] == [5, 8, 1]
    assert [one["unexplained"] for one in found] == [0, 3, 1]
    assert [one["since"] for one in found] == ["2026-01-05", "2026-01-06", None]
    assert [one["day"] for one in found[2]["days"]] == ["2026-01-09"]
    await patch(client, fresh, accepted=True)
    later = await factories.create_checkpoint(client, account_id, day="2026-01-10", balance=99)
    assert (later["unexplained"], later["since"]) == (0, "2026-01-09")


async def test_an_accepted_difference_that_changes_is_not_accepted_any_more(client: Client, account_id: int) -> None:
    first = await factories.create_checkpoint(client, account_id, day="2026-01-05", balance=-5)
    later = await factories.create_checkpoint(client, account_id, day="2026-01-08", balance=-5)
    await patch(client, first, accepted=True)
    fee = await factories.create_cash(client, account_id, kind="fee", amount=900, day="2026-01-04")

    changed, after = await read(client, first), await read(client, later)

    assert (changed["accepted"], changed["difference"], changed["unexplained"]) == (False, -895, -895)
    assert (after["unexplained"], after["since"]) == (-895, None)
    assert (await client.delete(f"/accounts/{account_id}/cash/{fee['id']}")).status_code == 204
    assert (await read(client, first))["accepted"] is True
    assert (await read(client, later))["unexplained"] == 0


async def test_a_difference_that_is_refused_when_it_changed_stays_refused_when_it_comes_back(
    client: Client, account_id: int
) -> None:
    first = await factories.create_checkpoint(client, account_id, day="2026-01-05", balance=-5)
    await patch(client, first, accepted=True)
    fee = await factories.create_cash(client, account_id, kind="fee", amount=900, day="2026-01-04")

    await patch(client, first, accepted=False)
    assert (await client.delete(f"/accounts/{account_id}/cash/{fee['id']}")).status_code == 204

    assert (await read(client, first))["accepted"] is False


async def test_balances_that_agree_need_no_explanation_whatever_was_accepted_before(
    client: Client, account_id: int
) -> None:
    first = await factories.create_checkpoint(client, account_id, day="2026-01-05", balance=-5)
    agreed = await factories.create_checkpoint(client, account_id, day="2026-01-06", balance=0)
    differing = await factories.create_checkpoint(client, account_id, day="2026-01-07", balance=-12)
    await patch(client, first, accepted=True)

    found = [await read(client, one) for one in (agreed, differing)]

    assert [(one["difference"], one["unexplained"]) for one in found] == [(0, 0), (12, 12)]


async def test_a_difference_that_grew_since_it_was_read_is_not_accepted(client: Client) -> None:
    account = await factories.create_account(client)
    checkpoint = await factories.create_checkpoint(client, account["id"], balance=-5)
    path = f"/accounts/{account['id']}/checkpoints/{checkpoint['id']}"
    shown = {"If-Match": (await client.get(path)).headers["ETag"]}
    await trade_on(client, account, "2026-01-05", 7)

    refused = await client.patch(path, json={"accepted": True}, headers=shown)

    assert error_of(refused) == (412, "precondition_failed")
    grown = await read(client, checkpoint)
    assert (grown["accepted"], grown["difference"]) == (False, 12)


async def test_a_day_has_one_checkpoint(client: Client, account_id: int) -> None:
    checkpoint = await factories.create_checkpoint(client, account_id)
    path = f"/accounts/{account_id}/checkpoints"
    again = {"day": checkpoint["day"], "balance": 7}

    refused = await client.post(path, json=again)

    assert error_of(refused) == (409, "conflict")
    assert details_of(refused)["fields"] == {"day": "is taken"}
    assert (await client.delete(f"{path}/{checkpoint['id']}")).status_code == 204
    assert unwrap(await client.post(path, json=again))["balance"] == 7


async def test_what_was_read_before_a_trade_came_is_stale_when_it_is_sent_back(client: Client) -> None:
    account = await factories.create_account(client)
    checkpoint = await factories.create_checkpoint(client, account["id"])
    path = f"/accounts/{account['id']}/checkpoints/{checkpoint['id']}"
    assert unwrap(await client.patch(path, json=checkpoint)) == checkpoint
    await trade_on(client, account, "2026-01-05", 3)

    refused = await client.patch(path, json=checkpoint)

    assert error_of(refused) == (412, "precondition_failed")
    assert set(details_of(refused)["fields"]) == {"difference", "unexplained", "days"}


async def test_a_balance_beyond_64_bits_is_null(client: Client, account_id: int, app: Starlette) -> None:
    for _ in range(10):
        await factories.insert_trade(app, account_id, gross_pnl=10**10)
    checkpoint = await factories.create_checkpoint(client, account_id)

    assert (checkpoint["difference"], checkpoint["days"][0]["balance"]) == (None, None)
