"""The write lock during an import.

A file that cannot be read needs none, and an import waits for no thread.
"""

import asyncio
import sqlite3
import threading
from contextlib import closing
from functools import partial
from io import BytesIO
from typing import Any

import factories
import pytest
from aiosqlite import Connection
from factories import Client, error_of, unwrap
from starlette.applications import Starlette

from journal_api.database import user_threads
from journal_api.errors import ValidationFailed
from journal_api.imports import importer
from journal_api.imports.file_accounts import NOT_CREATED, AccountChoice
from journal_api.imports.import_file import choose_accounts, read_file
from journal_api.repositories import imports
from journal_api.routes.imports import read_account_choice
from journal_api.settings import Settings
from journal_api.structs.imports import Counts, ImportQuery
from journal_api.trade_files.left_out import LeftOutCounter
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.timezones import FileTimezone

SOURCE = imports.Source(None, "trades.csv", "0" * 64)


async def no_account(db: Connection) -> AccountChoice:
    return AccountChoice()


async def test_a_file_with_an_error_is_refused_although_another_process_writes(
    client: Client, account_id: int, settings: Settings
) -> None:
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        response = await factories.send_file(client, factories.build_file({}, {"quantity": "many"}), account_id)
        other.execute("ROLLBACK")

    assert error_of(response) == (400, "validation_error")
    assert response.json()["error"]["details"]["counts"] == {"new": 1, "duplicate": 0, "updated": 0, "error": 1}


async def test_an_import_under_the_write_lock_does_not_wait_for_other_files_of_its_user(app: Starlette) -> None:
    release = threading.Event()
    others = [
        asyncio.create_task(user_threads.in_thread(1, lambda: release.wait(60)))
        for _ in range(user_threads.THREADS_OF_A_USER + 1)
    ]
    await asyncio.sleep(0)
    file = TradeFile("round trips", [], FileTimezone("UTC"), LeftOutCounter())
    file_import = importer.FileImport(1, SOURCE, file, AccountChoice(), no_account)
    try:
        async with asyncio.timeout(30):
            _, counts, *_ = await app.state.database.write(file_import.store)
    finally:
        release.set()
        await asyncio.gather(*others)

    assert counts == Counts()


async def read_import(app: Starlette, account_id: int, text: str) -> importer.FileImport:
    """An import whose file is read."""
    choice = AccountChoice(account_id)
    file = await read_file(app.state.database.reader, 1, BytesIO(text.encode()), choice, timezone="UTC")
    assert isinstance(file, TradeFile)

    async def one_account(db: Connection) -> AccountChoice:
        return choice

    return importer.FileImport(1, SOURCE, file, choice, one_account)


MEANWHILE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, ["ES", "NQ"]),
    "a trade of another contract": ({"symbol": "CL"}, ["CL", "ES", "NQ"]),
    "a trade that the file tells": ({"symbol": "ES"}, ["ES", "NQ"]),
    "a trade with an id of the file": ({"symbol": "CL", "external_id": "A"}, ["CL", "ES", "NQ"]),
}


@pytest.mark.parametrize("name", MEANWHILE)
async def test_what_is_written_between_the_reading_of_a_file_and_its_import_is_known_to_it(
    app: Starlette, client: Client, account_id: int, name: str
) -> None:
    fields, symbols = MEANWHILE[name]
    text = factories.build_file({"symbol": "ES", "external_id": "A"}, {"symbol": "NQ"})
    file_import = await read_import(app, account_id, text)
    await file_import.prepare(app.state.database)
    if fields:
        await factories.create_trade(client, account_id, **fields)
    result = await app.state.database.write(file_import.store)

    trades = await factories.list_trades(client)
    assert sorted(trade["symbol"] for trade in trades) == symbols
    assert len({trade["id"] for trade in trades}) == len(symbols)
    assert result.counts.new + result.counts.updated + result.counts.duplicate == 2
    again = await factories.create_import(client, text, account_id=account_id)
    assert again["counts"]["duplicate"] == 2


