"""Tag categories: docs/api.md#tags."""

import asyncio
import re
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from factories import create_category, create_tag, details_of, error_of, unwrap

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


@pytest.mark.parametrize("member", ["created_at", "updated_at"])
async def test_timestamps_are_rfc_3339_in_utc(client: httpx.AsyncClient, member: str) -> None:
    before = datetime.now(UTC)

    category = await create_category(client)

    assert RFC_3339_UTC.fullmatch(category[member])
    assert before <= datetime.fromisoformat(category[member]) <= datetime.now(UTC)


@pytest.mark.parametrize("name", ["A", "n" * 50, "🔥" * 50, "心理"], ids=["1", "50", "50-emoji", "han"])
async def test_a_name_has_1_to_50_code_points(client: httpx.AsyncClient, name: str) -> None:
    created = await client.post("/tag-categories", json={"name": name})

    assert created.status_code == 201
    assert unwrap(created)["name"] == name


@pytest.mark.parametrize("name", ["", "n" * 51, "🔥" * 51], ids=["empty", "51", "51-emoji"])
async def test_a_name_of_another_length_is_refused_on_create(client: httpx.AsyncClient, name: str) -> None:
    refused = await client.post("/tag-categories", json={"name": name})

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["name"]
    assert await categories_of(client) == []


@pytest.mark.parametrize("name", ["", "n" * 51], ids=["empty", "51"])
async def test_a_name_of_another_length_is_refused_on_rename(client: httpx.AsyncClient, name: str) -> None:
    category = await create_category(client)

    refused = await client.patch(f"/tag-categories/{category['id']}", json={"name": name})

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["name"]
    assert await categories_of(client) == [category]


async def test_a_category_without_a_name_is_refused(client: httpx.AsyncClient) -> None:
    refused = await client.post("/tag-categories", json={})

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["name"]


async def test_a_name_is_measured_after_white_space_around_it_is_dropped(client: httpx.AsyncClient) -> None:
    created = await create_category(client, f" \t\u3000{'n' * 50}\u00a0\n")

    assert created["name"] == "n" * 50


async def test_white_space_inside_a_name_stays(client: httpx.AsyncClient) -> None:
    created = await create_category(client, "Risk  management")

    assert created["name"] == "Risk  management"


async def test_a_name_is_kept_in_nfc_and_measured_in_it(client: httpx.AsyncClient) -> None:
    created = await create_category(client, "e\u0301" * 50)

    assert created["name"] == "\u00e9" * 50


# Uniqueness ----------------------------------------------------------------------------------------------

SAME_NAMES = pytest.mark.parametrize(
    ("stored", "sent"),
    [("Risk", "Risk"), ("Risk", "  Risk "), ("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")],
    ids=["same", "white-space-around", "decomposed", "composed"],
)


@SAME_NAMES
async def test_creating_a_taken_name_is_409(client: httpx.AsyncClient, stored: str, sent: str) -> None:
    category = await create_category(client, stored)

    refused = await client.post("/tag-categories", json={"name": sent})

    assert error_of(refused) == (409, "duplicate_name")
    assert await categories_of(client) == [category]


@SAME_NAMES
async def test_renaming_to_a_taken_name_is_409(client: httpx.AsyncClient, stored: str, sent: str) -> None:
    taken = await create_category(client, stored)
    category = await create_category(client, "Zebra")

    refused = await client.patch(f"/tag-categories/{category['id']}", json={"name": sent})

    assert error_of(refused) == (409, "duplicate_name")
    assert await categories_of(client) == [taken, category]


@pytest.mark.parametrize(
    ("stored", "sent"),
    [("Risk", "risk"), ("Straße", "STRASSE"), ("A B", "AB"), ("\ufb01", "fi")],
    ids=["case", "folding", "space-inside", "compatibility"],
)
async def test_uniqueness_is_exact(client: httpx.AsyncClient, stored: str, sent: str) -> None:
    await create_category(client, stored)

    created = await client.post("/tag-categories", json={"name": sent})

    assert created.status_code == 201


async def test_a_tag_may_have_the_name_of_a_category(client: httpx.AsyncClient) -> None:
    category = await create_category(client, "Risk")

    created = await client.post("/tags", json={"name": "Risk", "category_id": category["id"]})

    assert created.status_code == 201


