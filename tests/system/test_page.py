"""The page at /: its files over HTTP, and what it does in a real browser (docs/page.md)."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from conftest import client_of
from starlette.applications import Starlette

from journal_api.page import files

NAMES = sorted(name for name in files.contents() if name != "index.html")
MOST_BYTES, MOST_LINES = 60 * 1024, 200


@pytest.fixture
async def nobody(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """Without a key."""
    async with client_of(app, base_url="http://localhost") as client:
        yield client


# The files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", *(f"/page/{files.version()}/{name}" for name in NAMES)])
async def test_every_file_is_served_to_everybody_and_lets_nothing_else_in(
    nobody: httpx.AsyncClient, path: str
) -> None:
    answer = await nobody.get(path)

    assert answer.status_code == 200
    assert answer.headers["referrer-policy"] == "no-referrer"
    policy = dict(part.split(maxsplit=1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"


async def test_the_page_is_always_new_and_its_files_are_kept_for_good(nobody: httpx.AsyncClient) -> None:
    page = await nobody.get("/")
    style = await nobody.get(f"/page/{files.version()}/page.css")

    assert page.headers["cache-control"] == "no-cache"
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "{version}" not in page.text
    assert page.text.count(f"/page/{files.version()}/") >= 3


@pytest.mark.parametrize(
    "path", ["{version}/files.py", "{version}/index.html", "{version}/../app.py", "0/app.js", "{version}/"]
)
async def test_no_other_file_is_served(nobody: httpx.AsyncClient, path: str) -> None:
    answer = await nobody.get("/page/" + path.replace("{version}", files.version()))

    assert answer.status_code == 404


def test_the_page_stays_small() -> None:
    lines = {name: content.count(b"\n") for name, content in files.contents().items()}

    assert sum(map(len, files.contents().values())) < MOST_BYTES
    assert {name: count for name, count in lines.items() if count >= MOST_LINES} == {}


def test_no_module_of_the_page_makes_markup_of_text_or_calls_elsewhere() -> None:
    for name in NAMES:
        source = Path(files.FOLDER, name).read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "://"):
            assert word not in source.replace("http://www.w3.org/2000/svg", ""), name
