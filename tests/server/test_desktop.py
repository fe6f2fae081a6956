"""A desktop program starts the journal, talks to it, and takes it along when it ends: docs/embedding.md."""

import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest
from click.testing import CliRunner
from commands import PATIENCE, environment, health, new_key, rows, run_failing, running
from conftest import client_of, new_key_for, started
from desktop import RUN_KEY, announced, announcing, first_line, pipe, piped
from factories import create_category, details_of, error_of, insert_user, unwrap
from journals import NEWER, Write, content, damaged_journal, new_journal
from msgspec import structs
from starlette.applications import Starlette

from journal_api import __version__
from journal_api.app import create_app
from journal_api.cli import cli
from journal_api.cli.exit_status import BY_CLASS, BY_ERRNO, BY_SQLITE, OTHER_REASON
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


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", r"127\.0\.0\.1"), ("::1", r"\[::1\]")])
def test_the_one_line_says_where_who_and_which_release(db: Path, host: str, shown: str) -> None:
    with announced(db, "--host", host) as child:
        response = health(child.url)
        child.let_go()
        rest = child.rest_of_output()

    assert re.fullmatch(rf"http://{shown}:[1-9][0-9]*", child.url)
    expected = {"url": child.url, "pid": child.process.pid, "version": __version__}
    assert msgspec.json.decode(child.line) == expected
    assert (response.status_code, rest) == (200, b"")


def test_without_announce_the_output_is_for_people_and_standard_input_is_not_watched(db: Path) -> None:
    with running(db, JOURNAL_RUN_KEY=RUN_KEY) as server:  # its standard input has ended already
        with server.client(RUN_KEY) as client:
            assert client.get("/me").status_code == 200
        printed = server.out.read_text()

    assert printed == f"Journal {db} on {server.url}/v1 (Ctrl-C stops it)\n"


def test_the_end_of_standard_input_stops_the_server_in_order_and_the_next_one_starts(db: Path) -> None:
    with announced(db) as child:
        child.stdin.write(b"stop\n\0\xff" * 30_000)  # is read and dropped
        child.stdin.flush()
        with child.client() as client:  # a connection that stays open
            unwrap(client.post("/tag-categories", json={"name": "Kept"}))

            code = child.let_go()
        log_is_left = db.with_name("journal.db-wal").exists()
        with announced(db) as next_child:
            response = health(next_child.url)

    assert (code, log_is_left, response.status_code) == (0, False, 200)
    assert rows(db, "SELECT name FROM tag_categories") == [("Kept",)]
    assert "Traceback" not in child.err.read_text()


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


def test_a_signal_stops_a_server_whose_standard_input_stays_open(db: Path) -> None:
    with announced(db) as child:
        child.process.send_signal(signal.SIGTERM)

        assert child.process.wait(PATIENCE) == 0
    assert "rror" not in child.err.read_text()


@pytest.mark.parametrize("redirected", ["</dev/null", "<&- 2>&-"], ids=["nothing", "closed, as standard error"])
def test_a_server_without_standard_input_stops_at_once(db: Path, redirected: str) -> None:
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", *COMMAND, *announcing(db)],
        env=environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (0, b""), ran.stderr
    assert not db.with_name("journal.db-wal").exists()


def test_a_parent_that_is_killed_leaves_no_server_behind(db: Path) -> None:
    with piped(sys.executable, "-c", PARENT, *COMMAND, *announcing(db)) as (parent, _, told):
        url = msgspec.json.decode(first_line(parent, told))["url"]
        before = health(url)

        parent.kill()
        # The server has the same standard error, so this ends when both have.
        _, printed = parent.communicate(timeout=PATIENCE)

    assert before.status_code == 200
    assert b"Traceback" not in printed
    with pytest.raises(httpx.ConnectError):
        health(url)


def test_a_parent_that_is_gone_before_the_line_leaves_no_server_behind(db: Path) -> None:
    with piped(*COMMAND, *announcing(db)) as (process, _, told):
        told.close()

        # Its standard input stays open: only the line shows that nobody is there.
        process.wait(PATIENCE)
        printed = pipe(process.stderr).read()

    assert b"Traceback" not in printed
    assert not db.with_name("journal.db-wal").exists()


NOBODY_WRITES_THERE = Path("/sys/kernel")  # not even root
REASONS: dict[str, tuple[Write, int]] = {
    "a newer release has migrated it": (new_journal(f"PRAGMA user_version = {NEWER}"), 4),
    "its pages are overwritten": (damaged_journal, 5),
    "it is a text": (content(b"Dear diary"), 5),
    "a folder is in its place": (Path.mkdir, 1),
}


@pytest.mark.parametrize(("happens", "status"), REASONS.values(), ids=REASONS)
def test_the_exit_status_says_why_the_journal_did_not_start(db: Path, happens: Write, status: int) -> None:
    happens(db)

    run_failing(*announcing(db), code=status)


@pytest.mark.skipif(not NOBODY_WRITES_THERE.is_dir(), reason="no such folder")
def test_a_folder_without_permission_has_an_exit_status_of_its_own() -> None:
    run_failing(*announcing(NOBODY_WRITES_THERE / "journal.db"), code=6)


