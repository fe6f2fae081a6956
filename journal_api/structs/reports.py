"""Queries and responses of reports: the statistics of groups of trades."""

import re
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from journal_api.errors import ValidationFailed
from journal_api.metrics.formulas import Reason
from journal_api.metrics.groupings import GROUPINGS, GroupBy, GroupKeys, check_keys
from journal_api.metrics.inference import EdgeReason, EdgeVerdict, Lack
from journal_api.metrics.members import ExtraStatistic, ShownStatistics
from journal_api.metrics.metrics import METRICS, MetricName
from journal_api.structs.trades import TradeSelection
from journal_api.values.types import Day, DayText, Offset, RowId, default_value

MAX_GROUPS = 200  # of one key, on one page
IntervalReason = Literal[Reason, Lack]
# A balance is of accounts on a day, not of a group of trades.
REPORTED = [key for key, metric in METRICS.items() if not metric.carries_balance]
METRIC_LIKE = re.compile("[a-z_ ]{0,40}")  # and no API key
OVERLAPS = "overlaps the days from `from` to `to`: both ranges must have no day in common"
NO_BALANCE = "balance_target is not a metric of reports: a group of trades has no balance"


def check_reported(key: str) -> None:
    """Raise ValueError unless reports have the metric."""
    if key not in METRICS:
        word = f"{key!r}" if METRIC_LIKE.fullmatch(key) else "a part of it"
        raise ValueError(f"must name metrics of GET /v1/metrics; {word} is none")
    if key not in REPORTED:
        raise ValueError(NO_BALANCE)


