"""Queries and responses of how an account stands by its rules (docs/accounts.md#standing)."""

from decimal import Decimal
from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from journal_api.structs.account_rules import FloorKind
from journal_api.values.types import Day, DayText

RuleState = Literal["met", "within", "near", "broken", "open"]
StandingReason = Literal["no_profit", "out_of_range"]


class StandingQuery(Struct, kw_only=True):
    """The standing at the end of the trading day `at`, by default of the current one of the account.

    `with=days` adds the days to the floor.
    """

    at: Day | None = None
    parts: Literal["days"] | None = field(name="with", default=None)


class RuleStanding(Struct, kw_only=True, forbid_unknown_fields=True):
    """A limit is `within`, `near` or `broken`, a target `met` or `open`.

    `room` is what is left of a limit. `since` is the day that broke the limit, or since which the target is
    met. The state and the amounts are null if one of them is too large (`reason` is `out_of_range`).
    """

    state: RuleState | None
    value: Decimal | None
    limit: Decimal | None
    room: Decimal | None = None
    since: DayText | None
    reason: StandingReason | None = None


class FloorDay(Struct, kw_only=True, forbid_unknown_fields=True):
    """A day with trades or cash: the balance at its end, and the floor that held on it."""

    day: DayText
    balance: Decimal | None
    floor: Decimal | None


class FloorStanding(RuleStanding, kw_only=True, forbid_unknown_fields=True):
    """The balance and the floor. Without a `peak_day`, the peak is the balance of the start or reset.

    Only the kind `trade` has a `peak_trade_id`. `with=days` adds the `days` since the start or reset.
    """

    kind: FloorKind
    peak: Decimal | None
    peak_day: DayText | None
    peak_trade_id: int | None = None
    locked: bool
    days: list[FloorDay] | UnsetType = UNSET


class TargetStanding(RuleStanding, kw_only=True, forbid_unknown_fields=True):
    """An amount or a number of days to be reached, and what is missing.

    `counts_from` is the first day that counts, after a reset or a payout; null for the start of the account.
    """

    missing: Decimal | None
    counts_from: DayText | None


class BestDayStanding(RuleStanding, kw_only=True, forbid_unknown_fields=True):
    """The percentage of `total` that the best day is.

    With `remaining` more profit it is at most the limit. The percentage is null without a profit (`reason`
    is `no_profit`).
    """

    remaining: Decimal | None
    total: Decimal | None
    best: Decimal | None
    best_day: DayText | None
    counts_from: DayText | None


class PayoutStanding(Struct, kw_only=True, forbid_unknown_fields=True):
    """What is above the floor, and what of a payout of all of it would reach the owner.

    It is no promise that the firm pays. Null if an amount is too large.
    """

    room: Decimal | None
    received: Decimal | None


class Standing(Struct, kw_only=True, forbid_unknown_fields=True):
    """How an account stands at the end of the day `at`, as far as closed trades show.

    `start_day` is the day of the last reset, null for the start of the account. A rule that the account does
    not have is null, and so is `payout` without a floor.
    """

    account_id: int
    at: DayText
    sees: Literal["closed trades"] = "closed trades"
    start_day: DayText | None
    start_balance: Decimal
    balance: Decimal | None
    last_payout_day: DayText | None
    floor: FloorStanding | None = None
    payout: PayoutStanding | None = None
    daily_loss: RuleStanding | None = None
    profit_target: TargetStanding | None = None
    best_day_share: BestDayStanding | None = None
    qualifying_day: TargetStanding | None = None
    minimum_days: TargetStanding | None = None
