"""The correction of a stored trade by a row of a file (DECISIONS 21)."""

from fractions import Fraction
from typing import Any

from journal_api.errors import ValidationFailed
from journal_api.rules.commissions import NO_COMMISSIONS, Commissions
from journal_api.rules.import_rows import Correction, ResolvedRow, StoredTrade
from journal_api.rules.trade_identity import BROKER_FIELDS, changed_fields, states


def correction_of(
    row: ResolvedRow, stored: StoredTrade, commissions: Commissions = NO_COMMISSIONS
) -> Correction | None:
    """Return the correction of a stored trade, None if the file changes nothing.

    A field changes when its value in the file differs from the value in the last file. So an edit by the
    trader stays until the broker corrects that field. A trade that no import added is never changed.
    """
    if stored.content is None or (
        row.columns["closed_at"] is None and stored.fields["closed_at"] is not None
    ):
        return None  # entered by hand, or the file is older than the close of the trade
    differing, content = changed_fields(stored.content, row.columns["content"])
    if content == stored.content:
        return None
    fields = stored.fields | {field: row.columns[field] for field in differing}
    if (fields["closed_at"] is None) != (fields["gross_pnl"] is None):  # the trader has reopened the trade
        differing += ["exit_price", "closed_at", "gross_pnl"]
        fields |= {field: row.columns[field] for field in differing}
    has_assumed_multiplier = row.imported.is_computed and "multiplier" in row.imported.unstated
    if has_assumed_multiplier and "gross_pnl" in differing and fields["gross_pnl"] is not None:
        # The result was computed with an assumed multiplier, so it is scaled to the stored multiplier.
        ratio = Fraction(fields["multiplier"], row.columns["multiplier"])
        fields["gross_pnl"] = round(fields["gross_pnl"] * ratio)
    if not states(content, "fees"):
        fields["fees"] += further_fees(row, stored.fields, fields, commissions)
    changed = [field for field in BROKER_FIELDS if fields[field] != stored.fields[field]]
    return Correction(stored.trade_id, fields, changed, content)


def further_fees(
    row: ResolvedRow, before: dict[str, Any], after: dict[str, Any], commissions: Commissions
) -> int:
    """Return the commission of what a correction adds to a trade: its closing side, or a larger quantity."""
    is_future = row.imported.is_future
    try:
        charged, due = (commissions.of(fields, is_future=is_future) or 0 for fields in (before, after))
    except ValidationFailed:  # of a quantity that the trader has changed
        return 0
    return due - charged
