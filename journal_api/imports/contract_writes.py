"""Writes what rows of files change in contracts, and what follows from statements that went."""

from collections.abc import Collection, Iterable, Iterator, Mapping
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
from journal_api.positions.sources import SourceStatement
from journal_api.positions.statements import Key, encode
from journal_api.repositories import new_trades, statements, trade_annotations, trades
from journal_api.repositories.accounts import read_commissions
from journal_api.repositories.new_trades import read_last_id
from journal_api.repositories.statements import Contract
from journal_api.values.clock import now
from journal_api.values.instruments import canonical_symbol, contract_root
from journal_api.values.periods import Calendar

TRADES_AT_ONCE = 1000
# What a new trade has of what only its owner writes.
NO_ANNOTATIONS = dict.fromkeys(
    ("stop_loss", "initial_risk", "grade", "strategy_id", "setup_id", "source_trade_id", "notes")
)


class NewTrades(NamedTuple):
    """Up to a thousand new trades of a contract, which need only their ids and the id of the import."""

    places: list[int]  # among the changes of the contract
    import_ids: list[int]
    annotated: list[tuple[int, Annotated]]  # by place
    rows: new_trades.NewRows


class Additions(NamedTuple):
    """What the rows of a file add in a contract, worked out without the write lock."""

    trades: list[NewTrades]
    statements: list[tuple[Key, SourceStatement, str]]  # by the statement that holds
    again: list[int]  # the ids of statements that the file states again


def build_additions(settled: Settled, user_id: int, by_account: Mapping[int, Calendar], written_at: str) -> Additions:
    additions = Additions([*build_new(settled, user_id, by_account, written_at)], [], [])
    for chosen, row in settled.rows.items():
        stated = next(one for one in settled.versions[row.key] if NEW_IMPORT in one.imports)
        if stated.row_id is not None:
            additions.again.append(stated.row_id)
        elif stated not in settled.plan.left_out:
            additions.statements.append((row.key, chosen, encode(row.statement).decode()))
    return additions


def build_new(
    settled: Settled, user_id: int, by_account: Mapping[int, Calendar], written_at: str
) -> Iterator[NewTrades]:
    """Yield the new trades with what the file says of them besides, a thousand at a time."""
    new = ((place, change) for place, change in enumerate(settled.plan.changes) if change.stored is None)
    while part := list(islice(new, TRADES_AT_ONCE)):
        annotated = {
            place: found for place, change in part if (found := find_annotated(change, settled.rows)) is not None
        }
        rows = [
            {
                **NO_ANNOTATIONS,
                **change.columns,
                **(annotated[place].columns if place in annotated else {}),
                "account_id": settled.contract.account_id,
            }
            for place, change in part
        ]
        yield NewTrades(
            [place for place, _ in part],
            [change.import_id for _, change in part],
            [*annotated.items()],
            new_trades.build_rows(user_id, rows, by_account, written_at),
        )


class Writer(NamedTuple):
    """Writes what changes in contracts, under the write lock."""

    db: Connection
    user_id: int
    written_at: str
    import_id: int = 0  # of the file, 0 without one

    async def write(self, settled: Settled, additions: Additions) -> None:
        """Write what the file states of a contract, and what follows from it."""
        await self.insert_trades(settled, additions.trades)
        new = ((key, settled.trades.get(chosen), text) for key, chosen, text in additions.statements)
        await statements.insert(self.db, settled.contract, self.import_id, new)
        await statements.restate(self.db, self.import_id, additions.again)
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
            (change.stored.trade_id, change.columns, self.import_of(change.import_id), change.typed)
            for change in plan.changes
            if change.stored and (change.is_written or change.stored.import_id != self.import_of(change.import_id))
        ]
        changed += [(one.trade_id, read_typed(one), None, None) for one in plan.restored]
        gone = [trade.trade_id for trade, _ in plan.gone]
        for trade, taker in plan.gone:
            if taker is not None:
                await trade_annotations.move(self.db, trade.trade_id, trade_ids[taker])
        await trades.delete_many(self.db, gone)
        await stored_trades.update_trades(self.db, self.user_id, changed, self.written_at)

    async def insert_trades(self, settled: Settled, parts: Iterable[NewTrades]) -> None:
        """Insert the new trades with what the file says of them besides."""
        await self.free_external_ids(settled)
        for part in parts:
            ids = [settled.trade_ids[place] for place in part.places]
            imports = [*map(self.import_of, part.import_ids)]
            await new_trades.insert_rows(self.db, part.rows, zip(ids, imports, strict=True))
            earlier = [trade_id for trade_id, one in zip(ids, imports, strict=True) if one != self.import_id]
            if earlier:
                await new_trades.record_days(self.db, earlier)
            noted = [(settled.trade_ids[place], annotated) for place, annotated in part.annotated]
            tags = [(trade_id, tag_id) for trade_id, annotated in noted for tag_id in annotated.tag_ids]
            answers = [(trade_id, *answer) for trade_id, annotated in noted for answer in annotated.answers]
            await trade_annotations.insert_missing(self.db, tags, answers)

    def import_of(self, import_id: int) -> int:
        return self.import_id if import_id == NEW_IMPORT else import_id


async def refold(
    db: Connection, user_id: int, contracts: Iterable[Contract], leaving: Collection[int] = ()
) -> list[Plan]:
    """Write what follows from the stored statements of contracts, without the trades that leave."""
    settler = Settler(db, user_id, await read_commissions(db, user_id), await read_last_id(db), leaving)
    writer, plans = Writer(db, user_id, now()), list[Plan]()
    by_account = await calendars.by_account(db, user_id)
    for contract in contracts:
        settled = await settler.plan(contract, [], "", is_new_account=False, call=at_once)
        await settler.number([settled], at_once)
        await writer.insert_trades(settled, build_new(settled, user_id, by_account, writer.written_at))
        await writer.write_plan(settled)
        plans.append(settled.plan)
    return plans


def read_typed(trade: StoredTrade) -> dict[str, Any]:
    """Return the columns that the owner had typed before a file stated the trade, or has edited since.

    Without any, those that the file stated.
    """
    typed: dict[str, Any] = json.decode(trade.typed) if trade.typed else trade.columns
    columns = typed | {name: trade.columns[name] for name in trade.edited}
    columns["fills"] = match_fees(columns["fills"], columns["fees"])
    symbol = columns["symbol"]
    return {**columns, "contract": canonical_symbol(symbol, columns["opened_at"]), "root": contract_root(symbol)}
