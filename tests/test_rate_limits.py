"""Rate limits: contract.md's `rate_limited`, off on the loopback interface."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from asgi_lifespan import LifespanManager
from conftest import client_of, new_key_for
from make import error_of
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.keys import new_key
from journal_api.settings import Settings


@pytest.fixture
async def limited(tmp_path: Path) -> AsyncIterator[Starlette]:
    """A journal with three requests a minute a key."""
    app = create_app(Settings(db=tmp_path / "limited.db", rate_limit=3))
    async with LifespanManager(app):
        yield app


def told(answer: httpx.Response) -> tuple[str, str]:
    return answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]


async def test_requests_beyond_the_limit_of_a_key_are_429_and_say_when_to_come_again(
    limited: Starlette,
) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        answers = [await client.get("/tags") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [told(answer) for answer in answers] == [("3", "2"), ("3", "1"), ("3", "0"), ("3", "0")]
    assert error_of(answers[3]) == (429, "rate_limited")
    assert 1 <= int(answers[3].headers["retry-after"]) <= 60


async def test_each_key_has_a_limit_of_its_own(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        for _ in range(4):
            await client.get("/tags")

    async with client_of(limited, await new_key_for(limited)) as other:
        answer = await other.get("/tags")

    assert answer.status_code == 200


async def test_a_request_without_the_scope_is_403_and_not_counted(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited, scopes=("read:tags",))) as client:
        refused = [await client.get("/goals") for _ in range(5)]
        answer = await client.get("/tags")

    assert {one.status_code for one in refused} == {403}
    assert told(answer) == ("3", "2")


async def test_after_20_wrong_keys_in_a_minute_an_address_is_turned_away(limited: Starlette) -> None:
    good = await new_key_for(limited)
    async with client_of(limited) as client:
        wrong = [
            await client.get("/tags", headers={"Authorization": f"Bearer {new_key()}"}) for _ in range(21)
        ]
        right = await client.get("/tags", headers={"Authorization": f"Bearer {good}"})

    assert [answer.status_code for answer in wrong] == [401] * 20 + [429]
    assert error_of(right) == (429, "rate_limited")
    assert 1 <= int(right.headers["retry-after"]) <= 60


async def test_on_the_loopback_interface_nothing_is_limited(client: httpx.AsyncClient) -> None:
    wrong = [await client.get("/tags", headers={"Authorization": "Bearer no"}) for _ in range(30)]
    answer = await client.get("/tags")

    assert {one.status_code for one in wrong} == {401}
    assert answer.status_code == 200
    assert "x-ratelimit-limit" not in answer.headers


@pytest.mark.parametrize(
    ("host", "setting", "expected"),
    [
        ("127.0.0.1", None, 0),
        ("localhost", None, 0),
        ("::1", None, 0),
        ("0.0.0.0", None, 600),
        ("journal.example", None, 600),
        ("0.0.0.0", 0, 0),
        ("127.0.0.1", 30, 30),
    ],
)
def test_the_limit_follows_the_host_unless_it_is_set(
    tmp_path: Path, host: str, setting: int | None, expected: int
) -> None:
    settings = Settings(db=tmp_path / "journal.db", host=host, rate_limit=setting)

    assert settings.requests_a_minute == expected
