"""The response of `GET /v1/metrics`."""

from msgspec import Struct

from journal_api.metrics.formulas import GoalDirection, Unit
from journal_api.metrics.metrics import MetricName


class Metric(Struct, kw_only=True, forbid_unknown_fields=True):
    key: MetricName
    title: str
    description: str
    unit: Unit
    natural_direction: GoalDirection
