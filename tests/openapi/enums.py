"""The closed lists of values in the OpenAPI document, each a named component."""

from collections.abc import Iterable
from typing import Any, get_args

from journal_api.structs.goals import GoalStatus, GoalStatusFilter
from journal_api.structs.import_profiles import CostSign, ProfileKind
from journal_api.structs.imports import DateOrder, DateOrderSource, TimezoneSource, VerdictWord
from journal_api.structs.instruments import InstrumentSource
from journal_api.structs.reports import EdgeReason, GroupBy
from journal_api.structs.trades import Direction, Grade, Outcome
from journal_api.values.goal_kinds import GoalKind
from journal_api.values.metric_formulas import GoalDirection, Reason
from journal_api.values.metrics import MetricKey, Unit
from journal_api.values.periods import Timeframe
from journal_api.values.types import TagType

ENUMS: dict[str, tuple[str, ...]] = {
    "CostSign": get_args(CostSign),
    "DateOrder": get_args(DateOrder),
    "DateOrderSource": get_args(DateOrderSource),
    "Direction": get_args(Direction),
    "EdgeReason": get_args(EdgeReason),
    "GoalDirection": get_args(GoalDirection),
    "GoalKind": get_args(GoalKind),
    "GoalStatus": get_args(GoalStatus),
    "GoalStatusFilter": get_args(GoalStatusFilter),
    "Grade": get_args(Grade),
    "GroupBy": get_args(GroupBy),
    "InstrumentSource": get_args(InstrumentSource),
    "MetricKey": tuple(MetricKey.allowed),
    "MetricUnit": get_args(Unit),
    "NullReason": get_args(Reason),
    "Outcome": get_args(Outcome),
    "ProfileKind": get_args(ProfileKind),
    "TagType": get_args(TagType),
    "Timeframe": get_args(Timeframe),
    "TimezoneSource": get_args(TimezoneSource),
    "VerdictWord": get_args(VerdictWord),
}
NAMES = {frozenset(values): name for name, values in ENUMS.items()}


def enum_schemas() -> dict[str, Any]:
    """The components, by name.

    `x-enum-varnames` are names for generated code, which would give `A` and `A+` the same one.
    """
    return {
        name: {
            "title": name,
            "type": "string",
            "enum": list(values),
            "x-enum-varnames": [variable_name(value) for value in values],
        }
        for name, values in ENUMS.items()
    }


def variable_name(value: str) -> str:
    return value.upper().replace("+", "_PLUS").replace("-", "_")


def enum_name(values: Iterable[str]) -> str | None:
    """The name of the component with these values, None if there is none."""
    return NAMES.get(frozenset(values))
