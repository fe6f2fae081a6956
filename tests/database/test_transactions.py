"""All or nothing: under errors of the database, under cancellations, and under requests at the same time."""

import asyncio
import sqlite3
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from copy import deepcopy
from functools import partial
from itertools import count, cycle
from typing import Any

import factories
import httpx
import pytest
from conftest import client_of, new_key_for, started
from factories import Client, error_of, run_sql, unwrap
from msgspec import structs
from operations import CHANGES, body_of, create_needs, documented_path_of, dump, for_each, path_of
from pictures import HEADERS, png
from proofs import examples
from sql_calls import every_sql_call
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.repositories import api_keys
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.web.operation import Operation

Send = Callable[[Client, Any], Awaitable[httpx.Response]]


async def post(client: Client, strategy: Any = None) -> httpx.Response:
    return await client.post("/strategies", json={"name": "new", "setups": factories.three_by_three("new")})


async def patch(client: Client, strategy: Any) -> httpx.Response:
    """One setup in place with confirmations in place, new and gone, one left out, two new ones."""
    first, second, _ = deepcopy(strategy["setups"])
    first["name"], first["confirmations"][0]["name"] = "patched", "patched"
    first["confirmations"][2] = {"name": "new"}
    setups = [first, {"setup_id": second["setup_id"], "confirmations": []}, *factories.three_by_three("new")[:2]]
    return await client.patch(f"/strategies/{strategy['id']}", json={"name": "patched", "setups": setups})


async def delete(client: Client, strategy: Any) -> httpx.Response:
    return await client.delete(f"/strategies/{strategy['id']}")


class Fault:
    """The SQL call of that number raises: before it does anything, or after it has done it."""

    def __init__(self, number: int, code: int | None, when: str) -> None:
        self.number, self.when = number, when
        self.numbers, self.reached = count(1), False
        self.error = sqlite3.OperationalError("injected")
        if code is not None:
            self.error.sqlite_errorcode = code

    def __call__(self, sql: str, values: list[Any], call: Callable[[], Any]) -> Any:
        if next(self.numbers) != self.number:
            return call()
        self.reached = True
        if self.when == "after" and sql != "COMMIT":
            call().fetchall()
        raise self.error


def calls(step: int = 1) -> Iterator[tuple[int, str]]:
    """The number of an SQL call, and when the error comes: before and after each, or by turns at every `step`-th."""
    if step > 1:
        return zip(count(1, step), cycle(("before", "after")))
    return ((number, when) for number in count(1) for when in ("before", "after"))


WRITES = [operation for operation in OPERATIONS if operation.method != "GET"]
EVERY = examples(full=1, ci=11)


async def change(client: Client, operation: Operation, ids: dict[str, Any]) -> httpx.Response:
    """Send the operation about the object of its kind, so that something changes."""
    path = path_of(operation, ids.get(path_of(operation).split("/")[1]))
    if operation.consumes_picture:
        return await client.post(path, content=png(5, 5), headers=HEADERS)
    if operation.consumes_file:
        return await factories.send_file(client, factories.A_FILE.replace("ES", "NQ"), account_id=1)
    body = CHANGES.get(operation.name, body_of(operation))
    return await client.request(operation.method, path, json=body)


@pytest.mark.soak
@pytest.mark.promise(3)
@for_each(WRITES, rewind=True)
async def test_every_operation_that_finds_the_disk_full_at_any_sql_call_leaves_everything_as_it_was(
    app: Starlette,
    client: Client,
    one_of_each: dict[str, Any],
    operation: Operation,
    record_observation: Callable[[str], None],
) -> None:
    client.headers.pop("Idempotency-Key", None)
    await create_needs(client, operation)
    if operation.method == "POST":  # stored with the response, in the same transaction
        client.headers["Idempotency-Key"] = "the-same"
    before = dump(app)

    for number, when in calls(EVERY):
        await client.get("/me")  # so that the key is known, and a number is the same call each time
        fault = Fault(number, sqlite3.SQLITE_FULL, when)
        with every_sql_call(fault):
            response = await change(client, operation, one_of_each)
        if not fault.reached:
            break

        assert error_of(response) == (503, "storage_unavailable")
        assert dump(app) == before

    assert response.status_code in operation.success_statuses
    assert dump(app) != before
    record_observation(
        f"{operation.method} {documented_path_of(operation)}: the disk full at "
        f"{(number - 1) // EVERY} SQL calls, the dump the same"
    )


