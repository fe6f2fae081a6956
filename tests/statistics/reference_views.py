"""Reports with two keys, beside an earlier range, and exits, from the pages of docs alone, as reference.py.

A part of a decision is what it has in one account or period, where a key is by trade.
"""

from dataclasses import replace
from typing import Any

import inference
from reference import (
    ANSWERS,
    BY_TRADE,
    EARLIER,
    IN_KEY_ORDER,
    IN_ORDER,
    REPORTED,
    Decision,
    Journal,
    Query,
    Row,
    compare_sides,
    compute_statistics,
    decisions_of,
    evaluate,
    find_key,
    find_keys,
    in_time,
    is_selected,
    place_decisions,
    show_group,
)

Pair = tuple[Any, Any]


# Two keys ------------------------------------------------------------------------------------------------


def compute_pairs(journal: Journal, group_by: tuple[str, str], query: Query) -> dict[str, Any]:
    """The total and the groups of two keys in their order, without names."""
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
        place = rank_pair(journal, pair, rows_of(journal, has_it), group_by, query.get("sort"))
        found[pair] = place, {"keys": list(pair), **(shown if asked else shown["all"]), **edges}
    for name in ("edge", "edge_r"):
        inference.judge({pair: group[name] for pair, (_, group) in found.items()}, {key: {} for key in found}, {})
    groups = [group for _, group in sorted(found.values(), key=lambda one: one[0])]
    return {"total": show_group(journal, rows, REPORTED), "groups": groups}


def select_rows(journal: Journal, query: Query) -> list[Row]:
    return [row for row in journal.rows_in("all") if is_selected(journal, row, query)]


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
    journal: Journal,
    query: Query,
    rows: list[Row],
    group_by: tuple[str, str],
    part: Decision,
    whole: Decision,
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
            found.append(list(find_keys(journal, days, whole if key == "tag" else part, key)))
    first, second = ([one if isinstance(one, tuple) else (one, "all") for one in keys] for keys in found)
    return [
        ((one, other), answer if answer != "all" else other_answer)
        for one, answer in first
        for other, other_answer in second
    ]


def rank_pair(journal: Journal, pair: Pair, rows: list[Row], group_by: tuple[str, str], sort: str | None) -> Any:
    """By both keys where both have an order, else by a metric, net P&L if none is asked for."""
    places = [
        (key is None, 0 if key is None else IN_ORDER[name].index(key) if name in IN_ORDER else key)
        for name, key in zip(group_by, pair, strict=True)
    ]
    if sort is None and all(name in IN_KEY_ORDER for name in group_by):
        return places
    is_mixed = len(journal.currencies_of(trade.account_id for _, trade in rows)) > 1
    metric = (sort or "-net_pnl").removeprefix("-")
    value = evaluate(metric, compute_statistics(journal, rows), is_mixed)
    if isinstance(value, str) or ("confirmation", None) in zip(group_by, pair, strict=True):
        return True, 0, *places
    return False, value if sort and not sort.startswith("-") else -value, *places
