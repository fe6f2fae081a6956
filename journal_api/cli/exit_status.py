"""The exit status of `serve` for each reason that its parent may act upon (docs/embedding.md)."""

import errno
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from journal_api.cli.common import one_line
from journal_api.database.sqlite_errors import DAMAGED, primary_code
from journal_api.errors import DatabaseRefused, NewerRelease, NoJournal, ServerRuns

OTHER_REASON, SERVER_RUNS, NEWER_RELEASE, NO_JOURNAL, NO_PERMISSION, PORT_TAKEN = 1, 3, 4, 5, 6, 7
BY_CLASS: dict[type[BaseException], int] = {ServerRuns: SERVER_RUNS, NewerRelease: NEWER_RELEASE, NoJournal: NO_JOURNAL}
BY_ERRNO = {**dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), NO_PERMISSION), errno.EADDRINUSE: PORT_TAKEN}
BY_SQLITE = {
    **dict.fromkeys(DAMAGED, NO_JOURNAL),
    **dict.fromkeys((sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN), NO_PERMISSION),
}


@contextmanager
def exit_with_reason() -> Iterator[None]:
    """Exit with the status of the reason instead of 1 if the journal cannot be opened or served."""
    try:
        yield
    except (DatabaseRefused, OSError, sqlite3.Error) as error:
        click.echo(one_line(str(error)), err=True)
        sys.exit(find_exit_status(error))


def find_exit_status(error: BaseException) -> int:
    if type(error) in BY_CLASS:
        return BY_CLASS[type(error)]
    if isinstance(error, OSError) and error.errno in BY_ERRNO:
        return BY_ERRNO[error.errno]
    if isinstance(error, sqlite3.Error) and primary_code(error) in BY_SQLITE:
        return BY_SQLITE[primary_code(error)]
    return OTHER_REASON if error.__cause__ is None else find_exit_status(error.__cause__)
