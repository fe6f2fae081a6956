"""What hostile requests get: never a 5xx, always the envelope."""

import asyncio
import json
import logging
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
from asgi_lifespan import LifespanManager
from conftest import BASE_URL, client_of, new_key_for
from factories import (
    A_TRADE,
    create_account,
    create_category,
    create_copy_group,
    create_goal,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    get_strategy,
    insert_account,
    insert_copy_group,
    run_sql,
    send_file,
    unwrap,
)
from operations import body_of, create_thing_of
from proofs import SOAK, tries
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from journal_api.app import create_app
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings, SettingsError
from journal_api.web.operation import Operation

MIB = 1024 * 1024
PAGE = "http://localhost:5173"


def path_of(operation: Operation, row_id: str = "1") -> str:
    """Its path below the base address, with that id in it."""
    return re.sub(r"\{\w+:\w+\}", row_id, operation.path).removeprefix("/v1")


def named(operations: list[Operation]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "operation", operations, ids=[f"{operation.method} {operation.path}" for operation in operations]
    )


every_operation_with_a_body = named([operation for operation in OPERATIONS if operation.body])
every_operation_with_a_query = named([operation for operation in OPERATIONS if operation.query])


async def nothing_written(app: Starlette) -> bool:
    """Whether the journal is as it was made: its owner, and keys."""
    rows = await run_sql(
        app,
        """
        SELECT (SELECT count(*) FROM tag_categories) + (SELECT count(*) FROM tags)
            + (SELECT count(*) FROM strategies) + (SELECT count(*) FROM setups)
            + (SELECT count(*) FROM goals) + (SELECT count(*) FROM users WHERE name <> 'owner')
            + (SELECT count(*) FROM accounts) + (SELECT count(*) FROM copy_groups)
            + (SELECT count(*) FROM trades)
        """,
    )
    return rows == [(0,)]


async def asked(
    app: Starlette,
    method: str,
    path: str,
    headers: list[tuple[bytes, bytes]],
    without: tuple[str, ...] = (),
) -> httpx.Response:
    """The answer to exactly those headers, without some that an HTTP client adds by itself."""
    async with client_of(app) as client:
        request = client.build_request(method, path, headers=headers)
        for name in without:
            del request.headers[name]
        return await client.send(request)


# Key -----------------------------------------------------------------------------------------------------

NEVER_ISSUED = b"tjk_0000000000000000000000000000001A68Am"


@pytest.mark.parametrize(
    "values",
    [
        [],
        [b""],
        [b"Basic %b"],
        [b"Bearer"],
        [b"Bearer "],
        [b"%b"],
        [b"Bearer%b"],
        [b"Bearer %b %b"],
        [b"Bearer %b,%b"],
        [b"Bearer two words"],
        [b"Bearer %b", b"Bearer %b"],
        [b"Bearer %b", b"Basic eDp5"],
        [b"Bearer " + b"a" * 100_000],
        [b"Bearer " + NEVER_ISSUED + b"0" * 100_000],
        [b"Bearer %b\xff"],
        [b"Bearer \xe2\x98\x83"],
        [b"Bearer " + NEVER_ISSUED],
        [b'Bearer "%b"'],
    ],
    ids=[
        "none",
        "empty",
        "basic",
        "bearer-alone",
        "bearer-and-a-space",
        "key-alone",
        "no-space",
        "the-key-twice",
        "the-key-twice-with-a-comma",
        "two-words",
        "two-headers",
        "two-schemes",
        "100-kb",
        "100-kb-like-a-key",
        "byte-above-7f-after-the-key",
        "bytes-above-7f",
        "unknown",
        "quoted",
    ],
)
async def test_a_key_sent_otherwise_is_401(app: Starlette, values: list[bytes]) -> None:
    key = (await new_key_for(app)).encode()
    headers = [(b"authorization", value.replace(b"%b", key)) for value in values]

    refused = await asked(app, "GET", "/tags", headers)

    assert error_of(refused) == (401, "unauthorized")
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("name", ["api_key", "access_token", "key", "token", "authorization"])
async def test_a_key_in_the_query_string_is_401(app: Starlette, name: str) -> None:
    key = await new_key_for(app)

    refused = await asked(app, "GET", f"/tags?{name}={key}", [])

    assert error_of(refused) == (401, "unauthorized")


@pytest.mark.parametrize("scheme", [b"bearer", b"BEARER", b"Bearer"])
async def test_the_case_of_the_scheme_does_not_matter(app: Starlette, scheme: bytes) -> None:
    key = (await new_key_for(app)).encode()

    answer = await asked(app, "GET", "/tags", [(b"authorization", scheme + b" " + key)])

    assert answer.status_code == 200


# Body ----------------------------------------------------------------------------------------------------

