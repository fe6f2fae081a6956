"""Writes what rows of files change in contracts, and what follows from statements that went."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.database import calendars
from journal_api.database.user_threads import at_once
from journal_api.imports import stored_trades
from journal_api.imports.contracts import NEW_IMPORT, Settled, Settler, find_annotated
from journal_api.imports.file_rows import Annotated
from journal_api.positions.fills import match_fees
from journal_api.positions.plans import Plan, StoredTrade
from journal_api.positions.statements import Key, encode
from journal_api.repositories import new_trades, staged_rows, statements, trade_annotations, trades
from journal_api.repositories.accounts import read_commissions
from journal_api.repositories.new_trades import read_last_id
from journal_api.repositories.statements import Contract, Moved
from journal_api.values.clock import now
from journal_api.values.instruments import canonical_symbol, contract_root
from journal_api.values.periods import Calendar

TRADES_AT_ONCE = 1000
# What a new trade has of what only its owner writes.
NO_ANNOTATIONS = dict.fromkeys(
    ("stop_loss", "initial_risk", "grade", "strategy_id", "setup_id", "source_trade_id", "notes")
)


class Additions(NamedTuple):
    """What a file adds, worked out without the write lock."""

    rows: staged_rows.StagedRows
    annotated: list[Annotated | None]  # of each new trade, in the order of their ids
    again: list[int]  # the ids of statements that the file states again


def stage(
    settled: Iterable[Settled],
    new: Sequence[tuple[Settled, int]],
    user_id: int,
    by_account: Mapping[int, Calendar],
    written_at: str,
) -> Additions:
    """Return the `new` trades, each as a contract and the place of its change, and what the file states of all."""
    annotated = [find_annotated(one.plan.changes[place], one.rows) for one, place in new]
    again: list[int] = []

    def list_statements() -> Iterator[tuple[Any, ...]]:
        for one in settled:
            for chosen, row in one.rows.items():
                stated = next(version for version in one.versions[row.key] if NEW_IMPORT in version.imports)
                if stated.row_id is not None:
                    again.append(stated.row_id)
                elif stated not in one.plan.left_out:
                    yield *one.contract, NEW_IMPORT, row.key, one.trades.get(chosen), encode(row.statement).decode()

    trades = build_new(zip(new, annotated, strict=True), user_id, by_account, written_at)
    return Additions(staged_rows.stage(trades, list_statements()), annotated, again)


def build_new(
    new: Iterable[tuple[tuple[Settled, int], Annotated | None]],
    user_id: int,
    by_account: Mapping[int, Calendar],
    written_at: str,
) -> Iterator[new_trades.NewRows]:
    """Yield the new trades with what the file says of them besides, a thousand at a time.

    They are in the order of their ids and mostly of time, so that SQLite adds them at the end of its indexes.
    """
    rest = iter(new)
    while part := list(islice(rest, TRADES_AT_ONCE)):
        rows = [
            {
                **NO_ANNOTATIONS,
                **one.plan.changes[place].columns,
                **(found.columns if found else {}),
                "account_id": one.contract.account_id,
                "id": one.trade_ids[place],
                "import_id": one.plan.changes[place].import_id,
            }
            for (one, place), found in part
        ]
        yield new_trades.build_rows(user_id, rows, by_account, written_at)


class Writer(NamedTuple):
    """Writes what changes in contracts, under the write lock."""

    db: Connection
    user_id: int
    written_at: str
    import_id: int = 0  # of the file, 0 without one

    async def write(
        self,
        settled: Sequence[Settled],
        new: Additions,
        last_trade_id: int,
        further: int,
        moved: Mapping[int, Mapping[Key, Moved]],
    ) -> None:
        """Write what the file states of contracts, and what follows from it; `moved` is what it moves to another.

        The new trades have the ids `further` after the last one.
        """
        values = {"new": NEW_IMPORT, "import_id": self.import_id, "last": last_trade_id, "further": further}
        ids = range(last_trade_id + further + 1, last_trade_id + further + 1 + len(new.annotated))
        await self.free_external_ids(settled)
        await staged_rows.insert(self.db, new.rows, "trades", values)
        noted = [(trade_id, found) for trade_id, found in zip(ids, new.annotated, strict=True) if found]
        tags = [(trade_id, tag_id) for trade_id, found in noted for tag_id in found.tag_ids]
        answers = [(trade_id, *answer) for trade_id, found in noted for answer in found.answers]
        await trade_annotations.insert_missing(self.db, tags, answers)
        await new_trades.record_imported(self.db, self.user_id, ids)
        left = [
            (one.contract.account_id, key, one.trades.get(one.chosen[key]))
            for one in settled
            for key in moved.get(one.contract.account_id, {}).keys() & one.chosen.keys()
        ]
        await statements.leave(self.db, left)
        await staged_rows.insert(self.db, new.rows, "statements", values)
        await statements.restate(self.db, self.import_id, new.again)
        for one in settled:
            await self.write_plan(one)

    async def free_external_ids(self, settled: Sequence[Settled]) -> None:
        """Take the external ids of trades that get others, or go. Trades that are written next may have them."""
        leaving = [
            change.stored.trade_id
            for one in settled
            for change in one.plan.changes
            if change.stored and change.stored.columns["external_id"] != change.columns["external_id"]
        ]
        leaving += [trade.trade_id for one in settled for trade, _ in one.plan.gone]
        if leaving:
            await trades.clear_external_ids(self.db, leaving)

    async def write_plan(self, settled: Settled) -> None:
        """Write which trades statements are in, and the trades that change, go, or are as they were typed."""
        plan, trade_ids = settled.plan, settled.trade_ids
        await statements.set_trades(self.db, list_moved(settled))
        changed: list[tuple[int, dict[str, Any], int | None, str | None]] = [
            (change.stored.trade_id, change.columns, self.import_of(change.import_id), change.typed)
            for change in plan.changes
            if change.stored and (change.is_written or change.stored.import_id != self.import_of(change.import_id))
        ]
        changed += [(one.trade_id, read_typed(one), None, None) for one in plan.restored]
        gone = [trade.trade_id for trade, _ in plan.gone]
        for trade, taker in plan.gone:
            if taker is not None:
                await trade_annotations.move(self.db, trade.trade_id, trade_ids[taker])
        await stored_trades.delete_trades(self.db, gone)
        await stored_trades.update_trades(self.db, self.user_id, changed, self.written_at)

    def import_of(self, import_id: int) -> int:
        return self.import_id if import_id == NEW_IMPORT else import_id


async def refold(
    db: Connection, user_id: int, contracts: Iterable[Contract], leaving: Collection[int] = ()
) -> list[Plan]:
    """Write what follows from the stored statements of contracts, without the trades that leave."""
    settler = Settler(db, user_id, at_once, await read_commissions(db, user_id), await read_last_id(db), leaving)
    settled = [await settler.plan(contract, [], "", is_new_account=False) for contract in contracts]
    new = await settler.number(settled)
    writer, by_account = Writer(db, user_id, now()), await calendars.by_account(db, user_id)
    await writer.free_external_ids(settled)
    for rows in build_new(((one, None) for one in new), user_id, by_account, writer.written_at):
        await new_trades.insert_rows(db, rows)
    await new_trades.record_imported(db, user_id, [one.trade_ids[place] for one, place in new])
    for one in settled:
        await writer.write_plan(one)
    return [one.plan for one in settled]


def list_moved(settled: Settled) -> Iterator[tuple[int | None, int]]:
    """Yield the stored statements that another trade has now, or none, behind its id."""
    unmatched = {claim.stated for part in settled.plan.unmatched for claim in part.claims}
    for key, versions in settled.versions.items():
        for version in versions:
            if version.row_id is not None:
                trade_id = settled.trades.get(settled.chosen[key])
                if version.trade_id != trade_id and (trade_id is not None or settled.chosen[key] in unmatched):
                    yield trade_id, version.row_id


def read_typed(trade: StoredTrade) -> dict[str, Any]:
    """Return the columns that the owner had typed before a file stated the trade, or has edited since.

    Without any, those that the file stated.
    """
    typed: dict[str, Any] = json.decode(trade.typed) if trade.typed else trade.columns
    columns = typed | {name: trade.columns[name] for name in trade.edited}
    columns["fills"] = match_fees(columns["fills"], columns["fees"])
    symbol = columns["symbol"]
    return {**columns, "contract": canonical_symbol(symbol, columns["opened_at"]), "root": contract_root(symbol)}
