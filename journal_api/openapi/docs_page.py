"""GET /openapi.json and GET /docs: the description of the API, for programs and for people, without internet.

Swagger UI comes from the package offapi. Its files are read, not imported: importing it builds pages of
megabytes that nobody asks for.
"""

import importlib.util
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from journal_api.errors import NotFound
from journal_api.openapi import document

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
<noscript>This page needs JavaScript. <a href="/openapi.json">The description itself</a> does not.</noscript>
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
# Nothing from elsewhere, and nothing to elsewhere: a key that is pasted here stays here. React sets styles.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
ASSETS = {"swagger_bundle.js": "text/javascript", "swagger_style.css": "text/css"}


async def description(request: Request) -> Response:
    """The OpenAPI document."""
    return Response(document.document(), media_type="application/json", headers=HEADERS)


async def page(request: Request) -> Response:
    """The browsable documentation."""
    return Response(PAGE, media_type="text/html", headers=HEADERS)


async def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "start.js":
        return Response(START, media_type="text/javascript", headers=HEADERS)
    if name not in ASSETS:
        raise NotFound
    return Response(content_of(name), media_type=ASSETS[name], headers=HEADERS)


@cache
def content_of(name: str) -> bytes:
    found = importlib.util.find_spec("offapi")
    assert found is not None
    assert found.submodule_search_locations
    return (Path(found.submodule_search_locations[0]) / name).read_bytes()


ROUTES = [Route("/openapi.json", description), Route("/docs", page), Route("/docs/{name}", asset)]
