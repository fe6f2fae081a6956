"""The database file as the system has it: which one it is, its names, who may read it."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from journal_api.errors import DatabaseRefused

# The log, its index and the lock of a server are beside the file.
BESIDE = ("", "-wal", "-shm", ".lock")
OTHERS = 0o077


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file the path leads to, None for none; 2 µs."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def has_other_names(file: Path) -> bool:
    return file.exists() and file.stat().st_nlink > 1


def leave_one_name(file: Path) -> None:
    """Raises DatabaseRefused for a file with hard links: each name has a log and a lock of its own.

    A restore that was killed leaves one, which is taken away. Nobody else may be restoring.
    """
    if not has_other_names(file):
        return
    for other in file.parent.glob(f"{file.name}.before-restore-*"):
        if other.samefile(file):
            other.unlink()
    if has_other_names(file):
        raise DatabaseRefused(
            f"{file.name} has further names (hard links), and a write under one of them would damage it; "
            f"remove them: `find DIRECTORY -samefile {file.name}` tells which they are"
        )


def keep_from_others(file: Path) -> str | None:
    """Make the file and what is beside it 0600 where it is ours; what to say of it, None for nothing."""
    if sys.platform == "win32":
        return None
    found = [one for suffix in BESIDE if is_open_to_others(one := file.with_name(file.name + suffix))]
    if not found:
        return None
    modes = ", ".join(f"{one.name} {stat.S_IMODE(one.lstat().st_mode):04o}" for one in found)
    for one in found:
        with suppress(OSError):
            one.chmod(0o600)
    if any(map(is_open_to_others, found)):
        return f"others may read the journal, and its file system does not let that be changed: {modes}"
    return f"others could read the journal ({modes}): made 0600"


def is_open_to_others(file: Path) -> bool:
    """Whether it is a file of this user that others may read or write."""
    try:
        found = file.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and bool(found.st_mode & OTHERS)
