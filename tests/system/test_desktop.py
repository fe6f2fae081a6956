"""A desktop program starts the journal, talks to it, and takes it along when it ends: docs/embedding.md."""

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest
from click.testing import CliRunner
from commands import PATIENCE, environment, health, new_key, refused, rows, running
from conftest import client_of, new_key_for, started
from desktop import RUN_KEY, announced, announcing, first_line, pipe
from factories import create_category, details_of, error_of, insert_user, unwrap
from starlette.applications import Starlette

from journal_api import __version__
from journal_api.app import create_app
from journal_api.cli import cli
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings, parse_run_key

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "journal_api")
# A parent that starts the command in its arguments, passes its first line on, and waits to be killed.
PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(child.stdout.readline().decode(), end="", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


# The line ----------------------------------------------------------------------------------------------


def test_the_one_line_says_where_who_and_which_release_and_then_it_answers(
    db: Path,
) -> None:
    with announced(db) as child:
        told, answer = msgspec.json.decode(child.line), health(child.url)
        child.let_go()
        rest = child.rest_of_output()

    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9][0-9]*", child.url)
    assert told == {"url": child.url, "pid": child.process.pid, "version": __version__}
    assert (answer.status_code, rest) == (200, b"")


def test_an_address_of_version_6_is_told_as_a_url(db: Path) -> None:
    with announced(db, "--host", "::1") as child:
        answer = health(child.url)

    assert child.url.startswith("http://[::1]:")
    assert answer.status_code == 200


