"""What is told of a running service: its log, /health and /metrics (DECISIONS 36)."""

import fcntl
import os
import pty
import re
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from commands import PATIENCE, WITHOUT_TLS, Server, health, new_key, running
from conftest import client_of, new_key_for, started
from factories import create_account, create_category, error_of, send_file
from msgspec import structs
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from journal_api import __version__
from journal_api.app import create_app
from journal_api.database.schemas import VERSION
from journal_api.settings import LOG_LEVELS, Settings
from journal_api.values.api_keys import hashed


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def lines_of(server: Server) -> list[Any]:
    """The requests in the log of a server that has ended."""
    lines = [msgspec.json.decode(line) for line in server.err.read_bytes().splitlines()]
    assert all(line["time"].endswith("Z") and line["level"] for line in lines)
    return [line for line in lines if "method" in line]


# The log -----------------------------------------------------------------------------------------------


def test_each_request_is_a_line_of_json(db: Path) -> None:
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        asked = client.patch("/tags/12345", json={}, headers={"X-Request-Id": "mine"})
        client.get(f"{server.url}/nothing/to/see")
        httpx.post(
            f"{server.url}/v1/tags",
            headers={"Authorization": "Bearer wrong"},
            timeout=PATIENCE,
            verify=WITHOUT_TLS,
        )
        server.stop()

    first, second, third = lines_of(server)[-3:]
    assert asked.status_code == 404
    assert {**first, "time": 0, "ms": 0} == {
        "time": 0,
        "level": "info",
        "method": "PATCH",
        "route": "/v1/tags/{id}",
        "status": 404,
        "ms": 0,
        "request_id": "mine",
        "key": key[-4:],
    }
    assert 0 < first["ms"] < 1000 * PATIENCE
    assert (second["method"], second["route"], second["status"], second["key"]) == ("GET", None, 404, None)
    assert (third["route"], third["status"], third["key"]) == ("/v1/tags", 401, None)


@pytest.mark.parametrize("level", LOG_LEVELS)
def test_nothing_that_a_client_sent_stands_in_the_log_but_the_id_of_the_request(db: Path, level: str) -> None:
    key = new_key(db)
    hashes = [hashed(key).hex(), str(hashed(key))[2:-1].replace("\\", "\\\\")]
    secret = "4815162342"
    with running(db, JOURNAL_LOG_LEVEL=level) as server, server.client(key) as client:
        client.get("/trades", params={"symbol": secret})
        client.get("/trades", params={"limit": secret})
        client.get(f"/tags/{secret}")
        client.get(f"/{secret}")
        client.post("/tag-categories", json={"name": secret})
        client.post("/tag-categories", json={"name": secret})
        client.post("/tag-categories", content=f'{{"name": {secret}')
        client.post("/tag-categories", headers={"Idempotency-Key": secret}, json={"name": f"{secret} 2"})
        client.post(f"/imports?account_id=1&file_name={secret}", content=f"a,b\n{secret},1\n")
        client.get("/tags", headers={"Host": f"{secret}.example"})
        client.get("/tags", headers={"Authorization": f"Bearer {secret}"})
        server.stop()

    said = server.err.read_text()
    if level in ("debug", "info"):
        assert len(lines_of(server)) >= 11
    assert [text for text in (secret, key, *hashes, "SELECT") if text in said] == []


def test_what_never_became_a_request_is_a_line_too(db: Path) -> None:
    with running(db) as server:
        refused = httpx.get(
            f"{server.url}/health", headers={"X-Long": "x" * 70_000}, timeout=PATIENCE, verify=WITHOUT_TLS
        )
        server.stop()

    told = lines_of(server)[-1]
    assert (refused.status_code, told["status"], told["route"]) == (400, 400, None)
    assert told["request_id"] == refused.headers["x-request-id"]


def test_a_bug_is_told_with_its_traceback_and_its_request(db: Path) -> None:
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        with closing(sqlite3.connect(db)) as other:
            other.execute("DROP TABLE tags")
        broken = client.get("/tags")
        server.stop()

    bug, request = [msgspec.json.decode(line) for line in server.err.read_bytes().splitlines()][-6:-4]
    assert error_of(broken) == (500, "internal_error")
    assert (bug["level"], bug["logger"], request["status"]) == ("error", "journal_api", 500)
    assert "no such table: tags" in bug["exception"]
    assert request["request_id"] in bug["message"]


def test_on_a_terminal_it_is_for_people(db: Path) -> None:
    key = new_key(db)
    ours, theirs = pty.openpty()
    with running(db, stderr=theirs) as server:
        os.close(theirs)
        with server.client(key) as client:
            client.get("/tags")
        server.stop()
        said = read_all(ours)

    assert re.search(
        rf"^\d\d:\d\d:\d\d GET /v1/tags 200 \d+\.\d ms req_[0-9a-f]{{16}} key {key[-4:]}\r$", said, re.M
    )


def read_all(descriptor: int) -> str:
    """What was written to a terminal that nobody holds any more."""
    said = b""
    with closing(os.fdopen(descriptor, "rb", buffering=0)) as terminal:
        while True:
            try:
                said += terminal.read(65536)
            except OSError:  # how Linux says that the other end is closed
                return said.decode()


