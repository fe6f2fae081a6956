"""The results as text for the terminal."""

from bench.measure import Limited, Ratio, Result, Spread, Unit
from bench.waits import Waited, Waits

LINE = "{:<44}{:>11}{:>11}{:>11}  {}".format
HEAD = LINE("", "median", "least", "most", "")


def waits_block(waits: Waits) -> str:
    """A row of Markdown for each operation: the time at each size, and the ratio at the largest."""
    sizes = [f"{size:,}" for size in waits.sizes]
    lines = [f"| ms, by the number of trades | {' | '.join(sizes)} | times the bare statement | target |"]
    lines.append("|---" * (len(sizes) + 3) + "|")
    for row in waits.rows:
        seconds = " | ".join(f"{one * 1000:,.{0 if one > 0.01 else 1}f}" for one in row.seconds)
        ratio = f"{row.ratios[-1]:.1f} x" if row.ratios else ""
        lines.append(f"| {row.what} | {seconds} | {ratio} | {told(row)} |")
    return "\n".join(lines) + "\n"


def told(row: Waited) -> str:
    """The target, and whether the longest journal meets it."""
    if row.target is None:
        return ""
    return f"at most {row.target:g} x" + ("" if row.ratios[-1] <= row.target else ": **missed**")


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