def test_a_server_that_cannot_start_announces_nothing_and_says_why_in_one_line(db: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        line = refused("serve", "--db", db, "--port", port, "--announce")

    assert port in line


def test_a_first_key_would_be_a_second_thing_on_standard_output_and_is_refused(db: Path) -> None:
    line = refused("serve", "--db", db, "--port", "0", "--announce", "--first-key")

    assert "--announce" in line
    assert not db.exists()


def test_without_announce_the_output_is_for_people_and_standard_input_is_not_watched(db: Path) -> None:
    with running(db) as server:  # its standard input has ended already
        answer = health(server.url)
        printed = server.out.read_text()

    assert answer.status_code == 200
    assert printed == f"Journal {db} on {server.url}/v1 (Ctrl-C stops it)\n"


# The end -----------------------------------------------------------------------------------------------


def test_the_end_of_standard_input_stops_the_server_in_order_and_what_comes_in_is_thrown_away(
    db: Path,
) -> None:
    with announced(db) as child:
        child.stdin.write(b"stop\n\0\xff" * 30_000)
        child.stdin.flush()
        with child.client() as client:
            unwrap(client.post("/tag-categories", json={"name": "Kept"}))

        code = child.let_go()

    assert code == 0
    assert not db.with_name("journal.db-wal").exists()
    assert rows(db, "SELECT name FROM tag_categories") == [("Kept",)]
    assert "Traceback" not in child.err.read_text()


def test_the_next_server_starts_as_soon_as_the_one_before_has_stopped(db: Path) -> None:
    with announced(db) as child:
        child.let_go()

        with announced(db) as next_child:
            answer = health(next_child.url)

    assert answer.status_code == 200


def test_a_connection_that_stays_open_does_not_keep_the_server(db: Path) -> None:
    with announced(db) as child, child.client() as client:
        unwrap(client.get("/me"))

        code = child.let_go()

    assert code == 0


def test_a_pipe_that_does_not_wait_for_input_has_not_ended(db: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with announced(db, stdin=reading) as child:
        os.close(reading)
        with child.client() as client:
            unwrap(client.get("/me"))

        os.close(writing)
        code = child.process.wait(PATIENCE)

    assert code == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_server_whose_standard_input_stays_open_is_stopped_by_a_signal(
    db: Path, how: signal.Signals
) -> None:
    with announced(db) as child:
        child.process.send_signal(how)

        code = child.process.wait(PATIENCE)

    assert code == 0
    assert "rror" not in child.err.read_text()


@pytest.mark.parametrize("redirected", ["</dev/null", "<&-"], ids=["nothing", "closed"])
def test_a_server_without_standard_input_stops_at_once(db: Path, redirected: str) -> None:
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", *COMMAND, *announcing(db)],
        env=environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert not db.with_name("journal.db-wal").exists()


def test_a_parent_that_is_killed_leaves_no_server_behind(db: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *COMMAND, *announcing(db)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as parent:
        url = msgspec.json.decode(first_line(parent, parent.stdout))["url"]
        before = health(url)

        parent.kill()
        # The server has the same standard error, so this ends when both have.
        _, said = parent.communicate(timeout=PATIENCE)

    assert before.status_code == 200
    assert b"Traceback" not in said
    with pytest.raises(httpx.ConnectError):
        health(url)
    with announced(db) as child:
        assert health(child.url).status_code == 200


def test_a_parent_that_is_gone_before_the_line_leaves_no_server_behind(db: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, *announcing(db)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        pipe(process.stdout).close()

        # Its standard input stays open: only the line shows that nobody is there.
        process.wait(PATIENCE)
        said = pipe(process.stderr).read()

    assert b"Traceback" not in said
    assert not db.with_name("journal.db-wal").exists()


# The key of the run ------------------------------------------------------------------------------------


@pytest.fixture
async def run_app(tmp_path: Path) -> AsyncIterator[Starlette]:
    """A journal that is run with RUN_KEY."""
    app = create_app(Settings(db=tmp_path / "run.db", run_key=parse_run_key(RUN_KEY)))
    async with started(app):
        yield app


def test_the_key_of_the_run_opens_the_journal_of_the_first_user(db: Path) -> None:
    with announced(db) as child, child.client() as client:
        me = unwrap(client.get("/me"))
        made = client.post("/tag-categories", json={"name": "Psychology"})

    assert me["name"] == "owner"
    assert made.status_code == 201
    assert rows(db, "SELECT count(*) FROM api_keys") == [(0,)]


async def test_the_key_of_the_run_has_every_scope(run_app: Starlette) -> None:
    async with client_of(run_app, RUN_KEY) as client:
        answers = [
            await client.request(
                operation.method, re.sub(r"\{.*?\}", "9", operation.path).removeprefix("/v1")
            )
            for operation in OPERATIONS
        ]

    assert {answer.status_code for answer in answers}.isdisjoint({401, 403})


async def test_the_key_of_the_run_knows_the_zone_that_its_user_has_set(run_app: Starlette) -> None:
    async with client_of(run_app, RUN_KEY) as client:
        await client.patch("/me", json={"timezone": "America/New_York"})
        goal = {"goal_name": "Goal", "metric": "net_pnl", "target_value": 1, "timeframe": "daily"}

        made = await client.post("/goals", json=goal)
        me = unwrap(await client.get("/me"))

    assert made.status_code == 201
    assert me["timezone"] == "America/New_York"


async def test_the_data_of_other_users_is_not_for_the_key_of_the_run(run_app: Starlette) -> None:
    other = await insert_user(run_app)
    async with client_of(run_app, await new_key_for(run_app, other)) as theirs:
        await create_category(theirs)

    async with client_of(run_app, RUN_KEY) as client:
        seen = unwrap(await client.get("/tag-categories"))

    assert seen == []


async def test_stored_keys_work_beside_the_key_of_the_run(run_app: Starlette) -> None:
    async with client_of(run_app, await new_key_for(run_app, scopes=("read:tags",))) as client:
        answers = [await client.get("/tags"), await client.get("/goals")]

    assert [answer.status_code for answer in answers] == [200, 403]


WRONG = {
    "another": RUN_KEY[::-1],
    "cut": RUN_KEY[:-1],
    "longer": RUN_KEY + "x",
    "other case": RUN_KEY.swapcase(),
    "its hash": hashlib.sha256(RUN_KEY.encode()).hexdigest(),
    "short": "x",
}


@pytest.mark.parametrize("key", WRONG.values(), ids=WRONG.keys())
async def test_any_other_key_is_401(run_app: Starlette, key: str) -> None:
    async with client_of(run_app, key) as client:
        refusal = await client.get("/tags")

    assert error_of(refusal) == (401, "unauthorized")


def files_with(folder: Path, key: str) -> list[str]:
    return [file.name for file in folder.iterdir() if key.encode() in file.read_bytes()]


KEYS = {"shortest": "k3y_" * 8, "of a request id": "k3y-" * 16, "longest": "k3y_" * 50}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
@pytest.mark.parametrize("form", ["{}", "Bearer_{}", "{}-2", "a{}z"])
async def test_an_id_with_the_key_of_the_run_in_it_is_not_echoed_logged_or_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, key: str, form: str
) -> None:
    caplog.set_level("INFO")
    sent = form.format(key)
    app = create_app(Settings(db=tmp_path / "run.db", run_key=parse_run_key(key)))
    async with started(app), client_of(app, key) as client:
        answers = [
            await client.get("/tags", headers={"X-Request-Id": sent}),
            await client.post("/tag-categories", json={"name": "One"}, headers={"Idempotency-Key": sent}),
        ]

    assert [answer.status_code for answer in answers] == [200, 400]
    assert list(details_of(answers[1])["fields"]) == ["Idempotency-Key"]
    said = caplog.text + "".join(f"{one.headers} {one.text}" for one in answers)
    assert key not in said
    assert files_with(tmp_path, key) == []


async def test_an_id_that_is_only_like_the_key_of_the_run_is_kept(run_app: Starlette) -> None:
    async with client_of(run_app, RUN_KEY) as client:
        for sent in (RUN_KEY[:-1], RUN_KEY[1:], RUN_KEY.swapcase(), "x" * 64):
            answer = await client.get("/tags", headers={"X-Request-Id": sent})
            assert answer.headers["x-request-id"] == sent


async def test_requests_with_the_key_of_the_run_are_counted_for_themselves(tmp_path: Path) -> None:
    app = create_app(Settings(db=tmp_path / "limited.db", rate_limit=3, run_key=parse_run_key(RUN_KEY)))
    async with started(app):
        async with client_of(app, RUN_KEY) as client:
            answers = [await client.get("/tags") for _ in range(4)]
        async with client_of(app, await new_key_for(app)) as other:
            answer = await other.get("/tags")

    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert answer.headers["x-ratelimit-remaining"] == "2"


def test_the_key_of_the_run_is_in_no_file_and_no_output(db: Path) -> None:
    with announced(db) as child:
        with child.client() as client:
            unwrap(client.post("/tag-categories", json={"name": "Psychology"}))
            client.get("/strategies", params={"status": RUN_KEY[:5]})
        with child.client(RUN_KEY[::-1]) as stranger:
            stranger.get("/me")
        # This process has no connection to the database whose locks a closed file would drop.
        amid = {file.name: file.read_bytes() for file in db.parent.iterdir()}
        child.let_go()
        output = child.line + child.rest_of_output()

    ended = {file.name: file.read_bytes() for file in db.parent.iterdir()}
    assert {"journal.db", "journal.db-wal", "server.err"} <= amid.keys()
    for content in (*amid.values(), *ended.values(), output):
        assert RUN_KEY.encode() not in content
        assert hashlib.sha256(RUN_KEY.encode()).digest() not in content


@pytest.mark.parametrize("later", ["", RUN_KEY[::-1]], ids=["no key", "another key"])
def test_the_key_of_the_run_ends_with_the_run(db: Path, later: str) -> None:
    with announced(db) as child, child.client() as client:
        first = client.get("/me")
        child.let_go()

    with announced(db, settings={"JOURNAL_RUN_KEY": later}) as child, child.client() as client:
        second = client.get("/me")

    assert first.status_code == 200
    assert error_of(second) == (401, "unauthorized")


@pytest.mark.parametrize(
    "key",
    ["x" * 31, "x" * 201, "x" * 32 + "\n", " " + "x" * 32, "x" * 32 + "\N{LATIN SMALL LETTER E WITH ACUTE}"],
    ids=["short", "long", "line end", "space", "no ASCII"],
)
def test_a_key_of_the_run_that_is_no_key_is_refused_and_not_repeated(db: Path, key: str) -> None:
    line = refused("serve", "--db", db, "--port", "0", "--announce", settings={"JOURNAL_RUN_KEY": key})

    assert line.startswith("journal-api: JOURNAL_RUN_KEY must be 32 to 200 characters")
    assert "xxx" not in line
    assert not db.exists()


@pytest.mark.parametrize("key", [RUN_KEY, "short"])
def test_no_child_of_the_server_inherits_the_key_of_the_run(
    db: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("JOURNAL_RUN_KEY", key)

    CliRunner().invoke(cli, ["users", "list", "--db", str(db)])

    assert "JOURNAL_RUN_KEY" not in os.environ


def test_a_server_without_announce_takes_the_key_of_the_run_too(db: Path) -> None:
    with running(db, JOURNAL_RUN_KEY=RUN_KEY) as server, server.client(RUN_KEY) as client:
        assert client.get("/me").status_code == 200


# The documents -----------------------------------------------------------------------------------------


def example() -> str:
    """The Python block under "From a desktop program"."""
    text = (ROOT / "docs" / "embedding.md").read_text()
    (section,) = re.findall(r"^## From a desktop program\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    (block,) = re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)
    return str(block)


def test_the_parent_in_the_documents_runs_as_it_is_written(db: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", example()],
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "JOURNAL_DB": str(db)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "The journal of owner\n"
    assert not db.with_name("journal.db-wal").exists()
    assert new_key(db)
