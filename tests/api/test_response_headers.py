"""The headers that every answer has: no copy of the data is kept, and none is taken for another type."""

from collections.abc import AsyncIterator

import httpx
import pytest
from conftest import BASE_URL, client_of
from operations import body_of, documented_path_of, path_of
from starlette.applications import Starlette

from journal_api.errors import ValidationFailed
from journal_api.routes.table import OPERATIONS
from journal_api.server.last_response import last_response
from journal_api.web.operation import Operation


@pytest.fixture
async def nobody(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """Without a key."""
    async with client_of(app) as client:
        yield client


def of_safety(response: httpx.Response) -> tuple[list[str], list[str]]:
    headers = response.headers
    return headers.get_list("cache-control"), headers.get_list("x-content-type-options")


@pytest.mark.parametrize(
    "operation", OPERATIONS, ids=[f"{one.method} {documented_path_of(one)}" for one in OPERATIONS]
)
async def test_no_answer_of_v1_is_kept_or_taken_for_another_type(
    client: httpx.AsyncClient, nobody: httpx.AsyncClient, operation: Operation
) -> None:
    answers = [
        await one.request(operation.method, path_of(operation), json=body_of(operation))
        for one in (client, nobody)
    ]

    assert [of_safety(one) for one in answers] == [(["no-store"], ["nosniff"])] * 2


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nothing"), ("PUT", "/tags"), ("GET", "/trades/export"), ("HEAD", "/tags")]
)
async def test_neither_is_any_other_answer_below_v1(
    client: httpx.AsyncClient, method: str, path: str
) -> None:
    assert of_safety(await client.request(method, path)) == (["no-store"], ["nosniff"])


async def test_a_strange_host_and_an_origin_that_is_not_allowed_get_them_too(app: Starlette) -> None:
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "GET"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL) as page:
        answers = [
            await page.get("/tags", headers={"Host": "evil.example"}),
            await page.options("/tags", headers=preflight),
        ]

    assert [(one.status_code, of_safety(one)) for one in answers] == [
        (421, (["no-store"], ["nosniff"])),
        (400, (["no-store"], ["nosniff"])),
    ]


@pytest.mark.parametrize("path", ["/health", "/openapi.json", "/docs", "/docs/start.js", "/nothing"])
async def test_nothing_outside_v1_is_taken_for_another_type(nobody: httpx.AsyncClient, path: str) -> None:
    answered = await nobody.get(f"http://localhost{path}")

    assert answered.headers.get_list("x-content-type-options") == ["nosniff"]
    assert len(answered.headers.get_list("cache-control")) <= 1


def test_what_never_became_a_request_is_answered_with_them() -> None:
    head = last_response(ValidationFailed()).partition(b"\r\n\r\n")[0].lower().split(b"\r\n")

    assert {b"cache-control: no-store", b"x-content-type-options: nosniff"} <= set(head)
