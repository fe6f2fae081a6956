"""Escapes the characters of stored texts that a reader does not see: a terminal or a model may obey them."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

# Letters, marks and signs that have no ink of their own: fillers, joiners and variation selectors.
WITHOUT_INK = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x1D159),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
)
PICTURE = "[\u2190-\u27bf\u2900-\u2bff\U0001f000-\U0001faff]\ufe0f?"
# An emoji with its joiners and selectors, or a character that may be invisible.
PARTS = re.compile(f"(?P<emoji>{PICTURE}(?:\u200d{PICTURE})*|[#*0-9]\ufe0f\u20e3)|[^ -~]")


def escape_for_python(character: str) -> str:
    """Return the escape of a character, such as \\u202e."""
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def escape_invisible(text: str, escaped: Callable[[str], str] = escape_for_python) -> str:
    """Return the text with an escape for each character that is not seen; emoji keep their joiners.

    That are control and format characters (bidirectional ones among them), line and paragraph separators,
    surrogates, private and unassigned characters, and WITHOUT_INK. `escaped` is the notation; the default is
    the form of TOML and Python.
    """

    def visible(part: re.Match[str]) -> str:
        return part[0] if part["emoji"] or is_visible(part[0]) else escaped(part[0])

    return text if text.isascii() and text.isprintable() else PARTS.sub(visible, text)


@lru_cache(maxsize=4096)
def is_visible(character: str) -> bool:
    """Return whether a reader sees the character. White space of any width counts as seen."""
    if character in WITHOUT_INK:
        return False
    return character.isprintable() or unicodedata.category(character) == "Zs"


def escape_for_json(character: str) -> str:
    """Return the JSON escape of a character: two, for one above U+FFFF."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[start : start + 2].hex()}" for start in range(0, len(units), 2))
