"""The content of a journal, put back while the application has it open; many cases in one journal."""

import inspect
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

from factories import app_of

DICT_VALUES: type[Any] = type({}.values())


class SavedJournal(NamedTuple):
    """What a journal held at some time."""

    content: sqlite3.Connection
    schema_version: int

    def put_back(self, db: Path) -> None:
        with closing(sqlite3.connect(db)) as journal:
            journal.execute("PRAGMA wal_autocheckpoint = 0")  # the application alone checkpoints
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


def for_rows(
    names: str, rows: Iterable[Any], rewind: bool = True, name: Callable[[Any], str] = str
) -> Callable[[Any], Any]:
    """Like `pytest.mark.parametrize`, but in one test and one journal.

    Each row begins with the journal that the fixtures made, if there is one and rows change it (`rewind`). Every
    row is tried, and each failure names its row: by its key, if the rows are the values of a dictionary.
    """
    members, each = names.split(", "), list(rows)
    keys = [str(key) for key in rows.mapping] if isinstance(rows, DICT_VALUES) else []
    assert each

    def decorate(test: Any) -> Any:
        @wraps(test)
        async def test_of_all(**fixtures: Any) -> None:
            failures: list[Exception] = []
            app: Any = fixtures.get("app") or ("client" in fixtures and app_of(fixtures["client"]))
            with saved_journal(app.state.settings.db) if app and rewind else nullcontext() as before:
                for number, row in enumerate(each):
                    values = row if len(members) > 1 else [row]
                    try:
                        result = test(**dict(zip(members, values, strict=True)), **fixtures)
                        if inspect.isawaitable(result):
                            await result
                    except Exception as error:
                        error.add_note(f"The row is {keys[number] if keys else name(row)}")
                        failures.append(error)
                    if before:
                        before.put_back(app.state.settings.db)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(each)} rows fail", failures)

        parameters = inspect.signature(test).parameters.values()
        others = [parameter for parameter in parameters if parameter.name not in members]
        vars(test_of_all)["__signature__"] = inspect.Signature(others)
        return test_of_all

    return decorate
