"""Rounds in turn, and what they come to. The machine is noisy, so a ratio is taken within each round."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

# The service that the chart compares with.
PEER = "FastAPI + SQLAlchemy"


class Pace(NamedTuple):
    """How much is measured: rounds of so many seconds of load, or of so many calls one after another."""

    rounds: int
    seconds: float
    connections: int
    least_requests: int  # a round of load goes on until it has seen so many
    calls: int
    import_rows: int
    warm_up: bool


FULL = Pace(
    rounds=5, seconds=2, connections=16, least_requests=32, calls=20, import_rows=20_000, warm_up=True
)
QUICK = Pace(rounds=1, seconds=0.1, connections=1, least_requests=1, calls=2, import_rows=200, warm_up=False)


class Patience(NamedTuple):
    """How closely growth is measured, in journals that are so many times shorter than the longest.

    Each operation is requested `most` times, or at least `least` times in so many seconds.
    """

    shorter: Sequence[int]
    most: int
    least: int
    seconds: float


PATIENT = Patience(shorter=(1000, 100, 10, 1), most=31, least=3, seconds=0.3)
IMPATIENT = Patience(shorter=(100, 1), most=1, least=1, seconds=0)


class Round(NamedTuple):
    """One round: how many a second, and the CPU seconds of one; None where they are too few to tell."""

    rate: float
    cpu: float | None


Side = Callable[[], Round]
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


class Numbers(Struct, frozen=True):
    name: str
    rate: Spread
    cpu: Spread | None


class Ratio(Struct, frozen=True):
    """Ours against one other; `by_cpu` is that of CPU seconds, which other work on the machine moves less."""

    other: Numbers
    ratio: Spread
    by_cpu: Spread | None
    target: float | None
    at_most: bool
    is_met: bool | None


class Compared(Struct, frozen=True, tag="compared"):
    what: str
    unit: Unit
    ours: Numbers
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
    rounds = [[side() for side in sides] for _ in range(pace.rounds)]
    ours, *others = zip(*rounds, strict=True)
    return Compared(
        case.what,
        case.unit,
        numbers("journal-api", ours),
        [ratio(other, ours, theirs) for other, theirs in zip(case.others, others, strict=True)],
    )


def ratio(other: Other, ours: Sequence[Round], theirs: Sequence[Round]) -> Ratio:
    pairs = list(zip(ours, theirs, strict=True))
    rates = spread(b.rate / a.rate if other.at_most else a.rate / b.rate for a, b in pairs)
    by_cpu = [a.cpu / b.cpu if other.at_most else b.cpu / a.cpu for a, b in pairs if a.cpu and b.cpu]
    is_met = None
    if other.target is not None:
        is_met = rates.median <= other.target if other.at_most else rates.median >= other.target
    return Ratio(
        numbers(other.name, theirs),
        rates,
        spread(by_cpu) if by_cpu else None,
        other.target,
        other.at_most,
        is_met,
    )


def numbers(name: str, rounds: Iterable[Round]) -> Numbers:
    rounds = list(rounds)
    cpu = [one.cpu for one in rounds if one.cpu]
    return Numbers(name, spread(one.rate for one in rounds), spread(cpu) if cpu else None)


def limited(what: str, unit: Literal["MiB", "s"], values: Iterable[float], limit: float) -> Limited:
    value = spread(values)
    return Limited(what, unit, value, limit, value.median <= limit)


def spread(values: Iterable[float]) -> Spread:
    values = list(values)
    return Spread(statistics.median(values), min(values), max(values))
