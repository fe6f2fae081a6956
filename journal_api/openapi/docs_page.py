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

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trading journal API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger_style.css">
</head>
<body>
<main id="docs"></main>
<noscript>This page needs JavaScript. <a href="/openapi.json">The OpenAPI document</a> does not.</noscript>
<script src="/docs/swagger_bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
START = """\
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
});
"""
# The page can neither load from nor send to other origins, so a key pasted into it stays on this service.
# React needs inline styles.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
MEDIA_TYPES = {
    "start.js": "text/javascript",
    "swagger_bundle.js": "text/javascript",
    "swagger_style.css": "text/css",
}


async def description(request: Request) -> StaticFile:
    """The OpenAPI document."""
    return document_file()


async def page(request: Request) -> StaticFile:
    """The browsable documentation."""
    return page_file()


async def asset(request: Request) -> StaticFile:
    """A script or style sheet of the documentation page. Raises NotFound."""
    name = request.path_params["name"]
    if name not in MEDIA_TYPES:
        raise NotFound("The documentation page has no such file; it is at /docs.")
    return asset_file(name)


def read_document() -> bytes:
    return Path(__file__).with_name("openapi.json").read_bytes()


@cache
def document_file() -> StaticFile:
    return StaticFile(read_document(), "application/json", HEADERS)


@cache
def page_file() -> StaticFile:
    return StaticFile(PAGE.encode(), "text/html", HEADERS)


@cache
def asset_file(name: str) -> StaticFile:
    content = START.encode() if name == "start.js" else read_asset(name)
    return StaticFile(content, MEDIA_TYPES[name], HEADERS)


def read_asset(name: str) -> bytes:
    """The content of a file in the package offapi."""
    package = importlib.util.find_spec("offapi")
    assert package is not None
    assert package.submodule_search_locations
    return (Path(package.submodule_search_locations[0]) / name).read_bytes()


ROUTES = [Route("/openapi.json", description), Route("/docs", page), Route("/docs/{name}", asset)]