class ReportKeys(str):
    """What a report is grouped by: one key, or two separated by a comma."""

    pair: ClassVar[str] = "|".join(key for key in GROUPINGS if key != "none")
    json_schema: ClassVar[dict[str, Any]] = {
        "anyOf": [{"type": "string", "pattern": f"^({pair}),({pair})$"}, {"$ref": "#/components/schemas/GroupBy"}],
        "default": "none",
        "description": "One key, or two different ones separated by a comma: of tag, category, day_tag and"
        " confirmation one.",
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        check_keys(str(value).split(","))
        return cls(value)


class ReportMetrics(tuple[str, ...]):
    """Keys of metrics, separated by commas in the query."""

    parts: ClassVar[list[str]] = REPORTED
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "pattern": f"^({'|'.join(REPORTED)})(,({'|'.join(REPORTED)}))*$",
        "description": "Keys of GET /v1/metrics, separated by commas, each once; balance_target is refused.",
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        keys = str(value).split(",")
        for key in keys:
            check_reported(key)
        if len(set(keys)) < len(keys):
            raise ValueError("must not repeat a metric")
        return cls(keys)


class ReportSort(str):
    """The key of a metric: ascending, or descending after a `-`."""

    parts: ClassVar[list[str]] = REPORTED
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "pattern": f"^-?({'|'.join(REPORTED)})$",
        "description": "The key of a metric: the lowest first, or with a `-` before it the highest first.",
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        check_reported(str(value).removeprefix("-"))
        return cls(value)


class ReportQuery(TradeSelection, kw_only=True):
    """Only closed trades count. `from` and `to` are trading days, both inclusive.

    Without `sort`, periods, weekdays, hours and holding times are in their own order, other groups by net
    P&L, the highest first. `sort` is the key of a metric, with a `-` before it for the highest first.
    `compare_from` and `compare_to` are trading days of another range, beside which each group is shown.
    `category_id` is the tag category of `group_by=category`.
    """

    group_by: ReportKeys = default_value(ReportKeys("none"))
    metrics: ReportMetrics = default_value(
        ReportMetrics(("trade_count", "net_pnl", "win_rate", "profit_factor", "expectancy", "rr_realized_avg"))
    )
    sort: ReportSort | None = None
    category_id: RowId | None = None
    limit: Annotated[int, Meta(ge=1, le=2000)] = 50
    offset: Offset = 0
    compare_since: Day | None = field(name="compare_from", default=None)
    compare_until: Day | None = field(name="compare_to", default=None)
    parts: Literal["distribution"] | None = field(name="with", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_compared()
        if self.limit > MAX_GROUPS and len(self.keys) < 2:
            raise ValidationFailed(fields={"limit": f"must be at most {MAX_GROUPS} with one key"})
        if ("category" in self.keys) != (self.category_id is not None):
            raise ValidationFailed(fields={"category_id": "is required with group_by=category, and with it alone"})

    def check_compared(self) -> None:
        """Raise ValidationFailed unless the other range is one, and has no day of `from` to `to`."""
        if not self.is_compared:
            return
        begin, end = self.compare_since or Day.min, self.compare_until or Day.max
        if begin > end:
            raise ValidationFailed(fields={"compare_from": "must not be after compare_to"})
        if begin <= (self.until or Day.max) and (self.since or Day.min) <= end:
            name = "compare_from" if self.compare_since else "compare_to"
            raise ValidationFailed(fields={name: OVERLAPS})

    @property
    def is_compared(self) -> bool:
        return bool(self.compare_since or self.compare_until)

    @property
    def before(self) -> Self:
        """The report of the other range."""
        return replace(self, since=self.compare_since, until=self.compare_until, compare_since=None, compare_until=None)

    @property
    def has_distribution(self) -> bool:
        return self.keys == ("none",) or self.parts == "distribution"

    @property
    def keys(self) -> GroupKeys:
        return tuple(self.group_by.split(","))

    @property
    def evaluated(self) -> set[str]:
        """The metrics that the report shows or is sorted by."""
        return {*self.metrics, *([self.sort.removeprefix("-")] if self.sort else [])}

    @property
    def extras(self) -> set[ExtraStatistic | None]:
        return {METRICS[key].extra for key in self.evaluated}

    @property
    def is_sum_of_days(self) -> bool:
        """Whether what it reads of some days and of all others adds up."""
        return self.extras <= {None, "excursions"}


class Interval(Struct, kw_only=True, forbid_unknown_fields=True):
    """The 95 % interval of a mean or a share of `n` decisions.

    With fewer than 60 decisions, what happens once in `unseen` or more rarely may not have shown yet.
    """

    low: Decimal
    high: Decimal
    n: int
    unseen: int | None


class ReportValues(Struct, kw_only=True, forbid_unknown_fields=True):
    """The value of each requested metric; `reasons` says why a value is null.

    Metrics that are a mean or a share of decisions have intervals; `interval_reasons` says why one is null.
    """

    values: dict[str, Decimal | None]
    reasons: dict[str, Reason]
    intervals: dict[str, Interval | None]
    interval_reasons: dict[str, IntervalReason]
    statistics: ShownStatistics


class ConfirmationKey(Struct, kw_only=True, forbid_unknown_fields=True):
    confirmation_id: int
    setup_id: int
    strategy_id: int


class MovesWith(Struct, kw_only=True, forbid_unknown_fields=True):
    """A clearer line with the same answer in `agreement` percent of decisions, the opposite in the others.

    `p` belongs to the difference within two groups, the decisions with that line and the decisions without it.
    """

    id: int
    name: str | None
    agreement: Decimal
    p: float


class Edge(Struct, kw_only=True, forbid_unknown_fields=True):
    """By how much the mean of decisions with something exceeds the mean without it (docs/statistics.md).

    `low` and `high` are the 95 % interval of this difference alone. `verdict` looks at all lines of the
    report together: `more` or `less` if `q` is at most 0.05. With fewer than 10 decisions or 5 trading days
    on a side all numbers are null.
    `more_needed` is about how many more decisions would show the difference, if it stays as it is.
    """

    expectancy: Decimal | None
    low: Decimal | None
    high: Decimal | None
    p: float | None
    q: float | None
    verdict: EdgeVerdict | None
    more_needed: int | None
    present: int | None
    absent: int | None
    reason: EdgeReason | None
    moves_with: MovesWith | None


class Before(Struct, kw_only=True, forbid_unknown_fields=True):
    """The values in the range of `compare_from` and `compare_to`."""

    values: dict[str, Decimal | None]
    intervals: dict[str, Interval | None]
    trade_count: int | None


class ReportTotal(ReportValues, kw_only=True, forbid_unknown_fields=True):
    """The values over all selected trades, with another range beside them if it was asked for."""

    key: None
    name: None
    before: Before | None | UnsetType = UNSET
    difference: Edge | UnsetType = UNSET


class ReportGroup(Struct, kw_only=True, forbid_unknown_fields=True):
    """A group of trades; `key` and `name` are null for the trades without a grade, a tag and so on.

    With two keys it has `keys` and `names` instead, and the edges compare its decisions with all others.

    Groups of setups have `strategy`, its name; groups of confirmations have `setup` and `strategy`, and
    instead of `values`, `reasons` and `statistics` three of each, for the decisions with each answer:
    `present`, `absent` and `unanswered`. Groups of confirmations, tags and rules have an `edge` in money and
    one in R: with a confirmation or tag compared with without it, rules followed with rules broken.

    Beside another range a group has `before`, its values there, null without any, and `difference`, by how
    much its mean exceeds the mean before; a confirmation compares the decisions with it.
    """

    key: int | str | ConfirmationKey | None | UnsetType = UNSET
    name: str | None | UnsetType = UNSET
    keys: list[int | str | ConfirmationKey | None] | UnsetType = UNSET
    names: list[str | None] | UnsetType = UNSET
    values: dict[str, Decimal | None] | UnsetType = UNSET
    reasons: dict[str, Reason] | UnsetType = UNSET
    intervals: dict[str, Interval | None] | UnsetType = UNSET
    interval_reasons: dict[str, IntervalReason] | UnsetType = UNSET
    statistics: ShownStatistics | UnsetType = UNSET
    setup: str | None | UnsetType = UNSET
    strategy: str | None | UnsetType = UNSET
    present: ReportValues | UnsetType = UNSET
    absent: ReportValues | UnsetType = UNSET
    unanswered: ReportValues | UnsetType = UNSET
    edge: Edge | UnsetType = UNSET
    edge_r: Edge | UnsetType = UNSET
    before: Before | None | UnsetType = UNSET
    difference: Edge | UnsetType = UNSET


class Bin(Struct, kw_only=True, forbid_unknown_fields=True):
    """The decisions from `low` up to `high`, which only the last bin includes."""

    low: Decimal
    high: Decimal
    decisions: int


class Histogram(Struct, kw_only=True, forbid_unknown_fields=True):
    bins: Annotated[list[Bin], Meta(max_length=24)]


class Distribution(Struct, kw_only=True, forbid_unknown_fields=True):
    """The decisions by their result, in bins of one width that begin or end at 0.

    `net_pnl` is null for different currencies, `r` without a risk, both out of range.
    """

    net_pnl: Histogram | None
    r: Histogram | None


class Report(Struct, kw_only=True, forbid_unknown_fields=True):
    """`distribution` is of all selected decisions, and there without groups or when asked for."""

    group_by: GroupBy | list[GroupBy]
    since: DayText | None = field(name="from")
    until: DayText | None = field(name="to")
    timezone: str
    day_rollover: str
    breakeven_within: Decimal
    metrics: list[MetricName]
    total: ReportTotal
    groups: list[ReportGroup]
    distribution: Distribution | UnsetType = UNSET
