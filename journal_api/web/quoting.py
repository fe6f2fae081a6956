"""Quote a client's text in an error message."""

import re

from journal_api.values.types import CONTROL

LONGEST_QUOTE = 100  # characters
# Text this long without a separator may be an API key that was sent in the wrong place.
POSSIBLE_KEY = re.compile(r"[A-Za-z0-9_-]{30,}")


def shortened(text: str) -> str:
    """The text, cut to LONGEST_QUOTE characters."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."


def quoted(text: str) -> str:
    """The text in single quotes: cut, control characters replaced, possible API keys abbreviated."""
    printable = CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    without_keys = POSSIBLE_KEY.sub(lambda match: f"{match[0][:4]}...", printable)
    return f"'{shortened(without_keys)}'"
