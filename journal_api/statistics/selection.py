"""The SQL of statistics that goals and reports share (DECISIONS 16, 20).

A part is a set of trades that are summed together: a day of a goal, or the trades of a report with one key.
"""

import re
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Iterable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from aiosqlite import Connection
from msgspec import json

from journal_api.metrics.by_day import Groups, PartSums, Row, sum_samples
from journal_api.metrics.formulas import Measure
from journal_api.metrics.members import BOUNDS, ExtraStatistic, sums_columns
from journal_api.statistics.fold import SCANS, Collected, Place

Group = TypeVar("Group", bound=Hashable)
Result = TypeVar("Result")
Results = tuple[list["array[int]"], list["array[int]"]]  # the P&L and the R of decisions, in runs that are in order
# What a selection reads of the facts of trades.
COLUMNS = """facts.id, facts.trading_day, facts.opened_at, facts.closed_at, facts.decision, facts.fees,
    facts.net_pnl, facts.initial_risk, facts.r, facts.grade, facts.is_mistake, facts.checklist,
    facts.mae, facts.mfe, iif(facts.mfe IS NULL, NULL, facts.net_pnl) AS mfe_pnl"""

# Of a trade: whether it is a copy or has copies.
IS_SHARED = """(decision <> id
        OR EXISTS (SELECT 1 FROM trades AS copy WHERE copy.source_trade_id = selected.id))"""


def of_representative(column: str, take: str = "sum") -> str:
    """Return the column of a decision's representative trade: the original, else the first copy.

    `take` is an aggregate function that returns the value of the only row.
    """
    return f"iif(sum(id = decision), {take}({column}) FILTER (WHERE id = decision), {column})"


def of_decision(column: str, of_trades: str = "", *, mixes_currencies: bool = True) -> str:
    """Return the sum of a column over the trades of a decision, in different currencies the representative trade's."""
    total = f"sum({column}){of_trades}"
    return f"iif({IS_MIXED}, {of_representative(column)}, {total})" if mixes_currencies else total


IS_MIXED = "count(DISTINCT currency) > 1"
# The first close of several trades: day, `closed_at` and id, as one text.
FIRST = "min(trading_day || closed_at || printf('%019d', id))"


def build_decision(*, mixes_currencies: bool, has_excursions: bool) -> str:
    """Return the columns of a decision of several trades, and where they are read.

    A column outside of sums is of the first trade: SQLite takes it from the row with the only min(). Timestamps have
    a fixed width: texts that begin with them are in the order of trades. A trade without a risk adds nothing to R.
    """
    total = partial(of_decision, mixes_currencies=mixes_currencies)
    excursions = (f"{total(name) if has_excursions else 'NULL'} AS {name}" for name in ("mae", "mfe", "mfe_pnl"))
    return f"""
        trading_day, closed_at, id,
        {total("net_pnl")} AS pnl,
        {total("initial_risk")} AS initial_risk,
        iif(count(*) = 1, r,
            ratio({total("net_pnl", " FILTER (WHERE initial_risk IS NOT NULL)")}, {total("initial_risk")})) AS r,
        sum(is_mistake) > 0 AS is_mistake,
        {of_representative("grade", "group_concat")} AS grade,
        {of_representative("checklist")} AS checklist,
        {", ".join(excursions)},
        count(*) AS trades,
        sum(fees) AS fees,
        sum(net_pnl) AS net_pnl,
        {f"iif({IS_MIXED}, '', currency)" if mixes_currencies else "NULL"} AS first_currency,
        {"currency" if mixes_currencies else "NULL"} AS last_currency,
        decision,
        {FIRST} AS first
    FROM copied
    GROUP BY decision"""


BY_REPRESENTATIVE = f"""
    SELECT {of_representative("part", "group_concat")} AS part, 'everywhere' AS place, {{decision}}"""
BY_PART = """
    SELECT part AS split, part, 'group' AS place, {decision}, part"""
BY_SPLIT = f"""
    SELECT split, {of_representative("part", "group_concat")} AS part, 'group' AS place, {{decision}}, split"""
