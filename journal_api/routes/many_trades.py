"""Handlers of many trades at once (docs/api.md#many-trades-at-once)."""

from collections.abc import Sequence

from aiosqlite import Connection
from msgspec import UNSET
from msgspec.structs import asdict, replace
from starlette.requests import Request

from journal_api.errors import ValidationFailed
from journal_api.positions.trade_draft import TradeDraft
from journal_api.repositories import accounts, trade_annotations, trade_lists, trade_merges, trades, users
from journal_api.repositories.trade_annotations import KnownIds
from journal_api.repositories.trade_references import read_references
from journal_api.routes.trades import settle
from journal_api.structs.many_trades import (
    AnswerBefore,
    ChargeBefore,
    FieldsBefore,
    TradeBefore,
    TradeRestore,
    TradesDelete,
    TradesPatch,
)
from journal_api.structs.trades import MAX_TRADES, Trade
from journal_api.values.money import ENCODER
from journal_api.web.decoding import IndexedErrors
from journal_api.web.etags import check_versions, with_versions
from journal_api.web.responses import Response, no_content, ok
from journal_api.web.validation_errors import ErrorCollector

FIELDS = [name for name in FieldsBefore.__struct_fields__ if name != "confirmations"]


async def update_trades(request: Request, db: Connection, patch: TradesPatch) -> Response:
    """Update up to 1,000 trades, all or none; each error is reported under the index of its trade.

    `restore` is the body that takes the change back. X-Answers-Deleted says how many checklist answers go,
    with the setups that trades leave or because `confirmations` does not have them.
    """
    user_id = request.user.id
    stored = await find_selected(db, user_id, patch)
    check_versions(request, stored)
    trade_merges.require_length(patch.text_length() * len(stored), "set")
    changes = patch.list_changes(stored)
    sent_tags = [*patch.add_tag_ids, *patch.remove_tag_ids]
    known = await read_known(db, user_id, sent_tags, changes)
    known.require_tags(sent_tags)
    known.require_single(patch.add_tag_ids, "add_tag_ids")
    errors = IndexedErrors("trades")
    retagged = set()
    for index, trade in enumerate(stored):
        with errors.at(index):
            if patch.change_tags(trade.tag_ids) != trade.tag_ids:
                retagged.add(trade.id)
    restore = await change_each(db, user_id, stored, changes, known, errors)
    errors.raise_if_any()
    await trade_annotations.change_tags(db, sorted(retagged), add=patch.add_tag_ids, remove=patch.remove_tag_ids)
    for trade, one in zip(stored, restore, strict=True):
        if trade.id in retagged:
            one.tag_ids = trade.tag_ids
    written = await trades.list_of_ids(db, user_id, [trade.id for trade in stored])
    headers = {"X-Answers-Deleted": str(count_lost_answers(restore, changes))}
    return with_versions(ok(trades=written, restore=ENCODER.encode(restore).decode()), written).with_headers(headers)


async def read_known(
    db: Connection, user_id: int, sent_tags: Sequence[int], changes: Sequence[TradeRestore]
) -> KnownIds:
    """Return what is known of the tags and confirmations that were sent."""
    tag_ids = {tag_id for one in changes for tag_id in one.tag_ids or ()} | {*sent_tags}
    answers = {answer.confirmation_id: answer for one in changes for answer in one.set.confirmations or ()}
    return await trade_annotations.read_known_ids(db, user_id, sorted(tag_ids), answers.values())


async def change_each(
    db: Connection,
    user_id: int,
    stored: Sequence[Trade],
    changes: Sequence[TradeRestore],
    known: KnownIds,
    errors: IndexedErrors,
) -> list[TradeBefore]:
    """Update each trade that is free of errors. Returns what takes the changes back."""
    before = [TradeDraft.of_stored(trade) for trade in stored]
    patched = [draft.apply_patch(change.set) for draft, change in zip(before, changes, strict=True)]
    references = await read_references(db, user_id, patched)
    commissions = await accounts.read_commissions(db, user_id)
    owner = await users.find(db, user_id)
    restore = []
    for index, (trade, change) in enumerate(zip(stored, changes, strict=True)):
        with errors.at(index):
            changed = charge_again(settle(before[index], patched[index], references, commissions), change)
            answers, tag_ids = change.set.confirmations, change.tag_ids
            known.require_tags(tag_ids or [])
            known.require_single(tag_ids or [])
            known.require_answers(changed.setup_id, answers or ())
            if changed != before[index]:
                await trades.update(db, trade, changed, owner.timezone)
            await trade_annotations.replace_all(db, trade, tag_ids=tag_ids, answers=answers)
            restore.append(build_before(trade, before[index], changed, change))
    return restore


