"""Imports a file of trades in one transaction, completely or not at all."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database.transactions import Transactions
from journal_api.repositories.imports import Source, insert, set_counts
from journal_api.structs.imports import AppliedFees, Counts, FileAccount, Verdict
from journal_api.trade_files.accounts import AccountChoice
from journal_api.trade_files.batches import HasErrors, TradeImporter
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.verdicts import VerdictCounter, refused


class ImportResult(NamedTuple):
    """The result of an import. `import_id` is None for a dry run."""

    import_id: int | None
    counts: Counts
    accounts: list[FileAccount]  # as the file names them
    fees_applied: list[AppliedFees]  # by the commissions of the accounts


async def import_trades(
    database: Transactions,
    user_id: int,
    source: Source,
    file: TradeFile,
    on_verdicts: Callable[[list[Verdict]], object],
    *,
    dry_run: bool,
    accounts_in: Callable[[Connection], Awaitable[AccountChoice]] | None = None,
) -> ImportResult:
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
        zone = file.timezone.name
        import_id = None if dry_run else await insert(db, user_id, new_import, file.format, zone)
        return await TradeImporter.prepare(db, user_id, choice, import_id)

    if dry_run:
        importer = await prepare(database.slow_reader)
        await importer.process(file, verdicts)
        return ImportResult(None, verdicts.counts, importer.accounts.named, importer.fees.applied)
    try:
        async with database.transaction() as db:
            importer = await prepare(db)
            await importer.process(file, verdicts)
            assert importer.import_id is not None
            await set_counts(db, importer.import_id, verdicts.counts)
            await importer.remember(file.timezone)
            return ImportResult(
                importer.import_id, verdicts.counts, importer.accounts.named, importer.fees.applied
            )
    except HasErrors:
        importer.only_read(database.slow_reader)
        await importer.process(file, verdicts)
        raise refused(verdicts.counts, verdicts.errors, importer.accounts.unknown) from None
