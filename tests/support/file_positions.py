"""The trades of a file alone: the positions that follow from what it states, before they meet a journal."""

from typing import Any, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.imports.file_accounts import FileAccounts
from journal_api.imports.file_rows import group_rows
from journal_api.positions.book import Position, find_apart, fold_book
from journal_api.positions.commissions import NO_COMMISSIONS
from journal_api.positions.import_rows import Candidate, ImportedTrade, Names, Rejected
from journal_api.positions.position_columns import build_columns
from journal_api.positions.sources import SourceStatement
from journal_api.positions.statements import Statement
from journal_api.trade_files import reader
from journal_api.trade_files.file_format import find_first_reason


class FileTrade(NamedTuple):
    """A position of a file alone, with its line of its first fill and what the file says besides."""

    line: int
    account: str | None
    columns: dict[str, Any]
    statements: list[Statement]
    imported: ImportedTrade | None
    is_unmatched: bool = False


def read_positions_of(file: reader.TradeFile) -> list[FileTrade | Rejected]:
    """The positions of a file alone, in the order of their first lines, and its errors."""
    candidates = [row for row in file.rows if isinstance(row, Candidate)]
    found: list[FileTrade | Rejected] = [row for row in file.rows if isinstance(row, Rejected)]
    names = Names({}, {}, {}, {}, {}, {}, {})
    ids = {str(row.account): number for number, row in enumerate(candidates, 1)}
    plain = [row._replace(account=str(row.account), imported=None) for row in candidates]
    groups, rejected = group_rows(plain, file.format, names, FileAccounts(None, ids))
    accounts = {ids[str(row.account)]: row.account for row in candidates}
    imported_at = {row.line: row.imported for row in candidates}
    for contract, rows in groups.items():
        stated = [SourceStatement(row.statement, file.format, line=row.line) for row in rows]
        positions, unmatched = fold_book(stated)
        positions += find_apart(one for one in stated if one.statement.is_position)
        closing = [Position([part], is_closed=False) for part in unmatched]
        for position in (*positions, *closing):
            line = next(iter(position.stated)).line  # of its first fill
            try:
                columns = build_columns(position, NO_COMMISSIONS)
            except ValidationFailed as error:
                found.append(Rejected(line, find_first_reason(error)))
                continue
            statements = [one.statement for one in position.stated]
            imported = imported_at[line]
            columns |= trader_columns(imported)
            account, is_unmatched = accounts[contract.account_id], position in closing
            found.append(FileTrade(line, account, columns, statements, imported, is_unmatched))
    return sorted([*found, *rejected], key=lambda one: one.line)


def trader_columns(imported: ImportedTrade | None) -> dict[str, Any]:
    names = ("stop_loss", "initial_risk", "grade", "notes")
    return {name: getattr(v := imported and getattr(imported.trade, name), "units", v) for name in names}
