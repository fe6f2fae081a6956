"""The write lock during an import: an error releases it, and the remaining rows are only counted."""

import asyncio
import threading
from collections.abc import Iterator

import httpx
import pytest
from aiosqlite import Connection
from factories import create_account, unwrap
from starlette.applications import Starlette

from journal_api.errors import ValidationFailed
from journal_api.imports import importer
from journal_api.positions.import_rows import Candidate, Rejected
from journal_api.repositories import imports
from journal_api.structs.imports import Counts
from journal_api.trade_files import threads
from journal_api.trade_files.accounts import AccountChoice
from journal_api.trade_files.reader import LeftOutCounter, TradeFile
from journal_api.trade_files.timezones import FileTimezone

SOURCE = imports.Source(None, "trades.csv", "0" * 64)


class HeldFile:
    """A file whose first batch has an error, and whose second batch is read when the test says so."""

    def __init__(self) -> None:
        self.at_second_batch, self.go_on = threading.Event(), threading.Event()
        self.trades = TradeFile("round trips", self._batches(), FileTimezone("UTC"), LeftOutCounter())

    def _batches(self) -> Iterator[list[Candidate | Rejected]]:
        yield [Rejected(2, "is wrong")]
        self.at_second_batch.set()
        assert self.go_on.wait(60)
        yield [Rejected(3, "is wrong too")]


async def no_account(db: Connection) -> AccountChoice:
    return AccountChoice()


async def test_others_can_write_once_a_row_of_an_import_is_an_error(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    database = app.state.database
    held = HeldFile()
    attempt = importer.import_trades(database, 1, SOURCE, held.trades, len, dry_run=False)

    attempting = asyncio.create_task(attempt)
    try:
        assert await asyncio.to_thread(held.at_second_batch.wait, 60)
        await create_account(client, "Meanwhile")
    finally:
        held.go_on.set()

    with pytest.raises(ValidationFailed) as refused:
        await attempting
    assert refused.value.details["counts"] == Counts(error=2)
    assert unwrap(await client.get("/imports")) == []


async def test_an_import_under_the_write_lock_does_not_wait_for_other_files_of_its_user(
    app: Starlette,
) -> None:
    release = threading.Event()
    others = [
        asyncio.create_task(threads.in_thread(1, lambda: release.wait(60)))
        for _ in range(threads.THREADS_OF_A_USER + 1)
    ]
    await asyncio.sleep(0)
    file = TradeFile("round trips", iter(()), FileTimezone("UTC"), LeftOutCounter())
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
