"""Trades as rows of the generic import format."""

import csv
import io
from collections.abc import AsyncGenerator
from typing import Any

from aiosqlite import Connection
from msgspec import json

from journal_api.database import Database
from journal_api.importing.round_trips import COLUMNS, NO_RISK, TITLES
from journal_api.money import json_text
from journal_api.repositories.trade_filters import TradeFilters
from journal_api.spreadsheets import harmless
from journal_api.structs.trades import AMOUNTS, ExportQuery
from journal_api.values import is_yes

AT_ONCE = 500
# A trade under the names of round_trips.COLUMNS. A row has a name only where another copies it.
CELLS = f"""
    id,
    iif(EXISTS (SELECT 1 FROM trades WHERE source_trade_id = trade.id), id, NULL) AS row,
    (SELECT name FROM accounts WHERE id = trade.account_id) AS account,
    symbol, direction, {", ".join(AMOUNTS)}, opened_at, closed_at, grade,
    (SELECT name FROM strategies WHERE id = trade.strategy_id) AS strategy,
    (SELECT name FROM setups WHERE id = trade.setup_id) AS setup,
    (SELECT json_group_array(name)
     FROM (SELECT name
           FROM trade_tags
           JOIN tags ON tags.id = tag_id
           WHERE trade_id = trade.id
           ORDER BY tag_id)) AS tags,
    (SELECT json_group_array(json_array(name, json(iif(was_present, 'true', 'false')), notes))
     FROM (SELECT name, was_present, confirmation_answers.notes
           FROM confirmation_answers
           JOIN confirmations ON confirmations.id = confirmation_id
           WHERE trade_id = trade.id
           ORDER BY sort_order, confirmation_id)) AS confirmations,
    external_id, notes"""


async def csv_of(database: Database, user_id: int, query: ExportQuery) -> AsyncGenerator[bytes, None]:
    """The file in parts, all of one moment. For a spreadsheet the titles differ, and no text is a formula."""
    text = io.StringIO()
    for_spreadsheet = is_yes(query.spreadsheet)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(TITLES if for_spreadsheet else COLUMNS)
    last_id: int | None = 0
    async with database.snapshot() as db:
        while last_id is not None:
            rows = await rows_after(db, user_id, query, last_id)
            for _, cells in rows:
                told = without_formulas(cells) if for_spreadsheet else cells
                writer.writerow([told[column] for column in COLUMNS])
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
            last_id = rows[-1][0] if rows else None


def without_formulas(cells: dict[str, str]) -> dict[str, str]:
    """The cells, of which all but the amounts are text."""
    return {name: cell if name in AMOUNTS else harmless(cell) for name, cell in cells.items()}


async def rows_after(
    db: Connection, user_id: int, query: ExportQuery, trade_id: int
) -> list[tuple[int, dict[str, str]]]:
    """The next trades that match, oldest id first: the id, and the cells under the names of their columns.

    A copy points at its original only if that matches too.
    """
    filters = TradeFilters(query)
    conditions = filters.checked()
    found: Any = await db.execute_fetchall(
        f"""
        SELECT {CELLS},
            (SELECT id FROM trades WHERE id = trade.source_trade_id AND {conditions}) AS copy_of
        FROM trades AS trade
        WHERE id > :after AND {conditions}
        ORDER BY id
        LIMIT {AT_ONCE}
        """,
        {**filters.parameters, "user_id": user_id, "after": trade_id},
    )
    return [(row["id"], cells_of(dict(row))) for row in found]


def cells_of(row: dict[str, Any]) -> dict[str, str]:
    if row["stop_loss"] is not None and row["initial_risk"] is None:
        row["initial_risk"] = NO_RISK
    amounts = {name: json_text(row[name]) for name in AMOUNTS if isinstance(row[name], int)}
    answers = row["confirmations"]
    cells = {
        **row,
        **amounts,
        "tags": tags_cell(row["tags"]),
        "confirmations": "" if answers == "[]" else answers,
    }
    return {name: "" if cell is None else str(cell) for name, cell in cells.items()}


def tags_cell(names_as_json: str) -> str:
    """Joined by semicolons, but JSON where a name has one itself or would be read as JSON."""
    names = json.decode(names_as_json, type=list[str])
    joined = ";".join(names)
    return names_as_json if joined.count(";") >= len(names) > 0 or joined.startswith("[") else joined
