"""Finds the positions of a copy group's followers that copy positions of its master (docs/imports.md#copies).

What is uncertain is left alone: a wrong link makes one decision of two.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from journal_api.structs.copy_groups import AmbiguousCopy, CopyCandidate
from journal_api.structs.trades import Direction
from journal_api.values.clock import SECOND, read_instant
from journal_api.values.instruments import full_size_contract
from journal_api.values.money import SCALE, from_units

# Positions of the master so many times `copy_seconds` away are still compared with the nearest one.
COMPARED = 2


# The full-size contract and the direction: what a position and its copies have in common.
Market = tuple[str, str]


class CopyRules(NamedTuple):
    """What a copy is in a group. `multipliers` has the quantity multiplier of every member."""

    master_account_id: int
    copy_seconds: int
    any_quantity: bool
    multipliers: dict[int, int]


class CopyPosition(NamedTuple):
    """A position of a member. Only a free one may be linked: the trader has not decided what it copies."""

    trade_id: int
    account_id: int
    symbol: str
    contract: str
    root: str
    direction: Direction
    quantity: int
    multiplier: int
    opened_at: str
    closed_at: str | None
    source_trade_id: int | None
    is_free: bool | int

    @property
    def original_id(self) -> int:
        return self.source_trade_id or self.trade_id

    @property
    def opened(self) -> int:
        return read_instant(self.opened_at)

    @property
    def market(self) -> Market:
        return full_size_contract(self.contract, self.root), self.direction

    def with_columns(self, columns: Mapping[str, Any]) -> "CopyPosition":
        """Return the position with other columns."""
        return self._replace(**{name: columns[name] for name in self._fields if name in columns})


class Ambiguous(NamedTuple):
    """A position and the positions of another account that may be its original, or its copy."""

    position: CopyPosition
    candidates: list[CopyPosition]


class CopyMatches(NamedTuple):
    """Pairs of copy and id of its original, and what is left alone."""

    links: list[tuple[int, int]]
    ambiguous: list[Ambiguous]


def match_copies(
    rules: CopyRules, positions: Iterable[CopyPosition], changed: Container[int] | None = None
) -> CopyMatches:
    """Return the copies among the free positions of followers.

    With `changed`, the ids of some trades, only matches that have one of them are returned.
    """
    in_order = sorted(positions, key=lambda position: (position.opened_at, position.trade_id))
    matches = CopyMatcher(rules, in_order).settle()
    return matches if changed is None else keep_changed(matches, changed)


class CopyMatcher:
    """The positions of a group in the order of time, and the positions that followers claim as originals."""

    def __init__(self, rules: CopyRules, positions: Sequence[CopyPosition]) -> None:
        self.rules = rules
        self.masters: defaultdict[Market, list[CopyPosition]] = defaultdict(list)
        # The copies by the id of the original and their account, linked or not.
        self.claims: defaultdict[tuple[int, int], list[CopyPosition]] = defaultdict(list)
        # The followers' positions without a claim, by account and market.
        self.spare: defaultdict[tuple[int, Market], list[CopyPosition]] = defaultdict(list)
        self.ambiguous: list[Ambiguous] = []
        followers = []
        for position in positions:
            if position.account_id == rules.master_account_id:
                self.masters[position.market].append(position)
            elif position.account_id in rules.multipliers:
                followers.append(position)
        for follower in followers:
            self.claim_original(follower)

    def claim_original(self, follower: CopyPosition) -> None:
        """Let a follower's position claim its original."""
        if follower.source_trade_id is not None:
            self.claims[follower.source_trade_id, follower.account_id].append(follower)
        elif follower.is_free:
            candidates = find_originals(self.rules, follower, self.masters[follower.market])
            if len(candidates) == 1:
                self.claims[candidates[0].original_id, follower.account_id].append(follower)
                return
            self.spare[follower.account_id, follower.market].append(follower)
            if candidates:
                self.ambiguous.append(Ambiguous(follower, candidates))

    def settle(self) -> CopyMatches:
        """Link the only position of an account that claims an original, unless it may be another one's."""
        masters = {master.original_id: master for group in self.masters.values() for master in group}
        matches = CopyMatches([], self.ambiguous.copy())
        for (original_id, _), copies in self.claims.items():
            if all(copy.source_trade_id is not None for copy in copies):
                continue
            original = masters[original_id]
            if len(copies) > 1:
                matches.ambiguous.append(Ambiguous(original, copies))
            elif others := self.find_exchange(copies[0], original):
                matches.ambiguous.append(Ambiguous(copies[0], [original, *others]))
            else:
                matches.links.append((copies[0].trade_id, original_id))
        return matches

    def find_exchange(self, copy: CopyPosition, original: CopyPosition) -> list[CopyPosition]:
        """Return originals without a copy that it may be of, if a copy without one may be of its original.

        So it is when copies are late, each nearer to the next position of the master than to its own.
        """
        spare = find_near(self.rules, original, self.spare[copy.account_id, copy.market])
        if not any(fits_quantity(self.rules, original, other) for other in spare):
            return []
        return [
            master
            for master in find_near(self.rules, copy, self.masters[copy.market])
            if (master.original_id, copy.account_id) not in self.claims and fits_quantity(self.rules, master, copy)
        ]


