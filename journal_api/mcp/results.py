"""The results of tools as JSON text that is small and shows invisible characters."""

from collections.abc import Sequence
from typing import Any

from msgspec.json import Encoder

from journal_api.values.visible_text import escape_for_json, escape_invisible

# The longest list in one result, in characters: some 8,000 tokens. The rest is on the next page.
MAX_LIST_LENGTH = 24_000
# `str` is for the text types of journal_api.values.
ENCODER = Encoder(decimal_format="number", enc_hook=str)


def encode(value: object) -> str:
    """The value as JSON in which invisible characters are escaped."""
    return escape_invisible(ENCODER.encode(value).decode(), escape_for_json)


def clip(text: str, max_length: int) -> str:
    """The text, or its beginning and a note of its length."""
    return text if len(text) <= max_length else f"{text[:max_length]}... [{len(text)} characters]"


def without_nulls(value: Any) -> Any:
    """A copy without members that are null or an empty list, at every level."""
    if isinstance(value, dict):
        members = {name: without_nulls(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not None and member != []}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def build_page(name: str, rows: Sequence[Any], offset: int, total: int) -> dict[str, Any]:
    """The rows that fit into a result, the length of the whole list, and how to get the next page."""
    fitting = list(rows[: count_fitting(rows)])
    end = offset + len(fitting)
    more = {"more": f"{total - end} further; call again with offset={end}"} if rows and end < total else {}
    return {name: fitting, "total": total, **more}


def count_fitting(rows: Sequence[Any]) -> int:
    """The number of rows, from the first on, that MAX_LIST_LENGTH has room for; one at least."""
    length = 0
    for index, row in enumerate(rows):
        length += len(encode(row))
        if index and length > MAX_LIST_LENGTH:
            return index
    return len(rows)
