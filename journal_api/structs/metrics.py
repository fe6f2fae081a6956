"""The response of `GET /v1/metrics`."""

from msgspec import Struct

from journal_api.values.metric_formulas import GoalDirection
from journal_api.values.metrics import MetricName, Unit


class Metric(Struct, kw_only=True, forbid_unknown_fields=True):
    key: MetricName
    title: str
    description: str
    unit: Unit
    natural_direction: GoalDirection
