"""What the import of a file would change: found in a dry run, before the transaction, or within it."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import partial

from aiosqlite import Connection
from msgspec.structs import replace

from journal_api.database import calendars
from journal_api.database.thread_connection import ThreadConnection
from journal_api.errors import ValidationFailed
from journal_api.imports.contract_writes import Additions, Writer, stage
from journal_api.imports.contracts import Call, Settled, Settler, find_annotated
from journal_api.imports.file_accounts import AccountChoice, FileAccounts
from journal_api.imports.file_rows import NamedTrade, find_original, group_rows, require_allowed
from journal_api.imports.known_journal import KnownJournal, read_known
from journal_api.imports.other_account import require_own_account
from journal_api.imports.previews import NewTrade, digest_import
from journal_api.imports.verdicts import (
    ImportCosts,
    change_verdict,
    count_verdicts,
    error_verdict,
    list_reported,
    list_suspects,
    list_unmatched,
    refused,
)
from journal_api.positions.commissions import NO_COMMISSIONS
from journal_api.positions.import_rows import Candidate
from journal_api.positions.plans import Decision
from journal_api.positions.statements import Key
from journal_api.repositories import statements
from journal_api.repositories.changes import list_since
from journal_api.repositories.statements import Contract, Moved
from journal_api.structs.imports import Counts, Verdict
from journal_api.trade_files.file_format import find_first_reason
from journal_api.trade_files.reader import TradeFile
from journal_api.values.clock import now
from journal_api.values.instruments import contract_root

# Objects that no trade of a file depends on, unless they are deleted.
INDEPENDENT = frozenset(("cash", "checkpoints", "goals", "days", "keys", "import_profiles"))
OF_TAGS = frozenset(("tags", "tag_categories"))


class Draft:
    """What a file changes in each contract, the verdicts of its rows, and the originals that it names of copies.

    A dry run has no `additions`. `last_trade_id` is the id after which its new trades have theirs.
    """

    def __init__(self, user_id: int, choice: AccountChoice, known: KnownJournal, settler: Settler) -> None:
        self.user_id, self.choice, self.known, self.settler = user_id, choice, known, settler
        self.accounts = FileAccounts(choice.account_id, {**known.names.accounts, **choice.mapped})
        self.written_at = now()
        self.digest, self.costs = hashlib.sha256(), ImportCosts()
        self.settled: list[Settled] = []
        self.moved: dict[int, dict[Key, Moved]] = {}  # by account: statements whose symbol the file corrects
        self.additions: Additions | None = None
        self.originals: dict[int, int | None] = {}
        self.verdicts: list[Verdict] = []
        self.counts = Counts()
        self.last_trade_id = known.last_trade_id
        self.open_at_end = 0
        self.ignored = INDEPENDENT | OF_TAGS  # changes on which it does not depend

    def require_no_errors(self) -> None:
        """Raise ValidationFailed with the counts and the errors, if there are any."""
        errors = [verdict for verdict in list_reported(self.verdicts) if verdict.verdict == "error"]
        if errors:
            raise refused(self.counts, errors, self.accounts.unknown)

    def shift_ids(self, last_trade_id: int) -> None:
        """Give the new trades the ids after one that was given out since."""
        last, further = self.last_trade_id, last_trade_id - self.last_trade_id

        def shift(trade_id: int) -> int:
            return trade_id + further if trade_id > last else trade_id

        self.last_trade_id = last_trade_id
        for one in self.settled if further else ():
            one.trade_ids[:] = map(shift, one.trade_ids)
            one.trades.update((stated, shift(trade_id)) for stated, trade_id in one.trades.items())
        if further:
            self.originals = {shift(one): source and shift(source) for one, source in self.originals.items()}
            self.verdicts = [
                replace(one, trade_id=shift(one.trade_id)) if one.verdict == "new" and one.trade_id else one
                for one in self.verdicts
            ]

    def list_new(self) -> list[NewTrade]:
        """Return the new trades in the order of their lines."""
        new = []
        for one in self.settled:
            for change in one.plan.changes:
                lines = one.find_lines(change.stated)
                if change.stored is None and lines:
                    new.append(NewTrade(lines[0], len(lines), one.contract.account_id, change.columns))
        return sorted(new, key=lambda trade: trade.line)

    async def write(self, db: Connection, import_id: int) -> None:
        """Write the trades and what the file states, under the write lock."""
        assert isinstance(db, ThreadConnection)
        assert self.additions
        await db.attach(self.additions.rows.uri)
        writer, last = Writer(db, self.user_id, self.written_at, import_id), self.known.last_trade_id
        await writer.write(self.settled, self.additions, last, self.last_trade_id - last, self.moved)

    async def has_changed(self, db: Connection, cursor: int) -> bool:
        """Return whether anything on which it depends has changed since."""
        contracts = {(one.contract.account_id, contract_root(one.contract.name)) for one in self.settled}
        account_ids = {account_id for account_id, _ in contracts}
        for resource, deleted, trade_id, account_id, root, external_id in await list_since(db, self.user_id, cursor):
            if deleted or resource not in ("trades", *self.ignored):
                return True
            if (
                trade_id in self.settler.read
                or (account_id, root) in contracts
                or (account_id in account_ids and external_id is not None)
            ):
                return True
        return False

    def keep_left_out(self) -> bool:
        """Leave what is left out of a contract in the one that it would move from. Return whether there is any."""
        staying = [
            self.moved.get(one.contract.account_id, {}).pop(row.key, None)
            for one in self.settled
            for stated, row in one.rows.items()
            if stated in one.plan.left_out
        ]
        return any(staying)

    def judge(self, settled: Settled, errors: Mapping[int, str], *, is_dry_run: bool) -> list[Verdict]:
        """Return the verdicts of the file's positions in a contract."""
        verdicts: list[Verdict] = []
        plan, rows, lines = settled.plan, settled.rows, settled.find_lines
        for change, trade_id in zip(plan.changes, settled.trade_ids, strict=True):
            found = lines(change.stated)
            if not found:
                continue
            if reason := errors.get(trade_id):
                verdicts.append(error_verdict(found[0], reason))
                continue
            if change.stored is None:
                try:
                    require_allowed(find_annotated(change, rows), settled.contract.account_id, self.known.names)
                except ValidationFailed as error:
                    verdicts.append(error_verdict(found[0], find_first_reason(error)))
                    continue
            self.costs.add(settled.contract.account_id, change)
            self.open_at_end += change.columns["closed_at"] is None
            shown = None if change.stored is None and is_dry_run else trade_id
            verdicts.append(change_verdict(change, found[0], len(found), shown))
        commissions = self.known.commissions.get(settled.contract.account_id, NO_COMMISSIONS)
        verdicts += list_suspects(settled, commissions)
        verdicts += [
            Verdict(line=line, verdict="duplicate", trade_id=trade_id) for line, trade_id in settled.own.items()
        ]
        verdicts += list_unmatched(settled)
        for one in plan.refused:
            found = lines(one.position.stated)
            verdicts.append(error_verdict(found[0] if found else 0, find_first_reason(one.reason)))
        return verdicts

    def find_originals(self) -> dict[int, str]:
        """Find the originals of the file's new copies. Return what is wrong with other copies."""
        named: dict[str, NamedTrade] = {}
        copies: list[tuple[int, str]] = []
        for one in self.settled:
            changes = dict(zip(one.trade_ids, one.plan.changes, strict=True))
            for stated, trade_id in one.trades.items():
                annotated = one.rows[stated].annotated if stated in one.rows else None
                if annotated is None:
                    continue
                stored = changes[trade_id].stored
                source_id = (stored.source_trade_id or stored.trade_id) if stored else None
                if annotated.row_name is not None:
                    named[annotated.row_name] = NamedTrade(trade_id, annotated.copy_of, source_id)
                if annotated.copy_of is not None and stored is None:
                    copies.append((trade_id, annotated.copy_of))
        errors: dict[int, str] = {}
        for trade_id, copy_of in copies:
            try:
                self.originals[trade_id] = find_original(copy_of, named)
            except ValidationFailed as error:
                errors[trade_id] = find_first_reason(error)
        return errors


