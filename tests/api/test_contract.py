"""What holds for every operation, over the route table: a new endpoint is covered unasked."""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
from conftest import BASE_URL, client_of, new_key_for
from factories import details_of, error_of
from operations import MISSING, body_of, create_thing_of, documented_path_of, path_of
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.values.api_keys import SCOPES
from journal_api.web.operation import Operation

# The tags, strategies and goals of docs/api.md#endpoints, row by row.
INTERFACE = [
    ("GET", "/tag-categories", "read:tags"),
    ("GET", "/tags", "read:tags"),
    ("POST", "/tag-categories", "write:tags"),
    ("PATCH", "/tag-categories/{id}", "write:tags"),
    ("DELETE", "/tag-categories/{id}", "write:tags"),
    ("POST", "/tags", "write:tags"),
    ("PATCH", "/tags/{id}", "write:tags"),
    ("DELETE", "/tags/{id}", "write:tags"),
    ("GET", "/strategies", "read:strategies"),
    ("GET", "/strategies/{id}", "read:strategies"),
    ("GET", "/strategies/{id}/setups", "read:strategies"),
    ("POST", "/strategies", "write:strategies"),
    ("PATCH", "/strategies/{id}", "write:strategies"),
    ("DELETE", "/strategies/{id}", "write:strategies"),
    ("GET", "/goals", "read:goals"),
    ("GET", "/goals/{id}", "read:goals"),
    ("GET", "/goals/{id}/snapshots", "read:goals"),
    ("POST", "/goals", "write:goals"),
    ("PATCH", "/goals/{id}", "write:goals"),
    ("DELETE", "/goals/{id}", "write:goals"),
]

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]


def methods_of(path: str) -> set[str]:
    """Every method of the path, HEAD included wherever GET is."""
    methods = {operation.method for operation in OPERATIONS if operation.path == path}
    return methods | ({"HEAD"} if "GET" in methods else set())


async def call(client: httpx.AsyncClient, operation: Operation, row_id: object = MISSING) -> httpx.Response:
    return await client.request(
        operation.method,
        path_of(operation, row_id),
        json=body_of(operation),
        headers={"X-Request-Id": "always-the-same"},
    )


def data_of(response: httpx.Response) -> Any:
    """What was asked for, without the envelope."""
    is_json = response.headers["content-type"] == "application/json"
    return response.json()["data"] if is_json else response.text