NOT_A_BODY = {
    "empty": b"",
    "blank": b" \r\n\t ",
    "truncated": b'{"name": "A"',
    "truncated-in-a-string": b'{"name": "A',
    "trailing-comma": b'{"name": "A",}',
    "comment": b'{"name": "A"} // why not',
    "comment-inside": b'{/* why not */ "name": "A"}',
    "nan": b'{"name": NaN}',
    "infinity": b'{"name": Infinity}',
    "minus-infinity": b'{"name": -Infinity}',
    "leading-zero": b'{"name": 01}',
    "bom": b'\xef\xbb\xbf{"name": "A"}',
    "utf-16": '{"name": "A"}'.encode("utf-16"),
    "utf-16-be": '{"name": "A"}'.encode("utf-16-be"),
    "two-documents": b"{}{}",
    "two-good-documents": b'{"name": "A"}{"name": "A"}',
    "single-quotes": b"{'name': 'A'}",
    "invalid-utf-8": b'{"name": "\xff"}',
    "invalid-utf-8-overlong": b'{"name": "\xc0\xaf"}',
    "invalid-utf-8-surrogate": b'{"name": "\xed\xa0\x80"}',
    "invalid-utf-8-in-a-member": b'{"\xff": "A"}',
    "invalid-utf-8-in-an-unknown-member": b'{"unknown": "\xff"}',
    "invalid-utf-8-after-the-document": b'{"name": "A"}\xff',
    "lone-high-surrogate": rb'{"name": "\ud800"}',
    "lone-low-surrogate": rb'{"name": "\udc00"}',
    "surrogates-the-wrong-way-round": rb'{"name": "\udc00\ud800"}',
    "lone-surrogate-in-a-member": rb'{"\ud800": 1}',
    "lone-surrogate-in-an-unknown-member": rb'{"unknown": "\ud800"}',
    "raw-control-character": b'{"name": "a\tb"}',
    "raw-nul": b'{"name": "a\x00b"}',
    "unknown-escape": rb'{"name": "\x41"}',
    "100000-arrays": b"[" * 100_000,
    "100000-arrays-closed": b"[" * 100_000 + b"]" * 100_000,
    "100000-objects": b'{"name":' * 100_000 + b"1" + b"}" * 100_000,
    "100000-levels-in-a-name": b'{"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100000-levels-in-an-unknown-member": b'{"unknown":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "array": b"[]",
    "string": b'"x"',
    "null": b"null",
    "number": b"5",
    "true": b"true",
}


@pytest.mark.parametrize("content", NOT_A_BODY.values(), ids=NOT_A_BODY.keys())
async def test_what_is_not_a_json_object_is_400_and_writes_nothing(
    app: Starlette, client: httpx.AsyncClient, content: bytes
) -> None:
    with_body = [operation for operation in OPERATIONS if operation.body]

    answers = [await client.request(one.method, path_of(one), content=content) for one in with_body]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * len(with_body)
    assert await nothing_written(app)


FREE_FORM = ["risk_rules", "exit_rules", "optimal_conditions"]
NOT_JSON_INSIDE = {
    "invalid-utf-8": b'{"a": "\xff"}',
    "invalid-utf-8-in-a-member": b'{"\xff": 1}',
    "lone-surrogate": rb'{"a": "\ud800"}',
    "lone-low-surrogate": rb'{"a": "\udc00"}',
    "lone-surrogate-in-a-member": rb'{"\ud800": 1}',
    "nan": b'{"a": NaN}',
    "infinity": b'{"a": Infinity}',
    "leading-zero": b'{"a": 01}',
    "leading-plus": b'{"a": +1}',
    "no-digit-after-the-point": b'{"a": 1.}',
    "no-digit-before-the-point": b'{"a": .5}',
    "hexadecimal": b'{"a": 0x10}',
    "trailing-comma": b'{"a": 1,}',
    "trailing-comma-in-an-array": b'{"a": [1,]}',
    "comment": b'{"a": /* why not */ 1}',
    "member-without-quotes": b"{a: 1}",
    "unknown-escape": rb'{"a": "\x41"}',
    "half-an-escape": rb'{"a": "\u12"}',
    "raw-control-character": b'{"a": "\x01"}',
    "raw-nul": b'{"a": "\x00"}',
    "100000-levels": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}


@pytest.mark.parametrize("sent", NOT_JSON_INSIDE.values(), ids=NOT_JSON_INSIDE.keys())
async def test_what_is_not_json_inside_a_free_form_field_is_400_and_writes_nothing(
    client: httpx.AsyncClient, sent: bytes
) -> None:
    strategy = await create_strategy(client)
    bodies = [b'{"name": "New", "%b": %b}' % (member.encode(), sent) for member in FREE_FORM]

    answers = [await client.post("/strategies", content=body) for body in bodies]
    answers += [await client.patch(f"/strategies/{strategy['id']}", content=body) for body in bodies]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * 6
    assert [one["id"] for one in unwrap(await client.get("/strategies"))] == [strategy["id"]]
    assert await get_strategy(client, strategy["id"]) == strategy


async def test_of_duplicate_members_the_last_one_counts(client: httpx.AsyncClient) -> None:
    created = await client.post("/tag-categories", content=b'{"name": "First", "name": "Last"}')

    assert unwrap(created)["name"] == "Last"


@every_operation_with_a_body
@pytest.mark.parametrize("chunked", [False, True], ids=["content-length", "chunked"])
async def test_a_body_over_4_mib_is_413(
    client: httpx.AsyncClient, operation: Operation, chunked: bool
) -> None:
    async def in_parts() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b" " * MIB
        yield b"{"

    content = in_parts() if chunked else b" " * (4 * MIB) + b"{"

    refused = await client.request(operation.method, path_of(operation), content=content)

    assert ("transfer-encoding" in refused.request.headers) == chunked
    assert error_of(refused) == (413, "request_too_large")
    assert details_of(refused) == {"max_bytes": 4 * MIB}


async def test_a_body_that_announces_more_than_4_mib_is_413_unread(client: httpx.AsyncClient) -> None:
    headers = {"Content-Length": "9" * 5000}

    refused = await client.post("/tag-categories", content=b'{"name": "A"}', headers=headers)

    assert error_of(refused) == (413, "request_too_large")


@pytest.mark.parametrize("chunked", [False, True], ids=["content-length", "chunked"])
async def test_a_body_of_4_mib_is_read(client: httpx.AsyncClient, chunked: bool) -> None:
    body = b'{"name": "A"}'.ljust(4 * MIB)

    async def in_parts() -> AsyncIterator[bytes]:
        yield body[:-1]
        yield body[-1:]

    created = await client.post("/tag-categories", content=in_parts() if chunked else body)

    assert created.status_code == 201


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


@pytest.mark.parametrize("headers", OTHER_MEDIA.values(), ids=OTHER_MEDIA.keys())
async def test_a_body_that_says_it_is_not_plain_json_is_415(
    app: Starlette, client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    with_body = [operation for operation in OPERATIONS if operation.body]

    answers = [
        await client.request(one.method, path_of(one), content=b'{"name": "A"}', headers=headers)
        for one in with_body
    ]

    assert [error_of(answer) for answer in answers] == [(415, "unsupported_media_type")] * len(with_body)
    assert await nothing_written(app)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "application/json"},
        {"Content-Type": "application/json; charset=utf-8"},
        {"Content-Type": 'Application/JSON;charset="UTF-8"'},
        {"Content-Type": "application/json", "Content-Encoding": "identity"},
    ],
    ids=["absent", "json", "utf-8", "in-capitals", "identity"],
)
async def test_a_body_that_says_it_is_json_or_nothing_is_read_as_json(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    created = await client.post("/tag-categories", content=b'{"name": "A"}', headers=headers)

    assert created.status_code == 201


@pytest.mark.parametrize(
    "content", [b"{", b"\xff", b" " * (5 * MIB)], ids=["malformed", "not-utf-8", "over-4-mib"]
)
@pytest.mark.parametrize("media_type", ["application/json", "text/plain"])
async def test_a_body_on_get_or_delete_is_ignored(
    client: httpx.AsyncClient, content: bytes, media_type: str
) -> None:
    tag, headers = await create_tag(client), {"Content-Type": media_type}

    got = await client.request("GET", "/tags", content=content, headers=headers)
    deleted = await client.request("DELETE", f"/tags/{tag['id']}", content=content, headers=headers)

    assert unwrap(got) == [tag]
    assert deleted.status_code == 204


# Types ---------------------------------------------------------------------------------------------------

NOT_AN_ID = {
    "1.0": "1.0",
    "1e0": "1e0",
    "string": '"1"',
    "true": "true",
    "null": "null",
    "0": "0",
    "minus-0": "-0",
    "minus-1": "-1",
    "2^63": str(2**63),
    "2^64": str(2**64),
    "4000-digits": "1" * 4000,
    "5000-digits": "1" * 5000,
    "array": "[1]",
    "object": "{}",
}
# Method, path, the body around the id, the path of the id in `details.fields`.
GOAL = '"goal_name": "A", "metric": "net_pnl", "target_value": 1'
TRADE = json.dumps(A_TRADE)[1:-1]
IDS = [
    ("POST", "/tags", '{"name": "A", "category_id": %s}', "category_id"),
    ("PATCH", "/tags/1", '{"name": "A", "category_id": %s}', "category_id"),
    ("POST", "/strategies", '{"name": "A", "account_id": %s}', "account_id"),
    ("PATCH", "/strategies/1", '{"name": "A", "account_id": %s}', "account_id"),
    ("POST", "/strategies", '{"name": "A", "copy_group_id": %s}', "copy_group_id"),
    ("PATCH", "/strategies/1", '{"name": "A", "copy_group_id": %s}', "copy_group_id"),
    ("PATCH", "/strategies/1", '{"setups": [{"setup_id": %s}]}', "setups[0].setup_id"),
    (
        "PATCH",
        "/strategies/1",
        '{"setups": [{"name": "A", "confirmations": [{"confirmation_id": %s}]}]}',
        "setups[0].confirmations[0].confirmation_id",
    ),
    ("POST", "/goals", f'{{{GOAL}, "account_id": %s}}', "account_id"),
    ("POST", "/goals", f'{{{GOAL}, "copy_group_id": %s}}', "copy_group_id"),
    ("POST", "/copy-groups", '{"name": "A", "master_account_id": %s}', "master_account_id"),
    ("PATCH", "/copy-groups/1", '{"name": "A", "master_account_id": %s}', "master_account_id"),
    ("PUT", "/copy-groups/1/members", '{"members": [{"account_id": %s}]}', "members[0].account_id"),
    ("POST", "/trades", f'{{{TRADE}, "account_id": %s}}', "account_id"),
    ("PATCH", "/trades/1", '{"account_id": %s}', "account_id"),
    ("POST", "/trades/bulk", f'{{"trades": [{{{TRADE}, "account_id": %s}}]}}', "trades[0].account_id"),
    *(
        (method, path, f'{{{others}"{member}": %s}}', member)
        for method, path, others in (
            ("POST", "/trades", f'{TRADE}, "account_id": 1, '),
            ("PATCH", "/trades/1", ""),
        )
        for member in ("strategy_id", "setup_id", "source_trade_id")
    ),
    ("PUT", "/trades/1/tags", '{"tag_ids": [1, %s]}', "tag_ids[1]"),
    (
        "PUT",
        "/trades/1/confirmations",
        '{"confirmations": [{"confirmation_id": %s, "was_present": true}]}',
        "confirmations[0].confirmation_id",
    ),
]
# null is not an id, but it says that something is bound to nothing.
CLEARED = {"copy_group_id", "master_account_id", "strategy_id", "setup_id", "source_trade_id"}


def may_be_null(path: str, field: str) -> bool:
    return field in CLEARED or (field == "account_id" and not path.startswith("/trades"))


@pytest.mark.parametrize("text", NOT_AN_ID.values(), ids=NOT_AN_ID.keys())
async def test_what_is_not_an_id_is_400_and_named(
    app: Starlette, client: httpx.AsyncClient, text: str
) -> None:
    ids = [one for one in IDS if text != "null" or not may_be_null(one[1], one[3])]

    answers = [
        await client.request(method, path, content=body.replace("%s", text)) for method, path, body, _ in ids
    ]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * len(ids)
    assert [list(details_of(answer)["fields"]) for answer in answers] == [[field] for *_, field in ids]
    assert await nothing_written(app)


# Method, path, the body around the name, the path of the name in `details.fields`, its longest.
NAMES: list[tuple[str, str, Callable[[object], dict[str, Any]], str, int]] = [
    ("POST", "/tag-categories", lambda name: {"name": name}, "name", 50),
    ("PATCH", "/tag-categories/1", lambda name: {"name": name}, "name", 50),
    ("POST", "/tags", lambda name: {"name": name, "category_id": 1}, "name", 100),
    ("PATCH", "/tags/1", lambda name: {"name": name}, "name", 100),
    ("POST", "/strategies", lambda name: {"name": name}, "name", 255),
    ("PATCH", "/strategies/1", lambda name: {"name": name}, "name", 255),
    (
        "POST",
        "/strategies",
        lambda name: {"name": "A", "setups": [{"name": "B"}, {"name": name}]},
        "setups[1].name",
        255,
    ),
    ("PATCH", "/strategies/1", lambda name: {"setups": [{"name": name}]}, "setups[0].name", 255),
    (
        "POST",
        "/strategies",
        lambda name: {"name": "A", "setups": [{"name": "B", "confirmations": [{"name": name}]}]},
        "setups[0].confirmations[0].name",
        255,
    ),
    (
        "PATCH",
        "/strategies/1",
        lambda name: {"setups": [{"name": "B", "confirmations": [{"name": "C"}, {"name": name}]}]},
        "setups[0].confirmations[1].name",
        255,
    ),
    (
        "POST",
        "/goals",
        lambda name: {"goal_name": name, "metric": "net_pnl", "target_value": 1},
        "goal_name",
        100,
    ),
    ("PATCH", "/goals/1", lambda name: {"goal_name": name}, "goal_name", 100),
    ("POST", "/accounts", lambda name: {"name": name}, "name", 100),
    ("PATCH", "/accounts/1", lambda name: {"name": name}, "name", 100),
    ("POST", "/copy-groups", lambda name: {"name": name}, "name", 100),
    ("PATCH", "/copy-groups/1", lambda name: {"name": name}, "name", 100),
    ("PATCH", "/me", lambda name: {"name": name}, "name", 100),
]
every_name = pytest.mark.parametrize(
    ("method", "path", "around", "field", "longest"),
    NAMES,
    ids=[f"{method} {path} {field}" for method, path, _, field, _ in NAMES],
)

Around = Callable[[object], dict[str, Any]]
MakeThing = Callable[[httpx.AsyncClient], Awaitable[Any]]
MAKE: list[MakeThing] = [
    create_category,
    create_tag,
    create_strategy,
    create_goal,
    create_account,
    create_copy_group,
]


async def make_things(client: httpx.AsyncClient) -> None:
    """One thing of each kind, each with the id 1."""
    assert [(await make(client))["id"] for make in MAKE] == [1] * len(MAKE)


NOT_A_NAME: dict[str, object] = {
    "empty": "",
    "blank": "   ",
    "tab-and-newline": "\t\n",
    "ideographic-space": "\u3000",
    "no-break-space": "\u00a0",
    "nul": "a\u0000b",
    "nul-alone": "\u0000",
    "newline-inside": "a\nb",
    "tab-inside": "a\tb",
    "escape": "a\u001bb",
    "delete": "a\u007fb",
    "c1-control": "a\u0085b",
    "number": 5,
    "true": True,
    "null": None,
    "array": ["A"],
    "object": {},
}


@every_name
async def test_what_is_not_a_name_is_400_and_named(
    app: Starlette,
    client: httpx.AsyncClient,
    method: str,
    path: str,
    around: Around,
    field: str,
    longest: int,
) -> None:
    wrong = {**NOT_A_NAME, "one-over": "n" * (longest + 1), "one-emoji-over": "🔥" * (longest + 1)}

    answers = {title: await client.request(method, path, json=around(name)) for title, name in wrong.items()}

    told = {
        title: (error_of(answer), list(details_of(answer)["fields"])) for title, answer in answers.items()
    }
    assert told == dict.fromkeys(wrong, ((400, "validation_error"), [field]))
    assert await nothing_written(app)


async def test_a_name_of_4_mib_of_marks_to_be_put_in_order_is_refused_without_ordering_them() -> None:
    # The canonical order of n combining marks takes n^2 steps: hours, in which nobody else is answered.
    decoding = "from journal_api.values.types import Name; Name.decode('a' + '\\u0301\\u0316' * 2**20)"

    # In a process of its own, because nothing in this one could interrupt it.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", decoding, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(10):
            _, told = await process.communicate()
    except TimeoutError:
        process.kill()
        _, told = await process.communicate()

    assert told.decode().endswith("ValueError: must be 1 to 255 characters\n")


@every_name
@pytest.mark.parametrize("character", ["n", "🔥", "\u00e9"], ids=["letter", "emoji", "composed"])
async def test_a_name_of_the_longest_length_is_taken(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    around: Around,
    field: str,
    longest: int,
    character: str,
) -> None:
    await make_things(client)

    answer = await client.request(method, path, json=around(character * longest))

    assert answer.status_code == (201 if method == "POST" else 200)
    assert json.dumps(character * longest, ensure_ascii=False) in answer.text


@pytest.mark.parametrize("path", ["/tag-categories", "/tags", "/strategies", "/accounts", "/copy-groups"])
@pytest.mark.parametrize(("stored", "sent"), [("é", "e\u0301"), ("e\u0301", "é")], ids=["de", "composed"])
async def test_a_letter_composed_and_decomposed_is_one_name(
    client: httpx.AsyncClient, path: str, stored: str, sent: str
) -> None:
    extra = {"category_id": (await create_category(client))["id"]} if path == "/tags" else {}
    await client.post(path, json={"name": stored, **extra})

    refused = await client.post(path, json={"name": sent, **extra})

    assert error_of(refused) == (409, "duplicate_name")


@pytest.mark.parametrize(
    "color",
    ["#3b82f", "3b82f6", "#gggggg", "red", "#１２３４５６", "#3b82f6\n", "#3b82f66", "#3b82f6ff", "",
     " #3b82f6", "#3b82f6 ", "#fff", "#", 5, None, True, ["#3b82f6"]],
    ids=repr,
)  # fmt: skip
async def test_what_is_not_a_colour_is_400_and_named(client: httpx.AsyncClient, color: object) -> None:
    tag, strategy = await create_tag(client), await create_strategy(client)

    answers = [
        await client.post("/tags", json={"name": "New", "category_id": tag["category_id"], "color": color}),
        await client.patch(f"/tags/{tag['id']}", json={"color": color}),
        await client.post("/strategies", json={"name": "New", "color_tag": color}),
        await client.patch(f"/strategies/{strategy['id']}", json={"color_tag": color}),
    ]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * 4
    assert [list(details_of(answer)["fields"]) for answer in answers] == [["color"]] * 2 + [["color_tag"]] * 2
    assert unwrap(await client.get("/tags")) == [tag]
    assert await get_strategy(client, strategy["id"]) == strategy


@pytest.mark.parametrize(
    ("setups", "field"),
    [
        ([{"name": f"S{number}"} for number in range(51)], "setups"),
        (
            [{"name": "S"}, {"name": "T", "confirmations": [{"name": f"C{n}"} for n in range(101)]}],
            "setups[1].confirmations",
        ),
    ],
    ids=["51-setups", "101-confirmations"],
)
async def test_too_many_are_400_on_post_and_on_patch(
    client: httpx.AsyncClient, setups: list[Any], field: str
) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Kept"}])

    answers = [
        await client.post("/strategies", json={"name": "New", "setups": setups}),
        await client.patch(f"/strategies/{strategy['id']}", json={"setups": setups}),
    ]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * 2
    assert [list(details_of(answer)["fields"]) for answer in answers] == [[field]] * 2
    assert await get_strategy(client, strategy["id"]) == strategy


async def test_fifty_setups_of_a_hundred_confirmations_are_taken(client: httpx.AsyncClient) -> None:
    confirmations = [{"name": f"C{number}"} for number in range(100)]
    setups = [{"name": f"S{number}", "confirmations": confirmations} for number in range(50)]

    strategy = await create_strategy(client, setups=setups)

    assert strategy["setup_count"] == len(strategy["setups"]) == 50
    assert {len(setup["confirmations"]) for setup in strategy["setups"]} == {100}


def levels(depth: int) -> str:
    """Free-form JSON of that depth: arrays within one object."""
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def of_size(size: int) -> str:
    """Free-form JSON of that many bytes."""
    return '{"a":"' + "x" * (size - 8) + '"}'


@pytest.mark.parametrize("member", FREE_FORM)
@pytest.mark.parametrize(
    "sent",
    ["[]", '"x"', "5", "true", of_size(64 * 1024 + 1), levels(33), '{"a":' * 33 + "1" + "}" * 33],
    ids=["array", "string", "number", "true", "over-64-kib", "33-levels", "33-objects"],
)
async def test_a_free_form_field_that_is_no_object_or_beyond_its_limits_is_400(
    client: httpx.AsyncClient, member: str, sent: str
) -> None:
    strategy = await create_strategy(client)

    answers = [
        await client.post("/strategies", content=f'{{"name": "New", "{member}": {sent}}}'),
        await client.patch(f"/strategies/{strategy['id']}", content=f'{{"{member}": {sent}}}'),
    ]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * 2
    assert [list(details_of(answer)["fields"]) for answer in answers] == [[member]] * 2
    assert await get_strategy(client, strategy["id"]) == strategy


@pytest.mark.parametrize("member", FREE_FORM)
@pytest.mark.parametrize(
    "sent",
    [
        "{}",
        of_size(64 * 1024),
        levels(32),
        '{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{{{{{{{{"}',
        r'{"a":"\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\"}',
        '{"b":1.0,"a":100000000000000000000000000001,"b":1E400,"c":-0,"d":1e-7,"e":0.10}',
        r'{"a":"\u0000\u0041\/\ud83d\ude00é","\u0000":null,"":[]}',
    ],
    ids=["empty", "64-kib", "32-levels", "brackets", "escaped-quotes", "numbers", "escapes"],
)
async def test_a_free_form_field_within_its_limits_is_kept_token_by_token(
    client: httpx.AsyncClient, member: str, sent: str
) -> None:
    created = await client.post("/strategies", content=f'{{"name": "New", "{member}": {sent}}}'.encode())

    got = await client.get(f"/strategies/{unwrap(created)['id']}")

    assert created.status_code == 201
    assert f'"{member}":{sent}' in created.text
    assert f'"{member}":{sent}' in got.text


NOT_A_TARGET = {
    "0": "0",
    "0.0": "0.0",
    "minus-0.0": "-0.0",
    "1e-400": "1e-400",
    "1e400": "1e400",
    "minus-1e400": "-1e400",
    "over-10^10": "10000000000.1",
    "under-minus-10^10": "-10000000001",
    "30-digits": "1" * 30,
    "5000-digits": "1" * 5000,
    "16-digits": "1.234567890123456",
    "string": '"5"',
    "true": "true",
    "null": "null",
    "array": "[5]",
}


@pytest.mark.parametrize("text", NOT_A_TARGET.values(), ids=NOT_A_TARGET.keys())
async def test_what_is_not_a_target_is_400_and_named(client: httpx.AsyncClient, text: str) -> None:
    goal = await create_goal(client)

    answers = [
        await client.post(
            "/goals", content=f'{{"goal_name": "New", "metric": "net_pnl", "target_value": {text}}}'
        ),
        await client.patch(f"/goals/{goal['id']}", content=f'{{"target_value": {text}}}'),
    ]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * 2
    assert [list(details_of(answer)["fields"]) for answer in answers] == [["target_value"]] * 2
    assert unwrap(await client.get("/goals")) == [goal]


@pytest.mark.parametrize("text", ["1e400", "10000000000.1", '"5"', "true", "null"])
async def test_what_is_not_a_target_is_not_one_for_max_drawdown_either(
    client: httpx.AsyncClient, text: str
) -> None:
    refused = await client.post(
        "/goals", content=f'{{"goal_name": "New", "metric": "max_drawdown", "target_value": {text}}}'
    )

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["target_value"]


@pytest.mark.parametrize("text", ["0", "-0.0", "0e5"])
async def test_no_drawdown_is_a_target_of_max_drawdown(client: httpx.AsyncClient, text: str) -> None:
    created = await client.post(
        "/goals", content=f'{{"goal_name": "New", "metric": "max_drawdown", "target_value": {text}}}'
    )

    assert created.status_code == 201
    assert unwrap(created)["target_value"] == 0


# Path ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row_id",
    ["abc", "-1", "1.5", "0x1", quote("١٢"), "0", "0001", "1%0a", "%0a1", "1%00", "1%2f2", "1%20", "%201",
     "+1", "1_0", "1e0", "%EF%BC%91", "%ff", str(2**63), "9" * 19, "1" * 20, "1" * 4400,
     "1;2", "1,2", "{id}"],
)  # fmt: skip
async def test_what_is_not_an_id_in_a_path_is_404(client: httpx.AsyncClient, row_id: str) -> None:
    await make_things(client)
    with_id = [operation for operation in OPERATIONS if "{id" in operation.path]

    answers = [await client.request(one.method, path_of(one, row_id), json=body_of(one)) for one in with_id]

    assert [error_of(answer) for answer in answers] == [(404, "not_found")] * len(with_id)


