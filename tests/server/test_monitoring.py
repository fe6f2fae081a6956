"""What is told of a running service: its log, /health and /metrics (DECISIONS 35)."""

import errno
import fcntl
import logging
import os
import pty
import re
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import PATIENCE, Server, locked, new_key, read_terminal, running, wait_until
from conftest import client_of, new_key_for, started
from factories import Client, create_account, create_category, error_of, held_writes, send_file
from msgspec import structs
from prometheus_client.parser import text_string_to_metric_families
from sql_calls import every_sql_call
from starlette.applications import Starlette

from journal_api import __version__
from journal_api.app import create_app
from journal_api.database import connections
from journal_api.database.schemas import VERSION
from journal_api.server import log
from journal_api.server.log import BackgroundHandler, JsonFormatter, PlainFormatter, format_time
from journal_api.settings import Settings
from journal_api.values.api_keys import hash_key


def read_requests(server: Server) -> list[Any]:
    """The requests in the log of a server that has ended."""
    lines = [msgspec.json.decode(line) for line in server.err.read_bytes().splitlines()]
    assert all(line["time"].endswith("Z") and line["level"] for line in lines)
    return [line for line in lines if "method" in line]


def test_each_request_is_a_line_of_json(db: Path) -> None:
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        response = client.patch("/tags/12345", json={}, headers={"X-Request-Id": "mine"})
        client.get(f"{server.url}/nothing/to/see")
        client.post("/tags", headers={"Authorization": "Bearer wrong"})
        rejected = client.get("/tags", headers={"X-Long": "x" * 70_000})  # never becomes a request
        with closing(sqlite3.connect(db)) as other:
            other.execute("DROP TABLE tags")
        client.get("/tags")
        server.stop()

    first, second, third, fourth, fifth = read_requests(server)[-5:]
    assert response.status_code == 404
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
    assert (fourth["route"], fourth["status"]) == (None, 400)
    assert fourth["request_id"] == rejected.headers["x-request-id"]
    bugs = [msgspec.json.decode(line) for line in server.err.read_bytes().splitlines() if b"exception" in line]
    assert [(bug["level"], bug["logger"]) for bug in bugs] == [("error", "journal_api")]
    assert "no such table: tags" in bugs[0]["exception"]
    assert fifth["status"] == 500
    assert fifth["request_id"] in bugs[0]["message"]


@pytest.mark.parametrize("level", ["debug", "warning"])
def test_nothing_that_a_client_sent_stands_in_the_log_but_the_id_of_the_request(db: Path, level: str) -> None:
    key = new_key(db)
    hashes = [hash_key(key).hex(), str(hash_key(key))[2:-1].replace("\\", "\\\\")]
    secret = "4815162342"
    with running(db, JOURNAL_LOG_LEVEL=level) as server, server.client(key) as client:
        for path in (f"/trades?symbol={secret}", f"/trades?limit={secret}", f"/tags/{secret}", f"/{secret}"):
            client.get(path)
        for name in (secret, secret, f"{secret} 2"):
            client.post("/tag-categories", headers={"Idempotency-Key": name[:12]}, json={"name": name})
        client.post("/tag-categories", content=f'{{"name": {secret}')
        client.post(f"/imports?account_id=1&file_name={secret}", content=f"a,b\n{secret},1\n")
        client.get("/tags", headers={"Host": f"{secret}.example"})
        client.get("/tags", headers={"Authorization": f"Bearer {secret}"})
        server.stop()

    log = server.err.read_text()
    if level == "debug":
        assert len(read_requests(server)) >= 11
    assert [text for text in (secret, key, *hashes, "SELECT") if text in log] == []


def test_on_a_terminal_the_log_is_for_people(db: Path) -> None:
    key = new_key(db)
    ours, theirs = pty.openpty()
    with running(db, stderr=theirs) as server:
        os.close(theirs)
        with server.client(key) as client:
            client.get("/tags")
        server.stop()
        log = read_terminal(ours)

    assert re.search(rf"^\d\d:\d\d:\d\d GET /v1/tags 200 \d+\.\d ms req_[0-9a-f]{{16}} key {key[-4:]}\r$", log, re.M)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has small pipes")
