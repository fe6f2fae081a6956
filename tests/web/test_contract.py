"""What holds for every operation, over the route table: a new endpoint is covered unasked."""

import re
from collections.abc import AsyncIterator
from typing import Any

import factories
import httpx
import pytest
from conftest import BASE_URL, client_of, new_key_for
from factories import Client, details_of, error_of, run_sql, unwrap
from operations import MISSING, create_thing_of, dump, everything, for_each, path_of, send
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api import __version__
from journal_api.errors import NotFound, ValidationFailed
from journal_api.routes.table import OPERATIONS
from journal_api.server.protocol import last_response
from journal_api.values.api_keys import SCOPES
from journal_api.web.operation import Operation

TEXT = {"Content-Type": "text/plain"}
TOO_LARGE = b" " * (4 * 1024 * 1024 + 1)

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]


def methods_of(path: str) -> set[str]:
    """Every method of the path, HEAD included wherever GET is."""
    methods = {operation.method for operation in OPERATIONS if operation.path == path}
    return methods | ({"HEAD"} if "GET" in methods else set())


async def call(client: Client, operation: Operation, row_id: object = MISSING) -> httpx.Response:
    """The answer to a request with a body of what is required, which repeats the id of the request."""
    answer = await send(client, operation, row_id, X_Request_Id="always-the-same")
    assert answer.headers["x-request-id"] == "always-the-same"
    return answer


ON_A_THING = [operation for operation in OPERATIONS if "{id" in operation.path]
# An id in a body is answered by its place in the body.
DELETES = [one for one in OPERATIONS if one.method == "DELETE" and one.body is None]
GETS = [operation for operation in OPERATIONS if operation.method == "GET"]
PATHS = sorted({operation.path for operation in OPERATIONS})


@pytest.fixture
async def anonymous_client(app: Starlette) -> AsyncIterator[Client]:
    """Without a key."""
    async with client_of(app) as client:
        yield client


def test_every_operation_has_a_path_below_v1_a_description_and_a_scope_to_read_or_write() -> None:
    rows = [(operation.method, operation.path) for operation in OPERATIONS]
    assert len(rows) == len(set(rows))
    for operation in OPERATIONS:
        assert operation.path.startswith("/v1/")
        assert not operation.path.endswith("/")
        assert (operation.endpoint.__doc__ or "").strip()
        if operation.required_scope:
            action = "read" if operation.method == "GET" else "write"
            assert operation.required_scope in SCOPES
            assert operation.required_scope.startswith(f"{action}:")


@for_each(OPERATIONS)
async def test_without_a_key_it_is_401_whatever_the_body(anonymous_client: Client, operation: Operation) -> None:
    refused = [
        await call(anonymous_client, operation),
        await anonymous_client.request(operation.method, path_of(operation), content=TOO_LARGE, headers=TEXT),
    ]

    assert [error_of(answer) for answer in refused] == [(401, "unauthorized")] * 2
    assert [answer.headers["www-authenticate"] for answer in refused] == ["Bearer"] * 2
    if operation.method == "GET":
        assert (await anonymous_client.head(path_of(operation))).status_code == 401


@for_each(operation for operation in OPERATIONS if operation.required_scope)
async def test_with_every_scope_but_its_own_it_is_403_whatever_the_body(app: Starlette, operation: Operation) -> None:
    others = tuple(scope for scope in SCOPES if scope != operation.required_scope)

    async with client_of(app, await new_key_for(app, scopes=others)) as client:
        path = path_of(operation)
        refused = await client.request(operation.method, path, content=TOO_LARGE, headers=TEXT)
        head = await client.head(path)

    assert error_of(refused) == (403, "forbidden_scope")
    assert operation.method != "GET" or head.status_code == 403


@for_each(ON_A_THING)
async def test_an_id_that_does_not_exist_is_404_and_said_to_be_the_id(client: Client, operation: Operation) -> None:
    missing = await call(client, operation)

    assert error_of(missing) == (404, "not_found")
    assert missing.json()["error"]["message"] == NotFound.message


