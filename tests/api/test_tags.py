"""Tags: docs/api.md#tags."""

from typing import Any

import httpx
from factories import (
    create_category,
    create_tag,
    details_of,
    error_of,
    insert_account,
    insert_trade,
    insert_trade_tags,
    run_sql,
    unwrap,
)
from starlette.applications import Starlette


async def tags_of(client: httpx.AsyncClient, **query: Any) -> Any:
    return unwrap(await client.get("/tags", params=query))


async def tags_on_trades(app: Starlette) -> list[tuple[int, int]]:
    """(trade, tag) of every assignment."""
    rows = await run_sql(app, "SELECT trade_id, tag_id FROM trade_tags ORDER BY trade_id, tag_id")
    return [(trade_id, tag_id) for trade_id, tag_id in rows]


async def test_a_new_journal_has_no_tags(client: httpx.AsyncClient) -> None:
    listed = await client.get("/tags")

    assert listed.status_code == 200
    assert listed.json()["data"] == {"tags": []}


# Create --------------------------------------------------------------------------------------------------


async def test_a_tag_is_created_with_a_location_and_the_defaults(client: httpx.AsyncClient) -> None:
    category = await create_category(client)

    created = await client.post("/tags", json={"category_id": category["id"], "name": "FOMO"})

    assert created.status_code == 201
    tag = created.json()["data"]["tag"]
    assert created.headers["location"] == f"/v1/tags/{tag['id']}"
    assert tag == {
        "id": tag["id"],
        "category_id": category["id"],
        "name": "FOMO",
        "color": "#3b82f6",
        "type": "custom",
        "created_at": tag["created_at"],
        "updated_at": tag["updated_at"],
    }


async def test_what_was_created_is_what_is_listed(client: httpx.AsyncClient) -> None:
    created = await create_tag(client, color="#00FF7f", type="mistake")

    listed = await tags_of(client)

    assert listed == [created]


async def test_a_colour_and_a_type_are_kept_as_sent(client: httpx.AsyncClient) -> None:
    for color, kind in (("#000000", "mistake"), ("#FFFFFF", "custom"), ("#aBcDeF", "custom")):
        tag = await create_tag(client, color, color=color, type=kind)

        assert (tag["color"], tag["type"]) == (color, kind)


# The category --------------------------------------------------------------------------------------------


async def test_a_category_that_does_not_exist_is_refused_and_named(client: httpx.AsyncClient) -> None:
    refused = await client.post("/tags", json={"category_id": 999, "name": "FOMO"})

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["category_id"]
    assert await tags_of(client) == []


# Order of checks -----------------------------------------------------------------------------------------


async def test_a_missing_tag_is_told_before_a_foreign_category(client: httpx.AsyncClient) -> None:
    refused = await client.patch("/tags/999", json={"category_id": 999})

    assert error_of(refused) == (404, "not_found")


async def test_a_foreign_category_is_told_before_a_taken_name(client: httpx.AsyncClient) -> None:
    await create_tag(client, "Taken")
    tag = await create_tag(client, "Tag")

    refused = [
        await client.request(method, path, json={"category_id": 999, "name": "Taken"})
        for method, path in (("POST", "/tags"), ("PATCH", f"/tags/{tag['id']}"))
    ]

    assert [error_of(answer) for answer in refused] == [(400, "validation_error")] * 2


# Update --------------------------------------------------------------------------------------------------


