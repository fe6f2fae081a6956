"""The growth of each operation as a line, both axes by powers of ten; it shows on light and dark pages."""

import math
from collections.abc import Callable, Sequence
from html import escape

from bench.chart import OURS, TEXT, text
from bench.growth import Grown, Growth
from bench.table import time

WIDTH, LEFT, PLOT, HEIGHT = 720, 60, 330, 300
TOP, BOTTOM = 40, 46
NAMES, A_NAME = LEFT + PLOT + 16, 13
GROWS, GROWS_WITH_ANSWER, GRID = "#d4622a", "#9198a1", "#9198a1"
Place = Callable[[float], float]


def svg(growths: Sequence[Growth]) -> str:
    """One plot below the other."""
    body, y = [], 0
    for growth in growths:
        body.append(f'<g transform="translate(0 {y})">')
        body += plot(growth)
        body.append("</g>")
        y += height_of(growth)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}"'
            f' font-family="system-ui, sans-serif" font-size="12" fill="{TEXT}" role="img">',
            "<title>The time of one request as the journal grows; a flat line is better</title>",
            *body,
            "</svg>\n",
        ]
    )


def height_of(growth: Growth) -> int:
    """As much as the plot needs, or the names beside it."""
    names = sum(one.grows for one in growth.operations) + 1
    return max(TOP + HEIGHT, TOP + A_NAME * names) + BOTTOM


def plot(growth: Growth) -> list[str]:
    every = [seconds for one in growth.operations for seconds in one.seconds]
    across = scale(growth.sizes[0], growth.sizes[-1], LEFT, LEFT + PLOT)
    least, most = power_below(min(every)), -power_below(1 / max(every))
    up = scale(10.0**least, 10.0**most, TOP + HEIGHT, TOP)
    lines = [text(0, 16, f"One request by the number of {growth.of}", bold=True)]
    for power in range(least, most + 1):
        lines += grid_line(round(up(10.0**power)), time(10.0**power))
    for size in growth.sizes:
        lines.append(centred(across(size), TOP + HEIGHT + 18, f"{size:,}"))
    # What grows is drawn last, over the rest.
    for one in sorted(growth.operations, key=lambda one: (one.grows, one.factor)):
        lines.append(line_of(one, growth.sizes, across, up))
    return lines + names(growth, up)


def names(growth: Growth, up: Place) -> list[str]:
    """Beside the ends of the lines that grow, moved apart; the others are counted."""
    growing = sorted((one for one in growth.operations if one.grows), key=lambda one: -one.seconds[-1])
    lines, y = [], float(TOP - A_NAME)
    for number, one in enumerate(growing):
        lowest = TOP + HEIGHT - A_NAME * (len(growing) - number - 1)
        y = max(y + A_NAME, min(up(one.seconds[-1]) + 4, lowest - A_NAME))
        told = f"{one.what}  × {one.factor:.{0 if one.factor >= 10 else 1}f}"
        lines.append(f'<text x="{NAMES}" y="{y:.0f}" fill="{color_of(one)}">{escape(told)}</text>')
    flat = len(growth.operations) - len(growing)
    y = max(y + A_NAME, TOP + HEIGHT)
    lines.append(f'<text x="{NAMES}" y="{y:.0f}" fill="{OURS}">{flat} that do not grow</text>')
    return lines


def line_of(one: Grown, sizes: Sequence[int], across: Place, up: Place) -> str:
    points = zip(sizes, one.seconds, strict=True)
    path = " ".join(f"{across(size):.1f},{up(seconds):.1f}" for size, seconds in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{color_of(one)}" stroke-width="1.5"'
        f' stroke-opacity="{1 if one.grows else 0.6}"><title>{escape(one.what)}</title></polyline>'
    )


def color_of(one: Grown) -> str:
    if one.grows_with_its_answer:
        return GROWS_WITH_ANSWER
    return GROWS if one.grows else OURS


def grid_line(y: int, name: str) -> list[str]:
    return [
        f'<line x1="{LEFT}" x2="{LEFT + PLOT}" y1="{y}" y2="{y}" stroke="{GRID}" stroke-opacity="0.3"/>',
        f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(name)}</text>',
    ]


def centred(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle">{escape(words)}</text>'


def scale(least: float, most: float, at_least: float, at_most: float) -> Place:
    """Where a number stands between two places, by its logarithm."""
    wide = math.log10(most / least)
    return lambda value: at_least + math.log10(value / least) / wide * (at_most - at_least)


def power_below(value: float) -> int:
    return math.floor(math.log10(value))
