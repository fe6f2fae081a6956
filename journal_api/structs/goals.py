"""Bodies, queries and responses of goals, and the validation rules of goals (docs/api.md)."""

from decimal import Decimal
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from journal_api.errors import ValidationFailed
from journal_api.metrics.formulas import GoalDirection
from journal_api.metrics.metrics import METRICS, GoalKind, MetricKey, MetricName
from journal_api.structs.queries import check_range
from journal_api.structs.snapshots import GoalPeriod, Snapshot
from journal_api.structs.strategies import check_scope
from journal_api.values.money import Money
from journal_api.values.periods import Timeframe
from journal_api.values.types import Day, DayText, GoalScope, Instant, Name100, RowId

GoalStatus = Literal["active", "paused", "archived"]
GoalStatusFilter = Literal["active", "paused", "archived", "all"]


class GoalDay(Day):
    years = (2000, 2100)


class GoalCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """An omitted direction is the metric's natural direction.

    Without account and group the goal is global.
    """

    goal_name: Name100
    metric: MetricKey
    target_value: Money
    direction: GoalDirection | UnsetType = UNSET
    timeframe: Timeframe = "monthly"
    custom_start: GoalDay | UnsetType = UNSET
    custom_end: GoalDay | UnsetType = UNSET
    account_id: RowId | None = None
    copy_group_id: RowId | None = None

    def __post_init__(self) -> None:
        check_target(self.metric, self.target_value)
        check_window(self.timeframe, self.custom_start, self.custom_end)
        check_scope(self.account_id, self.copy_group_id)
        if self.direction is UNSET:
            self.direction = METRICS[self.metric].direction


class GoalPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    goal_name: Name100 | UnsetType = UNSET
    metric: MetricKey | UnsetType = UNSET
    target_value: Money | UnsetType = UNSET
    direction: GoalDirection | UnsetType = UNSET
    timeframe: Timeframe | UnsetType = UNSET
    custom_start: GoalDay | UnsetType = UNSET
    custom_end: GoalDay | UnsetType = UNSET
    status: GoalStatus | UnsetType = UNSET
    scope: GoalScope | UnsetType = UNSET


class GoalQuery(Struct, kw_only=True):
    """`with=snapshot` adds `current` and `warnings` to each goal, `with=periods` those that begin `from` - `to`."""

    status: GoalStatusFilter = "active"
    account_id: RowId | None = None
    parts: Literal["snapshot", "periods"] | None = field(name="with", default=None)
    since: Day | None = field(name="from", default=None)
    until: Day | None = field(name="to", default=None)

    def __post_init__(self) -> None:
        check_range(self.since, self.until)
        if (self.since or self.until) and self.parts != "periods":
            raise ValidationFailed(fields={"from" if self.since else "to": "needs with=periods"})


class Goal(Struct, kw_only=True, forbid_unknown_fields=True):
    """A `limit` holds until trading breaks it, a `target` is to be reached.

    The `formula` computes the value from members of `snapshot_data`.
    """

    id: int
    goal_name: str
    metric: MetricName
    target_value: Decimal
    direction: GoalDirection
    timeframe: Timeframe
    custom_start: DayText | None
    custom_end: DayText | None
    account_id: int | None
    copy_group_id: int | None
    status: GoalStatus
    scope: str
    kind: GoalKind
    formula: str
    created_at: Instant
    updated_at: Instant


class GoalListItem(Goal, kw_only=True, forbid_unknown_fields=True):
    """`current` is the snapshot of today's period or null, `warnings` are the sentences of `meta.warnings` about
    this goal, `periods` the newest 366, newest first.
    """

    current: Snapshot | None | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET
    periods: list[GoalPeriod] | UnsetType = UNSET


def check_target(metric: str, target: Decimal) -> None:
    """Raise ValidationFailed for a target of 0, which only max_drawdown allows, or below it (G1)."""
    if target == 0 and metric != "max_drawdown":
        raise ValidationFailed(fields={"target_value": "must not be 0 unless the metric is max_drawdown"})
    if target < 0 and not METRICS[metric].may_be_negative:
        raise ValidationFailed(fields={"target_value": f"must not be negative for {metric}"})


def check_window(timeframe: object, start: GoalDay | UnsetType, end: GoalDay | UnsetType) -> None:
    """Raise ValidationFailed unless there are two ordered dates with timeframe custom, and none otherwise.

    Rule G3 for the body; `find_changes` checks an omitted timeframe against the stored goal.
    """
    dates = {"custom_start": start, "custom_end": end}
    present = [field for field, day in dates.items() if day is not UNSET]
    missing = [field for field in dates if field not in present]
    if timeframe == "custom" and missing:
        raise ValidationFailed(fields=dict.fromkeys(missing, "is required when timeframe is custom"))
    if timeframe not in ("custom", UNSET) and present:
        raise ValidationFailed(fields=dict.fromkeys(present, "requires timeframe custom"))
    if not isinstance(start, UnsetType) and not isinstance(end, UnsetType) and end < start:
        raise ValidationFailed(fields={"custom_end": "must be on or after custom_start"})


def find_changes(stored: Goal, patch: GoalPatch) -> dict[str, Any]:
    """Return the members that a PATCH changes, those that change as a consequence included.

    A new metric brings its natural direction, another timeframe clears the dates of a custom goal. Raises
    ValidationFailed for an invalid body and for an invalid merged goal.
    """
    check_window(patch.timeframe, patch.custom_start, patch.custom_end)
    members: dict[str, Any] = {
        field: getattr(patch, field) for field in patch.__struct_fields__ if getattr(patch, field) is not UNSET
    }
    dates: dict[str, Any] = {
        field: str(members.pop(field)) for field in ("custom_start", "custom_end") if field in members
    }
    if patch.timeframe is UNSET:
        # Dates without a timeframe are validated but not written, even on a custom goal (G4).
        if dates and stored.timeframe != "custom":
            raise ValidationFailed(fields=dict.fromkeys(dates, "requires timeframe custom"))
    elif patch.timeframe == "custom":
        members |= dates
    else:
        members |= {"custom_start": None, "custom_end": None}
    if not isinstance(patch.metric, UnsetType) and patch.metric != stored.metric:
        members.setdefault("direction", METRICS[patch.metric].direction)
    if not members.keys().isdisjoint(("metric", "target_value")):
        check_target(members.get("metric", stored.metric), members.get("target_value", stored.target_value))
    return {field: value for field, value in members.items() if value != getattr(stored, field)}
