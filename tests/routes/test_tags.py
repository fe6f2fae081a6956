"""Tags and their categories."""

import re
from datetime import UTC, datetime
from typing import Any

import httpx
from factories import create_category, create_tag, details_of, error_of, unwrap
from saved_journals import for_rows


async def list_names(client: httpx.AsyncClient, **query: Any) -> list[str]:
    return [tag["name"] for tag in unwrap(await client.get("/tags", params=query))]


async def test_a_new_tag_has_a_location_and_the_defaults_and_is_listed(client: httpx.AsyncClient) -> None:
    category = await create_category(client)

    created = await client.post("/tags", json={"category_id": category["id"], "name": "FOMO"})

    tag = unwrap(created)
    assert (created.status_code, created.headers["location"]) == (201, f"/v1/tags/{tag['id']}")
    sent_and_defaults = {"category_id": category["id"], "name": "FOMO", "color": "#3b82f6", "type": "custom"}
    assert tag.items() >= sent_and_defaults.items()
    assert unwrap(await client.get("/tags")) == [tag] == [unwrap(await client.get(f"/tags/{tag['id']}"))]


@for_rows(
    "members",
    [
        {"name": "Revenge"},
        {"color": "#aBcDeF"},
        {"type": "mistake"},
        {"category_id": "another"},
        {"name": "New", "color": "#010203", "type": "mistake", "category_id": "another"},
    ],
)
async def test_a_patch_changes_what_it_names(client: httpx.AsyncClient, members: dict[str, Any]) -> None:
    tag, another = await create_tag(client), await create_category(client, "Another")
    sent = {name: another["id"] if name == "category_id" else value for name, value in members.items()}

    changed = unwrap(await client.patch(f"/tags/{tag['id']}", json=sent))

    assert changed == {**tag, **sent, "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > tag["updated_at"]
    assert unwrap(await client.get("/tags", params={"category_id": changed["category_id"]})) == [changed]


async def test_an_unknown_category_is_named_before_a_taken_name_and_after_a_missing_tag(
    client: httpx.AsyncClient,
) -> None:
    await create_tag(client, "Taken")
    tag = await create_tag(client, "Tag")
    body = {"category_id": 999, "name": "Taken"}

    for refused in (await client.post("/tags", json=body), await client.patch(f"/tags/{tag['id']}", json=body)):
        assert error_of(refused) == (400, "validation_error")
        assert details_of(refused) == {"fields": {"category_id": "is not one of your tag categories"}}
    assert error_of(await client.patch("/tags/999", json=body)) == (404, "not_found")
    assert await list_names(client) == ["Tag", "Taken"]


async def test_the_filters_choose_by_category_and_type_and_keep_the_order(client: httpx.AsyncClient) -> None:
    a, b = [(await create_category(client, name))["id"] for name in "AB"]
    made = ((a, "mistake", "d"), (a, "custom", "C"), (b, "mistake", "b"), (b, "custom", "A"), (a, "mistake", "a"))
    for category_id, kind, name in made:
        await create_tag(client, name, category_id=category_id, type=kind)

    for query, names in (
        ({}, "AabCd"),
        ({"category_id": a}, "aCd"),
        ({"type": "mistake"}, "abd"),
        ({"type": "custom"}, "AC"),
        ({"category_id": a, "type": "mistake"}, "ad"),
        ({"category_id": 999}, ""),
    ):
        assert await list_names(client, **query) == [*names]


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


@for_rows("name", [" New\n", "café"])
async def test_a_rename_returns_the_whole_category_and_leaves_its_tags(client: httpx.AsyncClient, name: str) -> None:
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
