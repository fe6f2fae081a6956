"""Imports a file of trades in batches: recognises stored trades, adds new ones, corrects changed ones."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from itertools import count, islice
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.transactions import Transactions
from journal_api.errors import ValidationFailed
from journal_api.repositories import import_timezones
from journal_api.repositories.accounts import commissions_of_user
from journal_api.repositories.import_lookups import names_of
from journal_api.repositories.imported_trades import LastMatched, correct, insert_all, stored_trades_of
from journal_api.repositories.imports import Source, insert, set_counts
from journal_api.repositories.sql import fetch
from journal_api.rules.commissions import NO_COMMISSIONS, Commissions
from journal_api.rules.import_rows import Candidate, Correction, Names, Rejected, ResolvedRow, StoredTrade
from journal_api.structs.imports import AppliedFees, Counts, Verdict
from journal_api.trade_files.file_format import reason_of
from journal_api.trade_files.matching import correction_of
from journal_api.trade_files.names import resolve
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.threads import WRITER, in_thread, with_cancel_checks
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.clock import now
from journal_api.values.money import from_units

BATCH_SIZE = 500
MOST_ERRORS = 1000


class PendingCopy(NamedTuple):
    """A copy whose original was not read yet."""

    line: int
    trade_id: int
    row_name: str | None
    copy_of: str


class ImportResult(NamedTuple):
    """The id of an import, None for a dry run, its counts, and the commissions that it charged."""

    import_id: int | None
    counts: Counts
    fees_applied: list[AppliedFees]


class HasErrors(Exception):
    """A row of the import is an error, so nothing of the import may be stored."""


class VerdictCounter:
    """Counts the verdicts of an import and passes them on, of the errors only the first MOST_ERRORS."""

    def __init__(self, on_verdicts: Callable[[list[Verdict]], object]) -> None:
        self.counts, self.errors = Counts(), list[Verdict]()
        self._on_verdicts = on_verdicts

    def add(self, verdicts: list[Verdict]) -> None:
        for word, number in Counter(verdict.verdict for verdict in verdicts).items():
            setattr(self.counts, word, getattr(self.counts, word) + number)
        reported = []
        for verdict in verdicts:
            if verdict.reason is None:
                reported.append(verdict)
            elif len(self.errors) < MOST_ERRORS:
                self.errors.append(verdict)
                reported.append(verdict)
        self._on_verdicts(reported)


class TradeImporter:
    """The state of one import. Without an `import_id`, as in a dry run, it only reads."""

    def __init__(
        self,
        db: Connection,
        owner: dict[str, Any],
        names: Names,
        commissions: dict[int, Commissions],
        import_id: int | None,
        last_trade_id: int,
    ) -> None:
        self.db, self.names, self.import_id = db, names, import_id
        self.commissions = commissions  # by account
        self.fees_applied: dict[int, list[int]] = {}  # by account the number of rows and the sum of fees
        self.common = {**owner, "import_id": import_id, "source_trade_id": None, "now": now()}
        self.trade_ids = count(last_trade_id + 1)
        self.compared: set[int] = set()  # the trades that an earlier row stands for
        self.last_matched: LastMatched = {}
        self.row_names: set[str] = set()
        self.originals: dict[str, int] = {}  # the id of the original by the name of a row
        self.pending_copies: list[PendingCopy] = []

    @classmethod
    async def prepare(
        cls, db: Connection, user_id: int, account_id: int | None, import_id: int | None
    ) -> "TradeImporter":
        # New ids are assigned here, under the write lock (DECISIONS 27).
        last = await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = 'trades'", {})
        names = await names_of(db, user_id)
        commissions = await commissions_of_user(db, user_id)
        owner = {"user_id": user_id, "account_id": account_id}
        return cls(db, owner, names, commissions, import_id, last or 0)

    def only_read(self, reader: Connection) -> None:
        """Go on without writing, with another connection, after the transaction was rolled back."""
        self.db, self.import_id = reader, None

    @property
    def threads(self) -> int:
        """Whose threads read the file: those of the writer while the write lock is held."""
        user_id: int = self.common["user_id"]
        return user_id if self.import_id is None else WRITER

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

    async def remember(self, timezone: FileTimezone) -> None:
        """Store the time zone of the file for the accounts whose times were read in it."""
        assert self.import_id is not None
        account_id = self.common["account_id"]
        account_ids = [account_id or self.names.accounts[name] for name in timezone.accounts]
        await import_timezones.insert(self.db, self.import_id, timezone.name, account_ids)

    async def process_batch(self, batch: Iterable[Candidate | Rejected]) -> list[Verdict]:
        """Write the new and the corrected trades of a batch. Returns the verdicts of its rows.

        The verdict of a copy whose original was not read yet is returned by `resolve_copies`.
        """
        rows = [self.with_fees(self.with_unique_name(resolve(row, self.names, self.common))) for row in batch]
        stored_trades = await stored_trades_of(self.db, rows, self.last_matched)
        verdicts: list[Verdict] = []
        new: list[ResolvedRow] = []
        corrections: list[Correction] = []
        for index, row in enumerate(rows):
            if isinstance(row, Rejected):
                verdicts.append(Verdict(line=row.line, verdict="error", reason=row.reason))
            elif stored := stored_trades.get(index):
                correction = self.compare(row, stored)
                if correction:
                    corrections.append(correction)
                verdicts.append(verdict_of_stored(row, stored, correction))
            elif row.repeats_external_id:
                verdicts.append(Verdict(line=row.line, verdict="duplicate"))
            else:
                trade = self.with_ids(row)
                new.append(trade)
                self.note_fees(row, row.columns["fees"])
                verdicts += self.add(trade)
        if self.import_id is not None:
            await insert_all(self.db, new)
            await correct(self.db, self.import_id, corrections, self.common["now"])
        return verdicts

    def with_unique_name(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """Return the row, rejected if an earlier row has the same name."""
        if isinstance(row, Rejected) or (name := row.imported.row_name) is None:
            return row
        if name in self.row_names:
            return Rejected(row.line, f"row {name!r} is repeated")
        self.row_names.add(name)
        return row

    def with_fees(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """Return the row with the account's commission if the file does not state its costs."""
        if isinstance(row, Rejected) or row.imported.states("fees"):
            return row
        try:
            fees = self.commissions_for(row).of(row.columns, is_future=row.imported.is_future)
        except ValidationFailed as error:
            return Rejected(row.line, reason_of(error))
        return row if fees is None else row._replace(columns={**row.columns, "fees": fees})

    def commissions_for(self, row: ResolvedRow) -> Commissions:
        return self.commissions.get(row.columns["account_id"], NO_COMMISSIONS)

    def note_fees(self, row: ResolvedRow, fees: int) -> None:
        """Count fees that the account's commissions have made."""
        if fees and not row.imported.states("fees"):
            total = self.fees_applied.setdefault(row.columns["account_id"], [0, 0])
            total[0] += 1
            total[1] += fees

    def compare(self, row: ResolvedRow, stored: StoredTrade) -> Correction | None:
        """Return the correction of a stored trade; only the first row of each trade can correct it."""
        if not row.repeats_external_id:
            self.set_original(row.imported.row_name, stored.original_id)
        if stored.trade_id in self.compared:
            return None
        self.compared.add(stored.trade_id)
        correction = correction_of(row, stored, self.commissions_for(row))
        if correction:
            self.note_fees(row, correction.fields["fees"] - stored.fields["fees"])
        return correction

    def with_ids(self, row: ResolvedRow) -> ResolvedRow:
        """Return a new trade with its id and, if it was read already, the id of its original."""
        copy_of = row.imported.copy_of
        original_id = None if copy_of is None else self.originals.get(copy_of)
        ids = {"id": next(self.trade_ids), "source_trade_id": original_id}
        return row._replace(columns={**row.columns, **ids})

    def add(self, row: ResolvedRow) -> list[Verdict]:
        """Return the verdict of a new trade, none yet for a copy whose original was not read yet."""
        trade_id, original_id = row.columns["id"], row.columns["source_trade_id"]
        if self.import_id is not None:
            self.compared.add(trade_id)
        name, copy_of = row.imported.row_name, row.imported.copy_of
        if copy_of is not None and original_id is None:
            self.pending_copies.append(PendingCopy(row.line, trade_id, name, copy_of))
            return []
        self.set_original(name, original_id or trade_id)
        return [self.verdict_of_new(row.line, trade_id)]

    def set_original(self, row_name: str | None, original_id: int) -> None:
        if row_name is not None:
            self.originals[row_name] = original_id

    def verdict_of_new(self, line: int, trade_id: int) -> Verdict:
        return Verdict(line=line, verdict="new", trade_id=None if self.import_id is None else trade_id)

    def applied_fees(self) -> list[AppliedFees]:
        """Return the fees that commissions have made, by account."""
        return [
            AppliedFees(account_id=account_id, rows=rows, total=from_units(total))
            for account_id, (rows, total) in sorted(self.fees_applied.items())
        ]

    async def resolve_copies(self) -> list[Verdict]:
        """Set the originals of the pending copies. Returns the verdicts of their rows."""
        verdicts, originals = await in_thread(self.threads, self.find_originals)
        if self.import_id is not None:
            await self.db.executemany("UPDATE trades SET source_trade_id = ? WHERE id = ?", originals)
        return verdicts

    def find_originals(self) -> tuple[list[Verdict], list[tuple[int, int]]]:
        """Return the verdicts of the pending copies, and pairs of original id and copy id."""
        pending_copies, self.pending_copies = self.pending_copies, []
        verdicts: list[Verdict] = []
        pairs: list[tuple[int, int]] = []
        copies = {copy.row_name: copy for copy in pending_copies if copy.row_name is not None}
        for copy in with_cancel_checks(pending_copies):
            original_id = self.find_original(copy, copies)
            if original_id is None:
                reason = f"copy_of names {copy.copy_of!r}, which leads to no original in this file"
                verdicts.append(Verdict(line=copy.line, verdict="error", reason=reason))
            else:
                pairs.append((original_id, copy.trade_id))
                verdicts.append(self.verdict_of_new(copy.line, copy.trade_id))
        return verdicts, pairs

    def find_original(self, copy: PendingCopy, copies: dict[str, PendingCopy]) -> int | None:
        """Return the original at the end of a chain of copies, None without one.

        Removes the copies of the chain from `copies`, so that each is visited once, also in a circle.
        """
        visited: list[str] = []
        name: str | None = copy.copy_of
        while name in copies and name not in self.originals:
            visited.append(name)
            name = copies.pop(name).copy_of
        original_id = self.originals.get(name or "")
        if original_id is not None:
            self.originals |= dict.fromkeys(visited, original_id)
        return original_id


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
    account_in: Callable[[Connection], Awaitable[int | None]] | None = None,
) -> ImportResult:
    """Import a file in one transaction.

    `on_verdicts` is called with some verdicts at a time, not in the order of lines: copies whose original is
    further down come last. Errors beyond the first 1,000 are only counted. `account_in` returns the account
    of the import inside the transaction; by default it is that of `source`.

    A dry run only reads. Otherwise the first error rolls back the transaction and releases the write lock;
    the remaining rows are read as in a dry run. Raises ValidationFailed then, with the counts and the errors.
    """
    verdicts = VerdictCounter(on_verdicts)

    async def prepare(db: Connection) -> TradeImporter:
        account_id = source.account_id if account_in is None else await account_in(db)
        new_import = source._replace(account_id=account_id)
        zone = file.timezone.name
        import_id = None if dry_run else await insert(db, user_id, new_import, file.format, zone)
        return await TradeImporter.prepare(db, user_id, account_id, import_id)

    if dry_run:
        importer = await prepare(database.slow_reader)
        await importer.process(file, verdicts)
        return ImportResult(None, verdicts.counts, importer.applied_fees())
    try:
        async with database.transaction() as db:
            importer = await prepare(db)
            await importer.process(file, verdicts)
            assert importer.import_id is not None
            await set_counts(db, importer.import_id, verdicts.counts)
            await importer.remember(file.timezone)
            return ImportResult(importer.import_id, verdicts.counts, importer.applied_fees())
    except HasErrors:
        importer.only_read(database.slow_reader)
        await importer.process(file, verdicts)
        errors = sorted(verdicts.errors, key=lambda verdict: verdict.line)
        raise refused(verdicts.counts, errors) from None


def refused(counts: Counts, errors: list[Verdict]) -> ValidationFailed:
    """Return the error of an import with errors, which names the first of them."""
    first = errors[0]
    others = f" (and {counts.error - 1} more)" if counts.error > 1 else ""
    return ValidationFailed(
        f"line {first.line}: {first.reason}{others}",
        line=first.line,
        reason=first.reason,
        counts=counts,
        rows=errors,
    )
