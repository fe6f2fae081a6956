"""The database file in the file system: identity, permissions."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# The suffixes of the file itself, its log, the index of the log and the lock of a server.
SUFFIXES = ("", "-wal", "-shm", ".lock")
GROUP_AND_OTHERS = 0o077

FileId = tuple[int, int]  # device and inode


class OpenFiles(NamedTuple):
    """The database file and its log, as they were when they were opened.

    SQLite resolves symbolic links when it opens the file, and keeps the log and its index beside that name.
    """

    paths: tuple[str, str, str, str]
    file_ids: tuple[FileId | None, ...]

    @classmethod
    def of(cls, path: Path) -> "OpenFiles":
        """Return the files of a database. A connection must have read from it, which creates the log."""
        file = str(path.resolve())
        paths = (str(path), file, f"{file}-wal", f"{file}-shm")
        return cls(paths, find_file_ids(paths))

    def change(self) -> str | None:
        """Say what was changed in the file system and what to do, None without a change. Every write asks."""
        file_ids = find_file_ids(self.paths)
        if file_ids == self.file_ids:
            return None
        if file_ids[:2] != self.file_ids[:2]:
            return (
                "The database file was moved, deleted or replaced while the service runs: put it back, "
                "or restart the service."
            )
        return (
            "The log beside the database file (-wal, -shm) was moved, deleted or replaced while the service "
            "runs: stop the service and start it again. Do not kill it: stopping saves what is in the log."
        )


def find_file_ids(paths: tuple[str, str, str, str]) -> tuple[FileId | None, ...]:
    """Return the files at the path that was given and at the names that were opened.

    At those names a symbolic link is another file: other programs resolve it and use another log.
    """
    given, *opened = paths
    return find_file_id(given), *(find_file_id(path, follow_symlinks=False) for path in opened)


def find_file_id(path: str | Path, *, follow_symlinks: bool = True) -> FileId | None:
    try:
        status = os.stat(path, follow_symlinks=follow_symlinks)
    except OSError:
        return None
    return status.st_dev, status.st_ino


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