IN_TOTAL = """
    UNION ALL
    SELECT NULL, NULL, 'total', {decision}"""
# The decisions of one trade, and of several if there are copies.
SINGLE = """
    SELECT part, 'everywhere' AS place, trading_day, closed_at, id, net_pnl AS pnl, initial_risk,
        r, is_mistake, grade, checklist, mae, mfe, mfe_pnl, 1 AS trades, fees, net_pnl,
        currency AS first_currency, currency AS last_currency
    FROM selected"""
DECISIONS = """
    SELECT part, place, trading_day, closed_at, id, pnl, net_pnl, first_currency, last_currency
    FROM """
NOT_SHARED = f"""
    WHERE NOT {IS_SHARED}"""
OR_SEVERAL = f"""
    UNION ALL{DECISIONS}several"""
TRAITS = """
SELECT EXISTS (SELECT 1 FROM trades WHERE source_trade_id IS NOT NULL),
    (SELECT count(DISTINCT currency) > 1 FROM accounts WHERE user_id = :user_id)"""
# The trades in their parts.
TRADES_BY_TRADE = "SELECT part, trading_day, closed_at, id, net_pnl FROM selected"
TRADES_BY_REPRESENTATIVE = f"""
    {TRADES_BY_TRADE}
    WHERE NOT {IS_SHARED}
    UNION ALL
    SELECT several.part, copied.trading_day, copied.closed_at, copied.id, copied.net_pnl
    FROM copied
    JOIN several USING ({{by}})"""

# The statements over these CTEs. Both kinds of decisions are summed apart, without what is the same in all rows:
# SQLite copies and sorts all columns that it groups, which takes longer than the sums.
SUMS = """
SELECT part, place, {day}, {samples}, {currencies},
    {sums}
FROM {decisions}
GROUP BY {keys}, id >> 16"""  # not a million decisions in one array
KINDS = ("single", "part"), ("several", "part, place")
ONE_CURRENCY = "(SELECT min(currency) FROM account), (SELECT max(currency) FROM account)"


class Selection(NamedTuple):
    """Trades in parts: the SELECT of COLUMNS with `part` and `currency`, the CTEs and the values it needs,
    with the owner's `breakeven_within`.

    A decision counts in the part of its representative trade; with `by_trade` in the part of each of its
    trades, and with `has_total` then once more in the total. With `is_split` the SELECT has a column `split`:
    the trades of a decision with the same one count as a decision.
    """

    ctes: str
    select: str
    values: Mapping[str, Any]
    by_trade: bool
    has_total: bool = False
    is_split: bool = False
    has_copies: bool = True
    mixes_currencies: bool = True
    has_excursions: bool = True
    sum: str = "sum"

    def build(self, select: str) -> str:
        """Return a statement over `trades_in_parts` and `decisions`, each at its first close."""
        several = BY_PART if self.by_trade else BY_SPLIT if self.is_split else BY_REPRESENTATIVE
        several += IN_TOTAL if self.has_total else ""
        decision = build_decision(mixes_currencies=self.mixes_currencies, has_excursions=self.has_excursions)
        by = "decision, split" if self.is_split else "decision"
        by_representative = self.has_copies and not self.by_trade
        in_parts = TRADES_BY_REPRESENTATIVE.format(by=by) if by_representative else TRADES_BY_TRADE
        statement = f"""
WITH
{self.ctes},
selected AS NOT MATERIALIZED ({self.select}),
-- The trades that are copies or have copies.
copied AS (SELECT * FROM selected WHERE {IS_SHARED}),
several AS MATERIALIZED ({several.format(decision=decision)}
),
single AS NOT MATERIALIZED ({SINGLE}{NOT_SHARED if self.has_copies else ""}
),
decisions AS NOT MATERIALIZED ({DECISIONS}single{OR_SEVERAL if self.has_copies else ""}
),
trades_in_parts AS NOT MATERIALIZED ({in_parts}
)
{select}"""
        return re.sub(r"\bsum\(", f"{self.sum}(", statement)


