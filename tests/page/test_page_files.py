"""The files of the page at /: how they are served, and what their sources may hold."""

import json
import posixpath
import re
import shutil
import struct
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import httpx
import page_enums
import pytest
from proofs import only_in_soak

from journal_api.page import files

TEXTS = ("text/html", "text/css", "text/javascript")
TYPES = {
    **dict(zip(("/", "css", "js"), TEXTS, strict=True)),
    "png": "image/png",
    "webmanifest": "application/manifest+json",
}
NAMES = sorted(name for name in files.contents() if name != "index.html")
MODULES = {name: content.decode() for name, content in files.contents().items() if name.endswith(".js")}
IMPORT = re.compile(r'(?:\bfrom |\bimport\()"([^"]+)"')
SOURCES = {name: Path(files.FOLDER, name).read_text() for name in MODULES}
FOLDER = f"/page/{files.version()}"
TYPESCRIPT = Path(__file__).parent.parent / "javascript/node_modules/typescript"
# Prints the modules whose two texts are not the same program, or none.
COMPARE = f"""
    const ts = require({json.dumps(str(TYPESCRIPT))});
    const {{ CommaToken, SemicolonToken }} = ts.SyntaxKind;
    const parts = (node) => ts.isJSDoc(node) || [CommaToken, SemicolonToken].includes(node.kind) ? []
        : [node.kind, ...node.getChildCount() ? node.getChildren().flatMap(parts) : [node.getText()]];
    const program = (text) => ts.createSourceFile("a.js", text, ts.ScriptTarget.ESNext, true);
    const differs = (texts) => {{
        const [source, sent] = texts.map(program);
        return sent.parseDiagnostics.length || parts(source).join() !== parts(sent).join();
    }};
    const pairs = Object.entries(JSON.parse(require("fs").readFileSync(0)));
    console.log(pairs.filter(([, texts]) => differs(texts)).map(([name]) => name).join());
"""


async def test_every_file_is_served_to_everybody_and_lets_nothing_else_in(anonymous_client: httpx.AsyncClient) -> None:
    for path in ["/", *(f"{FOLDER}/{name}" for name in NAMES)]:
        answer = await anonymous_client.get(path)

        assert answer.status_code == 200, path
        media_type = TYPES[path.rpartition(".")[2]]
        assert answer.headers["content-type"] == media_type + ("; charset=utf-8" if media_type in TEXTS else "")
        assert answer.headers["referrer-policy"] == "no-referrer"
        policy = dict(part.split(maxsplit=1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert {policy[f"{kind}-src"] for kind in ("script", "style", "connect", "manifest")} == {"'self'"}
        assert policy["img-src"] == "'self' data: blob:"


def test_every_view_has_its_entry_in_the_bar_and_in_the_page_about_it() -> None:
    (views,) = re.findall(r"^const VIEWS = \{\n(.*?)^\};", SOURCES["app.js"], re.M | re.S)
    entries = dict(re.findall(r'<a href="#/(\w+)">([^<]+)</a>', Path(files.FOLDER, "index.html").read_text()))

    # A day is opened from Days, and the search has its field.
    assert {*entries, "day", "search"} == {*re.findall(r"^  (\w+):", views, re.M)}
    about = (Path(__file__).parents[2] / "docs/page.md").read_text()
    assert [title for title in entries.values() if f"\n| {title} | " not in about] == []


async def test_the_page_can_be_put_on_a_home_screen(anonymous_client: httpx.AsyncClient) -> None:
    page = await anonymous_client.get("/")
    (path,) = re.findall(r'<link rel="manifest" href="([^"]+)">', page.text)
    (of_apple,) = re.findall(r'<link rel="apple-touch-icon" href="([^"]+)">', page.text)
    manifest = (await anonymous_client.get(path)).json()
    (icon,) = manifest["icons"]

    image = (await anonymous_client.get(posixpath.join(posixpath.dirname(path), icon["src"]))).content
    assert image == (await anonymous_client.get(of_apple)).content
    assert "{}x{}".format(*struct.unpack(">II", image[16:24])) == icon["sizes"]
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/", "/", "standalone")


async def test_the_page_is_always_new_and_its_files_are_kept_for_good(anonymous_client: httpx.AsyncClient) -> None:
    page, style = await anonymous_client.get("/"), await anonymous_client.get(f"{FOLDER}/page.css")

    assert page.headers["cache-control"] == "no-cache"
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "{" not in page.text
    for name in ("app.js", "views/goals.js", "views/calendar.js", "dialogs.js"):
        assert f'<link rel="modulepreload" href="{FOLDER}/{name}">' in page.text


ENCODINGS = [
    ("gzip, br", "br"), ("gzip, br;q=0", "gzip"), ("br;q=0, GZIP ;q=0.5", "gzip"), ("gzip", "gzip"),
    ("identity", None), ("gzip;q=0", None), ("br;q=0.0, gzip; q=0.00, deflate", None),
]  # fmt: skip


@pytest.mark.parametrize(("accepted", "encoding"), ENCODINGS)
async def test_files_are_sent_compressed_to_clients_that_accept_it(
    anonymous_client: httpx.AsyncClient, accepted: str, encoding: str | None
) -> None:
    answer = await anonymous_client.get(f"{FOLDER}/app.js", headers={"Accept-Encoding": accepted})

    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.content == files.contents()["app.js"]


@pytest.mark.parametrize("path", [f"{FOLDER}/files.py", f"{FOLDER}/index.html", f"{FOLDER}/../app.py",
                                  "/page/0/app.js", f"{FOLDER}/"])  # fmt: skip
async def test_no_other_file_is_served(anonymous_client: httpx.AsyncClient, path: str) -> None:
    assert (await anonymous_client.get(path)).status_code == 404


def test_the_page_is_sent_in_less_than_100_kilobytes() -> None:
    assert sum(len(files.sent_file(name).compressed["br"]) for name in files.contents()) < 100 * 1024


@only_in_soak
def test_a_module_is_the_same_program_as_its_source() -> None:
    if not TYPESCRIPT.exists() or shutil.which("node") is None:
        pytest.skip("npm has not installed TypeScript: make lint-page")
    pairs = {name: [SOURCES[name], MODULES[name]] for name in MODULES}
    torn = {"torn.js": ["const a = `1\n  // 2`;", "const a = `1\n`;"], "cut.js": ["f();", "f("]}
    texts = json.dumps({**pairs, **torn})
    ran = subprocess.run(["node", "-e", COMPARE], input=texts, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "torn.js,cut.js"


def test_no_module_makes_markup_of_text_or_calls_elsewhere() -> None:
    for name, source in MODULES.items():
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "://"):
            assert word not in source.replace("http://www.w3.org/2000/svg", ""), name


def test_no_module_imports_itself_through_others_or_one_that_is_not_there() -> None:
    imports = {
        name: {posixpath.normpath(f"{posixpath.dirname(name)}/{found}") for found in IMPORT.findall(source)}
        for name, source in SOURCES.items()
    }
    imports = {name: {one.removeprefix("/") for one in found} for name, found in imports.items()}

    TopologicalSorter(imports).prepare()  # raises CycleError
    assert set().union(*imports.values()) | {"app.js"} == MODULES.keys()


def test_the_closed_lists_of_the_page_are_those_of_the_api() -> None:
    assert page_enums.FILE.read_text() == page_enums.source(), "run `make openapi`"
