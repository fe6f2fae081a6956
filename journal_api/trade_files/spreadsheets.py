"""Escapes texts for spreadsheets, so that none is read as a formula."""

import re

CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
# Characters that a spreadsheet may skip before a formula: white space, quotes, control and invisible
# characters.
PASSED_OVER = rf'\s"{CONTROLS}\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff'
# Some spreadsheets treat full-width and small forms like the signs themselves.
SIGNS = "=+@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}" + (
    "\N{SMALL EQUALS SIGN}\N{SMALL PLUS SIGN}\N{SMALL COMMERCIAL AT}"
    "\N{FULLWIDTH HYPHEN-MINUS}\N{SMALL HYPHEN-MINUS}\N{MINUS SIGN}-"
)
# The lookbehind matches a run before a sign only at its start, so that the time is linear in its length.
BEFORE_SIGN = re.compile(rf"(?<![;{PASSED_OVER}])([;{PASSED_OVER}]*+)(?=[{SIGNS}])")
# Some spreadsheets read these as the end of a cell, whatever the separator of the file.
ENDS_CELL = re.compile(rf"[;{CONTROLS}]")


def harmless(text: str) -> str:
    """Return the text with an apostrophe before everything that could start a formula."""
    guarded = BEFORE_SIGN.sub(guard, text)
    return f"'{guarded}" if ENDS_CELL.match(guarded) else guarded


def guard(match: re.Match[str]) -> str:
    """Return the run before a sign, with an apostrophe if the sign starts a cell."""
    begins_cell = match.start() == 0 or ENDS_CELL.search(match[1])
    return f"{match[1]}'" if begins_cell else match[1]
