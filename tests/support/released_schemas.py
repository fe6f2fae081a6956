"""What released schemas have besides their tables: indexes, views, triggers, the index of the search.

`make keep-schema` records those of the current schema, before a new version changes them.
"""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from journal_api.database import schemas

STATEMENTS = Path(__file__).parents[1] / "data" / "released_objects.sql"
# The first and the last version that have an object, and its statement.
OBJECT = re.compile(r"^-- ([0-9]+)-([0-9]+)\n((?:(?!-- [0-9]).*\n)+)", re.MULTILINE)


def read_statements(version: int) -> list[str]:
    """The statements that make the objects of that version, in the order of its schema."""
    return [
        sql
        for first, last, sql in OBJECT.findall(STATEMENTS.read_text(encoding="utf-8"))
        if int(first) <= version <= int(last)
    ]


def list_hashes() -> list[str]:
    """The lines of released_objects.txt for all versions of the statements."""
    versions = defaultdict[tuple[str, ...], list[int]](list)
    newest = max(int(last) for _, last, _ in OBJECT.findall(STATEMENTS.read_text(encoding="utf-8")))
    for version in range(1, newest + 1):
        with tables_of(version) as db:
            tables = schemas.read_objects(db)
            db.executescript("".join(read_statements(version)))
            for key, sql in schemas.read_objects(db).items() - tables.items():
                words = (*key, schemas.hash_tokens(key, sql))
                versions[tuple(word.decode() for word in words)].append(version)
    ranges = sorted((found[0], found[-1], *words) for words, found in versions.items())
    return [" ".join(map(str, line)) for line in ranges]


@contextmanager
def tables_of(version: int) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schemas.create_tables(db, version)
        yield db


def keep() -> None:
    """Add the objects of the current schema to the statements, and write the hashes of all."""
    text = STATEMENTS.read_text(encoding="utf-8")
    known = {hash_of(sql): (first, last, sql) for first, last, sql in OBJECT.findall(text)}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        schemas.create_schema(db)
        rows = db.execute("SELECT sql FROM sqlite_schema WHERE sql NOT LIKE 'CREATE TABLE%' ORDER BY rowid")
        for (statement,) in rows.fetchall():
            sql = f"{statement};\n"
            first, last, known_sql = known.get(hash_of(sql), (str(schemas.VERSION), "", sql))
            heading = f"-- {first}-{schemas.VERSION}\n"
            if last == str(schemas.VERSION - 1):
                text = text.replace(f"-- {first}-{last}\n{known_sql}", heading + known_sql)
            elif last != str(schemas.VERSION):
                text += heading + sql
    STATEMENTS.write_text(text, encoding="utf-8")
    schemas.RELEASED.write_text("".join(f"{line}\n" for line in list_hashes()), encoding="utf-8")


def hash_of(sql: str) -> bytes:
    return schemas.hash_tokens((b"", b"", b""), sql.encode())


if __name__ == "__main__":
    keep()
