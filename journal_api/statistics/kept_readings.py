"""What reports keep, so that after a write they read only the months that changed (DECISIONS 20).

All that a report collects are exact sums over decisions: it has those of some months, and those of all other days. The
others' stay as they are until a trade of these days changes. A report with a decision in both is read as a whole.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import fetch
from journal_api.statistics.comparisons import Parts
from journal_api.statistics.fold import Collected
from journal_api.statistics.report_groups import GroupPart
from journal_api.statistics.selection import Results
from journal_api.statistics.trade_facts import STORED
from journal_api.values.money import MAX_STORED

NEAR = timedelta(days=70)  # between the first days of months that are read together: three at most
MAX_READINGS, MAX_BYTES, GROUP_BYTES, DAY_BYTES = 256, 16 * 2**20, 4000, 250
WITHIN = "facts AS NOT MATERIALIZED (SELECT * FROM trade_facts WHERE trading_day BETWEEN :first AND :last)"
OUTSIDE = WITHIN.replace("BETWEEN", "NOT BETWEEN")
# What is read apart from trades and days; whether earlier ends are of these logs, not of a journal that was replaced by
# this one, and all changes since are known; the first and the last month in which trades, their tags or what is written
# on a day changed; and the ends of the logs now.
CHANGED = """,
    newest AS (
        SELECT (SELECT coalesce(max(sequence), 0) FROM changed_days) AS sequence,
            coalesce(max(seq), 0) AS seq, coalesce(at, '') AS at
        FROM changed_objects
        WHERE user_id = :user_id),
    object AS MATERIALIZED (SELECT resource, id FROM changed_objects WHERE user_id = :user_id AND seq > :seq),
    changed AS (
        SELECT substr(min(day), 1, 7) AS first, substr(max(day), 1, 7) AS last
        FROM (SELECT trading_day AS day
              FROM changed_days
              WHERE sequence > :sequence AND +account_id IN (SELECT id FROM account)
              UNION ALL
              SELECT id FROM object WHERE resource = 'days'
              UNION ALL
              SELECT trading_day FROM object CROSS JOIN trades ON trades.id = object.id WHERE resource = 'trades'))
    SELECT (SELECT group_concat(id || currency) FROM account)
            || (SELECT json_group_array(id) FROM tags WHERE category_id = :category_id),
        :sequence <= sequence AND :seq BETWEEN expired_cursor AND seq AND :at >= coalesce(
            (SELECT at FROM changed_objects WHERE user_id = :user_id AND seq <= :seq ORDER BY seq DESC LIMIT 1), ''),
        first, last, sequence, seq, at
    FROM newest
    CROSS JOIN changed
    CROSS JOIN users ON users.id = :user_id"""
NO_ENDS: dict[str, int | str] = {"sequence": 0, "seq": MAX_STORED, "at": ""}
# Whether a decision has trades on days of both.
CROSSES = """
    SELECT EXISTS (SELECT 1 FROM trades WHERE source_trade_id IS NOT NULL)
        AND EXISTS (SELECT 1
                    FROM account
                    CROSS JOIN facts ON facts.account_id = account.id
                    CROSS JOIN trades AS other ON other.id = decision OR other.source_trade_id = decision
                    WHERE other.trading_day NOT BETWEEN :first AND :last)"""

Months = tuple[str, str]  # the first and the last


class Reading(NamedTuple):
    """What a report has read: of its groups, of the parts of decisions that `judge_lines` needs, and all results."""

    collected: Mapping[GroupPart, Collected]
    parts: Parts
    results: Results

    def beside(self, other: "Reading") -> "Reading":
        """Return the reading of the days of both, which have no day and no decision in common."""
        both = {**self.collected, **other.collected}
        for group in self.collected.keys() & other.collected.keys():
            both[group] = self.collected[group].beside(other.collected[group])
        (pnls, rs), (other_pnls, other_rs) = self.results, other.results
        return Reading(both, [*self.parts, *other.parts], (pnls + other_pnls, rs + other_rs))

    def measure(self) -> int:
        """Return about how many bytes it takes."""
        days = sum(len(part.by_day.places) for part in self.parts)
        return GROUP_BYTES * (1 + len(self.collected)) + DAY_BYTES * days + 16 * sum(map(len, self.results[0]))


class Rest(NamedTuple):
    """The reading of all days but those of some months, up to the ends of the logs at that time; `basis` is what it has
    read apart from trades and days."""

    ends: dict[str, int | str]
    basis: str
    months: Months
    reading: Reading
    size: int


Kept = dict[Hashable, Rest]


async def read(
    db: Connection,
    kept: Kept,
    key: Hashable,
    ctes: str,
    values: Mapping[str, Any],
    collect: Callable[[str, Mapping[str, Any]], Awaitable[Reading]],
) -> Reading:
    """Return what `collect` reads of all facts, of which none is stale.

    It gets a CTE of facts and values. `ctes` has the accounts; `key` says all else that a reading depends on.
    """
    known = kept.get(key)
    ends = known.ends if known else NO_ENDS
    rows = await db.execute_fetchall(f"WITH {STORED},{ctes}{CHANGED}", {**values, **ends})
    ((basis, are_known, first, last, *newest),) = rows
    months = find_months(known and known.months, first, last)
    if months is None:
        return await collect(STORED, values)
    days = {**values, "first": f"{months[0]}-01", "last": f"{months[1]}-31"}
    if await fetch(db, f"WITH {WITHIN},{ctes} {CROSSES}", days):
        return await collect(STORED, values)
    if known and are_known and (known.basis, known.months) == (basis, months):
        rest, size = known.reading, known.size
    else:
        rest = await collect(OUTSIDE, days)
        size = rest.measure()
    reading = await collect(WITHIN, days)
    if any(one.is_out_of_range for half in (rest, reading) for one in half.collected.values()):
        return await collect(STORED, values)
    keep(kept, key, Rest(dict(zip(NO_ENDS, newest, strict=True)), basis, months, rest, size))
    return rest.beside(reading)


def keep(kept: Kept, key: Hashable, rest: Rest) -> None:
    """Keep what a report has, instead of what was read longest ago. Two threads may do so at once."""
    kept.pop(key, None)
    if rest.size <= MAX_BYTES:
        kept[key] = rest
    for oldest in list(kept):
        sizes = [one.size for one in list(kept.values())]
        if sum(sizes) <= MAX_BYTES and len(sizes) <= MAX_READINGS:
            break
        kept.pop(oldest, None)


def find_months(known: Months | None, first: str | None, last: str | None) -> Months | None:
    """Return the months to read again: of what changed and of the last time if they are near, else of what changed.

    At first these are the newest month. None means that there is no trade.
    """
    if first is None or last is None:
        return known
    if known is None:
        return last, last
    near = min(first, known[0]), max(last, known[1])
    begin, end = (date.fromisoformat(f"{month}-01") for month in near)
    return near if end - begin < NEAR else (first, last)