def charge_again(trade: TradeDraft, change: TradeRestore) -> TradeDraft:
    """Return the trade with the fees that it was charged before. Raises ValidationFailed for stated fees."""
    if change.charge is UNSET:
        return trade
    if trade.fees_source not in ("account", "none"):
        raise ValidationFailed(fields={"charge": f"is of stated fees (fees_source {trade.fees_source})"})
    return replace(trade, **asdict(change.charge))


def build_before(trade: Trade, before: TradeDraft, after: TradeDraft, change: TradeRestore) -> TradeBefore:
    """Return the old values of what changed; a strategy goes with its setup, a setup with its answers."""
    names = [name for name in FIELDS if getattr(before, name) != getattr(after, name)]
    if {"strategy_id", "setup_id"} & {*names}:
        names += ["strategy_id", "setup_id"]
    old = FieldsBefore(**{name: getattr(trade, name) for name in names})
    if change.set.confirmations is not UNSET or "setup_id" in names:
        old.confirmations = [
            AnswerBefore(confirmation_id=one.confirmation_id, was_present=one.was_present, notes=one.notes)
            for one in trade.confirmations
        ]
    one = TradeBefore(id=trade.id, set=old, tag_ids=UNSET if change.tag_ids is UNSET else trade.tag_ids)
    if (before.fees, before.fees_source) != (after.fees, after.fees_source):
        one.charge = ChargeBefore(fees=trade.fees, fees_source=trade.fees_source)
    return one


def count_lost_answers(before: Sequence[TradeBefore], changes: Sequence[TradeRestore]) -> int:
    """Return how many answers of the trades are not among those that were sent for them."""
    return sum(len(list_answered(old) - list_answered(change)) for old, change in zip(before, changes, strict=True))


def list_answered(change: TradeRestore | TradeBefore) -> set[int]:
    return {answer.confirmation_id for answer in change.set.confirmations or ()}


async def find_selected(db: Connection, user_id: int, patch: TradesPatch) -> list[Trade]:
    """Return the trades of `ids` or `restore` in their order, or of `where` in the order of lists."""
    if patch.where is not UNSET:
        ids = await trade_lists.list_ids(db, user_id, patch.where.filter(), MAX_TRADES)
        return await find_sent(db, user_id, ids)
    if patch.restore is not UNSET:
        return await find_sent(db, user_id, [one.id for one in patch.restore], "restore[{}].id")
    return await find_sent(db, user_id, patch.ids or [])


async def find_sent(db: Connection, user_id: int, ids: Sequence[int], path: str = "ids[{}]") -> list[Trade]:
    """Return the trades in the order of ids. Raises ValidationFailed for unknown or repeated ids, or too much text."""
    await trade_merges.require_short_texts(db, user_id, ids)
    by_id = {trade.id: trade for trade in await trade_merges.find_many(db, user_id, ids)}
    errors = ErrorCollector()
    found = []
    for index, trade_id in enumerate(ids):
        if trade := by_id.pop(trade_id, None):
            found.append(trade)
        else:
            errors.add(path.format(index), "is not one of your trades, or is sent twice")
    if errors:
        raise errors.error()
    return found


async def delete_trades(request: Request, db: Connection, body: TradesDelete) -> Response:
    """Delete up to 1,000 trades, all or none. X-Answers-Deleted says how many checklist answers go."""
    stored = await find_sent(db, request.user.id, body.ids)
    check_versions(request, stored)
    await trades.delete_many(db, body.ids)
    return no_content(
        {
            "X-Trades-Deleted": str(len(stored)),
            "X-Answers-Deleted": str(sum(len(trade.confirmations) for trade in stored)),
        }
    )
