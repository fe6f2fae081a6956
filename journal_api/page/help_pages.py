"""GET /help/{name}: the documentation as help. The link "?" of the page at / opens what is about the view."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.routing import Route

from journal_api.errors import NotFound
from journal_api.page.files import version
from journal_api.web.static_files import StaticFile

if TYPE_CHECKING:
    from markdown_it.token import Token

PACKAGE = Path(__file__).parents[1]
# In a checkout docs is beside the package, once installed it is inside.
INSTALLED = PACKAGE / "docs"
FOLDER = INSTALLED if INSTALLED.exists() else PACKAGE.parent / "docs"
TRADERS = ("tour", "page", "accounts", "journal", "goals", "statistics", "imports", "formats", "self-hosting", "agents")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Trading journal</title>
<link rel="stylesheet" href="/page/{version}/page.css">
</head>
<body>
<header><nav aria-label="Help">{links}</nav></header>
<main class="help">{content}</main>
</body>
</html>
"""


async def page(request: Request) -> StaticFile:
    """A page of the documentation. Raises NotFound."""
    name = request.path_params["name"]
    if name not in names():
        raise NotFound("The help has no such page; it begins at /help/page.")
    return render(name)


@cache
def names() -> frozenset[str]:
    return frozenset(path.stem for path in FOLDER.glob("*.md"))


@cache
def render(name: str) -> StaticFile:
    from markdown_it import MarkdownIt  # takes a tenth of the time in which a server starts

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", make_anchor(following.content))
        token.children = list(lead_to_help(token.children)) if token.children else None
    content = markdown.renderer.render(tokens, markdown.options, {})
    links = [f'<a href="{one}"{" aria-current=page" * (one == name)}>{make_title(one)}</a>' for one in TRADERS]
    text = PAGE.format(title=make_title(name), version=version(), links="\n".join(links), content=content)
    return StaticFile("help.html", text.encode(), HEADERS)


def make_title(name: str) -> str:
    return name.replace("-", " ").capitalize()


def make_anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def lead_to_help(tokens: "list[Token]") -> "list[Token]":
    """Links to other pages lead to their help; of what is not served, links become text and pictures go."""
    kept, is_served = [], True
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs["href"])
            name, _, anchor = target.partition("#")
            is_served = not name or "://" in target or name.removesuffix(".md") in names()
            if name.endswith(".md"):
                token.attrSet("href", name.removesuffix(".md") + ("#" + anchor if anchor else ""))
        if token.type != "image" and (is_served or token.type not in ("link_open", "link_close")):
            kept.append(token)
    return kept


ROUTES = [Route("/help/{name}", page)]
