"""ETag, If-Match and If-None-Match: over the route table, and in detail on three resources."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from factories import (
    create_account,
    create_goal,
    create_strategy,
    create_tag,
    create_trade,
    error_of,
    unwrap,
)
from operations import MISSING, body_of, create_thing_of, documented_path_of, dump, path_of
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

IN_DETAIL: dict[str, tuple[Callable[[httpx.AsyncClient], Awaitable[Any]], Any]] = {
    "strategies": (create_strategy, {"name": "Other"}),
    "goals": (create_goal, {"goal_name": "Other"}),
    "trades": (create_trade, {"notes": "other"}),
}


async def etag_of(client: httpx.AsyncClient, path: str) -> str:
    return str((await client.get(path)).headers["etag"])


async def test_the_etag_stays_until_the_object_changes_and_then_the_object_is_sent(
    client: httpx.AsyncClient,
) -> None:
    for kind, (create, patch) in IN_DETAIL.items():
        path = f"/{kind}/{(await create(client))['id']}"
        before = await etag_of(client, path)

        same = await client.patch(path, json={})
        other = await client.patch(path, json=patch, headers={"If-Match": before})
        read = await client.get(path, headers={"If-None-Match": before})

        assert same.headers["etag"] == before
        assert other.headers["etag"] == read.headers["etag"] != before
        assert (read.status_code, unwrap(read)) == (200, unwrap(other))


async def test_a_write_on_what_was_read_before_a_change_is_412_and_changes_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    for kind, (create, patch) in IN_DETAIL.items():
        path = f"/{kind}/{(await create(client))['id']}"
        headers = {"If-Match": await etag_of(client, path)}
        await client.patch(path, json=patch)
        before = dump(app)

        refused = [
            await client.patch(path, json=patch, headers=headers),
            await client.delete(path, headers=headers),
        ]

        assert [error_of(one) for one in refused] == [(412, "precondition_failed")] * 2
        assert dump(app) == before


async def test_the_tags_and_answers_of_a_trade_change_its_etag(client: httpx.AsyncClient) -> None:
    path = f"/trades/{(await create_trade(client))['id']}"
    tag_id = (await create_tag(client))["id"]
    old = await etag_of(client, path)

    tagged = await client.put(f"{path}/tags", json={"tag_ids": [tag_id]}, headers={"If-Match": old})
    stale = [
        await client.put(f"{path}/tags", json={"tag_ids": []}, headers={"If-Match": old}),
        await client.put(f"{path}/confirmations", json={"confirmations": []}, headers={"If-Match": old}),
    ]

    assert tagged.headers["etag"] == await etag_of(client, path)
    assert [error_of(one) for one in stale] == [(412, "precondition_failed")] * 2


async def test_the_etag_comes_before_the_rules(client: httpx.AsyncClient) -> None:
    await create_strategy(client, "Taken")
    mine = await create_strategy(client, "Mine")

    refused = await client.patch(
        f"/strategies/{mine['id']}", json={"name": "Taken"}, headers={"If-Match": '"0"'}
    )

    assert error_of(refused) == (412, "precondition_failed")


# Every operation -----------------------------------------------------------------------------------------


def named(operations: list[Operation]) -> pytest.MarkDecorator:
    names = [f"{operation.method} {documented_path_of(operation)}" for operation in operations]
    return pytest.mark.parametrize("operation", operations, ids=names)


every_json_get = named([one for one in OPERATIONS if one.method == "GET" and one.data])
every_write = named([one for one in OPERATIONS if one.method != "GET"])
every_update = named([one for one in OPERATIONS if one.method in ("PATCH", "PUT")])
every_create = named(
    [
        one
        for one in OPERATIONS
        if one.method == "POST" and one.success_statuses == (201,) and "bulk" not in one.path
    ]
)


async def call(
    client: httpx.AsyncClient, operation: Operation, row_id: object = MISSING, **headers: str
) -> httpx.Response:
    """The operation with what it requires; each header by its name with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if operation.consumes_file:
        file = "symbol,direction,quantity,entry_price,opened_at\nES,long,1,100,2026-01-05T14:00:00Z\n"
        return await client.post(
            path_of(operation),
            params={"account_id": 1},
            content=file,
            headers=named | {"Content-Type": "text/csv"},
        )
    path = path_of(operation, row_id)
    return await client.request(operation.method, path, json=body_of(operation), headers=named)


async def thing_for(client: httpx.AsyncClient, operation: Operation) -> int | str:
    """What the operation is about, by its id; what its body names is there too."""
    await create_tag(client, "In the category 1")
    if "{" in operation.path or operation.method == "DELETE":
        return await create_thing_of(client, operation)
    await create_account(client)
    return MISSING


def read_path(operation: Operation, row_id: int | str) -> str:
    """Where the ETag of what the operation changes is learnt."""
    assert operation.read_by is not None
    return path_of(operation.read_by, row_id)


@every_json_get
async def test_every_get_answers_its_etag_and_304_to_who_has_it(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    row_id = await thing_for(client, operation)
    path, answer = path_of(operation, row_id), await call(client, operation, row_id)
    etag = answer.headers["etag"]

    for method in ("GET", "HEAD"):
        for form in (etag, f"W/{etag}", f'"0123456789abcdef", {etag}', "*"):
            again = await client.request(method, path, headers={"If-None-Match": form})

            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag), form
            assert again.headers["cache-control"] == "no-store"
    other = await call(client, operation, row_id, If_None_Match='"0123456789abcdef"')
    assert (other.status_code, other.headers["etag"]) == (200, etag)


