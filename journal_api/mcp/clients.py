"""Connections to a journal at /v1. Each tool call opens its own, so that the file can be moved in between."""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import anyio.to_thread
import httpx
import msgspec

from journal_api.app import create_app
from journal_api.database.migrations import prepare
from journal_api.settings import Settings, SettingsError
from journal_api.values.api_keys import RunKey

Connect = Callable[[], AbstractAsyncContextManager[httpx.AsyncClient]]

TIMEOUT = 60.0  # seconds


def choose(settings: Settings, environ: Mapping[str, str]) -> Connect:
    """Connections to the server at JOURNAL_URL, else to the file. Raises SettingsError, DatabaseRefused."""
    if url := environ.get("JOURNAL_URL"):
        return to_server(url, environ.get("JOURNAL_KEY", ""))
    prepare(settings, creates=False)
    return partial(open_file, settings)


def to_server(url: str, key: str) -> Connect:
    """Connections to a running server. Raises SettingsError for an address or a key that cannot be sent."""
    try:
        base_url = httpx.URL(url.rstrip("/").removesuffix("/v1") + "/v1")
    except httpx.InvalidURL as error:
        raise SettingsError(f"JOURNAL_URL is not an address: {error}") from None
    if base_url.scheme not in ("http", "https") or not base_url.host or base_url.userinfo or base_url.query:
        raise SettingsError("JOURNAL_URL must be an address such as http://127.0.0.1:8000")
    if not key:
        raise SettingsError("JOURNAL_KEY must be set to an API key of the server at JOURNAL_URL")
    if not key.isascii() or not key.isprintable():
        raise SettingsError("JOURNAL_KEY is not an API key")
    return partial(httpx.AsyncClient, base_url=base_url, headers=build_headers(key), timeout=TIMEOUT)


@asynccontextmanager
async def open_file(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Connect to the database file at `settings.db`, which a server may have open.

    The application runs in this process, for its first user, with a key that exists only in memory. Raises
    DatabaseRefused, sqlite3.Error or OSError when the file cannot be opened.
    """
    await anyio.to_thread.run_sync(partial(prepare, settings, creates=False))
    key = secrets.token_urlsafe(32)
    app = create_app(
        msgspec.structs.replace(
            settings,
            run_key=RunKey(key),
            checkpoints=False,  # a server that has the file open must be the only one to make them
            backup_dir=None,
            rate_limit=0,
            metrics=False,
        )
    )
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://localhost/v1",
            headers=build_headers(key),
        ) as client,
    ):
        yield client


def build_headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
