"""Tag categories: docs/api.md#tags."""

import re
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from factories import create_category, create_tag, details_of, error_of, unwrap

RFC_3339_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


async def list_categories(client: httpx.AsyncClient) -> Any:
    return unwrap(await client.get("/tag-categories"))


async def test_a_new_category_has_a_location_and_is_listed(client: httpx.AsyncClient) -> None:
    assert await list_categories(client) == []
    before = datetime.now(UTC)

    created = await client.post("/tag-categories", json={"name": "Psychology"})

    category = unwrap(created)
    assert (created.status_code, created.headers["location"]) == (201, f"/v1/tag-categories/{category['id']}")
    assert (category["name"], category["tag_count"]) == ("Psychology", 0)
    assert category["created_at"] == category["updated_at"]
    assert RFC_3339_UTC.fullmatch(category["created_at"])
    assert before <= datetime.fromisoformat(category["created_at"]) <= datetime.now(UTC)
    assert await list_categories(client) == [category]


@pytest.mark.parametrize("name", [" New\n", "café"], ids=["another", "another case"])
async def test_a_rename_returns_the_whole_category_and_leaves_its_tags(
    client: httpx.AsyncClient, name: str
) -> None:
    tag = await create_tag(client, category_id=(await create_category(client, "Café"))["id"])
    (category,) = await list_categories(client)

    renamed = unwrap(await client.patch(f"/tag-categories/{category['id']}", json={"name": name}))

    assert renamed == {**category, "name": name.strip(), "tag_count": 1, "updated_at": renamed["updated_at"]}
    assert renamed["updated_at"] > category["updated_at"]
    assert unwrap(await client.get("/tags", params={"category_id": category["id"]})) == [tag]


async def test_tag_count_counts_the_tags_of_each_category(client: httpx.AsyncClient) -> None:
    a, b = [(await create_category(client, name))["id"] for name in "AB"]
    for name in ("FOMO", "Revenge"):
        await create_tag(client, name, category_id=a)
    moved, gone = [await create_tag(client, name, category_id=a) for name in ("Moved", "Gone")]

    await client.patch(f"/tags/{moved['id']}", json={"category_id": b})
    await client.delete(f"/tags/{gone['id']}")

    assert [one["tag_count"] for one in await list_categories(client)] == [2, 1]


async def test_a_category_can_be_deleted_once_its_last_tag_is_gone(client: httpx.AsyncClient) -> None:
    tag, other = await create_tag(client), await create_category(client, "Other")
    path = f"/tag-categories/{tag['category_id']}"

    refused = await client.delete(path)
    await client.patch(f"/tags/{tag['id']}", json={"category_id": other["id"]})
    deleted = await client.delete(path)

    assert error_of(refused) == (409, "category_has_tags")
    assert details_of(refused) == {"tag_count": 1}
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert await list_categories(client) == [{**other, "tag_count": 1}]
    assert unwrap(await client.get(f"/tags/{tag['id']}"))["category_id"] == other["id"]
