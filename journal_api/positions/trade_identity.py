"""How an import recognises a stored trade, and which of its fields a file changes."""

import hashlib
import zlib
from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from struct import Struct
from typing import Any

# The fields that a broker states. An import may correct these; the other fields belong to the trader.
BROKER_FIELDS = (
    *("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("opened_at", "closed_at", "gross_pnl", "fees", "fills"),
)
# What few files state. They have no checksum: an import fills them in where a trade has none.
EXCURSIONS = ("mae", "mfe")
# The columns that an import may write in a stored trade, and that undoing it restores.
CORRECTED_FIELDS = (*BROKER_FIELDS, "fees_source", *EXCURSIONS)
UNSTATED = bytes(4)
# The fields that identify a trade without an external id.
IDENTIFYING_FIELDS = (
    "symbol",
    "direction",
    "quantity",
    "entry_price",
    "exit_price",
    "opened_at",
    "closed_at",
)
broker_values, identifying_values = itemgetter(*BROKER_FIELDS), itemgetter(*IDENTIFYING_FIELDS)
CONTENT = "\x1f".join(("content", *["%s"] * len(IDENTIFYING_FIELDS)))
CHECKSUMS = Struct(f">{len(BROKER_FIELDS)}I")


def compute_fingerprint(columns: dict[str, Any]) -> bytes:
    """Return the 16 bytes that identify a trade: a hash of its external id, without one of its content."""
    if columns["external_id"] is None:
        return compute_content_fingerprint(columns)
    return _digest(f"external\x1f{columns['external_id']}")


def compute_content_fingerprint(columns: dict[str, Any]) -> bytes:
    """Return a hash of symbol, direction, quantity, prices and times.

    Fees and results are not included: a correction of them by the broker must not add a new trade.
    """
    return _digest(CONTENT % identifying_values(columns))


def compute_checksums(columns: dict[str, Any], unstated: Iterable[str]) -> bytes:
    """Return four bytes per broker field, a checksum that differs when a later file states another value."""
    checksums = list(map(checksum, broker_values(columns)))
    if columns["fills"] is None:
        unstated = (*unstated, "fills")
    for field in unstated:
        checksums[BROKER_FIELDS.index(field)] = 0  # stands for a field that the file does not state
    return CHECKSUMS.pack(*checksums)


@lru_cache(maxsize=8192)
def checksum(value: object) -> int:
    """Return the checksum of a field, which is never 0."""
    return zlib.crc32(str(value).encode()) or 1


def build_row_key(fingerprint: bytes, occurrence: int) -> bytes:
    """Return the eight bytes that identify a row of a pair, by its ordinal among equal rows."""
    return fingerprint[:7] + bytes([occurrence % 256])


def read_row_keys(content: bytes | None, fingerprint: bytes, occurrence: int) -> list[bytes]:
    """Return the keys of the rows of a position, which follow the checksums unless it has one row."""
    keys = (content or b"")[CHECKSUMS.size :]
    if not keys:
        return [build_row_key(fingerprint, occurrence)]
    return [keys[begin : begin + 8] for begin in range(0, len(keys), 8)]


def read_fill_ids(external_id: str | None) -> dict[str, str]:
    """Return the ids of two fills by their sides, of which an external id consists in Tradovate's files."""
    buy_id, _, sell_id = (external_id or "").partition("-")
    return {"buy": buy_id, "sell": sell_id} if buy_id.isdigit() and sell_id.isdigit() else {}


def changed_fields(before: bytes, after: bytes) -> tuple[list[str], bytes]:
    """Return the fields whose checksum differs from earlier files, and the merged checksums.

    Fields that the new file does not state keep their checksum, and so do the keys of rows.
    """
    changed: list[str] = []
    size = CHECKSUMS.size
    content = bytearray(before[:size].ljust(size, b"\0"))  # earlier releases had no checksum of the fills
    for index, field in enumerate(BROKER_FIELDS):
        part = slice(4 * index, 4 * index + 4)
        if after[part] not in (UNSTATED, content[part]):
            changed.append(field)
            content[part] = after[part]
    return changed, bytes(content) + (after[size:] or before[size:])


def states(content: bytes, field: str) -> bool:
    """Return whether any file has stated the field of a stored trade."""
    begin = 4 * BROKER_FIELDS.index(field)
    return content[begin : begin + 4] != UNSTATED


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]
