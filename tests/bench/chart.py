"""What a trader waits for as a bar chart for the README; it shows on light and dark pages."""

import math
from html import escape

from bench.waits import Waited, Waits

WIDTH, LABELS, BARS = 760, 190, 500
BAR, GAP, TOP = 9, 8, 44
COLORS = ("#9ecbff", "#54a0f7", "#1f6feb", "#0b3d91")  # from the shortest journal to the longest
TEXT, LINE = "#737b85", "#9198a1"
LEAST, MOST = 1e-3, 10.0  # seconds at the ends of the scale, which is logarithmic
TICKS = {0.001: "1 ms", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s"}


def svg(waits: Waits) -> str:
    """A group of bars an operation, one a size."""
    step = BAR * len(waits.sizes) + GAP
    height = TOP + step * len(waits.rows) + 8
    sizes = ", ".join(f"{size:,}" for size in waits.sizes)
    title = f"What a trader waits for after a write, with {sizes} trades"
    body = [line for tick, label in TICKS.items() for line in draw_tick(tick, label, height)]
    for number, row in enumerate(waits.rows):
        body += draw_row(row, TOP + number * step)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
            f' height="{height}" font-family="system-ui, sans-serif" font-size="11" fill="{TEXT}"'
            ' role="img">',
            f"<title>{escape(title)}; shorter is better</title>",
            text(0, 13, title, bold=True),
            *body,
            "</svg>\n",
        ]
    )


def draw_tick(seconds: float, label: str, height: int) -> list[str]:
    x = LABELS + place(seconds)
    line = f'<line x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{height}" stroke="{LINE}" stroke-opacity="0.35"/>'
    return [line, text(x - 12, TOP - 13, label)]


def draw_row(row: Waited, y: int) -> list[str]:
    found = [text(0, y + BAR * len(row.seconds) // 2 + 4, row.what)]
    for number, seconds in enumerate(row.seconds):
        color, width = COLORS[-len(row.seconds) :][number], max(2, place(seconds))
        found.append(f'<rect x="{LABELS}" y="{y + number * BAR}" width="{width}" height="{BAR - 1}" fill="{color}"/>')
    return found


def place(seconds: float) -> int:
    """Where a time is on the scale, from the left."""
    share = math.log(max(seconds, LEAST) / LEAST) / math.log(MOST / LEAST)
    return round(min(share, 1.1) * BARS)


def text(x: int, y: int, words: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}"{weight}>{escape(words)}</text>'
