"""GET /openapi.json, and Swagger UI at GET /docs, which loads nothing from the internet.

The files of Swagger UI come from the package offapi. They are read without importing the package, because
its import builds pages of several megabytes that this service does not use.
"""

import importlib.util
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.routing import Route

from journal_api.errors import NotFound
from journal_api.web.static_files import StaticFile

FOLDER = Path(__file__).parent
# The page can neither load from nor send to other origins, so a key pasted into it stays on this service.
# React needs inline styles.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"content-security-policy": POLICY, "referrer-policy": "no-referrer", "cache-control": "no-cache"}
ASSETS = ("start.js", "swagger_bundle.js", "swagger_style.css")


async def description(request: Request) -> StaticFile:
    return read_file("openapi.json")


async def page(request: Request) -> StaticFile:
    return read_file("docs.html")


async def asset(request: Request) -> StaticFile:
    """A script or style sheet of the documentation page. Raises NotFound."""
    name = request.path_params["name"]
    if name not in ASSETS:
        raise NotFound("The documentation page has no such file; it is at /docs.")
    return read_file(name)


@cache
def read_file(name: str) -> StaticFile:
    folder = find_swagger() if name.startswith("swagger") else FOLDER
    return StaticFile(name, (folder / name).read_bytes(), HEADERS)


def find_swagger() -> Path:
    package = importlib.util.find_spec("offapi")
    assert package is not None
    assert package.submodule_search_locations
    return Path(package.submodule_search_locations[0])


def read_document() -> bytes:
    return (FOLDER / "openapi.json").read_bytes()


ROUTES = [Route("/openapi.json", description), Route("/docs", page), Route("/docs/{name}", asset)]
