"""The documentation as help for the page at /: every page renders, and every view leads to one."""

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import httpx

from journal_api.page import files, help_pages

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
APP = Path(files.FOLDER, "app.js").read_text()


class Page(HTMLParser):
    """The anchors, links and tags of a page, and its words outside of code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.is_code = False
        self.anchors, self.links, self.tags, self.text = set[str](), list[str](), set[str](), ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        self.is_code = tag == "code"
        self.anchors.add(values.get("id") or "")
        self.links += [values["href"] or ""] if tag == "a" else []

    def handle_endtag(self, tag: str) -> None:
        self.is_code = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self.is_code else data


async def read(client: httpx.AsyncClient, name: str) -> Page:
    answer = await client.get(f"/help/{name}")
    assert answer.status_code == 200, name
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self';")
    return Page(answer.text)


async def test_every_page_renders_and_its_links_lead_to_pages_and_headings(anonymous_client: httpx.AsyncClient) -> None:
    pages = {name: await read(anonymous_client, name) for name in PAGES}

    for name, page in pages.items():
        source = (ROOT / f"docs/{name}.md").read_text()
        assert ("table" in page.tags, "pre" in page.tags) == (
            "\n|---" in source,
            bool(re.search(r"\n```|\n\n    ", source)),
        ), name
        assert not {"script", "img"} & page.tags
        assert re.findall(r"\*\*|^\||\]\(|```", page.text, re.M) == [], name
        for link in page.links:
            target, _, anchor = link.partition("#")
            assert "://" in link or anchor in {"", *pages[target or name].anchors}, (name, link)


async def test_every_view_leads_to_its_help(anonymous_client: httpx.AsyncClient) -> None:
    (views,) = re.findall(r"^const VIEWS = \{\n(.*?)^\};", APP, re.M | re.S)
    (table,) = re.findall(r"^const HELP = \{\n(.*?)^\};", APP, re.M | re.S)
    leads = dict(re.findall(r'^  (\w+): "([^"]+)",$', table, re.M))

    assert list(leads) == re.findall(r"^  (\w+):", views, re.M)
    for name, _, anchor in (lead.partition("#") for lead in leads.values()):
        assert anchor in {"", *(await read(anonymous_client, name)).anchors}, (name, anchor)


async def test_nothing_else_is_help(anonymous_client: httpx.AsyncClient) -> None:
    for name in ("nothing", "page.md", "..%2fREADME", "page-today.png"):
        assert (await anonymous_client.get(f"/help/{name}")).status_code == 404


def test_the_wheel_has_every_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    pages = {f"docs/{name}.md": f"journal_api/docs/{name}.md" for name in PAGES}
    assert included == {"schema.sql": "journal_api/schema.sql", **pages}
    assert {*help_pages.TRADERS} < {*PAGES}
