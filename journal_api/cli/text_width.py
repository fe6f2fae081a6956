"""Text in columns of a terminal, where a letter of East Asia is two columns wide and an accent none."""

import unicodedata

ELLIPSIS = "..."


def width_of(text: str) -> int:
    """Return how many columns the text takes."""
    return sum(map(columns_of, text))


def columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, width: int) -> str:
    """Return the text in exactly so many columns: cut with an ellipsis, or filled with spaces."""
    clipped = text if width_of(text) <= width else start_of(text, width - len(ELLIPSIS)) + ELLIPSIS
    return clipped + " " * (width - width_of(clipped))


def start_of(text: str, width: int) -> str:
    """Return the longest start of the text that takes at most so many columns."""
    taken = 0
    for index, character in enumerate(text):
        taken += columns_of(character)
        if taken > width:
            return text[:index]
    return text
