"""The one database file, open: who reads, who writes, and the transaction helper.

Exactly one connection writes. `isolation_level=None`: transactions begin and end here, in sight. Only
`execute_fetchall` and `executemany` are used: an open cursor would pin a snapshot, and an unfetched
RETURNING would keep the write lock.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from aiosqlite import Connection

from journal_api.database.connections import (
    DataVersionProbe,
    Reader,
    SecondaryWriter,
    Writer,
    connected,
    opened,
)
from journal_api.database.errors import DAMAGED, api_error, primary_code
from journal_api.database.journal_file import file_at
from journal_api.errors import Busy, StorageUnavailable

MOST_WAITING = 256
# Seconds for one's turn here; with LONGEST_WAIT_OUTSIDE for one who writes from outside, two.
LONGEST_WAIT = 1.5


class Database:
    """The open database of one process: `reader` for one statement, `transaction()` for all that writes.

    What a large journal makes slow goes to `slow_reader`, so that nothing else waits behind it.
    """

    def __init__(self, path: Path, writer: Connection, reader: Connection, slow_reader: Connection) -> None:
        self._path, self._writer = path, writer
        self._file = file_at(path)
        self.reader, self.slow_reader = reader, slow_reader
        self._open = (reader, slow_reader, writer)
        self._watch = opened(path, "ro", DataVersionProbe)
        self._is_version_known = False
        self._version: int | None = None
        self._writing = asyncio.Lock()
        self._waiting = 0
        self._storage_failed = False  # at the last write
        self._is_damaged = False  # as far as any statement has found

    @classmethod
    async def open(cls, path: Path, *, secondary: bool = False) -> "Database":
        found = [await connected(path, "rw", SecondaryWriter if secondary else Writer)]
        try:
            for _ in range(2):
                found.append(await connected(path, "ro", Reader))
            return cls(path, *found)
        except BaseException:
            for connection in reversed(found):
                await connection.close()
            raise

    async def close(self) -> None:
        """Close the readers first, so that the writer's close can fold the log into the file."""
        # Only who has read the log removes it, and the readers may not.
        with suppress(sqlite3.Error):
            await self._writer.execute_fetchall("SELECT 1 FROM sqlite_schema")
        self._watch.close()
        for connection in self._open:
            await connection.close()

    def version(self) -> int | None:
        """Another number once anybody, in any process, has written to the file; None if that is not known.

        The one question that is asked on this thread, and once in a turn of the loop: a request that comes
        later has a later turn (DECISIONS 48).
        """
        if not self._is_version_known:
            self._is_version_known = True
            asyncio.get_running_loop().call_soon(self._forget_version)
            try:
                self._version = int(self._watch.execute("PRAGMA data_version").fetchone()[0])
            except sqlite3.Error:
                self._version = None
        return self._version

    def _forget_version(self) -> None:
        self._is_version_known = False

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        """All writes of the block or none; any exception, cancellation included, rolls back.

        A cancellation that comes upon the commit itself is too late and forgotten: what was written is not to
        be answered as if it were not.

        Without `keep` none, in any case: for a rehearsal.

        Raises Busy before anything is written when the queue is full or the turn does not come, and
        StorageUnavailable when the path leads to another file by now: a write would go to the old one.

        The rollback is unconditional: it queues behind whatever a cancelled await left running, and ahead
        of the next BEGIN. Without an open transaction it does nothing.
        """
        await self._take_turn()
        try:
            self._require_same_file()
            await self._writer.execute_fetchall("BEGIN IMMEDIATE")
            yield self._writer
            await to_its_end(self._writer.execute_fetchall("COMMIT" if commit else "ROLLBACK"))
            self._storage_failed = self._storage_failed and not commit
        except BaseException as error:
            if isinstance(error, sqlite3.Error) and isinstance(api_error(error), StorageUnavailable):
                self._storage_failed = True
            await self._writer.rollback()
            raise
        finally:
            self._writing.release()

    async def can_write(self) -> bool:
        """Whether a small write would be taken now, as far as can be told without one.

        After one that the storage refused only another can tell, so one is made that changes nothing. Damage
        and another file in the place of this one are not over before a restart.
        """
        if self._is_damaged or file_at(self._path) != self._file:
            return False
        if self._writing.locked():
            return not self._storage_failed
        try:
            async with self.transaction(commit=self._storage_failed) as db:
                if self._storage_failed:
                    ((version,),) = await db.execute_fetchall("PRAGMA user_version")
                    await db.execute_fetchall(f"PRAGMA user_version = {version}")
        except (Busy, StorageUnavailable, sqlite3.Error):
            return False
        return True

    def note(self, error: sqlite3.Error) -> None:
        """Remember that a statement found damage."""
        self._is_damaged = self._is_damaged or primary_code(error) in DAMAGED

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[Connection]:
        """A reader of its own, whose statements all see the journal as it was at the first of them.

        Raises StorageUnavailable when the path leads to another file by now, before or after it was opened.
        """
        self._require_same_file()
        async with connected(self._path, "ro", Reader) as connection:
            self._require_same_file()
            connection.row_factory = sqlite3.Row
            await connection.execute_fetchall("BEGIN")
            yield connection

    def _require_same_file(self) -> None:
        if file_at(self._path) != self._file:
            raise StorageUnavailable(
                "The database file was moved, deleted or replaced while the service runs: put it back, "
                "or restart the service. Nothing was written."
            )

    async def _take_turn(self) -> None:
        if self._waiting >= MOST_WAITING:
            raise Busy
        self._waiting += 1
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                await self._writing.acquire()
        except TimeoutError:
            raise Busy from None
        finally:
            self._waiting -= 1


class JoinedTransaction:
    """The database to code whose transaction goes on after its block: it ends with the stack.

    `begun` is that transaction, None as long as nobody asked for one. `on_begin` is called inside it, first.
    """

    def __init__(
        self,
        database: Database,
        stack: AsyncExitStack,
        on_begin: Callable[[Connection], Awaitable[None]],
    ) -> None:
        self._database, self._stack, self._on_begin = database, stack, on_begin
        self.reader, self.slow_reader = database.reader, database.slow_reader
        self.read_transaction = database.read_transaction
        self.begun: Connection | None = None

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        if not commit:  # what is not kept is no part of it
            async with self._database.transaction(commit=False) as db:
                yield db
            return
        if self.begun is None:
            self.begun = await self._stack.enter_async_context(self._database.transaction())
            await self._on_begin(self.begun)
        yield self.begun


async def to_its_end(work: Coroutine[Any, Any, object]) -> None:
    """Wait for work that cannot be undone, whatever is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()
