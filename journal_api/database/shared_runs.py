"""Work that is done once for all who wait for it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any


class SharedRuns:
    """Runs work on ids, one run after the other. A run is of all the ids that were asked for before it began.

    So who asks waits for the current run and the next one, however many others ask, and the next one sees
    what was written before. A run for which nobody waits any more is cancelled.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._next: Run | None = None

    async def run(self, ids: Iterable[int], work: Callable[[list[int]], Awaitable[None]]) -> None:
        """Wait for a run that begins after this call, and raise what it raises."""
        run = self._next = self._next or Run()
        run.ids.update(dict.fromkeys(ids))
        run.task = run.task or asyncio.create_task(self._begin(run, work))
        run.waiting += 1
        try:
            await asyncio.shield(run.task)
        finally:
            run.waiting -= 1
            if not run.waiting:
                self._close(run)
                run.task.cancel()
                await asyncio.wait([run.task])  # it still uses the connections

    async def _begin(self, run: "Run", work: Callable[[list[int]], Awaitable[None]]) -> None:
        async with self._turn:
            self._close(run)
            await work(list(run.ids))

    def _close(self, run: "Run") -> None:
        """Let who asks from now on wait for another run."""
        if self._next is run:
            self._next = None


class Run:
    """A run that has not ended, and how many wait for it."""

    def __init__(self) -> None:
        self.ids: dict[int, None] = {}
        self.task: asyncio.Task[Any] | None = None
        self.waiting = 0
