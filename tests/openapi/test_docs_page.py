"""GET /docs: the API to browse and try out, without internet; in a real browser where there is one."""

import pytest
from chromium import PageJournal, Tab, in_a_browser
from factories import Client
from openapi_examples import DOCUMENT
from proofs import SOAK

PAGES = ["/docs", "/docs/start.js", "/docs/swagger_bundle.js", "/docs/swagger_style.css", "/openapi.json"]


@pytest.mark.parametrize("path", PAGES)
async def test_it_is_served_to_everybody_and_lets_nothing_else_in(anonymous_client: Client, path: str) -> None:
    plain = await anonymous_client.get(path, headers={"Accept-Encoding": "identity"})
    compressed = await anonymous_client.get(path, headers={"Accept-Encoding": "gzip"})
    head = await anonymous_client.head(path, headers={"Accept-Encoding": "identity"})

    assert (plain.status_code, head.status_code, head.content) == (200, 200, b"")
    assert plain.headers["referrer-policy"] == "no-referrer"
    policy = dict(part.split(maxsplit=1) for part in plain.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    for name in ("content-type", "content-length"):
        assert head.headers[name] == plain.headers[name]
    assert "content-encoding" not in plain.headers
    assert int(plain.headers["content-length"]) == len(plain.content)
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.content == plain.content
    assert compressed.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    if len(plain.content) > 10_000:
        assert int(compressed.headers["content-length"]) < len(plain.content) / 3


async def test_it_refers_to_nothing_elsewhere(anonymous_client: Client) -> None:
    page = (await anonymous_client.get("/docs")).text

    assert "//" not in page


@pytest.mark.parametrize(
    "path", ["/docs/", "/docs/__init__.py", "/docs/redoc.js", "/docs/..%2fapp.py", "/docs/a/start.js"]
)
async def test_no_other_file_is_served(anonymous_client: Client, path: str) -> None:
    assert (await anonymous_client.get(path)).status_code == 404


# All operations take the browser two seconds more.
SHOWN = {**DOCUMENT, "paths": {path: one for path, one in DOCUMENT["paths"].items() if SOAK or "tag" in path}}


@pytest.mark.soak
@in_a_browser
async def test_it_lists_every_operation_and_runs_one_with_a_pasted_key(page: Tab, page_journal: PageJournal) -> None:
    await page.route("**/openapi.json", lambda route: route.fulfill(json=SHOWN), times=1)
    category = page_journal.create("/tag-categories", name="Psychology")["id"]
    page_journal.create("/tags", name="Chased the open", category_id=category)
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    await page.goto(f"{page_journal.server.url}/docs")
    await page.wait_for_selector(".opblock")
    listed = await page.evaluate("""
        Array.from(document.querySelectorAll(".opblock"), (one) => [
            one.querySelector(".opblock-summary-path").dataset.path,
            one.querySelector(".opblock-summary-method").innerText.toLowerCase(),
        ])
    """)
    await page.click(".auth-wrapper .authorize")
    await page.fill(".auth-container input", page_journal.key)
    await page.click(".auth-btn-wrapper .authorize")
    await page.click(".auth-btn-wrapper .btn-done")
    operation = "#operations-tags-list_tags"
    await page.click(f"{operation} .opblock-summary-control")
    await page.click(f"{operation} .execute")

    answer = f"{operation} .live-responses-table tbody"
    await page.see("200", f"{answer} .response-col_status")
    await page.see("Chased the open", f"{answer} .response-col_description")
    documented = {(path, method) for path, methods in SHOWN["paths"].items() for method in methods}
    assert {(path, method) for path, method in listed} == documented
    assert f"{page_journal.server.url}/v1/tags" in asked
