"""What a row changes: the correction of a stored trade (DECISIONS 23), and the commissions that it pays."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.commissions import NO_COMMISSIONS, Commissions
from journal_api.positions.fills import charge_fills, match_fees
from journal_api.positions.import_rows import Correction, Rejected, ResolvedRow, StoredTrade
from journal_api.positions.position_fills import read_fills
from journal_api.positions.position_match import knows_excursions
from journal_api.positions.trade_draft import FROM_FILLS
from journal_api.positions.trade_identity import (
    BROKER_FIELDS,
    CORRECTED_FIELDS,
    EXCURSIONS,
    changed_fields,
    states,
)
from journal_api.structs.imports import AppliedFees, CostsSource
from journal_api.trade_files.file_format import first_reason
from journal_api.values.money import from_units


class ImportFees:
    """Charges the commissions of the accounts for rows whose costs the file does not state."""

    def __init__(self, commissions: Mapping[int, Commissions]) -> None:
        self._commissions = commissions  # by account
        self._totals: dict[int, list[int]] = {}  # by account the number of rows and the sum of fees
        self._sources: set[CostsSource] = set()
        self._without: set[int] = set()  # the accounts of rows whose costs are unknown

    @property
    def applied(self) -> list[AppliedFees]:
        """The fees that commissions have made, by account."""
        return [
            AppliedFees(account_id=account_id, rows=rows, total=from_units(total))
            for account_id, (rows, total) in sorted(self._totals.items())
        ]

    @property
    def source(self) -> CostsSource | None:
        """Where the costs of the rows come from; `none` if those of any row are unknown."""
        order: tuple[CostsSource, ...] = ("none", "by_account", "stated")
        return next((source for source in order if source in self._sources), None)

    @property
    def accounts_without(self) -> list[int]:
        return sorted(self._without)

    def commissions_for(self, row: ResolvedRow) -> Commissions:
        return self._commissions.get(row.columns["account_id"], NO_COMMISSIONS)

    def charge(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """Return the row with the account's commission if the file does not state its costs."""
        if isinstance(row, Rejected):
            return row
        if row.imported.states("fees"):
            self._sources.add("stated")
            return row
        try:
            fees = self.commissions_for(row).compute(row.columns, is_future=row.imported.is_future)
        except ValidationFailed as error:
            return Rejected(row.line, first_reason(error))
        if fees is None:
            self._sources.add("none")
            self._without.add(row.columns["account_id"])
            return row
        self._sources.add("by_account")
        columns = {**row.columns, "fees": fees, "fees_source": "account"}
        if columns["fills"]:
            columns["fills"] = charge_fills(columns["fills"], fees)
        return replace(row, columns=columns)

    def count(self, row: ResolvedRow, fees: int) -> None:
        """Count fees of a written row, unless the file states them."""
        if fees and not row.imported.states("fees"):
            total = self._totals.setdefault(row.columns["account_id"], [0, 0])
            total[0] += 1
            total[1] += fees


def correct_trade(
    row: ResolvedRow, stored: StoredTrade, commissions: Commissions, *, is_continued: bool = False
) -> Correction | None:
    """Return the correction of a stored trade, None if the file changes nothing.

    A field changes when its value in the file differs from the value in the last file. So an edit by the
    trader stays until the broker corrects that field. A trade that no import added is never changed. A closed
    one is reopened only if it is known that the file is not older than the close: `is_continued`, with fills
    of both.
    """
    if stored.content is None:
        return None
    if row.columns["closed_at"] is None and stored.fields["closed_at"] is not None and not is_continued:
        return None
    differing, content = changed_fields(stored.content, row.columns["content"])
    if content == stored.content and not knows_excursions(row, stored):
        return None
    if is_continued and row.columns["fills"] != stored.fields["fills"]:
        differing.append("fills")  # also if the columns state them now
    if "fills" in differing:  # what follows from the fills goes with them
        differing = list(dict.fromkeys((*differing, *FROM_FILLS, "gross_pnl")))
    fields = stored.fields | {field: row.columns[field] for field in differing}
    if "fees" in differing:
        fields["fees_source"] = row.columns["fees_source"]
    if (fields["closed_at"] is None) != (fields["gross_pnl"] is None):  # the trader has reopened the trade
        differing += ["exit_price", "closed_at", "gross_pnl"]
        fields |= {field: row.columns[field] for field in differing}
    has_assumed_multiplier = row.imported.is_computed and not row.imported.states("multiplier")
    if has_assumed_multiplier and "gross_pnl" in differing and fields["gross_pnl"] is not None:
        # The result was computed with an assumed multiplier, so it is scaled to the stored multiplier.
        ratio = Fraction(fields["multiplier"], row.columns["multiplier"])
        fields["gross_pnl"] = round(fields["gross_pnl"] * ratio)
    if not states(content, "fees"):
        fields["fees"] += compute_further_fees(row, stored.fields, fields, commissions)
    fields["fills"] = match_fees(fields["fills"], fields["fees"])
    has_other_rows = len(read_fills(fields)) != len(read_fills(stored.fields))
    has_grown = row.imported.kind == "pairs" and has_other_rows
    fields |= choose_excursions(row, stored, has_grown=has_grown)
    return Correction(stored.trade_id, fields, list_changed(stored, fields), content)


def choose_excursions(row: ResolvedRow, stored: StoredTrade, *, has_grown: bool) -> dict[str, Any]:
    """Return the excursions of a corrected trade.

    What a closed trade has stays. What an open one has is so far, and a position of other pairs than before
    has the excursions of the file or none.
    """
    if has_grown:
        return {name: row.columns[name] for name in EXCURSIONS}
    known, other = stored.fields, row.columns
    if stored.fields["closed_at"] is None:
        known, other = other, known
    return {name: other[name] if known[name] is None else known[name] for name in EXCURSIONS}


def list_changed(stored: StoredTrade, fields: dict[str, Any]) -> list[str]:
    """Return the fields that a correction changes, for its verdict."""
    return [field for field in (*BROKER_FIELDS, *EXCURSIONS) if fields[field] != stored.fields[field]]


def fill_in_trade(row: ResolvedRow, stored: StoredTrade) -> Correction | None:
    """Return the correction of a stored trade to the fields of the row, None if they are the same."""
    fields = {field: row.columns[field] for field in CORRECTED_FIELDS}
    fields["fills"] = match_fees(fields["fills"], fields["fees"])
    changed = list_changed(stored, fields)
    assert stored.content is not None, "only an imported trade is filled in"
    return Correction(stored.trade_id, fields, changed, stored.content) if changed else None


def compute_further_fees(
    row: ResolvedRow, before: dict[str, Any], after: dict[str, Any], commissions: Commissions
) -> int:
    """Return the commission of what a correction adds to a trade: its closing side, or a larger quantity."""
    is_future = row.imported.is_future
    try:
        charged, due = (commissions.compute(fields, is_future=is_future) or 0 for fields in (before, after))
    except ValidationFailed:  # of a quantity that the trader has changed
        return 0
    return due - charged