async def test_what_an_account_has_is_not_found_below_another(app: Starlette, client: Client) -> None:
    account, other = await factories.create_funded_account(client), await factories.create_account(client, "Other")
    before = dump(app)

    answers = [
        await client.request(one.method, path.replace(f"{account['id']}", f"{other['id']}", 1), json={})
        for one in OPERATIONS
        if re.search(r"{(cash|checkpoint)_id", one.path)
        for path in [path_of(one, account["id"])]
    ]

    assert [error_of(answer) for answer in answers] == [(404, "not_found")] * 6
    assert dump(app) == before


@for_each(DELETES, rewind=True)
async def test_a_deleted_id_is_answered_like_one_that_never_was(client: Client, operation: Operation) -> None:
    row_id = await create_thing_of(client, operation)
    assert (await call(client, operation, row_id)).status_code == 204
    below = [one for one in OPERATIONS if one.path.startswith(operation.path)]
    below = [one for one in below if (one.method, one.path) != ("PUT", operation.path)]  # it creates
    if operation.name == "delete_day":  # any day can be read and written on
        below = [operation]
    if "{" not in operation.path:
        below = [operation]

    again = [everything(await call(client, one, row_id)) for one in below]

    assert {status for status, _, _ in again} == {404}
    assert again == [everything(await call(client, one)) for one in below]


async def test_the_id_of_a_deleted_row_is_never_used_again(app: Starlette) -> None:
    tables = await run_sql(app, "SELECT name, sql FROM sqlite_schema WHERE sql LIKE '% id INTEGER PRIMARY KEY%'")

    assert len(tables) > 8
    assert [name for name, sql in tables if "PRIMARY KEY AUTOINCREMENT" not in sql] == ["search_documents"]


# The order: host, route, method, key, scope, rate, media type, size, JSON syntax, field types, the object.


@for_each(operation for operation in OPERATIONS if operation.body)
async def test_the_media_type_is_checked_before_the_size_and_that_before_the_syntax_and_the_object(
    client: Client, operation: Operation
) -> None:
    bad = [(TOO_LARGE, TEXT), (TOO_LARGE, {}), (b"{", {}), (b'{"no_such_member": 1}', {})]

    refused = [
        await client.request(operation.method, path_of(operation), content=content, headers=headers)
        for content, headers in bad
    ]

    assert [answer.status_code for answer in refused] == [415, 413, 400, 400]


BROKEN_RULES: list[tuple[str, str, Any]] = [
    ("PATCH", "/tags/999", {"category_id": 999}),
    ("PATCH", "/strategies/999", {"account_id": 999}),
    ("PATCH", "/strategies/999", {"account_id": 1, "copy_group_id": 1}),
    ("PATCH", "/strategies/999", {"setups": [{"setup_id": 999}]}),
    ("PATCH", "/goals/999", {"timeframe": "custom"}),
    ("PATCH", "/goals/999", {"timeframe": "daily", "custom_start": "2026-01-01"}),
    ("PATCH", "/goals/999", {"scope": "account_999"}),
    ("GET", "/goals/999/snapshots?from=2026-02-01&to=2026-01-01", None),
]


async def test_the_object_in_the_path_is_checked_before_the_rules(client: Client) -> None:
    refused = [await client.request(method, path, json=body) for method, path, body in BROKEN_RULES]

    assert [error_of(answer) for answer in refused] == [(404, "not_found")] * len(BROKEN_RULES)


