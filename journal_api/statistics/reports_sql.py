"""SQL of reports: the statistics of groups of trades, by the statements that goals use for periods.

A report reads all selected trades, so it has its own connection: no other request waits for it.
"""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Set
from functools import cache, partial
from itertools import chain
from typing import Any

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.sql import json_list
from journal_api.metrics.groupings import GROUPINGS, GroupKeys, find_grouping
from journal_api.statistics import kept_readings, reports, trade_facts
from journal_api.statistics.comparisons import Part, find_measures, find_other
from journal_api.statistics.earlier_decisions import store_groups
from journal_api.statistics.fact_filters import filter_facts, is_found
from journal_api.statistics.kept_readings import Kept, Reading
from journal_api.statistics.report_groups import TOTAL, GroupPart, Key, OneKey, find_groups
from journal_api.statistics.reports import Names, NamesByKey, Page
from journal_api.statistics.result_bins import build_bins
from journal_api.statistics.selection import COLUMNS, Results, Selection, collect, with_sums_in_range
from journal_api.statistics.trade_facts import read_breakeven_within
from journal_api.structs.reports import ReportQuery


async def get(
    database: Database, user_id: int, timezone: str, day_rollover: str, query: ReportQuery
) -> tuple[str, int]:
    """Return the report with one page of its groups as JSON, and how many groups there are."""
    await trade_facts.refresh(database, user_id)
    async with database.report_transaction() as db:
        kept = database.kept_readings
        return await db.run(lambda db: compute(db, kept, user_id, timezone, day_rollover, query))


async def compute(
    db: Connection, kept: Kept, user_id: int, timezone: str, day_rollover: str, query: ReportQuery
) -> tuple[str, int]:
    # In memory, the rows that SQLite sorts would take 600 MiB for a million trades; in files 25 MiB. The
    # files have no name, and a small report needs none.
    await db.execute_fetchall("PRAGMA temp_store = FILE")
    within = await read_breakeven_within(db, user_id)
    page = await compute_page(db, kept, user_id, within, query)
    names = await read_names(db, query.keys, page.named)
    return reports.build_report(query, page, names, timezone, day_rollover, within), page.group_count


async def compute_page(db: Connection, kept: Kept, user_id: int, breakeven_within: int, query: ReportQuery) -> Page:
    find = partial(find_reading, db, kept, user_id, breakeven_within, is_compared=query.is_compared)
    reading = await find(query)
    found = compute_parts(reading)
    before = compute_parts(await find(query.before)) if query.is_compared else None
    distribution = build_distribution(reading.results, found.get(TOTAL, Part())) if query.has_distribution else None
    return reports.build_page(found, reading.parts, before, query)._replace(distribution=distribution)


def compute_parts(reading: Reading) -> dict[GroupPart, Part]:
    return {one: Part(found.compute(), found.samples, found.shared) for one, found in reading.collected.items()}


async def find_reading(
    db: Connection, kept: Kept, user_id: int, breakeven_within: int, query: ReportQuery, *, is_compared: bool
) -> Reading:
    """Return all that the report reads, of months without a change what it has kept."""
    filtered, values = filter_facts(query)
    values |= {"user_id": user_id, "breakeven_within": breakeven_within}
    source = await trade_facts.read_source(db, user_id)
    collect = partial(collect_parts, db, query, is_compared, filtered)
    if source != trade_facts.STORED or not query.is_sum_of_days or is_found(query):  # few, or found twice
        return await collect(source, values)
    key = user_id, breakeven_within, is_compared, repr(query)
    return await kept_readings.read(db, kept, key, filtered, values, collect)


