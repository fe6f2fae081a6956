"""What a file corrects of the trades that its rows were recognised as (DECISIONS 32)."""

from fractions import Fraction

from journal_api.rules.import_rows import Correction, ResolvedRow, StoredTrade
from journal_api.rules.trade_identity import BROKER_FIELDS, changed_fields


def correction_of(row: ResolvedRow, stored: StoredTrade) -> Correction | None:
    """None for a trade that an import does not touch, and while the file says what was said before.

    A fact changes when the file says something else of it than the last one did. So what the trader has
    edited stays, until the broker corrects just that.
    """
    if stored.content is None or (
        row.columns["closed_at"] is None and stored.fields["closed_at"] is not None
    ):
        return None  # the trader's own, or an older file, from before the trade was closed
    said, content = changed_fields(stored.content, row.columns["content"])
    if content == stored.content:
        return None
    fields = stored.fields | {fact: row.columns[fact] for fact in said}
    if (fields["closed_at"] is None) != (fields["gross_pnl"] is None):  # reopened by the trader meanwhile
        said += ["exit_price", "closed_at", "gross_pnl"]
        fields |= {fact: row.columns[fact] for fact in said}
    is_made_here = row.imported.is_computed and "multiplier" in row.imported.unstated
    if is_made_here and "gross_pnl" in said and fields["gross_pnl"] is not None:
        # The file's result was made with a multiplier that it does not know.
        ratio = Fraction(fields["multiplier"], row.columns["multiplier"])
        fields["gross_pnl"] = round(fields["gross_pnl"] * ratio)
    changed = [fact for fact in BROKER_FIELDS if fields[fact] != stored.fields[fact]]
    return Correction(stored.trade_id, fields, changed, content)
