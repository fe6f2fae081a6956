"""Imports a file of trades in one transaction, completely or not at all."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database import calendars
from journal_api.database.database import Database
from journal_api.database.thread_connection import T
from journal_api.errors import ValidationFailed
from journal_api.imports.contracts import Settled, Settler, at_once, find_annotated, find_trades
from journal_api.imports.copies import NamedTrade, find_original
from journal_api.imports.copy_linking import CopyLinker
from journal_api.imports.file_rows import group_rows, require_allowed
from journal_api.imports.import_costs import ImportCosts
from journal_api.imports.known_journal import KnownJournal, read_known
from journal_api.imports.other_account import require_own_account
from journal_api.imports.previews import ImportDigest, NewTrade, PreviewCollector
from journal_api.imports.row_verdicts import change_verdict, error_verdict, suspect_verdict, unmatched_verdict
from journal_api.imports.verdicts import VerdictCounter, refused
from journal_api.positions.commissions import NO_COMMISSIONS
from journal_api.positions.copy_match import CopyMatches, describe_ambiguous
from journal_api.positions.import_rows import Rejected
from journal_api.positions.position_columns import build_columns
from journal_api.positions.reconcile import Decision, Suspect
from journal_api.positions.statements import Key
from journal_api.repositories import imports, statements
from journal_api.repositories.copies import link_by_import, set_originals
from journal_api.repositories.imports import Source, insert, set_counts
from journal_api.repositories.statements import Moved
from journal_api.structs.copy_groups import AmbiguousCopy
from journal_api.structs.import_previews import ImportPreview
from journal_api.structs.imports import AppliedFees, CostsSource, Counts, FileAccount, ImportSource, Verdict
from journal_api.trade_files.accounts import AccountChoice, FileAccounts
from journal_api.trade_files.file_format import first_reason
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.threads import in_thread
from journal_api.values.clock import now

VERDICTS_AT_ONCE = 500


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

    `on_verdicts` is called with some verdicts at a time, not in the order of lines. Errors beyond the first
    1,000 are only counted. `accounts_in` returns the accounts of the file; by default it goes into the
    account of `source`. With `force` suspects are imported; `decisions` are those of a person about lines.
    `arrival` says who chose the file.
    """

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
        decisions: Mapping[int, Decision] = {},
    ) -> None:
        self.force, self.arrival, self.decisions = force, arrival, decisions
        self.digest = ImportDigest()
        self.user_id, self.source, self.file = user_id, source, file
        self.accounts_in = accounts_in
        self.verdicts = VerdictCounter(self._report)
        self._on_verdicts = on_verdicts
        self.costs = ImportCosts()
        self.open_at_end = 0

    async def preview(self, db: Connection) -> ImportResult:
        """Return what the import of the file would do."""
        choice = await self._choose_accounts(db)
        known, accounts = await self._prepare(db, choice)
        collector = PreviewCollector(self.calendars)
        settled, copies = await self._settle(db, None, known, accounts, self._in_thread)
        collector.add(list_new(settled))
        matches = await self._find_copies(db, known, settled, copies)
        return self._result(None, known, accounts, matches, collector)

    async def require_readable(self, db: Connection) -> None:
        """Refuse a file with rows that cannot be read, without the write lock. Raises ValidationFailed."""
        if any(isinstance(row, Rejected) for row in self.file.rows):
            choice = await self._choose_accounts(db)
            known, accounts = await self._prepare(db, choice)
            await self._settle(db, None, known, accounts, self._in_thread)
            raise refused(self.verdicts.counts, self.verdicts.errors, accounts.unknown)

    async def store(self, db: Connection) -> ImportResult:
        """Store what the file states.

        Raises ValidationFailed with the counts and the errors, if there are any.
        """
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
        known, accounts = await self._prepare(db, choice)
        settled, copies = await self._settle(db, import_id, known, accounts, at_once)
        if self.verdicts.errors:
            raise refused(self.verdicts.counts, self.verdicts.errors, accounts.unknown)
        for one in settled:
            await self.settler.write(one)
        await set_originals(db, copies)
        matches = await self._find_copies(db, known, settled, copies)
        await link_by_import(db, import_id, matches.links, self.settler.written_at)
        await set_counts(db, import_id, self.verdicts.counts)
        await self._remember_timezone(db, import_id, accounts)
        return self._result(import_id, known, accounts, matches, None)

    async def _choose_accounts(self, db: Connection) -> AccountChoice:
        return await self.accounts_in(db) if self.accounts_in else AccountChoice(self.source.account_id)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await in_thread(self.user_id, function)

    async def _prepare(self, db: Connection, choice: AccountChoice) -> tuple[KnownJournal, FileAccounts]:
        known = await read_known(db, self.user_id)
        self.calendars = await calendars.by_account(db, self.user_id)
        self.digest.add_calendars(self.calendars)
        return known, FileAccounts(choice.account_id, {**known.names.accounts, **choice.mapped})

    async def _settle(
        self,
        db: Connection,
        import_id: int | None,
        known: KnownJournal,
        accounts: FileAccounts,
        call: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> tuple[list[Settled], dict[int, int | None]]:
        """Return what the file changes in each contract, and the originals that it names of copies."""
        groups, rejected = await call(lambda: group_rows(self.file.rows, self.file.format, known.names, accounts))
        self.file.rows.clear()  # a file may have a million of them
        self.settler = Settler(db, self.user_id, import_id, known.commissions, known.last_trade_id, now())
        moved: dict[Key, Moved] = {}
        for account_id in {contract.account_id for contract in groups} & known.accounts_with_trades:
            keys = {
                row.key: contract.name
                for contract, rows in groups.items()
                if contract.account_id == account_id
                for row in rows
            }
            moved |= await statements.find_moved(db, account_id, keys)
        settled = [
            await self.settler.plan(
                contract,
                groups.get(contract, []),
                self.file.format,
                moved,
                is_new_account=contract.account_id not in known.accounts_with_trades,
                force=self.force,
                decisions=self.decisions,
                call=call,
            )
            for contract in dict.fromkeys((*groups, *(one.contract for one in moved.values())))
        ]
        if not self.force:
            await require_own_account(db, self.user_id, self.source.file_name, settled)
        await self.settler.number(settled)
        originals, errors = self._find_originals(settled)
        verdicts = [*map(error_verdict, *zip(*rejected, strict=True))] if rejected else []
        for one in settled:
            verdicts += await call(partial(self._judge, one, known, errors))
            self.digest.add_changes(one.contract.account_id, one.plan.changes)
        verdicts.sort(key=lambda verdict: verdict.line)
        for begin in range(0, len(verdicts), VERDICTS_AT_ONCE):
            self.verdicts.add(verdicts[begin : begin + VERDICTS_AT_ONCE])
        return settled, originals

    def _judge(self, settled: Settled, known: KnownJournal, errors: Mapping[int, ValidationFailed]) -> list[Verdict]:
        """Return the verdicts of the file's positions in a contract."""
        verdicts: list[Verdict] = []
        plan, rows = settled.plan, settled.rows

        lines = settled.find_lines
        for change, trade_id in zip(plan.changes, settled.trade_ids, strict=True):
            found = lines(change.position)
            if not found:
                continue
            if error := errors.get(trade_id):
                verdicts.append(error_verdict(found[0], first_reason(error)))
                continue
            if change.stored is None:
                try:
                    require_allowed(find_annotated(change, rows), settled.contract.account_id, known.names)
                except ValidationFailed as error:
                    verdicts.append(error_verdict(found[0], first_reason(error)))
                    continue
            self.costs.add(settled.contract.account_id, change)
            self.open_at_end += change.columns["closed_at"] is None
            shown = None if change.stored is None and self.settler.import_id is None else trade_id
            verdicts.append(change_verdict(change, found[0], len(found), shown))
        by_line: dict[int, list[Suspect]] = {}
        for suspect in plan.suspects:
            if found := lines(suspect.position):
                by_line.setdefault(found[0], []).append(suspect)
        commissions = known.commissions.get(settled.contract.account_id, NO_COMMISSIONS)
        for line, suspects in by_line.items():
            first = suspects[0]
            columns = build_columns(first.position, commissions)
            typed = [one.typed_id for one in suspects if one.typed_id is not None]
            verdicts.append(suspect_verdict(first, line, len(lines(first.position)), columns, typed))
        for part in plan.unmatched:
            verdicts += [
                unmatched_verdict(rows[claim.told].line, claim.told.statement.symbol, part.quantity)
                for claim in part.claims
                if claim.told in rows
            ]
        for one in plan.refused:
            found = lines(one.position)
            verdicts.append(error_verdict(found[0] if found else 0, first_reason(one.reason)))
        return verdicts

    def _find_originals(self, settled: Iterable[Settled]) -> tuple[dict[int, int | None], dict[int, ValidationFailed]]:
        """Return the originals of the file's new copies, and what is wrong with other copies."""
        named: dict[str, NamedTrade] = {}
        copies: list[tuple[int, str]] = []
        for one in settled:
            changes = dict(zip(one.trade_ids, one.plan.changes, strict=True))
            for told, trade_id in find_trades(one.plan, one.trade_ids).items():
                annotated = one.rows[told].annotated if told in one.rows else None
                if annotated is None:
                    continue
                stored = changes[trade_id].stored
                source_id = (stored.source_trade_id or stored.trade_id) if stored else None
                if annotated.row_name is not None:
                    named[annotated.row_name] = NamedTrade(trade_id, annotated.copy_of, source_id)
                if annotated.copy_of is not None and stored is None:
                    copies.append((trade_id, annotated.copy_of))
        originals: dict[int, int | None] = {}
        errors: dict[int, ValidationFailed] = {}
        for trade_id, copy_of in copies:
            try:
                originals[trade_id] = find_original(copy_of, named)
            except ValidationFailed as error:
                errors[trade_id] = error
        return originals, errors

    async def _find_copies(
        self, db: Connection, known: KnownJournal, settled: Iterable[Settled], originals: Mapping[int, int | None]
    ) -> CopyMatches:
        linker = CopyLinker(known.copy_rules)
        for one in settled:
            changes = zip(one.trade_ids, one.plan.changes, strict=True)
            linker.add(one.contract.account_id, changes, originals)
        return await linker.find_copies(db)

    async def _remember_timezone(self, db: Connection, import_id: int, accounts: FileAccounts) -> None:
        """Store the time zone of the file for the accounts whose times were read in it."""
        timezone = self.file.timezone
        account_ids = {accounts.find_id(name or None) for name in timezone.accounts}
        await imports.insert_timezone(db, import_id, timezone.name, sorted(account_ids))

    def _report(self, verdicts: list[Verdict]) -> None:
        self.digest.add_verdicts(verdicts)
        self._on_verdicts(verdicts)

    def _result(
        self,
        import_id: int | None,
        known: KnownJournal,
        accounts: FileAccounts,
        matches: CopyMatches,
        collector: PreviewCollector | None,
    ) -> ImportResult:
        self.digest.add_links(matches.links, known.last_trade_id)
        last_trade_id = known.last_trade_id if import_id is None else None
        return ImportResult(
            *(import_id, self.verdicts.counts, accounts.named, self.costs.applied),
            *(self.costs.source, self.costs.accounts_without, self.digest.hexdigest()),
            collector.build() if collector else None,
            self.open_at_end,
            len(matches.links),
            describe_ambiguous(matches.ambiguous, last_trade_id),
        )


def list_new(settled: Iterable[Settled]) -> list[NewTrade]:
    """Return the new trades in the order of their lines."""
    new = []
    for one in settled:
        for change in one.plan.changes:
            lines = one.find_lines(change.position)
            if change.stored is None and lines:
                columns = {**change.columns, "account_id": one.contract.account_id}
                new.append(NewTrade(lines[0], len(lines), columns))
    return sorted(new, key=lambda trade: trade.line)


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
    decisions: Mapping[int, Decision] = {},
) -> ImportResult:
    """Import a file, or say what its import would do. Raises ValidationFailed if a row is an error."""
    file_import = FileImport(
        *(user_id, source, file, on_verdicts, accounts_in), force=force, arrival=arrival, decisions=decisions
    )
    if dry_run:
        return await file_import.preview(database.slow_reader)
    return await database.write(file_import.store)