async def collect_parts(
    db: Connection, query: ReportQuery, is_compared: bool, filtered: str, source: str, values: Mapping[str, Any]
) -> Reading:
    """Return what the report reads of the CTE `facts`."""
    ctes = f"{source},{filtered}"
    grouping = find_grouping(query.keys)
    for key in query.keys:
        await place_decisions(db, key, ctes, values)
    split = f"{grouping.split} AS split, " if grouping.split else ""
    selection = Selection(
        ctes=f"{ctes}{grouping.ctes}",
        select=f"SELECT {split}{grouping.sql} AS part, currency, {COLUMNS} FROM filtered AS facts",
        values=values,
        by_trade=grouping.by_trade,
        has_total=grouping.splits and query.keys != ("none",),
        is_split=bool(grouping.split),
    )
    checklists = await read_checklists(db, values["user_id"]) if "confirmation" in query.keys else {}
    groups = cache(partial(find_groups, group_by=query.keys, checklists=checklists))
    measures = find_measures(query, is_compared)

    async def collect_all(selection: Selection) -> Reading:
        sums: list[Any] = []
        keeps_parts = len(query.keys) == 1 and grouping.compares in ("answers", "others")
        other = partial(find_other, group_by=query.keys)
        results: Results = [], []
        collected = await collect(
            db,
            selection,
            query.extras,
            groups,
            measures,
            other,
            sums if keeps_parts else None,
            {TOTAL: results} if query.has_distribution else {},
        )
        return Reading(collected, sums, (join_short(results[0]), join_short(results[1])))

    return await with_sums_in_range(selection, collect_all)


def join_short(runs: list["array[int]"]) -> list["array[int]"]:
    """Return one run for many short ones, each of which takes as much memory as a dozen values."""
    return [array("q", sorted(chain.from_iterable(runs)))] if 64 * len(runs) > sum(map(len, runs)) > 0 else runs


async def place_decisions(db: Connection, key: str, ctes: str, values: Mapping[str, Any]) -> None:
    """Store the groups of decisions that the grouping reads. The end of the read transaction removes them."""
    grouping, table = GROUPINGS[key], f"temp.placed_{key}"
    if not (grouping.placed or grouping.place_day):
        return
    await db.execute_fetchall(f"DROP TABLE IF EXISTS {table}")  # of the other range
    await db.execute_fetchall(f"CREATE TABLE {table} (decision INTEGER PRIMARY KEY, part)")
    if grouping.placed:
        await db.execute_fetchall(f"INSERT INTO {table} WITH {ctes} {grouping.placed}", values)
    elif grouping.place_day:
        await store_groups(db, table, ctes, values, grouping.place_day)


def build_distribution(results: Results, total: Part) -> dict[str, object]:
    """Return how many of all decisions made how much, in money and in R."""
    if total.statistics is None:  # out of range
        return dict.fromkeys(("net_pnl", "r"))
    pnls, rs = results
    is_mixed, has_r = total.statistics.mixes_currencies, rs and total.statistics.r_total is not None
    return {"net_pnl": None if is_mixed else build_bins(pnls), "r": build_bins(rs) if has_r else None}


async def read_checklists(db: Connection, user_id: int) -> dict[int, list[int]]:
    checklists = defaultdict[int, list[int]](list)
    rows = await db.execute_fetchall(
        """
        SELECT setup_id, confirmations.id
        FROM strategies
        JOIN setups ON strategy_id = strategies.id
        JOIN confirmations ON setup_id = setups.id
        WHERE user_id = :user_id
        """,
        {"user_id": user_id},
    )
    for setup_id, confirmation_id in rows:
        checklists[setup_id].append(confirmation_id)
    return checklists


async def read_names(db: Connection, group_by: GroupKeys, keys: Set[Key]) -> NamesByKey:
    """Return the names of groups by id for each of the keys, nothing where they are not ids."""
    pairs = [key if isinstance(key, tuple) else (key,) for key in keys]
    found: list[dict[OneKey, Names]] = []
    for place, grouping in enumerate(map(GROUPINGS.__getitem__, group_by)):
        ids = [pair[place] for pair in pairs]
        rows = await db.execute_fetchall(grouping.ids, {"ids": json_list(ids)}) if grouping.ids else ()
        found.append({row[0]: Names(*row[1:]) for row in rows})
    return found
