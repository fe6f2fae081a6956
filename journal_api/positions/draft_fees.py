"""Commissions of trades that are entered by hand without fees (docs/imports.md#commissions)."""

from collections.abc import Mapping

from msgspec.structs import replace

from journal_api.positions.commissions import NO_COMMISSIONS, Commissions
from journal_api.positions.trade_draft import TradeDraft
from journal_api.values.money import ZERO, Money, quotient

# By account id.
AllCommissions = Mapping[int, Commissions]


def charge_new(trade: TradeDraft, known: AllCommissions) -> TradeDraft:
    """Return a new trade with the commission of its account if nobody has stated its fees."""
    if trade.fees_source != "none":
        return trade
    fees = compute_fees(trade, known)
    return trade if fees is None else replace(trade, fees=Money.of_units(fees), fees_source="account")


def charge_changed(before: TradeDraft, after: TradeDraft, known: AllCommissions) -> TradeDraft:
    """Return a changed trade with the commission of what the change adds, such as its closing side.

    A trade that becomes smaller pays its part of what it has paid. Fees that a person typed or a file stated
    stay. A trade that goes to another account or symbol pays anew.
    """
    if after.fees_source not in ("account", "none"):
        return after
    if (before.account_id, before.symbol) != (after.account_id, after.symbol):
        return charge_new(replace(after, fees=ZERO, fees_source="none"), known)
    if after.fees_source == "none":
        return after
    was, sides = before.count_sides(), after.count_sides()
    if sides < was:
        return replace(after, fees=Money.of_units(quotient(before.fees.units * sides, was)))
    further = (compute_fees(after, known) or 0) - (compute_fees(before, known) or 0)
    return replace(after, fees=Money.of_units(after.fees.units + further)) if further else after


def compute_fees(trade: TradeDraft, known: AllCommissions) -> int | None:
    """Return the commission of the trade's account in units of 10^-8, None if it has none for the symbol."""
    commissions = known.get(trade.account_id or 0, NO_COMMISSIONS)
    return commissions.charge(trade.symbol, trade.count_sides(), is_future=False)
