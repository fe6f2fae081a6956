"""POST and GET /sign-in: a one-time code becomes a key, and the command that makes one is named."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import httpx
import pytest
from conftest import client_of, new_key_for, started
from factories import Client, details_of, error_of, insert_user, run_sql, unwrap
from msgspec import structs
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.settings import Settings, parse_header, parse_networks
from journal_api.values import sign_in
from journal_api.values.api_keys import SCOPES
from journal_api.values.sign_in import KEY_COMMAND, OneTimeCode, SignInOptions, name_browser

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
HERE = "/opt/journal-api keys create page --db /home/me/journal.db"


def page_of(app: Starlette, address: str = "127.0.0.1") -> Client:
    """A browser at that address, without a key. Unlike the answers to other clients, one holds a key."""
    transport = httpx.ASGITransport(app, client=(address, 50_000), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers={"User-Agent": FIREFOX})


@pytest.fixture
async def page(app: Starlette) -> AsyncIterator[Client]:
    async with page_of(app) as page:
        yield page


@pytest.fixture
def code(app: Starlette) -> str:
    app.state.sign_in_options = SignInOptions(OneTimeCode(), HERE)
    return str(app.state.sign_in_options.code.issue())


async def exchange(page: Client, code: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return await page.post("/sign-in", json={"code": code}, headers=headers)


async def keys_of(app: Starlette) -> list[str]:
    return [name for (name,) in await run_sql(app, "SELECT name FROM api_keys ORDER BY id")]


async def test_a_code_becomes_a_key_of_the_first_user_named_after_the_browser(
    app: Starlette, page: Client, code: str
) -> None:
    answer = await exchange(page, code)

    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    async with client_of(app, answer.json()["data"]["key"]) as client:
        (key,) = unwrap(await client.get("/keys"))
    assert answer.headers["location"] == f"/v1/keys/{key['id']}"
    assert key["id"] == answer.json()["data"]["key_id"]
    assert (key["name"], key["scopes"], key["is_current"]) == ("Firefox on Linux", list(SCOPES), True)
    lasts = datetime.fromisoformat(key["expires_at"]) - datetime.fromisoformat(key["created_at"])
    assert abs(lasts - timedelta(days=30)) < timedelta(minutes=1)


async def test_a_wrong_a_used_and_an_old_code_get_the_same_answer(
    app: Starlette, page: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.state.sign_in_options = SignInOptions(OneTimeCode(), HERE)
    before_any = [await exchange(page, text) for text in ("", "x", "é" * 40)]
    code = app.state.sign_in_options.code.issue()
    never_issued = await exchange(page, code[:-1])
    await exchange(page, code)
    used = await exchange(page, code)
    monkeypatch.setattr(sign_in, "MAX_AGE", 0.0)
    old = await exchange(page, app.state.sign_in_options.code.issue())

    refused = [*before_any, never_issued, used, old]
    assert [error_of(answer) for answer in refused] == [(401, "unauthorized")] * 6
    assert len({answer.json()["error"]["message"] for answer in refused}) == 1
    assert await keys_of(app) == ["Firefox on Linux"]


async def test_of_many_exchanges_of_one_code_at_once_one_gets_a_key(app: Starlette, page: Client, code: str) -> None:
    answers = await asyncio.gather(*(exchange(page, code) for _ in range(20)))

    assert sorted(answer.status_code for answer in answers) == [201] + [401] * 19
    assert len(await keys_of(app)) == 1


async def test_a_code_whose_key_could_not_be_written_stays_valid(app: Starlette, page: Client, code: str) -> None:
    await run_sql(app, "CREATE TRIGGER full BEFORE INSERT ON api_keys BEGIN SELECT raise(ABORT, 'full'); END")
    failed = await exchange(page, code)
    await run_sql(app, "DROP TRIGGER full")

    again = await exchange(page, code)

    assert (failed.status_code, again.status_code) == (409, 201)


async def test_a_dry_run_tells_whose_journal_it_is_and_leaves_the_code_valid(
    app: Starlette, page: Client, code: str
) -> None:
    told = await page.post("/sign-in", json={"code": code, "dry_run": True})
    wrong = await page.post("/sign-in", json={"code": "x", "dry_run": True})

    assert (told.status_code, unwrap(told)["name"]) == (200, "owner")
    assert error_of(wrong) == (401, "unauthorized")
    assert await keys_of(app) == []
    assert (await exchange(page, code)).status_code == 201


FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "http://localhost:5173"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none", "Origin": "http://localhost"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
async def test_the_page_of_another_origin_cannot_use_a_code(page: Client, code: str, headers: dict[str, str]) -> None:
    refused = await exchange(page, code, headers)
    own = await exchange(page, code, {"Origin": "http://localhost"})

    assert error_of(refused) == (401, "unauthorized")
    assert own.status_code == 201


async def test_a_browser_that_says_the_page_is_of_this_origin_is_believed_behind_a_proxy(
    page: Client, code: str
) -> None:
    headers = {"Origin": "https://journal.example", "Sec-Fetch-Site": "same-origin"}

    assert (await exchange(page, code, headers)).status_code == 201


JSON = "application/json"
BAD_BODIES = [
    (b'{"code": "\xe9"}', JSON, (400, "validation_error")),
    (b'{"\xe9": 1}', JSON, (400, "validation_error")),
    (b'{"code": "\xed\xa0\x80"}', JSON, (400, "validation_error")),
    (b"{}", JSON, (400, "validation_error")),
    (b'{"code": "%s"}' % (b"x" * 5000), JSON, (413, "request_too_large")),
    # What a form of another site can send.
    (b'{"code": "x"}', "text/plain", (415, "unsupported_media_type")),
    (b'{"code": "x"}', "application/x-www-form-urlencoded", (415, "unsupported_media_type")),
    (b'{"code": "x"}', None, (415, "unsupported_media_type")),
]


@pytest.mark.parametrize(("body", "media_type", "error"), BAD_BODIES)
async def test_a_body_that_is_no_sign_in_is_refused(
    page: Client, body: bytes, media_type: str | None, error: tuple[int, str]
) -> None:
    headers = {"Content-Type": media_type} if media_type else {}

    refused = await page.post("/sign-in", content=body, headers=headers)

    assert error_of(refused) == error
    assert body != b"{}" or "code" in details_of(refused)["fields"]


async def test_wrong_codes_count_as_wrong_keys_and_do_not_stop_the_right_one(settings: Settings) -> None:
    entry = SignInOptions(OneTimeCode(), HERE)
    code = entry.code.issue()
    app = create_app(structs.replace(settings, rate_limit=600), entry)
    async with started(app), page_of(app) as page:
        statuses = [(await exchange(page, "x")).status_code for _ in range(21)]
        with_a_wrong_key = await page.get("/v1/me", headers={"Authorization": "Bearer x"})
        right = await exchange(page, code)

    assert statuses == [401] * 20 + [429]
    assert with_a_wrong_key.status_code == 429
    assert right.status_code == 201


async def test_a_browser_on_this_machine_is_told_the_command_that_works_here(page: Client, code: str) -> None:
    answer = await page.get("/sign-in", headers={"Sec-Fetch-Site": "same-origin"})

    assert unwrap(answer) == HERE
    assert answer.headers["cache-control"] == "no-store"


STRANGERS = [
    {"X-Forwarded-For": "192.0.2.1"},
    {"X-Forwarded-Proto": "https"},
    {"Forwarded": "for=192.0.2.1"},
    {"Via": "1.1 proxy"},
    {"X-Real-IP": "192.0.2.1"},
    {"Host": "journal.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Origin": "http://evil.example"},
]


@pytest.mark.parametrize("headers", STRANGERS, ids=str)
async def test_a_stranger_is_told_no_path(settings: Settings, headers: dict[str, str]) -> None:
    app = create_app(structs.replace(settings, allowed_hosts=("*",)), SignInOptions(OneTimeCode(), HERE))
    async with page_of(app) as page, page_of(app, "192.0.2.1") as other_machine:
        assert unwrap(await page.get("/sign-in", headers=headers)) == KEY_COMMAND
        assert unwrap(await other_machine.get("/sign-in")) == KEY_COMMAND


NAMES = {
    FIREFOX: "Firefox on Linux",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
    " Safari/537.36": "Chrome on Windows",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
    " Safari/537.36 Edg/140.0.0.0": "Edge on Windows",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0"
    " Safari/605.1.15": "Safari on macOS",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " CriOS/140.0.0.0 Mobile/15E148 Safari/604.1": "Chrome on iOS",
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile"
    " Safari/537.36": "Chrome on Android",
    "curl/8.5.0": "Browser",
    "<b>\u202eLinux" + "x" * 10_000: "Browser on Linux",
    "": "Browser",
}


@for_rows("user_agent", NAMES)
def test_a_browser_is_named_by_known_words_alone(user_agent: str) -> None:
    assert name_browser(user_agent) == NAMES[user_agent]


PROXY, NETWORK = "192.0.2.10", "2001:db8::/64"


@pytest.fixture
async def proxied(settings: Settings) -> AsyncIterator[Starlette]:
    """A journal of the owner and Ada, which believes Remote-User from two places."""
    trusted = {"trusted_proxies": parse_networks(f"{PROXY} {NETWORK}"), "user_header": parse_header("Remote-User")}
    app = create_app(structs.replace(settings, **trusted), SignInOptions(OneTimeCode(), HERE))
    async with started(app):
        await run_sql(app, "UPDATE users SET name = 'Ada L.' WHERE id = 1")
        await insert_user(app, "Zoë")
        yield app


async def sign_in_as(
    app: Starlette, headers: list[tuple[str, str]], address: str = PROXY, **body: object
) -> httpx.Response:
    async with page_of(app, address) as page:
        encoded = [(name.encode(), value.encode()) for name, value in headers]
        return await page.post("/sign-in", json=body, headers=encoded)


@pytest.mark.parametrize("address", [PROXY, f"::ffff:{PROXY}", "2001:db8::7"])
@pytest.mark.parametrize("user", ["Ada L.", "Zoë"])
async def test_the_user_whom_a_trusted_proxy_names_gets_a_key_for_a_day(
    proxied: Starlette, address: str, user: str
) -> None:
    made = await sign_in_as(proxied, [("Remote-User", user)], address)

    assert made.status_code == 201
    async with client_of(proxied, made.json()["data"]["key"]) as client:
        me, (key,) = unwrap(await client.get("/me")), unwrap(await client.get("/keys"))
    assert (me["name"], key["name"]) == (user, "Firefox on Linux")
    lasts = datetime.fromisoformat(key["expires_at"]) - datetime.fromisoformat(key["created_at"])
    assert abs(lasts - timedelta(days=1)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ([("Remote-User", "Zoë")], "192.0.2.11"),
        ([("Remote-User", "Zoë")], "127.0.0.1"),
        ([("Remote-User", "Zoë")], "::1"),
        ([("Remote-User", "Zoë")], "testclient"),
        ([("Remote-User", "Zoë"), ("X-Forwarded-For", PROXY), ("X-Real-IP", PROXY)], "192.0.2.11"),
        ([("Remote-User", "Zoë"), ("Forwarded", f"for={PROXY}")], "192.0.2.11"),
        ([("Remote-User", "Ada L."), ("Remote-User", "Zoë")], PROXY),
        ([("Remote-User", "")], PROXY),
        ([("Remote_User", "Zoë")], PROXY),
        ([("X-Remote-User", "Zoë")], PROXY),
        ([], PROXY),
    ],
)
async def test_nobody_else_can_name_a_user(proxied: Starlette, headers: list[tuple[str, str]], address: str) -> None:
    refused = await sign_in_as(proxied, headers, address)
    async with page_of(proxied, address) as page:
        told = await page.get("/sign-in", headers=[(a.encode(), b.encode()) for a, b in headers])

    assert (refused.status_code, details_of(refused)) == (400, {"fields": {"code": "is required"}})
    assert list(told.json()["data"]) == ["command"]
    assert await keys_of(proxied) == []


async def test_a_page_of_another_site_and_a_user_who_is_none_are_refused(proxied: Starlette) -> None:
    foreign = [await sign_in_as(proxied, [("Remote-User", "Zoë"), *sent.items()]) for sent in FOREIGN]
    nobody = await sign_in_as(proxied, [("Remote-User", "Eve")])

    assert [error_of(answer) for answer in (*foreign, nobody)] == [(401, "unauthorized")] * 7
    assert "users add" in nobody.json()["error"]["message"]
    assert await keys_of(proxied) == []


async def test_the_header_opens_the_sign_in_alone_and_a_code_is_a_code(proxied: Starlette) -> None:
    named = [("Remote-User", "Ada L.")]
    async with page_of(proxied, PROXY) as page:
        of_api = await page.get("/v1/me", headers=named)
        told = await page.get("/sign-in", headers=named)
    tried = await sign_in_as(proxied, named, dry_run=True)
    of_code = await sign_in_as(proxied, named, code="x")

    assert error_of(of_api) == (401, "unauthorized")
    assert told.json()["data"]["user"] == "Ada L."
    assert (tried.status_code, unwrap(tried)["name"]) == (200, "Ada L.")
    assert error_of(of_code) == (401, "unauthorized")
    assert await keys_of(proxied) == []


async def test_a_name_that_the_proxy_may_send_is_taken_by_nobody(proxied: Starlette) -> None:
    async with client_of(proxied, await new_key_for(proxied)) as ada:
        refused = await ada.patch("/me", json={"name": "Eve", "timezone": "UTC"})
        unchanged = await ada.patch("/me", json={"name": "Ada L.", "timezone": "Europe/Berlin"})

    assert details_of(refused)["fields"].keys() == {"name"}
    assert "users rename" in details_of(refused)["fields"]["name"]
    assert (unwrap(unchanged)["name"], unwrap(unchanged)["timezone"]) == ("Ada L.", "Europe/Berlin")


async def test_without_the_settings_no_header_names_a_user(app: Starlette) -> None:
    refused = await sign_in_as(app, [("Remote-User", "owner")], "127.0.0.1")

    assert error_of(refused) == (400, "validation_error")
