"""Somebody else's lock and a disk without room: docs/reliability.md 8."""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import commands
import httpx
import pytest
from conftest import opened
from factories import A_FILE, A_TRADE, Client, error_of, unwrap
from journals import assert_sound
from proofs import SOAK

from journal_api.database import lock
from journal_api.settings import Settings

Write = tuple[str, str, Any]  # method, path, body
LOCKED_FOR = 10 if SOAK else 0.3  # seconds
SOON = {"database.database.MAX_WAIT": 0.2, "database.connections.BUSY_TIMEOUT": 0.05}


class Journal(NamedTuple):
    """A server at work, a client of it, and the file."""

    server: commands.Server
    client: httpx.Client
    db: Path


@contextmanager
def journal_in(folder: Path) -> Iterator[Journal]:
    """A server whose temporary files are in the same folder."""
    db = folder / "journal.db"
    key = commands.new_key(db)
    with commands.running(db, constants=SOON, TMPDIR=str(folder)) as server, server.client(key) as client:
        yield Journal(server, client, db)


def make_things(client: httpx.Client) -> dict[str, int]:
    """One of each kind, made before the trouble, by the names that paths and bodies have for their ids."""

    def new(path: str, **body: Any) -> int:
        return int(unwrap(client.post(path, json=body))["id"])

    category, account = new("/tag-categories", name="Psychology"), new("/accounts", name="Sim")
    things = {
        "category": category,
        "tag": new("/tags", name="FOMO", category_id=category),
        "strategy": new("/strategies", name="Breakout", setups=[{"name": "Flag"}]),
        "account": account,
        "trade": new("/trades", account_id=account, **A_TRADE),
        "goal": new("/goals", goal_name="Month", metric="net_pnl", target_value=1),
    }
    # A goal that is not up to date would have to be written before it can be read.
    unwrap(client.get(f"/goals/{things['goal']}/snapshots"))
    return things


def writes_of(things: dict[str, int]) -> list[Write]:
    """One of every kind, in an order in which all can be done."""
    return [
        ("POST", "/tag-categories", {"name": "Later"}),
        ("POST", "/tags", {"name": "Later", "category_id": things["category"]}),
        ("POST", "/strategies", {"name": "Later", "setups": [{"name": "Flag"}]}),
        ("POST", "/trades", {"account_id": things["account"], **A_TRADE}),
        ("PATCH", f"/strategies/{things['strategy']}", {"description": "Later", "setups": []}),
        ("PUT", f"/trades/{things['trade']}/tags", {"tag_ids": [things["tag"]]}),
        ("PATCH", f"/goals/{things['goal']}", {"target_value": 2}),
        ("DELETE", f"/tags/{things['tag']}", None),
    ]


DONE = [201, 201, 201, 201, 200, 200, 200, 204]  # the statuses of these writes without trouble


def send(client: httpx.Client, write: Write) -> httpx.Response:
    method, path, body = write
    return client.request(method, path, json=body)


def reads_of(things: dict[str, int]) -> list[str]:
    return [
        *("/tag-categories", "/tags", "/strategies", "/trades", "/goals", "/accounts", "/trades/export"),
        *(f"/strategies/{things['strategy']}", f"/trades/{things['trade']}"),
        f"/goals/{things['goal']}/snapshots",
    ]


def assert_refused(response: httpx.Response, code: str) -> None:
    assert error_of(response) == (503, code)
    assert int(response.headers["retry-after"]) > 0


def repeated(until: float, action: Callable[[], httpx.Response]) -> list[httpx.Response]:
    """The action, once at least, and again until that time."""
    found = [action()]
    while time.monotonic() < until:
        found.append(action())
    return found


def longest(found: list[httpx.Response]) -> float:
    return max(response.elapsed.total_seconds() for response in found)


