"""Text in columns of a terminal, where a letter of East Asia is two columns wide and an accent none."""

import unicodedata
from bisect import bisect_right
from itertools import accumulate

ELLIPSIS = "..."


def text_width(text: str) -> int:
    return sum(map(measure_character, text))


def measure_character(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit_text(text: str, width: int) -> str:
    """Return the text in exactly so many columns: cut with an ellipsis, or filled with spaces."""
    clipped = text if text_width(text) <= width else cut_text(text, width - len(ELLIPSIS)) + ELLIPSIS
    return clipped + " " * (width - text_width(clipped))


def cut_text(text: str, width: int) -> str:
    """Return the longest start of the text that takes at most so many columns."""
    return text[: bisect_right(list(accumulate(map(measure_character, text))), width)]
