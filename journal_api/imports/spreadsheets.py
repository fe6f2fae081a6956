"""Escapes texts for spreadsheets, so that none is read as a formula."""

import re
import unicodedata

# Some spreadsheets treat full-width and small forms like the signs themselves.
SIGNS = "=+@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}" + (
    "\N{SMALL EQUALS SIGN}\N{SMALL PLUS SIGN}\N{SMALL COMMERCIAL AT}"
    "\N{FULLWIDTH HYPHEN-MINUS}\N{SMALL HYPHEN-MINUS}\N{MINUS SIGN}-"
)
HAS_SIGN = re.compile(f"[{SIGNS}]")
# Some spreadsheets read these as the end of a cell, whatever the separator of the file.
ENDS_CELL = re.compile(r"[;\x00-\x1f\x7f-\x9f\u2028\u2029]")


def harmless(text: str) -> str:
    """Return the text with an apostrophe before everything that could start a formula."""
    escaped = with_apostrophes(text) if HAS_SIGN.search(text) else text
    return f"'{escaped}" if ENDS_CELL.match(escaped) else escaped


def with_apostrophes(text: str) -> str:
    """Return the text with an apostrophe before each sign that could be the first character of a cell."""
    characters: list[str] = []
    is_start_of_cell = True
    for character in text:
        if is_start_of_cell and character in SIGNS:
            characters.append("'")
            is_start_of_cell = False
        elif ENDS_CELL.match(character):
            is_start_of_cell = True
        elif not may_be_skipped(character):
            is_start_of_cell = False
        characters.append(character)
    return "".join(characters)


def may_be_skipped(character: str) -> bool:
    """Return whether a spreadsheet may skip the character before a formula.

    White space, quotes, control and invisible characters, and code points that Unicode does not assign.
    """
    return character == '"' or character.isspace() or unicodedata.category(character)[0] == "C"
