"""Contracts whose fills in a file and in the journal go through one book, at the end of the file."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from journal_api.imports.continued import (
    Continued,
    Contract,
    closes_nothing,
    continue_positions,
    list_ids,
    list_unmatched,
    reopens,
)
from journal_api.imports.known_journal import KnownJournal
from journal_api.imports.row_verdicts import OTHER_POSITIONS, suspect_verdict, unmatched_verdict
from journal_api.imports.row_writer import RowWriter
from journal_api.imports.stored_positions import StoredPositions, find_taken, shift
from journal_api.imports.typed_fills import adopt_typed, find_edited
from journal_api.positions.import_rows import Rejected, Relation, ResolvedRow, StoredTrade
from journal_api.positions.pair_match import FILL_BY_HAND, MERGED_POSITION
from journal_api.positions.position_fills import has_same_fills, list_sizes, read_fills
from journal_api.positions.position_match import OTHER_FILE, relate_other, suspect_double
from journal_api.positions.position_times import MAX_ROUNDING


class ContinuedContracts:
    """The rows that may continue a position of their contract, or be continued."""

    def __init__(
        self, writer: RowWriter, known: KnownJournal, positions: StoredPositions, *, force: bool
    ) -> None:
        self.writer, self.known, self.positions, self.force = writer, known, positions, force
        self._deferred: defaultdict[Contract, list[ResolvedRow]] = defaultdict(list)

    def defers(self, row: ResolvedRow | Rejected) -> bool:
        """Return whether the row has to wait for the end of the file; keep it until then."""
        if isinstance(row, Rejected) or row.imported.kind not in ("fills", "closing", "expiring"):
            return False
        contract = Contract.of_row(row)
        may_be_continued = (
            row.columns["closed_at"] is None and contract.account_id in self.known.accounts_with_trades
        )
        if may_be_continued or contract in self.known.open_contracts or contract in self._deferred:
            self.defer(row)
            return True
        return False

    def defer(self, row: ResolvedRow) -> None:
        self._deferred[Contract.of_row(row)].append(row)

    def take_deferred(self) -> Iterator[tuple[Contract, list[ResolvedRow]]]:
        """Yield the deferred rows of each contract, once."""
        while self._deferred:
            contract = next(iter(self._deferred))
            yield contract, self._deferred.pop(contract)

    async def find_stored(self, contract: Contract, rows: Sequence[ResolvedRow]) -> list[StoredTrade]:
        """Return the stored positions that the rows of a contract may continue."""
        since = shift(min(row.columns["opened_at"] for row in rows), -MAX_ROUNDING)
        stored_trades = await self.positions.find_continued(self.writer.db, *contract, since)
        return [] if closes_nothing(rows, stored_trades) else adopt_typed(rows, stored_trades)

    async def find_taken(
        self, contract: Contract, rows: Sequence[ResolvedRow], stored_trades: Sequence[StoredTrade]
    ) -> set[str]:
        """Return the external ids that new positions of these fills must not have."""
        columns = [*(row.columns for row in rows), *(stored.fields for stored in stored_trades)]
        return await find_taken(self.writer.db, contract.account_id, set(list_ids(columns)))

    async def settle(
        self,
        rows: Sequence[ResolvedRow],
        stored_trades: Sequence[StoredTrade],
        related: Collection[int],
        taken: set[str],
    ) -> list[ResolvedRow | Rejected] | None:
        """Add what the fills of both make of stored trades, and return the new positions.

        Returns None if the rows are positions of their own.
        """
        merged = next((stored for stored in stored_trades if stored.content is None), None)
        edited = find_edited(rows, stored_trades)
        continued = None if merged or edited else continue_positions(rows, stored_trades, related, taken)
        if continued is not None and not reopens(rows, continued):
            for unmatched in list_unmatched(rows, continued):
                self.writer.report(unmatched_verdict(unmatched))
            double = None if self.force else await self.find_double(continued, related)
            return self.add(rows, self.hold_back(continued, double) if double else continued)
        if continued is not None or self.force:
            return None
        why = MERGED_POSITION if merged else FILL_BY_HAND if edited else OTHER_POSITIONS
        for row in rows:
            self.writer.report(suspect_verdict(row, merged or edited or stored_trades[0], why))
        return []

    async def find_double(self, continued: Sequence[Continued], related: Collection[int]) -> Relation | None:
        """Return the trade of another format that a stored trade may be a double of now."""
        neighbours = await self.positions.find_neighbours(
            self.writer.db, {index: one.row for index, one in enumerate(continued)}
        )
        known = set(related)
        for index, (row, stored) in enumerate(continued):
            foreign = [one for one in neighbours.get(index, ()) if one.format != self.positions.format]
            if stored is None or has_same_fills(row, stored):
                relation = relate_other(row, foreign, known)
                known |= {relation.stored.trade_id} if relation and not relation.suspicion else set()
            elif double := suspect_double(row, foreign, known):
                return double
        return None

    def hold_back(self, continued: Sequence[Continued], double: Relation) -> list[Continued]:
        """Return the positions without those that stored trades must not become, nor may lose fills to."""
        held = {key for _, stored in continued if stored for key in list_sizes(read_fills(stored.fields))}
        free: list[Continued] = []
        for row, stored in continued:
            is_free = held.isdisjoint(list_sizes(read_fills(row.columns)))
            if is_free or (stored and has_same_fills(row, stored)):
                free.append(Continued(row, stored))
            else:
                self.writer.report(suspect_verdict(row, double.stored, double.suspicion or OTHER_FILE))
        return free

    def add(
        self, rows: Sequence[ResolvedRow], continued: Sequence[Continued]
    ) -> list[ResolvedRow | Rejected]:
        new: list[ResolvedRow | Rejected] = []
        whole = {frozenset(list_sizes(read_fills(row.columns)).items()): row for row in rows}
        for row, stored in continued:
            charged = self.writer.fees.charge(row)
            if isinstance(charged, Rejected) or stored is None:
                new.append(charged)
            elif (sizes := list_sizes(read_fills(row.columns))) != list_sizes(read_fills(stored.fields)):
                self.writer.compare(charged, stored, is_continued=True)
            elif same := whole.get(frozenset(sizes.items())):
                self.writer.compare(same, stored)
            else:
                self.writer.keep(charged, stored)
        return new
