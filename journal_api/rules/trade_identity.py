"""How an import knows a trade again, and whether the file says anything new of it (DECISIONS 32)."""

import hashlib
import zlib
from collections.abc import Iterable
from operator import itemgetter
from struct import Struct
from typing import Any

# What a broker says of a trade. An import may correct these; all else is the trader's.
BROKER_FIELDS = (
    *("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("opened_at", "closed_at", "gross_pnl", "fees"),
)
UNSTATED = bytes(4)
CONTENT = ("symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at")
broker_fields_of, traded_of = itemgetter(*BROKER_FIELDS), itemgetter(*CONTENT)
CHECKSUMS = Struct(f">{len(BROKER_FIELDS)}I")


def fingerprint_of(columns: dict[str, Any]) -> bytes:
    """What makes a trade the same trade: its external id, else its content."""
    if columns["external_id"] is None:
        return content_fingerprint_of(columns)
    return _digest("external", columns["external_id"])


def content_fingerprint_of(columns: dict[str, Any]) -> bytes:
    """What was traded, when and at which prices.

    Fees and results are not part of it: a broker that corrects them does not make a new trade.
    """
    return _digest("content", *traded_of(columns))


def content_of(columns: dict[str, Any], unstated: Iterable[str]) -> bytes:
    """What a file says of each fact, four bytes for one, so that a later file can be told from it."""
    # 0 is kept for what is not stated.
    checksums = [zlib.crc32(str(value).encode()) or 1 for value in broker_fields_of(columns)]
    for fact in unstated:
        checksums[BROKER_FIELDS.index(fact)] = 0
    return CHECKSUMS.pack(*checksums)


def restated(before: bytes, now: bytes) -> tuple[list[str], bytes]:
    """The facts of which a file says something else than the last one did, and what has been said since."""
    said: list[str] = []
    content = bytearray(before)
    for place, fact in enumerate(BROKER_FIELDS):
        part = slice(4 * place, 4 * place + 4)
        if now[part] not in (UNSTATED, before[part]):
            said.append(fact)
            content[part] = now[part]
    return said, bytes(content)


def _digest(*parts: object) -> bytes:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:16]
