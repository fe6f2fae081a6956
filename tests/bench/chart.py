"""The rates beside FastAPI + SQLAlchemy as a bar chart for the README; it shows on light and dark pages."""

from collections.abc import Iterator, Sequence
from html import escape

from bench.measure import PEER, Compared, Ratio, Result
from bench.table import per_second

WIDTH, LABELS, BARS = 760, 250, 290
BAR, GAP = 18, 10
OURS, OTHERS, TEXT = "#2f81f7", "#9198a1", "#737b85"
TITLE = f"How many times as many requests a second as the same service in {PEER}"


def svg(results: Sequence[Result]) -> str:
    """One bar a case, on one scale; the first bar is the other service."""
    cases = list(beside_peer(results))
    most = max((ratio.ratio.median for _, ratio in cases), default=1)
    body = bar_of(40, 1 / most, PEER, "1 x", OTHERS)
    for number, (case, ratio) in enumerate(cases, 1):
        rates = f"{per_second(case.rate.median)}, not {per_second(ratio.rate.median)}"
        told = f"{ratio.ratio.median:.3g} x: {rates}"
        body += bar_of(40 + number * (BAR + GAP), ratio.ratio.median / most, case.what, told, OURS)
    height = 40 + (len(cases) + 1) * (BAR + GAP)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
            f' height="{height}" font-family="system-ui, sans-serif" font-size="12" fill="{TEXT}"',
            ' role="img">',
            f"<title>{TITLE}; longer is better</title>",
            text(0, 16, TITLE, bold=True),
            *body,
            "</svg>\n",
        ]
    )


def beside_peer(results: Sequence[Result]) -> Iterator[tuple[Compared, Ratio]]:
    """The cases that were compared with the other service."""
    for case in results:
        if isinstance(case, Compared):
            yield from ((case, ratio) for ratio in case.ratios if ratio.other == PEER)


def bar_of(y: int, share: float, name: str, told: str, color: str) -> list[str]:
    length = max(2, round(share * BARS))
    return [
        text(0, y + 13, name),
        f'<rect x="{LABELS}" y="{y}" width="{length}" height="{BAR}" rx="2" fill="{color}"/>',
        text(LABELS + length + 8, y + 13, told),
    ]


def text(x: int, y: int, words: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}"{weight}>{escape(words)}</text>'
