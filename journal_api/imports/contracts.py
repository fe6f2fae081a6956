"""One contract of an account, after what files state of it has come or gone: its trades are its positions."""

from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec.structs import replace

from journal_api.imports import stored_trades
from journal_api.imports.exported_rows import find_own_rows
from journal_api.imports.file_rows import Annotated, FileRow
from journal_api.positions.commissions import NO_COMMISSIONS, Commissions
from journal_api.positions.plans import Change, Decision, Journal, Plan
from journal_api.positions.reconcile import reconcile
from journal_api.positions.sources import SourceStatement, find_source
from journal_api.positions.statements import Key, build_key, identify
from journal_api.repositories import statements, trades
from journal_api.repositories.statements import Contract, Moved
from journal_api.values.instruments import contract_root, list_bare_names

Call = Callable[[Callable[[], Any]], Awaitable[Any]]  # runs what needs no database, in a thread or at once
NEW_IMPORT = 2**62  # stands for the import until it is written


class Settled(NamedTuple):
    """What the rows of a file change in one contract, and the ids of the trades of its changes."""

    contract: Contract
    plan: Plan
    rows: dict[SourceStatement, FileRow]  # of the file, by the statement that holds of each
    versions: dict[Key, list[SourceStatement]]  # what is stored, and what is new
    chosen: dict[Key, SourceStatement]
    trade_ids: list[int]
    trades: dict[SourceStatement, int]  # the trade that each statement is in, once the new ones have their ids
    own: dict[int, int]  # lines that say a trade as its owner has merged or edited it

    def find_lines(self, stated: Iterable[SourceStatement]) -> list[int]:
        """Return the lines of the file that a position is made of: first the line of its first fill."""
        return [self.rows[one].line for one in stated if one in self.rows]


class Settler:
    """Finds what changes in contracts, which only reads."""

    def __init__(
        self,
        db: Connection,
        user_id: int,
        call: Call,
        commissions: Mapping[int, Commissions],
        last_trade_id: int,
        leaving: Collection[int] = (),  # trades that go because no file states them any more
    ) -> None:
        self.db, self.user_id, self.call, self.leaving = db, user_id, call, frozenset(leaving)
        self.commissions = commissions
        self.next_ids = count(last_trade_id + 1)
        self.met: set[int] = set()  # trades that are positions of contracts already planned
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
    ) -> Settled:
        """Return what the rows of a file change. `moved` are statements that it moves to another contract."""
        stored = {} if is_new_account else await statements.list_of_contract(self.db, contract)
        for key, (left, _) in moved.items():
            if left == contract:
                stored.pop(key, None)
        own = await find_own_rows(self.db, self.user_id, contract, stored, rows, file_format)
        rows = [row for row in rows if row.line not in own] if own else rows
        rows = await self.call(lambda: with_known_keys(rows, stored, file_format)) if stored else rows
        stated, chosen, of_rows = await self.call(lambda: add_rows(stored, rows, file_format, moved))
        journal = await self.read_journal(contract, stated, is_new_account=is_new_account)
        plan = await self.call(lambda: reconcile(stated, journal, NEW_IMPORT, force=force, decisions=decisions))
        self.met |= {change.stored.trade_id for change in plan.changes if change.stored}
        ids = [change.stored.trade_id if change.stored else 0 for change in plan.changes]
        return Settled(contract, plan, of_rows, stored, chosen, ids, {}, own)

    async def number(self, settled: Sequence[Settled]) -> list[tuple[Settled, int]]:
        """Give the new trades their ids in the order of lines, and external ids that are free.

        Returns the contract of each new trade, and its place among the changes there.
        """
        keep_moved(settled)
        new = [(settled[number], place) for number, place in await self.call(lambda: sort_new(settled))]
        for one, place in new:
            one.trade_ids[place] = next(self.next_ids)
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
            one.trades.update(await self.call(partial(find_trades, one.plan, one.trade_ids)))
        return new

    async def read_journal(
        self, contract: Contract, stated: Iterable[SourceStatement], *, is_new_account: bool
    ) -> Journal:
        """Return the trades that the statements are in, and those that may be positions of them."""
        commissions = self.commissions.get(contract.account_id, NO_COMMISSIONS)
        if is_new_account:
            return Journal({}, [], commissions)
        trade_ids = {one.trade_id for one in stated if one.trade_id is not None} - self.met
        found = await stored_trades.read_trades(self.db, trade_ids) if trade_ids else {}
        roots = {contract_root(one.statement.symbol) for one in stated}
        names = [contract.name, *(name for root in roots for name in list_bare_names(contract.name, root))]
        alone = await stored_trades.read_without_statements(self.db, self.user_id, contract.account_id, names)
        others = [trade for trade_id, trade in alone.items() if trade_id not in self.met]
        free = [trade for trade in others if trade.import_id is None]
        found |= {
            trade.trade_id: trade
            for trade in others
            if trade.import_id and trade.columns["contract"] == contract.name and trade.trade_id not in self.leaving
        }
        self.read |= {*found, *(trade.trade_id for trade in free)}
        return Journal(found, free, commissions)


