"""Handlers of many trades at once (docs/api.md#many-trades-at-once)."""

from collections.abc import Sequence

from aiosqlite import Connection
from msgspec import UNSET
from starlette.requests import Request

from journal_api.errors import ValidationFailed
from journal_api.positions.trade_draft import TradeDraft
from journal_api.repositories import (
    accounts,
    trade_annotations,
    trade_lists,
    trade_merges,
    trades,
    users,
)
from journal_api.routes.trades import settle
from journal_api.structs.many_trades import TradesDelete, TradesPatch
from journal_api.structs.trades import MAX_TRADES, Trade, TradesSet
from journal_api.web.decoding import IndexedErrors
from journal_api.web.etags import check_versions, with_versions
from journal_api.web.responses import Response, no_content, ok


async def update_trades(request: Request, db: Connection, patch: TradesPatch) -> Response:
    """Update up to 1,000 trades, all or none; each error is reported under the index of its trade.

    X-Answers-Deleted says how many checklist answers go, with the setups that trades leave or because
    `confirmations` does not have them.
    """
    user_id = request.user.id
    stored = await find_selected(db, user_id, patch)
    check_versions(request, stored)
    changes = patch.set or TradesSet()
    sent_tags = [*patch.add_tag_ids, *patch.remove_tag_ids]
    known = await trade_annotations.read_known_ids(db, user_id, sent_tags, changes.confirmations or ())
    known.require_tags(sent_tags)
    errors = IndexedErrors("trades")
    retagged = []
    for index, trade in enumerate(stored):
        with errors.at(index):
            if patch.change_tags(trade.tag_ids) != trade.tag_ids:
                retagged.append(trade.id)
    answers_deleted = await change_each(db, user_id, stored, changes, known, errors)
    errors.raise_if_any()
    await trade_annotations.change_tags(db, retagged, add=patch.add_tag_ids, remove=patch.remove_tag_ids)
    written = await trades.list_of_ids(db, user_id, [trade.id for trade in stored])
    headers = {"X-Answers-Deleted": str(answers_deleted)}
    return with_versions(ok(trades=written), written).with_headers(headers)


async def change_each(
    db: Connection,
    user_id: int,
    stored: Sequence[Trade],
    changes: TradesSet,
    known: trade_annotations.KnownIds,
    errors: IndexedErrors,
) -> int:
    """Update the fields of each trade that is free of errors. Returns the number of answers deleted."""
    before = [TradeDraft.of_stored(trade) for trade in stored]
    patched = [draft.patched(changes) for draft in before]
    references = await trades.read_references(db, user_id, patched)
    commissions = await accounts.read_commissions(db, user_id)
    owner = await users.find(db, user_id)
    answers, answers_deleted = changes.confirmations, 0
    answered = {answer.confirmation_id for answer in answers or ()}
    for index, trade in enumerate(stored):
        with errors.at(index):
            changed = settle(before[index], patched[index], references, commissions)
            known.require_answers(changed.setup_id, answers or ())
            if changed != before[index]:
                await trades.update(db, trade, changed, owner.timezone)
            await trade_annotations.replace_all(db, trade, answers=answers)
            if answers is not UNSET or changed.setup_id != trade.setup_id:
                answers_deleted += sum(one.confirmation_id not in answered for one in trade.confirmations)
    return answers_deleted


async def find_selected(db: Connection, user_id: int, patch: TradesPatch) -> list[Trade]:
    """Return the trades of `ids` in their order, or of `where` in the order of lists."""
    if patch.where is UNSET:
        return await find_sent(db, user_id, patch.ids or [])
    ids = await trade_lists.list_ids(db, user_id, patch.where.filter(), MAX_TRADES)
    return await find_sent(db, user_id, ids)


async def find_sent(db: Connection, user_id: int, ids: Sequence[int]) -> list[Trade]:
    """Return the trades in the order of ids. Raises ValidationFailed for ids unknown or sent twice."""
    by_id = {trade.id: trade for trade in await trade_merges.find_many(db, user_id, ids)}
    errors = IndexedErrors("ids")
    found = []
    for index, trade_id in enumerate(ids):
        with errors.at(index):
            if trade_id not in by_id:
                raise ValidationFailed("is not one of your trades, or is sent twice")
            found.append(by_id.pop(trade_id))
    errors.raise_if_any()
    return found


async def delete_trades(request: Request, db: Connection, body: TradesDelete) -> Response:
    """Delete up to 1,000 trades, all or none. X-Answers-Deleted says how many checklist answers go along."""
    stored = await find_sent(db, request.user.id, body.ids)
    check_versions(request, stored)
    await trades.delete_many(db, body.ids)
    return no_content(
        {
            "X-Trades-Deleted": str(len(stored)),
            "X-Answers-Deleted": str(sum(len(trade.confirmations) for trade in stored)),
        }
    )
