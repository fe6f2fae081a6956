"""The commissions that an import charges (docs/imports.md#commissions)."""

from collections.abc import Mapping

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.rules.commissions import NO_COMMISSIONS, Commissions
from journal_api.rules.import_rows import Rejected, ResolvedRow
from journal_api.structs.imports import AppliedFees
from journal_api.trade_files.file_format import reason_of
from journal_api.values.money import from_units


class ImportFees:
    """Charges the commissions of the accounts for rows whose costs the file does not state."""

    def __init__(self, commissions: Mapping[int, Commissions]) -> None:
        self._commissions = commissions  # by account
        self._totals: dict[int, list[int]] = {}  # by account the number of rows and the sum of fees

    @property
    def applied(self) -> list[AppliedFees]:
        """The fees that commissions have made, by account."""
        return [
            AppliedFees(account_id=account_id, rows=rows, total=from_units(total))
            for account_id, (rows, total) in sorted(self._totals.items())
        ]

    def commissions_for(self, row: ResolvedRow) -> Commissions:
        return self._commissions.get(row.columns["account_id"], NO_COMMISSIONS)

    def charged(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """Return the row with the account's commission if the file does not state its costs."""
        if isinstance(row, Rejected) or row.imported.states("fees"):
            return row
        try:
            fees = self.commissions_for(row).of(row.columns, is_future=row.imported.is_future)
        except ValidationFailed as error:
            return Rejected(row.line, reason_of(error))
        return row if fees is None else replace(row, columns={**row.columns, "fees": fees})

    def note(self, row: ResolvedRow, fees: int) -> None:
        """Count fees of a written row, unless the file states them."""
        if fees and not row.imported.states("fees"):
            total = self._totals.setdefault(row.columns["account_id"], [0, 0])
            total[0] += 1
            total[1] += fees
