"""The ASGI application: `create_app(settings)`, its lifespan and the order of its middleware."""

import asyncio
import logging
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

import anyio.to_thread
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from journal_api.database.backup import back_up_on_schedule
from journal_api.database.database import Database
from journal_api.database.migrations import prepare
from journal_api.database.schemas import VERSION
from journal_api.errors import ApiError
from journal_api.imports.watch import EVERY, FolderImports
from journal_api.openapi import docs_page
from journal_api.page import files as page_files
from journal_api.page import help_pages
from journal_api.repositories import changes, idempotency_keys, users
from journal_api.routes import health, sign_in
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.values.sign_in import KEY_COMMAND, OneTimeCode, SignInOptions
from journal_api.web import auth, middleware, request_log
from journal_api.web.change_signal import ChangeSignal
from journal_api.web.dispatch import Dispatch
from journal_api.web.prometheus import RequestMetrics
from journal_api.web.rate_limits import RateLimits
from journal_api.web.request_log import HandledRequest
from journal_api.web.response_cache import ResponseCache

log = logging.getLogger("journal_api")

DELETE_EVERY = 3600  # seconds


class JournalApp(Starlette):
    """Starlette without its error middleware, which would return errors in plain text."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; the router handles the lifespan."""
        if scope["type"] == "http":
            await super().__call__(scope, receive, send)
        else:
            scope["app"] = self
            await self.router(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Wrap ErrorMiddleware in CorsMiddleware, so that web pages can read error responses."""
        settings: Settings = self.state.settings
        cors = middleware.CorsMiddleware(
            middleware.ErrorMiddleware(Dispatch(self.routes)),
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=middleware.SENT_HEADERS,
            expose_headers=middleware.READ_HEADERS,
        )
        hosts = (*middleware.LOOPBACK_HOSTS, *settings.allowed_hosts)
        return middleware.RequestContextMiddleware(cors, hosts, self.state.listeners)


def create_app(
    settings: Settings, sign_in_options: SignInOptions | None = None, *, is_prepared: bool = False
) -> Starlette:
    """The ASGI application. Its lifespan opens the database, created or migrated first unless `is_prepared`."""
    routes: list[BaseRoute] = [
        Route("/health", health.health),
        *sign_in.ROUTES,
        *page_files.ROUTES,
        *help_pages.ROUTES,
        *docs_page.ROUTES,
        *OPERATIONS,
    ]
    listeners: list[Callable[[HandledRequest], None]] = [request_log.write_line]
    if settings.metrics:
        metrics = RequestMetrics(settings.db, VERSION)
        routes.append(Route("/metrics", metrics.get_metrics))
        listeners.append(metrics.count)
    app = JournalApp(routes=routes, lifespan=lifespan)
    app.state.settings, app.state.is_prepared = settings, is_prepared
    app.state.sign_in_options = sign_in_options or SignInOptions(OneTimeCode(), KEY_COMMAND)
    app.state.listeners = listeners
    app.state.downloads = Counter[int]()
    app.state.rates = RateLimits(settings.requests_a_minute) if settings.requests_a_minute else None
    return app


@asynccontextmanager
async def repeat(work: Callable[[], Awaitable[None]], seconds: float) -> AsyncIterator[None]:
    """Call `work` now and then every so many seconds, until the end of the block."""

    async def keep_repeating() -> None:
        while True:
            await work()
            await asyncio.sleep(seconds)

    task = asyncio.create_task(keep_repeating())
    try:
        yield
    finally:
        while not task.done():  # again, because a write ignores a cancellation during its commit
            task.cancel()
            await asyncio.wait([task], timeout=0.1)


async def delete_old(database: Database, keep_changes: timedelta) -> None:
    """Delete responses and changes that nobody may ask for any more."""
    with suppress(sqlite3.Error, ApiError):  # the next call tries again
        if await idempotency_keys.has_old(database.reader):
            await database.write(idempotency_keys.delete_old)
        if await changes.has_old(database.reader, keep_changes):
            await database.write(partial(changes.delete_old, kept_for=keep_changes))


@asynccontextmanager
async def watched(folder: Path | None, database: Database) -> AsyncIterator[None]:
    """Import the files that appear in the folder, if any, for the first user during the block."""
    if folder is None:
        yield
        return
    folder_imports = FolderImports(folder, await users.find_first_id(database.reader), log.info)
    async with repeat(partial(folder_imports.look, database), EVERY):
        yield


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open the database, and run scheduled backups and deletions until shutdown."""
    settings: Settings = app.state.settings
    if not app.state.is_prepared:
        await anyio.to_thread.run_sync(prepare, settings)
    database = await Database.open(settings.db, secondary=not settings.checkpoints)
    uses = auth.KeyUses(database)
    app.state.database, app.state.key_uses = database, uses
    app.state.change_signal = ChangeSignal(database)
    app.state.known_keys, app.state.response_cache = auth.KnownKeys(database), ResponseCache(database)
    try:
        async with (
            back_up_on_schedule(settings),
            repeat(partial(delete_old, database, settings.keep_changes), DELETE_EVERY),
            repeat(uses.save, auth.SAVE_USES_EVERY),
            watched(settings.watch, database),
        ):
            yield
        await uses.save()
    finally:
        await database.close()