async def draft_import(
    db: Connection,
    user_id: int,
    file: TradeFile,
    choice: AccountChoice,
    file_name: str | None,
    call: Call,
    *,
    force: bool,
    decisions: Mapping[int, Decision],
    is_dry_run: bool = False,
) -> Draft:
    """Return what a file changes. `call` runs work without a database.

    Raises Conflict for another account's file, and ValidationFailed for a decision about a line without a trade.
    """
    if unknown := decisions.keys() - {row.line for row in file.rows if decisions}:
        raise ValidationFailed(fields={"answers": f"line {min(unknown)} of the file has no trade"})
    known = await read_known(db, user_id)
    settler = Settler(db, user_id, call, known.commissions, known.last_trade_id)
    draft = Draft(user_id, choice, known, settler)
    if any(isinstance(row, Candidate) and row.imported and row.imported.tags for row in file.rows):
        draft.ignored = INDEPENDENT
    by_account = await calendars.by_account(db, user_id)
    groups, rejected = await call(lambda: group_rows(file.rows, file.format, known.names, draft.accounts))
    for account_id in {contract.account_id for contract in groups} & known.accounts_with_trades:
        keys = {
            row.key: contract.name
            for contract, rows in groups.items()
            if contract.account_id == account_id
            for row in rows
        }
        draft.moved[account_id] = await statements.find_moved(db, account_id, keys)
    plan = partial(settler.plan, file_format=file.format, force=force, decisions=decisions)
    while True:
        settler.met.clear()
        draft.settled = [
            await plan(
                contract,
                groups.get(contract, []),
                moved=draft.moved.get(contract.account_id, {}),
                is_new_account=contract.account_id not in known.accounts_with_trades,
            )
            for contract in list_contracts(groups, draft.moved)
        ]
        if not draft.keep_left_out():
            break
    if not force:
        await require_own_account(db, user_id, file_name, draft.settled)
    new = await settler.number(draft.settled)
    errors = draft.find_originals()
    draft.verdicts += [error_verdict(row.line, row.reason) for row in rejected]
    for one in draft.settled:
        draft.verdicts += await call(partial(draft.judge, one, errors, is_dry_run=is_dry_run))
    if not is_dry_run:
        draft.additions = await call(partial(stage, draft.settled, new, user_id, by_account, draft.written_at))
    draft.verdicts.sort(key=lambda verdict: verdict.line)
    draft.counts = count_verdicts(draft.verdicts)
    draft.digest = digest_import(by_account, draft.settled, list_reported(draft.verdicts))
    return draft


def list_contracts(groups: Iterable[Contract], moved: Mapping[int, Mapping[Key, Moved]]) -> list[Contract]:
    """Return the contracts of a file, behind those that its fills leave: what is left of a trade keeps it."""
    left = [one.contract for found in moved.values() for one in found.values()]
    return [*dict.fromkeys((*left, *groups))]
