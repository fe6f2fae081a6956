"""Rate limits: docs/api.md#rates, off on the loopback interface."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import time_machine
from conftest import client_of, new_key_for, started
from factories import Client, error_of, run_sql
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.errors import RateLimited
from journal_api.settings import Settings
from journal_api.values.api_keys import hash_key, make_key
from journal_api.web import rate_limits


@pytest.fixture
async def limited(tmp_path: Path) -> AsyncIterator[Starlette]:
    """A journal with three requests a minute a key."""
    app = create_app(Settings(db=tmp_path / "limited.db", rate_limit=3))
    async with started(app):
        yield app


def limit_of(answer: httpx.Response) -> tuple[str, str]:
    return answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]


async def test_requests_beyond_the_limit_of_one_key_are_429_and_say_when_to_come_again(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        answers = [await client.get("/tags") for _ in range(4)]
    async with client_of(limited, await new_key_for(limited)) as other:
        assert (await other.get("/tags")).status_code == 200

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [limit_of(answer) for answer in answers] == [("3", "2"), ("3", "1"), ("3", "0"), ("3", "0")]
    assert error_of(answers[3]) == (429, "rate_limited")
    assert 1 <= int(answers[3].headers["retry-after"]) <= 60


async def test_a_request_without_the_scope_counts_as_any_other(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited, scopes=("read:tags",))) as client:
        refused = [await client.get("/goals") for _ in range(2)]
        answers = [await client.get(path) for path in ("/tags", "/goals")]

    assert [error_of(one) for one in refused] == [(403, "forbidden_scope")] * 2
    assert [limit_of(one) for one in refused] == [("3", "2"), ("3", "1")]
    assert limit_of(answers[0]) == ("3", "0")
    # The scope is checked before the rate.
    assert error_of(answers[1]) == (403, "forbidden_scope")
    async with client_of(limited, await new_key_for(limited, scopes=("read:tags",))) as client:
        await asyncio.gather(*(client.get("/goals") for _ in range(4)))
        assert error_of(await client.get("/tags")) == (429, "rate_limited")


@pytest.mark.parametrize("how", ["unknown", "mistyped", "no bearer", "revoked", "expired"])
async def test_beyond_20_wrong_keys_in_a_minute_those_of_an_address_are_429_and_good_ones_are_answered(
    limited: Starlette, how: str
) -> None:
    good, bad = await new_key_for(limited), await new_key_for(limited)
    wrong = {"unknown": make_key(), "mistyped": bad[:-1], "no bearer": bad}.get(how, bad)
    if how in ("revoked", "expired"):
        column = {"revoked": "revoked_at", "expired": "expires_at"}[how]
        sql = f"UPDATE api_keys SET {column} = '2026-01-01T00:00:00.000000Z' WHERE hash = :hash"
        await run_sql(limited, sql, {"hash": hash_key(bad)})
    sent = {"Authorization": f"{'Basic' if how == 'no bearer' else 'Bearer'} {wrong}"}
    async with client_of(limited) as client:
        answers = [await client.get("/tags", headers=sent) for _ in range(22)]
        right = await client.get("/tags", headers={"Authorization": f"Bearer {good}"})
        keyless = await client.get("/tags")

    assert [answer.status_code for answer in answers] == [401] * 20 + [429] * 2
    assert limit_of(answers[-1]) == ("20", "0")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert (right.status_code, limit_of(right)) == (200, ("3", "2"))
    assert error_of(keyless) == (401, "unauthorized")


async def test_requests_without_a_key_are_no_wrong_keys(limited: Starlette) -> None:
    async with client_of(limited) as client:
        keyless = [await client.get("/tags") for _ in range(30)]
        wrong = await client.get("/tags", headers={"Authorization": f"Bearer {make_key()}"})

    assert {error_of(one) for one in [*keyless, wrong]} == {(401, "unauthorized")}


@pytest.mark.parametrize("jump", [timedelta(days=-20), timedelta(days=20)], ids=["back", "forth"])
async def test_a_clock_that_is_set_changes_no_rate(limited: Starlette, jump: timedelta) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        await client.get("/tags")
        with time_machine.travel(datetime.now(UTC) + jump):
            answers = [await client.get("/tags") for _ in range(3)]

    assert [limit_of(one) for one in answers] == [("3", "1"), ("3", "0"), ("3", "0")]
    assert answers[2].status_code == 429
    assert {1 <= int(one.headers["x-ratelimit-reset"]) <= 60 for one in answers} == {True}


class Clock:
    """A monotonic clock that moves when a test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)


def count(limiter: rate_limits.FixedWindowLimiter) -> str | None:
    """In how many seconds the window ends; None if the request is one too many."""
    try:
        return limiter.count("key")["X-RateLimit-Reset"]
    except RateLimited:
        return None


def test_a_window_lasts_a_minute_from_its_first_request_and_its_reset_is_never_0(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, limiter = Clock(monkeypatch), rate_limits.FixedWindowLimiter(4)
    at: dict[float, list[str | None]] = {0: ["60"], 0.5: ["60"], 30: ["30"], 59.9: ["1", None]}
    at |= {60: [*["60"] * 4, None], 119.9: [None], 120: ["60"]}
    seen = {}
    for second, expected in at.items():
        clock.now = 1000 + second
        seen[second] = [count(limiter) for _ in expected]

    assert seen == at


def test_however_many_addresses_come_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, limiter = Clock(monkeypatch), rate_limits.FixedWindowLimiter(1)
    for number in range(3 * rate_limits.MAX_WINDOWS):
        clock.now += 0.001
        limiter.count(number)
    full = len(limiter._windows)
    clock.now += rate_limits.WINDOW

    limiter.count("one more")

    assert full == rate_limits.MAX_WINDOWS
    assert list(limiter._windows) == ["one more"]


async def test_on_the_loopback_interface_nothing_is_limited(client: Client) -> None:
    wrong = [await client.get("/tags", headers={"Authorization": "Bearer no"}) for _ in range(30)]
    answer = await client.get("/tags")

    assert {one.status_code for one in wrong} == {401}
    assert answer.status_code == 200
    assert "x-ratelimit-limit" not in answer.headers


@pytest.mark.parametrize(
    ("host", "allowed_hosts", "setting", "expected"),
    [
        ("127.0.0.1", (), None, 0),
        ("localhost", (), None, 0),
        ("::1", (), None, 0),
        ("0.0.0.0", (), None, 600),
        ("journal.example", (), None, 600),
        ("127.0.0.1", ("journal.example",), None, 600),
        ("0.0.0.0", (), 0, 0),
        ("127.0.0.1", ("journal.example",), 0, 0),
        ("127.0.0.1", (), 30, 30),
    ],
)
def test_the_limit_follows_who_can_reach_the_service_unless_it_is_set(
    tmp_path: Path, host: str, allowed_hosts: tuple[str, ...], setting: int | None, expected: int
) -> None:
    settings = Settings(db=tmp_path / "journal.db", host=host, allowed_hosts=allowed_hosts, rate_limit=setting)

    assert settings.requests_a_minute == expected
