"""One import: recognises stored trades, adds new ones, corrects changed ones, a batch of rows at a time."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from aiosqlite import Connection

from journal_api.imports.continued import with_own_id
from journal_api.imports.continued_contracts import ContinuedContracts
from journal_api.imports.imported_trades import LastMatched, Matches, find_matches
from journal_api.imports.known_journal import KnownJournal
from journal_api.imports.names import RowResolver
from journal_api.imports.previews import ImportDigest
from journal_api.imports.row_verdicts import error_verdict, suspect_verdict, unmatched_verdict
from journal_api.imports.row_writer import RowWriter
from journal_api.imports.stored_positions import StoredPositions
from journal_api.imports.verdicts import VerdictCounter
from journal_api.positions.import_rows import Candidate, Rejected, Relation, ResolvedRow, StoredTrade
from journal_api.positions.position_match import OTHER_FILE, find_grown, relate, suspect_double
from journal_api.positions.position_times import is_shifted
from journal_api.repositories import imports
from journal_api.structs.imports import Verdict
from journal_api.trade_files.accounts import AccountChoice, FileAccounts
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.timezones import FileTimezone

COPIES_AT_ONCE = 500


class HasErrors(Exception):
    """A row of the import is an error, so nothing of the import may be stored."""


class TradeImporter:
    """The state of one import. Without an `import_id`, as in a dry run, it only reads."""

    def __init__(
        self,
        db: Connection,
        user_id: int,
        import_id: int | None,
        known: KnownJournal,
        choice: AccountChoice,
        file_format: str,
        digest: ImportDigest,
        *,
        force: bool,
    ) -> None:
        self.known, self.force = known, force
        self.writer = RowWriter(db, user_id, import_id, known, digest)
        self.positions = StoredPositions(user_id, known.last_trade_id, file_format)
        self.contracts = ContinuedContracts(self.writer, known, self.positions, force=force)
        self.accounts = FileAccounts(choice.account_id, {**known.names.accounts, **choice.mapped})
        self.resolver = RowResolver(known.names, self.accounts)
        self.last_matched: LastMatched = {}
        self.related: set[int] = set()  # the trades that positions of the file are
        self.open_at_end = 0  # the positions that the file leaves open

    @property
    def is_stored(self) -> bool:
        return self.writer.import_id is not None

    def only_read(self, reader: Connection) -> None:
        """Go on without writing, with another connection, after the transaction was rolled back."""
        self.writer.db, self.writer.import_id = reader, None

    async def process(self, file: TradeFile, verdicts: VerdictCounter) -> None:
        """Process the remaining rows, unless too many of them are errors.

        Raises HasErrors after the first batch with an error, unless it only reads.
        """
        while not verdicts.has_too_many_errors:
            batch = await self.writer.call(lambda: next(file.batches, None))
            if batch is None:
                break
            verdicts.add(await self.process_batch(batch))
            self.require_no_errors(verdicts)
        verdicts.add(await self.process_deferred())
        self.require_no_errors(verdicts)
        copies = await self.writer.resolve_copies()
        for begin in range(0, len(copies), COPIES_AT_ONCE):
            verdicts.add(copies[begin : begin + COPIES_AT_ONCE])
            if not self.is_stored:
                await asyncio.sleep(0)  # let other tasks run
        self.require_no_errors(verdicts)

    def require_no_errors(self, verdicts: VerdictCounter) -> None:
        if self.is_stored and verdicts.errors:
            raise HasErrors

    async def remember(self, timezone: FileTimezone) -> None:
        """Store the time zone of the file for the accounts whose times were read in it."""
        assert self.writer.import_id is not None
        account_ids = {self.accounts.find_id(name or None) for name in timezone.accounts}
        await imports.insert_timezone(
            self.writer.db, self.writer.import_id, timezone.name, sorted(account_ids)
        )

    async def process_batch(self, batch: Iterable[Candidate | Rejected]) -> list[Verdict]:
        """Write the new and the corrected trades of a batch. Returns the verdicts of its rows.

        The verdicts of copies whose original was not read yet, and of deferred rows, come later.
        """
        rows = [self.writer.fees.charge(self.with_unique_name(self.resolver.resolve(row))) for row in batch]
        self.open_at_end += sum(map(is_open_position, rows))
        return await self.process_rows([row for row in rows if not self.contracts.defers(row)])

    def with_unique_name(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """Return the row, rejected if an earlier row has the same name."""
        if isinstance(row, Rejected) or (name := row.imported.row_name) is None:
            return row
        is_repeated = self.writer.copies.is_repeated(name)
        return Rejected(row.line, f"row {name!r} is repeated") if is_repeated else row

    async def process_deferred(self) -> list[Verdict]:
        """Process the deferred rows, contract by contract."""
        verdicts: list[Verdict] = []
        for contract, rows in self.contracts.take_deferred():
            stored_trades = await self.contracts.find_stored(contract, rows)
            taken = await self.contracts.find_taken(contract, rows, stored_trades)
            new = (
                await self.contracts.settle(rows, stored_trades, self.related, taken)
                if stored_trades
                else None
            )
            verdicts += await self.process_rows(
                rows if new is None else new, taken, is_settled=new is not None
            )
        return verdicts

    async def process_rows(
        self,
        rows: Sequence[ResolvedRow | Rejected],
        taken: set[str] | None = None,
        *,
        is_settled: bool = False,
    ) -> list[Verdict]:
        """Write the new and the corrected trades of rows. Returns their verdicts.

        Positions that must be continued are deferred. At the end of the file `taken` has the external ids
        that they must not have, and those that are settled are no stored trades of the format.
        """
        matches = await self.find_matches(rows)
        self.last_matched |= matches.last_matched
        relations = await self.find_relations(rows, matches.stored, is_settled=is_settled)
        for index, row in enumerate(rows):
            relation, stored = relations.get(index), matches.stored.get(index)
            if isinstance(row, Rejected):
                self.writer.reject(row)
            elif relation and relation.is_continued:
                if taken is None:
                    self.contracts.defer(row)
                else:
                    self.writer.insert(with_own_id(row, taken))
            elif relation and not (relation.suspicion and self.force and stored is None):
                self.add_relation(row, relation)
            elif stored:
                self.writer.compare(row, stored)
            elif row.imported.is_unmatched:
                self.writer.report(unmatched_verdict(row))
            elif not self.resolver.allows_new(row):
                self.writer.report(error_verdict(row.line, "strategy is restricted to other accounts"))
            else:
                self.writer.insert(row)
        return await self.writer.write()

    def add_relation(self, row: ResolvedRow, relation: Relation) -> None:
        """Add what a row makes of a stored trade."""
        if relation.suspicion:
            self.writer.report(suspect_verdict(row, relation.stored, relation.suspicion))
        elif relation.row is None:
            self.writer.keep(row, relation.stored)
        elif relation.is_filled_in:
            self.writer.fill_in(row, relation.row, relation.stored)
        else:
            self.writer.compare(relation.row, relation.stored)

    async def find_matches(self, rows: Sequence[ResolvedRow | Rejected]) -> Matches:
        """Return the stored trades that match rows: none if all go into accounts that had no trades."""
        accounts = {row.columns["account_id"] for row in rows if isinstance(row, ResolvedRow)}
        if accounts.isdisjoint(self.known.accounts_with_trades):
            return Matches({}, {})
        return await find_matches(self.writer.db, rows, self.last_matched, self.known.merged_parts)

    async def find_relations(
        self,
        rows: Sequence[ResolvedRow | Rejected],
        matched: Mapping[int, StoredTrade],
        *,
        is_settled: bool,
    ) -> dict[int, Relation]:
        """Return what stored trades are to the positions of the batch, by index."""
        positions = {
            index: row
            for index, row in enumerate(rows)
            if isinstance(row, ResolvedRow)
            and row.imported.kind != "trade"
            and row.columns["account_id"] in self.known.accounts_with_trades
        }
        if not positions:
            return {}
        neighbours = await self.positions.find_neighbours(self.writer.db, positions)
        relations: dict[int, Relation] = {}
        self.related |= {
            stored.trade_id
            for index, stored in matched.items()
            if index in positions and positions[index].imported.kind == "row"
        }
        for index, row in positions.items():
            near = [
                stored
                for stored in neighbours.get(index, ())
                if not is_settled or stored.format != self.positions.format
            ]
            relation = relate(row, matched.get(index), near, self.positions.format, self.related)
            grown = find_grown(relation)
            if grown and not self.force:
                foreign = [stored for stored in near if stored.format != self.positions.format]
                relation = suspect_double(grown, foreign, self.related) or relation
            if relation is not None:
                relations[index] = relation
                if not (relation.suspicion or relation.is_continued):
                    self.related.add(relation.stored.trade_id)
        return relations | await self.find_shifted(
            {index: row for index, row in positions.items() if index not in {*relations, *matched}}
        )

    async def find_shifted(self, rows: Mapping[int, ResolvedRow]) -> dict[int, Relation]:
        """Return the positions that another format has at the times of another zone: suspects."""
        if not rows:
            return {}
        around = await self.positions.find_days_around(self.writer.db, rows)
        shifted = (
            (index, next((one for one in around.get(index, ()) if is_shifted(row.columns, one.fields)), None))
            for index, row in rows.items()
        )
        return {index: Relation(stored, suspicion=OTHER_FILE) for index, stored in shifted if stored}


def is_open_position(row: ResolvedRow | Rejected) -> bool:
    """Return whether a row is a position that the file leaves open."""
    return not isinstance(row, Rejected) and row.imported.kind == "fills" and row.columns["closed_at"] is None
