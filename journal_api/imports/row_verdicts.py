"""The verdicts of the rows of an import, in words for a person."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from journal_api.positions.commissions import NO_COMMISSIONS
from journal_api.positions.fills import decode_fills
from journal_api.positions.plans import Change, StoredTrade, Suspect
from journal_api.positions.position_columns import build_columns
from journal_api.structs.imports import FieldChange, Verdict
from journal_api.values.money import decimal_json, json_text

CLOSES_NOTHING = (
    "closes {what}, and neither the file nor the journal has the position: it becomes a trade when you import"
    " the file that opens it"
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


def suspect_verdict(suspect: Suspect, line: int, rows: int, columns: dict[str, Any], typed: Iterable[int]) -> Verdict:
    """Return the verdict of a position that may be in the journal already.

    `columns` are those it would have, `typed` the trades of the owner that it may be.
    """
    reason, other = suspect.reason, suspect.other
    changes: list[FieldChange] | UnsetType = UNSET
    theirs: dict[str, Any] | None = None
    trade_id: int | None = None
    if isinstance(other, StoredTrade):
        theirs, trade_id = other.columns, other.trade_id
    elif other is not None:
        theirs = build_columns(other, NO_COMMISSIONS)
        trade_id = next((one.trade_id for one in other.stated if one.trade_id), None)
    if theirs:
        mine, stored = describe_position(columns), describe_position(theirs)
        reason = f"{reason}: the file has {mine}; the journal has {stored}"
        changes = describe_changes(theirs, columns, COMPARED)
    else:
        reason = f"{reason}: {describe_position(columns)}"
    return Verdict(
        line=line,
        verdict="suspect",
        trade_id=trade_id,
        changes=changes,
        reason=reason,
        rows=several(rows),
        answers=[f"{line}:{answer}" for answer in (*typed, "new", "leave")],
    )


def describe_position(columns: Mapping[str, Any]) -> str:
    """Return a position in words, for a person to compare."""
    until = columns["closed_at"] or "now"
    gross = "" if columns["gross_pnl"] is None else f", gross {json_text(columns['gross_pnl'])}"
    return (
        f"{columns['direction']} {json_text(columns['quantity'])} {columns['symbol']} from"
        f" {columns['opened_at']} at {json_text(columns['entry_price'])} to {until}{gross}"
    )


def unmatched_verdict(line: int, symbol: str, quantity: int) -> Verdict:
    """Return the verdict of a fill that only closes, of a position that nobody has."""
    direction = "short" if quantity > 0 else "long"
    what = f"{json_text(abs(quantity))} {symbol} {direction}"
    return Verdict(line=line, verdict="unmatched", reason=CLOSES_NOTHING.format(what=what))


def change_verdict(change: Change, line: int, rows: int, trade_id: int | None) -> Verdict:
    """Return the verdict of a position of the file: a new trade, or what it says of a stored one."""
    if change.stored is None:
        return Verdict(line=line, verdict="new", trade_id=trade_id, rows=several(rows))
    return Verdict(
        line=line,
        verdict="updated" if change.changed else "duplicate",
        trade_id=trade_id,
        changed=change.changed,
        changes=describe_changes(change.stored.columns, change.columns, change.changed) if change.changed else UNSET,
        rows=several(rows),
    )


def describe_changes(before: Mapping[str, Any], after: Mapping[str, Any], names: Iterable[str]) -> list[FieldChange]:
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
