"""What hostile requests get: never a 5xx, always the envelope."""

import asyncio
import json
import logging
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import BASE_URL, client_of, new_key_for, started
from factories import Client, create_strategy, create_tag, details_of, error_of, get_strategy, renamed, run_sql, unwrap
from operations import dump, path_of
from proofs import SOAK, examples
from saved_journals import for_rows
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from journal_api.app import create_app
from journal_api.repositories import strategies
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings

MIB = 1024 * 1024
PAGE = "http://localhost:5173"


WITH_BODY = [operation for operation in OPERATIONS if operation.body]


async def send_raw(
    app: Starlette, method: str, path: str, headers: list[tuple[bytes, bytes]], without: tuple[str, ...] = ()
) -> httpx.Response:
    """The answer to exactly those headers, without some that an HTTP client adds by itself."""
    async with client_of(app) as client:
        request = client.build_request(method, path, headers=headers)
        for name in without:
            del request.headers[name]
        return await client.send(request)


# Key -----------------------------------------------------------------------------------------------------

NEVER_ISSUED = b"tjk_0000000000000000000000000000001A68Am"


WRONG_AUTHORIZATION = {
    "none": [],
    "empty": [b""],
    "basic": [b"Basic %b"],
    "bearer-alone": [b"Bearer"],
    "key-alone": [b"%b"],
    "no-space": [b"Bearer%b"],
    "the-key-twice-with-a-comma": [b"Bearer %b,%b"],
    "two-headers": [b"Bearer %b", b"Bearer %b"],
    "two-schemes": [b"Bearer %b", b"Basic eDp5"],
    "100-kb-like-a-key": [b"Bearer " + NEVER_ISSUED + b"0" * 100_000],
    "byte-above-7f-after-the-key": [b"Bearer %b\xff"],
    "unknown": [b"Bearer " + NEVER_ISSUED],
}


async def test_a_key_sent_otherwise_is_401(app: Starlette) -> None:
    key = (await new_key_for(app)).encode()

    refused = {
        case: await send_raw(app, "GET", "/tags", [(b"authorization", value.replace(b"%b", key)) for value in values])
        for case, values in WRONG_AUTHORIZATION.items()
    }
    for name in ("api_key", "access_token", "key", "token", "authorization"):
        refused[name] = await send_raw(app, "GET", f"/tags?{name}={key.decode()}", [])

    errors = {case: (*error_of(one), one.headers["www-authenticate"]) for case, one in refused.items()}
    assert errors == dict.fromkeys(refused, (401, "unauthorized", "Bearer"))
    # The case of the scheme does not matter.
    assert (await send_raw(app, "GET", "/tags", [(b"authorization", b"bEARER " + key)])).status_code == 200


# Body ----------------------------------------------------------------------------------------------------

NOT_A_BODY = {
    "empty": b"",
    "truncated": b'{"name": "A"',
    "bom": b'\xef\xbb\xbf{"name": "A"}',
    "invalid-utf-8": b'{"name": "\xff"}',
    "invalid-utf-8-in-an-unknown-member": b'{"unknown": "\xff"}',
    "invalid-utf-8-after-the-document": b'{"name": "A"}\xff',
    "lone-high-surrogate": rb'{"name": "\ud800"}',
    "lone-surrogate-in-an-unknown-member": rb'{"unknown": "\ud800"}',
    "raw-control-character": b'{"name": "a\tb"}',
    "100000-arrays": b"[" * 100_000,
    "100000-levels-in-an-unknown-member": b'{"unknown":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "array": b"[]",
    "null": b"null",
}


@pytest.mark.usefixtures("unchanged")
async def test_what_is_not_a_json_object_is_400_and_changes_nothing(client: Client) -> None:
    answers = {
        (case, operation.path): await client.request(operation.method, path_of(operation, 1), content=content)
        for case, content in NOT_A_BODY.items()
        for operation in WITH_BODY
    }

    assert {case: error_of(answer) for case, answer in answers.items()} == dict.fromkeys(
        answers, (400, "validation_error")
    )


