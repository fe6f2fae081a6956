"""The exit status of the command for each reason that a program may act upon (docs/embedding.md)."""

import errno
import sqlite3

from journal_api.database.errors import DAMAGED, primary_code
from journal_api.errors import NewerRelease, NoJournal, ServerRuns

OTHER_REASON, SERVER_RUNS, NEWER_RELEASE, NO_JOURNAL, NO_PERMISSION, PORT_TAKEN = 1, 3, 4, 5, 6, 7
BY_CLASS: dict[type[BaseException], int] = {
    ServerRuns: SERVER_RUNS,
    NewerRelease: NEWER_RELEASE,
    NoJournal: NO_JOURNAL,
}
BY_ERRNO = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), NO_PERMISSION),
    errno.EADDRINUSE: PORT_TAKEN,
}
BY_SQLITE = {
    **dict.fromkeys(DAMAGED, NO_JOURNAL),
    **dict.fromkeys((sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN), NO_PERMISSION),
}


def find_exit_status(error: BaseException) -> int:
    """The exit status for an error, or for the error that caused it."""
    if type(error) in BY_CLASS:
        return BY_CLASS[type(error)]
    if isinstance(error, OSError) and error.errno in BY_ERRNO:
        return BY_ERRNO[error.errno]
    if isinstance(error, sqlite3.Error) and primary_code(error) in BY_SQLITE:
        return BY_SQLITE[primary_code(error)]
    return OTHER_REASON if error.__cause__ is None else find_exit_status(error.__cause__)
