"""Rows of a file that name the row of their original (`copy_of`), also one further down."""

from collections.abc import Mapping
from typing import NamedTuple

from journal_api.errors import ValidationFailed


class NamedTrade(NamedTuple):
    """The trade of a row with a name, or that is a copy."""

    trade_id: int
    copy_of: str | None  # the name of another row
    source_trade_id: int | None  # of a stored trade


def find_original(name: str, rows: Mapping[str, NamedTrade]) -> int:
    """Return the id of the original that the row with the name is, or leads to. Raises ValidationFailed."""
    visited: set[str] = set()
    found, wanted = rows.get(name), name
    while found is not None and found.source_trade_id is None and found.copy_of is not None:
        visited.add(wanted)
        wanted = found.copy_of
        found = None if wanted in visited else rows.get(wanted)
    if found is None:
        reason = f"names {name!r}, which leads to no original in this file"
        raise ValidationFailed(fields={"copy_of": reason})
    return found.source_trade_id or found.trade_id