async def test_a_deleted_name_is_free_again(client: httpx.AsyncClient) -> None:
    category = await create_category(client)
    await client.delete(f"/tag-categories/{category['id']}")

    created = await client.post("/tag-categories", json={"name": category["name"]})

    assert created.status_code == 201


async def test_one_of_fifty_parallel_creates_of_a_name_wins(client: httpx.AsyncClient) -> None:
    creates = (client.post("/tag-categories", json={"name": "Risk"}) for _ in range(50))

    answers = await asyncio.gather(*creates)

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 49
    assert len(await categories_of(client)) == 1


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


@pytest.mark.parametrize(
    "patch",
    [{}, {"name": "Café"}, {"name": " Café\n"}, {"name": "Cafe\u0301"}],
    ids=["nothing", "own-name", "white-space-around", "decomposed"],
)
async def test_a_rename_that_changes_nothing_keeps_updated_at(
    client: httpx.AsyncClient, patch: dict[str, str]
) -> None:
    category = await create_category(client, "Café")

    answer = await client.patch(f"/tag-categories/{category['id']}", json=patch)

    assert answer.status_code == 200
    assert unwrap(answer) == category
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


async def test_a_name_cannot_be_cleared(client: httpx.AsyncClient) -> None:
    category = await create_category(client)

    refused = await client.patch(f"/tag-categories/{category['id']}", json={"name": None})

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["name"]
    assert await categories_of(client) == [category]


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


async def test_a_second_delete_is_404(client: httpx.AsyncClient) -> None:
    category = await create_category(client)
    await client.delete(f"/tag-categories/{category['id']}")

    again = await client.delete(f"/tag-categories/{category['id']}")

    assert error_of(again) == (404, "not_found")


async def test_of_two_parallel_deletes_one_is_404(client: httpx.AsyncClient) -> None:
    category = await create_category(client)

    answers = await asyncio.gather(*(client.delete(f"/tag-categories/{category['id']}") for _ in range(2)))

    assert sorted(answer.status_code for answer in answers) == [204, 404]


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


async def test_ids_are_never_used_again(client: httpx.AsyncClient) -> None:
    deleted = await create_category(client, "A")
    await client.delete(f"/tag-categories/{deleted['id']}")

    created = await create_category(client, "A")

    assert created["id"] > deleted["id"]


async def test_a_tag_into_a_category_that_is_deleted_meanwhile_is_never_an_orphan(
    client: httpx.AsyncClient,
) -> None:
    categories = [await create_category(client, f"C{number}") for number in range(20)]

    answers = await asyncio.gather(
        *(
            request
            for category in categories
            for request in (
                client.delete(f"/tag-categories/{category['id']}"),
                client.post("/tags", json={"name": category["name"], "category_id": category["id"]}),
            )
        )
    )

    pairs = {
        (deleted.status_code, created.status_code)
        for deleted, created in zip(answers[::2], answers[1::2], strict=True)
    }
    assert pairs <= {(204, 400), (409, 201)}
    left = {one["id"] for one in await categories_of(client)}
    assert {tag["category_id"] for tag in unwrap(await client.get("/tags"))} == left


# Owners --------------------------------------------------------------------------------------------------


async def test_another_owner_sees_none_of_them(
    client: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    await create_category(client)

    listed = await categories_of(stranger)

    assert listed == []


async def test_another_owner_may_have_the_same_name(
    client: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    mine = await create_category(client)

    theirs = await stranger.post("/tag-categories", json={"name": mine["name"]})

    assert theirs.status_code == 201
    assert await categories_of(client) == [mine]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_another_owner_cannot_touch_them(
    client: httpx.AsyncClient, stranger: httpx.AsyncClient, method: str
) -> None:
    mine = await create_category(client)
    body = {"name": "Taken over"} if method == "PATCH" else None

    refused = await stranger.request(method, f"/tag-categories/{mine['id']}", json=body)

    assert error_of(refused) == (404, "not_found")
    assert await categories_of(client) == [mine]


async def test_the_tags_of_another_owner_are_not_counted(
    client: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    mine = await create_category(client)
    await create_tag(stranger)

    listed = await category_of(client, mine["id"])

    assert listed["tag_count"] == 0
