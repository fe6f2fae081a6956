"""Writes the new and the corrected trades of an import, and collects the verdicts of their rows."""

from collections.abc import Callable
from itertools import count

from aiosqlite import Connection

from journal_api.database.threads import T
from journal_api.imports.copies import Copies, PendingCopy
from journal_api.imports.copy_linking import CopyLinker
from journal_api.imports.correcting import ImportFees, correct_trade, fill_in_trade
from journal_api.imports.imported_trades import correct, insert_all
from journal_api.imports.known_journal import KnownJournal
from journal_api.imports.previews import ImportDigest, PreviewCollector
from journal_api.imports.row_verdicts import error_verdict, several, stored_verdict
from journal_api.positions.copy_match import CopyMatches
from journal_api.positions.import_rows import Correction, Rejected, ResolvedRow, StoredTrade
from journal_api.repositories.copies import link_by_import
from journal_api.structs.imports import Verdict
from journal_api.trade_files.threads import in_thread
from journal_api.values.clock import now


class RowWriter:
    """The trades of one import until `write`. Without an `import_id`, as in a dry run, nothing is stored."""

    def __init__(
        self, db: Connection, user_id: int, import_id: int | None, known: KnownJournal, digest: ImportDigest
    ) -> None:
        self.db, self.user_id, self.import_id, self.digest = db, user_id, import_id, digest
        self.fees, self.copies = ImportFees(known.commissions), Copies()
        self.linker = CopyLinker(known.copy_rules)
        self.preview: PreviewCollector | None = None  # of a dry run
        self._written_at = now()
        self._trade_ids = count(known.last_trade_id + 1)
        self._compared: set[int] = set()  # the trades that an earlier row stands for
        self._new: list[ResolvedRow] = []
        self._corrections: list[Correction] = []
        self._verdicts: list[Verdict] = []

    async def call(self, function: Callable[[], T]) -> T:
        """Call a function that may take long: at once in the writer's thread, else in one of the user's."""
        return function() if self.import_id is not None else await in_thread(self.user_id, function)

    def report(self, verdict: Verdict) -> None:
        self._verdicts.append(verdict)

    def reject(self, row: Rejected) -> None:
        self.report(error_verdict(row.line, row.reason))

    def insert(self, row: ResolvedRow) -> None:
        """Add a new trade. A copy whose original was not read yet has no verdict yet."""
        original_id = self.copies.find_original(row.imported.copy_of)
        trade_id = next(self._trade_ids)
        columns = {**row.columns, "id": trade_id, "source_trade_id": original_id}
        self._new.append(ResolvedRow(row.imported, columns, row.tag_ids, row.answers))
        self.fees.count(row, columns["fees"])
        name, copy_of = row.imported.row_name, row.imported.copy_of
        if copy_of is not None and original_id is None:
            self.copies.add_pending(PendingCopy(row.line, trade_id, name, copy_of))
            return
        self.copies.add_original(name, original_id or trade_id)
        self.report(self._new_verdict(row.line, trade_id, row.imported.rows))

    def compare(self, row: ResolvedRow, stored: StoredTrade, *, is_continued: bool = False) -> None:
        """Add the correction of a stored trade; only the first row of each trade can correct it."""
        self.copies.add_original(row.imported.row_name, stored.original_id)
        correction = None
        if stored.trade_id not in self._compared:
            self._compared.add(stored.trade_id)
            commissions = self.fees.commissions_for(row)
            correction = correct_trade(row, stored, commissions, is_continued=is_continued)
        if correction:
            self.fees.count(row, correction.fields["fees"] - stored.fields["fees"])
        self._correct(row, stored, correction)

    def keep(self, row: ResolvedRow, stored: StoredTrade) -> None:
        """Report a stored trade of which the row says nothing new."""
        self.report(stored_verdict(row, stored, None))

    def fill_in(self, row: ResolvedRow, filled_in: ResolvedRow, stored: StoredTrade) -> None:
        """Add what only the row knows of a stored trade."""
        is_first = stored.trade_id not in self._compared
        self._compared.add(stored.trade_id)
        self._correct(row, stored, fill_in_trade(filled_in, stored) if is_first else None)

    def _correct(self, row: ResolvedRow, stored: StoredTrade, correction: Correction | None) -> None:
        if correction:
            self._corrections.append(correction)
        self.report(stored_verdict(row, stored, correction))

    def _new_verdict(self, line: int, trade_id: int, rows: int = 1) -> Verdict:
        shown_id = None if self.import_id is None else trade_id
        return Verdict(line=line, verdict="new", trade_id=shown_id, rows=several(rows))

    async def write(self) -> list[Verdict]:
        """Write what was added, and return the verdicts."""
        new, corrections, verdicts = self._new, self._corrections, self._verdicts
        self._new, self._corrections, self._verdicts = [], [], []
        await self.call(lambda: self._observe(new, corrections))
        self.linker.add(new, corrections)
        if self.import_id is not None:
            await insert_all(self.db, self.user_id, new, self.import_id, self._written_at)
            if corrections:
                await correct(self.db, self.import_id, corrections, self._written_at)
        return verdicts

    def _observe(self, new: list[ResolvedRow], corrections: list[Correction]) -> None:
        """Add what is written to the digest of the import, and to the preview of a dry run."""
        self.digest.add_writes(new, corrections)
        if self.preview is not None:
            self.preview.add(new)

    async def resolve_copies(self) -> list[Verdict]:
        """Set the originals of the pending copies. Returns the verdicts of their rows."""
        resolved = await self.call(self.copies.resolve)
        self.linker.set_originals({copy.trade_id: original_id for original_id, copy in resolved.pairs})
        if self.import_id is not None:
            originals = [(original_id, copy.trade_id) for original_id, copy in resolved.pairs]
            await self.db.executemany("UPDATE trades SET source_trade_id = ? WHERE id = ?", originals)
        return [self._new_verdict(copy.line, copy.trade_id) for _, copy in resolved.pairs] + resolved.errors

    async def link_copies(self) -> CopyMatches:
        """Link the copies of copy groups."""
        matches = await self.linker.find_copies(self.db)
        if self.import_id is not None:
            await link_by_import(self.db, self.import_id, matches.links, self._written_at)
        return matches
