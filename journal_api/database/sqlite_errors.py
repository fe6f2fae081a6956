"""Translates errors of SQLite and of the file system to API errors."""

import errno
import os
import sqlite3

from journal_api.errors import ApiError, Busy, Conflict, StorageUnavailable

FULL_OR_BROKEN = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# Errors of temporary files, the only files that requests open other than through SQLite.
TEMPORARY_FILE_ERRORS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS),
    *(errno.ENOENT, errno.EACCES, errno.EPERM),
)
TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)


def primary_code(error: sqlite3.Error) -> int:
    """Return the primary result code, 0 if the error has no code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def api_error(error: sqlite3.Error | OSError) -> ApiError | None:
    """Return the API error for an error of the database or of a temporary file, None for a bug."""
    if isinstance(error, OSError):
        if error.errno not in TEMPORARY_FILE_ERRORS + TOO_MANY_FILES:
            return None
        if error.errno in TOO_MANY_FILES or not can_open_files():
            return too_many_files()
        return StorageUnavailable(
            "A temporary file cannot be written: free disk space in the directory TMPDIR. Nothing was changed."
        )
    primary = primary_code(error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy()
    if primary in DAMAGED:
        return StorageUnavailable(
            "The database is damaged: stop the service, run `journal-api check`, restore a backup."
        )
    if primary == sqlite3.SQLITE_CANTOPEN and not can_open_files():
        return too_many_files()
    if primary in FULL_OR_BROKEN:
        return StorageUnavailable()
    if primary == sqlite3.SQLITE_CONSTRAINT:
        # Repositories check before they write; this keeps a constraint that they missed from being a 500.
        return Conflict()
    return None


def too_many_files() -> ApiError:
    return Busy(
        "The service has as many files open as it may have; nothing was changed. Try again, or raise the "
        "limit of open files: LimitNOFILE= in a systemd unit, `ulimit -n` in a shell."
    )


def can_open_files() -> bool:
    """Return whether one more file can be opened: neither SQLite nor tempfile says why it could not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in TOO_MANY_FILES
    return True
