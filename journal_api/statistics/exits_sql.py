"""SQL of exits: the decisions whose trades have excursions, and a risk for results in R."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.sql import fetch
from journal_api.errors import ValidationFailed
from journal_api.statistics import trade_facts
from journal_api.statistics.exits import Decision, build_exits
from journal_api.statistics.fact_filters import filter_facts
from journal_api.structs.exits import ExitQuery, ExitUnit
from journal_api.values.money import SCALE, ratio

# Decision, id, day, net P&L, fees, MAE, MFE, risk and currency of a trade.
Row = tuple[Any, ...]


async def get(database: Database, user_id: int, query: ExitQuery) -> str:
    """Return the exits as JSON. Raises ValidationFailed for money in different currencies."""
    await trade_facts.refresh(database, user_id)
    async with database.report_transaction() as db:
        return await db.run(partial(compute, user_id=user_id, query=query))


async def compute(db: Connection, user_id: int, query: ExitQuery) -> str:
    await db.execute_fetchall("PRAGMA temp_store = FILE")  # as of reports
    filtered, values = filter_facts(query)
    values = {**values, "user_id": user_id}
    ctes = f"WITH {await trade_facts.read_source(db, user_id)},{filtered}"
    within = await trade_facts.read_breakeven_within(db, user_id)
    risk = "initial_risk" if query.unit == "r" else "1"
    size = await fetch(db, f"{ctes} SELECT count(DISTINCT decision) FROM filtered", values)
    rows = await db.execute_fetchall(
        f"""
        {ctes}
        SELECT decision, id, trading_day, net_pnl, fees,
            max(mae, -(net_pnl + fees)), max(mfe, net_pnl + fees),  -- it went as far as where it was left
            {risk}, currency
        FROM filtered
        WHERE mae IS NOT NULL AND mfe IS NOT NULL AND {risk} IS NOT NULL
        ORDER BY trading_day, closed_at, id
        """,
        values,
    )
    by_decision: dict[int, list[Any]] = {}  # in the order of the first trade of each decision
    for row in rows:
        by_decision.setdefault(row[0], []).append(row)
    currencies = {row[-1] for trades in by_decision.values() for row in trades}
    if query.unit == "currency" and len(currencies) > 1:
        reason = f"the trades are in {' and '.join(sorted(currencies))}: choose accounts of one, or unit=r"
        raise ValidationFailed(fields={"unit": reason})
    decisions = [build_decision(sum_up(trades), query.unit, within) for trades in by_decision.values()]
    stops, targets = query.levels
    return build_exits(query.unit, decisions, size - len(decisions), stops.units, targets.units)


def sum_up(trades: Sequence[Row]) -> Row:
    """Return a row with the sums of the trades of a decision, in different currencies of its representative trade.

    The day is that of the first trade.
    """
    first, *others = trades
    if not others:
        return first
    if any(trade[-1] != first[-1] for trade in others):
        trades = [next((trade for trade in trades if trade[0] == trade[1]), first)]
    _, _, _, *sums, _ = zip(*trades, strict=True)
    return *first[:3], *map(sum, sums), first[-1]


def build_decision(trade: Row, unit: ExitUnit, within: int) -> Decision:
    _, _, day, net_pnl, fees, mae, mfe, risk, _ = trade
    is_win = net_pnl > within
    if unit == "currency":
        return Decision(day, net_pnl + fees, fees, mae, mfe, fees + within, is_win)
    cost = ratio(fees, risk)
    # Levels are whole numbers: an excursion that is rounded down reaches the same.
    mae, mfe, even = mae * SCALE // risk, mfe * SCALE // risk, (fees + within) * SCALE // risk
    return Decision(day, ratio(net_pnl, risk) + cost, cost, mae, mfe, even, is_win)
