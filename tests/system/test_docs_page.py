"""GET /docs: the API to browse and try out, without internet; in a real browser where there is one."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import chromium
import httpx
import pytest
from chromium import in_a_browser
from commands import PATIENCE, Server, new_key, running
from conftest import client_of
from openapi_examples import DOCUMENT
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait
from starlette.applications import Starlette

PAGES = ["/docs", "/docs/start.js", "/docs/swagger_bundle.js", "/docs/swagger_style.css", "/openapi.json"]


@pytest.fixture
async def anonymous_client(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """Without a key."""
    async with client_of(app, base_url="http://localhost") as client:
        yield client


# The files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
async def test_it_is_served_to_everybody_and_lets_nothing_else_in(
    anonymous_client: httpx.AsyncClient, path: str
) -> None:
    answer = await anonymous_client.get(path)

    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    policy = dict(part.split(maxsplit=1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"


@pytest.mark.parametrize("path", PAGES)
async def test_head_has_the_headers_alone(anonymous_client: httpx.AsyncClient, path: str) -> None:
    got, head = await anonymous_client.get(path), await anonymous_client.head(path)

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize("path", PAGES)
async def test_it_is_compressed_for_whom_asks_for_that(
    anonymous_client: httpx.AsyncClient, path: str
) -> None:
    plain = await anonymous_client.get(path, headers={"Accept-Encoding": "identity"})
    compressed = await anonymous_client.get(path, headers={"Accept-Encoding": "gzip"})

    assert "content-encoding" not in plain.headers
    assert int(plain.headers["content-length"]) == len(plain.content)
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.content == plain.content
    assert compressed.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    if len(plain.content) > 10_000:
        assert int(compressed.headers["content-length"]) < len(plain.content) / 3


async def test_it_refers_to_nothing_elsewhere(anonymous_client: httpx.AsyncClient) -> None:
    page = (await anonymous_client.get("/docs")).text

    assert "//" not in page


@pytest.mark.parametrize(
    "path", ["/docs/", "/docs/__init__.py", "/docs/redoc.js", "/docs/..%2fapp.py", "/docs/a/start.js"]
)
async def test_no_other_file_is_served(anonymous_client: httpx.AsyncClient, path: str) -> None:
    assert (await anonymous_client.get(path)).status_code == 404


# The page ------------------------------------------------------------------------------------------------


class Page:
    """/docs as somebody at a screen has it."""

    def __init__(self, browser: Chrome, server: Server) -> None:
        self.browser, self.url = browser, f"{server.url}/docs"
        browser.get(self.url)
        self.wait_for(".opblock")

    def wait_for(self, selector: str) -> Any:
        """The first such element, once it can be seen."""
        return WebDriverWait(self.browser, PATIENCE, poll_frequency=0.1).until(
            lambda browser: next(
                (one for one in browser.find_elements(By.CSS_SELECTOR, selector) if one.is_displayed()), None
            )
        )

    def click(self, selector: str) -> None:
        """Once it is where it stays."""
        self.browser.execute_script("arguments[0].click()", self.wait_for(selector))

    def operations(self) -> set[tuple[str, str]]:
        """Path and method of each that is listed."""
        listed = self.browser.execute_script("""
            return Array.from(document.querySelectorAll(".opblock"), (one) => [
                one.querySelector(".opblock-summary-path").dataset.path,
                one.querySelector(".opblock-summary-method").innerText.toLowerCase(),
            ]);
        """)
        return {(path, method) for path, method in listed}

    def paste(self, key: str) -> None:
        """Into the dialog of the button "Authorize"."""
        self.click(".auth-wrapper .authorize")
        self.wait_for(".auth-container input").send_keys(key)
        self.click(".auth-btn-wrapper .authorize")
        self.click(".auth-btn-wrapper .btn-done")

    def run(self, operation: str) -> tuple[str, str]:
        """Unfold the operation and press "Execute"; the status and the rest of the answer."""
        self.click(f"{operation} .opblock-summary-control")
        self.click(f"{operation} .execute")
        answer = f"{operation} .live-responses-table tbody"
        status = self.wait_for(f"{answer} .response-col_status").text.split()[0]
        return status, self.wait_for(f"{answer} .response-col_description").text

    def asked(self) -> set[str]:
        """Every address that the page asked, by the browser's log of the network."""
        log = (json.loads(entry["message"])["message"] for entry in self.log("performance"))
        requests = [one["params"] for one in log if one["method"] == "Network.requestWillBeSent"]
        return {one["request"]["url"] for one in requests if one["documentURL"].startswith(self.url)}

    def log(self, kind: str) -> list[Any]:
        found: list[Any] = self.browser.get_log(kind)  # type: ignore[no-untyped-call]
        return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path / "journal.db") as server:
        yield server


@pytest.fixture
def page(browser: Chrome, server: Server) -> Iterator[Page]:
    page = Page(browser, server)
    yield page
    chromium.Page(browser, server.url).leave()


@in_a_browser
def test_it_lists_every_operation_and_runs_one_with_a_pasted_key(
    page: Page, server: Server, tmp_path: Path
) -> None:
    key = new_key(tmp_path / "journal.db")
    with server.client(key) as client:
        client.post("/tag-categories", json={"name": "Psychology"})
        client.post("/tags", json={"name": "Chased the open", "category_id": 1})

    listed = page.operations()
    page.paste(key)
    status, answer = page.run("#operations-tags-list_tags")

    assert listed == {(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert status == "200"
    assert "Chased the open" in answer
    assert page.log("browser") == []  # where the policy would complain
    asked = page.asked()
    assert f"{server.url}/v1/tags" in asked
    assert [one for one in asked if not one.startswith((f"{server.url}/", "data:"))] == []
