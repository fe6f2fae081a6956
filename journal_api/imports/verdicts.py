"""What an import reports: the verdicts of its rows with their counts, its costs, and the error if it is refused."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.imports.contracts import Settled
from journal_api.positions.commissions import NO_COMMISSIONS, Commissions
from journal_api.positions.fills import decode_fills
from journal_api.positions.plans import Change, StoredTrade, Suspect
from journal_api.positions.position_columns import build_columns
from journal_api.structs.imports import AppliedFees, CostsSource, Counts, FieldChange, Verdict
from journal_api.values.money import decimal_json, from_units, json_text

MAX_ERRORS = 1000
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


def list_suspects(settled: Settled, commissions: Commissions) -> Iterator[Verdict]:
    """Yield the verdicts of positions that may be in the journal already, with all trades that each may be."""
    by_line: defaultdict[int, list[Suspect]] = defaultdict(list)
    for suspect in settled.plan.suspects:
        for line in settled.find_lines(suspect.position.stated)[:1]:
            by_line[line].append(suspect)
    for line, suspects in by_line.items():
        first = suspects[0]
        columns, (trade_id, theirs) = build_columns(first.position, commissions), describe_other(first)
        mine = describe_position(columns)
        others = f"the file has {mine}; the journal has {describe_position(theirs)}" if theirs else mine
        typed = [one.typed_id for one in suspects if one.typed_id is not None]
        yield Verdict(
            line=line,
            verdict="suspect",
            trade_id=trade_id,
            changes=describe_changes(theirs, columns, COMPARED) if theirs else UNSET,
            reason=f"{first.reason}: {others}",
            rows=several(len(settled.find_lines(first.position.stated))),
            answers=[f"{line}:{answer}" for answer in (*typed, "new", "leave")],
        )


def describe_other(suspect: Suspect) -> tuple[int | None, dict[str, Any] | None]:
    """Return the id and the columns of the stored trade, or of the position, that a suspect may be."""
    other = suspect.other
    if other is None or isinstance(other, StoredTrade):
        return (other.trade_id, other.columns) if other else (None, None)
    return next((one.trade_id for one in other.stated if one.trade_id), None), build_columns(other, NO_COMMISSIONS)


def describe_position(columns: Mapping[str, Any]) -> str:
    """Return a position in words, for a person to compare."""
    until = columns["closed_at"] or "now"
    gross = "" if columns["gross_pnl"] is None else f", gross {json_text(columns['gross_pnl'])}"
    return (
        f"{columns['direction']} {json_text(columns['quantity'])} {columns['symbol']} from"
        f" {columns['opened_at']} at {json_text(columns['entry_price'])} to {until}{gross}"
    )


def list_unmatched(settled: Settled) -> Iterator[Verdict]:
    """Yield the verdicts of fills that only close, of positions that nobody has."""
    for part in settled.plan.unmatched:
        direction = "short" if part.quantity > 0 else "long"
        for row in (settled.rows[claim.stated] for claim in part.claims if claim.stated in settled.rows):
            what = f"{json_text(abs(part.quantity))} {row.statement.symbol} {direction}"
            yield Verdict(line=row.line, verdict="unmatched", reason=CLOSES_NOTHING.format(what=what))


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


def count_verdicts(verdicts: Iterable[Verdict]) -> Counts:
    return msgspec.convert(Counter(verdict.verdict for verdict in verdicts), Counts)


def list_reported(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts without the errors beyond the first MAX_ERRORS."""
    errors = [number for number, verdict in enumerate(verdicts) if verdict.verdict == "error"]
    hidden = set(errors[MAX_ERRORS:])
    return [verdict for number, verdict in enumerate(verdicts) if number not in hidden] if hidden else [*verdicts]


def refused(counts: Counts, errors: list[Verdict], unknown_accounts: Sequence[str] = ()) -> ValidationFailed:
    """Return the error of an import with errors.

    Its message names the first error, and all accounts of the file that the journal does not have.
    """
    first, *_ = in_order = sorted(errors, key=lambda verdict: verdict.line)
    others = f" (and {counts.error - 1} more)" if counts.error > 1 else ""
    advice, details = "", {}
    if unknown_accounts:
        names = ", ".join(map(repr, unknown_accounts))
        advice = (
            f". The journal has no account {names}: create it, or name an account of the journal for it with"
            " `accounts` (--accounts)"
        )
        details = {"unknown_accounts": list(unknown_accounts)}
    return ValidationFailed(
        f"line {first.line}: {first.reason}{others}{advice}",
        line=first.line,
        reason=first.reason,
        counts=counts,
        rows=in_order,
        **details,
    )


class ImportCosts:
    """The costs of the positions of a file."""

    def __init__(self) -> None:
        self._rows, self._fees = Counter[int](), Counter[int]()  # of trades with commissions, by account
        self._sources: set[str] = set()
        self.accounts_without: set[int] = set()  # the accounts of trades whose costs are unknown

    def add(self, account_id: int, change: Change) -> None:
        """Count the fees of a trade, unless the file states them."""
        source = change.columns["fees_source"]
        self._sources.add(source)
        if source == "none":
            self.accounts_without.add(account_id)
        before = change.stored.columns["fees"] if change.stored else 0
        if source == "account" and (further := change.columns["fees"] - before):
            self._rows[account_id] += 1
            self._fees[account_id] += further

    @property
    def applied(self) -> list[AppliedFees]:
        """The fees that commissions have made, by account."""
        return [
            AppliedFees(account_id=account_id, rows=rows, total=from_units(self._fees[account_id]))
            for account_id, rows in sorted(self._rows.items())
        ]

    @property
    def source(self) -> CostsSource | None:
        """Where the costs come from; `none` if any trade's costs are unknown."""
        if "none" in self._sources:
            return "none"
        return "by_account" if "account" in self._sources else "stated" if self._sources else None
