"""Writes the whole journal to a folder, as of one moment: docs/self-hosting.md#take-everything-with-you."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec import json

from journal_api import __version__
from journal_api.database.backup import Report, hash_file
from journal_api.database.connections import Reader, connect
from journal_api.database.folder_format import (
    MANIFEST,
    Columns,
    File,
    Manifest,
    encode_cell,
    encode_value,
    picture_file,
    read_tables,
    table_file,
)
from journal_api.database.migrations import read_known_version
from journal_api.errors import DatabaseRefused
from journal_api.values.clock import now


def export_all(db: Path, folder: Path, report: Report) -> Manifest:
    """Write everything but keys to a new or empty folder. Raises DatabaseRefused, OSError, sqlite3.Error."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if any(folder.iterdir()):
        raise DatabaseRefused(f"{folder}: is not empty; an export overwrites nothing")
    with closing(connect(db, "ro", Reader)) as source:
        source.execute("BEGIN")
        manifest = Manifest(
            schema=read_known_version(source),
            version=__version__,
            exported_at=now(),
            files={
                table_file(table): write_table(source, table, columns, folder / table_file(table))
                for table, columns in read_tables(source).items()
            },
            pictures=write_pictures(source, folder, report),
            last_ids=dict(source.execute("SELECT name, seq FROM sqlite_sequence WHERE seq > 0 ORDER BY name")),
        )
    with (folder / MANIFEST).open("xb") as output:
        output.write(json.format(json.encode(manifest)) + b"\n")
    return manifest


def write_table(db: sqlite3.Connection, table: str, columns: Columns, file: Path) -> File:
    """Write the rows by their primary key, which is in the first columns: equal journals have equal files."""
    names, count = ", ".join(columns), 0
    with file.open("x", encoding="utf-8", newline="") as output:
        writer = csv.writer(output) if file.suffix == ".csv" else None
        if writer:
            writer.writerow(columns)
        for row in db.execute(f"SELECT {names} FROM {table} ORDER BY {names}"):
            count += 1
            values = [encode_value(kind, value) for kind, value in zip(columns.values(), row, strict=True)]
            if writer:
                writer.writerow(map(encode_cell, values))
            else:
                output.write(json.encode(dict(zip(columns, values, strict=True))).decode() + "\n")
    return File(rows=count, sha256=hash_file(file))


def write_pictures(db: sqlite3.Connection, folder: Path, report: Report) -> int:
    """Write each picture once, however many trades and days show it; return their number."""
    (folder / "pictures").mkdir(mode=0o700)
    contents = db.execute("SELECT id, media_type FROM picture_contents ORDER BY id").fetchall()
    for count, (content_id, media_type) in enumerate(contents, 1):
        parts = db.execute(
            "SELECT bytes FROM picture_parts WHERE content_id = :id ORDER BY position", {"id": content_id}
        )
        with (folder / picture_file(content_id, media_type)).open("xb") as output:
            output.writelines(part for (part,) in parts)
        report(count / len(contents))
    return len(contents)
