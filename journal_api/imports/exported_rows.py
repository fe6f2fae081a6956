"""Rows of the journal's own export: trades as their owner has merged or edited them."""

from collections.abc import Iterable, Mapping
from typing import Any

from aiosqlite import Connection

from journal_api.errors import ValidationFailed
from journal_api.imports import stored_trades
from journal_api.imports.file_rows import FileRow
from journal_api.positions.book import find_apart
from journal_api.positions.commissions import NO_COMMISSIONS
from journal_api.positions.position_columns import build_columns
from journal_api.positions.sources import SourceStatement
from journal_api.positions.statements import Key
from journal_api.repositories.statements import Contract

SAME = ("symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at")


async def find_own_rows(
    db: Connection,
    user_id: int,
    contract: Contract,
    stored: Mapping[Key, Iterable[SourceStatement]],
    rows: Iterable[FileRow],
    file_format: str,
) -> dict[int, int]:
    """Return the trades that rows of whole positions say as they are, by line: of each trade one row."""
    rows = [row for row in rows if row.statement.kind == "whole"]
    trades = await stored_trades.read_changed(db, user_id, contract) if rows else {}
    here = {one.trade_id for versions in stored.values() for one in versions}
    own = {describe(trade.columns): trade_id for trade_id, trade in trades.items()}
    found: dict[int, int] = {}
    for row in rows if own else ():
        try:
            columns = build_columns(next(find_apart([SourceStatement(row.statement, file_format)])), NO_COMMISSIONS)
        except ValidationFailed:
            continue
        trade_id = own.get(describe(columns))
        # A row with an id, or the key of a stored one, corrects that, as the owner has done already: no other symbol.
        is_new = trade_id not in here or (row.statement.external_id is None and row.key not in stored)
        if trade_id is not None and (trades[trade_id].is_merged or is_new):
            found[row.line] = own.pop(describe(columns))
    return found


def describe(columns: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(columns[name] for name in SAME)
