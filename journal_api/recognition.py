"""How an import knows a trade again, and whether the file says anything new of it (DECISIONS 32)."""

import hashlib
from collections.abc import Container
from typing import Any

# What a broker says of a trade. An import may correct these; all else is the trader's.
FACTS = (
    *("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("opened_at", "closed_at", "gross_pnl", "fees"),
)


def fingerprint_of(columns: dict[str, Any]) -> bytes:
    """What makes a trade the same trade: its external id, else what was traded, when and at which prices.

    Fees and results are not part of it: a broker that corrects them does not make a new trade.
    """
    if columns["external_id"] is not None:
        return _digest("external", columns["external_id"])
    fields = ("symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at")
    return _digest("content", *(columns[field] for field in fields))


def content_of(columns: dict[str, Any], unstated: Container[str]) -> bytes:
    """All that a file says of a trade: a later file that says something else corrects it."""
    return _digest(*("" if fact in unstated else columns[fact] for fact in FACTS))


def _digest(*parts: object) -> bytes:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:16]