def whole(response: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    """Everything that a caller can see of an answer."""
    return response.status_code, response.headers.multi_items(), response.content


def named(operations: Sequence[Operation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "operation",
        operations,
        ids=[f"{operation.method} {documented_path_of(operation)}" for operation in operations],
    )


every_operation = named(OPERATIONS)
every_scoped_operation = named([operation for operation in OPERATIONS if operation.required_scope])
every_operation_on_a_thing = named([operation for operation in OPERATIONS if "{id" in operation.path])
every_delete = named([operation for operation in OPERATIONS if operation.method == "DELETE"])
every_get = named([operation for operation in OPERATIONS if operation.method == "GET"])
every_operation_with_a_body = named([operation for operation in OPERATIONS if operation.body])
every_path = pytest.mark.parametrize("path", sorted({operation.path for operation in OPERATIONS}))


@pytest.fixture
async def nobody(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """Without a key."""
    async with client_of(app) as client:
        yield client


# The table -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path", "scope"), INTERFACE, ids=str)
def test_every_row_of_the_interface_is_an_operation_with_its_scope(
    method: str, path: str, scope: str
) -> None:
    found = [one for one in OPERATIONS if (one.method, documented_path_of(one)) == (method, path)]

    assert [operation.required_scope for operation in found] == [scope]


def test_no_operation_stands_in_the_table_twice() -> None:
    rows = [(operation.method, operation.path) for operation in OPERATIONS]

    assert len(rows) == len(set(rows))


@every_scoped_operation
def test_the_scope_reads_for_get_and_writes_for_the_rest(operation: Operation) -> None:
    action = "read" if operation.method == "GET" else "write"

    assert operation.required_scope in SCOPES
    assert operation.required_scope.startswith(f"{action}:")


@every_operation
def test_its_handler_says_what_it_does(operation: Operation) -> None:
    assert (operation.endpoint.__doc__ or "").strip()


@every_operation
def test_its_path_is_below_v1_without_a_slash_at_its_end(operation: Operation) -> None:
    assert operation.path.startswith("/v1/")
    assert not operation.path.endswith("/")


# Who may call --------------------------------------------------------------------------------------------


@every_operation
async def test_without_a_key_it_is_401(nobody: httpx.AsyncClient, operation: Operation) -> None:
    refused = await call(nobody, operation)

    assert error_of(refused) == (401, "unauthorized")
    assert refused.headers["www-authenticate"] == "Bearer"


@every_scoped_operation
async def test_with_every_scope_but_its_own_it_is_403(app: Starlette, operation: Operation) -> None:
    others = tuple(scope for scope in SCOPES if scope != operation.required_scope)

    async with client_of(app, await new_key_for(app, scopes=others)) as client:
        refused = await call(client, operation)

    assert error_of(refused) == (403, "forbidden_scope")
    assert details_of(refused) == {"required_scope": operation.required_scope}


@every_operation
async def test_with_its_own_scope_alone_it_is_allowed(app: Starlette, operation: Operation) -> None:
    own = (operation.required_scope,) if operation.required_scope else ()

    async with client_of(app, await new_key_for(app, scopes=own)) as client:
        answer = await call(client, operation)

    assert answer.status_code not in (401, 403)
    assert answer.status_code < 500


@every_get
async def test_head_needs_the_same_key_and_scope(
    app: Starlette, nobody: httpx.AsyncClient, operation: Operation
) -> None:
    others = tuple(scope for scope in SCOPES if scope != operation.required_scope)
    async with client_of(app, await new_key_for(app, scopes=others)) as without_scope:
        answers = [await client.head(path_of(operation)) for client in (nobody, without_scope)]

    assert [answer.status_code for answer in answers] == [401, 403 if operation.required_scope else 200]


# What is not there; what is somebody else's is in test_isolation.py -----------------------------------------


@every_operation_on_a_thing
async def test_an_id_that_does_not_exist_is_404(client: httpx.AsyncClient, operation: Operation) -> None:
    refused = await call(client, operation)

    assert error_of(refused) == (404, "not_found")


@every_operation_on_a_thing
async def test_the_same_id_is_answered_to_its_owner(client: httpx.AsyncClient, operation: Operation) -> None:
    row_id = await create_thing_of(client, operation)

    answer = await call(client, operation, row_id)

    assert answer.status_code == (204 if operation.method == "DELETE" else 200)


@every_delete
async def test_a_deleted_id_is_answered_like_one_that_never_was(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    row_id = await create_thing_of(client, operation)
    await call(client, operation, row_id)
    below = [one for one in OPERATIONS if one.path.startswith(operation.path)]
    below = [one for one in below if (one.method, one.path) != ("PUT", operation.path)]  # it creates

    again = [whole(await call(client, one, row_id)) for one in below]

    assert {status for status, _, _ in again} == {404}
    assert again == [whole(await call(client, one)) for one in below]


@every_operation_on_a_thing
async def test_an_unknown_path_is_answered_like_a_missing_id(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    missing = await call(client, operation)

    no_route = await client.request(
        operation.method, "/nothing-of-the-kind", headers={"X-Request-Id": "always-the-same"}
    )

    assert whole(no_route) == whole(missing)


# Bodies --------------------------------------------------------------------------------------------------


@every_operation_with_a_body
async def test_an_unknown_member_is_refused_and_named(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    body = {**(body_of(operation) or {}), "no_such_member": 1}

    refused = await client.request(operation.method, path_of(operation), json=body)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused) == {"unknown_fields": ["no_such_member"]}


# The order: host, route, method, key, scope, rate, media type, size, JSON syntax, field types, the object.

TEXT = {"Content-Type": "text/plain"}
TOO_LARGE = b" " * (4 * 1024 * 1024 + 1)


@every_operation_with_a_body
@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (TOO_LARGE, TEXT, 415),
        (TOO_LARGE, {}, 413),
        (b"{", {}, 400),
        (b'{"no_such_member": 1}', {}, 400),
    ],
    ids=["media-type-before-size", "size-before-syntax", "syntax-before-object", "types-before-object"],
)
async def test_the_body_is_checked_in_order(
    client: httpx.AsyncClient, operation: Operation, content: bytes, headers: dict[str, str], status: int
) -> None:
    refused = await client.request(operation.method, path_of(operation), content=content, headers=headers)

    assert refused.status_code == status


@every_operation_with_a_body
async def test_the_key_is_checked_before_the_body(nobody: httpx.AsyncClient, operation: Operation) -> None:
    refused = await nobody.request(operation.method, path_of(operation), content=TOO_LARGE, headers=TEXT)

    assert error_of(refused) == (401, "unauthorized")


@every_operation_with_a_body
async def test_the_scope_is_checked_before_the_body(app: Starlette, operation: Operation) -> None:
    others = tuple(scope for scope in SCOPES if scope != operation.required_scope)

    async with client_of(app, await new_key_for(app, scopes=others)) as client:
        refused = await client.request(operation.method, path_of(operation), content=TOO_LARGE, headers=TEXT)

    assert error_of(refused) == (403, "forbidden_scope")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/strategies/999", {"account_id": 1, "copy_group_id": 1}),
        ("PATCH", "/goals/999", {"timeframe": "custom"}),
        ("PATCH", "/goals/999", {"timeframe": "daily", "custom_start": "2026-01-01"}),
        ("GET", "/goals/999/snapshots?from=2026-02-01&to=2026-01-01", None),
    ],
    ids=["both-scopes", "custom-without-dates", "dates-without-custom", "from-after-to"],
)
async def test_the_object_in_the_path_is_checked_before_the_rules(
    client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None
) -> None:
    refused = await client.request(method, path, json=body)

    assert error_of(refused) == (404, "not_found")


# Queries -------------------------------------------------------------------------------------------------


@every_get
async def test_an_unknown_query_parameter_is_ignored(client: httpx.AsyncClient, operation: Operation) -> None:
    row_id = await create_thing_of(client, operation) if "{" in operation.path else MISSING
    await call(client, operation, row_id)

    answer = await client.get(path_of(operation, row_id), params=[("no_such", "1"), ("no_such", "2")])

    assert answer.status_code == 200
    assert data_of(answer) == data_of(await call(client, operation, row_id))


# Methods -------------------------------------------------------------------------------------------------


@every_get
async def test_head_answers_as_get_does_but_for_the_body(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    row_id = await create_thing_of(client, operation) if "{" in operation.path else MISSING
    got = await call(client, operation, row_id)

    head = await client.head(path_of(operation, row_id), headers={"X-Request-Id": "always-the-same"})

    assert got.status_code == 200
    assert whole(head) == (200, got.headers.multi_items(), b"")
    assert int(head.headers.get("content-length", len(got.content))) == len(got.content)


@every_path
async def test_every_other_method_is_405_naming_those_of_the_path(app: Starlette, path: str) -> None:
    url = BASE_URL + re.sub(r"\{\w+:\w+\}", "1", path).removeprefix("/v1")
    others = [method for method in METHODS if method not in methods_of(path)]

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as nobody:
        answers = [await nobody.request(method, url) for method in others if method != "HEAD"]

    assert [error_of(answer) for answer in answers] == [(405, "method_not_allowed")] * len(answers)
    for answer in answers:
        assert set(answer.headers["allow"].split(", ")) == methods_of(path)
        assert set(details_of(answer)["allowed"]) == methods_of(path)


@every_path
async def test_head_is_405_where_get_is(client: httpx.AsyncClient, path: str) -> None:
    url = re.sub(r"\{\w+:\w+\}", "1", path).removeprefix("/v1")

    got, head = await client.get(url), await client.head(url)

    assert (got.status_code == 405) == (head.status_code == 405) == ("GET" not in methods_of(path))


@every_operation
@pytest.mark.parametrize("ending", ["/", "//", "/x"])
async def test_a_path_that_goes_on_is_404_and_not_redirected(
    client: httpx.AsyncClient, nobody: httpx.AsyncClient, operation: Operation, ending: str
) -> None:
    url = path_of(operation, 1) + ending

    answers = [await one.request(operation.method, url) for one in (client, nobody)]

    assert [error_of(answer) for answer in answers] == [(404, "not_found")] * 2
    assert all("location" not in answer.headers for answer in answers)


# The id of the request -----------------------------------------------------------------------------------


@every_operation
async def test_an_answer_repeats_the_id_that_it_was_asked_with(
    client: httpx.AsyncClient, nobody: httpx.AsyncClient, operation: Operation
) -> None:
    answers = [await call(one, operation) for one in (client, nobody)]

    assert [answer.headers["x-request-id"] for answer in answers] == ["always-the-same"] * 2


@every_operation
async def test_an_answer_to_a_request_without_an_id_has_a_new_one(
    client: httpx.AsyncClient, operation: Operation
) -> None:
    answers = [
        await client.request(operation.method, path_of(operation), json=body_of(operation)) for _ in range(2)
    ]

    ids = {answer.headers["x-request-id"] for answer in answers}
    assert len(ids) == 2
    assert all(re.fullmatch(r"req_[0-9a-f]{16}", request_id) for request_id in ids)


@pytest.mark.parametrize("sent", ["a", "A" * 64, "aZ09_-", "req_0123456789abcdef"])
async def test_a_client_keeps_its_own_request_id(client: httpx.AsyncClient, sent: str) -> None:
    answer = await client.get("/tags", headers={"X-Request-Id": sent})

    assert answer.headers["x-request-id"] == answer.json()["meta"]["request_id"] == sent


@pytest.mark.parametrize(
    "sent",
    ["", "A" * 65, "a b", "a.b", 'a"b', "a\\b", "é", "a,b", "a\tb"],
    ids=["empty", "65", "space", "dot", "quote", "backslash", "letter", "comma", "tab"],
)
async def test_another_request_id_is_replaced(client: httpx.AsyncClient, sent: str) -> None:
    answer = await client.get("/tags", headers=[(b"x-request-id", sent.encode())])

    assert re.fullmatch(r"req_[0-9a-f]{16}", answer.json()["meta"]["request_id"])


@pytest.mark.parametrize("url", ["/nothing", "/tags/", "http://localhost/", "http://localhost/v1",
                                 "http://localhost/v2/tags", "http://localhost//v1/tags"])  # fmt: skip
async def test_no_such_route_is_404_with_an_id_of_the_request(client: httpx.AsyncClient, url: str) -> None:
    refused = await client.get(url, headers={"X-Request-Id": "mine"})

    assert error_of(refused) == (404, "not_found")
    assert refused.headers["x-request-id"] == "mine"


async def test_the_answer_to_a_preflight_has_an_id_of_the_request(app: Starlette) -> None:
    headers = {
        "Origin": "http://page.example",
        "Access-Control-Request-Method": "GET",
        "X-Request-Id": "mine",
    }

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL) as page:
        answer = await page.options("/tags", headers=headers)

    assert answer.headers["x-request-id"] == "mine"


async def test_a_service_that_is_mounted_under_a_prefix_answers_below_it(app: Starlette) -> None:
    headers = {"Authorization": f"Bearer {await new_key_for(app)}"}
    transport = httpx.ASGITransport(app=app, root_path="/journal")

    async with httpx.AsyncClient(transport=transport, base_url="http://localhost/journal") as client:
        answer = await client.get("/v1/tags", headers=headers)

    assert answer.json()["data"] == {"tags": []}
