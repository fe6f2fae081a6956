"""The cash of an account: docs/accounts.md#cash."""

from factories import A_DEPOSIT, Client, create_account, create_cash, details_of, error_of, unwrap
from saved_journals import for_rows


async def test_the_list_is_by_day_then_by_entry_in_pages(client: Client) -> None:
    account, other = await create_account(client), await create_account(client, "Other")
    days = ["2026-03-02", "2026-01-02", "2026-03-02", "2026-02-02"]
    third, first, fourth, second = [await create_cash(client, account["id"], day=day) for day in days]
    await create_cash(client, other["id"])

    whole = await client.get(f"/accounts/{account['id']}/cash")
    page = await client.get(f"/accounts/{account['id']}/cash", params={"limit": 2, "offset": 1})

    assert unwrap(whole) == [first, second, third, fourth]
    assert unwrap(page) == [second, third]
    assert page.json()["meta"]["pagination"] == {"limit": 2, "offset": 1, "total": 4}


@for_rows(
    "kind, allowed, refused",
    [
        *((kind, [0.00000001, 10**10], [0, -1]) for kind in ("deposit", "withdrawal", "payout", "fee")),
        ("adjustment", [5, -5], [0]),
        ("reset", [0, 50000], [-0.01]),
    ],
)
async def test_only_an_adjustment_has_a_sign_and_only_a_reset_may_be_0(
    client: Client, account_id: int, kind: str, allowed: list[float], refused: list[float]
) -> None:
    path = f"/accounts/{account_id}/cash"

    for amount in allowed:
        assert (await create_cash(client, account_id, kind=kind, amount=amount))["amount"] == amount
    stored = await create_cash(client, account_id, kind=kind, amount=allowed[-1])
    for amount in refused:
        sent = {**A_DEPOSIT, "kind": kind, "amount": amount}
        for response in (
            await client.post(path, json=sent),
            await client.patch(f"{path}/{stored['id']}", json={"amount": amount}),
        ):
            assert error_of(response) == (400, "validation_error")
            assert "amount" in details_of(response)["fields"]


async def test_a_patch_is_checked_with_the_kind_and_the_amount_that_are_stored(client: Client, account_id: int) -> None:
    cash = await create_cash(client, account_id, kind="adjustment", amount=-20)
    path = f"/accounts/{account_id}/cash/{cash['id']}"

    assert error_of(await client.patch(path, json={"kind": "fee"})) == (400, "validation_error")
    assert unwrap(await client.patch(path, json={"kind": "fee", "amount": 20}))["amount"] == 20
    assert unwrap(await client.patch(path, json={"note": "Platform"}))["note"] == "Platform"
