"""The response of `GET /v1/metrics`."""

from msgspec import Struct

from journal_api.statistics.formulas import GoalDirection, Unit
from journal_api.statistics.metrics import MetricName


class Metric(Struct, kw_only=True, forbid_unknown_fields=True):
    key: MetricName
    title: str
    description: str
    unit: Unit
    natural_direction: GoalDirection
