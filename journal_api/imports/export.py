"""Exports trades as CSV, exact or for spreadsheets."""

import csv
import io
import sqlite3
from typing import IO, Any

from msgspec import json

from journal_api.database.database import Database
from journal_api.imports.spreadsheets import harmless
from journal_api.repositories.trade_lists import list_rows_after
from journal_api.structs.trades import AMOUNTS, ExportQuery
from journal_api.trade_files.formats.round_trips import COLUMNS, NO_RISK, TITLES
from journal_api.values.money import json_text


async def write_csv(database: Database, user_id: int, query: ExportQuery, file: IO[bytes]) -> None:
    """Write the trades to a file, all from one snapshot.

    For a spreadsheet the header has other titles, and texts are escaped so that none is a formula.
    """
    text = io.StringIO()
    for_spreadsheet = query.spreadsheet
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(TITLES if for_spreadsheet else COLUMNS)
    last_id: int | None = 0
    async with database.read_transaction() as db:
        db.row_factory = sqlite3.Row
        while last_id is not None:
            rows = await list_rows_after(db, user_id, query, last_id)
            for row in rows:
                cells = escape_formulas(build_cells(row)) if for_spreadsheet else build_cells(row)
                writer.writerow([cells[column] for column in COLUMNS])
            file.write(text.getvalue().encode())
            text.seek(0)
            text.truncate()
            last_id = rows[-1]["id"] if rows else None


def escape_formulas(cells: dict[str, str]) -> dict[str, str]:
    """Return the cells with all texts escaped; amounts stay."""
    return {name: cell if name in AMOUNTS else harmless(cell) for name, cell in cells.items()}


def build_cells(row: dict[str, Any]) -> dict[str, str]:
    """Return the cells of a row by column name."""
    has_no_risk = row["stop_loss"] is not None and row["initial_risk"] is None
    amounts = {name: json_text(row[name]) for name in AMOUNTS if isinstance(row[name], int)}
    answers = row["confirmations"]
    cells = {
        **row,
        **amounts,
        **({"initial_risk": NO_RISK} if has_no_risk else {}),
        "tags": join_tags(row["tags"]),
        "confirmations": "" if answers == "[]" else answers,
    }
    return {name: "" if cell is None else str(cell) for name, cell in cells.items()}


def join_tags(names_as_json: str) -> str:
    """Return the names joined by semicolons, or as JSON if a name has a semicolon or looks like JSON."""
    names = json.decode(names_as_json, type=list[str])
    joined = ";".join(names)
    return names_as_json if joined.count(";") >= len(names) > 0 or joined.startswith("[") else joined
