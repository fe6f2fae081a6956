"""Text that a client sent, made fit for an error message."""

from journal_api.values.types import CONTROL

LONGEST_QUOTE = 100  # characters


def shortened(text: str) -> str:
    """The text, cut to LONGEST_QUOTE characters."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."


def quoted(text: str) -> str:
    """The text in single quotes, cut, with control characters replaced."""
    return f"'{shortened(CONTROL.sub(chr(0xFFFD), text))}'"
