"""ETag, If-Match and If-None-Match: over the route table, and in detail on three resources."""

import asyncio

import pytest
from factories import Client, create_account, create_strategy, create_tag, create_trade, error_of, unwrap
from operations import MISSING, body_of, create_thing_of, documented_path_of, dump, for_each, path_of, send
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

REFUSED = (412, "precondition_failed")


async def etag_of(client: Client, path: str) -> str:
    return str((await client.get(path)).headers["etag"])


async def test_every_change_makes_a_new_etag_and_the_old_one_writes_nothing(app: Starlette, client: Client) -> None:
    path = f"/trades/{(await create_trade(client))['id']}"
    tag_id = (await create_tag(client))["id"]
    old = await etag_of(client, path)

    unchanged = await client.patch(path, json={})
    tagged = await client.put(f"{path}/tags", json={"tag_ids": [tag_id]}, headers={"If-Match": old})
    read = await client.get(path, headers={"If-None-Match": old})
    stored = dump(app)
    stale = [
        await client.request(method, f"{path}{suffix}", json=body, headers={"If-Match": old})
        for method, suffix, body in (
            ("PATCH", "", {"notes": "other"}),
            ("PUT", "/tags", {"tag_ids": []}),
            ("PUT", "/confirmations", {"confirmations": []}),
            ("DELETE", "", None),
        )
    ]

    assert unchanged.headers["etag"] == old
    assert tagged.headers["etag"] == read.headers["etag"] != old
    assert (read.status_code, unwrap(read)) == (200, unwrap(tagged))
    assert [error_of(response) for response in stale] == [REFUSED] * 4
    assert dump(app) == stored


async def test_the_etag_is_compared_before_the_rules_of_the_resource(client: Client) -> None:
    await create_strategy(client, "Taken")
    path = f"/strategies/{(await create_strategy(client, 'Mine'))['id']}"

    refused = await client.patch(path, json={"name": "Taken"}, headers={"If-Match": '"0"'})

    assert error_of(refused) == REFUSED


WRITES = [one for one in OPERATIONS if one.method != "GET"]


async def thing_for(client: Client, operation: Operation) -> int | str:
    """Create the object of the operation and what its body names; return its id."""
    await create_tag(client, "In the category 1")
    if "{" in operation.path or operation.method == "DELETE":
        return await create_thing_of(client, operation)
    account = await create_account(client)
    if operation.name in ("merge_trades", "update_trades"):
        await create_trade(client, account["id"])
        await create_trade(client, account["id"])
    return MISSING


async def source_etag(client: Client, operation: Operation, row_id: int | str) -> str:
    assert operation.etag_source is not None
    if operation.names_objects:
        named = {"ids": (body_of(operation) or {})["ids"]}
        return str((await client.patch("/trades?dry_run=true", json=named)).headers["etag"])
    return await etag_of(client, path_of(operation.etag_source, row_id))


@for_each([one for one in OPERATIONS if one.method == "GET" and one.data], rewind=True)
async def test_every_get_has_an_etag_and_is_304_for_a_client_that_has_it(client: Client, operation: Operation) -> None:
    row_id = await thing_for(client, operation)
    path, etag = path_of(operation, row_id), (await send(client, operation, row_id)).headers["etag"]

    for method in ("GET", "HEAD"):
        for form in (etag, f"W/{etag}", f'"0123456789abcdef", {etag}', "*"):
            again = await client.request(method, path, headers={"If-None-Match": form})

            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag), form
            assert again.headers["cache-control"] == "no-store"
    other = await send(client, operation, row_id, If_None_Match='"0123456789abcdef"')
    assert (other.status_code, other.headers["etag"]) == (200, etag)


# Forms of If-Match around the ETag of the object, none of which is this ETag; each write meets some.
NO_MATCH = ['"0123456789abcdef"', "W/{}", "x{}y", "{} {}", "*, {}", "{}garbage", "nonsense", '""', ""]


