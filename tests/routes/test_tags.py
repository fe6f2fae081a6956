"""Tags and their categories."""

from typing import Any

from factories import Client, create_category, create_tag, details_of, error_of, list_names, unwrap


async def test_an_unknown_category_is_named_before_a_taken_name_and_after_a_missing_tag(client: Client) -> None:
    await create_tag(client, "Taken")
    tag = await create_tag(client, "Tag")
    body = {"category_id": 999, "name": "Taken"}

    for refused in (await client.post("/tags", json=body), await client.patch(f"/tags/{tag['id']}", json=body)):
        assert error_of(refused) == (400, "validation_error")
        assert details_of(refused) == {"fields": {"category_id": "is not one of your tag categories"}}
    assert error_of(await client.patch("/tags/999", json=body)) == (404, "not_found")
    assert await list_names(client, "/tags") == ["Tag", "Taken"]


async def test_the_filters_choose_by_category_and_type_and_keep_the_order(client: Client) -> None:
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
        assert await list_names(client, "/tags", **query) == [*names]


async def list_categories(client: Client) -> Any:
    return unwrap(await client.get("/tag-categories"))


async def test_tag_count_counts_the_tags_of_each_category(client: Client) -> None:
    a, b = [(await create_category(client, name))["id"] for name in "AB"]
    for name in ("FOMO", "Revenge"):
        await create_tag(client, name, category_id=a)
    moved, gone = [await create_tag(client, name, category_id=a) for name in ("Moved", "Gone")]

    await client.patch(f"/tags/{moved['id']}", json={"category_id": b})
    await client.delete(f"/tags/{gone['id']}")

    assert [one["tag_count"] for one in await list_categories(client)] == [2, 1]


async def test_a_category_can_be_deleted_once_its_last_tag_is_gone(client: Client) -> None:
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