async def test_the_largest_id_is_one_that_no_row_has(client: httpx.AsyncClient) -> None:
    await make_things(client)
    with_id = [operation for operation in OPERATIONS if "{id" in operation.path]

    answers = [
        await client.request(one.method, path_of(one, str(2**63 - 1)), json=body_of(one)) for one in with_id
    ]

    assert [error_of(answer) for answer in answers] == [(404, "not_found")] * len(with_id)


# Query ---------------------------------------------------------------------------------------------------

NOT_A_NUMBER = ["abc", "", "1.5", "1.0", "1e1", "1_0", "%2B5", "+5", "%207", "7%20", "%EF%BC%97", "%D9%A7",
                "007", "-0", "0x7", "7%00", "7%0a", "%ff", "true", "null", "9" * 5000]  # fmt: skip


@pytest.mark.parametrize("text", ["0", "-1", "366", str(2**63), *NOT_A_NUMBER])
async def test_a_limit_that_is_not_from_1_to_365_is_400(client: httpx.AsyncClient, text: str) -> None:
    goal = await create_goal(client)

    refused = await client.get(f"/goals/{goal['id']}/snapshots?limit={text}")

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["limit"]


@pytest.mark.parametrize("text", ["-1", str(2**63), *NOT_A_NUMBER])
async def test_an_offset_that_is_not_from_0_is_400(client: httpx.AsyncClient, text: str) -> None:
    goal = await create_goal(client)

    refused = await client.get(f"/goals/{goal['id']}/snapshots?offset={text}")

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == ["offset"]


