"""What was read can be edited and sent back whole: docs/api.md#sending-back-what-was-read."""

from datetime import UTC, datetime
from typing import Any

import factories
import pytest
import time_machine
from factories import Client, details_of, error_of, unwrap
from msgspec import structs
from operations import CHANGES, create_thing_of, path_of
from saved_journals import for_rows

from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

PATCHES = [operation for operation in OPERATIONS if operation.takes_echo]
each_patch = pytest.mark.parametrize("operation", PATCHES, ids=lambda operation: operation.name)


async def path_with_object(client: Client, operation: Operation) -> str:
    row_id = await create_thing_of(client, operation) if "{" in operation.path else 0
    return path_of(operation, row_id)


def read_only_members(operation: Operation) -> set[str]:
    assert operation.body is not None
    (resource,) = operation.data.values()
    names = {field.encode_name for field in structs.fields(resource)}
    return names - {field.encode_name for field in structs.fields(operation.body)}


@each_patch
async def test_an_object_is_sent_back_as_it_was_read_and_with_no_other_read_only_member(
    client: Client, operation: Operation
) -> None:
    path = await path_with_object(client, operation)
    read = unwrap(await client.get(path))
    names = read_only_members(operation)
    assert "created_at" in names

    same = await client.patch(path, json=read)
    refused = await client.patch(path, json={**read, **dict.fromkeys(names, "something else")})
    # Neither is true the id 1, nor does a number beyond the floats end in an error.
    numbers = [await client.patch(path, content=f'{{"id": {sent}}}') for sent in ("true", "1e400", "-1e400")]

    assert unwrap(same) == read
    assert error_of(refused) == (400, "validation_error")
    fields = details_of(refused)["fields"]
    assert fields.keys() == names
    assert all(reason.startswith("is read-only") for reason in fields.values())
    assert [details_of(one) for one in numbers] == [{"fields": {"id": "is read-only"}}] * 3
    assert unwrap(await client.get(path)) == read


@each_patch
@for_rows("clock", ["2001-01-01", "2099-01-01"])
async def test_a_copy_that_was_read_before_the_last_change_is_a_conflict_whatever_the_clock_says(
    client: Client, operation: Operation, clock: str
) -> None:
    path = await path_with_object(client, operation)
    read = unwrap(await client.get(path))
    with time_machine.travel(datetime.fromisoformat(clock).replace(tzinfo=UTC), tick=False):
        changed = unwrap(await client.patch(path, json=CHANGES[operation.name]))

    refused = await client.patch(path, json={**read, "id": 99})

    assert error_of(refused) == (412, "precondition_failed")
    fields = details_of(refused)["fields"]
    assert {"id", "updated_at"} <= fields.keys()
    assert set(fields.values()) == {"is no longer what is stored"}
    assert unwrap(await client.get(path)) == changed


@for_rows(
    "sent, details",
    [
        *(
            ({"updated_at": value}, {"fields": {"updated_at": "is read-only"}})
            for value in ("2099-01-01T00:00:00Z", "yesterday", None, 5, "2026-01-01T00:00:00")
        ),
        *(
            ({"created_at": f"2020-01-01T00:00:00{offset}"}, {"fields": {"created_at": "is read-only"}})
            for offset in ("+00:00", "-00:00", "Z")
        ),
        ({"colour": "#000000"}, {"unknown_fields": ["colour"]}),
    ],
)
async def test_what_is_neither_stored_nor_an_older_version_is_refused(
    client: Client, sent: dict[str, Any], details: dict[str, Any]
) -> None:
    tag = await factories.create_tag(client)

    refused = await client.patch(f"/tags/{tag['id']}", json={**tag, **sent})

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused) == details


@for_rows("offset", ["+00:00", "-00:00", "Z"])
async def test_a_timestamp_may_be_sent_back_with_another_offset(client: Client, offset: str) -> None:
    tag = await factories.create_tag(client)

    written = await client.patch(
        f"/tags/{tag['id']}", json={"created_at": tag["created_at"].replace("Z", offset), "name": "New"}
    )

    assert unwrap(written)["name"] == "New"


async def test_a_tag_that_was_added_meanwhile_is_a_conflict_with_its_category(client: Client) -> None:
    category = await factories.create_category(client)
    path = f"/tag-categories/{category['id']}"
    await factories.create_tag(client, category_id=category["id"])

    refused = await client.patch(path, json={**category, "name": "New"})
    count_alone = await client.patch(path, json={"tag_count": 0})
    both = await client.patch(path, json={**category, "id": 99})

    assert error_of(refused) == (412, "precondition_failed")
    assert details_of(refused) == {"fields": {"tag_count": "is no longer what is stored"}}
    assert details_of(count_alone) == {"fields": {"tag_count": "is read-only"}}
    assert details_of(both) == {"fields": {"id": "is read-only", "tag_count": "is read-only"}}


async def test_the_account_of_a_goal_is_changed_by_its_scope_alone_and_dates_are_not_cleared(client: Client) -> None:
    account, other = [(await factories.create_account(client, name))["id"] for name in ("Sim", "Live")]
    dates = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-02-01"}
    goal = await factories.create_goal(client, account_id=account, **dates)
    path, by_scope = f"/goals/{goal['id']}", "is read-only; use scope"
    for sent, reason in (
        ({"account_id": 99}, by_scope),
        ({"account_id": None}, by_scope),
        ({"copy_group_id": 1}, by_scope),
        ({"custom_start": None}, "must not be null"),
    ):
        assert details_of(await client.patch(path, json=sent)) == {"fields": dict.fromkeys(sent, reason)}

    patched = await client.patch(path, json={**goal, "scope": f"account_{other}"})

    assert unwrap(patched)["account_id"] == other


async def test_a_member_of_a_copy_group_is_not_written_by_patch(client: Client) -> None:
    account = await factories.create_account(client)
    group = await factories.create_copy_group(client, account_ids=[account["id"]])
    path = f"/copy-groups/{group['id']}"

    refused = await client.patch(path, json={**group, "members": []})
    sent_back = await client.patch(path, json={**group, "name": "New"})

    assert unwrap(sent_back)["members"] == group["members"]
    assert details_of(refused) == {"fields": {"members": "is read-only; use PUT /v1/copy-groups/{id}/members"}}


async def test_post_takes_no_read_only_member(client: Client) -> None:
    tag = await factories.create_tag(client)

    refused = await client.post("/tags", json={**tag, "name": "New"})

    assert details_of(refused)["unknown_fields"] == ["id", "created_at", "updated_at"]


async def test_a_read_only_member_as_deep_as_a_body_may_be_is_refused(client: Client) -> None:
    """The stored object is compared at another depth of the stack than the body is decoded at."""
    path = f"/tags/{(await factories.create_tag(client))['id']}"

    refused = {
        error_of(await client.patch(path, content='{"id": ' + "[" * depth + "]" * depth + "}"))
        for depth in range(800, 1000, 4)
    }

    assert refused == {(400, "validation_error")}
