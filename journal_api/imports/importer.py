"""Imports a file of trades in one transaction, completely or not at all."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database import calendars
from journal_api.database.database import Database
from journal_api.database.threads import T
from journal_api.imports.batches import HasErrors, TradeImporter
from journal_api.imports.known_journal import read_known
from journal_api.imports.previews import ImportDigest, PreviewCollector
from journal_api.imports.verdicts import VerdictCounter, refused
from journal_api.positions.copy_match import CopyMatches, describe_ambiguous
from journal_api.repositories.imports import Source, insert, set_counts
from journal_api.structs.copy_groups import AmbiguousCopy
from journal_api.structs.import_previews import ImportPreview
from journal_api.structs.imports import AppliedFees, CostsSource, Counts, FileAccount, ImportSource, Verdict
from journal_api.trade_files.accounts import AccountChoice
from journal_api.trade_files.reader import TradeFile


class ImportResult(NamedTuple):
    """The result of an import. `import_id` is None for a dry run."""

    import_id: int | None
    counts: Counts
    accounts: list[FileAccount]  # as the file names them
    fees_applied: list[AppliedFees]  # by the commissions of the accounts
    costs: CostsSource | None
    accounts_without_costs: list[int]
    digest: str  # of all that the import writes
    preview: ImportPreview | None  # of a dry run
    open_at_end: int  # positions that the file leaves open
    linked: int  # copies in copy groups
    ambiguous: list[AmbiguousCopy]


class FileImport:
    """The import of one file: `preview` is its dry run, `store` the work of its transaction.

    `on_verdicts` is called with some verdicts at a time, not in the order of lines: copies whose original is
    further down come last. Errors beyond the first 1,000 are only counted. `accounts_in` returns the accounts
    of the file; by default it goes into the account of `source`. With `force` suspects are imported.
    `arrival` says who chose the file.
    """

    importer: TradeImporter

    def __init__(
        self,
        user_id: int,
        source: Source,
        file: TradeFile,
        on_verdicts: Callable[[list[Verdict]], object],
        accounts_in: Callable[[Connection], Awaitable[AccountChoice]] | None = None,
        *,
        force: bool = False,
        arrival: ImportSource = "user",
    ) -> None:
        self.force, self.arrival = force, arrival
        self.digest = ImportDigest()
        self.user_id, self.source, self.file = user_id, source, file
        self.accounts_in = accounts_in
        self.verdicts = VerdictCounter(self._report)
        self._on_verdicts = on_verdicts

    async def preview(self, db: Connection) -> ImportResult:
        """Read the file and return what its import would do."""
        choice = await self._choose_accounts(db)
        self.importer = await self._prepare(db, choice, None)
        self.importer.writer.preview = PreviewCollector(self.calendars)
        await self.importer.process(self.file, self.verdicts)
        return self._result(await self.importer.writer.link_copies())

    async def store(self, db: Connection) -> ImportResult:
        """Read the file and store its trades. Raises HasErrors after the first error."""
        choice = await self._choose_accounts(db)
        source = self.source._replace(account_id=choice.account_id)
        import_id = await insert(
            db,
            self.user_id,
            source,
            format=self.file.format,
            timezone=self.file.timezone.name,
            one_trade_is=self.file.one_trade_is,
            source=self.arrival,
        )
        self.importer = await self._prepare(db, choice, import_id)
        await self.importer.process(self.file, self.verdicts)
        matches = await self.importer.writer.link_copies()
        await set_counts(db, import_id, self.verdicts.counts)
        await self.importer.remember(self.file.timezone)
        return self._result(matches)

    async def complete(self, transaction: Awaitable[T], reader: Connection) -> T:
        """Return the result of the transaction that calls `store`.

        If a row is an error, the transaction has been rolled back and the write lock released; the remaining
        rows are read as in a dry run. Raises ValidationFailed then, with the counts and the errors.
        """
        try:
            return await transaction
        except HasErrors:
            self.importer.only_read(reader)
            await self.importer.process(self.file, self.verdicts)
            unknown = self.importer.accounts.unknown
            raise refused(self.verdicts.counts, self.verdicts.errors, unknown) from None

    async def _choose_accounts(self, db: Connection) -> AccountChoice:
        return await self.accounts_in(db) if self.accounts_in else AccountChoice(self.source.account_id)

    async def _prepare(self, db: Connection, choice: AccountChoice, import_id: int | None) -> TradeImporter:
        known = await read_known(db, self.user_id)
        self.calendars = await calendars.by_account(db, self.user_id)
        self.digest.add_calendars(self.calendars)
        return TradeImporter(
            db, self.user_id, import_id, known, choice, self.file.format, self.digest, force=self.force
        )

    def _report(self, verdicts: list[Verdict]) -> None:
        self.digest.add_verdicts(verdicts)
        self._on_verdicts(verdicts)

    def _result(self, matches: CopyMatches) -> ImportResult:
        importer, writer = self.importer, self.importer.writer
        self.digest.add_links(matches.links, importer.known.last_trade_id)
        last_trade_id = importer.known.last_trade_id if writer.import_id is None else None
        return ImportResult(
            *(writer.import_id, self.verdicts.counts, importer.accounts.named, writer.fees.applied),
            *(writer.fees.source, writer.fees.accounts_without, self.digest.hexdigest()),
            writer.preview.build() if writer.preview else None,
            importer.open_at_end,
            len(matches.links),
            describe_ambiguous(matches.ambiguous, last_trade_id),
        )


async def import_trades(
    database: Database,
    user_id: int,
    source: Source,
    file: TradeFile,
    on_verdicts: Callable[[list[Verdict]], object],
    *,
    dry_run: bool,
    accounts_in: Callable[[Connection], Awaitable[AccountChoice]] | None = None,
    force: bool = False,
    arrival: ImportSource = "user",
) -> ImportResult:
    """Import a file, or say what its import would do. Raises ValidationFailed if a row is an error."""
    file_import = FileImport(*(user_id, source, file, on_verdicts, accounts_in), force=force, arrival=arrival)
    if dry_run:
        return await file_import.preview(database.slow_reader)
    return await file_import.complete(database.write(file_import.store), database.slow_reader)
