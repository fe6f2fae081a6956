"""The history of a goal: its periods, which of them are stale, what a snapshot says (DECISIONS 13)."""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain
from typing import NamedTuple

from msgspec import Raw, Struct, json
from msgspec.structs import asdict, replace

from journal_api.facts import AMOUNTS, SPECIAL_FACTS, Facts, SpecialFact
from journal_api.metrics import METRICS, GoalDirection, Measured
from journal_api.money import json_text
from journal_api.periods import ONE_DAY, Period, Timeframe, period_of, periods_between


class GoalState(Struct):
    """What has to be known of a goal to bring its snapshots up to date."""

    goal_id: int
    metric: str
    direction: GoalDirection
    timeframe: Timeframe
    # For timeframe custom; else two nulls.
    custom_window: list[date | None]
    timezone: str
    day_rollover: str
    created_on: date
    today: date
    account_ids: list[int]
    starting_balances: list[int]
    # (since, target), oldest first; the first counts from the beginning
    targets: list[tuple[date, int]]
    seen_change: int | None
    fresh_on: date | None
    last_change: int
    first_trade: date | None
    oldest: date | None
    newest: date | None

    @property
    def first_day(self) -> date:
        """Where the history starts: the first counted trade or the goal's creation, the earlier."""
        return min(self.first_trade or self.created_on, self.created_on)

    @property
    def is_of_today(self) -> bool:
        """Whether the stored snapshots were true at some time today."""
        return self.seen_change is not None and self.fresh_on == self.today

    @property
    def special(self) -> SpecialFact | None:
        return METRICS[self.metric].special

    @property
    def carries_forward(self) -> bool:
        """Whether a period depends on those before it."""
        return self.special == "opening_balance"


class Snapshot(NamedTuple):
    """A row of the table."""

    period_start: str
    period_end: str
    target: int
    actual: int | None
    achieved: bool | None
    closed: bool
    snapshot_data: str


def stale_periods(state: GoalState, changed: Sequence[date]) -> Iterator[Period]:
    """The periods of the history that are to be computed."""
    if state.timeframe == "custom":
        start, end = state.custom_window
        assert start is not None, "schema.sql holds custom goals to their dates"
        assert end is not None
        return iter([Period(start, end)])
    first, last, timeframe = state.first_day, state.today, state.timeframe
    if state.seen_change is None or state.oldest is None or state.newest is None:
        return periods_between(first, last, timeframe)
    if state.carries_forward and changed:
        return periods_between(min(max(first, *changed[:1]), state.newest), last, timeframe)
    # An earlier first trade brings the empty periods after it; days without a trade have no snapshot.
    earlier = periods_between(first, state.oldest - ONE_DAY, timeframe) if timeframe != "daily" else ()
    begin, end = period_of(first, timeframe).start, period_of(last, timeframe).end
    known = (period_of(day, timeframe) for day in changed if begin <= day <= end)
    return chain(earlier, known, periods_between(state.newest, last, timeframe))


def carried_forward(found: dict[Period, Facts | None], opening: int | None) -> dict[Period, Facts | None]:
    """The facts with the balance that each period opens with."""
    carried: dict[Period, Facts | None] = {}
    for period, one in found.items():
        carried[period] = replace(one, opening_balance=opening) if one else None
        opening = None if one is None or opening is None else opening + one.net_pnl
    return carried


def is_kept(state: GoalState, period: Period, found: Facts | None) -> bool:
    """Whether the period has a snapshot: every one but the days without a trade before today."""
    return state.timeframe != "daily" or period.start == state.today or found is None or found.trades > 0


def snapshot_of(state: GoalState, period: Period, found: Facts | None) -> Snapshot:
    measured = METRICS[state.metric].measure(found)
    target = target_in_force(state, period)
    return Snapshot(
        period.start.isoformat(),
        period.end.isoformat(),
        target,
        measured.actual,
        measured.achieves(state.direction, target),
        period.end < state.today,
        explained(state, measured, found),
    )


def target_in_force(state: GoalState, period: Period) -> int:
    """Of a closed period the target that was in force when it closed, else the present one."""
    day = period.end if period.end < state.today else date.max
    return next(target for since, target in reversed(state.targets) if since <= day)


def explained(state: GoalState, measured: Measured, found: Facts | None) -> str:
    """The JSON of `snapshot_data`: what a person needs to compute the number again."""
    data: dict[str, object] = {
        "unit": METRICS[state.metric].unit,
        "timezone": state.timezone,
        "day_rollover": state.day_rollover,
        "reason": measured.reason,
    }
    for name, value in (asdict(found) if found else {}).items():
        if name not in SPECIAL_FACTS or name == state.special:
            data[name] = Raw(json_text(value).encode()) if name in AMOUNTS and value is not None else value
    return json.encode(data).decode()