async def test_a_patch_changes_what_it_names_and_answers_the_whole_tag(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    for member, value in (("name", "Revenge"), ("color", "#abcdef"), ("type", "mistake")):
        changed = await client.patch(f"/tags/{tag['id']}", json={member: value})

        assert changed.status_code == 200
        assert unwrap(changed) == {**tag, member: value, "updated_at": unwrap(changed)["updated_at"]}
        assert unwrap(changed)["updated_at"] > tag["updated_at"]
        assert await tags_of(client) == [unwrap(changed)]
        tag = unwrap(changed)


async def test_a_tag_moves_to_another_category(client: httpx.AsyncClient) -> None:
    tag, other = await create_tag(client), await create_category(client, "Other")

    moved = await client.patch(f"/tags/{tag['id']}", json={"category_id": other["id"]})

    assert unwrap(moved)["category_id"] == other["id"]
    assert await tags_of(client, category_id=tag["category_id"]) == []
    assert await tags_of(client, category_id=other["id"]) == [unwrap(moved)]


async def test_a_patch_changes_several_members_at_once(client: httpx.AsyncClient) -> None:
    tag, other = await create_tag(client), await create_category(client, "Other")
    patch = {"name": "New", "category_id": other["id"], "color": "#010203", "type": "mistake"}

    changed = await client.patch(f"/tags/{tag['id']}", json=patch)

    assert unwrap(changed) == {**tag, **patch, "updated_at": unwrap(changed)["updated_at"]}


async def test_a_patch_that_changes_nothing_keeps_updated_at(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    members = ("name", "category_id", "color", "type")

    for same in ((), *((member,) for member in members), members):
        answer = await client.patch(f"/tags/{tag['id']}", json={member: tag[member] for member in same})

        assert answer.status_code == 200
        assert unwrap(answer) == tag
    assert await tags_of(client) == [tag]


async def test_a_renamed_tag_stays_on_its_trades(app: Starlette, client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    trade_id = await insert_trade(app, await insert_account(app))
    await insert_trade_tags(app, trade_id, [tag["id"]])

    await client.patch(f"/tags/{tag['id']}", json={"name": "New", "type": "mistake"})

    assert await tags_on_trades(app) == [(trade_id, tag["id"])]


# List ----------------------------------------------------------------------------------------------------


async def test_tags_come_by_name_whatever_its_case_then_id(client: httpx.AsyncClient) -> None:
    category = await create_category(client)
    for name in ["zulu", "Beta", "éclair", "alpha", "Éclair", "Alpha", "beta", "_x"]:
        await create_tag(client, name, category_id=category["id"])

    listed = await tags_of(client)

    assert [tag["name"] for tag in listed] == [
        "_x", "alpha", "Alpha", "Beta", "beta", "zulu", "éclair", "Éclair",
    ]  # fmt: skip


async def test_the_filters_choose_by_category_and_type_and_keep_the_order(client: httpx.AsyncClient) -> None:
    a, b = await create_category(client, "A"), await create_category(client, "B")
    made = [
        (a, "mistake", "d"),
        (a, "custom", "C"),
        (b, "mistake", "b"),
        (b, "custom", "A"),
        (a, "mistake", "a"),
    ]
    for category, kind, name in made:
        await create_tag(client, name, category_id=category["id"], type=kind)

    listed = {
        "all": await tags_of(client),
        "of A": await tags_of(client, category_id=a["id"]),
        "mistakes": await tags_of(client, type="mistake"),
        "custom": await tags_of(client, type="custom"),
        "mistakes of A": await tags_of(client, category_id=a["id"], type="mistake"),
    }

    assert {title: [tag["name"] for tag in tags] for title, tags in listed.items()} == {
        "all": ["A", "a", "b", "C", "d"],
        "of A": ["a", "C", "d"],
        "mistakes": ["a", "b", "d"],
        "custom": ["A", "C"],
        "mistakes of A": ["a", "d"],
    }


async def test_a_filter_naming_no_category_lists_nothing(client: httpx.AsyncClient) -> None:
    await create_tag(client)

    listed = await tags_of(client, category_id=999)

    assert listed == []


# Delete --------------------------------------------------------------------------------------------------


async def test_a_deleted_tag_is_gone(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client, "Gone")
    other = await create_tag(client, "Other", category_id=tag["category_id"])

    deleted = await client.delete(f"/tags/{tag['id']}")

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert await tags_of(client) == [other]


async def test_a_deleted_tag_is_taken_off_every_trade(app: Starlette, client: httpx.AsyncClient) -> None:
    gone, kept = await create_tag(client, "Gone"), await create_tag(client, "Kept")
    account_id = await insert_account(app)
    first, second = await insert_trade(app, account_id), await insert_trade(app, account_id)
    await insert_trade_tags(app, first, [gone["id"], kept["id"]])
    await insert_trade_tags(app, second, [gone["id"]])

    deleted = await client.delete(f"/tags/{gone['id']}")

    assert deleted.status_code == 204
    assert await tags_on_trades(app) == [(first, kept["id"])]
    assert await run_sql(app, "SELECT count(*) FROM trades") == [(2,)]


async def test_a_deleted_name_is_free_again_and_its_id_is_not(client: httpx.AsyncClient) -> None:
    deleted = await create_tag(client)
    await client.delete(f"/tags/{deleted['id']}")

    created = await create_tag(client, deleted["name"], category_id=deleted["category_id"])

    assert created["id"] > deleted["id"]
