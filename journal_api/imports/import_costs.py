"""Where the costs of an import's trades come from, and what the commissions of the accounts charge."""

from journal_api.positions.plans import Change
from journal_api.structs.imports import AppliedFees, CostsSource
from journal_api.values.money import from_units


class ImportCosts:
    """The costs of the positions of a file."""

    def __init__(self) -> None:
        self._totals: dict[int, list[int]] = {}  # by account the number of trades and the sum of fees
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
            total = self._totals.setdefault(account_id, [0, 0])
            total[0] += 1
            total[1] += further

    @property
    def applied(self) -> list[AppliedFees]:
        """The fees that commissions have made, by account."""
        return [
            AppliedFees(account_id=account_id, rows=rows, total=from_units(total))
            for account_id, (rows, total) in sorted(self._totals.items())
        ]

    @property
    def source(self) -> CostsSource | None:
        """Where the costs come from; `none` if any trade's costs are unknown."""
        order: tuple[tuple[str, CostsSource], ...] = (("none", "none"), ("account", "by_account"))
        found = next((shown for source, shown in order if source in self._sources), None)
        return found or ("stated" if self._sources else None)
