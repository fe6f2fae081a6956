"""SQL of reports: the statistics of groups of trades, by the statements that goals use for periods.

A report reads all selected trades, so it has its own connection: no other request waits for it.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache, partial
from typing import get_args

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.repositories import trade_facts
from journal_api.repositories.earlier_decisions import group_decisions
from journal_api.repositories.fact_filters import filter_facts
from journal_api.repositories.sql import json_list
from journal_api.repositories.statistics_sql import COLUMNS, Selection, collect, with_sums_in_range
from journal_api.repositories.users import read_breakeven_within
from journal_api.rules import reports
from journal_api.rules.comparisons import find_measures
from journal_api.rules.report_groups import Key, find_groups
from journal_api.rules.reports import HOLDING_TIMES, Names, Page
from journal_api.structs.reports import EarlierGroup, GroupBy, PeriodGroup, ReportQuery
from journal_api.values.metrics import METRICS

HOLDING = " ".join(
    f"WHEN held < {bound.total_seconds():.0f} THEN '{key}'" for key, (bound, _) in HOLDING_TIMES.items()
)
EARLIER_GROUPS: tuple[GroupBy, ...] = get_args(EarlierGroup)
# What trades are grouped by, as an expression over their facts.
KEYS: dict[GroupBy, str] = {
    "none": "NULL",
    "day": "trading_day",
    "week": "date(trading_day, '-6 days', 'weekday 1')",
    "month": "substr(trading_day, 1, 8) || '01'",
    "quarter": "printf('%s-%02d-01', substr(trading_day, 1, 4), (substr(trading_day, 6, 2) - 1) / 3 * 3 + 1)",
    "year": "substr(trading_day, 1, 5) || '01-01'",
    "weekday": "(strftime('%w', trading_day) + 6) % 7 + 1",
    "hour": "local_hour",
    "holding": f"CASE {HOLDING} END",
    "account": "account_id",
    "symbol": "contract",  # one group for a contract, however files write it
    "root": "root",
    "direction": "direction",
    "grade": "grade",
    "strategy": "strategy_id",
    "setup": "setup_id",
    "confirmation": "setup_id || ' ' || answers",
    "tag": "(SELECT tag_ids FROM tagged WHERE tagged.decision = facts.decision)",
    **dict.fromkeys(EARLIER_GROUPS, "earlier_group(decision)"),
    "rules": """CASE WHEN decision IN (SELECT decision FROM mistaken) THEN 'broken'
        WHEN checklist IS NULL THEN 'no_checklist'
        WHEN checklist THEN 'followed'
        WHEN instr(answers, '-') THEN 'broken' ELSE 'unanswered' END""",
}
# By account and by period each trade is grouped by itself, so a decision may be in several groups.
BY_TRADE = (*get_args(PeriodGroup), "account")
# The CTEs that a key needs. A decision has the tags and the mistakes of all its selected trades.
CTES: dict[GroupBy, str] = {
    "tag": """,
tagged AS MATERIALIZED (
    SELECT decision, json_group_array(tag_id) AS tag_ids
    FROM (SELECT DISTINCT decision, tag_id
          FROM filtered
          CROSS JOIN trade_tags ON trade_id = filtered.id
          ORDER BY decision, tag_id)
    GROUP BY decision
)""",
    "rules": ", mistaken AS MATERIALIZED (SELECT DISTINCT decision FROM filtered WHERE is_mistake)",
}
# The names of groups whose keys are ids.
NAMES: dict[GroupBy, str] = {
    "account": "SELECT id, name FROM accounts WHERE id IN (SELECT value FROM json_each(:ids))",
    "strategy": "SELECT id, name FROM strategies WHERE id IN (SELECT value FROM json_each(:ids))",
    "setup": """
        SELECT setups.id, setups.name, NULL, NULL, strategy_id, strategies.name
        FROM setups
        JOIN strategies ON strategies.id = strategy_id
        WHERE setups.id IN (SELECT value FROM json_each(:ids))""",
    "tag": "SELECT id, name FROM tags WHERE id IN (SELECT value FROM json_each(:ids))",
    "confirmation": """
        SELECT confirmations.id, confirmations.name, setup_id, setups.name, strategy_id, strategies.name
        FROM confirmations
        JOIN setups ON setups.id = setup_id
        JOIN strategies ON strategies.id = strategy_id
        WHERE confirmations.id IN (SELECT value FROM json_each(:ids))""",
}


async def get(
    database: Database, user_id: int, timezone: str, day_rollover: str, query: ReportQuery
) -> tuple[str, int]:
    """Return the report with one page of its groups as JSON, and how many groups there are."""
    await trade_facts.refresh(database, user_id)
    async with database.report_transaction() as db:
        # In memory, the rows that SQLite sorts would take 600 MiB for a million trades; in files 25 MiB. The
        # files have no name, and a small report needs none.
        await db.execute_fetchall("PRAGMA temp_store = FILE")
        within = await read_breakeven_within(db, user_id)
        page = await db.run(partial(compute_page, user_id=user_id, breakeven_within=within, query=query))
        names = await read_names(db, query.group_by, [group.key for group in page.groups])
    return reports.build_report(query, page, names, timezone, day_rollover, within), page.group_count


async def compute_page(db: Connection, user_id: int, breakeven_within: int, query: ReportQuery) -> Page:
    """Return the groups of one page of the report."""
    filtered, values = filter_facts(query)
    values = {**values, "user_id": user_id, "breakeven_within": breakeven_within}
    ctes = f"{await trade_facts.read_source(db, user_id)},{filtered}"
    if query.group_by in EARLIER_GROUPS:
        groups = await group_decisions(db, ctes, values, query.group_by)
        await db.create_function("earlier_group", 1, groups.get, deterministic=True)
    selection = Selection(
        ctes=f"{ctes}{CTES.get(query.group_by, '')}",
        select=f"SELECT {KEYS[query.group_by]} AS part, currency, {COLUMNS} FROM filtered AS facts",
        values=values,
        by_trade=query.group_by in (*BY_TRADE, "none"),
        has_total=query.group_by in BY_TRADE,
    )
    checklists = await read_checklists(db, user_id) if query.group_by == "confirmation" else {}
    collected = await with_sums_in_range(
        selection,
        partial(
            collect,
            db,
            extras={METRICS[key].extra for key in query.evaluated},
            find_groups=cache(partial(find_groups, group_by=query.group_by, checklists=checklists)),
            powers=find_measures(query),
        ),
    )
    return reports.build_page(collected, query)


async def read_checklists(db: Connection, user_id: int) -> dict[int, list[int]]:
    """Return the ids of the confirmations of each setup."""
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


async def read_names(db: Connection, group_by: GroupBy, keys: Sequence[Key]) -> dict[Key, Names]:
    """Return the names of groups by id, nothing for groups whose keys are not ids."""
    if group_by not in NAMES:
        return {}
    rows = await db.execute_fetchall(NAMES[group_by], {"ids": json_list(keys)})
    return {row[0]: Names(*row[1:]) for row in rows}
