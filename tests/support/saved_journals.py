"""The content of a journal, put back while the application has its file open."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple


class SavedJournal(NamedTuple):
    """What a journal held at some time."""

    content: sqlite3.Connection
    schema_version: int

    def put_back(self, db: Path) -> None:
        with closing(sqlite3.connect(db)) as journal:
            self.content.backup(journal)
            # A copy raises the version, and every connection would read and prepare everything again.
            journal.execute(f"PRAGMA schema_version = {self.schema_version}")


@contextmanager
def saved_journal(db: Path) -> Iterator[SavedJournal]:
    """What the journal holds now."""
    with closing(sqlite3.connect(db)) as journal, closing(sqlite3.connect(":memory:")) as content:
        journal.backup(content)
        ((schema_version,),) = journal.execute("PRAGMA schema_version")
        yield SavedJournal(content, schema_version)