def test_at_another_level_requests_are_left_out(db: Path) -> None:
    read_end, write_end = os.pipe()
    with running(db, stderr=write_end, JOURNAL_LOG_LEVEL="warning") as server:
        os.close(write_end)
        health(server.url)
        server.stop()

    with open(read_end, "rb") as said:
        assert said.read() == b""


def test_a_log_that_nobody_reads_delays_no_answer_and_no_end(db: Path) -> None:
    read_end, write_end = os.pipe()
    room = fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096) if sys.platform == "linux" else 64 * 1024
    with (
        running(db, stderr=write_end) as server,
        httpx.Client(timeout=PATIENCE, verify=WITHOUT_TLS) as client,
    ):
        os.close(write_end)
        answers = [
            client.get(f"{server.url}/health", headers={"X-Request-Id": "x" * 64}).status_code
            for _ in range(room // 90)  # lines of twice as much
        ]
        code = server.stop(signal.SIGTERM)

    with open(read_end, "rb") as said:
        assert len(said.read()) < 2 * room
    assert (set(answers), code) == ({200}, 0)


def test_a_log_whose_reader_is_gone_delays_no_answer(db: Path) -> None:
    read_end, write_end = os.pipe()
    with running(db, stderr=write_end) as server:
        os.close(write_end)
        os.close(read_end)
        answers = [health(server.url).status_code for _ in range(3)]
        code = server.stop()

    assert (answers, code) == ([200] * 3, 0)


# /health -----------------------------------------------------------------------------------------------


async def health_of(app: Starlette) -> Any:
    async with client_of(app) as nobody:
        return (await nobody.get("http://localhost/health")).json()["data"]


async def test_health_tells_release_schema_and_that_it_can_write(app: Starlette) -> None:
    told = await health_of(app)

    assert told == {"status": "ok", "version": __version__, "schema": VERSION, "writable": True}


async def test_health_changes_nothing(app: Starlette, client: httpx.AsyncClient, settings: Settings) -> None:
    await create_category(client)
    log = settings.db.with_name(f"{settings.db.name}-wal")
    before = settings.db.read_bytes(), log.read_bytes()

    await health_of(app)

    assert (settings.db.read_bytes(), log.read_bytes()) == before


async def test_while_another_program_holds_the_file_it_is_not_writable(
    app: Starlette, settings: Settings
) -> None:
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        locked = await health_of(app)
        other.execute("ROLLBACK")
    after = await health_of(app)

    assert (locked["writable"], after["writable"]) == (False, True)


async def test_during_a_write_of_the_service_it_is_writable(app: Starlette) -> None:
    async with app.state.database.transaction():
        told = await health_of(app)

    assert told["writable"]


async def test_after_a_write_that_found_no_room_it_is_not_writable_until_there_is_some(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    refuse = app.state.database._writer._conn
    real = refuse.execute

    def full(sql: str, values: Any = ()) -> Any:
        if sql == "COMMIT":
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return real(sql, values)

    refuse.execute = full
    refused = await client.post("/tag-categories", json={"name": "No room"})
    told = [(await health_of(app))["writable"] for _ in range(2)]
    del refuse.execute
    healed = (await health_of(app))["writable"]

    assert error_of(refused) == (503, "storage_unavailable")
    assert (told, healed) == ([False, False], True)
    await create_category(client)


# /metrics ----------------------------------------------------------------------------------------------


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Each number under its name and the values of its labels, in the order of their names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_without_the_setting_there_are_no_metrics(client: httpx.AsyncClient) -> None:
    answer = await client.get("http://localhost/metrics")

    assert answer.status_code == 404


async def test_metrics_count_requests_by_route_and_status(settings: Settings) -> None:
    app = create_app(structs.replace(settings, metrics=True))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        await create_category(client)
        account = await create_account(client)
        for number in range(3):
            await client.get(f"/tags/{number}x")
        await client.delete("/tags/5")
        await send_file(client, "what is this", account["id"])

        answer = await client.get("http://localhost/metrics")
        size = settings.db.stat().st_size

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    told = samples(answer.text)
    assert told["journal_requests_total", "POST", "/v1/tag-categories", "201"] == 1
    assert told["journal_requests_total", "", "", "404"] == 3
    assert told["journal_requests_total", "DELETE", "/v1/tags/{id}", "404"] == 1
    assert told["journal_requests_total", "POST", "/v1/imports", "400"] == 1
    assert told["journal_request_seconds_count", "POST", "/v1/tag-categories"] == 1
    assert told["journal_info", str(VERSION), __version__] == 1
    assert told["journal_file_bytes", "database"] == size
    assert ("process_resident_memory_bytes",) in told


async def test_metrics_need_a_key(settings: Settings) -> None:
    app = create_app(structs.replace(settings, metrics=True))
    async with started(app), client_of(app) as nobody:
        refused = await nobody.get("http://localhost/metrics")

    assert error_of(refused) == (401, "unauthorized")