def with_known_keys(
    rows: Sequence[FileRow], stored: Mapping[Key, Sequence[SourceStatement]], file_format: str
) -> Sequence[FileRow]:
    """Return the rows with the keys of what is stored of the same fills, if one file has offsets and another not."""
    known = {row.key for row in rows if row.key in stored}
    times = {row.statement.sides[0].at for row in rows if row.key not in known}
    same = defaultdict[tuple[object, tuple[object, ...]], list[Key]](list)
    for key, versions in stored.items():
        for one in versions if key not in known else ():
            if one.statement.sides[0].at in times:
                same[one.source, identify(file_format, one.statement)].append(key)
    free = defaultdict[tuple[object, ...], deque[Key]](deque)
    for (source, identity), keys in same.items():
        of_instants = {build_key(identity, number) for number in range(1, len(keys) + 1)}
        for key in keys:
            free[source, identity, key in of_instants].append(key)
    taken = set[Key]()

    def find_key(row: FileRow) -> Key:
        name = (find_source(row.statement, file_format), identify(file_format, row.statement), row.is_local)
        keys = free[name] if row.key not in known else ()
        while keys:
            if (key := keys.popleft()) not in taken:
                taken.add(key)
                return key
        return row.key

    return [replace(row, key=find_key(row)) for row in rows] if same else rows


def add_rows(
    stored: dict[Key, list[SourceStatement]], rows: Sequence[FileRow], file_format: str, moved: Mapping[Key, Moved]
) -> tuple[list[SourceStatement], dict[Key, SourceStatement], dict[SourceStatement, FileRow]]:
    """Add what the file states to what is stored.

    Returns the statements that hold, also by their keys, and the rows of the file by theirs.
    """
    for row in rows:
        versions = stored.setdefault(row.key, [])
        stated = next((one for one in versions if one.statement.says_same(row.statement)), None)
        if stated is None:
            before = versions[-1] if versions else moved.get(row.key)
            stated = SourceStatement(row.statement, file_format, trade_id=before.trade_id if before else None)
            versions.append(stated)
        stated.is_left_out = False
        stated.imports = (*stated.imports, NEW_IMPORT) if stated.imports else (NEW_IMPORT,)
    holding = statements.choose_versions(stored.values())
    chosen = dict(zip(stored, holding, strict=True))
    of_rows = {chosen[row.key]: row for row in rows}
    for one, row in of_rows.items():
        one.line = row.line
    return holding, chosen, of_rows


def keep_moved(settled: Iterable[Settled]) -> None:
    """Let no contract delete or restore a trade that moves to another one with its last fill."""
    kept = {change.stored.trade_id for one in settled for change in one.plan.changes if change.stored}
    for one in settled:
        one.plan.gone[:] = [pair for pair in one.plan.gone if pair[0].trade_id not in kept]
        one.plan.restored[:] = [trade for trade in one.plan.restored if trade.trade_id not in kept]


def sort_new(settled: Sequence[Settled]) -> list[tuple[int, int]]:
    """Return the places of the new trades in the order of their lines."""
    new = [
        (next(iter(one.find_lines(change.stated)), 0), change.position.opened, number, place)
        for number, one in enumerate(settled)
        for place, change in enumerate(one.plan.changes)
        if change.stored is None
    ]
    return [(number, place) for *_, number, place in sorted(new)]


def find_trades(plan: Plan, trade_ids: Sequence[int]) -> dict[SourceStatement, int]:
    """Return the trade that each statement is in: of several the last, which it opens."""
    found: dict[SourceStatement, int] = {}
    for change, trade_id in zip(plan.changes, trade_ids, strict=True):
        opening = {claim.stated for claim in change.position.parts[0].claims}
        for stated in change.stated:
            if stated not in found or stated in opening:
                found[stated] = trade_id
    # A pair may open two positions: no trade is without a statement as long as another has one to spare.
    numbers = Counter(found.values())
    for change, trade_id in zip(plan.changes, trade_ids, strict=True):
        spare = next((stated for stated in change.stated if numbers[found[stated]] > 1), None)
        if not numbers[trade_id] and spare is not None:
            numbers[found[spare]] -= 1
            numbers[trade_id] += 1
            found[spare] = trade_id
    return found


def find_annotated(change: Change, rows: Mapping[SourceStatement, FileRow]) -> Annotated | None:
    """Return what a row of the file says besides of a new trade, None for nothing."""
    found = (rows[stated].annotated for stated in change.stated if stated in rows)
    return next((one for one in found if one is not None), None)
