"""Imports a file of trades in batches: recognises stored trades, adds new ones, corrects changed ones."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from itertools import count, islice
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database.transactions import Transactions
from journal_api.repositories.import_lookups import names_of
from journal_api.repositories.imported_trades import LastMatched, correct, insert_all, stored_trades_of
from journal_api.repositories.imports import Source, insert, set_counts
from journal_api.repositories.sql import fetch
from journal_api.rules.import_rows import Candidate, Correction, Rejected, ResolvedRow, StoredTrade
from journal_api.structs.imports import Counts, FileAccount, Verdict
from journal_api.trade_files.accounts import AccountChoice, FileAccounts
from journal_api.trade_files.copies import Copies, PendingCopy
from journal_api.trade_files.matching import correction_of
from journal_api.trade_files.names import RowResolver
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.threads import WRITER, in_thread
from journal_api.trade_files.verdicts import VerdictCounter, refused
from journal_api.values.clock import now

BATCH_SIZE = 500


class HasErrors(Exception):
    """A row of the import is an error, so nothing of the import may be stored."""


class Outcome(NamedTuple):
    """The result of an import. `import_id` is None for a dry run."""

    import_id: int | None
    counts: Counts
    accounts: list[FileAccount]  # as the file names them


class TradeImporter:
    """The state of one import. Without an `import_id`, as in a dry run, it only reads."""

    def __init__(
        self,
        db: Connection,
        user_id: int,
        import_id: int | None,
        resolver: RowResolver,
        last_trade_id: int,
        written_at: str,
    ) -> None:
        self.db, self.user_id, self.import_id = db, user_id, import_id
        self.resolver, self.written_at = resolver, written_at
        self.trade_ids = count(last_trade_id + 1)
        self.compared: set[int] = set()  # the trades that an earlier row stands for
        self.last_matched: LastMatched = {}
        self.copies = Copies()

    @classmethod
    async def prepare(
        cls, db: Connection, user_id: int, choice: AccountChoice, import_id: int | None
    ) -> "TradeImporter":
        # New ids are assigned here, under the write lock (DECISIONS 27).
        last = await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = 'trades'", {})
        names = await names_of(db, user_id)
        accounts = FileAccounts(choice.account_id, {**names.accounts, **choice.mapped})
        written_at = now()
        common = {"user_id": user_id, "import_id": import_id, "source_trade_id": None, "now": written_at}
        return cls(db, user_id, import_id, RowResolver(names, accounts, common), last or 0, written_at)

    def only_read(self, reader: Connection) -> None:
        """Go on without writing, with another connection, after the transaction was rolled back."""
        self.db, self.import_id = reader, None

    @property
    def accounts(self) -> FileAccounts:
        return self.resolver.accounts

    @property
    def threads(self) -> int:
        """Whose threads read the file: those of the writer while the write lock is held."""
        return self.user_id if self.import_id is None else WRITER

    async def process(self, file: TradeFile, verdicts: VerdictCounter) -> None:
        """Process the remaining rows.

        Raises HasErrors after the first batch with an error, unless it only reads.
        """

        def next_rows() -> list[Candidate | Rejected]:
            return list(islice(file.candidates, BATCH_SIZE))

        while batch := await in_thread(self.threads, next_rows):
            verdicts.add(await self.process_batch(batch))
            self.require_no_errors(verdicts)
        copies = await self.resolve_copies()
        for begin in range(0, len(copies), BATCH_SIZE):
            verdicts.add(copies[begin : begin + BATCH_SIZE])
            await asyncio.sleep(0)  # let other tasks run
        self.require_no_errors(verdicts)

    def require_no_errors(self, verdicts: VerdictCounter) -> None:
        if self.import_id is not None and verdicts.errors:
            raise HasErrors

    async def process_batch(self, batch: Iterable[Candidate | Rejected]) -> list[Verdict]:
        """Write the new and the corrected trades of a batch. Returns the verdicts of its rows.

        The verdict of a copy whose original was not read yet is returned by `resolve_copies`.
        """
        rows = [self.with_unique_name(self.resolver.resolve(row)) for row in batch]
        matches = await stored_trades_of(self.db, rows, self.last_matched)
        self.last_matched |= matches.last_matched
        verdicts: list[Verdict] = []
        new: list[ResolvedRow] = []
        corrections: list[Correction] = []
        for index, row in enumerate(rows):
            if isinstance(row, Rejected):
                verdicts.append(Verdict(line=row.line, verdict="error", reason=row.reason))
            elif stored := matches.stored.get(index):
                correction = self.compare(row, stored)
                if correction:
                    corrections.append(correction)
                verdicts.append(verdict_of_stored(row, stored, correction))
            else:
                trade = self.with_ids(row)
                new.append(trade)
                verdicts += self.add(trade)
        if self.import_id is not None:
            await insert_all(self.db, new)
            await correct(self.db, self.import_id, corrections, self.written_at)
        return verdicts

    def with_unique_name(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """Return the row, rejected if an earlier row has the same name."""
        if isinstance(row, Rejected) or (name := row.imported.row_name) is None:
            return row
        return Rejected(row.line, f"row {name!r} is repeated") if self.copies.is_repeated(name) else row

    def compare(self, row: ResolvedRow, stored: StoredTrade) -> Correction | None:
        """Return the correction of a stored trade; only the first row of each trade can correct it."""
        self.copies.add_original(row.imported.row_name, stored.original_id)
        if stored.trade_id in self.compared:
            return None
        self.compared.add(stored.trade_id)
        return correction_of(row, stored)

    def with_ids(self, row: ResolvedRow) -> ResolvedRow:
        """Return a new trade with its id and, if it was read already, the id of its original."""
        ids = {"id": next(self.trade_ids), "source_trade_id": self.copies.original_of(row.imported.copy_of)}
        return row._replace(columns={**row.columns, **ids})

    def add(self, row: ResolvedRow) -> list[Verdict]:
        """Return the verdict of a new trade, none yet for a copy whose original was not read yet."""
        trade_id, original_id = row.columns["id"], row.columns["source_trade_id"]
        if self.import_id is not None:
            self.compared.add(trade_id)
        name, copy_of = row.imported.row_name, row.imported.copy_of
        if copy_of is not None and original_id is None:
            self.copies.add_pending(PendingCopy(row.line, trade_id, name, copy_of))
            return []
        self.copies.add_original(name, original_id or trade_id)
        return [self.verdict_of_new(row.line, trade_id)]

    def verdict_of_new(self, line: int, trade_id: int) -> Verdict:
        return Verdict(line=line, verdict="new", trade_id=None if self.import_id is None else trade_id)

    async def resolve_copies(self) -> list[Verdict]:
        """Set the originals of the pending copies. Returns the verdicts of their rows."""
        resolved = await in_thread(self.threads, self.copies.resolve)
        if self.import_id is not None:
            originals = [(original_id, copy.trade_id) for original_id, copy in resolved.pairs]
            await self.db.executemany("UPDATE trades SET source_trade_id = ? WHERE id = ?", originals)
        return [self.verdict_of_new(copy.line, copy.trade_id) for _, copy in resolved.pairs] + resolved.errors


def verdict_of_stored(row: ResolvedRow, stored: StoredTrade, correction: Correction | None) -> Verdict:
    changed = correction.changed if correction else []
    return Verdict(
        line=row.line,
        verdict="updated" if changed else "duplicate",
        trade_id=stored.trade_id,
        changed=changed,
    )


async def import_trades(
    database: Transactions,
    user_id: int,
    source: Source,
    file: TradeFile,
    on_verdicts: Callable[[list[Verdict]], object],
    *,
    dry_run: bool,
    accounts_in: Callable[[Connection], Awaitable[AccountChoice]] | None = None,
) -> Outcome:
    """Import a file in one transaction.

    `on_verdicts` is called with some verdicts at a time, not in the order of lines: copies whose original is
    further down come last. Errors beyond the first 1,000 are only counted. `accounts_in` returns the accounts
    of the file inside the transaction; by default it goes into the account of `source`.

    A dry run only reads. Otherwise the first error rolls back the transaction and releases the write lock;
    the remaining rows are read as in a dry run. Raises ValidationFailed then, with the counts and the errors.
    """
    verdicts = VerdictCounter(on_verdicts)

    async def prepare(db: Connection) -> TradeImporter:
        choice = AccountChoice(source.account_id) if accounts_in is None else await accounts_in(db)
        new_import = source._replace(account_id=choice.account_id)
        import_id = None if dry_run else await insert(db, user_id, new_import, file.format)
        return await TradeImporter.prepare(db, user_id, choice, import_id)

    if dry_run:
        importer = await prepare(database.slow_reader)
        await importer.process(file, verdicts)
        return Outcome(None, verdicts.counts, importer.accounts.named)
    try:
        async with database.transaction() as db:
            importer = await prepare(db)
            await importer.process(file, verdicts)
            assert importer.import_id is not None
            await set_counts(db, importer.import_id, verdicts.counts)
            return Outcome(importer.import_id, verdicts.counts, importer.accounts.named)
    except HasErrors:
        importer.only_read(database.slow_reader)
        await importer.process(file, verdicts)
        raise refused(verdicts.counts, verdicts.errors, importer.accounts.unknown) from None
