"""Queries and responses of exits: what an additional stop or target would have made of decisions."""

import re
from decimal import Decimal
from typing import Any, ClassVar, Literal, Self

from msgspec import Struct

from journal_api.errors import ValidationFailed
from journal_api.metrics.inference import ExitVerdict
from journal_api.structs.trades import TradeSelection
from journal_api.values.money import PositiveMoney

ExitUnit = Literal["r", "currency"]


class ExitLevels(tuple[PositiveMoney, ...]):
    """Stops or targets in the query, separated by commas; in ascending order."""

    maximum: ClassVar[int] = 12
    number: ClassVar[str] = "[0-9]{1,11}([.][0-9]{1,8})?"
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "pattern": f"^{number}(,{number}){{0,{maximum - 1}}}$",
        "description": f"Up to {maximum} different numbers above 0, separated by commas.",
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        texts = str(value).split(",")
        if len(texts) > cls.maximum or not all(re.fullmatch(cls.number, text) for text in texts):
            raise ValueError(f"must be 1 to {cls.maximum} numbers above 0, separated by commas")
        levels = sorted(PositiveMoney.checked(Decimal(text)) for text in texts)
        if len(set(levels)) < len(levels):
            raise ValueError("must not repeat a number")
        return cls(levels)

    @property
    def units(self) -> list[int]:
        return [level.units for level in self]


STOPS = ExitLevels.decode("0.25,0.5,0.75,1,1.25,1.5,1.75,2")
TARGETS = ExitLevels.decode("0.5,1,1.5,2,2.5,3,3.5,4,4.5,5")
NEEDS_LEVELS = "is needed with unit=currency, or targets: amounts of money, separated by commas"


class ExitQuery(TradeSelection, kw_only=True):
    """Only closed trades with `mae` and `mfe` count, with unit `r` those that have an `initial_risk`, too.

    `stops` and `targets` are distances from the entry in the unit. In R they are 0.25 to 2 and 0.5 to 5 by
    default; in money there is no default.
    """

    unit: ExitUnit = "r"
    stops: ExitLevels | None = None
    targets: ExitLevels | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit == "currency" and not self.stops and not self.targets:
            raise ValidationFailed(fields={"stops": NEEDS_LEVELS})

    @property
    def levels(self) -> tuple[ExitLevels, ExitLevels]:
        """The stops and the targets."""
        if self.unit == "currency":
            return self.stops or ExitLevels(), self.targets or ExitLevels()
        return self.stops or STOPS, self.targets or TARGETS


class Ends(Struct, kw_only=True, forbid_unknown_fields=True):
    """The value if every decision that reached both had its stop first, and if it had its target first."""

    low: Decimal
    high: Decimal


class AsItWas(Struct, kw_only=True, forbid_unknown_fields=True):
    """The decisions as they were; null without any."""

    expectancy: Decimal | None
    net_pnl: Decimal
    win_rate: Decimal | None


class ExitDifference(Struct, kw_only=True, forbid_unknown_fields=True):
    """The mean difference to what the decisions made (docs/statistics.md#exits).

    `interval` reaches from the lower end of the 95 % interval of `low` to the upper end of that of `high`.
    `q` looks at all cells. `verdict` is `better` only if `low` is, `worse` only if `high` is, `too_few` below
    10 changed decisions or 5 days with one: then `interval`, `p` and `q` are null.
    """

    low: Decimal | None
    high: Decimal | None
    interval: Ends | None
    p: float | None
    q: float | None
    verdict: ExitVerdict


class ExitCell(Struct, kw_only=True, forbid_unknown_fields=True):
    """An additional stop and target; null for none. `either` of the `changed` decisions reached both."""

    stop: Decimal | None
    target: Decimal | None
    expectancy: Ends | None
    net_pnl: Ends
    win_rate: Ends | None
    changed: int
    either: int
    difference: ExitDifference


class ExitHalves(Struct, kw_only=True, forbid_unknown_fields=True):
    """The cell with the highest low end in the first half of the decisions, and its mean difference in each half."""

    stop: Decimal | None
    target: Decimal | None
    first: Ends
    second: Ends


class Exits(Struct, kw_only=True, forbid_unknown_fields=True):
    """What additional stops and targets would have made of decisions, in R or in money.

    `halves` is null unless each half has 10 decisions, and a cell changes 10 of the first.
    """

    unit: ExitUnit
    decisions: int
    without_excursions: int
    as_it_was: AsItWas
    cells: list[ExitCell]
    halves: ExitHalves | None
