"""Commissions of trades whose costs nobody has stated (docs/imports.md#commissions)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.fills import decode_fills
from journal_api.positions.trade_draft import TradeDraft
from journal_api.values.instruments import find_contract
from journal_api.values.money import MAX_AMOUNT, SCALE, ZERO, Money, quotient

DEFAULT = "default"


class Commissions(NamedTuple):
    """What an account pays per contract and side, by contract root or `default`, in units of 10^-8."""

    per_side: Mapping[str, int]

    def compute(self, fields: Mapping[str, Any], *, is_future: bool) -> int | None:
        """Return the commission of a trade: of both sides, of one side while it is open.

        `fields` are its columns. Returns None if the account has no amount for its symbol. Raises
        ValidationFailed if the commission is too large.
        """
        if not self.per_side:
            return None  # most accounts, so that their imports read no fills and no symbol again
        return self.charge(fields["symbol"], count_sides(fields), is_future=is_future)

    def charge(self, symbol: str, sides: int, *, is_future: bool) -> int | None:
        """Return the commission of a quantity that was bought and sold, like `compute`."""
        # By contract root, else by symbol, else the default.
        contract = find_contract(symbol, is_future=is_future)
        names = (contract.root if contract else "", symbol.upper(), DEFAULT)
        per_side = next((self.per_side[name] for name in names if name in self.per_side), None)
        if per_side is None:
            return None
        amount = quotient(sides * per_side, SCALE)
        if amount > MAX_AMOUNT * SCALE:
            raise ValidationFailed(fields={"fees": f"by the account's commissions exceed {MAX_AMOUNT}"})
        return amount


def count_sides(fields: Mapping[str, Any]) -> int:
    """Return the quantity that was bought and sold, in units of 10^-8."""
    if fields["fills"]:
        return sum(fill.quantity for fill in decode_fills(fields["fills"]))
    return int(fields["quantity"]) * (1 if fields["closed_at"] is None else 2)


NO_COMMISSIONS = Commissions({})
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