@pytest.mark.promise(8)
def test_while_another_program_writes_writes_are_busy_and_reads_go_on_and_then_all_is_well(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    with journal_in(tmp_path) as (_, client, db):
        things = make_things(client)
        writes, reads = writes_of(things), cycle(reads_of(things))
        before = commands.dump(db)
        with commands.locked(db), ThreadPoolExecutor(len(writes)) as pool:
            until = time.monotonic() + LOCKED_FOR
            writers = [pool.submit(repeated, until, partial(send, client, write)) for write in writes]
            read = repeated(until, lambda: client.get(next(reads)))
            refused = [one for writer in writers for one in writer.result()]
            after = commands.dump(db)
        then = [send(client, write).status_code for write in writes]

    for response in refused:
        assert_refused(response, "busy")
    assert {response.status_code for response in read} == {200}
    assert after == before
    assert then == DONE
    assert_sound(db)
    record_observation(
        f"locked for {LOCKED_FOR} s: {len(refused)} writes of {len(writes)} kinds 503 busy (the slowest "
        f"after {longest(refused):.1f} s), 0 of them written; {len(read)} reads 200 (the slowest "
        f"{longest(read) * 1000:.0f} ms); then {len(then)} of {len(then)} done, no restart"
    )


def limit_files(server: commands.Server, largest: int | None) -> None:
    """Let no file of the server grow beyond that many bytes, None for no limit."""
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("only Linux can limit another process")
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    soft = resource.RLIM_INFINITY if largest is None else largest
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (soft, hard))


def send_large(client: httpx.Client, account: int) -> list[httpx.Response]:
    """What needs a temporary file: an upload, a body with an Idempotency-Key, an export."""
    header, row, *_ = A_FILE.splitlines()
    file = "\n".join([f"{header},notes", *[f"{row},{'x' * 9000}"] * 150])
    headers = {"Content-Type": "application/json", "Idempotency-Key": "once"}
    return [
        client.post(f"/imports?account_id={account}&dry_run=true", content=file),
        client.post("/tag-categories", content=b'{"name": "Large"}' + b" " * 1_100_000, headers=headers),
        client.get("/trades/export"),
    ]


@pytest.mark.promise(8)
def test_on_a_full_disk_writes_are_refused_and_reads_go_on_and_room_is_all_it_takes(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    with journal_in(tmp_path) as (server, client, db):
        things = make_things(client)
        trade = {**A_TRADE, "account_id": things["account"], "notes": "x" * 10_000}
        unwrap(client.post("/trades/bulk", json={"trades": [trade] * 30}))
        unwrap(client.get(f"/goals/{things['goal']}/snapshots"))
        writes, reads = writes_of(things), [path for path in reads_of(things) if "export" not in path]
        send_large(client, things["account"])  # Python looks but once for a folder for temporary files
        before = commands.dump(db)

        limit_files(server, 1024)  # no file of the server may grow
        refused = [send(client, write) for _ in range(5) for write in writes]
        without_file = send_large(client, things["account"])
        read = [client.get(path).status_code for _ in range(5) for path in reads]
        limit_files(server, None)
        after = commands.dump(db)
        then = [send(client, write).status_code for write in writes]
        with_file = send_large(client, things["account"])

        for response in refused + without_file:
            assert_refused(response, "storage_unavailable")
        assert ["TMPDIR" in response.json()["error"]["message"] for response in without_file] == [True] * 3
        assert set(read) == {200}
        assert after == before
        assert then == DONE
        assert [response.status_code for response in with_file] == [200, 201, 200]
        assert_sound(db)
    record_observation(
        f"no growth: {len(refused)} writes of {len(writes)} kinds 503 "
        f"storage_unavailable, 0 of them written; {len(read)} reads 200; with room again {len(then)} of "
        f"{len(then)} done, no restart, integrity ok"
    )


async def is_writable(client: Client) -> bool:
    return bool((await client.get("http://localhost/health")).json()["data"]["writable"])


async def post_category(client: Client, name: str) -> httpx.Response:
    return await client.post("/tag-categories", json={"name": name})


async def assert_only_reads_work(client: Client, reason: str) -> None:
    """Writes and reads that open the file again are refused for that reason."""
    opening = [await client.get(path) for path in ("/trades/export", "/reports", "/accounts?with=standing")]
    for response in (await post_category(client, "After"), *opening):
        assert_refused(response, "storage_unavailable")
        assert reason in response.json()["error"]["message"]
    assert not await is_writable(client)
    for path in ("/tag-categories", "/trades", "/changes"):  # each kind of connection
        assert (await client.get(path)).status_code == 200


async def test_damaged_pages_are_told_as_such_and_the_service_says_that_it_is_not_well(db: Path) -> None:
    commands.make_journal(db)
    commands.change(db, "INSERT INTO tag_categories VALUES (1, 1, 'Psychology', 'psychology', '', '', 0)")
    where = "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'tag_categories'"
    ((page, size),) = commands.rows(db, where)
    with db.open("r+b") as file:  # no connection is open
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)

    async with opened(Settings(db=db)) as client:
        before = await is_writable(client)
        refused = [await client.get("/tag-categories"), await post_category(client, "New")]
        after = await is_writable(client)
        others = (await client.get("/accounts")).status_code

    for response in refused:
        assert_refused(response, "storage_unavailable")
        assert "journal-api check" in response.json()["error"]["message"]
    assert (before, after, others) == (True, False, 200)


