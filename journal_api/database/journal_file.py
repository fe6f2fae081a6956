"""The database file in the file system: identity, hard links, permissions."""

import glob
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from journal_api.errors import DatabaseRefused

# The suffixes of the file itself, its log, the index of the log and the lock of a server.
SUFFIXES = ("", "-wal", "-shm", ".lock")
GROUP_AND_OTHERS = 0o077


def file_at(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file at the path, None without a file. Takes 2 µs."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def has_hard_links(file: Path) -> bool:
    """Return whether the file has more than one name."""
    return file.exists() and file.stat().st_nlink > 1


def require_one_name(file: Path) -> None:
    """Raise DatabaseRefused for a file with several hard links: each name has its own log and lock.

    A link that a killed restore left is removed. No other restore may be running.
    """
    if not has_hard_links(file):
        return
    for other in file.parent.glob(f"{glob.escape(file.name)}.before-restore-*"):
        if other.samefile(file):
            other.unlink()
    if has_hard_links(file):
        raise DatabaseRefused(
            f"{file.name} has several names (hard links), and a write under another name would damage it; "
            f"remove them: `find DIRECTORY -samefile {file.name}` lists them"
        )


def restrict_permissions(file: Path) -> str | None:
    """Set the mode of the file and the files beside it to 0600. Returns a message if others had access."""
    if sys.platform == "win32":
        return None
    beside = [file.with_name(file.name + suffix) for suffix in SUFFIXES]
    accessible = [path for path in beside if is_open_to_others(path)]
    if not accessible:
        return None
    modes = ", ".join(f"{path.name} {stat.S_IMODE(path.lstat().st_mode):04o}" for path in accessible)
    for path in accessible:
        with suppress(OSError):
            path.chmod(0o600)
    if any(map(is_open_to_others, accessible)):
        return f"other users can read the journal, and its file system does not allow a change: {modes}"
    return f"other users could read the journal ({modes}): changed to 0600"


def is_open_to_others(file: Path) -> bool:
    """Return whether the file belongs to this user and other users can read or write it."""
    try:
        status = file.lstat()
    except OSError:
        return False
    is_own_file = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    return is_own_file and bool(status.st_mode & GROUP_AND_OTHERS)
