"""Rounds in turn, and what they come to. The machine is noisy, so a ratio is taken within each round."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

# The service that the chart compares with.
PEER = "FastAPI + SQLAlchemy"


class Pace(NamedTuple):
    """How much is measured: rounds of so many seconds of load, or of so many calls one after another."""

    rounds: int = 5
    seconds: float = 2
    connections: int = 16
    least_requests: int = 32  # a round of load goes on until it has seen so many
    calls: int = 20
    import_rows: int = 20_000
    most_rows: int = 20_000  # of the import whose memory is measured
    warm_up: bool = True
    shorter: Sequence[int] = (100, 10, 1)  # journals, by how much shorter they are than the longest


FULL = Pace()
QUICK = Pace(1, 0.1, 1, 1, calls=2, import_rows=200, most_rows=1000, warm_up=False, shorter=(10, 1))

Side = Callable[[], float]  # one round: how many a second
Unit = Literal["requests", "rows", "time"]


class Other(NamedTuple):
    """What ours is compared with. With `at_most` the ratio is of times, else of rates."""

    name: str
    run: Side
    target: float | None = None
    at_most: bool = False


class Case(NamedTuple):
    what: str
    unit: Unit
    ours: Side
    others: Sequence[Other]


class Spread(Struct, frozen=True):
    median: float
    least: float
    most: float


class Ratio(Struct, frozen=True):
    """Ours against one other."""

    other: str
    rate: Spread
    ratio: Spread
    target: float | None
    at_most: bool
    is_met: bool | None


class Compared(Struct, frozen=True, tag="compared"):
    what: str
    unit: Unit
    rate: Spread
    ratios: list[Ratio]


class Limited(Struct, frozen=True, tag="limited"):
    """A number that has a limit of its own, compared with nothing."""

    what: str
    unit: Literal["MiB", "s"]
    value: Spread
    limit: float
    is_met: bool


Result = Compared | Limited


def compare(case: Case, pace: Pace) -> Compared:
    """Ours, each other, ours, each other, ..."""
    sides = [case.ours, *(other.run for other in case.others)]
    if pace.warm_up:
        for side in sides:
            side()
    ours, *others = zip(*([side() for side in sides] for _ in range(pace.rounds)), strict=True)
    ratios = [ratio(other, ours, theirs) for other, theirs in zip(case.others, others, strict=True)]
    return Compared(case.what, case.unit, spread(ours), ratios)


def ratio(other: Other, ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    found = spread(b / a if other.at_most else a / b for a, b in zip(ours, theirs, strict=True))
    is_met = None
    if other.target is not None:
        is_met = found.median <= other.target if other.at_most else found.median >= other.target
    return Ratio(other.name, spread(theirs), found, other.target, other.at_most, is_met)


def limited(what: str, unit: Literal["MiB", "s"], values: Iterable[float], limit: float) -> Limited:
    value = spread(values)
    return Limited(what, unit, value, limit, value.median <= limit)


def spread(values: Iterable[float]) -> Spread:
    values = list(values)
    return Spread(statistics.median(values), min(values), max(values))