@pytest.mark.parametrize("text", ["0", "-1", str(2**63), *NOT_A_NUMBER])
async def test_a_filter_that_is_not_an_id_is_400(client: httpx.AsyncClient, text: str) -> None:
    filters = [("/tags", "category_id"), ("/strategies", "account_id"), ("/strategies", "copy_group_id"),
               ("/goals", "account_id")]  # fmt: skip

    answers = [await client.get(f"{path}?{name}={text}") for path, name in filters]

    assert [error_of(answer) for answer in answers] == [(400, "validation_error")] * len(filters)
    assert [list(details_of(answer)["fields"]) for answer in answers] == [[name] for _, name in filters]


@pytest.mark.parametrize("limit", [1, 365])
async def test_a_limit_from_1_to_365_is_fine(client: httpx.AsyncClient, limit: int) -> None:
    goal = await create_goal(client)

    listed = await client.get(f"/goals/{goal['id']}/snapshots", params={"limit": limit})

    assert listed.json()["meta"]["pagination"] == {"limit": limit, "offset": 0, "total": 1}


@pytest.mark.parametrize("offset", [1, 10**6, 2**63 - 1])
async def test_an_offset_past_the_end_lists_nothing(client: httpx.AsyncClient, offset: int) -> None:
    goal = await create_goal(client)

    listed = await client.get(f"/goals/{goal['id']}/snapshots", params={"offset": offset})

    assert unwrap(listed) == []
    assert listed.json()["meta"]["pagination"] == {"limit": 50, "offset": offset, "total": 1}


