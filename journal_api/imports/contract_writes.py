"""Writes what rows of files change in contracts, and what follows from statements that went."""

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import json

from journal_api.imports import stored_trades
from journal_api.imports.contracts import NEW_IMPORT, Settled, Settler, find_annotated
from journal_api.positions.fills import match_fees
from journal_api.positions.plans import Change, Plan, StoredTrade
from journal_api.positions.statements import Key, Statement
from journal_api.repositories import new_trades, statements, trade_annotations, trades
from journal_api.repositories.accounts import read_commissions
from journal_api.repositories.new_trades import read_last_id
from journal_api.repositories.statements import Contract
from journal_api.trade_files.threads import at_once
from journal_api.values.clock import now
from journal_api.values.instruments import canonical_symbol, contract_root

TRADES_AT_ONCE = 1000
# What a new trade has of what only its owner writes.
NO_ANNOTATIONS = dict.fromkeys(
    ("stop_loss", "initial_risk", "grade", "strategy_id", "setup_id", "source_trade_id", "notes")
)


class Writer(NamedTuple):
    """Writes what changes in contracts, under the write lock."""

    db: Connection
    user_id: int
    written_at: str
    import_id: int = 0  # of the file, 0 without one

    async def write(self, settled: Settled) -> None:
        """Write what the file states of a contract, and what follows from it."""
        await self.insert_trades(settled)
        new: list[tuple[Key, Statement, int | None]] = []
        again: list[int] = []
        for chosen, row in settled.rows.items():
            stated = next(one for one in settled.versions[row.key] if NEW_IMPORT in one.imports)
            if stated.row_id is not None:
                again.append(stated.row_id)
            elif stated not in settled.plan.left_out:
                new.append((row.key, row.statement, settled.trades.get(chosen)))
        await statements.insert(self.db, settled.contract, self.import_id, new)
        await statements.restate(self.db, self.import_id, again)
        await self.write_plan(settled)

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
            version.row_id: of_trade[stated]
            for key, stated in settled.chosen.items()
            if stated in of_trade
            for version in settled.versions[key]
            if version.row_id is not None and version.trade_id != of_trade[stated]
        }
        for part in plan.unmatched:
            for claim in part.claims:
                if claim.stated.row_id is not None and claim.stated.trade_id and claim.stated not in of_trade:
                    moved[claim.stated.row_id] = None
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
        await stored_trades.update_trades(self.db, self.user_id, changed, self.written_at)

    async def insert_trades(self, settled: Settled) -> None:
        """Insert the new trades with what the file says of them besides, a thousand at a time."""
        await self.free_external_ids(settled)
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
            stated = [(trade_id, annotated) for trade_id, _, annotated in found if annotated]
            tags = [(trade_id, tag_id) for trade_id, annotated in stated for tag_id in annotated.tag_ids]
            answers = [(trade_id, *answer) for trade_id, annotated in stated for answer in annotated.answers]
            await trade_annotations.insert_missing(self.db, tags, answers)

    def import_of(self, change: Change) -> int:
        return self.import_id if change.import_id == NEW_IMPORT else change.import_id


async def refold(
    db: Connection, user_id: int, contracts: Iterable[Contract], leaving: Collection[int] = ()
) -> list[Plan]:
    """Write what follows from the stored statements of contracts, without the trades that leave."""
    settler = Settler(db, user_id, await read_commissions(db, user_id), await read_last_id(db), leaving)
    writer, plans = Writer(db, user_id, now()), list[Plan]()
    for contract in contracts:
        settled = await settler.plan(contract, [], "", is_new_account=False, call=at_once)
        await settler.number([settled], at_once)
        await writer.insert_trades(settled)
        await writer.write_plan(settled)
        plans.append(settled.plan)
    return plans


def read_typed(trade: StoredTrade) -> dict[str, Any]:
    """Return the columns that the owner had typed before a file stated the trade, or has edited since."""
    typed: dict[str, Any] = json.decode(trade.typed or "{}")
    columns = typed | {name: trade.columns[name] for name in trade.edited}
    columns["fills"] = match_fees(columns["fills"], columns["fees"])
    symbol = columns["symbol"]
    return {**columns, "contract": canonical_symbol(symbol, columns["opened_at"]), "root": contract_root(symbol)}
