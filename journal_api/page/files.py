"""GET /, and the files of the page at GET /page/{version}/{name}.

The version is a hash of all files, so browsers keep a file for good and fetch each again after an upgrade.
Modules import each other by relative paths, which keep the version. Files are sent compressed, modules
and the style sheet minified.
"""

import posixpath
import re
from functools import cache
from hashlib import sha256
from pathlib import Path

from rcssmin import cssmin
from rjsmin import jsmin
from starlette.requests import Request
from starlette.routing import Route

from journal_api.errors import NotFound
from journal_api.web.static_files import CONTENT_TYPES, StaticFile

FOLDER = Path(__file__).parent
# Everything is of this origin, no script or style is inline, and no text of the journal becomes markup.
# Pictures are read with the key, so they are shown as blobs.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
    " manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {"content-security-policy": POLICY, "referrer-policy": "no-referrer"}
IMPORT = re.compile(r'\bfrom ?"(\.[^"]+)"')
FIRST_MODULES = ("app.js", "views/goals.js")  # of the first view
FOR_GOOD = "public, max-age=31536000, immutable"
# What prettier writes before a bracket, and a program does not need.
LAST_MARK = re.compile(rb",(?=[)\]}])|;(?=})")
MINIFIERS = {".js": lambda content: LAST_MARK.sub(b"", jsmin(content)), ".css": cssmin}


async def index(request: Request) -> StaticFile:
    return sent_file("index.html")


async def file(request: Request) -> StaticFile:
    """A script or the style sheet of the page. Raises NotFound."""
    name = request.path_params["name"]
    if request.path_params["version"] != version() or name not in contents() or name == "index.html":
        raise NotFound("The page has no such file; it is at /, and reloading it fetches the current files.")
    return sent_file(name)


@cache
def contents() -> dict[str, bytes]:
    """The content of every file of the page as it is sent, by its path."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in CONTENT_TYPES)
    return {path.relative_to(FOLDER).as_posix(): read(path) for path in paths}


def read(path: Path) -> bytes:
    content = path.read_bytes()
    return MINIFIERS[path.suffix](content) if path.suffix in MINIFIERS else content


@cache
def sent_file(name: str) -> StaticFile:
    content, cache_control = contents()[name], FOR_GOOD
    if name == "index.html":
        content = content.replace(b"{preloads}", preloads().encode())
        content, cache_control = content.replace(b"{version}", version().encode()), "no-cache"
    headers = {**HEADERS, "cache-control": cache_control}
    return StaticFile(name, content, headers)


def preloads() -> str:
    """Links to all modules of the first view: fetched together, not each after its importer."""
    names = dict.fromkeys(FIRST_MODULES)
    queue = list(names)
    for name in queue:
        found = IMPORT.findall(contents()[name].decode())
        new = {posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) for path in found} - {*names}
        names |= dict.fromkeys(sorted(new))
        queue += sorted(new)
    return "\n".join(f'<link rel="modulepreload" href="/page/{{version}}/{name}">' for name in names)


@cache
def version() -> str:
    digest = sha256()
    for name, content in contents().items():
        digest.update(b"%b %d\n%b" % (name.encode(), len(content), content))
    return digest.hexdigest()[:16]


ROUTES = [Route("/", index), Route("/page/{version}/{name:path}", file)]