@every_operation_with_a_query
async def test_a_known_parameter_sent_twice_is_400(client: httpx.AsyncClient, operation: Operation) -> None:
    await make_things(client)
    good = {"status": "all", "type": "custom", "from": "2026-01-01", "to": "2026-01-01"}
    good |= {"direction": "long", "grade": "A+", "outcome": "win", "symbol": "ES", "timezone": "UTC"}
    good |= {"format": "csv", "spreadsheet": "true"}
    ids = {"category_id", "account_id", "copy_group_id", "strategy_id", "setup_id", "tag_id", "import_id"}
    known = {*ids, "limit", "offset", "force", "dry_run", "file_name", *good}

    async def call(name: str, times: int) -> httpx.Response:
        sent = {name: [good.get(name, "1")] * times}
        return await client.request(operation.method, path_of(operation), params=sent)

    alone = {name: await call(name, 1) for name in known}
    twice = {name: await call(name, 2) for name in known}

    assert operation.query is not None
    names = {field.encode_name for field in msgspec.structs.fields(operation.query)}
    assert names <= known
    assert {name for name, answer in twice.items() if "must be sent once" in answer.text} == names
    assert all(error_of(twice[name]) == (400, "validation_error") for name in names)
    if operation.method == "GET":
        assert {answer.status_code for answer in alone.values()} == {200}


@pytest.mark.parametrize("name", ["from", "to"])
@pytest.mark.parametrize(
    "text",
    ["20240203", "2024-W05-6", "2024-02-30", "2024-2-3", "2024-02-03T00:00", "2024-02-03T00:00:00Z", "",
     "today", "24-02-03", "%EF%BC%92024-02-03", "2024-02-03%0a", "%202024-02-03", "0000-01-01", "2024-13-01",
     "2024-02-00",
     "-2024-02-03", "10000-01-01", "2024-034", "2024/02/03", "2024%E2%80%9002%E2%80%9003"],
)  # fmt: skip
async def test_what_is_not_a_date_is_400_and_named(client: httpx.AsyncClient, name: str, text: str) -> None:
    goal = await create_goal(client)

    refused = await client.get(f"/goals/{goal['id']}/snapshots?{name}={text}")

    assert error_of(refused) == (400, "validation_error")
    assert list(details_of(refused)["fields"]) == [name]


