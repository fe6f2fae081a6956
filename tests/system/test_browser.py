"""A real browser on the same machine: docs/reliability.md 16, as a page sees it."""

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

import msgspec
import pytest
from commands import PATIENCE
from desktop import RUN_KEY, Child, announced
from factories import unwrap

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server"),
    "--host-resolver-rules=MAP *.example 127.0.0.1",  # each of them is the loopback interface
)
# Opens the frames that stand behind the # of its address, makes the requests that stand there, and reports
# the answers to where it came from.
PAGE = b"""<!doctype html>
<title>A front end</title>
<body>
<script>
  const {name, requests, frames} = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  const ask = async ({url, ...request}) => {
    try {
      const answer = await fetch(url, request);
      const [id, tag] = ["X-Request-Id", "ETag"].map((name) => answer.headers.get(name));
      return {status: answer.status, id, tag, body: answer.status === 304 ? {} : await answer.json()};
    } catch (error) {
      return {refused: error.name};
    }
  };
  for (const {url, is_sandboxed} of frames) {
    const frame = document.createElement("iframe");
    if (is_sandboxed) frame.sandbox = "allow-scripts";
    frame.src = url;
    document.body.append(frame);
  }
  (async () => {
    const answers = await Promise.all(requests.map(ask));
    fetch("/", {method: "POST", mode: "no-cors", body: JSON.stringify({name, answers})});
  })();
</script>
"""


class FrontEnd(BaseHTTPRequestHandler):
    """The one page, whatever the path; what pages report is put in the queue."""

    reports: ClassVar[Queue[bytes]] = Queue()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def do_POST(self) -> None:
        self.reports.put(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: standard error belongs to the tests."""


class Page(NamedTuple):
    """A page of a front end, in a frame of another where it is not the first."""

    name: str
    url: str
    is_sandboxed: bool = False

    def address(self, requests: list[Any], frames: Sequence["Page"] = ()) -> str:
        """Where it makes those requests, and opens those frames that make them too."""
        opened = [{"url": one.address(requests), "is_sandboxed": one.is_sandboxed} for one in frames]
        sent = msgspec.json.encode({"name": self.name, "requests": requests, "frames": opened})
        return f"{self.url}#{quote(sent.decode(), safe='')}"


class Served(NamedTuple):
    """A journal, the port of the front end that it allows, and that of one that it has never heard of."""

    journal: Child
    allowed: int
    other: int

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return self.journal.url.replace("127.0.0.1", host) + path


@contextmanager
def front_end() -> Iterator[int]:
    """The port on the loopback interface where PAGE is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), FrontEnd) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(PATIENCE)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    db = tmp_path_factory.mktemp("browser") / "journal.db"
    with ExitStack() as stack:
        allowed, other = (stack.enter_context(front_end()) for _ in range(2))
        settings = {
            "JOURNAL_CORS_ORIGINS": f"http://127.0.0.1:{allowed}",
            "JOURNAL_ALLOWED_HOSTS": "journal.example",
        }
        yield Served(stack.enter_context(announced(db, settings=settings)), allowed, other)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """Where a browser that has never been anywhere keeps what it remembers."""
    return tmp_path / "profile"


def command(profile: Path, *arguments: str) -> list[str]:
    assert CHROMIUM is not None
    return [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *arguments]