@pytest.mark.parametrize("has_reader", [True, False])
def test_a_log_that_nobody_reads_delays_no_response_and_no_end(db: Path, has_reader: bool) -> None:
    read_end, write_end = os.pipe()
    room = fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    soon = {"server.log.CLOSE_TIMEOUT": 0.1}
    with running(db, stderr=write_end, constants=soon) as server, server.client("none") as client:
        os.close(write_end)
        if not has_reader:
            os.close(read_end)
        statuses = {
            client.get(f"{server.url}/health", headers={"X-Request-Id": "x" * 64}).status_code
            for _ in range(room // 90)  # lines of twice as much
        }
        code = server.stop(signal.SIGTERM)

    assert (statuses, code) == ({200}, 0)
    if has_reader:
        with open(read_end, "rb") as log:
            assert len(log.read()) < 2 * room


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1767225600, "2026-01-01T00:00:00.000Z"),
        (1767225600.0078125, "2026-01-01T00:00:00.007Z"),
        (1767225600.25, "2026-01-01T00:00:00.250Z"),
        (1767225600.9999, "2026-01-01T00:00:00.999Z"),
        (1767225601, "2026-01-01T00:00:01.000Z"),
    ],
)
def test_the_time_of_a_line_has_three_digits_of_a_second(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


@pytest.mark.parametrize(
    ("level", "text"), [(logging.INFO, "ready"), (logging.WARNING, "WARNING: ready"), (logging.ERROR, "ERROR: ready")]
)
def test_a_line_on_a_terminal_names_its_level_from_warnings_on(level: int, text: str) -> None:
    record = logging.LogRecord("journal_api", level, "", 0, "ready", None, None)
    assert PlainFormatter().format(record)[len("12:15:22 ") :] == text


def test_lines_are_written_again_once_a_full_disk_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    errors, write = [errno.ENOSPC], os.write

    def fail_at_first(descriptor: int, content: bytes) -> int:
        if errors:
            raise OSError(errors.pop(), "No space left on device")
        return write(descriptor, content)

    monkeypatch.setattr(log, "WRITE_INTERVAL", 0.01)
    monkeypatch.setattr(os, "write", fail_at_first)
    handler = BackgroundHandler(writing)
    for message in ("lost", "kept"):
        handler.emit(logging.makeLogRecord({"msg": message}))
        wait_until(lambda: not errors)
    handler.close()
    os.close(writing)

    with open(reading, "rb") as lines:
        assert lines.read() == b"kept\n"


def test_a_name_that_is_no_text_is_escaped_in_its_line() -> None:
    reading, writing = os.pipe()
    handler = BackgroundHandler(writing)
    handler.setFormatter(JsonFormatter())
    for message in (os.fsdecode(b"journal \xff.db"), "the next"):
        handler.emit(logging.makeLogRecord({"msg": message, "name": "journal"}))
    handler.close()
    os.close(writing)

    with open(reading, "rb") as lines:
        assert [msgspec.json.decode(line)["message"] for line in lines] == [r"journal \udcff.db", "the next"]


async def read_health(app: Starlette) -> Any:
    async with client_of(app) as anonymous:
        return (await anonymous.get("http://localhost/health")).json()["data"]


async def test_health_tells_release_schema_and_that_it_can_write_and_changes_nothing(
    app: Starlette, client: Client, settings: Settings
) -> None:
    await create_category(client)
    log = settings.db.with_name(f"{settings.db.name}-wal")
    before = settings.db.read_bytes(), log.read_bytes()

    health = await read_health(app)
    unless_asked_for = await client.get("http://localhost/metrics")

    assert error_of(unless_asked_for) == (404, "not_found")
    assert health == {"status": "ok", "version": __version__, "schema": VERSION, "writable": True}
    assert (settings.db.read_bytes(), log.read_bytes()) == before


async def test_it_is_writable_but_while_another_program_holds_the_file(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_TIMEOUT", 0.01)
    app = create_app(settings)
    async with started(app):
        with locked(settings.db):
            told = [(await read_health(app))["writable"]]
        told.append((await read_health(app))["writable"])
        async with held_writes(app.state.database):  # a write of the service itself
            told.append((await read_health(app))["writable"])

    assert told == [False, True, True]


async def test_after_a_write_that_found_no_room_it_is_not_writable_until_there_is_some(
    app: Starlette, client: Client
) -> None:
    def full(sql: str, values: list[Any], call: Callable[[], Any]) -> Any:
        if sql == "COMMIT":
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return call()

    with every_sql_call(full):
        refused = await client.post("/tag-categories", json={"name": "No room"})
        told = [(await read_health(app))["writable"] for _ in range(2)]
    healed = (await read_health(app))["writable"]

    assert error_of(refused) == (503, "storage_unavailable")
    assert (told, healed) == ([False, False], True)
    await create_category(client)


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Each number under its name and the values of its labels, in the order of their names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


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
        async with client_of(app) as anonymous:
            assert error_of(await anonymous.get("http://localhost/metrics")) == (401, "unauthorized")
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
