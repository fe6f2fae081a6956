"""Rounds in turn, and what they come to. The machine is noisy, so a ratio is taken within each round."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple


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


class Case(NamedTuple):
    """What is compared with the same of another program, and at least how many times as fast it should be."""

    what: str
    ours: Side
    other: str
    theirs: Side
    target: float | None = None


def compare(case: Case, pace: Pace) -> str:
    """Ours, theirs, ours, theirs, ...: a line of the table."""
    pairs = [(case.ours(), case.theirs()) for _ in range(pace.rounds + pace.warm_up)][pace.warm_up :]
    ratio = median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (median(side) for side in zip(*pairs, strict=True))
    target = "" if case.target is None else verdict(f"at least {case.target:g} x", is_met=ratio >= case.target)
    return line(case.what, f"{ours:,.0f}/s", f"{case.other}: {theirs:,.0f}/s", f"{ratio:.3g} x", target)


def limited(what: str, unit: str, values: Iterable[float], limit: float) -> str:
    """Return the line of a number that has a limit of its own."""
    value = median(values)
    return line(what, f"{value:.3g} {unit}", "", "", verdict(f"at most {limit:g} {unit}", is_met=value <= limit))


def verdict(target: str, *, is_met: bool) -> str:
    return target if is_met else f"{target}: **missed**"


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def table(titles: Sequence[str], lines: Iterable[str]) -> Iterator[str]:
    """Yield a Markdown table, a line as soon as it is there."""
    yield line(*titles)
    yield f"|{'---|' * len(titles)}\n"
    yield from lines
    yield "\n"