async def with_sums_in_range(selection: Selection, work: Callable[[Selection], Awaitable[Result]]) -> Result:
    """Return the result of the work, done again with wide sums if a sum does not fit into 64 bits."""
    try:
        return await work(selection)
    except sqlite3.OperationalError as error:
        # SQLite's sum() fails for all rows then; the other one returns OUT_OF_RANGE, and takes longer.
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise
        return await work(selection._replace(sum="sum_or_out_of_range"))


async def collect(
    db: Connection,
    selection: Selection,
    extras: Collection[ExtraStatistic | None],
    find_groups: Callable[[Any, Place], Iterable[Group]],
    measures: Collection[Measure] = (),
    find_other: Callable[[Group], tuple[Group, bool] | None] = lambda _: None,
    parts: list[PartSums[Group]] | None = None,
    results: Mapping[Group, Results] | None = None,
) -> dict[Group, Collected]:
    """Return what is collected of each group of the parts, with samples of the measures.

    `find_other` says to which group one is compared; `parts` gets the groups and samples of each part, `results`
    the first measures, the P&L and the R, of each decision of some groups.
    Raises sqlite3.OperationalError.
    """

    ((has_copies, mixes_currencies),) = await db.execute_fetchall(TRAITS, selection.values)
    selection = selection._replace(
        has_copies=has_copies, mixes_currencies=mixes_currencies, has_excursions="excursions" in extras
    )
    collected = defaultdict[Group, Collected](lambda: Collected(extras))
    results, measures = results or {}, sorted(measures, key=lambda one: not one.is_amount)
    amounts = [measure for measure in measures if measure.is_amount]
    arrays = ", ".join(f"json_group_array({sql})" for sql in ("trading_day", *(measure.sql for measure in measures)))
    by = ", trading_day" if "days" in extras else ""
    statement = "\nUNION ALL".join(
        SUMS.format(
            decisions=decisions,
            keys=keys + by,
            day="trading_day" if by else "NULL",
            samples=f"json_array({arrays})" if measures else "NULL",
            currencies="min(first_currency), max(last_currency)" if mixes_currencies else ONE_CURRENCY,
            sums=sums_columns(extras),
        )
        for decisions, keys in KINDS[: 1 + has_copies]
    )
    by_day = Groups[Group](find_other)
    async for rows in iterate(db, selection, statement, 4):  # each may have megabytes of samples
        for part, place, day, samples, first_currency, last_currency, *sums in rows:
            groups = list(find_groups(part, place))
            powers: Row = []
            if samples:
                of_decisions, *of_measures = json.decode(samples)
                powers, days = sum_samples(of_decisions, of_measures, len(amounts))
                for group in results.keys() & groups:
                    for runs, values in zip(results[group], of_measures, strict=False):
                        if known := sorted(value for value in values if isinstance(value, int)):
                            runs.append(array("q", known))
                by_day.add(groups, days)
                if parts is not None:
                    parts.append(PartSums(groups, amounts, powers, days))
            for group in groups:
                found = collected[group]
                found.add(sums[: -len(BOUNDS)], day)
                found.add_powers(powers)
                found.bound(sums[-len(BOUNDS) :], first_currency, last_currency)
    for group, found in collected.items():
        found.take_samples(measures, by_day.fold(group))
    for extra in SCANS.keys() & set(extras):

        @cache
        def find_adders(part: Any, place: Place, extra: ExtraStatistic = extra) -> list[Callable[..., None]]:
            return [collected[group].courses[extra].add for group in find_groups(part, place)]

        async for rows in iterate(db, selection, SCANS[extra].select):
            for part, place, *row in rows:
                for add in find_adders(part, place):
                    add(*row)
    return collected


async def iterate(
    db: Connection, selection: Selection, select: str, at_once: int = 100
) -> AsyncIterator[Iterable[Any]]:
    """Yield the rows of a statement, of which there may be as many as trades, some at a time."""
    async with db.execute(selection.build(select), selection.values) as cursor:
        while rows := await cursor.fetchmany(at_once):
            yield rows
