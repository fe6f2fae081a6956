"""API keys: their form, what is stored of them, and the answer to a wrong one."""

import asyncio
import hashlib
import re
import sqlite3
import string
import zlib
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime

import httpx
import pytest
import time_machine
from click.testing import CliRunner
from conftest import client_of, new_key_for, started
from factories import A_FILE, Client, create_account, error_of, run_sql, unwrap
from hypothesis import given
from hypothesis import strategies as st
from operations import dump
from proofs import max_examples
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.cli import cli
from journal_api.repositories import api_keys
from journal_api.settings import Settings
from journal_api.values.api_keys import SCOPES, hash_key, is_well_formed, make_key

FORM = re.compile(r"tjk_[0-9A-Za-z]{36}")
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def checked(body: str) -> str:
    """The key that begins with those 34 characters."""
    number = zlib.crc32(body.encode())
    return body + "".join(BASE62[number // 62**place % 62] for place in reversed(range(6)))


async def answer_to(app: Starlette, key: str) -> httpx.Response:
    async with client_of(app, key) as client:
        return await client.get("/tags")


async def journal_api(settings: Settings, *arguments: str) -> str:
    """What the command prints; run beside the open application, as it is beside a running server."""
    command = [*arguments, "--db", str(settings.db)]
    result = await asyncio.to_thread(CliRunner().invoke, cli, command, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_a_key_is_tjk_then_30_random_characters_then_their_checksum() -> None:
    keys = [make_key() for _ in range(200)]

    assert is_well_formed("tjk_000000000000000000000000000000" + "1A68Am")  # for good
    assert all(FORM.fullmatch(key) for key in keys)
    assert [checked(key[:34]) for key in keys] == keys
    assert len({key[4:34] for key in keys}) == len(keys)


@given(st.text(BASE62, min_size=30, max_size=30), st.integers(0, 39), st.sampled_from(BASE62))
@max_examples(full=200, ci=40)
def test_a_key_with_one_character_mistyped_is_not_well_formed(body: str, place: int, typed: str) -> None:
    key = checked("tjk_" + body)

    mistyped = key[:place] + typed + key[place + 1 :]

    assert is_well_formed(mistyped) == (mistyped == key)


@for_rows(
    "text",
    [
        checked("tjk_" + "a" * 30)[:-1] + "_",
        "tjk_" + "a" * 30,
        checked("tjk_" + "a" * 31),
        checked("tjk_" + "a" * 29 + "_"),
        checked("tjs_" + "a" * 30),
        "secret",
        "",
    ],
)
def test_what_is_not_of_the_form_is_not_well_formed(text: str) -> None:
    assert not is_well_formed(text)


NOON = "2026-04-15T12:00:00.000000Z"
LATER, EARLIER = NOON.replace("12:", "13:"), NOON.replace("12:", "11:")


@for_rows(
    "expires_at, revoked_at, status, code",
    [
        (None, None, 200, None),
        (LATER, None, 200, None),
        (NOON, None, 401, "key_expired"),
        (EARLIER, None, 401, "key_expired"),
        (None, EARLIER, 401, "key_revoked"),
        (EARLIER, EARLIER, 401, "key_revoked"),
    ],
)
async def test_a_key_works_until_it_expires_or_is_revoked(
    app: Starlette, expires_at: str | None, revoked_at: str | None, status: int, code: str | None
) -> None:
    key = await new_key_for(app)
    values = {"expires_at": expires_at, "revoked_at": revoked_at}
    await run_sql(app, "UPDATE api_keys SET expires_at = :expires_at, revoked_at = :revoked_at", values)

    with time_machine.travel(datetime(2026, 4, 15, 12, tzinfo=UTC), tick=False):
        answer = await answer_to(app, key)

    assert answer.status_code == status
    if code is not None:
        assert error_of(answer) == (401, code)
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_key_of_another_form_is_refused_although_its_hash_is_stored(app: Starlette) -> None:
    await new_key_for(app)
    await run_sql(app, "UPDATE api_keys SET hash = :hash", {"hash": hash_key("secret")})

    refused = await answer_to(app, "secret")

    assert error_of(refused) == (401, "unauthorized")


async def test_no_key_is_remembered_while_the_version_of_the_file_is_unknown(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await new_key_for(app)
    monkeypatch.setattr(app.state.database, "version", lambda: None)

    accepted = await answer_to(app, key)
    await run_sql(app, "UPDATE api_keys SET revoked_at = created_at")

    assert accepted.status_code == 200
    assert error_of(await answer_to(app, key)) == (401, "key_revoked")


async def revoking(app: Starlette, sql: str, body: bytes) -> AsyncIterator[bytes]:
    """A body whose key ends between its two halves."""
    yield body[:10]
    await run_sql(app, sql)
    yield body[10:]


REVOKE = "UPDATE api_keys SET revoked_at = created_at"
ENDING = {
    "revoked": (REVOKE, "key_revoked", "POST", "/tag-categories", b'{"name": "Later"}'),
    "expired": (
        "UPDATE api_keys SET expires_at = created_at",
        *("key_expired", "PATCH", "/accounts/1", b'{"name": "Later"}'),
    ),
    "deleted": ("DELETE FROM api_keys", *("unauthorized", "PUT", "/instruments/XYZ", b'{"point_value": 5}')),
    "during a file": (*(REVOKE, "key_revoked"), *("POST", "/imports?account_id=1&timezone=UTC", A_FILE.encode())),
}


@pytest.mark.parametrize(("sql", "code", "method", "path", "body"), ENDING.values(), ids=ENDING)
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}], ids=["once", "again"])
async def test_a_key_that_ends_while_the_body_arrives_writes_nothing(
    app: Starlette,
    client: Client,
    method: str,
    path: str,
    body: bytes,
    headers: dict[str, str],
    sql: str,
    code: str,
) -> None:
    await create_account(client)
    before = dump(app)
    kind = {"Content-Type": "text/csv" if "imports" in path else "application/json"}

    refused = await client.request(method, path, content=revoking(app, sql, body), headers=headers | kind)

    assert error_of(refused) == (401, code)
    assert refused.headers["www-authenticate"] == "Bearer"
    of_the_key: dict[str, list[object]] = {"api_keys": [], "changed_objects": []}
    assert {**dump(app), **of_the_key} == {**before, **of_the_key}


async def test_a_key_that_is_revoked_during_its_look_up_is_not_remembered(
    app: Starlette, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await new_key_for(app)
    look_up = api_keys.find_by_hash

    def look_up_and_revoke(probe: sqlite3.Connection, key_hash: bytes) -> api_keys.KeyRow | None:
        monkeypatch.undo()
        row = look_up(probe, key_hash)
        with closing(sqlite3.connect(settings.db, isolation_level=None)) as other_program:
            other_program.execute("UPDATE api_keys SET revoked_at = created_at WHERE hash = ?", (key_hash,))
        return row

    monkeypatch.setattr(api_keys, "find_by_hash", look_up_and_revoke)

    assert (await answer_to(app, key)).status_code == 200
    assert error_of(await answer_to(app, key)) == (401, "key_revoked")


async def uses_listed(settings: Settings) -> list[str]:
    """The last column of `keys list`."""
    lines = (await journal_api(settings, "keys", "list")).splitlines()
    return [line.split("\t")[6] for line in lines]


async def test_keys_list_shows_the_day_of_the_last_use_in_utc(app: Starlette, settings: Settings) -> None:
    used, _ = await new_key_for(app), await new_key_for(app)
    with time_machine.travel(datetime(2026, 4, 15, 23, 59, tzinfo=UTC), tick=False):
        await answer_to(app, used)
        await app.state.key_uses.save()
    first = await uses_listed(settings)
    with time_machine.travel(datetime(2026, 4, 16, 0, 1, tzinfo=UTC), tick=False):
        await answer_to(app, used)
        await app.state.key_uses.save()

    with time_machine.travel(datetime(2026, 4, 15, tzinfo=UTC), tick=False):  # a clock that was set back
        await answer_to(app, used)
        await app.state.key_uses.save()

    assert first == ["used 2026-04-15", "never used"]
    assert await uses_listed(settings) == ["used 2026-04-16", "never used"]


async def test_a_use_is_written_when_the_journal_closes(settings: Settings) -> None:
    app = create_app(settings)
    async with started(app):
        await answer_to(app, await new_key_for(app))

    (listed,) = await uses_listed(settings)
    assert listed.startswith("used 20")


async def test_a_key_costs_one_write_a_day(app: Starlette) -> None:
    key = await new_key_for(app)
    await answer_to(app, key)
    await app.state.key_uses.save()
    changes = app.state.database._writer.total_changes

    for _ in range(3):
        await answer_to(app, key)
        await app.state.key_uses.save()

    assert app.state.database._writer.total_changes == changes


async def test_a_use_that_cannot_be_written_fails_no_request_and_is_written_later(
    app: Starlette, settings: Settings
) -> None:
    key = await new_key_for(app)
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = await answer_to(app, key)
        await app.state.key_uses.save()
        other.execute("ROLLBACK")
    before = await uses_listed(settings)

    await app.state.key_uses.save()

    assert answer.status_code == 200
    assert before == ["never used"]
    assert (await uses_listed(settings))[0].startswith("used 20")


async def test_a_key_that_is_refused_is_not_used(app: Starlette, settings: Settings) -> None:
    ended = "2000-01-01T00:00:00.000000Z"
    expired = await app.state.database.write(lambda db: api_keys.insert(db, 1, "ends", SCOPES, ended))
    revoked = await new_key_for(app)
    await run_sql(app, "UPDATE api_keys SET revoked_at = created_at WHERE id = 2")

    refused = [await answer_to(app, key) for key in (expired, revoked)]
    await app.state.key_uses.save()

    assert [answer.status_code for answer in refused] == [401, 401]
    assert await uses_listed(settings) == ["never used", "never used"]


async def test_only_the_hash_and_the_last_four_characters_are_stored_and_shown(
    app: Starlette, settings: Settings
) -> None:
    key = await new_key_for(app)

    assert await run_sql(app, "SELECT hash, last_four FROM api_keys") == [
        (hashlib.sha256(key.encode()).digest(), key[-4:])
    ]
    printed = await journal_api(settings, "keys", "list")
    assert key[-4:] in printed
    assert key[-8:] not in printed
    assert key[:12] not in printed  # that no file holds the key, the fixture of every journal checks


async def test_keys_are_listed_without_the_key_or_its_hash_and_the_calling_one_is_marked(
    app: Starlette, client: Client, other_user_client: Client
) -> None:
    narrow = await new_key_for(app, scopes=("read:settings",))
    async with client_of(app, narrow) as narrow_client:
        answer = await narrow_client.get("/keys")
        first, second = unwrap(answer)
    by_the_other = unwrap(await client.get("/keys"))

    assert set(second) == {
        *("id", "name", "last_four", "scopes", "created_at", "updated_at", "last_used_on", "expires_at"),
        *("revoked_at", "is_current"),
    }
    assert (second["last_four"], second["scopes"]) == (narrow[-4:], ["read:settings"])
    assert (first["is_current"], second["is_current"]) == (False, True)
    assert [key["is_current"] for key in by_the_other] == [True, False]
    assert hash_key(narrow).hex() not in answer.text


async def test_a_key_revoked_over_http_is_401_at_its_next_request_and_stays_in_the_list(
    app: Starlette, client: Client
) -> None:
    lost = await new_key_for(app)
    key_id = unwrap(await client.get("/keys"))[-1]["id"]

    revoked = await client.delete(f"/keys/{key_id}")

    assert revoked.status_code == 204
    assert error_of(await answer_to(app, lost)) == (401, "key_revoked")
    listed = unwrap(await client.get("/keys"))[-1]
    assert listed["revoked_at"] == listed["updated_at"] > listed["created_at"]
    assert error_of(await client.delete(f"/keys/{key_id}")) == (404, "not_found")
    own = listed["id"] - 1
    assert (await client.delete(f"/keys/{own}")).status_code == 204
    assert error_of(await client.get("/keys")) == (401, "key_revoked")
