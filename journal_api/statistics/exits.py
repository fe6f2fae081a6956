"""What an additional stop or an additional target would have made of decisions (docs/statistics.md#exits).

Amounts are integers of 10^-8, in R or in money. In a cell a decision is as it was, stopped, or at its target;
one that reached both is stopped at the low end and at its target at the high end. What cells need is summed
once over the decisions between two neighbouring stops and targets.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, product
from operator import add, ne, sub
from typing import NamedTuple

from msgspec import json

from journal_api.metrics import inference
from journal_api.metrics.by_day import multiply
from journal_api.statistics.edge import MAX_RATE
from journal_api.values.money import SCALE, decimal_json

Row = list[int]
# Of a row: the number of decisions and the sums of the first three powers of their results before fees; the
# number and the sum in the first half. Then their number on each day, and their sum on each day.
SCALARS = 6


class Decision(NamedTuple):
    """What a decision made before fees, its fees, how far it went against the trader and in favour.

    With an exit at a level, it is a win if the level is above `even`.
    """

    day: str
    gross: int
    fees: int
    mae: int
    mfe: int
    even: int
    is_win: bool


class Ends(NamedTuple):
    """The value at the low end and at the high end."""

    low: int
    high: int

    def plus(self, amount: int) -> "Ends":
        return Ends(self.low + amount, self.high + amount)

    def divide(self, by: int) -> "Ends":
        return Ends(*(round(Fraction(one, by)) for one in self))


class Cell(NamedTuple):
    """A stop and a target, None for none, and by how much they change the results of decisions."""

    stop: int | None
    target: int | None
    changed: int
    either: int
    wins: Ends
    total: Ends
    interval: Ends | None
    p: float | None
    # Of the first half: the number of changed decisions, and the change.
    first_changed: int
    first_total: Ends


def build_exits(
    unit: str, decisions: Sequence[Decision], without: int, stops: Sequence[int], targets: Sequence[int]
) -> str:
    """Return the exits as JSON."""
    size = len(decisions)
    net_pnl, wins = sum(one.gross - one.fees for one in decisions), sum(one.is_win for one in decisions)
    cells = list(compute_cells(decisions, stops, targets))
    rates = iter(inference.benjamini_hochberg([cell.p for cell in cells if cell.p is not None]))
    return json.encode(
        {
            "unit": unit,
            "decisions": size,
            "without_excursions": without,
            "as_it_was": {
                "expectancy": decimal_json(round(Fraction(net_pnl, size))) if size else None,
                "net_pnl": decimal_json(net_pnl),
                "win_rate": decimal_json(round(Fraction(100 * SCALE * wins, size))) if size else None,
            },
            "cells": [build_cell(cell, size, net_pnl, None if cell.p is None else next(rates)) for cell in cells],
            "halves": build_halves(cells, size),
        }
    ).decode()


def build_cell(cell: Cell, size: int, net_pnl: int, q: float | None) -> dict[str, object]:
    total = cell.total.plus(net_pnl)
    wins = Ends(*(100 * SCALE * one for one in cell.wins))
    difference = cell.total.divide(size) if size else None
    return {
        "stop": decimal_json(cell.stop),
        "target": decimal_json(cell.target),
        "expectancy": build_ends(total.divide(size) if size else None),
        "net_pnl": build_ends(total),
        "win_rate": build_ends(wins.divide(size) if size else None),
        "changed": cell.changed,
        "either": cell.either,
        "difference": {
            **(build_ends(difference) or {"low": None, "high": None}),
            "interval": build_ends(cell.interval),
            "p": cell.p,
            "q": q,
            "verdict": judge(cell, q),
        },
    }


def judge(cell: Cell, q: float | None) -> inference.ExitVerdict:
    if cell.p is None:
        return "too_few"
    if q is None or q > MAX_RATE or cell.total.low <= 0 <= cell.total.high:
        return "not_shown"
    return "better" if cell.total.low > 0 else "worse"


def build_halves(cells: Sequence[Cell], size: int) -> dict[str, object] | None:
    """Return the best cell of the first half, by its low end, beside the second half."""
    first, second = size // 2, size - size // 2
    known = [cell for cell in cells if cell.first_changed >= inference.MIN_DECISIONS]
    if not known:
        return None
    best = max(known, key=lambda cell: cell.first_total.low)
    rest = Ends(*map(sub, best.total, best.first_total))
    return {
        "stop": decimal_json(best.stop),
        "target": decimal_json(best.target),
        "first": build_ends(best.first_total.divide(first)),
        "second": build_ends(rest.divide(second)),
    }


def build_ends(ends: Ends | None) -> dict[str, object] | None:
    return {"low": decimal_json(ends.low), "high": decimal_json(ends.high)} if ends else None


# Sums ----------------------------------------------------------------------------------------------------


def sum_up(decisions: Sequence[Decision], stops: Sequence[int], targets: Sequence[int]) -> list[list[Row]]:
    """Return the row of the decisions that reach none of the stops from the a-th on and none of the targets
    from the b-th on, for each a and b; with both beyond the last, of all decisions."""
    days = {day: place for place, day in enumerate(dict.fromkeys(one.day for one in decisions), SCALARS)}
    count, half = len(days), len(decisions) // 2
    table = [[[0] * (SCALARS + 2 * count) for _ in range(len(targets) + 1)] for _ in range(len(stops) + 1)]
    for number, (day, gross, _, mae, mfe, *_) in enumerate(decisions):
        row, place = table[bisect_right(stops, mae)][bisect_right(targets, mfe)], days[day]
        row[place] += 1
        row[place + count] += gross
        square = gross * gross
        row[2] += square
        row[3] += square * gross
        if number < half:
            row[4] += 1
            row[5] += gross
    for row in (row for line in table for row in line):
        row[:2] = sum(row[SCALARS : SCALARS + count]), sum(row[SCALARS + count :])
    columns = zip(*(accumulate(line, add_rows) for line in table), strict=True)
    return [list(line) for line in zip(*(accumulate(one, add_rows) for one in columns), strict=True)]


def add_rows(one: Row, other: Row) -> Row:
    return list(map(add, one, other))


def compute_cells(decisions: Sequence[Decision], stops: Sequence[int], targets: Sequence[int]) -> Iterator[Cell]:
    """Yield a cell for each stop with each target, and for each of both alone."""
    rows = sum_up(decisions, stops, targets)
    kinds = count_kinds(decisions, stops, targets)
    every = rows[-1][-1]
    for (a, stop), (b, target) in product(enumerate([*stops, None]), enumerate([*targets, None])):
        if stop is None and target is None:
            continue
        at, no_stop, no_target = rows[a][b], rows[-1][b], rows[a][-1]
        levels = -(stop or 0), target or 0
        either = every[0] - no_stop[0] - no_target[0] + at[0]
        low, low_first = sum_end(every, at, levels, (every, no_target), (no_target, at))
        high, high_first = sum_end(every, at, levels, (no_stop, at), (every, no_stop)) if either else (low, low_first)
        changed_days = sum(map(ne, read_days(every), read_days(at)))
        is_known = every[0] - at[0] >= inference.MIN_DECISIONS and changed_days >= inference.MIN_DAYS
        yield Cell(
            stop,
            target,
            changed=every[0] - at[0],
            either=either,
            wins=count_wins(kinds, a, b),
            total=Ends(low.total, high.total),
            interval=join_intervals(low, high) if is_known else None,
            p=find_p(low, high) if is_known else None,
            first_changed=every[4] - at[4],
            first_total=Ends(low_first, high_first),
        )


def read_days(row: Row) -> Row:
    """Return the number of decisions on each day."""
    return row[SCALARS : (SCALARS + len(row)) // 2]


def sum_end(every: Row, at: Row, levels: tuple[int, int], *leaving: tuple[Row, Row]) -> tuple[inference.Sample, int]:
    """Return the sample of the changes of all decisions, and the change of the first half.

    The decisions that leave at a level are those of one row that are not in another one.
    """
    size, days = every[0], read_days(every)
    total = of_squares = of_cubes = first = 0
    for level, (more, less) in zip(levels, leaving, strict=True):
        number, gross, squares, cubes, first_number, first_gross = map(sub, more[:SCALARS], less[:SCALARS])
        total += level * number - gross
        of_squares += level * (level * number - 2 * gross) + squares
        of_cubes += level * (level * (level * number - 3 * gross) + 3 * squares) - cubes
        first += level * first_number - first_gross
    (stop, target), rows = levels, (one for pair in leaving for one in pair)
    changes = [
        stop * (stopped - not_stopped) + target * (reached - not_reached) - was + is_now
        for stopped, not_stopped, reached, not_reached, was, is_now in zip(
            *map(read_days, rows), *(one[SCALARS + len(days) :] for one in (every, at)), strict=True
        )
    ]
    by_day = inference.DaySums(len(days), multiply(changes, changes), multiply(changes, days), multiply(days, days))
    return inference.Sample(size, total, of_squares, of_cubes, by_day), first


def join_intervals(low: inference.Sample, high: inference.Sample) -> Ends | None:
    """Return the interval from the lower end of the low mean's to the upper end of the high mean's."""
    below, above = inference.mean_interval(low), inference.mean_interval(high)
    return None if isinstance(below, str) or isinstance(above, str) else Ends(below.low, above.high)


def find_p(low: inference.Sample, high: inference.Sample) -> float:
    """Return the p of the end that is nearer to no change, 1 if no change is between both ends."""
    if low.total <= 0 <= high.total:
        return 1.0
    return inference.mean_p_value(low if low.total > 0 else high)


# Wins ----------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """How many stops and targets a decision reaches, whether it is a win as it was, how many of the stops
    leave a win (fees may be negative), and how many of the targets leave none."""

    stops: int
    targets: int
    is_win: bool
    winning_stops: int
    even_targets: int

    def wins(self, a: int, b: int) -> tuple[bool, bool]:
        """Return whether it wins with the a-th stop and the b-th target, at the low and at the high end."""
        stopped, reached = a < self.winning_stops, b >= self.even_targets
        if a < self.stops and b < self.targets:
            return stopped, reached
        wins = stopped if a < self.stops else reached if b < self.targets else self.is_win
        return wins, wins


def count_kinds(decisions: Sequence[Decision], stops: Sequence[int], targets: Sequence[int]) -> Counter[Kind]:
    counts = Counter(
        (
            bisect_right(stops, mae),
            bisect_right(targets, mfe),
            is_win,
            bisect_left(stops, -even),
            bisect_right(targets, even),
        )
        for _, _, _, mae, mfe, even, is_win in decisions
    )
    return Counter({Kind(*one): number for one, number in counts.items()})


def count_wins(kinds: Counter[Kind], a: int, b: int) -> Ends:
    low = high = 0
    for kind, number in kinds.items():
        wins_low, wins_high = kind.wins(a, b)
        low += number * wins_low
        high += number * wins_high
    return Ends(low, high)
