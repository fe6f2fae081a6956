"""A connection that sends the statements of one turn of the event loop to its thread together."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import aiosqlite

# Seconds: answers are not kept back any longer for those behind them.
LONGEST_TRIP = 0.001


Answer = asyncio.Future[Any]


Answered = tuple[Answer, Any, BaseException | None]


class BatchingConnection(aiosqlite.Connection):
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
                loop.call_soon_threadsafe(deliver, answered)
                answered, left = [], time.monotonic()
        loop.call_soon_threadsafe(self._come_back, loop, answered)

    def _come_back(self, loop: asyncio.AbstractEventLoop, answered: list[Answered]) -> None:
        deliver(answered)
        if self._asked:
            self._leave(loop)
        else:
            self._is_away = False


def deliver(answered: list[Answered]) -> None:
    for answer, result, error in answered:
        if answer.done():
            continue  # nobody waits for it any more
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)
