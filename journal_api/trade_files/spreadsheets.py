"""Texts as cells of a spreadsheet: none of them is taken for a formula."""

import re

CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
# What a spreadsheet may pass over before a formula: white space, quotes, control and invisible characters.
PASSED_OVER = rf'\s"{CONTROLS}\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff'
# Full-width and small forms are taken for the signs themselves.
SIGNS = "=+@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}" + (
    "\N{SMALL EQUALS SIGN}\N{SMALL PLUS SIGN}\N{SMALL COMMERCIAL AT}"
    "\N{FULLWIDTH HYPHEN-MINUS}\N{SMALL HYPHEN-MINUS}\N{MINUS SIGN}-"
)
# The run before a sign is met once, at its beginning, so that long ones cost no more than their length.
BEFORE_SIGN = re.compile(rf"(?<![;{PASSED_OVER}])([;{PASSED_OVER}]*+)(?=[{SIGNS}])")
# Some read these as the end of a cell, whatever the separator of the file.
ENDS_CELL = re.compile(rf"[;{CONTROLS}]")


def harmless(text: str) -> str:
    """The text with an apostrophe before all that a spreadsheet could take for the beginning of a formula."""
    guarded = BEFORE_SIGN.sub(guard, text)
    return f"'{guarded}" if ENDS_CELL.match(guarded) else guarded


def guard(found: re.Match[str]) -> str:
    begins_cell = found.start() == 0 or ENDS_CELL.search(found[1])
    return f"{found[1]}'" if begins_cell else found[1]
