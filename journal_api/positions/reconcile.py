"""What the positions of a book change in the journal.

A trade is a position, with what the trader wrote on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import json

from journal_api.errors import ValidationFailed
from journal_api.positions.book import (
    Part,
    Position,
    Told,
    find_apart,
    find_contradictions,
    find_strangers,
    fold_book,
    read_instant,
)
from journal_api.positions.commissions import Commissions
from journal_api.positions.fills import match_fees
from journal_api.positions.meeting import (
    Extent,
    find_extent,
    find_extent_of_trade,
    find_shifted,
    match_typed,
    unite_positions,
)
from journal_api.positions.position_columns import BROKER_FIELDS, FILE_COLUMNS, build_columns
from journal_api.positions.trade_merge import read_fill_ids
from journal_api.values.instruments import contract_root

OTHER_FILE = "is at the time of a position that another file has added"
OTHER_ZONE = "is a position that another file has at the time of another zone"
CONTRADICTED = "is told otherwise by another file of the same time"
BY_HAND = "is at the time of a trade that was entered by hand"

Decision = int | Literal["new", "leave"]  # of a person about a line: it is that trade, none, or to be left out


class StoredTrade(NamedTuple):
    """A trade of the journal.

    `edited` are the columns that its owner has changed, who is right about them.
    """

    trade_id: int
    columns: dict[str, Any]
    import_id: int | None = None
    edited: tuple[str, ...] = ()
    typed: str | None = None  # the columns that its owner had typed before a file told of it, as JSON
    is_merged: bool = False
    is_touched: bool = False  # whether a person wrote anything on it
    source_trade_id: int | None = None


class Change(NamedTuple):
    """A position and the trade that it is, None if it is new.

    `columns` are those of the trade, afterwards.
    """

    position: Position
    stored: StoredTrade | None
    columns: dict[str, Any]
    told: tuple[Told, ...]  # what the position is made of
    changed: list[str]  # the fields of the verdict
    typed: str | None = None

    @property
    def is_written(self) -> bool:
        return self.stored is None or self.columns != self.stored.columns or self.typed != self.stored.typed

    @property
    def import_id(self) -> int:
        return min(import_id for told in self.told for import_id in told.imports)


class Suspect(NamedTuple):
    """A position of the file that may be in the journal already, and what it may be."""

    position: Position
    reason: str
    other: Position | StoredTrade | None

    @property
    def typed_id(self) -> int | None:
        """The id of the trade that its owner typed, if it may be one."""
        other = self.other
        return other.trade_id if isinstance(other, StoredTrade) and self.reason == BY_HAND else None


class Refused(NamedTuple):
    """A position of the file that exceeds a limit."""

    position: Position
    reason: ValidationFailed


class Plan(NamedTuple):
    """All that statements which have come or gone change in one contract."""

    changes: list[Change]
    gone: list[tuple[StoredTrade, int | None]]  # trades without a position, and the one that took their fills
    restored: list[StoredTrade]  # trades that their owner has typed, and of which no file tells any more
    unmatched: list[Part]
    suspects: list[Suspect]
    refused: list[Refused]
    left_out: frozenset[Told] = frozenset()  # of the file, because they are suspect
    strangers: frozenset[int] = frozenset()  # imports that are of another account, unless the file is


class Journal(NamedTuple):
    """What the journal has of a contract.

    The trades that statements are in, and those that its owner typed.
    """

    trades: Mapping[int, StoredTrade]
    typed: Sequence[StoredTrade]
    commissions: Commissions


def reconcile(
    told: Sequence[Told],
    journal: Journal,
    new_import: int | None = None,
    *,
    force: bool = False,
    decisions: Mapping[int, Decision] = {},
) -> Plan:
    """Return what the statements of a contract change.

    Those of the new import that are suspect are left out.
    """
    suspects: list[Suspect] = []
    left_out: set[Told] = set()
    strangers = frozenset(() if new_import is None else find_strangers(told, new_import))
    while True:
        plan = build_plan([one for one in told if one not in left_out], journal, new_import, decisions)
        found = [one for one in plan.suspects if not (force or is_decided(one, decisions))]
        new = {one for suspect in found for one in suspect.position.told if is_of(one, new_import)}
        if not new:
            return plan._replace(suspects=suspects, left_out=frozenset(left_out), strangers=strangers)
        suspects += found
        left_out |= new


def is_of(told: Told, import_id: int | None) -> bool:
    """Return whether only the new file states it."""
    return told.imports == (import_id,)


def is_decided(suspect: Suspect, decisions: Mapping[int, Decision]) -> bool:
    return any(decisions.get(one.line) not in (None, "leave") for one in suspect.position.told)


def build_plan(
    told: Sequence[Told], journal: Journal, new_import: int | None, decisions: Mapping[int, Decision]
) -> Plan:
    folded, unmatched = fold_book(told)
    meeting = unite_positions(folded, find_apart(one for one in told if one.statement.is_position))
    suspects: list[Suspect] = []
    if new_import is not None:
        for position, one, import_id in find_contradictions(told, folded):
            if has_new(position, new_import) and (import_id == new_import or is_told_by(one.claims, new_import)):
                suspects.append(Suspect(position, CONTRADICTED, find_holder(position, journal)))
        suspects += [
            Suspect(position, CONTRADICTED, find_holder(position, journal))
            for position in folded
            if has_new(position, new_import) and any(one.is_disputed for one in position.told)
        ]
        for pairs, reason in ((meeting.doubles, OTHER_FILE), (find_shifted(meeting.positions), OTHER_ZONE)):
            suspects += [
                Suspect(mine, reason, other)
                for one in pairs
                for mine, other in (one, one[::-1])
                if has_new(mine, new_import) and not has_new(other, new_import)
            ]
    positions = [one for one in join_merged(meeting.positions, journal.trades) if not is_left_out(one)]
    trade_ids = assign(positions, journal.trades)
    typed, by_hand = find_typed(positions, trade_ids, journal.typed, new_import, decisions)
    changes: list[Change] = []
    refused: list[Refused] = []
    for number, position in enumerate(positions):
        stored = typed.get(number) or journal.trades.get(trade_ids.get(number, 0))
        try:
            changes.append(change_trade(position, stored, journal.commissions))
        except ValidationFailed as error:
            refused.append(Refused(position, error))
    kept = {change.stored.trade_id for change in changes if change.stored}
    takers = find_takers(positions, changes)
    lost = [trade for trade_id, trade in journal.trades.items() if trade_id not in kept]
    if new_import is not None:  # an undo asks about what a person wrote
        takers = {one.trade_id: find_nearest(one, changes) for one in lost if one.is_touched and changes} | takers
    gone = [(trade, takers.get(trade.trade_id)) for trade in lost if trade.typed is None]
    restored = [trade for trade in lost if trade.typed is not None]
    return Plan(changes, gone, restored, unmatched, suspects + by_hand, refused)


def find_holder(position: Position, journal: Journal) -> StoredTrade | None:
    """Return the trade that most of a position is in so far, None without one."""
    shares = count_shares(position)
    return journal.trades.get(max(shares, key=lambda one: (shares[one], -one), default=0))


def has_new(position: Position, new_import: int) -> bool:
    return any(is_of(one, new_import) for one in position.told)


def is_told_by(claims: Iterable[Any], new_import: int) -> bool:
    return all(is_of(claim.told, new_import) for claim in claims)


def is_left_out(position: Position) -> bool:
    """Return whether the owner has deleted its trade: nothing else has told of its first fill since."""
    opening = [claim.told for claim in position.parts[0].claims]
    return all(one.is_left_out for one in [*opening, *position.positions])


def join_merged(positions: Iterable[Position], trades: Mapping[int, StoredTrade]) -> list[Position]:
    """Return the positions; those that a trade holds which its owner has merged are one."""
    merged: dict[int, Position] = {}
    found: list[Position] = []
    for position in positions:
        shares = count_shares(position)
        trade_id = max(shares, key=lambda one: (shares[one], -one), default=0)
        trade = trades.get(trade_id)
        if trade is None or not trade.is_merged or trade_id not in merged:
            found.append(position)
            if trade is not None and trade.is_merged:
                merged[trade_id] = position
            continue
        whole = merged[trade_id]
        parts = sorted([*whole.parts, *position.parts], key=lambda part: (part.execution.instant, part.execution.place))
        whole.parts, whole.is_closed = parts, whole.is_closed and position.is_closed
        whole.positions += position.positions
    for whole in merged.values():
        whole.parts = join_shared(whole.parts)
    return found


def join_shared(parts: Iterable[Part]) -> list[Part]:
    """Return the parts of a merged trade; a fill that several of its rows share is one."""
    joined: dict[object, Part] = {}
    for number, part in enumerate(parts):
        one, side = part.execution, "buy" if part.quantity > 0 else "sell"
        if one.external_id is None:
            ids = [read_fill_ids(claim.told.statement.external_id) for claim in part.claims]
            one.external_id = next((found[side] for found in ids if side in found), None)
        key = number if one.external_id is None else (side, one.external_id, one.price, one.at)
        known = joined.get(key)
        joined[key] = (
            part
            if known is None
            else Part(known.execution, known.quantity + part.quantity, [*known.claims, *part.claims])
        )
    return list(joined.values())


def count_shares(position: Position) -> dict[int, int]:
    """Return the quantity of the position that is in each trade so far."""
    shares: dict[int, int] = {}
    for one, quantity in position.told.items():
        if one.trade_id is not None:
            shares[one.trade_id] = shares.get(one.trade_id, 0) + quantity
    return shares


def assign(positions: Sequence[Position], trades: Mapping[int, StoredTrade]) -> dict[int, int]:
    """Return the trades by the number of the position that each is: the one that has most of its quantity.

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
        decision = next((decisions[one.line] for one in position.told if one.line in decisions), None)
        ids = {one.statement.external_id for one in position.told}
        chosen = by_id.get(decision) if isinstance(decision, int) else None
        chosen = chosen or next((by_external_id[one] for one in ids if one in by_external_id), None)
        if chosen is not None and chosen.trade_id in by_id:
            found[number] = by_id.pop(chosen.trade_id)
        elif decision != "new":
            free.append(number)
    rest = list(by_id.values())
    extents = [find_extent_of_trade(trade.columns) for trade in rest]
    told = [find_extent(positions[number]) for number in free]
    matched = match_typed(extents, told)
    found |= {free[place]: rest[number] for place, number in matched.found.items()}
    taken = {trade.trade_id for trade in found.values()}
    alone = [number for number, trade in enumerate(rest) if trade.trade_id not in taken]
    suspects = [
        Suspect(positions[free[place]], BY_HAND, rest[number])
        for place, mine in enumerate(told)
        if free[place] not in found and new_import is not None and has_new(positions[free[place]], new_import)
        for number in alone
        if (number, place) in matched.asked or may_double(extents[number], mine)
    ]
    return found, suspects


