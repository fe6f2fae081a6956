"""Reports with two keys, beside an earlier range, and exits, from the pages of docs alone, as reference.py.

A part of a decision is what it has in one account or period, where a key is by trade.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import inference
from reference import (
    ANSWERS,
    BY_TRADE,
    EARLIER,
    REPORTED,
    Decision,
    Journal,
    Query,
    Row,
    Trade,
    compare_sides,
    compute_report,
    decisions_of,
    find_key,
    find_keys,
    group_rows,
    in_time,
    place_decisions,
    rank,
    rounded,
    select_rows,
    show_group,
    show_shape,
)

Pair = tuple[Any, Any]


# Two keys ------------------------------------------------------------------------------------------------


def compute_pairs(journal: Journal, group_by: tuple[str, str], query: Query) -> dict[str, Any]:
    """The total and the groups of two keys in their order, without names."""
    journal = journal.of_category(query)
    rows = select_rows(journal, query)
    split = split_decisions(journal, rows, group_by)
    keys = [list_pairs(journal, query, rows, group_by, *both) for both in split]
    asked = "confirmation" in group_by
    found = {}
    for pair in {pair for pairs in keys for pair, _ in pairs}:
        sides = {
            answer: [one for (one, _), pairs in zip(split, keys, strict=True) if (pair, answer) in pairs]
            for answer in (ANSWERS.values() if asked else ["all"])
        }
        has_it = sides["present" if asked else "all"]
        others = sides["absent"] if asked else [one for one, _ in split if one not in has_it]
        edges = {name: compare_sides(journal, has_it, others, is_r=name == "edge_r") for name in ("edge", "edge_r")}
        shown = {name: show_group(journal, rows_of(journal, one), REPORTED) for name, one in sides.items()}
        place = rank(journal, pair, rows_of(journal, has_it), group_by, query.get("sort"))
        found[pair] = place, {"keys": list(pair), **(shown if asked else shown["all"]), **edges}
    for name in ("edge", "edge_r"):
        inference.judge({pair: group[name] for pair, (_, group) in found.items()}, {key: {} for key in found}, {})
    groups = [group for _, group in sorted(found.values(), key=lambda one: one[0])]
    shape = {"distribution": show_shape(journal, rows)} if "with" in query else {}
    return {"total": show_group(journal, rows, REPORTED), "groups": groups, **shape}


def rows_of(journal: Journal, decisions: list[Decision]) -> list[Row]:
    """The trades of decisions in their order, each with its trading day."""
    trades = [trade for one in decisions for trade in one.trades]
    return sorted([(journal.day_of(one.closed_at, one.account_id), one) for one in trades], key=in_time)


def split_decisions(journal: Journal, rows: list[Row], group_by: tuple[str, str]) -> list[tuple[Decision, Decision]]:
    """The parts of decisions by the keys that are by trade, each with the whole decision."""
    by_trade = [key for key in group_by if key in BY_TRADE]
    whole = {one.id: one for one in decisions_of(journal, rows)}
    split: dict[Any, list[Row]] = {}
    for day, trade in rows:
        split.setdefault(tuple(find_key(journal, day, trade, key) for key in by_trade), []).append((day, trade))
    return [(one, whole[one.id]) for part in split.values() for one in decisions_of(journal, part)]


def list_pairs(
    journal: Journal, query: Query, rows: list[Row], group_by: tuple[str, str], part: Decision, whole: Decision
) -> list[tuple[Pair, str]]:
    """The pairs of keys of a part, each with the answer to the confirmation, or `all`."""
    days = {trade.id: day for day, trade in rows}
    found = []
    for key in group_by:
        if key in BY_TRADE:
            one = part.trades[0]
            found.append([find_key(journal, days[one.id], one, key)])
        elif key in EARLIER:
            found.append([place_decisions(journal, query, key)[whole.id]])
        elif key == "rules":
            mistakes = [tag for one in whole.trades for tag in one.tags]
            marked = replace(part.representative, tags=set(mistakes))
            found.append(list(find_keys(journal, days, Decision(part.day, [marked], part.currencies), key)))
        else:
            found.append(list(find_keys(journal, days, whole if key in ("tag", "category") else part, key)))
    first, second = ([one if isinstance(one, tuple) else (one, "all") for one in keys] for keys in found)
    return [
        ((one, other), answer if answer != "all" else other_answer)
        for one, answer in first
        for other, other_answer in second
    ]


# Before and beside ---------------------------------------------------------------------------------------


def compute_compared(journal: Journal, group_by: str, query: Query, other: Query) -> dict[str, Any]:
    """The report of the query, the total and each group beside those of the other one."""
    report, journal = compute_report(journal, group_by, query), journal.of_category(query)
    now, before = (group_rows(journal, select_rows(journal, one), group_by, one) for one in (query, other))
    add_before(journal, [(report["total"], select_rows(journal, query), select_rows(journal, other))])
    answer = [(group["key"], "present") if group_by == "confirmation" else group["key"] for group in report["groups"]]
    pairs = [(now.get(key, []), before.get(key, [])) for key in answer]
    add_before(journal, [(group, *pair) for group, pair in zip(report["groups"], pairs, strict=True)])
    return report


def add_before(journal: Journal, table: list[tuple[Any, list[Row], list[Row]]]) -> None:
    for group, now, before in table:
        shown = show_group(journal, before, REPORTED)
        count = len(decisions_of(journal, before))
        beside = {"values": shown["values"], "intervals": shown["intervals"], "trade_count": count}
        group["before"] = beside if before else None
        sides = [decisions_of(journal, rows) for rows in (now, before)]
        group["difference"] = compare_sides(journal, *sides, is_r=False)
    inference.judge(
        {number: group["difference"] for number, (group, *_) in enumerate(table)},
        {number: {} for number in range(len(table))},
        {},
    )


# Exits ---------------------------------------------------------------------------------------------------

Levels = list[Fraction]
Cell = tuple[Fraction | None, Fraction | None]


def compute_exits(journal: Journal, query: Query, unit: str, stops: Levels, targets: Levels) -> dict[str, Any] | None:
    """What additional stops and targets would have made of decisions, None for money in two currencies."""
    rows = select_rows(journal, query)
    known = [
        (day, reach_result(one))
        for day, one in rows
        if one.mae is not None and one.mfe is not None and (unit == "currency" or one.risk is not None)
    ]
    decisions = decisions_of(journal, known)
    if unit == "currency" and len(journal.currencies_of(one.account_id for _, one in known)) > 1:
        return None
    size, half = len(decisions), len(decisions) // 2
    was: list[Any] = [result_of(one, unit) for one in decisions]
    cells: dict[Cell, list[Any]] = {}
    shown: dict[Cell, dict[str, Any]] = {}
    for cell in [(s, t) for s in [*stops, None] for t in [*targets, None] if s is not None or t is not None]:
        levels = [leave(one, unit, *cell) for one in decisions]
        ends: list[Any] = [
            tuple(was[n] if level is None else level - fees_of(one, unit) for level in levels[n])
            for n, one in enumerate(decisions)
        ]
        wins = [tuple(wins_at(journal, one, unit, level) for level in levels[n]) for n, one in enumerate(decisions)]
        cells[cell] = changes = [(low - was[n], high - was[n]) for n, (low, high) in enumerate(ends)]
        changed = [levels[n] != (None, None) for n in range(size)]
        days = {one.day for n, one in enumerate(decisions) if changed[n]}
        shown[cell] = {
            "stop": cell[0],
            "target": cell[1],
            "expectancy": show_means(ends),
            "net_pnl": dict(zip(("low", "high"), map(sum, zip(*ends, strict=True)), strict=True))
            if size
            else {"low": 0, "high": 0},
            "win_rate": show_means([(100 * Fraction(low), 100 * Fraction(high)) for low, high in wins]),
            "changed": sum(changed),
            "either": sum(len(set(one)) > 1 for one in levels),
            "difference": compare_exits(decisions, changes, sum(changed) >= 10 and len(days) >= 5),
        }
    judge_exits([one["difference"] for one in shown.values()])
    tried = [cell for cell in cells if sum(leave(one, unit, *cell) != (None, None) for one in decisions[:half]) >= 10]
    best = max(tried, key=lambda cell: sum(low for low, _ in cells[cell][:half]), default=None)
    return {
        "unit": unit,
        "decisions": size,
        "without_excursions": len(decisions_of(journal, rows)) - size,
        "as_it_was": {
            "expectancy": rounded(sum(was) / size) if size else None,
            "net_pnl": sum(was),
            "win_rate": rounded(Fraction(100 * sum(one.net > journal.within for one in decisions), size))
            if size
            else None,
        },
        "cells": list(shown.values()),
        "halves": best
        and {
            "stop": best[0],
            "target": best[1],
            "first": show_means(cells[best][:half]),
            "second": show_means(cells[best][half:]),
        },
    }


def reach_result(trade: Trade) -> Trade:
    """The trade with excursions that go at least as far as its P&L before fees."""
    if trade.mae is None or trade.mfe is None:
        return trade
    return replace(trade, mae=max(trade.mae, -trade.gross), mfe=max(trade.mfe, trade.gross))


def result_of(decision: Decision, unit: str) -> Fraction:
    return decision.net if unit == "currency" else rounded(decision.net / decision.sums["risk"])


def fees_of(decision: Decision, unit: str) -> Fraction:
    fees = decision.sums["fees"]
    return fees if unit == "currency" else rounded(fees / decision.sums["risk"])


def leave(
    decision: Decision, unit: str, stop: Fraction | None, target: Fraction | None
) -> tuple[Fraction | None, Fraction | None]:
    """Where it is left at the low and at the high end, None for as it was."""
    of_one = Fraction(1) if unit == "currency" else decision.sums["risk"]
    is_stopped = stop is not None and decision.sums["mae"] >= stop * of_one
    is_reached = target is not None and decision.sums["mfe"] >= target * of_one
    out = -stop if is_stopped and stop is not None else None
    if is_reached:
        return (target if out is None else out), target
    return out, out


def wins_at(journal: Journal, decision: Decision, unit: str, level: Fraction | None) -> bool:
    of_one = Fraction(1) if unit == "currency" else decision.sums["risk"]
    net = decision.net if level is None else level * of_one - decision.sums["fees"]
    return net > journal.within


def show_means(ends: list[Any]) -> dict[str, Any] | None:
    if not ends:
        return None
    low, high = (rounded(sum(one, Fraction(0)) / len(ends)) for one in zip(*ends, strict=True))
    return {"low": low, "high": high}


def compare_exits(
    decisions: list[Decision], changes: list[tuple[Fraction, Fraction]], is_known: bool
) -> dict[str, Any]:
    means = show_means(changes) or {"low": None, "high": None}
    nothing: dict[str, Any] = {**means, "interval": None, "p": None, "q": None, "verdict": "too_few"}
    if not is_known:
        return nothing
    low, high = ([(one.day, change[end]) for one, change in zip(decisions, changes, strict=True)] for end in (0, 1))
    intervals = inference.compute_mean_interval(low), inference.compute_mean_interval(high)
    below, above = intervals
    if not isinstance(below, str) and not isinstance(above, str):
        nothing["interval"] = {"low": below["low"], "high": above["high"]}
    if sum(one for _, one in low) > 0:
        return {**nothing, "p": inference.find_mean_p(low), "verdict": "better"}
    if sum(one for _, one in high) < 0:
        return {**nothing, "p": inference.find_mean_p(high), "verdict": "worse"}
    return {**nothing, "p": 1.0, "verdict": "not_shown"}


def judge_exits(differences: list[dict[str, Any]]) -> None:
    known = [one for one in differences if one["p"] is not None]
    rates = inference.find_rates({number: one["p"] for number, one in enumerate(known)})
    for one, q in zip(known, rates.values(), strict=True):
        one["p"], one["q"] = inference.Near(one["p"], 1e-5), inference.Near(q, 1e-5)
        if q > 0.05:
            one["verdict"] = "not_shown"
