"""What an error of SQLite or of the file system means to the caller."""

import errno
import sqlite3

from journal_api.errors import ApiError, Busy, Conflict, StorageUnavailable

FULL_OR_BROKEN = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
)


DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


# Of a temporary file: a request opens no other but through SQLite.
NO_ROOM_OR_BROKEN = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS),
        *(errno.ENOENT, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
    }
)


def primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def api_error(error: sqlite3.Error | OSError) -> ApiError | None:
    """What an error of the database, or of a temporary file, means to the caller; None for a bug of ours."""
    if isinstance(error, OSError):
        return no_temporary_file() if error.errno in NO_ROOM_OR_BROKEN else None
    primary = primary_code(error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy()
    if primary in DAMAGED:
        return StorageUnavailable(
            "The database is damaged: stop the service, run `journal-api check`, restore a backup."
        )
    if primary in FULL_OR_BROKEN:
        return StorageUnavailable()
    if primary == sqlite3.SQLITE_CONSTRAINT:
        # The backstop of every check that a repository makes; no constraint surfaces as a 500.
        return Conflict()
    return None


def no_temporary_file() -> ApiError:
    return StorageUnavailable(
        "The body needs a temporary file, which cannot be written: make room where TMPDIR leads to. "
        "Nothing was changed."
    )