def keep_changed(matches: CopyMatches, changed: Container[int]) -> CopyMatches:
    """Return the matches that have a changed trade."""
    return CopyMatches(
        [link for link in matches.links if any(trade_id in changed for trade_id in link)],
        [
            ambiguous
            for ambiguous in matches.ambiguous
            if any(one.trade_id in changed for one in (ambiguous.position, *ambiguous.candidates))
        ],
    )


def find_originals(rules: CopyRules, copy: CopyPosition, masters: Sequence[CopyPosition]) -> list[CopyPosition]:
    """Return the position of the master that it copies: none, one, or several that it may be."""
    limit = rules.copy_seconds * SECOND
    fitting = [master for master in find_near(rules, copy, masters) if fits_quantity(rules, master, copy)]
    near = [master for master in fitting if measure_distance(copy, master) <= limit]
    if not near:
        return []
    nearest = min(near, key=lambda master: (is_sibling(copy, master), measure_distance(copy, master)))
    return [nearest, *(other for other in fitting if other != nearest and are_rivals(copy, nearest, other))]


def find_near(rules: CopyRules, position: CopyPosition, others: Sequence[CopyPosition]) -> Sequence[CopyPosition]:
    """Return the positions, of some in the order of time, that are compared with a position."""
    seconds = COMPARED * rules.copy_seconds * SECOND
    begin = bisect_left(others, position.opened - seconds, key=lambda other: other.opened)
    return others[begin : bisect_right(others, position.opened + seconds, key=lambda other: other.opened)]


def are_rivals(copy: CopyPosition, nearest: CopyPosition, other: CopyPosition) -> bool:
    """Return whether the copy may be one of the other position too.

    Many files state whole seconds, so a difference of one is none. The nearest position is doubted if the
    other one closed nearer to the copy. A sibling contract has to be nearer than the contract itself.
    """
    further = measure_distance(copy, other) - measure_distance(copy, nearest)
    if is_sibling(copy, other) and not is_sibling(copy, nearest):
        return further < -SECOND
    return further <= SECOND or measure_closing_distance(copy, nearest) - measure_closing_distance(copy, other) > SECOND


def measure_distance(copy: CopyPosition, master: CopyPosition) -> int:
    """Return the microseconds between their openings."""
    return abs(copy.opened - master.opened)


def measure_closing_distance(copy: CopyPosition, master: CopyPosition) -> float:
    """Return the microseconds between their closings: none if both are open."""
    if copy.closed_at is None or master.closed_at is None:
        return 0 if copy.closed_at is master.closed_at else inf
    return abs(read_instant(copy.closed_at) - read_instant(master.closed_at))


def is_sibling(copy: CopyPosition, master: CopyPosition) -> bool:
    """Return whether one of two contracts of the same market is the micro or mini of the other."""
    return copy.contract != master.contract


def fits_quantity(rules: CopyRules, master: CopyPosition, copy: CopyPosition) -> bool:
    """Return whether the copy has the master's quantity times the multiplier of its account.

    A sibling has as many contracts, or contracts worth as much.
    """
    if rules.any_quantity:
        return True
    multiplier = rules.multipliers[copy.account_id]
    if is_quantity(copy.quantity, master.quantity * multiplier, SCALE):
        return True
    value = master.quantity * multiplier * master.multiplier
    return is_sibling(copy, master) and is_quantity(copy.quantity, value, SCALE * copy.multiplier)


def is_quantity(quantity: int, numerator: int, denominator: int) -> bool:
    """Return whether a quantity is that fraction; one and a half contracts are one or two."""
    if quantity * denominator == numerator:
        return True
    whole = numerator // (denominator * SCALE) * SCALE
    return whole * denominator != numerator and quantity in (whole, whole + SCALE)


def describe_ambiguous(ambiguous: Iterable[Ambiguous], last_trade_id: int | None = None) -> list[AmbiguousCopy]:
    """Return what is left alone as a response has it. In a dry run later trades have no id yet."""

    def describe(position: CopyPosition) -> CopyCandidate:
        is_stored = last_trade_id is None or position.trade_id <= last_trade_id
        return CopyCandidate(
            trade_id=position.trade_id if is_stored else None,
            account_id=position.account_id,
            symbol=str(position.symbol),
            direction=position.direction,
            quantity=from_units(position.quantity),
            opened_at=position.opened_at,
        )

    return [
        AmbiguousCopy(trade=describe(one.position), candidates=[describe(other) for other in one.candidates])
        for one in ambiguous
    ]
