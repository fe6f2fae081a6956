"""SQLite connections: pragmas, SQL functions, and how statements reach the connection's thread."""

import asyncio
import math
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiosqlite

from journal_api.database.thread_connection import ThreadConnection, finish
from journal_api.metrics.metrics import METRICS, goal_kind
from journal_api.values.clock import instant_after
from journal_api.values.instruments import canonical_symbol, contract_root
from journal_api.values.money import SumOfIntegers, SumOrOutOfRange, share_of, sql_ratio
from journal_api.values.periods import local_hour, trading_day

# Seconds that a statement waits for a writer in another process.
BUSY_TIMEOUT = 0.5
WAL_TRIES, WAL_PAUSE = 100, 0.02  # seconds
# Steps of SQLite's virtual machine between two looks at whether a statement must stop: some milliseconds.
STEPS = 100_000


class Reader(sqlite3.Connection):
    """A connection with the pragmas and SQL functions that all connections have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for pragma in (
            "foreign_keys = ON",
            f"busy_timeout = {int(BUSY_TIMEOUT * 1000)}",
            "trusted_schema = OFF",
            "temp_store = MEMORY",
            "mmap_size = 0",
            "cell_size_check = ON",
        ):
            self.execute(f"PRAGMA {pragma}")
        if self.execute("PRAGMA foreign_keys").fetchone() != (1,):
            raise sqlite3.OperationalError("this SQLite was built without foreign keys")
        self.create_function("trading_day", 3, trading_day, deterministic=True)
        self.create_function("local_hour", 2, local_hour, deterministic=True)
        self.create_aggregate("sum_of_integers", 1, SumOfIntegers)
        self.create_aggregate("sum_or_out_of_range", 1, SumOrOutOfRange)
        self.create_function("from_hex", 1, bytes.fromhex, deterministic=True)
        self.create_function("ratio", 2, sql_ratio, deterministic=True)
        self.create_function("share_of", 2, share_of, deterministic=True)
        self.create_function("goal_kind", 3, goal_kind, deterministic=True)
        self.create_function("goal_formula", 1, lambda metric: METRICS[metric].formula.text, deterministic=True)
        self.create_function("canonical_symbol", 2, canonical_symbol, deterministic=True)
        self.create_function("contract_root", 1, contract_root, deterministic=True)
        self.create_function("instant_after", 1, instant_after, deterministic=True)


class Writer(Reader):
    """The connection that writes. A commit is durable when it returns (synchronous=FULL)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.switched_to_wal() != "wal":
            raise sqlite3.OperationalError("this file system does not support a write-ahead log")
        for pragma in (
            "synchronous = FULL",
            "fullfsync = ON",
            "wal_autocheckpoint = 1000",
            "journal_size_limit = 16777216",
            "secure_delete = ON",
            # Triggers write the index of the search, which SQLite 3.40 forbids otherwise. The schema was
            # compared with schema.sql when the file was prepared.
            "trusted_schema = ON",
        ):
            self.execute(f"PRAGMA {pragma}")

    def switched_to_wal(self) -> str:
        """Switch to WAL mode and return the journal mode. Retries, because the busy timeout does not apply."""
        for _ in range(WAL_TRIES):
            with suppress(sqlite3.OperationalError):
                return str(self.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            time.sleep(WAL_PAUSE)
        return str(self.execute("PRAGMA journal_mode = WAL").fetchone()[0])


class SecondaryWriter(Writer):
    """A writer beside a running server or Litestream, which alone checkpoints (DECISIONS 27)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("PRAGMA wal_autocheckpoint = 0")
        self.execute("PRAGMA busy_timeout = 2000")  # a command may wait longer than a request


def open_reader(path: Path) -> ThreadConnection:
    return ThreadConnection(partial(connect, path, "ro", Reader))


@asynccontextmanager
async def read_snapshot(
    connection: aiosqlite.Connection,
    seconds: float = math.inf,
    is_stopped: Callable[[], bool] = lambda: False,
    steps: int = STEPS,
) -> AsyncIterator[None]:
    """Run the block as a read transaction, whose statements all see the snapshot of the first of them.

    A statement is interrupted after `seconds`, when it is stopped, and when the block has ended because its
    request was cancelled: sqlite3.OperationalError with SQLITE_INTERRUPT. The method interrupt() would miss a
    statement that the thread is about to begin.
    """
    until = time.monotonic() + seconds
    has_ended = threading.Event()

    def must_end() -> bool:
        return has_ended.is_set() or is_stopped() or time.monotonic() > until

    await connection.set_progress_handler(must_end, steps)
    try:
        await connection.execute_fetchall("BEGIN")
        yield
    finally:
        has_ended.set()
        await finish(asyncio.ensure_future(end_snapshot(connection)))


async def end_snapshot(connection: aiosqlite.Connection) -> None:
    """End the read transaction, after a statement that a cancelled request has left in the thread."""
    await connection.set_progress_handler(lambda: False, STEPS)
    await connection.rollback()


def connect(
    path: Path, mode: str, factory: type[sqlite3.Connection] = sqlite3.Connection, timeout: float = 5.0
) -> sqlite3.Connection:
    """Open a connection. Transactions are explicit (isolation_level=None)."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, factory=factory)