@pytest.mark.parametrize(
    ("query", "allowed"),
    [
        ("/goals?status=deleted", {"active", "paused", "archived", "all"}),
        ("/goals?status=", {"active", "paused", "archived", "all"}),
        ("/goals?status=Active", {"active", "paused", "archived", "all"}),
        ("/goals?status=1", {"active", "paused", "archived", "all"}),
        ("/tags?type=x", {"mistake", "custom"}),
        ("/tags?type=", {"mistake", "custom"}),
        ("/tags?type=MISTAKE", {"mistake", "custom"}),
        ("/tags?type=custom%00", {"mistake", "custom"}),
        ("/tags?type=%ff", {"mistake", "custom"}),
    ],
)
async def test_a_word_that_is_not_on_the_list_is_400_with_the_words_allowed(
    client: httpx.AsyncClient, query: str, allowed: set[str]
) -> None:
    refused = await client.get(query)

    assert error_of(refused) == (400, "validation_error")
    assert set(details_of(refused)["allowed"]) == allowed


async def test_a_filter_naming_somebody_elses_id_lists_nothing(
    app: Starlette, client: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    account, group = await insert_account(app), await insert_copy_group(app)
    tag = await create_tag(client)
    await create_strategy(client, "Of account", account_id=account)
    await create_strategy(client, "Of group", copy_group_id=group)
    await create_goal(client, account_id=account)
    queries = [
        f"/tags?category_id={tag['category_id']}",
        f"/strategies?account_id={account}",
        f"/strategies?copy_group_id={group}",
        f"/goals?account_id={account}",
    ]

    mine = [len(unwrap(await client.get(query))) for query in queries]
    theirs = [unwrap(await stranger.get(query)) for query in queries]

    assert mine == [1, 1, 1, 1]
    assert theirs == [[], [], [], []]


@pytest.mark.parametrize(
    "query", ["%", "%zz", "&&&", "=", "=1", ";", "%00=%00", "a" * 60_000, "%ff=%ff", "x[]=1"]
)
async def test_a_query_that_says_nothing_is_ignored(client: httpx.AsyncClient, query: str) -> None:
    tag = await create_tag(client)

    listed = await client.get(f"/tags?{query}")

    assert unwrap(listed) == [tag]


# Diff-upsert ---------------------------------------------------------------------------------------------


def checklists(word: str) -> list[dict[str, Any]]:
    """50 setups of 100 confirmations, as many as there may be."""
    confirmations = [{"name": f"{word} {number}"} for number in range(100)]
    return [{"name": f"{word} {number}", "confirmations": confirmations} for number in range(50)]


def renamed(setups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same setups and confirmations by their ids, each with another name."""
    return [
        {
            **setup,
            "name": f"{setup['name']} again",
            "confirmations": [{**one, "name": f"{one['name']} again"} for one in setup["confirmations"]],
        }
        for setup in setups
    ]


@pytest.mark.promise(12)
async def test_50_times_100_are_replaced_and_renamed_in_one_patch_in_short_time(
    client: httpx.AsyncClient, seen: Callable[[str], None]
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

    for attempt in range(tries(full=20, short=1)):
        new = await patch("replaced", checklists(f"New {attempt}"))
        again = await patch("renamed", renamed(new))
        assert [len(setup["confirmations"]) for setup in new] == [100] * 50
        assert again == renamed(new)

    told = [
        f"{how} in {min(taken) * 1000:.0f} ms at best, {statistics.median(taken) * 1000:.0f} in the middle"
        for how, taken in times.items()
    ]
    seen(f"50 setups of 100 confirmations in one PATCH, {len(times['renamed'])} times: {', '.join(told)}")
    if SOAK:
        assert max(min(taken) for taken in times.values()) < 0.150


# Texts, and strategies as a whole -------------------------------------------------------------------------

CONTROL_CHARACTERS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"]


async def test_no_text_takes_control_characters_but_tab_and_line_breaks(client: httpx.AsyncClient) -> None:
    bad = "".join(CONTROL_CHARACTERS)
    item = {"name": "A", "description": bad}
    trade = await create_trade(client)
    before = unwrap(await client.get(f"/trades/{trade['id']}"))

    refused = [
        await client.post("/strategies", json={**item, "setups": [{**item, "confirmations": [item]}]}),
        await client.patch(f"/trades/{trade['id']}", json={"notes": bad}),
        await client.put(
            f"/trades/{trade['id']}/confirmations",
            json={"confirmations": [{"confirmation_id": 1, "was_present": True, "notes": bad}]},
        ),
        *[await client.patch(f"/trades/{trade['id']}", json={"notes": one}) for one in CONTROL_CHARACTERS],
    ]

    assert {error_of(answer) for answer in refused} == {(400, "validation_error")}
    assert [list(details_of(answer)["fields"]) for answer in refused[:3]] == [
        ["description", "setups[0].description", "setups[0].confirmations[0].description"],
        ["notes"],
        ["confirmations[0].notes"],
    ]
    assert unwrap(await client.get(f"/trades/{trade['id']}")) == before
    kept = "\ta\r\nb\u2028é🔥"
    assert unwrap(await client.patch(f"/trades/{trade['id']}", json={"notes": kept}))["notes"] == kept


async def test_a_note_in_a_file_keeps_the_rule_of_texts(client: httpx.AsyncClient) -> None:
    account_id = (await create_account(client))["id"]
    row = 'ES,long,1,100,2026-01-05T14:00:00Z,"a{}b"\n'
    file = "symbol,direction,quantity,entry_price,opened_at,notes\n" + row

    refused = await send_file(client, file.format("\x01"), account_id)
    taken = await send_file(client, file.format("\t\n"), account_id)

    assert details_of(refused)["reason"].startswith("notes must not contain control characters")
    assert taken.status_code == 201


async def test_a_text_that_was_stored_before_the_rule_is_still_answered(
    app: Starlette, client: httpx.AsyncClient
) -> None:
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


@pytest.mark.parametrize("character", ["x", "é", "🔥", "\n"], ids=["ascii", "two-bytes", "emoji", "escaped"])
@pytest.mark.promise(22)
async def test_a_strategy_over_3_mib_in_sum_is_refused_and_nothing_of_it_written(
    app: Starlette, client: httpx.AsyncClient, character: str
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
async def test_many_patches_make_no_strategy_larger_than_one_may(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, **strategy_of(2 * MIB))
    keep = [{"setup_id": setup["setup_id"]} for setup in strategy["setups"]]
    more = strategy_of(2 * MIB)["setups"]

    refused = await client.patch(f"/strategies/{strategy['id']}", json={"setups": [*keep, *more]})

    assert error_of(refused) == (400, "validation_error")
    assert await get_strategy(client, strategy["id"]) == strategy


async def test_the_largest_strategy_can_be_sent_back_as_it_was_read(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, **strategy_of(3 * MIB - 40_000))

    sent = json.dumps({"setups": strategy["setups"]}, indent=2)
    answer = await client.patch(f"/strategies/{strategy['id']}", content=sent)

    assert len((await client.get(f"/strategies/{strategy['id']}")).content) > 3 * MIB - 20_000
    assert unwrap(answer) == strategy


# Races ---------------------------------------------------------------------------------------------------


@named([operation for operation in OPERATIONS if operation.method == "DELETE"])
async def test_of_two_deletes_at_once_one_is_404(client: httpx.AsyncClient, operation: Operation) -> None:
    row_id = await create_thing_of(client, operation)

    answers = await asyncio.gather(*(client.delete(path_of(operation, str(row_id))) for _ in range(2)))

    assert sorted(answer.status_code for answer in answers) == [204, 404]


# Transport: the host -------------------------------------------------------------------------------------

STRANGE_HOSTS = {
    "other": b"evil.example",
    "other-with-port": b"evil.example:8000",
    "trailing-dot": b"localhost.",
    "trailing-dot-with-port": b"localhost.:8000",
    "below-localhost": b"evil.localhost",
    "above-localhost": b"localhost.evil.example",
    "user": b"localhost@evil.example",
    "port-and-user": b"localhost:80@evil.example",
    "port-not-a-number": b"localhost:x",
    "other-loopback": b"127.0.0.2",
    "unspecified": b"0.0.0.0",
    "decimal": b"2130706433",
    "no-brackets": b"::1",
    "star": b"*",
    "empty": b"",
    "space": b"localhost evil.example",
    "comma": b"localhost,evil.example",
    "path": b"localhost/evil.example",
    "bytes": b"\xff\xfe",
    "long": b"a" * 60_000,
}
PATHS = ["/tags", "/nothing", "http://localhost/health", "http://localhost/", "http://localhost/openapi.json"]


@pytest.mark.parametrize("host", STRANGE_HOSTS.values(), ids=STRANGE_HOSTS.keys())
async def test_a_strange_host_is_421_on_every_path(app: Starlette, host: bytes) -> None:
    key = (await new_key_for(app)).encode()
    headers = [(b"host", host), (b"authorization", b"Bearer " + key), (b"x-request-id", b"mine")]

    answers = [await asked(app, method, path, headers) for path in PATHS for method in ("GET", "POST")]

    assert [error_of(answer) for answer in answers] == [(421, "misdirected_request")] * len(answers)
    assert {answer.headers["x-request-id"] for answer in answers} == {"mine"}


async def test_no_host_at_all_is_421(app: Starlette) -> None:
    answers = [await asked(app, "GET", path, [], without=("host",)) for path in PATHS]

    assert [error_of(answer) for answer in answers] == [(421, "misdirected_request")] * len(PATHS)


@pytest.mark.parametrize(
    "hosts", [(b"localhost", b"evil.example"), (b"evil.example", b"localhost"), (b"localhost", b"localhost")]
)
async def test_two_hosts_are_421(app: Starlette, hosts: tuple[bytes, bytes]) -> None:
    headers = [(b"host", host) for host in hosts]

    answers = [await asked(app, "GET", path, headers) for path in PATHS]

    assert [error_of(answer) for answer in answers] == [(421, "misdirected_request")] * len(PATHS)


@pytest.mark.parametrize(
    "host",
    [b"localhost", b"localhost:8000", b"LocalHost", b"127.0.0.1", b"127.0.0.1:80", b"[::1]", b"[::1]:8000"],
)
async def test_the_loopback_hosts_are_answered(app: Starlette, host: bytes) -> None:
    answer = await asked(app, "GET", "http://localhost/health", [(b"host", host)])

    assert answer.status_code == 200


async def test_the_hosts_of_the_settings_are_answered_and_no_others(tmp_path: Path) -> None:
    app = create_app(Settings(db=tmp_path / "journal.db", allowed_hosts=("Journal.home",)))
    async with LifespanManager(app, startup_timeout=None, shutdown_timeout=None):
        answers = [
            await asked(app, "GET", "http://localhost/health", [(b"host", host)])
            for host in (b"journal.home", b"journal.home:8000", b"localhost", b"x.journal.home", b"journal")
        ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 421, 421]


# Transport: the method -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["BREW", "TRACE", "PROPFIND", "get", "G" * 1000, "*"])
async def test_an_unknown_method_is_405(app: Starlette, method: str) -> None:
    async with client_of(app) as client:
        request = client.build_request("GET", "/tags")
        request.method = method
        refused = await client.send(request)

    assert error_of(refused) == (405, "method_not_allowed")
    assert set(refused.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


@pytest.mark.parametrize("method", ["POST", "DELETE", "BREW"])
async def test_a_wrong_method_on_health_is_405(app: Starlette, method: str) -> None:
    refused = await asked(app, method, "http://localhost/health", [])

    assert error_of(refused) == (405, "method_not_allowed")
    assert set(refused.headers["allow"].split(", ")) == set(details_of(refused)["allowed"]) == {"GET", "HEAD"}


# Transport: a bug ----------------------------------------------------------------------------------------


@pytest.fixture
async def with_page(tmp_path: Path) -> AsyncIterator[Starlette]:
    """A journal that a page may call, with a bug."""

    async def bug(request: Request) -> Response:
        raise RuntimeError("the words of the bug")

    app = create_app(Settings(db=tmp_path / "journal.db", cors_origins=(PAGE,)))
    app.router.routes.append(Route("/v1/bug", bug, methods=["GET", "POST"]))
    async with LifespanManager(app, startup_timeout=None, shutdown_timeout=None):
        yield app


TELLING = ["Traceback", "RuntimeError", "the words of the bug", ".py", "sqlite", "no such table", "SELECT"]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_bug_is_a_500_that_a_page_may_read_and_tells_nothing(
    with_page: Starlette, method: str
) -> None:
    headers = [(b"origin", PAGE.encode()), (b"x-request-id", b"mine")]

    broken = await asked(with_page, method, "/bug", headers)

    assert error_of(broken) == (500, "internal_error")
    assert details_of(broken) == {}
    assert broken.headers["access-control-allow-origin"] == PAGE
    assert broken.headers["x-request-id"] == broken.json()["meta"]["request_id"] == "mine"
    assert not [words for words in TELLING if words in broken.text]


async def test_a_bug_is_logged_with_the_id_of_the_request(
    with_page: Starlette, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        await asked(with_page, "GET", "/bug", [(b"x-request-id", b"mine")])

    (record,) = caplog.records
    assert "mine" in record.getMessage()
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "the words of the bug"


async def test_head_of_a_bug_has_no_body(with_page: Starlette) -> None:
    broken = await asked(with_page, "HEAD", "/bug", [])

    assert (broken.status_code, broken.content) == (500, b"")


async def test_a_database_that_lost_a_table_is_a_500_that_tells_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await run_sql(app, "DROP TABLE trade_tags")
    await run_sql(app, "DROP TABLE tags")

    answers = [
        await client.get("/tags"),
        await client.post("/tags", json={"name": "A", "category_id": (await run_and_id(app))}),
    ]

    assert [error_of(answer) for answer in answers] == [(500, "internal_error")] * 2
    assert not [words for answer in answers for words in TELLING if words in answer.text]


async def run_and_id(app: Starlette) -> int:
    """The id of a category that is made without asking for its tags."""
    rows = await run_sql(
        app,
        """
        INSERT INTO tag_categories (user_id, name, sort_name, created_at, updated_at)
        VALUES (1, 'A', 'a', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z')
        RETURNING id
        """,
    )
    return int(rows[0][0])


async def test_after_a_bug_in_a_transaction_the_next_write_is_taken(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await run_sql(app, "ALTER TABLE goals RENAME COLUMN goal_name TO other_name")
    broken = await client.post("/goals", json={"goal_name": "A", "metric": "net_pnl", "target_value": 1})

    created = await client.post("/tag-categories", json={"name": "A"})

    assert (broken.status_code, created.status_code) == (500, 201)


# Transport: pages ----------------------------------------------------------------------------------------

ORIGINS = {
    "null": b"null",
    "star": b"*",
    "other": b"http://evil.example",
    "other-scheme": b"https://localhost:5173",
    "other-port": b"http://localhost:5174",
    "without-port": b"http://localhost",
    "longer": b"http://localhost:5173.evil.example",
    "with-path": b"http://localhost:5173/",
    "in-capitals": b"HTTP://LOCALHOST:5173",
    "two": b"http://localhost:5173 http://evil.example",
    "empty": b"",
    "bytes": b"\xff",
}


async def asked_by_a_page(app: Starlette, origin: bytes) -> list[httpx.Response]:
    """Answers of every sort: 200, 401, 404, 405, 500, 421, and two preflights."""
    key = (await new_key_for(app)).encode()
    headers = [(b"origin", origin)]
    preflight = [*headers, (b"access-control-request-method", b"PATCH")]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL) as page:
        return [
            await page.get("/tags", headers=[*headers, (b"authorization", b"Bearer " + key)]),
            await page.get("/tags", headers=headers),
            await page.get("/nothing", headers=headers),
            await page.delete("/tags", headers=headers),
            await page.get("/bug", headers=headers),
            await page.get("/tags", headers=[*headers, (b"host", b"evil.example")]),
            await page.options("/tags/1", headers=preflight),
            await page.options("/tags/1", headers=[*preflight, (b"host", b"evil.example")]),
        ]


@pytest.mark.parametrize("origin", ORIGINS.values(), ids=ORIGINS.keys())
async def test_a_strange_page_may_read_nothing(with_page: Starlette, origin: bytes) -> None:
    answers = await asked_by_a_page(with_page, origin)

    assert [answer.status_code for answer in answers] == [200, 401, 404, 405, 500, 421, 400, 421]
    assert not [answer for answer in answers if "access-control-allow-origin" in answer.headers]


@pytest.mark.parametrize("origin", [PAGE.encode(), *ORIGINS.values()], ids=["page", *ORIGINS.keys()])
async def test_without_a_setting_no_page_may_read_anything(app: Starlette, origin: bytes) -> None:
    answers = await asked_by_a_page(app, origin)

    assert not [answer for answer in answers if "access-control-allow-origin" in answer.headers]


async def test_a_page_of_the_settings_may_read_every_answer_of_its_host(with_page: Starlette) -> None:
    *answers, _ = await asked_by_a_page(with_page, PAGE.encode())
    elsewhere = answers.pop(5)

    assert [answer.status_code for answer in answers] == [200, 401, 404, 405, 500, 200]
    assert {answer.headers["access-control-allow-origin"] for answer in answers} == {PAGE}
    assert all("origin" in answer.headers["vary"].lower() for answer in answers)
    assert elsewhere.headers.get("access-control-allow-origin") in (None, PAGE)


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
    *((host,) for host in STRANGE_HOSTS.values()),
    *((host,) for host in (b"EVIL.EXAMPLE", b"LOCALHOST.", b"journal.example.", b"evil.journal.example")),
    *((host,) for host in (b"user:secret@localhost", b"evil.example@localhost", b"localhost#evil.example")),
    *((host,) for host in (b"xn--lcalhost-n4a", b"xn--journal-9db.example", "l\u00f6calhost".encode())),
    *((host,) for host in ("\uff4cocalhost".encode(), b"localhost%00", b"localhost\t", b"[localhost]")),
    *((host,) for host in (b"[::ffff:127.0.0.1]", b"[::1", b"[::]", b"127.1", b"0x7f.0.0.1", b"127.0.0.1.")),
    *((host,) for host in (b"localhost:", b"localhost:-1", b"localhost:123456", b"localhost:80:80", b":80")),
]
PAGES = [None, PAGE.encode(), b"http://evil.example", b"null", b"file://", b"*", b"https://localhost:5173"]
METHODS_OF_PAGES = ["GET", "POST", "OPTIONS"]
PATHS_OF_PAGES = ["/health", "/v1/tags", "/openapi.json", "/docs", "/nothing"]


@pytest.mark.promise(16)
async def test_a_strange_host_is_421_whatever_the_origin_and_only_the_page_of_the_settings_may_read(
    tmp_path: Path, seen: Callable[[str], None]
) -> None:
    settings = Settings(db=tmp_path / "journal.db", allowed_hosts=("journal.example",), cors_origins=(PAGE,))
    hosts = [*((host,) for host in HOSTS_OF_THE_JOURNAL), *HOSTS_OF_OTHERS]
    told = {}

    app = create_app(settings)
    async with (
        LifespanManager(app, startup_timeout=None, shutdown_timeout=None),
        client_of(app, await new_key_for(app), "http://localhost") as client,
    ):
        for method, path, sent, origin in product(METHODS_OF_PAGES, PATHS_OF_PAGES, hosts, PAGES):
            answer = await client.send(request_of_a_page(client, method, path, sent, origin))
            readers = answer.headers.get_list("access-control-allow-origin")
            told[method, path, sent, origin] = answer.status_code == 421, readers

    assert told == {asked: expected_of(*asked[2:]) for asked in told}
    seen(
        f"{len(hosts)} hosts x {len(PAGES)} origins x {len(PATHS_OF_PAGES)} paths x {len(METHODS_OF_PAGES)} "
        f"methods: {len(told)} requests, 421 to every strange host, no page reads but that of the settings"
    )


def expected_of(hosts: tuple[bytes, ...], origin: bytes | None) -> tuple[bool, list[str]]:
    """Whether it is misdirected, and which pages may read the answer."""
    is_ours = len(hosts) == 1 and hosts[0] in HOSTS_OF_THE_JOURNAL
    return not is_ours, [PAGE] if is_ours and origin == PAGE.encode() else []


def request_of_a_page(
    client: httpx.AsyncClient, method: str, path: str, hosts: tuple[bytes, ...], origin: bytes | None
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


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_a_page_of_the_settings_may_use_every_method(with_page: Starlette, method: str) -> None:
    headers = {
        "Origin": PAGE,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization, content-type, x-request-id, if-match",
    }

    async with httpx.AsyncClient(transport=httpx.ASGITransport(with_page), base_url=BASE_URL) as page:
        answer = await page.options("/tags/1", headers=headers)

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert method in answer.headers["access-control-allow-methods"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Origin", "http://evil.example"),
        ("Access-Control-Request-Method", "BREW"),
        ("Access-Control-Request-Headers", "x-evil"),
    ],
)
async def test_a_preflight_that_is_refused_is_answered_in_the_envelope(
    with_page: Starlette, name: str, value: str
) -> None:
    headers = {"Origin": PAGE, "Access-Control-Request-Method": "GET", name: value}

    async with httpx.AsyncClient(transport=httpx.ASGITransport(with_page), base_url=BASE_URL) as page:
        refused = await page.options("/tags", headers=headers)

    assert error_of(refused) == (400, "validation_error")
    assert refused.json()["meta"]["request_id"] == refused.headers["x-request-id"]


@pytest.mark.parametrize(
    "text", ["*", "null", "http://localhost:5173,*", "http://localhost:5173 null", "localhost"]
)
def test_a_setting_that_lets_any_page_in_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="JOURNAL_CORS_ORIGINS"):
        Settings.from_environ({"JOURNAL_CORS_ORIGINS": text})