@pytest.mark.parametrize("what", ["replaced", "moved", "moved and linked back"])
@pytest.mark.promise(20)
async def test_nothing_is_written_to_a_file_that_is_not_the_journal_any_more(tmp_path: Path, what: str) -> None:
    db, other, away = (tmp_path / name for name in ("journal.db", "other.db", "away.db"))
    commands.make_journal(other)
    async with opened(Settings(db=db)) as client:
        await post_category(client, "Before")
        db.rename(away)
        if what == "replaced":
            other.rename(db)
        if what == "moved and linked back":
            db.symlink_to(away)
        await assert_only_reads_work(client, "moved, deleted or replaced")
        if what == "replaced":
            db.rename(other)
        away.replace(db)
        await post_category(client, "Then")

        assert await is_writable(client)

    assert commands.rows(db, "SELECT name FROM tag_categories ORDER BY id") == [("Before",), ("Then",)]
    assert commands.rows(other, "SELECT name FROM tag_categories") == []


@pytest.mark.parametrize("suffixes", [("-wal",), ("-shm",), ("-wal", "-shm")], ids=" ".join)
@pytest.mark.parametrize("what", ["deleted", "replaced by a copy"])
@pytest.mark.promise(20)
async def test_nothing_is_written_beside_a_log_that_is_not_the_opened_one_and_a_stop_keeps_what_was_written(
    db: Path, tmp_path: Path, what: str, suffixes: tuple[str, ...]
) -> None:
    async with opened(Settings(db=db)) as client:
        await post_category(client, "Before")
        for suffix in suffixes:
            file = tmp_path / f"journal.db{suffix}"
            if what == "deleted":
                file.unlink()
            else:
                shutil.copy(file, tmp_path / "copy")
                (tmp_path / "copy").rename(file)
        await assert_only_reads_work(client, "stop the service and start it again")
    async with opened(Settings(db=db)) as client:
        await post_category(client, "Then")

    assert commands.rows(db, "SELECT name FROM tag_categories ORDER BY id") == [("Before",), ("Then",)]
    assert_sound(db)


def test_a_command_beside_a_server_whose_log_was_deleted_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "LOG_TRIES", 1)
    with journal_in(tmp_path) as journal:
        unwrap(journal.client.post("/tag-categories", json={"name": "Before"}))
        (tmp_path / "journal.db-wal").unlink()

        line = commands.run_failing("backup", tmp_path / "copy.db", "--db", journal.db)
        checked = commands.command("check", "--db", journal.db)

    assert "has lost its log" in line
    assert checked.code == 1
    assert "has lost its log" in checked.out
    assert not (tmp_path / "copy.db").exists()


async def test_writes_go_on_whatever_other_programs_do_with_the_file_and_its_log(tmp_path: Path) -> None:
    db, named, file = tmp_path / "journal.db", tmp_path / "named.db", tmp_path / "trades.csv"
    commands.make_journal(named)
    db.symlink_to(named)
    (tmp_path / "backups").mkdir()
    file.write_text(A_FILE)
    besides: list[Callable[[], object]] = [
        partial(commands.run_ok, "check", "--db", db),
        partial(commands.run_ok, "backup", tmp_path / "backups", "--db", db),
        partial(commands.run_ok, "users", "add", "Ada", "--db", db),
        partial(commands.import_file, db, file),
        *(
            partial(commands.rows, db, sql)
            for sql in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(RESTART)")
        ),
    ]
    async with opened(Settings(db=db)) as client:
        for number, beside in enumerate(besides):
            await asyncio.to_thread(beside)
            unwrap(await post_category(client, f"New {number}"))

        assert await is_writable(client)
