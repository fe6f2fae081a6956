"""SQL of reports: the statistics of groups of trades, by the statement that goals use for periods.

A report reads all selected trades, so it has its own connection: no other request waits for it.
"""

import asyncio
from collections.abc import Sequence
from typing import get_args

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.repositories.sql import json_list
from journal_api.repositories.statistics_sql import OF_TRADE, STATISTICS, fetch_statistics
from journal_api.repositories.trade_filters import TradeFilters
from journal_api.rules import reports
from journal_api.rules.reports import HOLDING_TIMES, TOTAL, Key, Names, Row
from journal_api.structs.reports import GroupBy, PeriodGroup, ReportQuery
from journal_api.values.metrics import METRICS

# The whole seconds for which a trade was held. Only texts to the second are exact as julianday.
HELD = """round(86400 * (julianday(substr(closed_at, 1, 19)) - julianday(substr(opened_at, 1, 19))))
        - (substr(closed_at, 20) < substr(opened_at, 20))"""
HOLDING = " ".join(
    f"WHEN held < {bound.total_seconds():.0f} THEN '{key}'" for key, (bound, _) in HOLDING_TIMES.items()
)
# The group of a trade, as an expression over its columns.
KEYS: dict[GroupBy, str] = {
    "none": "NULL",
    "day": "trading_day",
    "week": "date(trading_day, '-6 days', 'weekday 1')",
    "month": "substr(trading_day, 1, 8) || '01'",
    "quarter": "printf('%s-%02d-01', substr(trading_day, 1, 4), (substr(trading_day, 6, 2) - 1) / 3 * 3 + 1)",
    "year": "substr(trading_day, 1, 5) || '01-01'",
    "weekday": "(strftime('%w', trading_day) + 6) % 7 + 1",
    "hour": "local_hour(opened_at, :timezone)",
    "holding": f"(SELECT CASE {HOLDING} END FROM (SELECT {HELD} AS held))",
    "account": "account_id",
    "symbol": "contract",  # one group for a contract, however files write it
    "root": "root",
    "direction": "direction",
    "grade": "grade",
    "strategy": "strategy_id",
    "setup": "setup_id",
    # The setup, and the ids of its confirmations that are present, and negative those that are absent.
    "confirmation": """setup_id || ' ' || (
        SELECT json_group_array(iif(was_present, confirmation_id, -confirmation_id))
        FROM confirmation_answers
        WHERE trade_id = trades.id)""",
    "tag": "NULL",
}
COLUMNS = """id, trading_day, closed_at, gross_pnl, fees, net_pnl, initial_risk, grade,
    source_trade_id, currency, is_shared, is_mistake, r, checklist"""
PARTS_OF_NONE = f"SELECT '{TOTAL}' AS part, {COLUMNS} FROM selected"
# By account and by period each trade is grouped by itself. A decision may then be in several groups, so its
# trades are in a part of the total too.
BY_TRADE = (*get_args(PeriodGroup), "account")
PARTS_BY_TRADE = f"""
    SELECT iif(is_shared, 'shared ' || key, key) AS part, {COLUMNS} FROM selected
    UNION ALL
    SELECT '{TOTAL}', {COLUMNS} FROM selected WHERE is_shared"""
MEMBERS_BY_TRADE = f"""
    SELECT iif(is_shared, 'shared ' || key, key) AS part, json_quote(key) AS group_key FROM keys
    UNION ALL
    SELECT key, '{TOTAL}' FROM keys WHERE NOT is_shared
    UNION ALL
    SELECT '{TOTAL}', '{TOTAL}'"""
# In all other reports a decision is grouped by its representative trade: the original, else the first copy.
PARTS_BY_REPRESENTATIVE = f"""
    SELECT key AS part, {COLUMNS} FROM selected WHERE NOT is_shared
    UNION ALL
    SELECT first_value(key) OVER (PARTITION BY coalesce(source_trade_id, id)
                                  ORDER BY source_trade_id IS NOT NULL, trading_day, closed_at, id), {COLUMNS}
    FROM selected
    WHERE is_shared"""
IN_TOTAL = f"UNION ALL SELECT part, '{TOTAL}' FROM keys"
MEMBERS_BY_REPRESENTATIVE = f"SELECT part, json_quote(part) AS group_key FROM keys {IN_TOTAL}"
# A decision is in the group of each tag that any of its trades has.
PARTS_BY_TAG = f"""
    SELECT tag_ids AS part, {COLUMNS}
    FROM selected
    LEFT JOIN (SELECT decision, json_group_array(tag_id) AS tag_ids
               FROM (SELECT DISTINCT coalesce(source_trade_id, id) AS decision, tag_id
                     FROM selected
                     CROSS JOIN trade_tags ON trade_id = id
                     ORDER BY decision, tag_id)
               GROUP BY decision) AS tagged
        ON tagged.decision = coalesce(source_trade_id, id)"""
