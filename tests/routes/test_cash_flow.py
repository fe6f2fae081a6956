"""What accounts cost and pay, beyond the random journals of tests/statistics: docs/accounts.md."""

from typing import Any

from factories import A_DEPOSIT, Client, create_account, create_cash, create_trade, error_of, put_rules, unwrap
from saved_journals import for_rows


async def read_flow(client: Client, **query: Any) -> Any:
    return unwrap(await client.get("/cash-flow", params=query))


@for_rows(
    "share, received, shown, source",
    [
        (None, None, 500, "share"),
        (90, None, 450, "share"),
        (33.33333333, None, 166.66666665, "share"),
        (90, 432.1, 432.1, "stated"),
        (90, 0, 0, "stated"),
        (None, 500, 500, "stated"),
    ],
)
async def test_what_of_a_payout_arrived_is_stated_or_the_share_of_the_account(
    client: Client, share: float | None, received: float | None, shown: float, source: str
) -> None:
    account = await create_account(client, payout_share=share)

    cash = await create_cash(client, account["id"], kind="payout", amount=500, received=received)

    assert (account["payout_share"], cash["received"], cash["received_source"]) == (share, shown, source)
    assert cash["amount"] == 500


async def test_a_share_is_rounded_half_to_even(client: Client) -> None:
    account = await create_account(client, payout_share=50)
    payouts = [
        await create_cash(client, account["id"], kind="payout", amount=amount)
        for amount in (0.00000001, 0.00000003, 9999999999.9999)
    ]

    assert [one["received"] for one in payouts] == [0, 0.00000002, 4999999999.99995]


async def test_a_new_share_changes_the_payouts_that_nobody_stated_and_their_followers_learn_of_it(
    client: Client,
) -> None:
    account = await create_account(client, payout_share=90)
    by_share = await create_cash(client, account["id"], kind="payout")
    await create_cash(client, account["id"], kind="payout", received=80)
    cursor = (await client.get("/changes")).json()["meta"]["cursor"]

    unwrap(await client.patch(f"/accounts/{account['id']}", json={"payout_share": None}))

    cash = unwrap(await client.get(f"/accounts/{account['id']}/cash"))
    assert [(one["received"], one["received_source"]) for one in cash] == [(100, "share"), (80, "stated")]
    changes = unwrap(await client.get("/changes", params={"since": cursor}))
    assert [one["id"] for one in changes if one["resource"] == "cash"] == [by_share["id"]]


async def test_a_payout_that_is_sent_back_goes_on_by_its_share(client: Client) -> None:
    account = await create_account(client, payout_share=90)
    payout = await create_cash(client, account["id"], kind="payout")
    path = f"/accounts/{account['id']}/cash/{payout['id']}"

    more = unwrap(await client.patch(path, json={**payout, "amount": 200}))
    stated = unwrap(await client.patch(path, json={"received": 170}))
    same = unwrap(await client.patch(path, json={**stated, "note": "Wire"}))
    cleared = unwrap(await client.patch(path, json={"received": None}))
    again = unwrap(await client.patch(path, json={"received": None}))

    seen = [(one["received"], one["received_source"]) for one in (more, stated, same, cleared)]
    assert seen == [(180, "share"), (170, "stated"), (170, "stated"), (180, "share")]
    assert again == cleared


@for_rows(
    "stored, sent, field",
    [
        *(({}, {"kind": kind, "outside": True}, "outside") for kind in ("deposit", "withdrawal", "payout")),
        *(({}, {"kind": kind, "outside": True}, "outside") for kind in ("adjustment", "reset")),
        *(({}, {"kind": kind, "received": 1}, "received") for kind in ("deposit", "fee", "reset")),
        ({}, {"kind": "payout", "received": 100.01}, "received"),
        ({}, {"kind": "payout", "received": -1}, "received"),
        ({"kind": "fee", "outside": True}, {"kind": "payout"}, "outside"),
        ({"kind": "payout", "received": 90}, {"kind": "withdrawal"}, "received"),
        ({"kind": "payout", "received": 90}, {"amount": 89.99}, "received"),
    ],
)
async def test_only_a_fee_is_outside_and_only_of_a_payout_something_arrives(
    client: Client, account_id: int, stored: dict[str, Any], sent: dict[str, Any], field: str
) -> None:
    cash = await create_cash(client, account_id, **stored)
    path = f"/accounts/{account_id}/cash"

    answers = [await client.patch(f"{path}/{cash['id']}", json=sent)]
    if not stored:
        answers.append(await client.post(path, json={**A_DEPOSIT, **sent}))

    for answer in answers:
        assert error_of(answer) == (400, "validation_error")
        assert [*answer.json()["error"]["details"]["fields"]] == [field]
    assert unwrap(await client.get(path)) == [cash]


async def test_a_fee_outside_changes_no_balance_no_floor_and_no_checkpoint(client: Client) -> None:
    account = await create_account(client, starting_balance=100)
    await put_rules(client, account["id"], floor={"kind": "static", "distance": 50})
    await create_trade(client, account["id"])
    standing = f"/accounts/{account['id']}/standing?with=days"
    before = unwrap(await client.get(standing))

    fee = await create_cash(client, account["id"], kind="fee", amount=90, outside=True)
    outside = unwrap(await client.get(standing))
    unwrap(await client.patch(f"/accounts/{account['id']}/cash/{fee['id']}", json={"outside": False}))
    inside = unwrap(await client.get(standing))

    assert outside == before
    assert (inside["balance"], inside["floor"]["state"]) == (before["balance"] - 90, "broken")


