"""Where the costs of an import's trades come from, and what the commissions of the accounts charge."""

from collections import Counter

from journal_api.positions.plans import Change
from journal_api.structs.imports import AppliedFees, CostsSource
from journal_api.values.money import from_units


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
