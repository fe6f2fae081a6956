"""Queries and responses of the snapshots of a goal (DECISIONS 13)."""

from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from journal_api.values.types import Day, DayText, Instant, Offset


class SnapshotQuery(Struct, kw_only=True):
    """`from` and `to` are compared with `period_start`, both inclusive."""

    limit: Annotated[int, Meta(ge=1, le=365)] = 50
    offset: Offset = 0
    since: Day | None = field(name="from", default=None)
    until: Day | None = field(name="to", default=None)


class Snapshot(Struct, kw_only=True, forbid_unknown_fields=True):
    goal_id: int
    period_start: DayText
    period_end: DayText
    target: Decimal
    actual: Decimal | None
    achieved: bool | None
    closed: bool
    snapshot_data: dict[str, Any]
    computed_at: Instant