FREE_FORM = ["risk_rules", "exit_rules", "optimal_conditions"]
NOT_JSON_INSIDE = {
    "invalid-utf-8": b'{"a": "\xff"}',
    "invalid-utf-8-in-a-member": b'{"\xff": 1}',
    "lone-surrogate": rb'{"a": "\ud800"}',
    "lone-surrogate-in-a-member": rb'{"\ud800": 1}',
    "nan": b'{"a": NaN}',
    "leading-zero": b'{"a": 01}',
    "no-digit-after-the-point": b'{"a": 1.}',
    "trailing-comma": b'{"a": 1,}',
    "member-without-quotes": b"{a: 1}",
    "unknown-escape": rb'{"a": "\x41"}',
    "raw-control-character": b'{"a": "\x01"}',
    "half-a-pair-of-surrogates": rb'{"a":"\ud800\u0041"}',
    "array-that-does-not-end": b'{"a":[1,2}',
    "object-that-does-not-end": b'{"a":1',
    "object-that-ends-twice": b'{"a":1}}',
    "1000-levels": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "100000-levels": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}


async def test_what_is_not_json_inside_a_free_form_field_is_400_and_changes_nothing(
    app: Starlette, client: Client
) -> None:
    strategy = await create_strategy(client)
    before = dump(app)

    answers = {}
    for case, sent in NOT_JSON_INSIDE.items():
        for member in FREE_FORM:
            body = b'{"name": "New", "%b": %b}' % (member.encode(), sent)
            answers[case, member, "POST"] = await client.post("/strategies", content=body)
            answers[case, member, "PATCH"] = await client.patch(f"/strategies/{strategy['id']}", content=body)

    assert {case: error_of(answer) for case, answer in answers.items()} == dict.fromkeys(
        answers, (400, "validation_error")
    )
    assert dump(app) == before


async def parts(body: bytes) -> AsyncIterator[bytes]:
    """The body in parts of a MiB, which are sent without a Content-Length."""
    for start in range(0, len(body), MIB):
        yield body[start : start + MIB]


async def test_a_body_over_4_mib_is_413_and_one_of_4_mib_is_read(client: Client) -> None:
    body = b'{"name": "A"}'.ljust(4 * MIB)

    announced = await client.post("/tag-categories", content=b'{"name": "A"}', headers={"Content-Length": "9" * 5000})
    whole = await client.post("/tag-categories", content=body)
    chunked = await client.post("/tag-categories", content=parts(body.replace(b"A", b"B")))
    too_large = await client.post("/tag-categories", content=parts(body + b" "))

    assert [error_of(one) for one in (announced, too_large)] == [(413, "request_too_large")] * 2
    assert details_of(too_large) == {"max_bytes": 4 * MIB}
    assert (whole.status_code, chunked.status_code) == (201, 201)


