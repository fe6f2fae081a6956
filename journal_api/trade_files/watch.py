"""Imports the files that appear in a folder (docs/imports.md#files-by-themselves)."""

import asyncio
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.errors import ApiError, Busy, StorageUnavailable, ValidationFailed
from journal_api.repositories import accounts, imports
from journal_api.structs.imports import Counts
from journal_api.trade_files import importer
from journal_api.trade_files.accounts import AccountChoice
from journal_api.trade_files.headers import UnknownHeader
from journal_api.trade_files.import_file import choose_accounts, read_file, stored_name
from journal_api.trade_files.watched_folder import IMPORTED, REFUSED, FoundFile, WatchedFolder

# Seconds between two looks, for which a whole file has not changed.
EVERY = 2.0
MAX_FILE_SIZE = 64 * 1024 * 1024  # as of an upload


class FolderImports:
    """The imports out of a folder, each as `journal-api import` would make it.

    `account` is the account of files in no subfolder; without it the files name their accounts. `say` is
    called with a line for each file, and with a problem when it appears.
    """

    def __init__(
        self,
        folder: Path,
        user_id: int,
        say: Callable[[str], object],
        *,
        account: str | None = None,
        timezone: str | None = None,
    ) -> None:
        self.folder, self.user_id = WatchedFolder(folder), user_id
        self.account, self.timezone = account, timezone
        self.refused = 0
        self._say, self._problems = say, set[str]()

    async def look(self, database: Database) -> None:
        """Import the files that are whole by now. What does not fail because of the file is tried again."""
        try:
            whole = await asyncio.to_thread(self.folder.find_whole)
        except OSError as error:
            self._say_once(f"{self.folder.path} cannot be read: {error.strerror}")
            return
        for file in whole:
            try:
                await self._take(database, file)
            except (Busy, StorageUnavailable, OSError, sqlite3.Error) as error:
                self._say_once(f"{name_of(file)} stays where it is: {error}")
            except Exception as error:  # no file may stop the server
                self.folder.leave(file)
                self._say_once(f"{name_of(file)} stays where it is: {error!r}")

    async def _take(self, database: Database, file: FoundFile) -> None:
        """Import a file and put it away."""
        if file.subfolder and await accounts.find_id(database.reader, self.user_id, file.subfolder) is None:
            self._say_once(f"no account is named like the folder {file.subfolder!r}: its files stay there")
            return
        try:
            counts = await self._import(database, file)
        except (Busy, StorageUnavailable):
            raise
        except ApiError as error:
            self.refused += 1
            reason = "\n".join(describe_refusal(error))
            await asyncio.to_thread(self.folder.put_away, file, REFUSED, reason)
            self._say(f"{name_of(file)} refused: {REFUSED}/ has it with the reason beside it")
        else:
            await asyncio.to_thread(self.folder.put_away, file, IMPORTED)
            self._say(f"{name_of(file)} imported: {counts.new} new, {counts.duplicate} already there")

    async def _import(self, database: Database, file: FoundFile) -> Counts:
        """Import a file. Raises ApiError."""
        if file.state.size > MAX_FILE_SIZE:
            raise ValidationFailed(f"the file is larger than {MAX_FILE_SIZE} bytes")
        with file.path.open("rb") as content:
            source = imports.Source(None, stored_name(file.path), await asyncio.to_thread(hash_file, content))
            account = file.subfolder or self.account
            choice, _ = await choose_accounts(database.reader, self.user_id, account, dry_run=True)
            read = await read_file(database.reader, self.user_id, content, choice, timezone=self.timezone)
            if isinstance(read, UnknownHeader):
                raise read.refusal()

            async def accounts_in(db: Connection) -> AccountChoice:
                return (await choose_accounts(db, self.user_id, account, dry_run=False))[0]

            result = await importer.import_trades(
                *(database, self.user_id, source, read, lambda verdicts: None),
                dry_run=False,
                accounts_in=accounts_in,
                arrival="folder",
            )
        return result.counts

    def _say_once(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.add(problem)
            self._say(problem)


def hash_file(content: BufferedReader) -> str:
    """Return the SHA-256 in hex, and go back to the first byte."""
    digest = hashlib.file_digest(content, "sha256").hexdigest()
    content.seek(0)
    return digest


def describe_refusal(error: ApiError) -> Iterator[str]:
    """Yield the reason, and each row that is an error."""
    yield str(error)
    for row in error.details.get("rows", ()):
        yield f"line {row.line}: {row.reason}"


def name_of(file: FoundFile) -> str:
    """Return the path below the folder, as text that can be printed."""
    name = stored_name(file.path) or "a file"
    return os.path.join(file.subfolder, name)
