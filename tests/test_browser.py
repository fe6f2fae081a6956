"""A real browser on the same machine: reliability.md "Promises" 16, as a page sees it."""

import html
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
import pytest
from commands import PATIENCE
from desktop import RUN_KEY, Child, announced
from make import unwrap

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server"),
)
# Makes the requests that stand behind the # of its address, one after the other, and shows the answers.
PAGE = b"""<!doctype html>
<title>A front end</title>
<pre id="answers">not yet</pre>
<script>
  const ask = async ({url, ...request}) => {
    try {
      const answer = await fetch(url, request);
      return {status: answer.status, id: answer.headers.get("X-Request-Id"), body: await answer.json()};
    } catch (error) {
      return {refused: error.name};
    }
  };
  (async () => {
    const answers = [];
    for (const request of JSON.parse(decodeURIComponent(location.hash.slice(1)))) {
      answers.push(await ask(request));
    }
    document.getElementById("answers").textContent = JSON.stringify(answers);
  })();
</script>
"""


class FrontEnd(BaseHTTPRequestHandler):
    """The one page, whatever the path."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: standard error belongs to the tests."""


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


def shown(profile: Path, url: str) -> str:
    """The document at that address, once its scripts have run. Every *.example is the loopback interface."""
    assert CHROMIUM is not None
    ran = subprocess.run(
        [
            *(CHROMIUM, *FLAGS, f"--user-data-dir={profile}"),
            "--host-resolver-rules=MAP *.example 127.0.0.1",
            *("--virtual-time-budget=10000", "--dump-dom", url),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def answers_to(profile: Path, origin: str, *requests: dict[str, Any]) -> Any:
    """What a page of that origin gets for its requests."""
    sent = quote(msgspec.json.encode(requests).decode(), safe="")
    document = shown(profile, f"{origin}/#{sent}")
    (text,) = re.findall(r'<pre id="answers">(.*?)</pre>', document, re.S)
    assert text != "not yet"
    return msgspec.json.decode(html.unescape(text))


def keyed(url: str, **request: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {RUN_KEY}", "Content-Type": "application/json"}
    return {"url": url, "headers": headers, **request}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "journal.example"])
def test_a_page_of_an_allowed_origin_writes_and_reads_and_sees_the_request_id(
    served: Served, profile: Path, host: str
) -> None:
    url = served.url("/v1/tag-categories", host)

    made, read = answers_to(
        profile,
        f"http://127.0.0.1:{served.allowed}",
        keyed(url, method="POST", body=msgspec.json.encode({"name": f"From {host}"}).decode()),
        keyed(url),
    )

    assert (made["status"], read["status"]) == (201, 200)
    assert made["body"]["data"]["tag_category"]["name"] == f"From {host}"
    assert made["body"]["data"]["tag_category"] in read["body"]["data"]["tag_categories"]
    assert [one["id"] for one in (made, read)] == [one["body"]["meta"]["request_id"] for one in (made, read)]


def test_a_page_of_an_allowed_origin_reads_what_went_wrong(served: Served, profile: Path) -> None:
    answers = answers_to(
        profile,
        f"http://127.0.0.1:{served.allowed}",
        {"url": served.url("/v1/tags")},
        keyed(served.url("/v1/goals/9")),
        keyed(served.url("/v1/tags"), method="POST", body="{"),
    )

    told = [(one["status"], one["body"]["error"]["code"]) for one in answers]
    assert told == [(401, "unauthorized"), (404, "not_found"), (400, "validation_error")]
    assert all(one["id"] == one["body"]["meta"]["request_id"] for one in answers)


@pytest.mark.parametrize("differs_by", ["host", "port"])
def test_a_page_of_another_origin_is_refused_by_the_browser(
    served: Served, profile: Path, differs_by: str
) -> None:
    host, port = {"host": ("localhost", served.allowed), "port": ("127.0.0.1", served.other)}[differs_by]
    name = f"From another {differs_by}"

    answers = answers_to(
        profile,
        f"http://{host}:{port}",
        {"url": served.url("/health")},
        keyed(served.url("/v1/me")),
        keyed(
            served.url("/v1/tag-categories"), method="POST", body=msgspec.json.encode({"name": name}).decode()
        ),
    )

    assert answers == [{"refused": "TypeError"}] * 3
    with served.journal.client() as client:
        stored = unwrap(client.get("/tag-categories"))
    assert name not in [category["name"] for category in stored]


@pytest.mark.parametrize("path", ["/health", "/v1/tags", "/nothing"])
def test_a_name_that_was_turned_to_the_loopback_interface_is_misdirected(
    served: Served, profile: Path, path: str
) -> None:
    document = shown(profile, served.url(path, "evil.example"))

    assert '"code":"misdirected_request"' in document
    assert '"ok":true' not in document


def test_the_same_address_under_its_own_name_is_answered(served: Served, profile: Path) -> None:
    document = shown(profile, served.url("/health"))

    assert '"ok":true' in document
