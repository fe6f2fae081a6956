"""Queries and responses of the snapshots of a goal (DECISIONS 16)."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from journal_api.values.metrics import Unit
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


class ShownStatistics(Struct, kw_only=True):
    """The sums and counts from which values are computed (docs/goals.md#what-a-snapshot-says).

    Amounts are null for accounts in different currencies. All members are missing if a sum was too large to
    compute. `max_drawdown`, `peak_pnl`, `win_streak`, excursions, `opening_balance` and `cash` are only there
    for metrics that need them; in reports also `trading_days`, `winning_days`, `max_trades_per_day` and
    `worst_day`.
    """

    currency: str | None | UnsetType = UNSET
    trades: int | UnsetType = UNSET
    decisions: int | UnsetType = UNSET
    wins: int | UnsetType = UNSET
    losses: int | UnsetType = UNSET
    breakevens: int | UnsetType = UNSET
    graded: int | UnsetType = UNSET
    a_plus: int | UnsetType = UNSET
    with_risk: int | UnsetType = UNSET
    with_checklist: int | UnsetType = UNSET
    checklists_confirmed: int | UnsetType = UNSET
    with_mistake: int | UnsetType = UNSET
    trading_days: int | UnsetType = UNSET
    winning_days: int | None | UnsetType = UNSET
    max_trades_per_day: int | UnsetType = UNSET
    gross_pnl: Decimal | None | UnsetType = UNSET
    fees: Decimal | None | UnsetType = UNSET
    net_pnl: Decimal | None | UnsetType = UNSET
    winning_pnl: Decimal | None | UnsetType = UNSET
    losing_pnl: Decimal | None | UnsetType = UNSET
    risk_total: Decimal | None | UnsetType = UNSET
    largest_risk: Decimal | None | UnsetType = UNSET
    worst_trade: Decimal | None | UnsetType = UNSET
    worst_day: Decimal | None | UnsetType = UNSET
    r_total: Decimal | None | UnsetType = UNSET
    max_drawdown: Decimal | None | UnsetType = UNSET
    peak_pnl: Decimal | None | UnsetType = UNSET
    win_streak: int | None | UnsetType = UNSET
    with_mae: int | UnsetType = UNSET
    mae_total: Decimal | None | UnsetType = UNSET
    with_mfe: int | UnsetType = UNSET
    mfe_total: Decimal | None | UnsetType = UNSET
    winning_mfe: Decimal | None | UnsetType = UNSET
    captured_pnl: Decimal | None | UnsetType = UNSET
    opening_balance: Decimal | None | UnsetType = UNSET
    cash: Decimal | None | UnsetType = UNSET


class SnapshotData(ShownStatistics, kw_only=True):
    """The inputs of the value (docs/goals.md#what-a-snapshot-says).

    Amounts are null for accounts in different currencies. The statistics are missing if a sum was too large
    to compute; `reason` is then `out_of_range`. `max_drawdown`, `peak_pnl`, `win_streak`, excursions,
    `opening_balance` and `cash` are only there for metrics that need them, `pace` only in the running period
    of an active goal.
    """

    unit: Unit
    timezone: str
    day_rollover: str
    breakeven_within: Decimal | UnsetType = UNSET  # snapshots of earlier versions have none
    reason: str | None
    pace: Pace | UnsetType = UNSET


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