def load_pages(profile: Path, requests: list[Any], first: Page, *others: Page) -> dict[str, Any]:
    """Open all pages at once in one browser; return what each gets for its requests, by its name."""
    browser = subprocess.Popen(
        command(profile, first.address(requests, others)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        reports = [FrontEnd.reports.get(timeout=PATIENCE) for _ in [first, *others]]
    finally:
        browser.terminate()
        browser.wait(PATIENCE)
    told = [msgspec.json.decode(report) for report in reports]
    return {one["name"]: one["answers"] for one in told}


def keyed(url: str, **request: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {RUN_KEY}", "Content-Type": "application/json"}
    return {"url": url, "headers": headers, **request}


# Where a page sends its requests: names of the journal, and others that lead to it all the same.
ITS_HOSTS = ["127.0.0.1", "localhost", "journal.example"]
OTHER_HOSTS = ["evil.example", "localhost.", "journal.example.", "sub.journal.example"]
BLIND = {"mode": "no-cors", "method": "POST", "headers": {"Content-Type": "text/plain"}}


def allowed_page(served: Served) -> Page:
    """That of the settings."""
    return Page("allowed", f"http://127.0.0.1:{served.allowed}/")


def other_pages(served: Served) -> list[Page]:
    """What a person may have open beside it."""
    return [
        Page("of another port", f"http://127.0.0.1:{served.other}/"),
        Page("of another name", f"http://localhost:{served.allowed}/"),
        Page("of a strange name", f"http://evil.example:{served.other}/"),
        Page("of a name of the journal", f"http://journal.example:{served.other}/"),
        Page("without an origin", f"http://127.0.0.1:{served.allowed}/", is_sandboxed=True),
    ]


def requests_to(served: Served, host: str) -> list[dict[str, Any]]:
    """What a page could want of that host: four reads, a write, and one without asking first."""
    body = msgspec.json.encode({"name": f"To {host}"}).decode()
    categories = served.url("/v1/tag-categories", host)
    return [
        {"url": served.url("/health", host)},
        {"url": served.url("/openapi.json", host)},
        keyed(served.url("/v1/me", host)),
        keyed(served.url("/nothing", host)),
        keyed(categories, method="POST", body=body),
        {"url": categories, "body": body, **BLIND},
    ]


@pytest.mark.promise(16)
def test_of_all_pages_the_allowed_one_alone_reaches_the_journal_and_by_its_names_alone(
    served: Served, profile: Path, seen: Callable[[str], None]
) -> None:
    others = other_pages(served)
    hosts = [*ITS_HOSTS, *OTHER_HOSTS]
    requests = [one for host in hosts for one in requests_to(served, host)]

    got = load_pages(profile, requests, allowed_page(served), *others)

    told = {page: [one.get("status") for one in answers] for page, answers in got.items()}
    done = [200, 200, 200, 404, 201, None] * len(ITS_HOSTS) + [None] * 6 * len(OTHER_HOSTS)
    assert told == {"allowed": done, **{page.name: [None] * len(requests) for page in others}}
    enveloped = [one for one in got["allowed"] if "meta" in one.get("body", {})]
    assert [one["id"] for one in enveloped] == [one["body"]["meta"]["request_id"] for one in enveloped]
    with served.journal.client() as client:
        stored = [category["name"] for category in unwrap(client.get("/tag-categories"))]
    assert sorted(stored) == sorted(f"To {host}" for host in ITS_HOSTS)
    seen(
        f"Chromium, {len(told)} pages x {len(hosts)} hosts x 6 requests: the allowed page alone reads or "
        f"writes, by {len(ITS_HOSTS)} names alone"
    )


def test_a_page_of_an_allowed_origin_reads_what_went_wrong_and_that_nothing_has_changed(
    served: Served, profile: Path
) -> None:
    with served.journal.client() as client:
        tag = client.get("/me").headers["etag"]
    held, old = (keyed(served.url("/v1/me")) for _ in range(2))
    held["headers"]["If-None-Match"], old["headers"]["If-None-Match"] = tag, '"old"'
    wrong = [
        {"url": served.url("/v1/tags")},
        keyed(served.url("/v1/goals/9")),
        keyed(served.url("/v1/tags"), method="POST", body="{"),
    ]

    *refused, same, other = load_pages(profile, [*wrong, held, old], allowed_page(served))["allowed"]

    told = [(one["status"], one["body"]["error"]["code"]) for one in refused]
    assert told == [(401, "unauthorized"), (404, "not_found"), (400, "validation_error")]
    assert all(one["id"] == one["body"]["meta"]["request_id"] for one in refused)
    assert [(one["status"], one["tag"]) for one in (same, other)] == [(304, tag), (200, tag)]
