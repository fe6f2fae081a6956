"""The open database of a process: its connections, and the lock that makes writes wait for each other.

Exactly one connection writes. With `isolation_level=None` transactions begin and end explicitly, in
thread_connection.py. Only `execute_fetchall` and `executemany` are used: an open cursor would pin a snapshot, and an
unfetched RETURNING would hold the write lock.
"""

import asyncio
import math
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from aiosqlite import Connection

from journal_api.database.connections import STEPS, SecondaryWriter, Writer, connect, open_reader, read_snapshot
from journal_api.database.journal_file import OpenFiles
from journal_api.database.shared_runs import SharedRuns
from journal_api.database.sqlite_errors import DAMAGED, api_error, primary_code
from journal_api.database.thread_connection import T, ThreadConnection, Work, resolve_structs
from journal_api.errors import Busy, StorageUnavailable

# Writes of this process that may wait for the one before them, and seconds that each may wait. With
# BUSY_TIMEOUT for other processes, a write waits two seconds at most.
MAX_WAITING, MAX_WAIT = 256, 1.5
MAX_IDLE = 2  # readers that stay open for the next read of many statements
# Reports at a time, the seconds for which others wait (each takes a core), and the seconds that one may take.
MAX_REPORTS, MAX_REPORT_WAIT, MAX_REPORT_SECONDS = 2, 5.0, 60.0
REPORTING = "Other reports are being computed. Try again."
TOO_LONG = f"The report takes longer than {MAX_REPORT_SECONDS:g} seconds. Choose fewer trades, such as those of a year."

# Seconds for which a search waits for another of its user, and that it may take; steps as STEPS. A step may
# take some hundred microseconds in the index.
MAX_SEARCH_WAIT, MAX_SEARCH_SECONDS, SEARCH_STEPS = 5.0, 2.0, 1000
SEARCHING = "Another search of yours is running. Try again."
SEARCH_TOO_LONG = (
    f"The search takes longer than {MAX_SEARCH_SECONDS:g} seconds, or the server stops."
    " Search for fewer or longer words, or try again."
)

FIRST_READ = "PRAGMA data_version"  # leaves the schema to the first statement that needs it
LAST_CHANGE = "SELECT coalesce(max(seq), 0) FROM changed_objects WHERE user_id = ?"


