"""The open database of a process: its reader and writer connections and the transaction helper.

Exactly one connection writes. With `isolation_level=None` transactions begin and end explicitly, in this
module. Only `execute_fetchall` and `executemany` are used: an open cursor would pin a snapshot, and an
unfetched RETURNING would hold the write lock.
"""

import asyncio
import math
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from aiosqlite import Connection

from journal_api.database.connections import (
    DataVersionProbe,
    SecondaryWriter,
    Writer,
    one_snapshot,
    opened,
    reading,
    writing,
)
from journal_api.database.errors import DAMAGED, api_error, primary_code
from journal_api.database.journal_file import OpenFiles
from journal_api.database.transactions import T, Work
from journal_api.database.writing import End, WritingConnection, uncancelled
from journal_api.errors import Busy, StorageUnavailable

END: dict[bool, End] = {True: "COMMIT", False: "ROLLBACK"}
MAX_WAITING = 256
# Seconds to wait for a turn among the writes of this process. With BUSY_TIMEOUT for other processes, two
# seconds in all.
MAX_WAIT = 1.5
# Reports at a time, the seconds for which others wait (each takes a core), and the seconds that one may take.
MAX_REPORTS, MAX_REPORT_WAIT, MAX_REPORT_SECONDS = 2, 5.0, 60.0
REPORTING = "Other reports are being computed. Try again."
TOO_LONG = (
    f"The report takes longer than {MAX_REPORT_SECONDS:g} seconds."
    " Choose fewer trades, such as those of a year."
)


