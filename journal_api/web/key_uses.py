"""The day of the last use of each API key, written at intervals, so that no request waits for the write."""

import logging
import sqlite3
from functools import partial

from journal_api.database.database import Database
from journal_api.errors import ApiError
from journal_api.repositories import api_keys
from journal_api.repositories.api_keys import KeyRow
from journal_api.values.clock import day_now

log = logging.getLogger("journal_api")

SAVE_EVERY = 60.0  # seconds


class KeyUses:
    """Keys that were used on a later day than the database says: at most one write per key and day."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._days: dict[int, str] = {}

    def note(self, key: KeyRow) -> None:
        today = day_now()
        if key.last_used_on is None or key.last_used_on < today:
            self._days[key.key_id] = today

    async def save(self) -> None:
        """Write what was noted. If the write fails, it stays noted until the next call."""
        days = dict(self._days)
        if not days:
            return
        try:
            await self._database.write(partial(api_keys.save_last_use, days=days))
        except (sqlite3.Error, ApiError) as error:
            log.info("the last use of %d keys was not saved: %s", len(days), error)
        else:
            self._days = {key_id: day for key_id, day in self._days.items() if days.get(key_id) != day}
