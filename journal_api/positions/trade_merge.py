"""Trades that are one position: which can be merged, and what they are together."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.positions.fills import SIDES, Fill, number_fills, sort_fills, summarize_whole
from journal_api.positions.trade_draft import TradeDraft, check_amount
from journal_api.structs.trades import FeesSource, Trade
from journal_api.values.money import Money
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Text

# What parts of one position have in common, and how to say so.
IN_COMMON = {
    "account_id": "must be of one account",
    "root": "must be of one symbol or contract root",
    "direction": "must be of one direction",
    "multiplier": "must have one multiplier",
}
# The origin of the fees of several parts: the first of these that any part has.
ORIGINS: tuple[FeesSource, ...] = ("typed", "file", "account", "none")


def sort_parts(trades: Sequence[Trade]) -> list[Trade]:
    """Return the trades in the order in which they opened: the first stays."""
    return sorted(trades, key=lambda trade: (trade.opened_at, trade.id))


def require_one_position(parts: Sequence[Trade]) -> None:
    """Raise ValidationFailed unless the sorted trades can be parts of one position."""
    for name, reason in IN_COMMON.items():
        if len({getattr(trade, name) for trade in parts}) > 1:
            raise ValidationFailed(fields={"ids": reason})
    until = parts[0].closed_at
    for trade in parts[1:]:
        if until is not None and trade.opened_at > until:
            reason = f"must touch or overlap in time: trade {trade.id} opened after the others had closed"
            raise ValidationFailed(fields={"ids": reason})
        until = None if until is None or trade.closed_at is None else max(until, trade.closed_at)


def find_positions(trades: Iterable[Trade]) -> list[list[Trade]]:
    """Return the closed trades that are parts of one position, two or more each, as rows of pairs are.

    Between two positions no trade is open. Fills of one second are in the order of their ids, if the trades
    have those; else the position is flat between a trade that closes and one that opens in that second.
    """
    positions: list[list[Trade]] = []
    until: tuple[str, int] | None = None
    last: tuple[object, ...] = ()
    for trade in sorted(trades, key=lambda trade: (*find_book(trade), find_places(trade))):
        opened, closed = find_places(trade)
        if find_book(trade) != last or until is None or opened >= until:
            positions.append([])
            last, until = find_book(trade), None
        positions[-1].append(trade)
        until = closed if until is None else max(until, closed)
    return [position for position in positions if len(position) > 1]


def find_book(trade: Trade) -> tuple[int, str, str, Decimal]:
    """Return what the parts of one position have in common."""
    return trade.account_id, trade.contract, trade.direction, trade.multiplier


def find_places(trade: Trade) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the places of entry and exit of a closed trade: their times, and the ids of their fills."""
    assert trade.closed_at is not None, "only closed trades are compared"
    ids = read_fill_ids(trade.external_id)
    entry, exit_ = (int(ids.get(side, 0)) for side in SIDES[trade.direction])
    return (trade.opened_at, entry), (trade.closed_at, exit_)


def build_whole(parts: Sequence[Trade]) -> TradeDraft:
    """Return the sorted trades as one. The first keeps its ids and its symbol. Raises ValidationFailed."""
    first, drafts = parts[0], [TradeDraft.of_stored(trade) for trade in parts]
    fills = join_fills(drafts)
    position = summarize_whole(fills)
    is_open = position.closed_at is None
    exit_price = None if is_open or None in [fill.price for fill in fills] else position.exit_price
    results = [draft.gross_pnl.units for draft in drafts if draft.gross_pnl is not None]
    annotated = next((trade for trade in parts if trade.setup_id), None) or next(
        (trade for trade in parts if trade.strategy_id), first
    )
    return replace(
        drafts[0],
        fills=tuple(fills),
        quantity=check_amount(position.quantity, "quantity"),
        entry_price=Money.of_units(position.entry_price),
        exit_price=None if exit_price is None else Money.of_units(exit_price),
        closed_at=None if position.closed_at is None else Timestamp.fromisoformat(position.closed_at),
        gross_pnl=None if is_open else check_amount(sum(results), "gross_pnl"),
        fees=check_amount(sum(draft.fees.units for draft in drafts), "fees"),
        fees_source=next(origin for origin in ORIGINS if origin in {draft.fees_source for draft in drafts}),
        stop_loss=next((draft.stop_loss for draft in drafts if draft.stop_loss is not None), None),
        initial_risk=next((draft.initial_risk for draft in drafts if draft.initial_risk is not None), None),
        mae=None,  # the extremes of the parts need not be the whole's
        mfe=None,
        grade=next((trade.grade for trade in parts if trade.grade), None),
        strategy_id=annotated.strategy_id,
        setup_id=annotated.setup_id,
        source_trade_id=find_original(parts),
        notes=join_notes(parts),
    )


def join_fills(drafts: Sequence[TradeDraft]) -> list[Fill]:
    """Return the fills of all parts in the order of time. A fill that several pairs share is one."""
    parts = [fill for draft in drafts for fill in name_fills(draft)]
    shared: dict[object, Fill] = {}
    for number, fill in enumerate(parts):
        key = number if fill.external_id is None else (fill.side, fill.external_id, fill.price, fill.at)
        if known := shared.get(key):
            fill = known._replace(quantity=known.quantity + fill.quantity, fees=known.fees + fill.fees)
        shared[key] = fill
    joined = number_fills(sorted(shared.values(), key=find_place))
    try:
        in_order = summarize_whole(joined).direction == drafts[0].direction
    except ValidationFailed:
        in_order = False
    # Fills of one second need not be in the order of their ids.
    return joined if in_order else number_fills(sort_fills(parts))


def name_fills(draft: TradeDraft) -> list[Fill]:
    """Return the fills of a part. A row of a pair has the ids of its fills in its external id."""
    ids = {} if len(draft.fills) > 2 else read_fill_ids(draft.external_id)
    return [fill._replace(external_id=fill.external_id or ids.get(fill.side)) for fill in draft.fills]


def find_original(parts: Sequence[Trade]) -> int | None:
    """Return the trade that the first copy among the parts copies, unless that is a part itself."""
    ids = {trade.id for trade in parts}
    originals = [trade.source_trade_id for trade in parts if trade.source_trade_id not in (None, *ids)]
    return originals[0] if originals else None


def join_notes(parts: Sequence[Trade]) -> str | None:
    """Return all notes, separated by blank lines. Raises ValidationFailed if they are too long for one."""
    notes = "\n\n".join(trade.notes for trade in parts if trade.notes)
    if len(notes) > Text.max_length:
        reason = f"have notes of {len(notes)} characters together, more than {Text.max_length}: shorten them first"
        raise ValidationFailed(fields={"ids": reason})
    return notes or None


def join_tags(parts: Sequence[Trade]) -> list[int]:
    """Return the ids of the tags of all parts."""
    return list(dict.fromkeys(tag_id for trade in parts for tag_id in trade.tag_ids))


def find_place(fill: Fill) -> tuple[str, int]:
    """Return the place of a fill in the order of time, fills of one time by their ids."""
    fill_id = fill.external_id or ""
    return fill.at, int(fill_id) if fill_id.isdecimal() else 0


def read_fill_ids(external_id: str | None) -> dict[str, str]:
    """Return the ids of two fills by their sides, of which an external id consists in Tradovate's files."""
    buy_id, _, sell_id = (external_id or "").partition("-")
    return {"buy": buy_id, "sell": sell_id} if buy_id.isdigit() and sell_id.isdigit() else {}
