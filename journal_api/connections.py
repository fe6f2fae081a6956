"""One connection of SQLite each: what it may do, and how statements get to its thread."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiosqlite

from journal_api.money import sql_ratio
from journal_api.periods import trading_day
from journal_api.values import instant_after

# Seconds that a statement waits for one who writes from outside.
LONGEST_WAIT_OUTSIDE = 0.5
WAL_TRIES, WAL_PAUSE = 100, 0.02  # seconds
# Seconds: answers are not kept back any longer for those behind them.
LONGEST_TRIP = 0.001
Answer = asyncio.Future[Any]
Answered = tuple[Answer, Any, BaseException | None]


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


class Guest(Writer):
    """A writer beside a running server, which stays the only one that checkpoints (DECISIONS 28)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("PRAGMA wal_autocheckpoint = 0")
        self.execute("PRAGMA busy_timeout = 2000")  # no other request waits behind it


class Watch(sqlite3.Connection):
    """Only ever asked whether the file was written to; it must not wait for anybody."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute("PRAGMA busy_timeout = 0")


class Shared(aiosqlite.Connection):
    """A connection of many requests: what they ask in one turn of the loop goes to its thread together.

    The answers come back together too. To wake the other thread costs more than most statements (DECISIONS
    53).
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._asked: list[tuple[Answer, Callable[[], Any]]] = []
        self._is_away = False

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Through here aiosqlite sends all that the thread is to do."""
        if not self._running or not self._connection:
            raise ValueError("Connection closed")
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        self._asked.append((answer, partial(fn, *args, **kwargs)))
        if not self._is_away:
            self._is_away = True
            loop.call_soon(self._leave, loop)
        return await answer

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        asked, self._asked = self._asked, []
        self._tx.put_nowait((None, partial(self._run, loop, asked)))

    def _run(self, loop: asyncio.AbstractEventLoop, asked: list[tuple[Answer, Callable[[], Any]]]) -> None:
        """In the thread."""
        answered: list[Answered] = []
        left = time.monotonic()
        for answer, function in asked:
            try:
                answered.append((answer, function(), None))
            except BaseException as error:
                answered.append((answer, None, error))
            if time.monotonic() - left > LONGEST_TRIP:
                loop.call_soon_threadsafe(hand_over, answered)
                answered, left = [], time.monotonic()
        loop.call_soon_threadsafe(self._come_back, loop, answered)

    def _come_back(self, loop: asyncio.AbstractEventLoop, answered: list[Answered]) -> None:
        hand_over(answered)
        if self._asked:
            self._leave(loop)
        else:
            self._is_away = False


def hand_over(answered: list[Answered]) -> None:
    for answer, result, error in answered:
        if answer.done():
            continue  # nobody waits for it any more
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)


def connected(path: Path, mode: str, factory: type[sqlite3.Connection]) -> aiosqlite.Connection:
    """To be awaited; `mode` is ro or rw."""
    kind = Shared if mode == "ro" else partial(aiosqlite.Connection, iter_chunk_size=64)
    connecting = kind(partial(opened, path, mode, factory))
    # A connection that nobody closed must not keep the process alive.
    connecting._thread.daemon = True
    return connecting


def opened(path: Path, mode: str, factory: type[sqlite3.Connection]) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, factory=factory
    )