def test_the_docs_list_every_exit_status() -> None:
    chapter = (ROOT / "docs/embedding.md").read_text(encoding="utf-8").partition("**Exit status.**")[2]

    listed = re.findall(r"^\| ([0-9]) \|", chapter, re.MULTILINE)

    every = {0, OTHER_REASON, *BY_CLASS.values(), *BY_ERRNO.values(), *BY_SQLITE.values()}
    assert [int(status) for status in listed] == sorted(every)


@pytest.fixture
async def run_app(tmp_path: Path) -> AsyncIterator[Starlette]:
    """A journal that is run with RUN_KEY."""
    app = create_app(Settings(db=tmp_path / "run.db", run_key=parse_run_key(RUN_KEY)))
    async with started(app):
        yield app


async def test_the_key_of_the_run_has_every_scope_of_the_first_user(run_app: Starlette) -> None:
    other = await insert_user(run_app)
    async with client_of(run_app, await new_key_for(run_app, other)) as theirs:
        await create_category(theirs)

    async with client_of(run_app, RUN_KEY) as client:
        categories = unwrap(await client.get("/tag-categories"))
        me = unwrap(await client.patch("/me", json={"timezone": "America/New_York"}))
        responses = [
            await client.request(operation.method, re.sub(r"\{.*?\}", "9", operation.path).removeprefix("/v1"))
            for operation in OPERATIONS
        ]

    assert categories == []
    assert (me["name"], me["timezone"]) == ("owner", "America/New_York")
    assert {response.status_code for response in responses}.isdisjoint({401, 403})


WRONG = {
    "another": RUN_KEY[::-1],
    "cut": RUN_KEY[:-1],
    "longer": RUN_KEY + "x",
    "other case": RUN_KEY.swapcase(),
    "its hash": hashlib.sha256(RUN_KEY.encode()).hexdigest(),
    "short": "x",
}


async def test_any_other_key_is_401_and_stored_keys_work_beside_it(run_app: Starlette) -> None:
    for name, key in WRONG.items():
        async with client_of(run_app, key) as client:
            assert error_of(await client.get("/tags")) == (401, "unauthorized"), name
    async with client_of(run_app, await new_key_for(run_app, scopes=("read:tags",))) as client:
        assert (await client.get("/tags")).status_code == 200
        assert (await client.get("/goals")).status_code == 403


def files_with(folder: Path, key: str) -> list[str]:
    return [file.name for file in folder.iterdir() if key.encode() in file.read_bytes()]


KEYS = {"shortest": "k3y_" * 8, "of a request id": "k3y-" * 16, "longest": "k3y_" * 50}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
async def test_an_id_with_the_key_of_the_run_in_it_is_not_echoed_logged_or_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, key: str
) -> None:
    caplog.set_level("INFO")
    app = create_app(Settings(db=tmp_path / "run.db", run_key=parse_run_key(key)))
    async with started(app), client_of(app, key) as client:
        for sent in (key, f"Bearer_{key}", f"{key}-2", f"a{key}z"):
            headers = {"Idempotency-Key": sent}
            responses = [
                await client.get("/tags", headers={"X-Request-Id": sent}),
                await client.post("/tag-categories", json={"name": "One"}, headers=headers),
            ]

            assert [response.status_code for response in responses] == [200, 400]
            assert list(details_of(responses[1])["fields"]) == ["Idempotency-Key"]
            assert key not in caplog.text + "".join(f"{one.headers} {one.text}" for one in responses)
        for sent in (key[:-1], key[1:], key.swapcase(), "x" * 64):
            if len(sent) <= 64:  # which is like the key alone
                response = await client.get("/tags", headers={"X-Request-Id": sent})
                assert response.headers["x-request-id"] == sent

    assert files_with(tmp_path, key) == []


async def test_the_key_of_the_run_has_a_rate_limit_of_its_own_and_ends_with_the_run(tmp_path: Path) -> None:
    settings = Settings(db=tmp_path / "limited.db", rate_limit=3, run_key=parse_run_key(RUN_KEY))
    app = create_app(settings)
    async with started(app):
        async with client_of(app, RUN_KEY) as client:
            statuses = [(await client.get("/tags")).status_code for _ in range(4)]
        async with client_of(app, await new_key_for(app)) as other:
            response = await other.get("/tags")
    for later in (None, parse_run_key(RUN_KEY[::-1])):
        app = create_app(structs.replace(settings, run_key=later))
        async with started(app), client_of(app, RUN_KEY) as client:
            statuses.append((await client.get("/tags")).status_code)

    assert statuses == [200, 200, 200, 429, 401, 401]
    assert response.headers["x-ratelimit-remaining"] == "2"


@pytest.mark.parametrize("key", [RUN_KEY, "short"])
def test_no_child_of_the_server_inherits_the_key_of_the_run(
    db: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("JOURNAL_RUN_KEY", key)

    CliRunner().invoke(cli, ["users", "list", "--db", str(db)])

    assert "JOURNAL_RUN_KEY" not in os.environ


def test_the_parent_in_the_documents_runs_as_it_is_written(db: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "embedding.md").read_text()
    (section,) = re.findall(r"^## From a desktop program\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    (example,) = re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
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
