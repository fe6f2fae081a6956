"""Makes a journal of a folder that `export --all` wrote: docs/self-hosting.md#take-everything-with-you."""

import csv
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, get_args

from msgspec import json

from journal_api.database.backup import Report, hash_file
from journal_api.database.check import query
from journal_api.database.connections import Reader, connect
from journal_api.database.folder_format import (
    LOG_OF_DAYS,
    MANIFEST,
    Columns,
    Manifest,
    decode_cell,
    decode_json,
    decode_value,
    picture_file,
    read_tables,
    table_file,
)
from journal_api.database.lock import without_server
from journal_api.database.migrations import read_known_version
from journal_api.database.restore import Restored, restore
from journal_api.database.schemas import VERSION, create_tables, upgrade
from journal_api.database.stored_values import list_invalid
from journal_api.errors import DatabaseRefused
from journal_api.settings import Settings
from journal_api.structs.pictures import PART, PictureType

MIN_SCHEMA = 10  # of the first release that exported everything
MAX_LINE = 64 * 1024 * 1024  # bytes; a longer line is read as several, which are none
# What the reading of a row raises.
UNREADABLE = (sqlite3.Error, csv.Error, ValueError, ArithmeticError, RecursionError)


def import_all(settings: Settings, folder: Path, *, is_edited: bool, report: Report) -> tuple[Manifest, Restored]:
    """Put the journal of the folder at `settings.db`, in place of none or an empty one.

    It is made in a file of its own from the tables of the export, upgraded, checked and renamed. Raises
    DatabaseRefused, OSError or sqlite3.Error and leaves what was there unchanged then.
    """
    manifest = read_manifest(folder)
    file = settings.db.resolve()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with without_server(file):
        require_empty(file)
    with TemporaryDirectory(prefix=".journal-import-", dir=file.parent) as temporary:
        made = Path(temporary) / "journal.db"
        with closing(connect(made, "rwc", Reader)) as db:
            insert_tables(db, folder, manifest, is_edited=is_edited)
            insert_pictures(db, folder, report)
            db.execute("DELETE FROM sqlite_sequence")
            db.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", manifest.last_ids.items())
            upgrade(db, manifest.schema)
            if is_edited:
                record_everything(db)
            finish(db, folder)
        require_valid(made, folder)
        return manifest, restore(settings.db, made)


def read_manifest(folder: Path) -> Manifest:
    if not (folder / MANIFEST).exists():
        raise DatabaseRefused(f"{folder}: there is no {MANIFEST}, so it is no export, or an incomplete one")
    try:
        with open_file(folder, MANIFEST) as file:
            manifest = json.decode(file.read(PART), type=Manifest)
    except (ValueError, RecursionError) as error:
        raise DatabaseRefused(f"{folder / MANIFEST}: {error}") from error
    if not MIN_SCHEMA <= manifest.schema <= VERSION:
        known = f"this release reads {MIN_SCHEMA} to {VERSION}"
        raise DatabaseRefused(f"{folder}: it has schema {manifest.schema} of another release; {known}")
    return manifest


def open_file(folder: Path, name: str) -> BinaryIO:
    """Open a file of the folder. Raises DatabaseRefused for links, which lead anywhere, and devices."""
    path = folder / name
    if path.resolve() != folder.resolve() / name or not path.is_file():
        raise DatabaseRefused(f"{path}: there is no such file, or it is a link")
    return path.open("rb")


def require_empty(file: Path) -> None:
    """Raise DatabaseRefused if there is a file, unless it is a journal in which nothing was written."""
    if file.exists() and (file.is_dir() or file.stat().st_size) and query(file, has_content):
        raise DatabaseRefused(f"{file}: is a journal that is not empty; name a new file with --db")


def has_content(db: sqlite3.Connection) -> bool:
    """Return whether there is another user than the owner, or a row besides keys and changes."""
    read_known_version(db)
    return any(
        db.execute(f"SELECT 1 FROM {table} LIMIT 1 OFFSET {int(table == 'users')}").fetchone()
        for table in read_tables(db).keys() - LOG_OF_DAYS
    )