@pytest.mark.promise(21)
@for_each(WRITES, rewind=True)
async def test_a_write_is_done_on_what_matches_alone_and_returns_the_new_etag(
    app: Starlette, client: Client, operation: Operation
) -> None:
    row_id = await thing_for(client, operation)
    etag = await source_etag(client, operation, row_id)
    before = dump(app)

    forms = NO_MATCH[WRITES.index(operation) % 3 :: 3]
    refused = {form: await send(client, operation, row_id, If_Match=form.replace("{}", etag)) for form in forms} | {
        form: await send(client, operation, row_id, If_None_Match=form) for form in (etag, f"W/{etag}", "*")
    }

    errors = {form: error_of(response) for form, response in refused.items()}
    assert errors == dict.fromkeys(refused, REFUSED)
    assert dump(app) == before

    response = await send(client, operation, row_id, If_Match=f'W/{etag}, "a,b", {etag}')

    assert response.status_code in operation.success_statuses
    if operation.has_etag and operation.method in ("PATCH", "PUT"):
        assert response.headers["etag"] == await source_etag(client, operation, row_id)
    elif operation.has_etag:
        created = response.headers["location"].removeprefix("/v1")
        assert response.headers["etag"] == await etag_of(client, created)
    else:  # without a body, or a report of what was done
        assert "etag" not in response.headers


def test_only_reports_of_what_was_done_have_no_etag() -> None:
    reports = [documented_path_of(one) for one in OPERATIONS if one.data and not one.has_etag]

    assert reports == [
        "/copy-groups/{id}/link",
        "/trades/bulk",
        "/trades/merge",
        "/trades/{id}/split",
        "/imports/{id}/join",
        "/imports/{id}/split",
        "/imports",
    ]


async def test_if_match_creates_nothing(client: Client) -> None:
    refused = await client.put("/instruments/XYZ", json={"point_value": 5}, headers={"If-Match": "*"})

    assert error_of(refused) == (404, "not_found")
    assert error_of(await client.get("/instruments/XYZ")) == (404, "not_found")


@for_rows("lines", [["{}"], ["*"], ['"other" , {},'], ['"other",{}'], ['"other"', "{}"]])
async def test_if_match_takes_an_etag_a_list_of_them_in_some_lines_or_a_star(client: Client, lines: list[str]) -> None:
    path = f"/tags/{(await create_tag(client))['id']}"

    async def headers() -> list[tuple[str, str]]:
        etag = await etag_of(client, path)
        return [("If-Match", line.replace("{}", etag)) for line in lines]

    patched = await client.patch(path, json={"name": "Other"}, headers=await headers())
    deleted = await client.delete(path, headers=await headers())

    assert (patched.status_code, deleted.status_code) == (200, 204)


async def test_a_page_has_another_etag_when_only_the_total_changes(client: Client) -> None:
    trade = await create_trade(client)
    page = "/trades?limit=1&symbol=ES"
    before = await client.get(page)

    await create_trade(client, trade["account_id"], opened_at="2025-01-05T14:00:00Z")
    after = await client.get(page)

    assert unwrap(after) == unwrap(before)
    assert after.headers["etag"] != before.headers["etag"]


async def test_a_repeated_create_meets_its_conditions_only_once(client: Client) -> None:
    etag, key, body = await etag_of(client, "/accounts"), {"Idempotency-Key": "a"}, {"name": "New"}

    created, again = await asyncio.gather(
        *(client.post("/accounts", json=body, headers={**key, "If-Match": etag}) for _ in range(2))
    )
    whole = await client.post("/accounts", json=body, headers={**key, "If-None-Match": created.headers["etag"]})
    refused = await client.post("/accounts", json={"name": "Other"}, headers={"Idempotency-Key": "b", "If-Match": etag})

    assert [one.status_code for one in (created, again, whole)] == [201] * 3
    assert unwrap(created) == unwrap(again) == unwrap(whole)
    assert error_of(refused) == REFUSED
