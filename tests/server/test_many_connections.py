"""More connections than the server keeps: docs/reliability.md#connections."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import BadStatusLine, HTTPResponse
from pathlib import Path

import httpx
import pytest
import uvloop
from commands import PATIENCE, free_port, new_key, running, running_program, wait_until
from factories import A_FILE, A_TRADE, error_of, unwrap
from streams import CLOSE, Clock, Journal, Served, is_open, serve_in_thread

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of open files")


FEW, HUNDRED = 5, 100  # connections that a server keeps


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("connections")
    with serve_in_thread(folder / "journal.db", Clock, max_connections=FEW) as journal:
        yield journal


class Client:
    """A connection to the journal, made a second after the server has read what earlier ones sent."""

    def __init__(self, stack: ExitStack, journal: Served, sent: bytes = b"") -> None:
        if isinstance(journal.loop, Clock):
            journal.pass_time(1)
        self.journal = journal
        self.connection = stack.enter_context(journal.connect())
        self.connection.sendall(sent)
        side = journal.side_of(self.connection)
        wait_until(lambda: side.has_read(len(sent)))

    def statuses(self, sent: bytes) -> list[int]:
        """Send these bytes; return the status of the response, none if the connection is closed."""
        try:
            self.connection.sendall(sent)
            with HTTPResponse(self.connection) as response:
                response.begin()
                response.read()
                return [response.status]
        except (ConnectionError, BadStatusLine):
            return []

    def is_answered(self) -> bool:
        return self.statuses(self.journal.head("GET /v1/me", "me")) == [200]


def upload(stack: ExitStack, journal: Served) -> Client:
    """A client that has sent all but the last 9 bytes of its body."""
    headers = (b"Content-Length: 18", CLOSE)
    return Client(stack, journal, journal.head("POST /v1/tag-categories", "a", *headers) + b'{"name": ')


def test_the_connection_that_is_idle_longest_makes_room_for_a_new_one(journal: Served) -> None:
    with ExitStack() as stack:
        clients = [Client(stack, journal) for _ in range(FEW)]
        assert clients[0].is_answered()
        more = [Client(stack, journal) for _ in range(2)]

        answered = [client.is_answered() for client in [*clients, *more]]

    assert answered == [True, False, False, True, True, True, True]


def test_an_idle_connection_makes_room_before_one_whose_request_is_on_its_way(journal: Served) -> None:
    with ExitStack() as stack:
        uploading = upload(stack, journal)
        idle = [Client(stack, journal) for _ in range(FEW - 1)]

        assert Client(stack, journal).is_answered()
        assert not idle[0].is_answered()
        assert uploading.statuses(b'"Slowly"}') == [201]


def test_clients_that_stall_keep_nobody_out(journal: Served) -> None:
    with ExitStack() as stack:
        for _ in range(3 * FEW):
            upload(stack, journal)

        assert Client(stack, journal).is_answered()


# asyncio accepts all that are there at once.
@pytest.mark.parametrize("loop_factory", [uvloop.new_event_loop, asyncio.SelectorEventLoop])
def test_a_crowd_that_comes_at_once_leaves_the_others_that_are_in_use(
    tmp_path: Path, loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    served = serve_in_thread(tmp_path / "journal.db", loop_factory, max_connections=HUNDRED)
    with served as journal, ExitStack() as stack:
        uploading, all_are_there = upload(stack, journal), threading.Event()
        journal.loop.call_soon_threadsafe(all_are_there.wait, PATIENCE)  # before it looks again
        crowd = [stack.enter_context(journal.connect()) for _ in range(4 * HUNDRED)]
        all_are_there.set()

        assert Client(stack, journal).is_answered()
        assert uploading.statuses(b'"Slowly"}') == [201]
        assert HUNDRED / 2 < sum(map(is_open, crowd)) <= HUNDRED


def limited(limit: str, *arguments: str) -> list[str]:
    """A command of Python's that may have so many files open: an option of `ulimit`."""
    return ["sh", "-c", f'ulimit {limit} && exec "$0" "$@"', sys.executable, *arguments]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("-n 1024", "240 1024"), ("-n 68", "1 68"), ("-n 72", "2 72"), ("-n 40", "1 40"),
     ("-Sn 256", "2000 8064"), ("-Sn 8063", "2000 8064"), ("-Sn 8065", "2000 8065")],
)  # fmt: skip
def test_the_limit_of_open_files_is_raised_as_far_as_allowed_and_bounds_the_connections(
    limit: str, expected: str
) -> None:
    program = (
        "import resource\nfrom journal_api.server.descriptors import raise_file_limit\n"
        "print(raise_file_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )

    printed = subprocess.check_output(limited(limit, "-c", program), text=True, timeout=PATIENCE)

    assert printed.strip() == expected


# Before its first temporary file a process looks for a directory, and finds none it can write to.
@pytest.mark.parametrize("wrote_files", [False, True], ids=["the first files", "later files"])
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can limit another process")
def test_without_a_file_to_open_the_error_names_the_limit_of_open_files(db: Path, wrote_files: bool) -> None:
    import resource

    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        unwrap(client.post("/accounts", json={"name": "Sim"}))
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)

        def request() -> list[httpx.Response]:
            query = "account_id=1&dry_run=true&timezone=UTC"
            return [
                client.get("/trades/export"),
                client.post(f"/imports?{query}", content=A_FILE),
                client.post("/tags", json={"name": "Without a file", "category_id": 1}),
            ]

        if wrote_files:
            request()
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        *refused, written = request()
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)
        then = [response.status_code for response in request()]

    # A small export needs no file once a reader has been opened.
    assert not wrote_files or refused.pop(0).status_code == 200
    for response in refused:
        assert error_of(response) == (503, "busy")
        assert "LimitNOFILE" in response.json()["error"]["message"]
    assert written.status_code == 400  # the category does not exist: what opens no file works
    assert then == [200, 200, 400]


def test_more_idle_connections_than_files_leave_room_for_reports_exports_and_imports(tmp_path: Path) -> None:
    db, port = tmp_path / "journal.db", free_port()
    key = new_key(db)
    serve = limited("-n 200", "-m", "journal_api", "serve", "--db", str(db), "--port", str(port))
    with (
        running_program(tmp_path / "server", serve, port) as server,
        server.client(key) as client,
        ExitStack() as stack,
    ):
        for _ in range(300):
            stack.enter_context(Journal(server.url, key).connect())
        unwrap(client.post("/accounts", json={"name": "Sim"}))
        unwrap(client.post("/trades", json={**A_TRADE, "account_id": 1}))
        responses = [
            client.get("/reports", params={"group_by": "symbol"}),
            client.get("/trades/export"),
            client.post("/imports?account_id=1&dry_run=true&timezone=UTC", content=A_FILE),
        ]

    assert [response.status_code for response in responses] == [200, 200, 200]
