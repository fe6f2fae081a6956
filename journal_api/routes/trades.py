"""Handlers of trades, their tags and their checklist answers."""

from functools import partial
from typing import Any

from aiosqlite import Connection
from msgspec import UNSET
from starlette.requests import Request

from journal_api.errors import Conflict
from journal_api.imports import export
from journal_api.positions.commissions import AllCommissions, charge_changed, charge_new
from journal_api.positions.trade_draft import TradeDraft, build_columns
from journal_api.repositories import accounts, instruments, new_trades, trade_annotations, trade_lists, trades, users
from journal_api.repositories.trade_references import References, read_references, require_no_circle
from journal_api.structs.many_trades import TradesCreate
from journal_api.structs.trades import AnswersPut, ExportQuery, TradeCreate, TradePatch, TradeQuery, TradeTagsPut
from journal_api.web.context import database
from journal_api.web.decoding import IndexedErrors, decode_json
from journal_api.web.etags import with_versions
from journal_api.web.responses import Download, Response, created, no_content, ok, page
from journal_api.web.writes import Write


async def list_trades(request: Request, db: Connection, query: TradeQuery) -> Response:
    """List the caller's trades that match the query, newest first."""
    text, total = await trade_lists.read_page(db, request.user.id, query)
    response = page(query.limit, query.offset, total, trades=text)
    return with_versions(response, text) if query.ids else response


async def get_trade(request: Request, db: Connection, trade_id: int) -> Response:
    """Get a trade with its tags and checklist answers."""
    return ok(trade=await trades.get(db, request.user.id, trade_id))


async def export_trades(request: Request, db: Connection, query: ExportQuery) -> Response:
    """Download the trades that match the query in the generic CSV format, which POST /imports reads."""
    write = partial(export.write_csv, database(request), request.user.id, query)
    return Download("trades.csv", "text/csv", write)


async def create_trade(request: Request, write: Write, body: TradeCreate) -> Response:
    """Create a trade, with its tags and checklist answers.

    Multiplier, result, fees and initial risk are derived if they are left out.
    """
    point_values = await instruments.read_table(database(request).reader, request.user.id)
    draft = TradeDraft.of_body(body, point_values)

    async def create(db: Connection) -> Response:
        references = await read_references(db, request.user.id, [draft])
        owner = await users.find(db, request.user.id)
        commissions = await accounts.read_commissions(db, request.user.id)
        resolved = charge_new(references.require_allowed(references.resolved(draft)), commissions)
        await trade_annotations.require_known(
            db, request.user.id, resolved.setup_id, tag_ids=body.tag_ids, answers=body.confirmations
        )
        trade_id = await new_trades.insert(db, request.user.id, resolved, owner.timezone)
        await trade_annotations.insert_all(db, {trade_id: body})
        return created(f"/v1/trades/{trade_id}", trade=await trades.get(db, request.user.id, trade_id))

    return await write(create)


async def create_trades(request: Request, write: Write, body: TradesCreate) -> Response:
    """Create up to 1,000 trades, all or none; each error is reported under the index of its trade."""
    point_values = await instruments.read_table(database(request).reader, request.user.id)
    bodies, drafts, errors = [], [], IndexedErrors("trades")
    for index, value in enumerate(body.trades):
        with errors.at(index):
            bodies.append(decode_json(bytes(value), TradeCreate))
            drafts.append(TradeDraft.of_body(bodies[-1], point_values))
    errors.raise_if_any()
    rows: dict[int, dict[str, Any]] = {}

    async def create(db: Connection) -> Response:
        owner = await users.find(db, request.user.id)
        commissions = await accounts.read_commissions(db, request.user.id)
        references = await read_references(db, request.user.id, drafts)
        known = await trade_annotations.read_known_ids(
            db,
            request.user.id,
            [tag_id for item in bodies for tag_id in item.tag_ids],
            [answer for item in bodies for answer in item.confirmations],
        )
        for index, (item, draft) in enumerate(zip(bodies, drafts, strict=True)):
            with errors.at(index):
                resolved = charge_new(references.require_allowed(references.resolved(draft)), commissions)
                known.require_tags(item.tag_ids)
                known.require_single(item.tag_ids)
                known.require_answers(resolved.setup_id, item.confirmations)
                rows[index] = build_columns(resolved, owner.timezone)
        for index in await new_trades.find_duplicate_external_ids(db, rows):
            with errors.at(index):
                raise Conflict(fields={"external_id": "is taken"})
        errors.raise_if_any()
        trade_ids = await new_trades.insert_many(db, request.user.id, list(rows.values()))
        await trade_annotations.insert_all(db, dict(zip(trade_ids, bodies, strict=True)))
        return created("/v1/trades", trades=await trades.list_of_ids(db, request.user.id, trade_ids))

    return await write(create)


async def update_trade(request: Request, db: Connection, trade_id: int, patch: TradePatch) -> Response:
    """Update the fields sent. Changing the setup deletes the answers to the old setup's checklist.

    Answers that are sent are to the checklist of the new setup.
    """
    stored = await trades.find(db, request.user.id, trade_id)
    before = TradeDraft.of_stored(stored)
    draft = before.apply_patch(patch)
    references = await read_references(db, request.user.id, [draft])
    commissions = await accounts.read_commissions(db, request.user.id)
    changed = settle(before, draft, references, commissions)
    await require_no_circle(db, trade_id, changed.source_trade_id)
    answers = UNSET if patch.sends_back(stored.confirmations) else patch.confirmations
    await trade_annotations.require_known(db, request.user.id, changed.setup_id, tag_ids=patch.tag_ids, answers=answers)
    owner = await users.find(db, request.user.id)
    await trades.update(db, stored, changed, owner.timezone)
    await trade_annotations.replace_all(db, stored, tag_ids=patch.tag_ids, answers=answers)
    return ok(trade=await trades.get(db, request.user.id, trade_id))


def settle(before: TradeDraft, patched: TradeDraft, references: References, known: AllCommissions) -> TradeDraft:
    """Return the patched trade with complete references and its fees. Raises ValidationFailed."""
    changed = charge_changed(before, references.resolved(patched), known)
    if (changed.account_id, changed.strategy_id) != (before.account_id, before.strategy_id):
        references.require_allowed(changed)
    return changed


async def replace_tags(request: Request, db: Connection, trade_id: int, body: TradeTagsPut) -> Response:
    """Replace the tags of the trade."""
    stored = await trades.find(db, request.user.id, trade_id)
    await trade_annotations.require_known(db, request.user.id, stored.setup_id, tag_ids=body.tag_ids)
    await trade_annotations.replace_all(db, stored, tag_ids=body.tag_ids)
    return ok(trade=await trades.get(db, request.user.id, trade_id))


async def replace_answers(request: Request, db: Connection, trade_id: int, body: AnswersPut) -> Response:
    """Replace the answers to the checklist of the trade's setup."""
    stored = await trades.find(db, request.user.id, trade_id)
    answers = body.confirmations
    await trade_annotations.require_known(db, request.user.id, stored.setup_id, answers=answers)
    await trade_annotations.replace_all(db, stored, answers=answers)
    return ok(trade=await trades.get(db, request.user.id, trade_id))


async def delete_trade(request: Request, db: Connection, trade_id: int) -> Response:
    """Delete a trade; the next read of a goal's snapshots no longer counts it."""
    await trades.delete(db, request.user.id, trade_id)
    return no_content()
