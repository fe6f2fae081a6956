"""One contract of an account, after what files state of it has come or gone: its trades are its positions."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count, islice
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.imports.file_rows import Annotated, FileRow
from journal_api.imports.own_rows import find_own_rows
from journal_api.positions.commissions import NO_COMMISSIONS, Commissions
from journal_api.positions.fills import match_fees
from journal_api.positions.plans import Change, Decision, Journal, Plan, StoredTrade
from journal_api.positions.reconcile import reconcile
from journal_api.positions.statements import Key, Statement
from journal_api.positions.told import Told
from journal_api.repositories import new_trades, statements, trade_annotations, trades
from journal_api.repositories.accounts import read_commissions
from journal_api.repositories.new_trades import read_last_id
from journal_api.repositories.statements import Contract, Moved
from journal_api.trade_files.threads import at_once
from journal_api.values.clock import now
from journal_api.values.instruments import canonical_symbol, contract_root, list_bare_names

TRADES_AT_ONCE = 1000
NEW_IMPORT = 2**62  # stands for the import until it is written
# What a new trade has of what only its owner writes.
NO_ANNOTATIONS = dict.fromkeys(
    ("stop_loss", "initial_risk", "grade", "strategy_id", "setup_id", "source_trade_id", "notes")
)


class Settled(NamedTuple):
    """What the rows of a file change in one contract, and the ids of the trades of its changes."""

    contract: Contract
    plan: Plan
    rows: dict[Told, FileRow]  # of the file, by the statement that holds of each
    versions: dict[Key, list[Told]]  # what is stored, and what is new
    chosen: dict[Key, Told]
    trade_ids: list[int]
    trades: dict[Told, int]  # the trade that each statement is in, once the new ones have their ids
    own: dict[int, int]  # lines that say a trade as its owner has merged or edited it

    def find_lines(self, told: Iterable[Told]) -> list[int]:
        """Return the lines of the file that a position is made of: first that of its first fill."""
        return [self.rows[one].line for one in told if one in self.rows]


class Settler:
    """Finds what changes in contracts, which only reads, and writes it."""

    def __init__(
        self,
        db: Connection,
        user_id: int,
        commissions: Mapping[int, Commissions],
        last_trade_id: int,
        written_at: str,
    ) -> None:
        self.db, self.user_id, self.written_at = db, user_id, written_at
        self.import_id: int | None = None  # of the import that is written
        self.leaving: set[int] = set()  # trades that go because no file tells of them any more
        self.commissions = commissions
        self.next_ids = count(last_trade_id + 1)
        self.met: set[int] = set()  # typed trades that are positions of contracts already planned
        self.read: set[int] = set()  # trades on which the plans depend

    async def plan(
        self,
        contract: Contract,
        rows: Sequence[FileRow],
        file_format: str,
        moved: Mapping[Key, Moved] = {},
        *,
        is_new_account: bool,
        force: bool = False,
        decisions: Mapping[int, Decision] = {},
        call: Callable[[Callable[[], Any]], Any],
    ) -> Settled:
        """Return what the rows of a file change. `moved` are statements that it moves to another contract."""
        stored = {} if is_new_account else await statements.list_of_contract(self.db, contract)
        for key, (left, _) in moved.items():
            if left == contract:
                stored.pop(key, None)
        own = await find_own_rows(self.db, stored, rows, file_format)
        rows = [row for row in rows if row.line not in own] if own else rows
        self.add_rows(stored, rows, file_format, moved)
        told = statements.choose_versions(stored.values())
        chosen = dict(zip(stored, told, strict=True))
        of_rows = {chosen[row.key]: row for row in rows}
        for one, row in of_rows.items():
            one.line = row.line
        journal = await self.read_journal(contract, told, is_new_account=is_new_account)
        plan = await call(lambda: reconcile(told, journal, NEW_IMPORT, force=force, decisions=decisions))
        self.met |= {
            change.stored.trade_id for change in plan.changes if change.stored and change.stored.import_id is None
        }
        ids = [change.stored.trade_id if change.stored else 0 for change in plan.changes]
        return Settled(contract, plan, of_rows, stored, chosen, ids, {}, own)

    async def number(self, settled: Sequence[Settled]) -> None:
        """Give the new trades their ids in the order of lines, and external ids that are free."""
        new = [
            (next(iter(one.find_lines(change.told)), 0), change.position.opened, number, place)
            for number, one in enumerate(settled)
            for place, change in enumerate(one.plan.changes)
            if change.stored is None
        ]
        for *_, number, place in sorted(new):
            settled[number].trade_ids[place] = next(self.next_ids)
        leaving = {trade.trade_id for one in settled for trade, _ in one.plan.gone}
        wanted: list[tuple[int, int, dict[str, Any]]] = []
        for one in settled:
            for change, trade_id in zip(one.plan.changes, one.trade_ids, strict=True):
                before = change.stored and change.stored.columns["external_id"]
                if before != change.columns["external_id"]:
                    leaving.add(trade_id)
                    wanted.append((trade_id, one.contract.account_id, change.columns))
        taken = await trades.find_external_ids(
            self.db, [(account_id, columns["external_id"]) for _, account_id, columns in wanted], leaving
        )
        for _, account_id, columns in sorted(wanted, key=lambda one: one[0]):
            key = account_id, columns["external_id"]
            if key in taken:
                columns["external_id"] = None
            taken.add(key)
        for one in settled:
            one.trades.update(find_trades(one.plan, one.trade_ids))

    def add_rows(
        self, stored: dict[Key, list[Told]], rows: Sequence[FileRow], file_format: str, moved: Mapping[Key, Moved]
    ) -> None:
        """Add what the file states to what is stored."""
        for row in rows:
            versions = stored.setdefault(row.key, [])
            told = next((one for one in versions if one.statement.says_same(row.statement)), None)
            if told is None:
                before = versions[-1] if versions else moved.get(row.key)
                told = Told(row.statement, file_format, trade_id=before.trade_id if before else None)
                versions.append(told)
            told.is_left_out = False
            told.imports = (*told.imports, NEW_IMPORT) if told.imports else (NEW_IMPORT,)

    def import_of(self, change: Change) -> int | None:
        return self.import_id if change.import_id == NEW_IMPORT else change.import_id

    async def read_journal(self, contract: Contract, told: Iterable[Told], *, is_new_account: bool) -> Journal:
        """Return the trades that the statements are in, and those that may be positions of them."""
        commissions = self.commissions.get(contract.account_id, NO_COMMISSIONS)
        if is_new_account:
            return Journal({}, [], commissions)
        trade_ids = {one.trade_id for one in told if one.trade_id is not None}
        found = await statements.read_trades(self.db, trade_ids) if trade_ids else {}
        lost = await statements.read_lost(self.db, self.user_id, contract)
        found |= {trade_id: trade for trade_id, trade in lost.items() if trade_id not in self.leaving}
        roots = {contract_root(one.statement.symbol) for one in told}
        names = [contract.name, *(name for root in roots for name in list_bare_names(contract.name, root))]
        typed = await statements.list_typed(self.db, self.user_id, contract.account_id, names)
        free = [trade for trade in typed if trade.trade_id not in self.met]
        self.read |= {*found, *(trade.trade_id for trade in free)}
        return Journal(found, free, commissions)

    async def write(self, settled: Settled) -> None:
        """Write what the file states of a contract, and what follows from it."""
        assert self.import_id is not None
        await self.free_external_ids(settled)
        await self.insert_trades(settled)
        new: list[tuple[Key, Statement, int | None]] = []
        again: list[int] = []
        for chosen, row in settled.rows.items():
            told = next(one for one in settled.versions[row.key] if NEW_IMPORT in one.imports)
            if told.row_id is not None:
                again.append(told.row_id)
            elif told not in settled.plan.left_out:
                new.append((row.key, row.statement, settled.trades.get(chosen)))
        await statements.insert(self.db, settled.contract, self.import_id, new)
        await statements.restate(self.db, self.import_id, again)
        await self.write_plan(settled)

    async def refold(self, contract: Contract) -> Plan:
        """Write what follows from the stored statements of a contract."""
        settled = await self.plan(contract, [], "", is_new_account=False, call=at_once)
        await self.number([settled])
        await self.free_external_ids(settled)
        await self.insert_trades(settled)
        await self.write_plan(settled)
        return settled.plan

    async def free_external_ids(self, settled: Settled) -> None:
        """Take the external ids of trades that get others, or go.

        Trades that are written next may have them.
        """
        leaving = [
            change.stored.trade_id
            for change in settled.plan.changes
            if change.stored and change.stored.columns["external_id"] != change.columns["external_id"]
        ]
        leaving += [trade.trade_id for trade, _ in settled.plan.gone]
        if leaving:
            await trades.clear_external_ids(self.db, leaving)

    async def write_plan(self, settled: Settled) -> None:
        """Write which trades statements are in, and the trades that change, go, or are as they were typed."""
        plan, trade_ids, of_trade = settled.plan, settled.trade_ids, settled.trades
        moved: dict[int, int | None] = {
            version.row_id: of_trade[told]
            for key, told in settled.chosen.items()
            if told in of_trade
            for version in settled.versions[key]
            if version.row_id is not None and version.trade_id != of_trade[told]
        }
        for part in plan.unmatched:
            for claim in part.claims:
                if claim.told.row_id is not None and claim.told.trade_id and claim.told not in of_trade:
                    moved[claim.told.row_id] = None
        await statements.set_trades(self.db, [(trade_id, row_id) for row_id, trade_id in moved.items()])
        changed: list[tuple[int, dict[str, Any], int | None, str | None]] = [
            (change.stored.trade_id, change.columns, self.import_of(change), change.typed)
            for change in plan.changes
            if change.stored and (change.is_written or change.stored.import_id != self.import_of(change))
        ]
        changed += [(one.trade_id, read_typed(one), None, None) for one in plan.restored]
        gone = [trade.trade_id for trade, _ in plan.gone]
        for trade, taker in plan.gone:
            if taker is not None:
                await trade_annotations.move(self.db, trade.trade_id, trade_ids[taker])
        await trades.delete_many(self.db, gone)
        await statements.update_trades(self.db, self.user_id, changed, self.written_at)

    async def insert_trades(self, settled: Settled) -> None:
        """Insert the new trades with what the file says of them besides, a thousand at a time."""
        pairs = zip(settled.plan.changes, settled.trade_ids, strict=True)
        new = ((change, trade_id) for change, trade_id in pairs if change.stored is None)
        while part := list(islice(new, TRADES_AT_ONCE)):
            found = [(trade_id, change, find_annotated(change, settled.rows)) for change, trade_id in part]
            account_id = settled.contract.account_id
            rows = [
                {
                    **NO_ANNOTATIONS,
                    **change.columns,
                    **(annotated.columns if annotated else {}),
                    "id": trade_id,
                    "account_id": account_id,
                    "import_id": self.import_of(change),
                }
                for trade_id, change, annotated in found
            ]
            await new_trades.insert_all(self.db, self.user_id, rows, self.written_at)
            earlier = [row["id"] for row in rows if row["import_id"] != self.import_id]
            if earlier:
                await new_trades.record_days(self.db, earlier)
            told = [(trade_id, annotated) for trade_id, _, annotated in found if annotated]
            tags = [(trade_id, tag_id) for trade_id, annotated in told for tag_id in annotated.tag_ids]
            answers = [(trade_id, *answer) for trade_id, annotated in told for answer in annotated.answers]
            await trade_annotations.insert_missing(self.db, tags, answers)


async def refold_trades(db: Connection, user_id: int, trade_ids: Sequence[int]) -> None:
    """Write what follows from what files state of trades, which may be more than they have."""
    contracts = await statements.list_of_trades(db, trade_ids)
    settler = Settler(db, user_id, await read_commissions(db, user_id), await read_last_id(db), now())
    for contract in contracts:
        await settler.refold(contract)


def find_trades(plan: Plan, trade_ids: Sequence[int]) -> dict[Told, int]:
    """Return the trade that each statement is in: of several the last, which it opens."""
    found: dict[Told, int] = {}
    for change, trade_id in zip(plan.changes, trade_ids, strict=True):
        opening = {claim.told for claim in change.position.parts[0].claims}
        for told in change.told:
            if told not in found or told in opening:
                found[told] = trade_id
    # A pair may open two positions: no trade is without a statement as long as another has one to spare.
    numbers = Counter(found.values())
    for change, trade_id in zip(plan.changes, trade_ids, strict=True):
        spare = next((told for told in change.told if numbers[found[told]] > 1), None)
        if not numbers[trade_id] and spare is not None:
            numbers[found[spare]] -= 1
            numbers[trade_id] += 1
            found[spare] = trade_id
    return found


def find_annotated(change: Change, rows: Mapping[Told, FileRow]) -> Annotated | None:
    """Return what a row of the file says besides of a new trade, None for nothing."""
    found = (rows[told].annotated for told in change.told if told in rows)
    return next((one for one in found if one is not None), None)


def read_typed(trade: StoredTrade) -> dict[str, Any]:
    """Return the columns that the owner had typed before a file told of the trade, or has edited since."""
    typed: dict[str, Any] = json.decode(trade.typed or "{}")
    columns = typed | {name: trade.columns[name] for name in trade.edited}
    columns["fills"] = match_fees(columns["fills"], columns["fees"])
    symbol = columns["symbol"]
    return {**columns, "contract": canonical_symbol(symbol, columns["opened_at"]), "root": contract_root(symbol)}