OTHER_MEDIA = {
    "text": {"Content-Type": "text/plain"},
    "form": {"Content-Type": "application/x-www-form-urlencoded"},
    "multipart": {"Content-Type": "multipart/form-data; boundary=x"},
    "xml": {"Content-Type": "application/xml"},
    "utf-16": {"Content-Type": "application/json; charset=utf-16"},
    "latin-1": {"Content-Type": 'application/json; charset="iso-8859-1"'},
    "gzip": {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    "gzip-alone": {"Content-Encoding": "gzip"},
    "identity-then-gzip": {"Content-Encoding": "identity, gzip"},
}


@pytest.mark.usefixtures("unchanged")
async def test_a_body_that_says_it_is_not_plain_json_is_415_and_changes_nothing(client: Client) -> None:
    answers = {
        (case, operation.path): await client.request(
            operation.method, path_of(operation), content=b'{"name": "A"}', headers=headers
        )
        for case, headers in OTHER_MEDIA.items()
        for operation in WITH_BODY
    }

    assert {case: error_of(answer) for case, answer in answers.items()} == dict.fromkeys(
        answers, (415, "unsupported_media_type")
    )


PLAIN_JSON = [
    {},
    {"Content-Type": "application/json"},
    {"Content-Type": "application/json; charset=utf-8"},
    {"Content-Type": 'Application/JSON;charset="UTF-8"'},
    {"Content-Type": "application/json", "Content-Encoding": "identity"},
]


async def test_a_body_that_says_it_is_json_or_nothing_is_read_as_json(client: Client) -> None:
    answers = [
        await client.post("/tag-categories", content=f'{{"name": "{number}"}}', headers=headers)
        for number, headers in enumerate(PLAIN_JSON)
    ]

    assert [answer.status_code for answer in answers] == [201] * len(PLAIN_JSON)


async def test_a_body_on_get_or_delete_is_ignored(client: Client) -> None:
    tag = await create_tag(client)

    got = await client.request("GET", "/tags", content=b" " * (5 * MIB))
    deleted = await client.request(
        "DELETE", f"/tags/{tag['id']}", content=b"\xff", headers={"Content-Type": "text/plain"}
    )

    assert unwrap(got) == [tag]
    assert deleted.status_code == 204


# Large texts and strategies --------------------------------------------------------------------------------


async def test_a_name_of_4_mib_of_marks_to_be_put_in_order_is_refused_without_ordering_them() -> None:
    # The canonical order of n combining marks takes n^2 steps: hours, in which nobody else is answered.
    decoding = "from journal_api.values.types import Name; Name.decode('a' + '\\u0301\\u0316' * 2**20)"

    # In a process of its own, because nothing in this one could interrupt it.
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", decoding, stderr=asyncio.subprocess.PIPE)
    try:
        async with asyncio.timeout(10):
            _, stderr = await process.communicate()
    except TimeoutError:
        process.kill()
        _, stderr = await process.communicate()

    assert stderr.decode().endswith("ValueError: must be 1 to 255 characters\n")


def checklists(word: str) -> list[dict[str, Any]]:
    """50 setups of 100 confirmations, as many as there may be."""
    confirmations = [{"name": f"{word} {number}"} for number in range(100)]
    return [{"name": f"{word} {number}", "confirmations": confirmations} for number in range(50)]


@pytest.mark.promise(12)
async def test_50_times_100_are_replaced_and_renamed_in_one_patch_in_short_time(
    client: Client, record_observation: Callable[[str], None]
) -> None:
    strategy = await create_strategy(client, setups=checklists("Old"))
    times: dict[str, list[float]] = {"replaced": [], "renamed": []}
    client.event_hooks = {}  # to check the answer takes longer than to give it

    async def patch(how: str, setups: list[dict[str, Any]]) -> Any:
        content = json.dumps({"setups": setups}).encode()
        began = time.perf_counter()
        answer = await client.patch(f"/strategies/{strategy['id']}", content=content)
        times[how].append(time.perf_counter() - began)
        return unwrap(answer)["setups"]

    for attempt in range(examples(full=20, ci=1)):
        new = await patch("replaced", checklists(f"New {attempt}"))
        again = await patch("renamed", renamed(new))
        assert [len(setup["confirmations"]) for setup in new] == [100] * 50
        assert again == renamed(new)

    timings = [
        f"{how} in {min(taken) * 1000:.0f} ms at best, {statistics.median(taken) * 1000:.0f} in the middle"
        for how, taken in times.items()
    ]
    record_observation(
        f"50 setups of 100 confirmations in one PATCH, {len(times['renamed'])} times: {', '.join(timings)}"
    )
    if SOAK:
        assert max(min(taken) for taken in times.values()) < 0.150


async def test_a_text_that_was_stored_before_the_rule_is_still_answered(app: Starlette, client: Client) -> None:
    strategy = await create_strategy(client)
    await run_sql(app, "UPDATE strategies SET description = :old", {"old": "a\x01b"})

    patched = await client.patch(f"/strategies/{strategy['id']}", json={"name": "Other"})

    assert unwrap(patched)["description"] == "a\x01b"
    assert unwrap(patched) == await get_strategy(client, strategy["id"])


def strategy_of(characters: int, character: str = "x") -> dict[str, Any]:
    """A strategy whose descriptions have so many characters in sum."""
    lengths = [10_000] * (characters // 10_000) + [characters % 10_000]
    confirmations = [{"name": "C", "description": character * length} for length in lengths]
    setups = [confirmations[at : at + 100] for at in range(0, len(confirmations), 100)]
    return {"name": "Large", "setups": [{"name": "S", "confirmations": one} for one in setups]}


@for_rows("character", ["🔥", "\n"])
@pytest.mark.promise(22)
async def test_a_strategy_over_3_mib_in_sum_is_refused_and_nothing_of_it_written(
    app: Starlette, client: Client, character: str
) -> None:
    small = await create_strategy(client, "Small")
    bytes_each = len(json.dumps(character, ensure_ascii=False).encode()) - 2
    body = strategy_of(3 * MIB // bytes_each, character)

    refused = [
        await client.post("/strategies", json=body),
        await client.patch(f"/strategies/{small['id']}", json={"setups": body["setups"]}),
    ]

    assert [error_of(answer) for answer in refused] == [(400, "validation_error")] * 2
    assert [details_of(answer) for answer in refused] == [{"max_bytes": 3 * MIB}] * 2
    assert "3145728 bytes" in refused[0].json()["error"]["message"]
    assert [one["name"] for one in unwrap(await client.get("/strategies"))] == ["Small"]
    assert await get_strategy(client, small["id"]) == small


@pytest.mark.promise(22)
async def test_the_largest_strategy_can_be_sent_back_as_it_was_read_and_no_patch_makes_it_larger(
    client: Client,
) -> None:
    strategy = await create_strategy(client, **strategy_of(3 * MIB - 40_000))
    path, keep = f"/strategies/{strategy['id']}", [{"setup_id": setup["setup_id"]} for setup in strategy["setups"]]

    answer = await client.patch(path, content=json.dumps({"setups": strategy["setups"]}, indent=2))
    refused = await client.patch(path, json={"setups": [*keep, *strategy_of(40_000)["setups"]]})

    assert unwrap(answer) == strategy
    assert error_of(refused) == (400, "validation_error")
    assert len((read := await client.get(path)).content) > 3 * MIB - 20_000
    assert unwrap(read) == strategy


async def test_strategies_that_are_too_large_together_are_read_one_by_one(
    app: Starlette, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy = await create_strategy(client, **strategy_of(3 * MIB - 40_000))
    monkeypatch.setattr(strategies, "MAX_LIST", 3 * MIB)  # in place of 16 MiB, of six strategies
    whole = unwrap(await client.get("/strategies?with=setups"))
    await create_strategy(client, **{**strategy_of(40_000), "name": "One more"})

    refused = await client.get("/strategies?with=setups")

    assert whole == [strategy]
    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["fields"]["with"].endswith("; read each strategy by its id")


# A bug ---------------------------------------------------------------------------------------------------


@pytest.fixture
async def with_page(tmp_path: Path) -> AsyncIterator[Starlette]:
    """A journal that a page may call, with a bug."""

    async def bug(request: Request) -> Response:
        raise RuntimeError("the words of the bug")

    app = create_app(Settings(db=tmp_path / "journal.db", cors_origins=(PAGE,)))
    app.router.routes.append(Route("/v1/bug", bug, methods=["GET", "POST"]))
    async with started(app):
        yield app


INTERNALS = ["Traceback", "RuntimeError", "the words of the bug", ".py", "sqlite", "no such table", "SELECT"]


async def test_a_bug_is_logged_and_a_500_that_a_page_may_read_and_that_shows_no_internals(
    with_page: Starlette, caplog: pytest.LogCaptureFixture
) -> None:
    headers = [(b"origin", PAGE.encode()), (b"x-request-id", b"mine")]

    for method in ("GET", "POST"):
        with caplog.at_level(logging.ERROR):
            broken = await send_raw(with_page, method, "/bug", headers)

        assert error_of(broken) == (500, "internal_error")
        assert details_of(broken) == {}
        assert broken.headers["access-control-allow-origin"] == PAGE
        assert "origin" in broken.headers["vary"].lower()
        assert broken.headers["x-request-id"] == broken.json()["meta"]["request_id"] == "mine"
        assert not [word for word in INTERNALS if word in broken.text]
        (record,) = caplog.records
        assert "mine" in record.getMessage()
        assert record.exc_info is not None
        assert str(record.exc_info[1]) == "the words of the bug"
        caplog.clear()

    head = await send_raw(with_page, "HEAD", "/bug", [])
    assert (head.status_code, head.content) == (500, b"")


# Pages ---------------------------------------------------------------------------------------------------


# Every Host with every Origin on every path: a page elsewhere cannot drive this journal.
HOSTS_OF_THE_JOURNAL = [
    *(b"localhost", b"localhost:8000", b"LOCALHOST", b"LocalHost:1", b"127.0.0.1", b"127.0.0.1:65535"),
    *(b"[::1]", b"[::1]:8000", b"journal.example", b"journal.example:443", b"JOURNAL.example"),
]
HOSTS_OF_OTHERS: list[tuple[bytes, ...]] = [
    (),
    (b"localhost", b"localhost"),
    (b"localhost", b"evil.example"),
    (b"evil.example", b"journal.example"),
    (b"localhost evil.example",),
    ("l\u00f6calhost".encode(),),
    ("\uff4cocalhost".encode(),),
    (b"a" * 60_000,),
    *(
        (host,)
        for host in b"""
            evil.example EVIL.EXAMPLE:8000 evil.localhost localhost.evil.example localhost. localhost.:8000
            journal.example. evil.journal.example localhost@evil.example localhost:80@evil.example
            user:secret@localhost localhost,evil.example localhost/evil.example localhost#evil.example
            localhost%00 [localhost] * xn--lcalhost-n4a \xff\xfe 127.0.0.2 0.0.0.0 2130706433 127.1 0x7f.0.0.1
            127.0.0.1. ::1 [::ffff:127.0.0.1] [::1 [::] localhost:x localhost: localhost:-1 localhost:123456
            localhost:80:80 :80
            """.split()
    ),
    (b"localhost\t",),
    (b"",),
]
PAGES = [None, PAGE.encode(), b"http://evil.example", b"null", b"http://localhost:5173/"]
METHODS_OF_PAGES = ["GET", "POST", "OPTIONS"]
PATHS_OF_PAGES = ["/v1/tags", "/docs", "/health", "/openapi.json", "/nothing"][: examples(full=5, ci=2)]


@pytest.mark.promise(16)
async def test_a_strange_host_is_421_whatever_the_origin_and_only_the_page_of_the_settings_may_read(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    settings = Settings(db=tmp_path / "journal.db", allowed_hosts=("Journal.example",), cors_origins=(PAGE,))
    hosts = [*((host,) for host in HOSTS_OF_THE_JOURNAL), *HOSTS_OF_OTHERS]
    outcomes = {}

    app = create_app(settings)
    async with started(app), client_of(app, await new_key_for(app), "http://localhost") as client:
        for method, path, sent, origin in product(METHODS_OF_PAGES, PATHS_OF_PAGES, hosts, PAGES):
            answer = await client.send(request_of_a_page(client, method, path, sent, origin))
            readers = answer.headers.get_list("access-control-allow-origin")
            is_misdirected = answer.status_code == 421 and error_of(answer)[1] == "misdirected_request"
            outcomes[method, path, sent, origin] = is_misdirected, readers
            assert is_misdirected or answer.status_code != 421

    assert outcomes == {request: expected_of(*request[2:]) for request in outcomes}
    record_observation(
        f"{len(hosts)} hosts x {len(PAGES)} origins x {len(PATHS_OF_PAGES)} paths x {len(METHODS_OF_PAGES)} "
        f"methods: {len(outcomes)} requests, 421 to every strange host, only the page of the settings reads"
    )


def expected_of(hosts: tuple[bytes, ...], origin: bytes | None) -> tuple[bool, list[str]]:
    """Whether it is misdirected, and which pages may read the answer."""
    is_ours = len(hosts) == 1 and hosts[0] in HOSTS_OF_THE_JOURNAL
    return not is_ours, [PAGE] if is_ours and origin == PAGE.encode() else []


def request_of_a_page(
    client: Client, method: str, path: str, hosts: tuple[bytes, ...], origin: bytes | None
) -> httpx.Request:
    """With the key, so that nothing else keeps it out; OPTIONS as a browser asks before a PATCH."""
    headers = [(b"host", host) for host in hosts]
    if origin is not None:
        headers.append((b"origin", origin))
    if method == "OPTIONS":
        headers.append((b"access-control-request-method", b"PATCH"))
    request = client.build_request(method, path, headers=headers, content=b"{}" if method == "POST" else None)
    if not hosts:
        del request.headers["host"]
    return request


async def test_a_preflight_that_is_refused_is_answered_in_the_envelope(with_page: Starlette) -> None:
    good = {"Origin": PAGE, "Access-Control-Request-Method": "GET"}
    bad = {
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "BREW",
        "Access-Control-Request-Headers": "x-evil",
    }

    async with httpx.AsyncClient(transport=httpx.ASGITransport(with_page), base_url=BASE_URL) as page:
        refused = [await page.options("/tags", headers={**good, name: bad[name]}) for name in bad]

    assert [error_of(answer) for answer in refused] == [(400, "validation_error")] * 3
    for answer in refused:
        assert answer.json()["meta"]["request_id"] == answer.headers["x-request-id"]
