"""The page that a browser shows for a name that is not allowed; everybody else gets the error as JSON."""

from collections.abc import AsyncIterator

import httpx
import pytest
from factories import Client
from starlette.applications import Starlette

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
async def other_client(app: Starlette) -> AsyncIterator[Client]:
    """A client that does not know the name of the service."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://journal.lan:8000") as client:
        yield client


async def test_a_browser_is_told_what_to_do(other_client: Client) -> None:
    shown = await other_client.get("/", headers={"Accept": BROWSER})

    assert (shown.status_code, shown.headers["content-type"]) == (421, "text/html; charset=utf-8")
    assert "<code>JOURNAL_ALLOWED_HOSTS=journal.lan</code>" in shown.text
    assert "<code>journal-api serve --lan</code>" in shown.text
    assert shown.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert shown.headers["cache-control"] == "no-store"
    assert "x-request-id" in shown.headers


@pytest.mark.parametrize(
    ("method", "path", "accept"),
    [
        ("GET", "/", "*/*"),
        ("GET", "/", "application/json"),
        ("GET", "/v1/tags", BROWSER),
        ("POST", "/sign-in", BROWSER),
    ],
)
async def test_a_program_gets_the_error_as_json(other_client: Client, method: str, path: str, accept: str) -> None:
    refused = await other_client.request(method, path, headers={"Accept": accept})

    assert (refused.status_code, refused.json()["error"]["code"]) == (421, "misdirected_request")


@pytest.mark.parametrize("host", [b"<script>alert(1)</script>", b"\xff", b"a'b", b"x" * 101, b"$(reboot)"])
async def test_a_name_that_is_none_is_not_repeated(other_client: Client, host: bytes) -> None:
    shown = await other_client.get("/", headers=[(b"accept", BROWSER.encode()), (b"host", host)])

    assert shown.status_code == 421
    assert "<code>JOURNAL_ALLOWED_HOSTS=...</code>" in shown.text
