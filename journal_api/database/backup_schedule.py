"""Scheduled backups, made in a thread while the server runs."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from journal_api.database.backup import back_up, backup_name, list_backups
from journal_api.settings import Settings

log = logging.getLogger("journal_api")

INTERVAL = 60.0  # seconds between two checks; a longer wait would not notice that the machine was suspended
RETRY = 900.0  # seconds after a failure


@asynccontextmanager
async def back_up_on_schedule(settings: Settings) -> AsyncIterator[None]:
    if settings.backup_dir is None:
        yield
        return
    stop = threading.Event()
    task = asyncio.create_task(asyncio.to_thread(run_schedule, settings, settings.backup_dir, stop))
    try:
        yield
    finally:
        stop.set()
        await task


def run_schedule(settings: Settings, folder: Path, stop: threading.Event) -> None:
    """Make a backup whenever the newest is too old. A failure is logged and retried later."""
    every = settings.backup_every
    wait = 0.0
    while not stop.wait(wait):
        wait = min(every.total_seconds(), INTERVAL)
        try:
            if is_due(folder, every):
                path = back_up(settings.db, folder, keep=settings.backup_keep, is_stopped=stop.is_set)
                log.info("backup %s finished", path)
        except Exception as error:  # no failure of a backup may stop the server
            wait = min(every.total_seconds(), RETRY)
            if not stop.is_set():
                log.error("backup to %s failed: %s", folder, " ".join(str(error).split()))


def is_due(folder: Path, every: timedelta) -> bool:
    """Return whether no backup was made in that time. Backups dated in the future do not count."""
    now = datetime.now(UTC)
    return not any(backup_name(now - every) < file.name <= backup_name(now) for file in list_backups(folder))
