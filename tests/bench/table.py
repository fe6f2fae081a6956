"""The results as text for the terminal."""

from bench.growth import Growth
from bench.measure import Limited, Numbers, Ratio, Result, Spread, Unit

LINE = "{:<44}{:>11}{:>11}{:>11}{:>11}  {}".format
HEAD = LINE("", "median", "least", "most", "CPU of one", "")


def growth_block(growth: Growth) -> str:
    """A line an operation: its time at each size, and how many times as much it is at the largest."""
    line = ("{:<50}" + "{:>9}" * len(growth.sizes) + "{:>9}{:>9}  {}").format
    sizes = [f"{size:,}" for size in growth.sizes]
    lines = [f"One request by the number of {growth.of}"]
    lines.append(line("", *sizes, "factor", "of CPU", ""))
    lines += [
        line(
            f"  {one.what}",
            *map(time, one.seconds),
            f"{one.factor:.3g}",
            f"{one.factor_by_cpu:.3g}",
            "GROWS" if one.grows else "",
        )
        for one in growth.operations
    ]
    return "\n".join(lines) + "\n"


def block(result: Result) -> str:
    """One case: a line for ours, for each other, and for each ratio."""
    if isinstance(result, Limited):
        spread, unit = result.value, result.unit
        numbers = [f"{value:.3g} {unit}" for value in (spread.median, spread.least, spread.most)]
        told = f"at most {result.limit:g} {unit}: {verdict(result.is_met)}"
        return f"{result.what}\n{LINE('  journal-api', *numbers, '', told)}\n"
    lines = [result.what, numbers_line(result.ours, result.unit)]
    for ratio in result.ratios:
        lines += [numbers_line(ratio.other, result.unit), ratio_line(ratio)]
    return "\n".join(lines) + "\n"


def numbers_line(numbers: Numbers, unit: Unit) -> str:
    return LINE(
        f"  {numbers.name}",
        *shown(numbers.rate, unit),
        "" if not numbers.cpu else time(numbers.cpu.median),
        "",
    )


def ratio_line(ratio: Ratio) -> str:
    by_cpu = "" if ratio.by_cpu is None else f"{ratio.by_cpu.median:.3g}"
    numbers = [f"{value:.3g}" for value in (ratio.ratio.median, ratio.ratio.least, ratio.ratio.most)]
    return LINE("  ratio", *numbers, by_cpu, target_of(ratio))


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
    return [per_second(value) for value in (rate.median, rate.least, rate.most)]


def per_second(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s"


def time(seconds: float) -> str:
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * scale >= 1 or unit == "µs":
            return (
                f"{seconds * scale:.3g} {unit}" if seconds * scale < 1000 else f"{seconds * scale:.0f} {unit}"
            )
    raise AssertionError
