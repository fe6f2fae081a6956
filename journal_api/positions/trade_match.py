"""Which trade of the journal each position is."""

from collections.abc import Mapping, Sequence
from typing import Any

from journal_api.positions.book import Position, has_new
from journal_api.positions.plans import BY_HAND, Change, Decision, StoredTrade, Suspect
from journal_api.positions.same_positions import find_extent, find_extent_of_trade, match_typed
from journal_api.values.clock import read_instant


def count_shares(position: Position) -> dict[int, int]:
    """Return the quantity of the position that is in each trade so far."""
    shares: dict[int, int] = {}
    for one, quantity in position.stated.items():
        if one.trade_id is not None:
            shares[one.trade_id] = shares.get(one.trade_id, 0) + quantity
    return shares


def assign(positions: Sequence[Position], trades: Mapping[int, StoredTrade]) -> dict[int, int]:
    """Return the trades by the number of the position that each is: the position with most of its quantity.

    A trade that opens and closes with a position is that one first: a statement may be in two trades, and
    leads to one of them. What no statement leads to is known by its opening.
    """
    claims: list[tuple[bool, int, int, int]] = []
    by_times = {find_times(trade.columns): trade_id for trade_id, trade in trades.items()}
    for number, position in enumerate(positions):
        times, shares = find_times_of_position(position), count_shares(position)
        if times in by_times:
            shares.setdefault(by_times[times], 0)
        claims += [
            (times != find_times(trades[trade_id].columns), -quantity, trade_id, number)
            for trade_id, quantity in shares.items()
            if trade_id in trades
        ]
    found: dict[int, int] = {}
    taken: set[int] = set()
    for *_, trade_id, number in sorted(claims):
        if number not in found and trade_id not in taken:
            found[number] = trade_id
            taken.add(trade_id)
    opened = {find_times(trade.columns)[:2]: one for one, trade in trades.items() if one not in taken}
    for number, position in enumerate(positions) if opened else ():
        trade_id = opened.get(find_times_of_position(position)[:2], 0)
        if trade_id and number not in found and trade_id not in taken:
            found[number] = trade_id
            taken.add(trade_id)
    return found


def find_times(columns: Mapping[str, Any]) -> tuple[str, str, str | None]:
    return columns["direction"], columns["opened_at"], columns["closed_at"]


def find_times_of_position(position: Position) -> tuple[str, str, str | None]:
    direction = "long" if position.parts[0].quantity > 0 else "short"
    closed_at = position.parts[-1].execution.at if position.is_closed else None
    return direction, position.parts[0].execution.at, closed_at


def find_typed(
    positions: Sequence[Position],
    trade_ids: Mapping[int, int],
    typed: Sequence[StoredTrade],
    new_import: int | None,
    decisions: Mapping[int, Decision],
) -> tuple[dict[int, StoredTrade], list[Suspect]]:
    """Return the typed trades by the number of the position that each is, and the positions to decide on."""
    if not typed:
        return {}, []
    found: dict[int, StoredTrade] = {}
    by_id = {trade.trade_id: trade for trade in typed}
    by_external_id = {trade.columns["external_id"]: trade for trade in typed if trade.columns["external_id"]}
    free: list[int] = []
    for number, position in enumerate(positions):
        if number in trade_ids:
            continue
        decision = next((decisions[one.line] for one in position.stated if one.line in decisions), None)
        ids = {one.statement.external_id for one in position.stated}
        chosen = by_id.get(decision) if isinstance(decision, int) else None
        chosen = chosen or next((by_external_id[one] for one in ids if one in by_external_id), None)
        if chosen is not None and chosen.trade_id in by_id:
            found[number] = by_id.pop(chosen.trade_id)
        elif decision != "new":
            free.append(number)
    rest = list(by_id.values())
    extents = [find_extent_of_trade(trade.columns) for trade in rest]
    stated = [find_extent(positions[number]) for number in free]
    matched = match_typed(extents, stated)
    found |= {free[place]: rest[number] for place, number in matched.found.items()}
    taken = {trade.trade_id for trade in found.values()}
    alone = [number for number, trade in enumerate(rest) if trade.trade_id not in taken]
    suspects = [
        Suspect(positions[free[place]], BY_HAND, rest[number])
        for place, mine in enumerate(stated)
        if free[place] not in found and new_import is not None and has_new(positions[free[place]], new_import)
        for number in alone
        if (number, place) in matched.asked
        or (extents[number].direction == mine.direction and extents[number].overlaps(mine))
    ]
    return found, suspects


def find_nearest(trade: StoredTrade, changes: Sequence[Change]) -> int:
    """Return the index of the change that opens nearest to a trade, in its direction if there is one."""
    opened, direction = read_instant(trade.columns["opened_at"]), trade.columns["direction"]
    return min(
        range(len(changes)),
        key=lambda one: (changes[one].columns["direction"] != direction, abs(changes[one].position.opened - opened)),
    )


def find_takers(positions: Sequence[Position], changes: Sequence[Change]) -> dict[int, int]:
    """Return by the id of each trade that goes the index of the change that has most of its fills."""
    best: dict[int, tuple[int, int]] = {}
    for number, change in enumerate(changes):
        for trade_id, quantity in count_shares(change.position).items():
            best[trade_id] = max(best.get(trade_id, (0, 0)), (quantity, -number))
    return {trade_id: -number for trade_id, (_, number) in best.items()}
