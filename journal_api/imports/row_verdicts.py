"""The verdicts of the rows of an import, in words for a person."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from journal_api.positions.fills import decode_fills
from journal_api.positions.import_rows import Correction, ResolvedRow, StoredTrade
from journal_api.positions.position_match import describe_position
from journal_api.structs.imports import FieldChange, Verdict
from journal_api.values.money import decimal_json, json_text

CLOSES_NOTHING = (
    "closes {what}, and neither the file nor the journal has the position: import the file that opens it, and"
    " then this file again"
)
OTHER_POSITIONS = (
    "makes other positions of the fills of a later file: undo that import, and import this file first"
)
# What a person compares of a suspect and the stored trade.
COMPARED = (
    *("symbol", "direction", "quantity", "opened_at", "entry_price", "closed_at", "exit_price"),
    *("gross_pnl", "fees"),
)


def several(rows: int) -> int | UnsetType:
    """Return the number of rows of a position for its verdict: left out for one row."""
    return rows if rows > 1 else UNSET


def error_verdict(line: int, reason: str) -> Verdict:
    return Verdict(line=line, verdict="error", reason=reason)


def suspect_verdict(row: ResolvedRow, stored: StoredTrade, why: str) -> Verdict:
    """Return the verdict of a position that may be a stored one of another file."""
    mine, theirs = (describe_position(columns) for columns in (row.columns, stored.fields))
    reason = f"{why}: the file has {mine}; the journal has {theirs}"
    return Verdict(
        line=row.line,
        verdict="suspect",
        trade_id=stored.trade_id,
        changes=describe_changes(stored.fields, row.columns, COMPARED),
        reason=reason,
        rows=several(row.imported.rows),
    )


def unmatched_verdict(row: ResolvedRow) -> Verdict:
    """Return the verdict of a fill that only closes, of a position that nobody has."""
    direction = "short" if row.columns["direction"] == "long" else "long"
    what = f"{json_text(row.columns['quantity'])} {row.columns['symbol']} {direction}"
    return Verdict(line=row.line, verdict="unmatched", reason=CLOSES_NOTHING.format(what=what))


def stored_verdict(row: ResolvedRow, stored: StoredTrade, correction: Correction | None) -> Verdict:
    changed = correction.changed if correction else []
    return Verdict(
        line=row.line,
        verdict="updated" if changed else "duplicate",
        trade_id=stored.trade_id,
        changed=changed,
        changes=describe_changes(stored.fields, correction.fields, changed)
        if correction and changed
        else UNSET,
        rows=several(row.imported.rows),
    )


def describe_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], names: Iterable[str]
) -> list[FieldChange]:
    """Return fields of a stored trade, old beside new."""
    return [
        FieldChange(field=name, before=show_field(name, before[name]), after=show_field(name, after[name]))
        for name in names
    ]


def show_field(name: str, value: Any) -> Any:
    """Return a field for a report: fills by their number, amounts with all digits."""
    if name == "fills":
        return len(decode_fills(value)) if value else None
    return decimal_json(value) if isinstance(value, int) else value and str(value)
