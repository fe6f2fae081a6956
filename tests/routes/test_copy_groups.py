"""Copy groups and their members: docs/api.md#trading-record, #values and #errors."""

from typing import Any

import factories
import httpx
import pytest
from factories import Client, details_of, error_of, unwrap
from saved_journals import for_rows

INVALID = (400, "validation_error")
CONFLICT = (409, "conflict")


@pytest.fixture
async def accounts(client: Client) -> list[int]:
    """The ids of three accounts."""
    return [(await factories.create_account(client, name))["id"] for name in ("A", "B", "C")]


async def get_group(client: Client, group: Any) -> Any:
    return unwrap(await client.get(f"/copy-groups/{group['id']}"))


async def put_members(client: Client, group: Any, *members: object) -> httpx.Response:
    """Send the members; an id is an account with the defaults."""
    sent = [{"account_id": one} if isinstance(one, int) else one for one in members]
    return await client.put(f"/copy-groups/{group['id']}/members", json={"members": sent})


async def test_the_list_is_without_members(client: Client, accounts: list[int]) -> None:
    full = await factories.create_copy_group(client, "Alpha", accounts)

    listed = unwrap(await client.get("/copy-groups"))

    assert listed == [{k: v for k, v in full.items() if k != "members"}]


async def test_a_new_group_has_no_master_yet(client: Client, account_id: int) -> None:
    created, refused = [
        await client.post("/copy-groups", json={"name": "New", "master_account_id": master})
        for master in (None, account_id)
    ]

    assert (created.status_code, error_of(refused)) == (201, INVALID)


async def test_members_come_by_sort_order_with_their_defaults(client: Client, accounts: list[int]) -> None:
    a, b, c = accounts
    group = await factories.create_copy_group(client)

    put = await put_members(
        client,
        group,
        c,
        {"account_id": b, "quantity_multiplier": 0.5, "sort_order": -3},
        {"account_id": a, "quantity_multiplier": 999.99},
    )

    assert put.status_code == 200
    members = unwrap(put)
    assert members["member_count"] == 3
    assert members["members"] == [
        {"account_id": b, "quantity_multiplier": 0.5, "sort_order": -3},
        {"account_id": c, "quantity_multiplier": 1, "sort_order": 0},
        {"account_id": a, "quantity_multiplier": 999.99, "sort_order": 2},
    ]
    assert await get_group(client, group) == members


async def test_the_members_sent_replace_the_set(client: Client, accounts: list[int]) -> None:
    a, b, c = accounts
    group = await factories.create_copy_group(client, account_ids=[a, b])

    replaced = unwrap(await put_members(client, group, c, {"account_id": b, "quantity_multiplier": 1.00000001}))
    emptied = unwrap(await put_members(client, group))

    members = [(one["account_id"], one["quantity_multiplier"]) for one in replaced["members"]]
    assert members == [(c, 1), (b, 1.00000001)]
    assert (emptied["members"], emptied["member_count"]) == ([], 0)
    assert group["updated_at"] < replaced["updated_at"] < emptied["updated_at"]


async def test_the_same_members_leave_updated_at_and_another_multiplier_moves_it(
    client: Client, accounts: list[int]
) -> None:
    group = await factories.create_copy_group(client)
    sent = [
        {"account_id": accounts[0], "quantity_multiplier": 0.00000007, "sort_order": 0},
        {"account_id": accounts[1], "quantity_multiplier": 123.45678901, "sort_order": 1},
    ]
    group = unwrap(await put_members(client, group, *sent, accounts[2]))

    again = unwrap(await put_members(client, group, *reversed(group["members"])))
    other = unwrap(await put_members(client, group, {**sent[0], "quantity_multiplier": 1}, sent[1], accounts[2]))

    assert again == group
    assert other["updated_at"] > group["updated_at"]


async def test_members_that_cannot_be_are_refused_and_change_nothing(
    client: Client, other_user_client: Client, accounts: list[int]
) -> None:
    a, b, c = accounts
    theirs = (await factories.create_account(other_user_client))["id"]
    await factories.create_copy_group(other_user_client, account_ids=[theirs])
    other = await factories.create_copy_group(client, "Other", [a])
    group = await factories.create_copy_group(client, "Mine", [b])

    repeated = await put_members(client, group, b, c, c)
    unknown = await put_members(client, group, theirs, b, 987_654_321)
    taken = await put_members(client, group, c, a)

    assert [error_of(one) for one in (repeated, unknown, taken)] == [INVALID, INVALID, CONFLICT]
    assert details_of(repeated)["duplicate_account_ids"] == [c]
    assert list(details_of(repeated)["fields"]) == list(details_of(unknown)["fields"]) == ["members"]
    assert details_of(unknown)["unknown_account_ids"] == [theirs, 987_654_321]
    assert details_of(taken) == {"account_ids": [a]}
    assert [await get_group(client, one) for one in (other, group)] == [other, group]


@for_rows("how", ["emptied", "deleted"])
async def test_an_account_that_left_its_group_can_join_another(client: Client, accounts: list[int], how: str) -> None:
    other = await factories.create_copy_group(client, "Other", accounts)
    group = await factories.create_copy_group(client, "Mine")
    left = await (put_members(client, other) if how == "emptied" else client.delete(f"/copy-groups/{other['id']}"))

    joined = unwrap(await put_members(client, group, accounts[0]))

    assert left.status_code in (200, 204)
    assert [member["account_id"] for member in joined["members"]] == accounts[:1]


async def test_the_master_is_a_member_and_can_be_cleared(client: Client, accounts: list[int]) -> None:
    group = await factories.create_copy_group(client, account_ids=accounts)
    path = f"/copy-groups/{group['id']}"

    named = unwrap(await client.patch(path, json={"master_account_id": accounts[1]}))
    cleared = unwrap(await client.patch(path, json={"master_account_id": None}))

    assert (named["master_account_id"], cleared["master_account_id"]) == (accounts[1], None)
    assert named["updated_at"] > group["updated_at"]


async def test_a_master_that_is_not_a_member_is_refused_and_named(
    client: Client, other_user_client: Client, accounts: list[int]
) -> None:
    await factories.create_copy_group(client, "Other", accounts[2:])
    group = await factories.create_copy_group(client, account_ids=accounts[:2])
    theirs = (await factories.create_account(other_user_client))["id"]

    for master in (accounts[2], theirs, 987_654_321):
        body = {"name": "New", "master_account_id": master}
        refused = await client.patch(f"/copy-groups/{group['id']}", json=body)

        assert error_of(refused) == INVALID
        assert list(details_of(refused)["fields"]) == ["master_account_id"]
    assert await get_group(client, group) == group


async def test_a_master_that_leaves_is_cleared_and_one_that_stays_is_kept(client: Client, accounts: list[int]) -> None:
    a, b, c = accounts
    group = await factories.create_copy_group(client, account_ids=accounts)
    await client.patch(f"/copy-groups/{group['id']}", json={"master_account_id": a})

    stays = unwrap(await put_members(client, group, a, c))
    leaves = unwrap(await put_members(client, group, b, c))

    assert (stays["master_account_id"], leaves["master_account_id"]) == (a, None)
