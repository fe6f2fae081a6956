"""Imports the files that appear in a folder (docs/imports.md#files-by-themselves)."""

import asyncio
import hashlib
import os
import sqlite3
from collections.abc import Callable
from functools import partial
from io import BufferedReader
from pathlib import Path

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.errors import ApiError, Busy, StorageUnavailable, ValidationFailed
from journal_api.imports import importer
from journal_api.imports.file_accounts import AccountChoice
from journal_api.imports.import_file import choose_accounts, read_file, stored_name
from journal_api.imports.watched_folder import IMPORTED, REFUSED, FoundFile, WatchedFolder
from journal_api.repositories import accounts, imports
from journal_api.structs.imports import Counts, Verdict
from journal_api.trade_files.headers import UnknownHeader

# Seconds between two looks, in which a whole file has not changed.
EVERY = 2.0
MAX_FILE_SIZE = 64 * 1024 * 1024  # as of an upload
# Failures for which the file is not to blame: the next look tries again.
PASSING = (Busy, StorageUnavailable, OSError, sqlite3.Error)


class FolderImports:
    """The imports out of a folder, each as `journal-api import` would make it.

    `account` is the account of files in no subfolder; without it the files name their accounts. `say` is
    called with a line for each file, and for each problem when it appears.
    """

    def __init__(
        self,
        folder: Path,
        user_id: int,
        say: Callable[[str], object],
        account: str | None = None,
        timezone: str | None = None,
    ) -> None:
        self.folder, self.user_id = WatchedFolder(folder), user_id
        self.account, self.timezone = account, timezone
        self.refused = 0
        self._say, self._problems = say, set[str]()

    async def look(self, database: Database) -> None:
        """Import the files that are whole by now."""
        try:
            whole = await asyncio.to_thread(self.folder.find_whole)
        except OSError as error:
            self._say_once(f"{self.folder.path} cannot be read: {error.strerror}")
            return
        for file in whole:
            name = os.path.join(file.subfolder, stored_name(file.path) or "?")
            try:
                await self._take(database, file, name)
            except FileNotFoundError:
                continue  # another program has taken it
            except Exception as error:  # no file may stop the server
                if not isinstance(error, PASSING):
                    self.folder.leave(file)
                self._say_once(f"{name} stays where it is: {str(error) or type(error).__name__}")

    async def _take(self, database: Database, file: FoundFile, name: str) -> None:
        """Import a file and put it away."""
        if file.subfolder and await accounts.find_id(database.reader, self.user_id, file.subfolder) is None:
            self._say_once(f"no account is named like the folder {file.subfolder!r}: its files stay there")
            return
        try:
            # Opened once: what is imported is what the digest is of, though another file takes its place.
            with await asyncio.to_thread(file.path.open, "rb") as content:
                source = await asyncio.to_thread(describe_source, file, content)
                counts, left_out = await self._import(database, file, content, source)
        except ApiError as error:
            if isinstance(error, PASSING):
                raise
            self.refused += 1
            await database.write(partial(imports.insert_refused, user_id=self.user_id, source=source))
            reasons = [str(error), *map(describe_row, error.details.get("rows", ()))]
            await asyncio.to_thread(self.folder.put_away, file, REFUSED, reasons)
            self._say(f"{name} refused: {REFUSED}/ has it with the reason beside it")
        else:
            await database.write(partial(imports.delete_refused, user_id=self.user_id, source=source))
            await asyncio.to_thread(self.folder.put_away, file, IMPORTED, left_out)
            without = f", {len(left_out)} left out: {IMPORTED}/ says why" if left_out else ""
            self._say(f"{name} imported: {counts.new} new, {counts.duplicate} already there{without}")

    async def _import(
        self, database: Database, file: FoundFile, content: BufferedReader, source: imports.Source
    ) -> tuple[Counts, list[str]]:
        """Import a file and return the rows that were left out as suspect or unmatched. Raises ApiError."""
        if file.size > MAX_FILE_SIZE:
            raise ValidationFailed(f"the file is larger than {MAX_FILE_SIZE} bytes")
        account = file.subfolder or self.account
        choice, _ = await choose_accounts(database.reader, self.user_id, account, dry_run=True)
        read = await read_file(database.reader, self.user_id, content, choice, timezone=self.timezone)
        if isinstance(read, UnknownHeader):
            raise read.refusal()

        async def accounts_in(db: Connection) -> AccountChoice:
            return (await choose_accounts(db, self.user_id, account, dry_run=False))[0]

        file_import = importer.FileImport(self.user_id, source, read, choice, accounts_in, arrival="folder")
        result = await file_import.run(database, lambda: database.write(file_import.store))
        left_out = [row for row in result.verdicts if row.verdict in ("suspect", "unmatched")]
        return result.counts, list(map(describe_row, left_out))

    def _say_once(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.add(problem)
            self._say(problem)


def describe_source(file: FoundFile, content: BufferedReader) -> imports.Source:
    """Return the name and the digest of a file; one that is too large is not read."""
    if file.size > MAX_FILE_SIZE:
        return imports.Source(None, stored_name(file.path), "")
    digest = hashlib.file_digest(content, "sha256").hexdigest()
    content.seek(0)
    return imports.Source(None, stored_name(file.path), digest)


def describe_row(row: Verdict) -> str:
    return f"line {row.line}: {row.verdict}: {row.reason}"