# Forms of If-Match, around the ETag of what is to be changed.
NO_MATCH = ['"0123456789abcdef"', "W/{}", "x{}y", "{} {}", "*, {}", "{}garbage", "nonsense", '""', ""]


@every_write
@pytest.mark.promise(21)
async def test_no_write_is_done_on_what_does_not_match(
    app: Starlette, client: httpx.AsyncClient, operation: Operation
) -> None:
    row_id = await thing_for(client, operation)
    etag = await etag_of(client, read_path(operation, row_id))
    before = dump(app)

    refused = {
        form: await call(client, operation, row_id, If_Match=form.replace("{}", etag)) for form in NO_MATCH
    }
    refused |= {
        form: await call(client, operation, row_id, If_None_Match=form) for form in (etag, f"W/{etag}", "*")
    }

    errors = {form: error_of(answer) for form, answer in refused.items()}
    assert errors == dict.fromkeys(refused, (412, "precondition_failed"))
    assert dump(app) == before


@every_write
async def test_every_write_is_done_on_what_matches(client: httpx.AsyncClient, operation: Operation) -> None:
    row_id = await thing_for(client, operation)
    etag = await etag_of(client, read_path(operation, row_id))

    answer = await call(client, operation, row_id, If_Match=f'W/{etag}, "a,b", {etag}')

    assert answer.status_code in operation.success_statuses


@pytest.mark.parametrize("form", ["{}", "*", '"other" , {},', '"other",{}'])
async def test_if_match_takes_an_etag_a_list_of_them_or_a_star(client: httpx.AsyncClient, form: str) -> None:
    path = f"/tags/{(await create_tag(client))['id']}"

    patched = await client.patch(
        path, json={"name": "Other"}, headers={"If-Match": form.replace("{}", await etag_of(client, path))}
    )
    deleted = await client.delete(path, headers={"If-Match": form.replace("{}", patched.headers["etag"])})

    assert (patched.status_code, deleted.status_code) == (200, 204)


@every_update
async def test_the_answer_to_a_write_has_the_etag_of_the_object(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    row_id = await thing_for(client, operation)

    answer = await call(client, operation, row_id)

    assert answer.headers["etag"] == await etag_of(client, read_path(operation, row_id))


@every_create
async def test_a_new_object_has_the_etag_that_it_is_read_with(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    await thing_for(client, operation)

    created = await call(client, operation)

    place = created.headers["location"].removeprefix("/v1")
    assert created.headers["etag"] == await etag_of(client, place)


@named([one for one in OPERATIONS if one.method != "GET" and "{id" in one.path])
async def test_an_id_that_is_not_there_is_404_before_it_can_match(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient, operation: Operation
) -> None:
    theirs = await create_thing_of(other_user_client, operation)

    answers = [
        await call(client, operation, row_id, If_Match=form)
        for row_id in (MISSING, theirs)
        for form in ('"0"', "*")
    ]

    assert [error_of(answer) for answer in answers] == [(404, "not_found")] * 4


async def test_a_report_of_what_was_done_has_no_etag(client: httpx.AsyncClient) -> None:
    await create_account(client)
    reports = [one for one in OPERATIONS if one.data and not one.has_etag]

    answers = [await call(client, operation) for operation in reports]

    assert [documented_path_of(one) for one in reports] == ["/trades/bulk", "/imports"]
    assert [(answer.status_code, "etag" in answer.headers) for answer in answers] == [(201, False)] * 2


async def test_a_page_has_another_etag_when_only_the_total_changes(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)
    page = "/trades?limit=1&symbol=ES"
    before = await etag_of(client, page)

    await create_trade(client, trade["account_id"], opened_at="2025-01-05T14:00:00Z")

    assert unwrap(await client.get(page)) == [unwrap_in_list(trade)]
    assert await etag_of(client, page) != before


def unwrap_in_list(trade: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in trade.items() if name not in ("tags", "confirmations")}


async def test_lines_of_if_match_are_one_list(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    current = await etag_of(client, f"/tags/{tag['id']}")
    lines = [("If-Match", '"other"'), ("If-Match", current)]

    assert (await client.patch(f"/tags/{tag['id']}", json={}, headers=lines)).status_code == 200


async def test_a_repeated_create_is_answered_whole_to_a_client_that_has_the_answer(
    client: httpx.AsyncClient,
) -> None:
    headers = {"Idempotency-Key": "a"}
    created = await client.post("/accounts", json={"name": "New"}, headers=headers)

    headers["If-None-Match"] = created.headers["etag"]
    again = await client.post("/accounts", json={"name": "New"}, headers=headers)

    assert again.status_code == 201
    assert unwrap(again) == unwrap(created)


async def test_the_condition_of_a_repeated_create_is_asked_only_the_first_time(
    client: httpx.AsyncClient,
) -> None:
    headers = {"If-Match": await etag_of(client, "/accounts"), "Idempotency-Key": "a"}

    created, again = [await client.post("/accounts", json={"name": "New"}, headers=headers) for _ in range(2)]

    assert (created.status_code, again.status_code) == (201, 201)
    assert unwrap(again) == unwrap(created)
    assert error_of(
        await client.post("/accounts", json={"name": "Other"}, headers=headers | {"Idempotency-Key": "b"})
    ) == (412, "precondition_failed")
