"""Queries and responses of the snapshots of a goal (DECISIONS 17)."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from journal_api.metrics.formulas import Unit
from journal_api.metrics.members import ShownStatistics
from journal_api.values.types import Day, DayText, Instant, Offset

PaceState = Literal["achieved", "on_track", "behind", "within_limit", "near_limit", "missed"]


class SnapshotQuery(Struct, kw_only=True):
    """`from` and `to` are compared with `period_start`, both inclusive."""

    limit: Annotated[int, Meta(ge=1, le=365)] = 50
    offset: Offset = 0
    since: Day | None = field(name="from", default=None)
    until: Day | None = field(name="to", default=None)


class Pace(Struct, kw_only=True, forbid_unknown_fields=True):
    """How an active goal stands in its running period (docs/goals.md#pace).

    `remaining` is what is missing or what room is left, in the unit of the metric.
    """

    state: PaceState | None
    remaining: Decimal | None
    days_left: int
    needed_per_day: Decimal | None


class SnapshotData(ShownStatistics, kw_only=True):
    """The inputs of the value (docs/goals.md#what-a-snapshot-says).

    Amounts are null for accounts in different currencies. The statistics are missing if a sum was too large
    to compute; `reason` is then `out_of_range`. What has to be read for one metric alone is only there for
    metrics that need it, `pace` only in the running period of an active goal.
    """

    unit: Unit
    timezone: str
    day_rollover: str
    breakeven_within: Decimal | UnsetType = UNSET  # snapshots of earlier versions have none
    reason: str | None
    pace: Pace | UnsetType = UNSET


class GoalPeriod(Struct, kw_only=True, forbid_unknown_fields=True):
    period_start: DayText
    target: Decimal
    actual: Decimal | None
    achieved: bool | None
    closed: bool


class Snapshot(Struct, kw_only=True, forbid_unknown_fields=True):
    goal_id: int
    period_start: DayText
    period_end: DayText
    target: Decimal
    actual: Decimal | None
    achieved: bool | None
    closed: bool
    snapshot_data: SnapshotData
    computed_at: Instant
