"""The write lock during an import.

A file that cannot be read needs none, and an import waits for no thread.
"""

import asyncio
import sqlite3
import threading
from contextlib import closing

import httpx
from aiosqlite import Connection
from factories import build_file, error_of, send_file
from starlette.applications import Starlette

from journal_api.imports import importer
from journal_api.repositories import imports
from journal_api.settings import Settings
from journal_api.structs.imports import Counts
from journal_api.trade_files import threads
from journal_api.trade_files.accounts import AccountChoice
from journal_api.trade_files.reader import LeftOutCounter, TradeFile
from journal_api.trade_files.timezones import FileTimezone

SOURCE = imports.Source(None, "trades.csv", "0" * 64)


async def no_account(db: Connection) -> AccountChoice:
    return AccountChoice()


async def test_a_file_with_an_error_is_refused_although_another_process_writes(
    client: httpx.AsyncClient, account_id: int, settings: Settings
) -> None:
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        response = await send_file(client, build_file({}, {"quantity": "many"}), account_id)
        other.execute("ROLLBACK")

    assert error_of(response) == (400, "validation_error")
    assert response.json()["error"]["details"]["counts"] == {
        "new": 1,
        "duplicate": 0,
        "updated": 0,
        "error": 1,
    }


async def test_an_import_under_the_write_lock_does_not_wait_for_other_files_of_its_user(
    app: Starlette,
) -> None:
    release = threading.Event()
    others = [
        asyncio.create_task(threads.in_thread(1, lambda: release.wait(60)))
        for _ in range(threads.THREADS_OF_A_USER + 1)
    ]
    await asyncio.sleep(0)
    file = TradeFile("round trips", [], FileTimezone("UTC"), LeftOutCounter())
    try:
        async with asyncio.timeout(30):
            _, counts, *_ = await importer.import_trades(
                app.state.database,
                1,
                SOURCE,
                file,
                lambda verdicts: None,
                dry_run=False,
                accounts_in=no_account,
            )
    finally:
        release.set()
        await asyncio.gather(*others)

    assert counts == Counts()
