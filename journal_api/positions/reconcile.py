"""What the positions of a book change in the journal.

A trade is a position, with what the trader wrote on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import json

from journal_api.errors import ValidationFailed
from journal_api.positions.book import Part, Position, find_apart, fold_book, has_new
from journal_api.positions.commissions import Commissions
from journal_api.positions.contradictions import find_contradictions, find_strangers
from journal_api.positions.fills import match_fees
from journal_api.positions.plans import Change, Decision, Journal, Plan, Refused, StoredTrade, Suspect
from journal_api.positions.position_columns import BROKER_FIELDS, FILE_COLUMNS, build_columns
from journal_api.positions.same_positions import find_shifted, unite_positions
from journal_api.positions.sources import SourceStatement, is_of
from journal_api.positions.trade_match import assign, count_shares, find_nearest, find_takers, find_typed
from journal_api.positions.trade_merge import read_fill_ids
from journal_api.values.instruments import contract_root

OTHER_FILE = "is at the time of a position that another file has added"
OTHER_ZONE = "is a position that another file has at the time of another zone"
CONTRADICTED = "is contradicted by another file of the same time"
LEFT_OUT = "is left out, as you said"
IS_NOT = "is not the trade that you said"


def reconcile(
    stated: Sequence[SourceStatement],
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
    left_out: set[SourceStatement] = set()
    strangers = frozenset(() if new_import is None else find_strangers(stated, new_import))
    while True:
        plan = build_plan([one for one in stated if one not in left_out], journal, new_import, decisions)
        found = find_left_out(plan, decisions) + ([] if force else find_undecided(plan, decisions))
        new = {one for suspect in found for one in suspect.position.stated if is_of(one, new_import)}
        if not new:
            return plan._replace(suspects=suspects, left_out=frozenset(left_out), strangers=strangers)
        suspects += found
        left_out |= new


def find_left_out(plan: Plan, decisions: Mapping[int, Decision]) -> list[Suspect]:
    """Return the positions that a person leaves out, or says to be a trade that they cannot be."""
    found: list[Suspect] = []
    for change in plan.changes if decisions else ():
        said = {decisions[one.line] for one in change.stated if one.line in decisions} - {"new"}
        if said - {change.stored and change.stored.trade_id}:
            found.append(Suspect(change.position, LEFT_OUT if "leave" in said else IS_NOT, change.stored))
    return found


def find_undecided(plan: Plan, decisions: Mapping[int, Decision]) -> list[Suspect]:
    """Return the suspects that nobody has said to be new, or to be the trade that they are in this plan."""
    trade_of = {one: change.stored.trade_id for change in plan.changes if change.stored for one in change.stated}
    return [
        suspect
        for suspect in plan.suspects
        if not any(decisions.get(one.line, "leave") in ("new", trade_of.get(one)) for one in suspect.position.stated)
    ]


def build_plan(
    stated: Sequence[SourceStatement], journal: Journal, new_import: int | None, decisions: Mapping[int, Decision]
) -> Plan:
    folded, unmatched = fold_book(stated)
    united = unite_positions(folded, find_apart(one for one in stated if one.statement.is_position))
    suspects: list[Suspect] = []
    is_met = not all(is_of(one, new_import) for one in stated)  # by what other files state
    may_be_shifted = is_met and len({one.source for one in stated}) > 1
    if new_import is not None:
        new = [position for position in folded if has_new(position, new_import)]
        for position, one, import_id in find_contradictions(stated, new) if is_met else ():
            if import_id == new_import or all(is_of(claim.stated, new_import) for claim in one.claims):
                suspects.append(Suspect(position, CONTRADICTED, find_holder(position, journal.trades)))
        suspects += [
            Suspect(position, CONTRADICTED, find_holder(position, journal.trades))
            for position in new
            if any(one.is_disputed for one in position.stated)
        ]
        for pairs, reason in (
            (united.doubles, OTHER_FILE),
            (find_shifted(united.positions) if may_be_shifted else (), OTHER_ZONE),
        ):
            suspects += [
                Suspect(mine, reason, other)
                for one in pairs
                for mine, other in (one, one[::-1])
                if has_new(mine, new_import) and not has_new(other, new_import)
            ]
    positions = [one for one in join_merged(united.positions, journal.trades) if not is_left_out(one)]
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
    lost = [trade for trade_id, trade in journal.trades.items() if trade_id not in kept]
    takers = find_takers(positions, changes) if lost else {}
    if new_import is not None:
        takers = {one.trade_id: find_nearest(one, changes) for one in lost if one.is_touched and changes} | takers
    states_new = any(new_import in one.imports for one in stated)  # an undo asks about what a person wrote
    stay = {one.trade_id for one in lost if states_new and one.is_touched} - takers.keys()
    stay |= {one.trade_id for one in lost if one.typed is not None}
    gone = [(trade, takers.get(trade.trade_id)) for trade in lost if trade.trade_id not in stay]
    restored = [trade for trade in lost if trade.trade_id in stay]
    return Plan(changes, gone, restored, unmatched, suspects + by_hand, refused)


def find_holder(position: Position, trades: Mapping[int, StoredTrade]) -> StoredTrade | None:
    """Return the trade that most of a position is in so far, None without one."""
    shares = count_shares(position)
    return trades.get(max(shares, key=lambda one: (shares[one], -one), default=0))


def is_left_out(position: Position) -> bool:
    """Return whether the owner has deleted its trade: nothing else has stated its first fill since."""
    opening = [claim.stated for claim in position.parts[0].claims]
    return all(one.is_left_out for one in [*opening, *position.positions])


def join_merged(positions: Iterable[Position], trades: Mapping[int, StoredTrade]) -> list[Position]:
    """Return the positions; those that a trade holds which its owner has merged are one."""
    if not any(trade.is_merged for trade in trades.values()):
        return list(positions)
    merged: dict[int, Position] = {}
    found: list[Position] = []
    for position in positions:
        holder = find_holder(position, trades)
        trade_id = holder.trade_id if holder and holder.is_merged else 0
        if trade_id not in merged:
            found.append(position)
            if trade_id:
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
            ids = [read_fill_ids(claim.stated.statement.external_id) for claim in part.claims]
            one.external_id = next((found[side] for found in ids if side in found), None)
        key = number if one.external_id is None else (side, one.external_id, one.price, one.at)
        known = joined.get(key)
        joined[key] = (
            part
            if known is None
            else Part(known.execution, known.quantity + part.quantity, [*known.claims, *part.claims])
        )
    return list(joined.values())


def change_trade(position: Position, stored: StoredTrade | None, commissions: Commissions) -> Change:
    """Return what a position makes of a trade. What its owner has edited stays. Raises ValidationFailed."""
    if stored is None:
        return Change(position, None, build_columns(position, commissions), (*position.stated,), [])
    own = stored.columns["multiplier"] if "multiplier" in stored.edited else None
    columns = build_columns(position, commissions, own)
    built = columns["fees"], columns["fills"]
    typed = stored.typed
    if stored.import_id is None and typed is None:
        typed = json.encode({name: stored.columns[name] for name in FILE_COLUMNS}).decode()
    known = json.decode(typed)["external_id"] if typed else None
    columns["external_id"] = known or columns["external_id"]
    stays = {*stored.edited}
    if columns["fees_source"] != "file" and stored.columns["fees_source"] == "typed":
        stays |= {"fees", "fees_source"}
    columns |= {name: stored.columns[name] for name in stays}
    sources = {stored.columns["fees_source"], columns["fees_source"]}
    charged = {"account"} if stored.import_id is None else {"account", "none"}
    if sources <= charged and not differs(stored, columns):  # by the commissions of its time
        columns |= {name: stored.columns[name] for name in ("fees", "fees_source")}
    if (columns["fees"], columns["fills"]) != built:
        columns["fills"] = match_fees(columns["fills"], columns["fees"])
    columns["root"] = contract_root(columns["symbol"])
    if columns == stored.columns:
        columns = stored.columns  # once in memory: a contract may have 100,000 trades
    changed = [name for name in BROKER_FIELDS if columns[name] != stored.columns[name]]
    return Change(position, stored, columns, (*position.stated,), changed, typed)


def differs(stored: StoredTrade, columns: Mapping[str, Any]) -> bool:
    """Return whether other sides are charged than before."""
    return any(stored.columns[name] != columns[name] for name in ("symbol", "quantity", "opened_at", "closed_at"))
