"""The rates as a bar chart for the README, in greys and a blue that show on light and dark pages."""

from collections.abc import Sequence
from html import escape

from bench.measure import Compared, Numbers, Result
from bench.table import per_second

WIDTH, LABELS, BARS = 720, 200, 260
BAR, GAP = 16, 14
OURS, OTHERS, TEXT = "#2f81f7", "#9198a1", "#737b85"


def svg(results: Sequence[Result]) -> str:
    """One group of bars a case, each as long as its share of the fastest in the group."""
    compared = [one for one in results if isinstance(one, Compared) and one.unit != "time"]
    body, y = [], 40
    for case in compared:
        bars = [case.ours, *(ratio.other for ratio in case.ratios)]
        fastest = max(bar.rate.median for bar in bars)
        body.append(text(0, y + 12, case.what, bold=True))
        for bar in bars:
            body += bar_of(bar, y, bar.rate.median / fastest, is_ours=bar is case.ours)
            y += BAR + 4
        y += GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}"'
            f' font-family="system-ui, sans-serif" font-size="12" fill="{TEXT}" role="img">',
            "<title>Requests per second, side by side on one machine; longer is better</title>",
            text(0, 16, "Per second, side by side on one machine, medians; longer is better"),
            *body,
            "</svg>\n",
        ]
    )


def bar_of(numbers: Numbers, y: int, share: float, *, is_ours: bool) -> list[str]:
    length = max(1, round(share * BARS))
    color = OURS if is_ours else OTHERS
    told = f"{numbers.name}  {per_second(numbers.rate.median)}"
    return [
        f'<rect x="{LABELS}" y="{y}" width="{length}" height="{BAR}" rx="2" fill="{color}"/>',
        text(LABELS + length + 8, y + 12, told),
    ]


def text(x: int, y: int, words: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}"{weight}>{escape(words)}</text>'