@pytest.mark.parametrize("name", ["account_id", "symbol"])
async def test_a_typed_trade_that_goes_elsewhere_before_the_import_is_no_trade_of_the_file(
    app: Starlette, client: Client, account_id: int, name: str
) -> None:
    typed = await factories.create_trade(client, account_id, symbol="ES")
    fields = {"account_id": (await factories.create_account(client, "Other"))["id"], "symbol": "CL"}
    file_import = await read_import(app, account_id, factories.build_file({"symbol": "ES"}))
    await file_import.prepare(app.state.database)
    moved = await factories.patch_trade(client, typed["id"], **{name: fields[name]})
    result = await app.state.database.write(file_import.store)

    (new,) = [trade for trade in await factories.list_trades(client) if trade["id"] != typed["id"]]
    assert result.counts.new == 1
    assert (new["account_id"], new["symbol"]) == (account_id, "ES")
    assert await factories.get_trade(client, typed["id"]) == moved


@pytest.mark.parametrize("writes", [1, 9], ids=["once", "each time"])
async def test_what_changes_before_the_lock_is_prepared_again_without_it_and_then_under_it(
    app: Starlette, client: Client, account_id: int, writes: int
) -> None:
    file_import = await read_import(app, account_id, factories.build_file({"symbol": "ES"}))
    notes = [f"Note {number}" for number in range(writes)]
    typed = await factories.create_trade(client, account_id, symbol="ES")
    tries: list[str] = []

    async def write_beside() -> importer.ImportResult:
        if notes:
            await factories.patch_trade(client, typed["id"], notes=notes[-1])
            tries.append(notes.pop())
        else:
            tries.append("undisturbed")
        result: importer.ImportResult = await app.state.database.write(file_import.store)
        return result

    result = await file_import.run(app.state.database, write_beside)

    assert tries == {1: ["Note 0", "undisturbed"], 9: ["Note 8", "Note 7", "Note 6"]}[writes]
    assert result.counts.duplicate == 1
    (trade,) = await factories.list_trades(client)
    assert trade["notes"] == next(note for note in reversed(tries) if note != "undisturbed")


async def test_an_account_that_is_deleted_before_the_import_is_refused_as_missing(
    app: Starlette, client: Client, account_id: int
) -> None:
    file_import = await read_import(app, account_id, factories.build_file({}))
    query = ImportQuery(account_id=account_id)
    file_import.accounts_in = partial(read_account_choice, user_id=1, query=query)
    assert (await client.delete(f"/accounts/{account_id}")).status_code == 204

    with pytest.raises(ValidationFailed, match="account_id"):
        await file_import.run(app.state.database, lambda: app.state.database.write(file_import.store))


async def import_into_new_account(app: Starlette, name: str, beside: str | None = None) -> int:
    """Import a file into an account that it creates, after another such import; return the times that it was tried."""
    file_import, tries = await read_import(app, NOT_CREATED, factories.build_file({})), 0

    async def accounts_in(db: Connection) -> AccountChoice:
        return (await choose_accounts(db, 1, name, dry_run=False))[0]

    async def write_beside() -> importer.ImportResult:
        nonlocal tries
        tries += 1
        if beside and tries == 1:
            assert await import_into_new_account(app, beside) == 1
        result: importer.ImportResult = await app.state.database.write(file_import.store)
        return result

    file_import.accounts_in = accounts_in
    await file_import.run(app.state.database, write_beside)
    return tries


@pytest.mark.parametrize(("beside", "tries"), [(None, 1), ("Other", 2), ("New", 2)])
async def test_an_import_is_prepared_without_the_lock_for_the_id_that_its_new_account_gets(
    app: Starlette, client: Client, beside: str | None, tries: int
) -> None:
    assert await import_into_new_account(app, "New", beside) == tries

    accounts = unwrap(await client.get("/accounts"))
    trades = await factories.list_trades(client)
    assert {one["name"] for one in accounts} == {"New", beside or "New"}
    assert sorted(trade["account_id"] for trade in trades) == sorted(one["id"] for one in accounts)


@pytest.mark.parametrize(("tags", "tries"), [("FOMO", 2), ("", 1)])
async def test_a_tag_that_is_changed_before_the_lock_matters_to_a_file_with_tags_alone(
    app: Starlette, client: Client, account_id: int, tags: str, tries: int
) -> None:
    tag = await factories.create_tag(client)
    file_import = await read_import(app, account_id, factories.build_file({"tags": tags}))
    tried = 0

    async def write_beside() -> importer.ImportResult:
        nonlocal tried
        tried += 1
        if tried == 1:
            unwrap(await client.patch(f"/tags/{tag['id']}", json={"color": "#ff0000"}))
        result: importer.ImportResult = await app.state.database.write(file_import.store)
        return result

    await file_import.run(app.state.database, write_beside)

    assert tried == tries
