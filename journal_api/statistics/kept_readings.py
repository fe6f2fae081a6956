"""What reports keep, so that after a write they read only the months that changed (DECISIONS 20).

All that a report collects are exact sums over decisions: it has those of some months, and those of all other days. The
others' stay as they are until a trade of these days changes. A report with a decision in both is read as a whole.
"""

from array import array
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database.sql import fetch
from journal_api.statistics.comparisons import Parts
from journal_api.statistics.fold import Collected
from journal_api.statistics.report_groups import GroupPart
from journal_api.statistics.selection import Results
from journal_api.statistics.trade_facts import STORED

MAX_MONTHS = 3  # that are read again when one of them has changed
MAX_BYTES, GROUP_BYTES = 16 * 2**20, 5000
WITHIN = "facts AS NOT MATERIALIZED (SELECT * FROM trade_facts WHERE trading_day BETWEEN :first AND :last)"
OUTSIDE = WITHIN.replace("BETWEEN", "NOT BETWEEN")
# The newest change, the accounts, and the first and the last month in which their trades changed after a change.
CHANGED = """
    SELECT (SELECT coalesce(max(sequence), 0) FROM changed_days),
        (SELECT group_concat(id || currency) FROM account),
        substr(min(trading_day), 1, 7), substr(max(trading_day), 1, 7)
    FROM changed_days
    WHERE sequence > :sequence AND +account_id IN (SELECT id FROM account)"""
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
        """Return the reading of the days of both, which have no day and no decision in common, without parts."""
        both = {**self.collected, **other.collected}
        for group in self.collected.keys() & other.collected.keys():
            both[group] = self.collected[group].beside(other.collected[group])
        (pnls, rs), (other_pnls, other_rs) = self.results, other.results
        return Reading(both, (), (pnls + other_pnls, rs + other_rs))

    def sort_results(self) -> "Reading":
        """Return the reading with its results in order: to sort them together with others is quick then."""
        pnls, rs = (array("q", sorted(one)) for one in self.results)
        return self._replace(results=(pnls, rs))


class Rest(NamedTuple):
    """The reading of all days but those of some months, of these accounts, with all changes up to one."""

    change: int
    accounts: str
    months: Months
    reading: Reading

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return GROUP_BYTES * len(self.reading.collected) + 16 * len(self.reading.results[0])


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
    known = kept.pop(key, None)
    since = {**values, "sequence": known.change if known else 0}
    ((change, accounts, *changed),) = await db.execute_fetchall(f"WITH {STORED},{ctes} {CHANGED}", since)
    months = find_months(known and known.months, *changed)
    if months is None:
        return await collect(STORED, values)
    days = {**values, "first": f"{months[0]}-01", "last": f"{months[1]}-31"}
    if await fetch(db, f"WITH {WITHIN},{ctes} {CROSSES}", days):
        return await collect(STORED, values)
    if known and known.months == months and known.accounts == accounts and known.change <= change:
        rest = known.reading
    else:
        rest = (await collect(OUTSIDE, days)).sort_results()
    reading = await collect(WITHIN, days)
    if any(one.is_out_of_range for half in (rest, reading) for one in half.collected.values()):
        return await collect(STORED, values)
    kept[key] = Rest(change, accounts, months, rest)
    while sum(one.size for one in list(kept.values())) > MAX_BYTES:
        kept.pop(next(iter(kept)), None)
    return rest.beside(reading)


def find_months(known: Months | None, first: str | None, last: str | None) -> Months | None:
    """Return the months to read again: of what changed and of the last time if they are near, else of what changed.

    At first these are the newest month. None means that there is no trade.
    """
    if first is None or last is None:
        return known
    if known is None:
        return last, last
    near = min(first, known[0]), max(last, known[1])
    return near if count_months(near[1]) - count_months(near[0]) < MAX_MONTHS else (first, last)


def count_months(month: str) -> int:
    """Return the number of a month, counted from the year 0."""
    return int(month[:4]) * 12 + int(month[5:])
