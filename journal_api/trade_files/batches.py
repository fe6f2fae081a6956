"""One import: recognises stored trades, adds new ones, corrects changed ones, a batch of rows at a time."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count

from aiosqlite import Connection

from journal_api.database.threads import T
from journal_api.repositories import import_timezones
from journal_api.repositories.copy_links import link_by_import
from journal_api.repositories.imported_trades import (
    LastMatched,
    Matches,
    correct,
    find_matches,
    insert_all,
)
from journal_api.repositories.stored_positions import StoredPositions, find_taken, shift
from journal_api.rules.copy_match import CopyMatches
from journal_api.rules.import_rows import (
    Candidate,
    Correction,
    Rejected,
    Relation,
    ResolvedRow,
    StoredTrade,
)
from journal_api.rules.pair_match import FILL_BY_HAND, MERGED_POSITION
from journal_api.rules.position_fills import read_fills
from journal_api.rules.position_match import MAX_ROUNDING, OTHER_FILE, is_shifted, relate
from journal_api.structs.imports import Verdict
from journal_api.trade_files.accounts import AccountChoice, FileAccounts
from journal_api.trade_files.continued import (
    Contract,
    adopt_typed,
    closes_nothing,
    continue_positions,
    find_edited,
    list_ids,
    list_unmatched,
    reopens,
    with_own_id,
)
from journal_api.trade_files.copies import Copies, PendingCopy
from journal_api.trade_files.copy_linking import CopyLinker
from journal_api.trade_files.known_journal import KnownJournal
from journal_api.trade_files.matching import ImportFees, correct_trade, fill_in_trade
from journal_api.trade_files.names import RowResolver
from journal_api.trade_files.previews import ImportDigest, PreviewCollector
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.row_verdicts import (
    OTHER_POSITIONS,
    error_verdict,
    several,
    stored_verdict,
    suspect_verdict,
    unmatched_verdict,
)
from journal_api.trade_files.threads import in_thread
from journal_api.trade_files.timezones import FileTimezone
from journal_api.trade_files.verdicts import VerdictCounter
from journal_api.values.clock import now

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
        self.db, self.user_id, self.import_id = db, user_id, import_id
        self.known, self.digest, self.force = known, digest, force
        self.positions = StoredPositions(user_id, known.last_trade_id, file_format)
        accounts = FileAccounts(choice.account_id, {**known.names.accounts, **choice.mapped})
        self.resolver, self.fees = RowResolver(known.names, accounts), ImportFees(known.commissions)
        self.written_at = now()
        self.trade_ids = count(known.last_trade_id + 1)
        self.copies, self.linker = Copies(), CopyLinker(known.copy_rules)
        self.preview: PreviewCollector | None = None  # of a dry run
        self.compared: set[int] = set()  # the trades that an earlier row stands for
        self.last_matched: LastMatched = {}
        self.related: set[int] = set()  # the trades that positions of the file are
        self.open_at_end = 0  # the positions that the file leaves open
        # The rows that may continue a position of their contract, or be continued.
        self.deferred: defaultdict[Contract, list[ResolvedRow]] = defaultdict(list)

    def only_read(self, reader: Connection) -> None:
        """Go on without writing, with another connection, after the transaction was rolled back."""
        self.db, self.import_id = reader, None

    @property
    def accounts(self) -> FileAccounts:
        return self.resolver.accounts

    async def call(self, function: Callable[[], T]) -> T:
        """Call a function that may take long: at once in the writer's thread, else in one of the user's."""
        return function() if self.import_id is not None else await in_thread(self.user_id, function)

    async def process(self, file: TradeFile, verdicts: VerdictCounter) -> None:
        """Process the remaining rows, unless too many of them are errors.

        Raises HasErrors after the first batch with an error, unless it only reads.
        """
        while not verdicts.has_too_many_errors:
            batch = await self.call(lambda: next(file.batches, None))
            if batch is None:
                break
            verdicts.add(await self.process_batch(batch))
            self.require_no_errors(verdicts)
        verdicts.add(await self.process_continued())
        self.require_no_errors(verdicts)
        copies = await self.resolve_copies()
        for begin in range(0, len(copies), COPIES_AT_ONCE):
            verdicts.add(copies[begin : begin + COPIES_AT_ONCE])
            if self.import_id is None:
                await asyncio.sleep(0)  # let other tasks run
        self.require_no_errors(verdicts)

    def require_no_errors(self, verdicts: VerdictCounter) -> None:
        if self.import_id is not None and verdicts.errors:
            raise HasErrors

    async def remember(self, timezone: FileTimezone) -> None:
        """Store the time zone of the file for the accounts whose times were read in it."""
        assert self.import_id is not None
        account_ids = {self.accounts.find_id(name or None) for name in timezone.accounts}
        await import_timezones.insert(self.db, self.import_id, timezone.name, sorted(account_ids))

    async def process_batch(self, batch: Iterable[Candidate | Rejected]) -> list[Verdict]:
        """Write the new and the corrected trades of a batch. Returns the verdicts of its rows.

        The verdict of a copy whose original was not read yet is returned by `resolve_copies`.
        """
        rows = [self.fees.charge(self.with_unique_name(self.resolver.resolve(row))) for row in batch]
        self.open_at_end += sum(map(is_open_position, rows))
        return await self.process_rows([row for row in rows if not self.defers(row)])

    def defers(self, row: ResolvedRow | Rejected) -> bool:
        """Return whether the row may continue a stored position, or be continued; keep it until the end."""
        if isinstance(row, Rejected) or row.imported.kind not in ("fills", "closing", "expiring"):
            return False
        contract = Contract.of_row(row)
        may_be_continued = (
            row.columns["closed_at"] is None and contract.account_id in self.known.accounts_with_trades
        )
        if may_be_continued or contract in self.known.open_contracts or contract in self.deferred:
            self.deferred[contract].append(row)
            return True
        return False

    async def process_continued(self) -> list[Verdict]:
        """Process the deferred rows, contract by contract."""
        verdicts: list[Verdict] = []
        for contract, rows in self.deferred.items():
            since = shift(min(row.columns["opened_at"] for row in rows), -MAX_ROUNDING)
            stored = await self.positions.find_continued(self.db, *contract, since)
            columns = [*(row.columns for row in rows), *(one.fields for one in stored)]
            taken = await find_taken(self.db, contract.account_id, set(list_ids(columns)))
            if not stored or closes_nothing(rows, stored):
                verdicts += await self.process_rows(rows, taken)
            else:
                verdicts += await self.continue_contract(rows, stored, taken)
        self.deferred.clear()
        return verdicts

    async def continue_contract(
        self, rows: Sequence[ResolvedRow], stored_trades: Sequence[StoredTrade], taken: set[str]
    ) -> list[Verdict]:
        """Write the positions of the fills of the rows and of stored trades."""
        stored_trades = adopt_typed(rows, stored_trades)
        merged = next((stored for stored in stored_trades if stored.content is None), None)
        edited = find_edited(rows, stored_trades)
        continued = None if merged or edited else continue_positions(rows, stored_trades, taken)
        if continued is None:
            if self.force:
                return await self.process_rows(rows, taken)
            why = MERGED_POSITION if merged else FILL_BY_HAND if edited else OTHER_POSITIONS
            return [suspect_verdict(row, merged or edited or stored_trades[0], why) for row in rows]
        if reopens(rows, continued):
            return await self.process_rows(rows, taken)
        verdicts = list(map(unmatched_verdict, list_unmatched(rows, continued)))
        new: list[ResolvedRow] = []
        corrections: list[Correction] = []
        for row, stored in continued:
            charged = self.fees.charge(row)
            if isinstance(charged, Rejected):
                verdicts.append(error_verdict(charged.line, charged.reason))
            elif stored is None:
                new.append(self.with_ids(charged))
                verdicts += self.add(new[-1])
            else:
                is_same = read_fills(row.columns) == read_fills(stored.fields)
                correction = None if is_same else self.compare(charged, stored, is_continued=True)
                corrections += [correction] if correction else []
                verdicts.append(stored_verdict(charged, stored, correction))
        await self.write_rows(new, corrections)
        return verdicts

    async def process_rows(
        self, rows: Sequence[ResolvedRow | Rejected], taken: set[str] | None = None
    ) -> list[Verdict]:
        """Write the new and the corrected trades of rows. Returns their verdicts.

        Positions that must be continued are deferred. At the end of the file `taken` has the external ids
        that they must not have.
        """
        matches = await self.find_matches(rows)
        self.last_matched |= matches.last_matched
        relations = await self.find_relations(rows, matches.stored)
        verdicts: list[Verdict] = []
        new: list[ResolvedRow] = []
        corrections: list[Correction] = []
        for index, row in enumerate(rows):
            if isinstance(row, Rejected):
                verdicts.append(error_verdict(row.line, row.reason))
            elif (relation := relations.get(index)) and relation.is_continued:
                if taken is None:
                    self.deferred[Contract.of_row(row)].append(row)
                else:
                    new.append(self.with_ids(with_own_id(row, taken)))
                    verdicts += self.add(new[-1])
            elif relation and not self.is_forced(relation, index, matches):
                verdicts.append(self.add_relation(row, relation, corrections))
            elif stored := matches.stored.get(index):
                correction = self.compare(row, stored)
                if correction:
                    corrections.append(correction)
                verdicts.append(stored_verdict(row, stored, correction))
            elif row.imported.is_unmatched:
                verdicts.append(unmatched_verdict(row))
            elif not self.resolver.allows_new(row):
                verdicts.append(error_verdict(row.line, "strategy is restricted to other accounts"))
            else:
                trade = self.with_ids(row)
                new.append(trade)
                self.fees.count(trade, trade.columns["fees"])
                verdicts += self.add(trade)
        await self.write_rows(new, corrections)
        return verdicts

    def is_forced(self, relation: Relation, index: int, matches: Matches) -> bool:
        """Return whether a suspect is imported as it is: no trade with its id or content is stored."""
        return self.force and bool(relation.suspicion) and index not in matches.stored

    async def write_rows(self, new: list[ResolvedRow], corrections: list[Correction]) -> None:
        await self.call(lambda: self.observe(new, corrections))
        self.linker.add(new, corrections)
        if self.import_id is not None:
            await insert_all(self.db, self.user_id, new, self.import_id, self.written_at)
            if corrections:
                await correct(self.db, self.import_id, corrections, self.written_at)

    def observe(self, new: list[ResolvedRow], corrections: list[Correction]) -> None:
        """Add what is written to the digest of the import, and to the preview of a dry run."""
        self.digest.add_writes(new, corrections)
        if self.preview is not None:
            self.preview.add(new)

    async def find_matches(self, rows: Sequence[ResolvedRow | Rejected]) -> Matches:
        """Return the stored trades that match rows: none if all go into accounts that had no trades."""
        accounts = {row.columns["account_id"] for row in rows if isinstance(row, ResolvedRow)}
        if accounts.isdisjoint(self.known.accounts_with_trades):
            return Matches({}, {})
        return await find_matches(self.db, rows, self.last_matched, self.known.merged_parts)

    async def find_relations(
        self, rows: Sequence[ResolvedRow | Rejected], matched: Mapping[int, StoredTrade]
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
        neighbours = await self.positions.find_neighbours(self.db, positions)
        relations: dict[int, Relation] = {}
        self.related |= {
            stored.trade_id
            for index, stored in matched.items()
            if index in positions and positions[index].imported.kind == "row"
        }
        for index, row in positions.items():
            stored = matched.get(index), neighbours.get(index, ())
            relation = relate(row, *stored, self.positions.format, self.related)
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
        around = await self.positions.find_days_around(self.db, rows)
        shifted = (
            (index, next((one for one in around.get(index, ()) if is_shifted(row.columns, one.fields)), None))
            for index, row in rows.items()
        )
        return {index: Relation(stored, suspicion=OTHER_FILE) for index, stored in shifted if stored}

    def add_relation(self, row: ResolvedRow, relation: Relation, corrections: list[Correction]) -> Verdict:
        """Return the verdict of a position that a stored trade is, and add its correction."""
        stored = relation.stored
        if relation.suspicion:
            return suspect_verdict(row, stored, relation.suspicion)
        if relation.row is None or stored.trade_id in self.compared:
            return stored_verdict(row, stored, None)
        if relation.is_filled_in:
            self.compared.add(stored.trade_id)
            correction: Correction | None = fill_in_trade(relation.row, stored)
        else:
            correction = self.compare(relation.row, stored)
        if correction:
            corrections.append(correction)
        return stored_verdict(row, stored, correction)

    def with_unique_name(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """Return the row, rejected if an earlier row has the same name."""
        if isinstance(row, Rejected) or (name := row.imported.row_name) is None:
            return row
        return Rejected(row.line, f"row {name!r} is repeated") if self.copies.is_repeated(name) else row

    def compare(
        self, row: ResolvedRow, stored: StoredTrade, *, is_continued: bool = False
    ) -> Correction | None:
        """Return the correction of a stored trade; only the first row of each trade can correct it."""
        self.copies.add_original(row.imported.row_name, stored.original_id)
        if stored.trade_id in self.compared:
            return None
        self.compared.add(stored.trade_id)
        correction = correct_trade(row, stored, self.fees.commissions_for(row), is_continued=is_continued)
        if correction:
            self.fees.count(row, correction.fields["fees"] - stored.fields["fees"])
        return correction

    def with_ids(self, row: ResolvedRow) -> ResolvedRow:
        """Return a new trade with its id and, if it was read already, the id of its original."""
        original_id = self.copies.find_original(row.imported.copy_of)
        columns = row.columns.copy()
        columns["id"], columns["source_trade_id"] = next(self.trade_ids), original_id
        return ResolvedRow(row.imported, columns, row.tag_ids, row.answers)

    def add(self, row: ResolvedRow) -> list[Verdict]:
        """Return the verdict of a new trade, none yet for a copy whose original was not read yet."""
        trade_id, original_id = row.columns["id"], row.columns["source_trade_id"]
        name, copy_of = row.imported.row_name, row.imported.copy_of
        if copy_of is not None and original_id is None:
            self.copies.add_pending(PendingCopy(row.line, trade_id, name, copy_of))
            return []
        self.copies.add_original(name, original_id or trade_id)
        return [self.new_verdict(row)]

    def new_verdict(self, row: ResolvedRow) -> Verdict:
        return Verdict(
            line=row.line,
            verdict="new",
            trade_id=None if self.import_id is None else row.columns["id"],
            rows=several(row.imported.rows),
        )

    async def resolve_copies(self) -> list[Verdict]:
        """Set the originals of the pending copies. Returns the verdicts of their rows."""
        resolved = await self.call(self.copies.resolve)
        self.linker.set_originals({copy.trade_id: original_id for original_id, copy in resolved.pairs})
        if self.import_id is not None:
            originals = [(original_id, copy.trade_id) for original_id, copy in resolved.pairs]
            await self.db.executemany("UPDATE trades SET source_trade_id = ? WHERE id = ?", originals)
        is_stored = self.import_id is not None
        return [
            Verdict(line=copy.line, verdict="new", trade_id=copy.trade_id if is_stored else None)
            for _, copy in resolved.pairs
        ] + resolved.errors

    async def link_copies(self) -> CopyMatches:
        """Link the copies of copy groups."""
        matches = await self.linker.find_copies(self.db)
        if self.import_id is not None:
            await link_by_import(self.db, self.import_id, matches.links, self.written_at)
        return matches


def is_open_position(row: ResolvedRow | Rejected) -> bool:
    """Return whether a row is a position that the file leaves open."""
    return not isinstance(row, Rejected) and row.imported.kind == "fills" and row.columns["closed_at"] is None
