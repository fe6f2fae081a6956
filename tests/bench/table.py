"""The results as text for the terminal."""

from bench.growth import Growth
from bench.measure import Limited, Ratio, Result, Spread, Unit

LINE = "{:<44}{:>11}{:>11}{:>11}  {}".format
HEAD = LINE("", "median", "least", "most", "")


def growth_block(growth: Growth) -> str:
    """A line an operation: its time at each size, and how many times as much it is at the largest."""
    line = ("{:<50}" + "{:>9}" * len(growth.sizes) + "{:>9}  {}").format
    lines = ["One request by the number of trades"]
    lines.append(line("", *(f"{size:,}" for size in growth.sizes), "factor", ""))
    for one in growth.operations:
        factor = one.seconds[-1] / one.seconds[0]
        told = "GROWS" if factor >= 3 else ""
        lines.append(line(f"  {one.what}", *map(time, one.seconds), f"{factor:.3g}", told))
    return "\n".join(lines) + "\n"


def block(result: Result) -> str:
    """One case: a line for ours, for each other, and for each ratio."""
    if isinstance(result, Limited):
        told = f"at most {result.limit:g} {result.unit}: {verdict(result.is_met)}"
        numbers = [f"{value:.3g} {result.unit}" for value in each(result.value)]
        return f"{result.what}\n{LINE('  journal-api', *numbers, told)}\n"
    lines = [result.what, LINE("  journal-api", *shown(result.rate, result.unit), "")]
    for ratio in result.ratios:
        lines.append(LINE(f"  {ratio.other}", *shown(ratio.rate, result.unit), ""))
        numbers = [f"{value:.3g}" for value in each(ratio.ratio)]
        lines.append(LINE("  ratio", *numbers, target_of(ratio)))
    return "\n".join(lines) + "\n"


def each(spread: Spread) -> tuple[float, float, float]:
    return spread.median, spread.least, spread.most


def target_of(ratio: Ratio) -> str:
    if ratio.target is None:
        return ""
    return f"at {'most' if ratio.at_most else 'least'} {ratio.target:g}: {verdict(ratio.is_met)}"


def verdict(is_met: bool | None) -> str:
    return "met" if is_met else "NOT MET"


def shown(rate: Spread, unit: Unit) -> list[str]:
    """Median, least and most; a time where the unit is time."""
    if unit == "time":
        return [time(1 / value) for value in (rate.median, rate.most, rate.least)]
    return [per_second(value) for value in each(rate)]


def per_second(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s"


def time(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
