"""Quote a client's text in an error message."""

import re

from journal_api.values.types import CONTROL

MAX_QUOTE_LENGTH = 100  # characters
# Text this long without a separator may be an API key that was sent in the wrong place.
POSSIBLE_KEY = re.compile(r"[A-Za-z0-9_-]{30,}")


def shorten(text: str) -> str:
    return text if len(text) <= MAX_QUOTE_LENGTH else f"{text[:MAX_QUOTE_LENGTH]}..."


def quote(text: str) -> str:
    """The text in single quotes: cut, control characters replaced, possible API keys abbreviated."""
    printable = CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    without_keys = POSSIBLE_KEY.sub(lambda match: f"{match[0][:4]}...", printable)
    return f"'{shorten(without_keys)}'"
