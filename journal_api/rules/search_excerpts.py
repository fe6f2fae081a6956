"""The excerpt of a text in which a search found its words, and where they are in it."""

import re
from typing import NamedTuple

# Around what was found, as FTS5 is told to put them: no stored text has these characters.
BEGIN, END = "\x02", "\x03"
MARKED = re.compile(f"{BEGIN}([^{END}]*){END}")
MAX_LENGTH = 400  # characters: a word may be as long as the text


class Excerpt(NamedTuple):
    """A part of a text, with the [start, end) of what was found in it, in code points."""

    text: str
    marks: list[tuple[int, int]]


def split_marks(marked: str) -> Excerpt:
    """Return the excerpt without the characters around what was found."""
    marks = []
    for index, found in enumerate(MARKED.finditer(marked)):
        start = found.start() - 2 * index  # the characters of earlier marks are not in the text
        if start + len(found[1]) <= MAX_LENGTH:
            marks.append((start, start + len(found[1])))
    return Excerpt(MARKED.sub(r"\1", marked)[:MAX_LENGTH], marks)
