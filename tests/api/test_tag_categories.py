"""Tag categories: docs/api.md#tags."""

import re
from datetime import UTC, datetime
from typing import Any

import httpx
from factories import create_category, create_tag, error_of, unwrap

RFC_3339_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


async def categories_of(client: httpx.AsyncClient) -> Any:
    return unwrap(await client.get("/tag-categories"))


async def category_of(client: httpx.AsyncClient, category_id: int) -> Any:
    (found,) = (one for one in await categories_of(client) if one["id"] == category_id)
    return found


async def test_a_new_journal_has_no_categories(client: httpx.AsyncClient) -> None:
    listed = await client.get("/tag-categories")

    assert listed.status_code == 200
    assert listed.json()["data"] == {"tag_categories": []}


# Create --------------------------------------------------------------------------------------------------


async def test_a_category_is_created_with_a_location_and_answered_whole(client: httpx.AsyncClient) -> None:
    created = await client.post("/tag-categories", json={"name": "Psychology"})

    assert created.status_code == 201
    category = created.json()["data"]["tag_category"]
    assert created.headers["location"] == f"/v1/tag-categories/{category['id']}"
    assert set(category) == {"id", "name", "tag_count", "created_at", "updated_at"}
    assert (category["name"], category["tag_count"]) == ("Psychology", 0)


async def test_what_was_created_is_what_is_listed(client: httpx.AsyncClient) -> None:
    created = await create_category(client)

    listed = await categories_of(client)

    assert listed == [created]


async def test_timestamps_are_rfc_3339_in_utc(client: httpx.AsyncClient) -> None:
    before = datetime.now(UTC)

    category = await create_category(client)

    for member in ("created_at", "updated_at"):
        assert RFC_3339_UTC.fullmatch(category[member])
        assert before <= datetime.fromisoformat(category[member]) <= datetime.now(UTC)


# Uniqueness ----------------------------------------------------------------------------------------------


async def test_a_tag_may_have_the_name_of_a_category(client: httpx.AsyncClient) -> None:
    category = await create_category(client, "Risk")

    created = await client.post("/tags", json={"name": "Risk", "category_id": category["id"]})

    assert created.status_code == 201


async def test_a_deleted_name_is_free_again(client: httpx.AsyncClient) -> None:
    category = await create_category(client)
    await client.delete(f"/tag-categories/{category['id']}")

    created = await client.post("/tag-categories", json={"name": category["name"]})

    assert created.status_code == 201


# Order ---------------------------------------------------------------------------------------------------


async def test_categories_come_by_name_whatever_its_case_then_id(client: httpx.AsyncClient) -> None:
    for name in ["zulu", "beta", "Alpha", "äpfel", "alpha", "Beta", "Äpfel", "ALPHA", "1st", "Zulu"]:
        await create_category(client, name)

    listed = await categories_of(client)

    assert [one["name"] for one in listed] == [
        "1st", "Alpha", "alpha", "ALPHA", "beta", "Beta", "zulu", "Zulu", "äpfel", "Äpfel",
    ]  # fmt: skip


async def test_a_renamed_category_moves_to_its_place(client: httpx.AsyncClient) -> None:
    first, second = await create_category(client, "A"), await create_category(client, "B")

    await client.patch(f"/tag-categories/{first['id']}", json={"name": "c"})

    assert [one["id"] for one in await categories_of(client)] == [second["id"], first["id"]]


# Rename --------------------------------------------------------------------------------------------------


async def test_a_rename_answers_the_whole_category(client: httpx.AsyncClient) -> None:
    category = await create_category(client, "Old")

    renamed = await client.patch(f"/tag-categories/{category['id']}", json={"name": " New "})

    assert renamed.status_code == 200
    assert unwrap(renamed) == {
        **category,
        "name": "New",
        "updated_at": unwrap(renamed)["updated_at"],
    }
    assert unwrap(renamed)["updated_at"] > category["updated_at"]
    assert await categories_of(client) == [unwrap(renamed)]


async def test_a_rename_that_changes_nothing_keeps_updated_at(client: httpx.AsyncClient) -> None:
    category = await create_category(client, "Café")

    for patch in ({}, {"name": "Café"}, {"name": " Café\n"}, {"name": "Cafe\u0301"}):
        answer = await client.patch(f"/tag-categories/{category['id']}", json=patch)

        assert (answer.status_code, unwrap(answer)) == (200, category)
    assert await categories_of(client) == [category]


async def test_a_rename_may_change_the_case_alone(client: httpx.AsyncClient) -> None:
    category = await create_category(client, "risk")

    renamed = await client.patch(f"/tag-categories/{category['id']}", json={"name": "Risk"})

    assert unwrap(renamed)["name"] == "Risk"


async def test_a_rename_leaves_the_tags_in_the_category(client: httpx.AsyncClient) -> None:
    category = await create_category(client, "Old")
    tag = await create_tag(client, category_id=category["id"])

    await client.patch(f"/tag-categories/{category['id']}", json={"name": "New"})

    assert unwrap(await client.get("/tags", params={"category_id": category["id"]})) == [tag]


# tag_count -----------------------------------------------------------------------------------------------


async def test_tag_count_counts_the_tags_that_belong_to_the_category(client: httpx.AsyncClient) -> None:
    category, other = await create_category(client, "A"), await create_category(client, "B")
    for name in ("FOMO", "Revenge", "Oversized"):
        await create_tag(client, name, category_id=category["id"])
    moved = await create_tag(client, "Moved", category_id=category["id"])
    gone = await create_tag(client, "Gone", category_id=category["id"])

    await client.patch(f"/tags/{moved['id']}", json={"category_id": other["id"]})
    await client.delete(f"/tags/{gone['id']}")

    assert [one["tag_count"] for one in await categories_of(client)] == [3, 1]


async def test_a_rename_answers_the_tag_count(client: httpx.AsyncClient) -> None:
    category = await create_category(client)
    await create_tag(client, category_id=category["id"])

    renamed = await client.patch(f"/tag-categories/{category['id']}", json={"name": "New"})

    assert unwrap(renamed)["tag_count"] == 1


# Delete --------------------------------------------------------------------------------------------------


async def test_a_deleted_category_is_gone(client: httpx.AsyncClient) -> None:
    category, other = await create_category(client, "A"), await create_category(client, "B")

    deleted = await client.delete(f"/tag-categories/{category['id']}")

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert await categories_of(client) == [other]


async def test_a_category_with_a_tag_is_not_deleted(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    before = await categories_of(client)

    refused = await client.delete(f"/tag-categories/{tag['category_id']}")

    assert error_of(refused) == (409, "category_has_tags")
    assert await categories_of(client) == before
    assert unwrap(await client.get("/tags")) == [tag]


async def test_a_category_whose_last_tag_is_deleted_can_go(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    await client.delete(f"/tags/{tag['id']}")

    deleted = await client.delete(f"/tag-categories/{tag['category_id']}")

    assert deleted.status_code == 204


async def test_a_category_whose_last_tag_moved_away_can_go(client: httpx.AsyncClient) -> None:
    tag, other = await create_tag(client), await create_category(client, "Other")
    await client.patch(f"/tags/{tag['id']}", json={"category_id": other["id"]})

    deleted = await client.delete(f"/tag-categories/{tag['category_id']}")

    assert deleted.status_code == 204


# Owners --------------------------------------------------------------------------------------------------


async def test_the_tags_of_another_owner_are_not_counted(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient
) -> None:
    mine = await create_category(client)
    await create_tag(other_user_client)

    listed = await category_of(client, mine["id"])

    assert listed["tag_count"] == 0