@for_rows("path", ["tag-categories", "tags", "strategies", "accounts", "copy-groups"])
async def test_what_has_a_name_is_listed_by_it_without_case_then_by_id(client: Client, path: str) -> None:
    extra = {"category_id": (await factories.create_category(client, "0"))["id"]} if path == "tags" else {}
    for name in ("zulu", "beta", "Alpha", "éclair", "alpha", "Éclair", "Beta", "_x"):
        unwrap(await client.post(f"/{path}", json={"name": name, **extra}))

    names = [one["name"] for one in unwrap(await client.get(f"/{path}"))]

    assert names == ["_x", "Alpha", "alpha", "beta", "Beta", "zulu", "éclair", "Éclair"]


@for_each(GETS, rewind=True)
async def test_head_answers_as_get_does_but_for_the_body(client: Client, operation: Operation) -> None:
    row_id = await create_thing_of(client, operation) if "{" in operation.path else MISSING
    got = await call(client, operation, row_id)

    head = await client.head(path_of(operation, row_id), headers={"X-Request-Id": "always-the-same"})

    assert got.status_code == 200
    assert everything(head) == (200, got.headers.multi_items(), b"")
    assert int(head.headers.get("content-length", len(got.content))) == len(got.content)


async def test_every_other_method_is_405_naming_those_of_the_path(app: Starlette) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
        for path in PATHS:
            path_of_day = path.replace("{date:day}", factories.A_DAY).removeprefix("/v1")
            url = BASE_URL + re.sub(r"\{\w+:\w+\}", "1", path_of_day)
            others = [method for method in METHODS if method not in methods_of(path)]

            answers = [await client.request(method, url) for method in others]

            for method, answer in zip(others, answers, strict=True):
                assert answer.status_code == 405
                assert set(answer.headers["allow"].split(", ")) == methods_of(path)
                if method != "HEAD":
                    assert error_of(answer) == (405, "method_not_allowed")
                    assert set(details_of(answer)["allowed"]) == methods_of(path)


@for_each(OPERATIONS)
async def test_a_path_that_goes_on_is_404_and_not_redirected(client: Client, operation: Operation) -> None:
    answers = [await client.request(operation.method, path_of(operation, 1) + ending) for ending in ("/", "/x")]

    assert [error_of(answer) for answer in answers] == [(404, "not_found")] * 2


async def test_an_answer_to_a_request_without_an_id_has_a_new_one(client: Client) -> None:
    ids = {(await client.get("/tags")).headers["x-request-id"] for _ in range(2)}

    assert len(ids) == 2
    assert all(re.fullmatch(r"req_[0-9a-f]{16}", request_id) for request_id in ids)


@for_rows(
    "sent, is_kept",
    [
        *((one, True) for one in ("a", "A" * 64, "aZ09_-", "req_0123456789abcdef")),
        *((one, False) for one in ("", "A" * 65, "a b", "a.b", 'a"b', "a\\b", "é", "a,b", "a\tb")),
    ],
)
async def test_a_request_id_is_kept_if_it_is_well_formed(anonymous_client: Client, sent: str, is_kept: bool) -> None:
    answer = await anonymous_client.get("/tags", headers=[(b"x-request-id", sent.encode())])

    request_id = answer.json()["meta"]["request_id"]
    assert answer.headers["x-request-id"] == request_id
    assert request_id == sent if is_kept else re.fullmatch(r"req_[0-9a-f]{16}", request_id)


def test_what_never_became_a_request_is_answered_with_the_headers_of_every_answer() -> None:
    head = last_response(ValidationFailed()).partition(b"\r\n\r\n")[0].lower().split(b"\r\n")

    version = f"x-journal-version: {__version__}".encode()
    assert {b"cache-control: no-store", b"x-content-type-options: nosniff", version} <= set(head)


async def test_a_service_that_is_mounted_under_a_prefix_answers_below_it(app: Starlette) -> None:
    headers = {"Authorization": f"Bearer {await new_key_for(app)}"}
    transport = httpx.ASGITransport(app=app, root_path="/journal")

    async with httpx.AsyncClient(transport=transport, base_url="http://localhost/journal") as client:
        answer = await client.get("/v1/tags", headers=headers)

    assert answer.json()["data"] == {"tags": []}