class Database:
    """The open database of one process: `reader` for single statements, `write` and `transaction` for writes.

    Statements that are slow in a large journal use `slow_reader`, so that no other request waits for them.
    """

    def __init__(
        self,
        path: Path,
        writer: WritingConnection,
        reader: Connection,
        slow_reader: Connection,
        history_reader: Connection,
    ) -> None:
        self._path, self._writer = path, writer
        self._files = OpenFiles.of(path)
        writer.before_begin = self._require_same_files  # after any wait for a turn
        self.reader, self.slow_reader = reader, slow_reader
        self._history_reader = history_reader
        self._open = (reader, slow_reader, history_reader, writer)
        self._probe = opened(path, "ro", DataVersionProbe)
        self._is_version_known = False
        self._version: int | None = None
        self._writing = asyncio.Lock()
        self._waiting = 0
        self._reporting = asyncio.Semaphore(MAX_REPORTS)
        self._history, self._history_of_user = asyncio.Lock(), defaultdict[int, asyncio.Lock](asyncio.Lock)
        self._storage_failed = False  # whether the last write failed because of the storage
        self._is_damaged = False  # whether a statement reported damage
        self.has_committed = False

    @classmethod
    async def open(cls, path: Path, *, secondary: bool = False) -> "Database":
        """Open the file; `secondary` means beside a server or Litestream, which does the checkpoints."""
        writer = writing(path, SecondaryWriter if secondary else Writer)
        opened_connections: list[Connection] = [await writer]
        try:
            # This opens the log. Only a connection that has it open deletes it when it closes.
            await writer.execute_fetchall("SELECT 1 FROM sqlite_schema")
            for _ in range(3):
                opened_connections.append(await reading(path))
            return cls(path, writer, *opened_connections[1:])
        except BaseException:
            for connection in reversed(opened_connections):
                await connection.close()
            raise

    async def close(self) -> None:
        """Close the connections, the writer last, so that it checkpoints the log and deletes it."""
        self._probe.close()
        for connection in self._open:
            await connection.close()

    def version(self) -> int | None:
        """Return a number that changes with every write of any process to the file, None if it is unknown.

        It is read on the event loop's thread, once per iteration: later requests are handled in later
        iterations (DECISIONS 30).
        """
        if not self._is_version_known:
            self._is_version_known = True
            asyncio.get_running_loop().call_soon(self._forget_version)
            try:
                self._version = int(self._probe.execute("PRAGMA data_version").fetchone()[0])
            except sqlite3.Error:
                self._version = None
        return self._version

    def _forget_version(self) -> None:
        self._is_version_known = False

    async def write(self, work: Work[T], *, commit: bool = True) -> T:
        """Run `work` in the writer's thread, as one transaction; return its result once that is durable.

        All writes of `work` are rolled back after any exception, and after a cancellation unless the commit
        has begun; with `commit=False` also on success (dry run). `work` may await its connection only.

        Raises Busy before anything is written when too many writers wait or the wait takes too long, and
        StorageUnavailable when other files are in the place of the database file and its log now: other
        programs would not see the write.
        """
        with self._waiting_in_line() as until:
            if self._writing.locked():  # by a transaction of several calls
                await self._acquire(until)
                self._writing.release()
            try:
                result = await self._writer.run(work, END[commit], until)
            except BaseException as error:
                self._note_storage(error)
                raise
        self._note_end(commit)
        return result

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        """Like `write`, for a block that may await anything: each statement is a call of the thread.

        A cancellation during the commit is ignored: the response must not deny a write that was committed.

        The rollback runs after any statement that a cancelled await left running, and before the next BEGIN.
        The next writer may send its statements as soon as the commit was sent, because the thread of the
        connection keeps their order.
        """
        with self._waiting_in_line() as until:
            await self._acquire(until)
        try:
            self._writer.begin(until)
            try:
                yield self._writer
            except BaseException:
                await self._writer.abandon()
                raise
            end = self._writer.end(END[commit])
        except BaseException as error:
            self._note_storage(error)
            raise
        finally:
            self._writing.release()
        try:
            await uncancelled(end)
        except BaseException as error:
            self._note_storage(error)
            raise
        self._note_end(commit)

    def _note_end(self, commit: bool) -> None:
        """Remember that a transaction succeeded."""
        self._storage_failed = self._storage_failed and not commit
        self.has_committed = self.has_committed or commit

    def _note_storage(self, error: BaseException) -> None:
        """Remember that the storage refused a write."""
        if isinstance(error, sqlite3.Error) and isinstance(api_error(error), StorageUnavailable):
            self._storage_failed = True

    async def can_write(self) -> bool:
        """Return whether a small write would probably succeed now.

        After a write that the storage refused, a write that changes nothing is tried. Damage, and other
        files in the place of the opened ones, need a restart.
        """
        if self._is_damaged or self._files.change():
            return False
        if self._waiting or self._writing.locked():
            return not self._storage_failed
        try:
            async with self.transaction(commit=self._storage_failed) as db:
                ((version,),) = await db.execute_fetchall("PRAGMA user_version")
                if self._storage_failed:
                    await db.execute_fetchall(f"PRAGMA user_version = {version}")
        except (Busy, StorageUnavailable, sqlite3.Error):
            return False
        return True

    def note(self, error: sqlite3.Error) -> None:
        """Remember that a statement reported damage."""
        self._is_damaged = self._is_damaged or primary_code(error) in DAMAGED

    @asynccontextmanager
    async def read_transaction(self, seconds: float = math.inf) -> AsyncIterator[Connection]:
        """Yield a new reader connection, whose statements all see the snapshot of the first of them.

        A statement that runs after `seconds`, or when the block has ended, is interrupted. Raises
        StorageUnavailable when other files are in the place of the database file and its log now.
        """
        self._require_same_files()
        async with reading(self._path) as connection:
            self._require_same_files()
            connection.row_factory = sqlite3.Row
            async with one_snapshot(connection, seconds):
                yield connection

    @asynccontextmanager
    async def report_transaction(self) -> AsyncIterator[Connection]:
        """Yield the connection of a read transaction once few enough other reports run.

        Raises Busy, also when the report takes too long.
        """
        try:
            async with asyncio.timeout(MAX_REPORT_WAIT):
                await self._reporting.acquire()
        except TimeoutError:
            raise Busy(REPORTING) from None
        try:
            async with self.read_transaction(MAX_REPORT_SECONDS) as connection:
                yield connection
        except sqlite3.OperationalError as error:
            if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
                raise Busy(TOO_LONG) from None
            raise
        finally:
            self._reporting.release()

    @asynccontextmanager
    async def computing_history(self, user_id: int) -> AsyncIterator[None]:
        """Wait for the turn to compute histories of goals of a user: one block at a time.

        Users take turns, however many requests of one of them wait.
        """
        async with self._history_of_user[user_id], self._history:
            yield

    @asynccontextmanager
    async def history_transaction(self) -> AsyncIterator[Connection]:
        """Yield the connection for histories in a read transaction. Use it inside `computing_history`."""
        self._require_same_files()
        async with one_snapshot(self._history_reader):
            yield self._history_reader

    def _require_same_files(self) -> None:
        if change := self._files.change():
            raise StorageUnavailable(f"{change} Nothing was written.")

    @contextmanager
    def _waiting_in_line(self) -> Iterator[float]:
        """Yield until when a writer that comes now waits, in seconds of the event loop. Raises Busy."""
        if self._waiting >= MAX_WAITING:
            raise Busy
        self._waiting += 1
        try:
            yield asyncio.get_running_loop().time() + MAX_WAIT
        finally:
            self._waiting -= 1

    async def _acquire(self, until: float) -> None:
        """Acquire the lock of transactions of several calls. Raises Busy."""
        try:
            async with asyncio.timeout_at(until):
                await self._writing.acquire()
        except TimeoutError:
            raise Busy from None
