"""Changes of objects: wakes the requests that wait for one."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from journal_api.database.database import Database

POLL = 1.0  # seconds between two looks for the writes of other processes, while any request waits


class ChangeSignal:
    """A task looks for changes while anybody listens, after each commit and once a second. Listening locks nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._listeners = Counter[int]()  # by user
        self._cursors: dict[int, int] = {}
        self._changed = defaultdict[int, asyncio.Event](asyncio.Event)
        self.is_stopped = False

    @contextmanager
    def listening(self, user_id: int) -> Iterator[None]:
        """Look for changes of the user's objects during the block."""
        if not self._listeners:
            self._watch = asyncio.create_task(self._look_for_changes())
        if not self._listeners[user_id]:
            self._cursors[user_id] = self._database.cursor(user_id)
        self._listeners[user_id] += 1
        try:
            yield
        finally:
            self._listeners[user_id] -= 1
            self._listeners += Counter()  # without users that nobody listens for
            if not self._listeners:
                self._watch.cancel()

    def changed(self, user_id: int) -> asyncio.Event:
        """Return the event of the user's next change, or of the stop of the server."""
        return self._changed[user_id]

    def stop(self) -> None:
        self.is_stopped = True
        for event in self._changed.values():
            event.set()

    async def _look_for_changes(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._database.committed.wait(), POLL)
            for user_id in self._listeners:
                newest = self._database.cursor(user_id)
                if newest != self._cursors[user_id]:
                    self._cursors[user_id] = newest
                    self._changed.pop(user_id, asyncio.Event()).set()