@for_rows("share, received", [(None, 51), (80, 40.8)])
async def test_a_standing_says_what_is_above_the_floor_and_what_of_it_would_arrive(
    client: Client, share: float | None, received: float
) -> None:
    account = await create_account(client, starting_balance=100, payout_share=share)
    path = f"/accounts/{account['id']}/standing"
    await create_trade(client, account["id"])
    without_floor = unwrap(await client.get(path))
    await put_rules(client, account["id"], floor={"kind": "static", "distance": 50})

    standing = unwrap(await client.get(path))
    broken = await create_cash(client, account["id"], kind="withdrawal", amount=60)

    assert without_floor["payout"] is None
    assert standing["payout"] == {"room": standing["floor"]["room"], "received": received}
    assert standing["payout"]["room"] == 51
    assert broken
    assert unwrap(await client.get(path))["payout"] == {"room": 0, "received": 0}


async def test_the_chain_from_accounts_to_the_bank(client: Client) -> None:
    """Three were bought, one was lost, one pays, one is at another broker."""
    fee = {"kind": "fee", "outside": True}
    accounts = {}
    for name, broker in (("beta", "Apex"), ("Alpha", "Apex"), ("Own", None), ("Unused", "Apex")):
        accounts[name] = await create_account(client, name, broker=broker, payout_share=90)
    beta, alpha, own, _ = (one["id"] for one in accounts.values())
    await create_cash(client, beta, **fee, amount=150, day="2026-01-31")
    await create_cash(client, alpha, **fee, amount=100, day="2026-02-01")
    await create_cash(client, alpha, kind="payout", amount=1000, day="2026-02-28")
    await create_cash(client, alpha, kind="fee", amount=7, day="2026-02-28")  # in its balance
    await create_cash(client, alpha, kind="adjustment", amount=7, day="2026-02-28")
    await create_cash(client, own, kind="deposit", amount=500, day="2026-02-10")
    await create_cash(client, own, kind="withdrawal", amount=20, day="2026-03-01")
    for account_id in (beta, alpha):
        await put_rules(client, account_id, floor={"kind": "static", "distance": 5})
    await create_trade(client, beta, gross_pnl=-5)

    def group(key: Any, name: Any, *numbers: Any) -> dict[str, Any]:
        members = ("paid", "received", "net", "payouts", "accounts", "lost")
        return {"key": key, "name": name, **dict(zip(members, numbers, strict=True))}

    total = group(None, None, 750, 920, 170, 1000, 3, 1 + 1)  # the payout left nothing above the floor
    by_account, by_broker, by_month = [await read_flow(client, group_by=key) for key in ("account", "broker", "month")]
    assert await read_flow(client) == {"groups": [], "total": total}
    assert [one["total"] for one in (by_account, by_broker, by_month)] == [total] * 3
    assert by_account["groups"] == [
        group(alpha, "Alpha", 100, 900, 800, 1000, 1, 1),
        group(beta, "beta", 150, 0, -150, 0, 1, 1),
        group(own, "Own", 500, 20, -480, 0, 1, 0),
    ]
    assert by_broker["groups"] == [
        group("Apex", "Apex", 250, 900, 650, 1000, 2, 2),
        group(None, None, 500, 20, -480, 0, 1, 0),
    ]
    assert by_month["groups"] == [
        group("2026-01-01", "2026-01", 150, 0, -150, 0, 1, None),
        group("2026-02-01", "2026-02", 600, 900, 300, 1000, 2, None),
        group("2026-03-01", "2026-03", 0, 20, 20, 0, 1, None),
    ]
    until_january = await read_flow(client, to="2026-01-31", account_id=beta)
    assert until_january["total"] == group(None, None, 150, 0, -150, 0, 1, 1)
    assert (await read_flow(client, **{"from": "2026-04-01"}))["total"] == group(None, None, 0, 0, 0, 0, 0, 0)


async def test_amounts_of_two_currencies_and_sums_out_of_range_are_null(client: Client) -> None:
    dollars = await create_account(client)
    euros = await create_account(client, "Euros", currency="EUR")
    for _ in range(10):
        await create_cash(client, dollars["id"], amount=10**10)
    await create_cash(client, dollars["id"], kind="withdrawal", amount=1)
    await create_cash(client, euros["id"])

    flow = await read_flow(client, group_by="account")

    of_dollars, of_euros = ([one[name] for name in ("paid", "received", "net")] for one in reversed(flow["groups"]))
    assert (of_dollars, of_euros) == ([None, 1, None], [100, 0, -100])
    assert [flow["total"][name] for name in ("paid", "received", "net", "payouts")] == [None] * 4
    assert flow["total"]["accounts"] == 2


async def test_a_range_that_ends_before_it_begins_is_refused(client: Client) -> None:
    answer = await client.get("/cash-flow?from=2026-02-01&to=2026-01-01")

    assert error_of(answer) == (400, "validation_error")