def may_double(typed: Extent, told: Extent) -> bool:
    return typed.direction == told.direction and typed.overlaps(told)


def change_trade(position: Position, stored: StoredTrade | None, commissions: Commissions) -> Change:
    """Return what a position makes of a trade. What its owner has edited stays. Raises ValidationFailed."""
    if stored is None:
        return Change(position, None, build_columns(position, commissions), (*position.told,), [])
    own = stored.columns["multiplier"] if "multiplier" in stored.edited else None
    columns = build_columns(position, commissions, own)
    typed = stored.typed
    if stored.import_id is None and typed is None:
        typed = encode_typed(stored.columns)
    known = json.decode(typed)["external_id"] if typed else None
    columns["external_id"] = known or columns["external_id"]
    stays = {*stored.edited}
    if columns["fees_source"] != "file" and stored.columns["fees_source"] == "typed":
        stays |= {"fees", "fees_source"}
    columns |= {name: stored.columns[name] for name in stays}
    columns["fills"] = match_fees(columns["fills"], columns["fees"])
    if stored.columns["fees_source"] == columns["fees_source"] == "account" and not differs(stored, columns):
        columns |= {name: stored.columns[name] for name in ("fees", "fills")}  # by the commissions of its time
    columns["root"], columns["contract"] = contract_root(columns["symbol"]), columns["contract"]
    changed = [name for name in BROKER_FIELDS if columns[name] != stored.columns[name]]
    return Change(position, stored, columns, (*position.told,), changed, typed)


def differs(stored: StoredTrade, columns: Mapping[str, Any]) -> bool:
    """Return whether other sides are charged than before."""
    return any(stored.columns[name] != columns[name] for name in ("symbol", "quantity", "opened_at", "closed_at"))


def encode_typed(columns: Mapping[str, Any]) -> str:
    return json.encode({name: columns[name] for name in FILE_COLUMNS}).decode()


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