MEMBERS_BY_TAG = f"""
    SELECT part, json_quote(value) AS group_key FROM keys LEFT JOIN json_each(part)
    {IN_TOTAL}"""
# The representative trade has the answers, its setup the confirmations.
MEMBERS_BY_CONFIRMATION = f"""
    SELECT part, json_array(confirmations.id, CASE answer.value > 0 WHEN 1 THEN 'present' WHEN 0 THEN 'absent'
                                              ELSE 'unanswered' END) AS group_key
    FROM keys
    LEFT JOIN confirmations ON setup_id = CAST(part AS INTEGER)
    LEFT JOIN json_each(substr(part, instr(part, ' '))) AS answer ON abs(answer.value) = confirmations.id
    {IN_TOTAL}"""
# The names of groups whose keys are ids.
NAMES: dict[GroupBy, str] = {
    "account": "SELECT id, name FROM accounts WHERE id IN (SELECT value FROM json_each(:ids))",
    "strategy": "SELECT id, name FROM strategies WHERE id IN (SELECT value FROM json_each(:ids))",
    "setup": "SELECT id, name FROM setups WHERE id IN (SELECT value FROM json_each(:ids))",
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
    extras = {METRICS[key].extra for key in query.evaluated}
    values = {
        **query.values(),
        "user_id": user_id,
        "timezone": timezone,
        "with_drawdown": "max_drawdown" in extras,
        "with_streak": "win_streak" in extras,
        "with_squares": query.group_by == "confirmation",  # for the edge
        "today": None,
    }
    async with database.report_transaction() as db:
        # In memory, the rows that SQLite sorts would take 600 MiB for a million trades; in files 25 MiB. The
        # files have no name, and a small report needs none.
        await db.execute_fetchall("PRAGMA temp_store = FILE")
        rows = [Row(*row) for row in await fetch_statistics(db, build_statement(query), values)]
        # Many groups take long to decode.
        page = await asyncio.to_thread(reports.build_page, rows, query)
        names = await read_names(db, query.group_by, [group.key for group in page.groups])
    return reports.build_report(query, page, names, timezone, day_rollover), page.group_count


async def read_names(db: Connection, group_by: GroupBy, keys: Sequence[Key]) -> dict[Key, Names]:
    """Return the names of groups by id, nothing for groups whose keys are not ids."""
    if group_by not in NAMES:
        return {}
    rows = await db.execute_fetchall(NAMES[group_by], {"ids": json_list(keys)})
    return {row[0]: Names(*row[1:]) for row in rows}


def build_statement(query: ReportQuery) -> str:
    """Return the statement that selects the statistics of each group, the total among them."""
    parts, members = choose_parts(query.group_by)
    keys = "key, is_shared FROM selected" if query.group_by in BY_TRADE else "part FROM parts"
    return f"""
WITH
-- The selected trades, each with the key of its group.
selected AS MATERIALIZED (
    SELECT id, {KEYS[query.group_by]} AS key, trading_day, closed_at, gross_pnl, fees, net_pnl, initial_risk,
        grade, setup_id, source_trade_id,
        (SELECT currency FROM accounts WHERE accounts.id = account_id) AS currency,{OF_TRADE}
    FROM trades
    WHERE {TradeFilters(query).closed()}
),
-- The trades with their part: the trades of a part are in the same groups.
parts AS {parts},
-- What the parts are made of, once each.
keys AS MATERIALIZED (SELECT DISTINCT {keys}),
-- The groups of each part. A group key is the key of the group as JSON.
members (part, group_key) AS MATERIALIZED ({members}),
counted AS NOT MATERIALIZED (SELECT * FROM parts),
{STATISTICS}
SELECT * FROM statistics"""


def choose_parts(group_by: str) -> tuple[str, str]:
    """Return the SELECT of the selected trades with their part, and the SELECT of the groups of each part."""
    if group_by == "none":
        return f"NOT MATERIALIZED ({PARTS_OF_NONE})", f"SELECT '{TOTAL}' AS part, '{TOTAL}' AS group_key"
    if group_by == "tag":
        return f"MATERIALIZED ({PARTS_BY_TAG})", MEMBERS_BY_TAG
    if group_by in BY_TRADE:
        return f"NOT MATERIALIZED ({PARTS_BY_TRADE})", MEMBERS_BY_TRADE
    if group_by == "confirmation":
        return f"MATERIALIZED ({PARTS_BY_REPRESENTATIVE})", MEMBERS_BY_CONFIRMATION
    return f"MATERIALIZED ({PARTS_BY_REPRESENTATIVE})", MEMBERS_BY_REPRESENTATIVE
