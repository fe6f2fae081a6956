"""One connection of SQLite each: what it may do, and how statements get to its thread."""

import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiosqlite

from journal_api.database.batching import BatchingConnection
from journal_api.values.clock import instant_after
from journal_api.values.money import sql_ratio
from journal_api.values.periods import trading_day

# Seconds that a statement waits for one who writes from outside.
LONGEST_WAIT_OUTSIDE = 0.5
WAL_TRIES, WAL_PAUSE = 100, 0.02  # seconds


class Reader(sqlite3.Connection):
    """A connection with the pragmas that every connection has."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for pragma in (
            "foreign_keys = ON",
            f"busy_timeout = {int(LONGEST_WAIT_OUTSIDE * 1000)}",
            "trusted_schema = OFF",
            "temp_store = MEMORY",
            "mmap_size = 0",
            "cell_size_check = ON",
        ):
            self.execute(f"PRAGMA {pragma}")
        if self.execute("PRAGMA foreign_keys").fetchone() != (1,):
            raise sqlite3.OperationalError("this SQLite was built without foreign keys")
        self.create_function("trading_day", 3, trading_day, deterministic=True)
        self.create_function("from_hex", 1, bytes.fromhex, deterministic=True)
        self.create_function("ratio", 2, sql_ratio, deterministic=True)
        self.create_function("instant_after", 1, instant_after, deterministic=True)


class Writer(Reader):
    """The connection that writes: durable before it answers (synchronous=FULL)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.switched_to_wal() != "wal":
            raise sqlite3.OperationalError("this file system cannot hold a write-ahead log")
        for pragma in (
            "synchronous = FULL",
            "fullfsync = ON",
            "wal_autocheckpoint = 1000",
            "journal_size_limit = 16777216",
            "secure_delete = ON",
        ):
            self.execute(f"PRAGMA {pragma}")

    def switched_to_wal(self) -> str:
        """The journal mode after the switch, which does not wait for others by itself."""
        for _ in range(WAL_TRIES):
            with suppress(sqlite3.OperationalError):
                return str(self.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            time.sleep(WAL_PAUSE)
        return str(self.execute("PRAGMA journal_mode = WAL").fetchone()[0])


class SecondaryWriter(Writer):
    """A writer beside a running server, which stays the only one that checkpoints (DECISIONS 28)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("PRAGMA wal_autocheckpoint = 0")
        self.execute("PRAGMA busy_timeout = 2000")  # no other request waits behind it


class DataVersionProbe(sqlite3.Connection):
    """Only ever asked whether the file was written to; it must not wait for anybody."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("PRAGMA busy_timeout = 0")


def connected(path: Path, mode: str, factory: type[sqlite3.Connection]) -> aiosqlite.Connection:
    """To be awaited; `mode` is ro or rw."""
    kind = BatchingConnection if mode == "ro" else partial(aiosqlite.Connection, iter_chunk_size=64)
    connecting = kind(partial(opened, path, mode, factory))
    # A connection that nobody closed must not keep the process alive.
    connecting._thread.daemon = True
    return connecting


def opened(path: Path, mode: str, factory: type[sqlite3.Connection]) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, factory=factory
    )