async def test_an_error_while_reading_is_answered_and_the_next_read_works(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, look_up = f"/strategies/{(await factories.create_strategy(client))['id']}", api_keys.find_by_hash

    for number in count(1):
        await factories.create_category(client, f"{number}")  # after a write the key is looked up again
        fault = Fault(number, sqlite3.SQLITE_IOERR, "before")
        monkeypatch.setattr(api_keys, "find_by_hash", lambda *key, fault=fault: fault("", [], partial(look_up, *key)))
        with every_sql_call(fault):
            failed = await client.get(path)
        if not fault.reached:
            break

        assert error_of(failed) == (503, "storage_unavailable")
        assert (await client.get(path)).status_code == 200

    assert number > 2


class Cancellation:
    """The SQL call during which the request is cancelled, once or more often, before the call goes on."""

    def __init__(self, number: int, times: int) -> None:
        self.number, self.times, self.numbers = number, times, count(1)
        self.loop = asyncio.get_running_loop()
        self.task: asyncio.Future[httpx.Response] = self.loop.create_future()
        self.sql = ""

    def __call__(self, sql: str, values: list[Any], call: Callable[[], Any]) -> Any:
        if next(self.numbers) == self.number:
            self.sql = sql
            cancelled = threading.Event()
            self.loop.call_soon_threadsafe(self.cancel, self.times, cancelled)
            cancelled.wait(10)
        return call()

    def cancel(self, times: int, cancelled: threading.Event) -> None:
        """Each time in an iteration of the loop of its own, so that the task has noticed before the call."""
        self.task.cancel()
        then = partial(self.cancel, times - 1, cancelled) if times > 1 else cancelled.set
        self.loop.call_soon(self.loop.call_soon, then)


def without_times(tables: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The dump without created_at and updated_at of strategies, and without the order and time of changes."""
    changes = sorted(row[2:-1] for row in tables["changed_objects"])
    return {**tables, "strategies": [row[:-2] for row in tables["strategies"]], "changed_objects": changes}


@pytest.mark.parametrize(
    ("send", "names"), [(post, ["new", "old"]), (patch, ["patched"]), (delete, [])], ids=["post", "patch", "delete"]
)
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.promise(5)
async def test_a_request_cancelled_during_any_sql_call_is_done_whole_or_not_at_all(
    app: Starlette,
    client: Client,
    send: Send,
    names: list[str],
    times: int,
    record_observation: Callable[[str], None],
) -> None:
    strategy = await factories.create_strategy(client, "old", setups=factories.three_by_three("old"))
    bystander = f"/strategies/{(await factories.create_strategy(client, 'bystander'))['id']}"

    for number in count(1):
        before = dump(app)
        cancellation = Cancellation(number, times)
        with every_sql_call(cancellation):
            cancellation.task = asyncio.ensure_future(send(client, strategy))
            await asyncio.wait([cancellation.task])
            works = await client.patch(bystander, json={"description": f"after {number}"})

        assert works.status_code == 200
        await client.patch(bystander, json={"description": None})
        if cancellation.sql == "COMMIT":
            break
        assert cancellation.task.cancelled()
        assert without_times(dump(app)) == without_times(before)

    # A cancellation upon the commit is too late: what is written is answered as done.
    assert number > 5
    assert cancellation.task.result().is_success
    assert not await run_sql(app, "PRAGMA foreign_key_check")
    assert [item["name"] for item in unwrap(await client.get("/strategies"))] == ["bystander", *names]
    record_observation(
        f"{send.__name__.upper()} strategy 3 x 3 cancelled {times} x during each of {number} SQL calls: "
        "nothing written before the commit, the next write works"
    )


@pytest.mark.promise(4)
@pytest.mark.parametrize("kind", ["strategies", "strategies with room for one", "categories", "tags", "renames"])
async def test_of_50_writes_that_exclude_each_other_one_wins(
    settings: Settings, kind: str, record_observation: Callable[[str], None]
) -> None:
    app = create_app(structs.replace(settings, max_strategies=3 if "room" in kind else 0))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        category = await factories.create_category(client)
        made = [await factories.create_strategy(client, f"S{n}") for n in range(50 if kind == "renames" else 2)]
        sends: dict[str, Callable[[int], Awaitable[httpx.Response]]] = {
            "strategies": lambda number: post(client),
            "strategies with room for one": lambda n: client.post("/strategies", json={"name": f"new {n}"}),
            "categories": lambda number: client.post("/tag-categories", json={"name": "Same"}),
            "tags": lambda n: client.post("/tags", json={"name": "Same", "category_id": category["id"]}),
            "renames": lambda n: client.patch(f"/strategies/{made[n]['id']}", json={"name": "Same"}),
        }

        responses = await asyncio.gather(*(sends[kind](number) for number in range(50)))

        stored = [await factories.get_strategy(client, item["id"]) for item in unwrap(await client.get("/strategies"))]
        (confirmations,) = await run_sql(app, "SELECT count(*) FROM confirmations")
    refusal = (429, "limit_reached") if "room" in kind else (409, "duplicate_name")
    assert Counter(one.status_code for one in responses) == {200 if kind == "renames" else 201: 1, refusal[0]: 49}
    assert {error_of(one) for one in responses if not one.is_success} == {refusal}
    assert len(stored) == len(made) + ("strategies" in kind)
    assert confirmations == (9 if kind == "strategies" else 0,)
    record_observation(f"50 {kind} at once: one done, 49 refused with {refusal[0]}")


READS, UPDATES, READERS = examples(10_000, 200), examples(20, 4), examples(4, 2)


@pytest.mark.promise(4)
async def test_a_reader_sees_a_strategy_before_or_after_an_update_and_nothing_between(
    client: Client, record_observation: Callable[[str], None]
) -> None:
    path = f"/strategies/{(await factories.create_strategy(client, 'A', setups=factories.three_by_three('A')))['id']}"
    bodies = cycle({"name": word, "setups": factories.three_by_three(word)} for word in "BA")
    read: Counter[str] = Counter()
    updates = 0

    def goes_on() -> bool:
        """Whether too few were read, or, on a busy machine, one of the two not yet."""
        return read.total() < READS or updates < UPDATES or (len(read) < 2 and updates < 1000)

    async def flip() -> None:
        nonlocal updates
        while goes_on():
            assert (await client.patch(path, json=next(bodies))).status_code == 200
            updates += 1

    async def look() -> None:
        while goes_on():
            found = unwrap(await client.get(path))
            assert factories.is_whole(found)
            read[found["name"]] += 1

    await asyncio.gather(flip(), *(look() for _ in range(READERS)))

    assert set(read) == {"A", "B"}
    record_observation(
        f"{read.total()} reads during {updates} updates between A and B: {read['A']} all A, {read['B']} all "
        "B, 0 of both"
    )
