"""A real browser on the same machine: docs/reliability.md 16, as a page sees it."""

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

import msgspec
import pytest
from chromium import Browser, in_a_browser
from desktop import RUN_KEY, Child, announced
from factories import unwrap
from page_servers import empty_pages
from playwright.async_api import Page

pytestmark = in_a_browser
FETCH_ALL = """
(requests) => {
const fetchOne = async ({url, ...request}) => {
  try {
    const response = await fetch(url, request);
    const [id, tag] = ["X-Request-Id", "ETag"].map((name) => response.headers.get(name));
    return {status: response.status, id, tag, body: response.status === 304 ? {} : await response.json()};
  } catch (error) {
    return {refused: error.name};
  }
};
return Promise.all(requests.map(fetchOne));
}
"""


def front_end(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str]]:
    """An empty page at every path; at /sandboxed it has no origin."""
    policy = {"Content-Security-Policy": "sandbox allow-scripts"} if request.path == "/sandboxed" else {}
    return 200, {"Content-Type": "text/html", **policy}


class Served(NamedTuple):
    """A journal, a tab, and the ports of a front end that the journal allows and of another one."""

    journal: Child
    tab: Page
    allowed: int
    other: int

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return self.journal.url.replace("127.0.0.1", host) + path

    async def fetch_from(self, page: str, requests: list[dict[str, Any]]) -> list[Any]:
        """What a page at that address gets for its requests."""
        await self.tab.goto(page)
        responses: list[Any] = await self.tab.evaluate(FETCH_ALL, requests)
        return responses


@pytest.fixture(scope="module")
async def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    db = tmp_path_factory.mktemp("browser") / "journal.db"
    with ExitStack() as stack:
        allowed, other = (stack.enter_context(empty_pages(front_end)) for _ in range(2))
        settings = {"JOURNAL_CORS_ORIGINS": f"http://127.0.0.1:{allowed}", "JOURNAL_ALLOWED_HOSTS": "journal.example"}
        journal = stack.enter_context(announced(db, settings=settings))
        tab = await browser.context.new_page()
        yield Served(journal, tab, allowed, other)
        await tab.close()


def keyed(url: str, **request: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {RUN_KEY}", "Content-Type": "application/json"}
    return {"url": url, "headers": headers, **request}


# Names of the journal, and other names that lead to it all the same.
OWN_HOSTS = ["127.0.0.1", "localhost", "journal.example"]
OTHER_HOSTS = ["evil.example", "localhost.", "journal.example.", "sub.journal.example"]


def requests_to(served: Served, host: str) -> list[dict[str, Any]]:
    """What a page may want of that host: four reads, a write, and a write without a preflight."""
    body = msgspec.json.encode({"name": f"To {host}"}).decode()
    categories = served.url("/v1/tag-categories", host)
    blind = {"mode": "no-cors", "method": "POST", "headers": {"Content-Type": "text/plain"}}
    return [
        {"url": served.url("/health", host)},
        {"url": served.url("/openapi.json", host)},
        keyed(served.url("/v1/me", host)),
        keyed(served.url("/nothing", host)),
        keyed(categories, method="POST", body=body),
        {"url": categories, "body": body, **blind},
    ]


@pytest.mark.promise(16)
async def test_of_all_pages_the_allowed_one_alone_reaches_the_journal_and_by_its_names_alone(
    served: Served, record_observation: Callable[[str], None]
) -> None:
    hosts = [*OWN_HOSTS, *OTHER_HOSTS]
    requests = [request for host in hosts for request in requests_to(served, host)]
    other_pages = {
        "on another port": f"http://127.0.0.1:{served.other}/",
        "under another name": f"http://localhost:{served.allowed}/",
        "under a strange name": f"http://evil.example:{served.other}/",
        "under a name of the journal": f"http://journal.example:{served.other}/",
        "without an origin": f"http://127.0.0.1:{served.allowed}/sandboxed",
    }

    refused = {name: await served.fetch_from(page, requests) for name, page in other_pages.items()}
    allowed = await served.fetch_from(f"http://127.0.0.1:{served.allowed}/", requests)

    for name, responses in refused.items():
        assert [response.get("status") for response in responses] == [None] * len(requests), name
    statuses = [200, 200, 200, 404, 201, None] * len(OWN_HOSTS) + [None] * 6 * len(OTHER_HOSTS)
    assert [response.get("status") for response in allowed] == statuses
    enveloped = [response for response in allowed if "meta" in response.get("body", {})]
    assert all(response["id"] == response["body"]["meta"]["request_id"] for response in enveloped)
    with served.journal.client() as client:
        stored = [category["name"] for category in unwrap(client.get("/tag-categories"))]
    assert sorted(stored) == sorted(f"To {host}" for host in OWN_HOSTS)
    record_observation(
        f"Chromium, {1 + len(other_pages)} pages x {len(hosts)} hosts x 6 requests: the allowed page alone "
        f"reads or writes, by {len(OWN_HOSTS)} names alone"
    )


async def test_a_page_of_an_allowed_origin_reads_errors_and_that_nothing_has_changed(served: Served) -> None:
    with served.journal.client() as client:
        tag = client.get("/me").headers["etag"]
    current, old = (keyed(served.url("/v1/me")) for _ in range(2))
    current["headers"]["If-None-Match"], old["headers"]["If-None-Match"] = tag, '"old"'
    wrong = [
        {"url": served.url("/v1/tags")},
        keyed(served.url("/v1/goals/9")),
        keyed(served.url("/v1/tags"), method="POST", body="{"),
    ]

    page = f"http://127.0.0.1:{served.allowed}/"
    *errors, same, changed = await served.fetch_from(page, [*wrong, current, old])

    found = [(error["status"], error["body"]["error"]["code"]) for error in errors]
    assert found == [(401, "unauthorized"), (404, "not_found"), (400, "validation_error")]
    assert all(error["id"] == error["body"]["meta"]["request_id"] for error in errors)
    assert [(one["status"], one["tag"]) for one in (same, changed)] == [(304, tag), (200, tag)]
