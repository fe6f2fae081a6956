"""SQL of exits: the decisions whose trades have excursions, and a risk for results in R."""

from collections import defaultdict
from functools import partial
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.database.database import Database
from journal_api.database.sql import fetch
from journal_api.errors import ValidationFailed
from journal_api.statistics import trade_facts
from journal_api.statistics.exits import Decision, build_exits
from journal_api.statistics.fact_filters import filter_facts
from journal_api.structs.exits import ExitQuery, ExitUnit
from journal_api.values.money import SCALE, ratio


class Trade(NamedTuple):
    id: int
    day: str
    net_pnl: int
    fees: int
    mae: int
    mfe: int
    risk: int
    currency: str


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
    trades = defaultdict[int, list[Trade]](list)
    for decision, *columns in await db.execute_fetchall(
        f"""
        {ctes}
        SELECT decision, id, trading_day, net_pnl, fees, mae, mfe, {risk}, currency
        FROM filtered
        WHERE mae IS NOT NULL AND mfe IS NOT NULL AND {risk} IS NOT NULL
        ORDER BY trading_day, closed_at, id
        """,
        values,
    ):
        trades[decision].append(Trade(*columns))
    currencies = {trade.currency for one in trades.values() for trade in one}
    if query.unit == "currency" and len(currencies) > 1:
        reason = f"the trades are in {' and '.join(sorted(currencies))}: choose accounts of one, or unit=r"
        raise ValidationFailed(fields={"unit": reason})
    decisions = [build_decision(key, one, query.unit, within) for key, one in trades.items()]
    stops, targets = query.levels
    return build_exits(query.unit, decisions, size - len(decisions), stops.units, targets.units)


def build_decision(decision: int, trades: list[Trade], unit: ExitUnit, within: int) -> Decision:
    """Return the sum of the trades of a decision; in different currencies its representative trade."""
    one, *others = trades
    if others and len({trade.currency for trade in trades}) > 1:
        one, others = next((trade for trade in trades if trade.id == decision), one), []
    _, _, net_pnl, fees, mae, mfe, risk, _ = one
    for other in others:
        net_pnl, fees, risk = net_pnl + other.net_pnl, fees + other.fees, risk + other.risk
        mae, mfe = mae + other.mae, mfe + other.mfe
    is_win = net_pnl > within
    if unit == "currency":
        return Decision(trades[0].day, net_pnl + fees, fees, mae, mfe, fees + within, is_win)
    cost = ratio(fees, risk)
    # Levels are whole numbers: an excursion that is rounded down reaches the same.
    return Decision(
        trades[0].day,
        ratio(net_pnl, risk) + cost,
        cost,
        mae * SCALE // risk,
        mfe * SCALE // risk,
        (fees + within) * SCALE // risk,
        is_win,
    )
