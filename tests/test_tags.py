"""Tags and tag categories: interface.md §2 and §4."""

import httpx


async def test_a_category_is_created_with_a_location(client: httpx.AsyncClient) -> None:
    created = await client.post("/tag-categories", json={"name": "Psychology"})

    assert created.status_code == 201
    category = created.json()["data"]["tag_category"]
    assert created.headers["location"] == f"/v1/tag-categories/{category['id']}"
    assert category["tag_count"] == 0