class Database:
    """The open database of one process: `reader` for single statements, `write` for writes.

    Statements that are slow in a large journal use `slow_reader`, so that no other request waits for them.
    """

    _files: OpenFiles
    probe: sqlite3.Connection  # of the event loop, for a few rows: it never waits, not even for a thread

    def __init__(self, path: Path, factory: type[Writer]) -> None:
        self._path = path
        self._writer = ThreadConnection(partial(connect, path, "rw", factory))
        self.reader, self.slow_reader, self._history_reader = [open_reader(path) for _ in range(3)]
        self._open = (self.reader, self.slow_reader, self._history_reader, self._writer)
        self._further = set[ThreadConnection]()  # the other readers that are open
        self._idle: list[ThreadConnection] = []  # those of them that nobody uses
        self._closing = set[asyncio.Future[None]]()  # what closes some of them now
        self._is_version_known = False
        self._version: int | None = None
        self._cursors, self._is_newest = defaultdict[int, int](int), set[int]()
        self._version_of_cursors: int | None = None
        self.committed = asyncio.Event()  # set by the next commit of this process, then replaced
        self._writing = asyncio.Lock()
        self._waiting = 0
        self._reporting = asyncio.Semaphore(MAX_REPORTS)
        self._searching = defaultdict[int, asyncio.Lock](asyncio.Lock)  # by user
        self.is_stopping = False
        # One history of goals is computed at a time. Users take turns: each has one of their `histories` at a time.
        self.computing_history = asyncio.Lock()
        self.histories = defaultdict[int, SharedRuns](SharedRuns)  # by user
        self.kept_readings: dict[Any, Any] = {}  # of reports (statistics/kept_readings.py)
        self._storage_failed = False  # whether the last write failed because of the storage
        self._is_damaged = False  # whether a statement reported damage
        self.has_committed = False

    @classmethod
    async def open(cls, path: Path, *, secondary: bool = False) -> "Database":
        """Open the file; `secondary` means beside a server or Litestream, which does the checkpoints."""
        resolve_structs()
        database = cls(path, SecondaryWriter if secondary else Writer)
        try:
            for connection in reversed(database._open):
                await connection
                # This opens the log, which could be another one later. Only a connection that has it open
                # deletes it when it closes.
                await connection.execute_fetchall(FIRST_READ)
            database.probe = connect(path, "ro", timeout=0)
            database.probe.executescript(f"PRAGMA trusted_schema = OFF; {FIRST_READ}")
            database._files = OpenFiles.of(path)
            return database
        except BaseException:
            await database._close_connections()
            raise

    async def close(self) -> None:
        self.is_stopping = True
        self.probe.close()
        await self._close_connections()

    async def _close_connections(self) -> None:
        """Close the connections, the writer last, so that it checkpoints the log and deletes it."""
        while self._further:
            await self._close_reader(next(iter(self._further)))
        await asyncio.gather(*self._closing, return_exceptions=True)
        for connection in self._open:
            await connection.close()

    async def _close_reader(self, connection: ThreadConnection) -> None:
        """Close one of the other readers, unless somebody does so already."""
        if connection in self._further:
            self._further.remove(connection)
            closing = asyncio.ensure_future(connection.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            await asyncio.shield(closing)

    def version(self) -> int | None:
        """Return a number that each write of any process changes, read once per iteration (DECISIONS 29), or None."""
        if not self._is_version_known:
            self._is_version_known = True
            asyncio.get_running_loop().call_soon(self._forget_version)
            try:
                self._version = int(self.probe.execute("PRAGMA data_version").fetchone()[0])
            except sqlite3.Error:
                self._version = None
        return self._version

    def _forget_version(self) -> None:
        self._is_version_known = False

    def cursor(self, user_id: int) -> int:
        """Return the newest change of the user's objects: what is read from now on includes it.

        It is read like the version, and once per version. If that fails it is an earlier one, which is safe.
        """
        version = self.version()
        if version is None or version != self._version_of_cursors:
            self._version_of_cursors, self._is_newest = version, set[int]()
        if user_id not in self._is_newest:
            with suppress(sqlite3.Error):
                rows = self.probe.execute(LAST_CHANGE, (user_id,)).fetchall()
                self._cursors[user_id] = int(rows[0][0])
                self._is_newest.add(user_id)
        return self._cursors[user_id]

    async def write(self, work: Work[T], *, commit: bool = True) -> T:
        """Run `work` in the writer's thread, as one transaction; return its result once that is durable.

        All writes of `work` are rolled back after any exception, and after a cancellation unless the commit
        has begun; with `commit=False` also on success (dry run). `work` may await its connection only.

        Raises Busy before anything is written when too many writes wait or the wait takes too long, and
        StorageUnavailable when other files are in the place of the database file and its log now: other
        programs would not see the write.
        """
        if self._waiting >= MAX_WAITING:
            raise Busy
        if self._waiting or self._writing.locked():
            self._waiting += 1
            try:
                await acquire(self._writing, MAX_WAIT, Busy())
            finally:
                self._waiting -= 1
        else:
            await self._writing.acquire()  # at once, without a timer
        try:
            self._require_same_files()
            result = await self._writer.transact(work, commit=commit)
        except sqlite3.Error as error:
            self._storage_failed = self._storage_failed or isinstance(api_error(error), StorageUnavailable)
            raise
        finally:
            self._writing.release()
        self._storage_failed = self._storage_failed and not commit
        if commit:
            self.has_committed = True
            self.committed.set()
            self.committed = asyncio.Event()
        return result

    async def can_write(self) -> bool:
        """Return whether a small write would probably succeed: one is tried after a refusal, damage needs a restart."""
        if self._is_damaged or self._files.change():
            return False
        if self._waiting or self._writing.locked():
            return not self._storage_failed
        try:
            await self.write(write_same_version, commit=self._storage_failed)
        except (Busy, StorageUnavailable, sqlite3.Error):
            return False
        return True

    def note(self, error: sqlite3.Error) -> None:
        """Remember that a statement reported damage."""
        self._is_damaged = self._is_damaged or primary_code(error) in DAMAGED

    @asynccontextmanager
    async def read_transaction(
        self, seconds: float = math.inf, is_stopped: Callable[[], bool] = lambda: False, steps: int = STEPS
    ) -> AsyncIterator[ThreadConnection]:
        """Yield a reader that nobody else uses, whose statements all see the snapshot of the first of them.

        A statement that runs after `seconds`, or when it is stopped, or when the block has ended, is interrupted.
        Raises StorageUnavailable when other files are in the place of the database file and its log now.
        """
        self._require_same_files()
        if self._idle:
            connection = self._idle.pop()
        else:
            await (connection := open_reader(self._path))
            self._further.add(connection)
        try:
            self._require_same_files()
            async with read_snapshot(connection, seconds, is_stopped, steps):
                yield connection
            if len(self._idle) < MAX_IDLE and not self.is_stopping:
                await connection.execute_fetchall("PRAGMA temp_store = MEMORY")  # which a report changes
                connection.row_factory = None
                self._idle.append(connection)
        finally:
            if connection not in self._idle:
                await self._close_reader(connection)

    @asynccontextmanager
    async def report_transaction(self) -> AsyncIterator[ThreadConnection]:
        """Yield a read transaction once few enough other reports run. Raises Busy, also when it takes too long."""
        await acquire(self._reporting, MAX_REPORT_WAIT, Busy(REPORTING))
        try:
            with busy_when_interrupted(TOO_LONG):
                async with self.read_transaction(MAX_REPORT_SECONDS, steps=STEPS) as connection:
                    yield connection
        finally:
            self._reporting.release()

    @asynccontextmanager
    async def search_transaction(self, user_id: int) -> AsyncIterator[ThreadConnection]:
        """Yield a read transaction after the user's last search. Raises Busy, also when it takes too long."""
        turn = self._searching[user_id]
        await acquire(turn, MAX_SEARCH_WAIT, Busy(SEARCHING))
        try:
            with busy_when_interrupted(SEARCH_TOO_LONG):
                async with self.read_transaction(
                    MAX_SEARCH_SECONDS, lambda: self.is_stopping, SEARCH_STEPS
                ) as connection:
                    yield connection
        finally:
            turn.release()

    @asynccontextmanager
    async def history_transaction(self) -> AsyncIterator[ThreadConnection]:
        """Yield the connection for histories in a read transaction. Use it inside `computing_history`."""
        self._require_same_files()
        async with read_snapshot(self._history_reader):
            yield self._history_reader

    def _require_same_files(self) -> None:
        if change := self._files.change():
            raise StorageUnavailable(f"{change} Nothing was written.")


async def acquire(lock: asyncio.Lock | asyncio.Semaphore, seconds: float, refusal: Busy) -> None:
    try:
        async with asyncio.timeout(seconds):
            await lock.acquire()
    except TimeoutError:
        raise refusal from None


@contextmanager
def busy_when_interrupted(reason: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
            raise Busy(reason) from None
        raise


async def write_same_version(db: Connection) -> None:
    ((version,),) = await db.execute_fetchall("PRAGMA user_version")
    await db.execute_fetchall(f"PRAGMA user_version = {version}")