def insert_tables(db: sqlite3.Connection, folder: Path, manifest: Manifest, *, is_edited: bool) -> None:
    """Begin a transaction, create the tables of the export, and insert the rows of all files."""
    for pragma in ("foreign_keys = OFF", "trusted_schema = ON", "journal_mode = OFF", "synchronous = OFF"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("BEGIN")
    create_tables(db, manifest.schema)
    tables = {table_file(table): (table, columns) for table, columns in read_tables(db).items()}
    if differing := manifest.files.keys() ^ tables.keys():
        raise DatabaseRefused(f"{folder / MANIFEST}: {min(differing)} is missing or does not belong to it")
    for name, file in manifest.files.items():
        with open_file(folder, name) as content:
            if not is_edited and hash_file(folder / name) != file.sha256:
                raise DatabaseRefused(
                    f"{folder / name}: the file has changed since the export, its SHA-256 is another; "
                    "if you changed it on purpose, repeat the command with --edited"
                )
            table, columns = tables[name]
            if table not in LOG_OF_DAYS or not is_edited:
                insert_rows(db, table, columns, content)


def insert_rows(db: sqlite3.Connection, table: str, columns: Columns, file: BinaryIO) -> None:
    count = 0

    def decode_rows() -> Iterator[list[Any]]:
        nonlocal count
        for row in read_rows(columns, file):
            count += 1
            if not isinstance(row, dict) or row.keys() != columns.keys():
                raise ValueError(f"the columns are not {', '.join(columns)}")
            yield [decode_value(kind, row[name]) for name, kind in columns.items()]

    places = ", ".join("?" * len(columns))
    try:
        db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", decode_rows())
    except UNREADABLE as error:
        raise DatabaseRefused(f"{file.name}: row {count}: {error}") from error


def read_rows(columns: Columns, file: BinaryIO) -> Iterator[Any]:
    lines = (line.decode() for line in iter(partial(file.readline, MAX_LINE), b""))
    if not file.name.endswith(".csv"):
        yield from map(decode_json, lines)
        return
    csv.field_size_limit(MAX_LINE)
    rows = csv.reader(lines, strict=True)
    header = next(rows, [])
    for row in rows:
        cells = zip(header, row, strict=True)
        yield {name: decode_cell(columns.get(name, "TEXT"), cell) for name, cell in cells}


def insert_pictures(db: sqlite3.Connection, folder: Path, report: Report) -> None:
    contents = db.execute("SELECT id, media_type, bytes, sha256 FROM picture_contents").fetchall()
    for count, (content_id, media_type, size, sha256) in enumerate(contents, 1):
        path = folder / picture_file(content_id, media_type)
        with open_file(folder, picture_file(content_id, media_type)) as file:
            is_known = media_type in get_args(PictureType) and path.stat().st_size == size
            if not is_known or hash_file(path) != sha256:
                raise DatabaseRefused(f"{path}: is not the picture that picture_contents.jsonl describes")
            db.executemany(
                "INSERT INTO picture_parts (content_id, position, bytes) VALUES (?, ?, ?)",
                ((content_id, place, file.read(PART)) for place in range(-(-size // PART))),
            )
        report(count / len(contents))


def require_valid(made: Path, folder: Path) -> None:
    with closing(connect(made, "ro", Reader)) as db:
        for table, row, reason in list_invalid(db):
            raise DatabaseRefused(f"{folder / table_file(table)}: {row}: {reason}")


def record_everything(db: sqlite3.Connection) -> None:
    """Record the days of all trades and cash as changed, so that statistics and goals are computed anew."""
    db.execute(
        """
        INSERT INTO record_change
        SELECT account_id, trading_day FROM trades
        UNION
        SELECT account_id, day FROM cash_movements
        """
    )
    db.execute("UPDATE goals SET change_cursor = NULL")


def finish(db: sqlite3.Connection, folder: Path) -> None:
    """Commit unless rows are missing."""
    for table, _, parent, _ in db.execute("PRAGMA foreign_key_check"):
        raise DatabaseRefused(f"{folder}: a row of {table} refers to a row of {parent} that is not there")
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")
