"""Imports a file of trades in one transaction, completely or not at all."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database import calendars
from journal_api.database.database import Database
from journal_api.database.thread_connection import T
from journal_api.database.user_threads import at_once, in_thread
from journal_api.imports.copy_linking import find_copies
from journal_api.imports.drafts import Draft, draft_import
from journal_api.imports.file_accounts import AccountChoice
from journal_api.imports.previews import add_links, build_preview
from journal_api.imports.verdicts import list_reported
from journal_api.positions.copy_match import CopyMatches, describe_ambiguous
from journal_api.positions.plans import Decision
from journal_api.repositories import imports
from journal_api.repositories.changes import read_cursor
from journal_api.repositories.copies import link_by_import, set_originals
from journal_api.repositories.imports import Source, insert, set_counts
from journal_api.repositories.new_trades import read_last_id
from journal_api.structs.copy_groups import AmbiguousCopy
from journal_api.structs.import_previews import ImportPreview
from journal_api.structs.imports import AppliedFees, CostsSource, Counts, FileAccount, ImportSource, Verdict
from journal_api.trade_files.reader import TradeFile

MAX_PREPARED = 3  # times without the write lock


class Outdated(Exception):
    """What an import depends on has changed since it was prepared."""


class ImportResult(NamedTuple):
    """The result of an import. `import_id` is None for a dry run."""

    import_id: int | None
    counts: Counts
    accounts: list[FileAccount]  # as the file names them
    fees_applied: list[AppliedFees]  # by the commissions of the accounts
    costs: CostsSource | None
    accounts_without_costs: list[int]
    verdicts: list[Verdict]  # in the order of lines, with at most MAX_ERRORS errors
    digest: str  # of all that the import writes
    preview: ImportPreview | None  # of a dry run
    open_at_end: int  # positions that the file leaves open
    linked: int  # copies in copy groups
    ambiguous: list[AmbiguousCopy]


class FileImport:
    """The import of one file: `preview` is its dry run, `prepare` what is found without the write lock, `store`
    the work of its transaction.

    `choice` are the accounts of the file; `accounts_in` returns them within the transaction, where it may add
    accounts. With `force` suspects are imported; `decisions` are a person's, by line. `arrival` says who chose the
    file.
    """

    def __init__(
        self,
        user_id: int,
        source: Source,
        file: TradeFile,
        choice: AccountChoice,
        accounts_in: Callable[[Connection], Awaitable[AccountChoice]],
        *,
        force: bool = False,
        arrival: ImportSource = "user",
        decisions: Mapping[int, Decision] = {},
    ) -> None:
        self.user_id, self.source, self.file, self.arrival = user_id, source, file, arrival
        self.choice, self.accounts_in = choice, accounts_in
        self.draft_on = partial(
            draft_import, user_id=user_id, file=file, file_name=source.file_name, force=force, decisions=decisions
        )
        self.draft: Draft | None = None
        self.cursor = 0
        self.is_prepared_again = False

    async def preview(self, database: Database) -> ImportResult:
        """Return what the import of the file would do."""
        async with database.read_transaction() as db:
            choice = await self.accounts_in(db)
            draft = await self.draft_on(db, choice=choice, call=partial(in_thread, self.user_id), is_dry_run=True)
            self.file.rows.clear()  # a file may have a million of them
            preview = build_preview(draft.list_new(), await calendars.by_account(db, self.user_id))
            matches = await find_copies(db, draft.known.copy_rules, draft.settled, draft.originals)
            return self._result(None, draft, matches, preview)

    async def prepare(self, database: Database) -> None:
        """Find what the file changes without the write lock. Raises ValidationFailed for a file with errors."""
        async with database.read_transaction() as db:
            self.cursor = await read_cursor(db, self.user_id)
            choice = self.choice.foretell(await read_last_id(db, "accounts"))
            self.draft = await self.draft_on(db, choice=choice, call=partial(in_thread, self.user_id))
        self.draft.require_no_errors()

    async def run(self, database: Database, store: Callable[[], Awaitable[T]]) -> T:
        """Prepare the import and store it; what changed meanwhile is prepared again, the last time by `store`."""
        self.is_prepared_again = True
        for _ in range(MAX_PREPARED - 1):
            await self.prepare(database)
            with suppress(Outdated):
                return await store()
        self.is_prepared_again = False
        await self.prepare(database)
        return await store()

    async def store(self, db: Connection) -> ImportResult:
        """Store what the file states, under the write lock.

        Raises ValidationFailed with the counts and the errors, if there are any, and Outdated.
        """
        draft = self.draft
        is_outdated = draft is not None and await draft.has_changed(db, self.cursor)  # before this adds accounts
        last_id = await read_last_id(db, "accounts")
        choice = await self.accounts_in(db)
        if draft is None or is_outdated or choice != draft.choice:
            if self.is_prepared_again:
                self.choice = choice.forget(last_id)  # which takes the accounts back
                raise Outdated
            draft = await self.draft_on(db, choice=choice, call=at_once)
            draft.require_no_errors()
        draft.shift_ids(await read_last_id(db))
        import_id = await insert(
            db,
            self.user_id,
            self.source._replace(account_id=choice.account_id),
            format=self.file.format,
            timezone=self.file.timezone.name,
            one_trade_is=self.file.one_trade_is,
            source=self.arrival,
        )
        await draft.write(db, import_id)
        await set_originals(db, draft.originals)
        matches = await find_copies(db, draft.known.copy_rules, draft.settled, draft.originals)
        await link_by_import(db, import_id, matches.links, draft.written_at)
        await set_counts(db, import_id, draft.counts)
        account_ids = {draft.accounts.find_id(name or None) for name in self.file.timezone.accounts}
        await imports.insert_timezone(db, import_id, self.file.timezone.name, sorted(account_ids))
        return self._result(import_id, draft, matches, None)

    def _result(
        self, import_id: int | None, draft: Draft, matches: CopyMatches, preview: ImportPreview | None
    ) -> ImportResult:
        add_links(draft.digest, matches.links, draft.last_trade_id)
        last_trade_id = draft.last_trade_id if import_id is None else None
        return ImportResult(
            *(import_id, draft.counts, draft.accounts.named, draft.costs.applied),
            *(draft.costs.source, sorted(draft.costs.accounts_without)),
            *(list_reported(draft.verdicts), draft.digest.hexdigest()),
            preview,
            draft.open_at_end,
            len(matches.links),
            describe_ambiguous(matches.ambiguous, last_trade_id),
        )
