"""What the migration to version 12 reads of the trades that were stored before it, and SQL cannot.

Until then a trade had the checksums of what files had stated of its columns, and a merged trade its parts
with all columns and rows of their time.
"""

import json
from typing import Any
from zlib import crc32

# The columns with a checksum, in its order. Where the multiplier has none, the result follows from another.
CHECKED = (
    *("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("opened_at", "closed_at", "gross_pnl", "fees"),
)
# The columns that an edited column brings with it; those that follow from the fills of a trade bring each other.
OF_EDITED = {
    "symbol": ("symbol", "contract", "root"),
    "multiplier": ("multiplier",),
    "gross_pnl": ("gross_pnl",),
    "fees": ("fees", "fees_source"),
}
OF_POSITION = (*("direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at", "gross_pnl", "fills"),)
OF_FILES = (*CHECKED, "fills", "mae", "mfe", "fees_source", "external_id")
# The members that a part lacks which was merged before there were excursions or pictures.
OF_LATER_RELEASES: dict[str, Any] = {"mae": None, "mfe": None, "picture_ids": ()}
# The members that a part of a merged trade no longer has.
DROPPED = ("fingerprint", "occurrence", "content", "import_updates")


def edited_columns(checksums: bytes | None, *values: object) -> str | None:
    """Return the columns that the owner of a trade has edited, joined by commas, by the values of CHECKED."""
    if checksums is None:
        return None
    stated = [checksums[4 * place : 4 * place + 4] for place in range(len(CHECKED))]
    differing = [
        name
        for name, value, checksum in zip(CHECKED, values, stated, strict=True)
        if checksum not in (bytes(4), (crc32(str(value).encode()) or 1).to_bytes(4))
        and (name != "gross_pnl" or stated[3] != bytes(4))
    ]
    return ",".join(sorted({one for name in differing for one in OF_EDITED.get(name, OF_POSITION)})) or None


def edited_of_whole(merged: str, fees: int, gross_pnl: int | None, fills: str | None) -> str | None:
    """Return the columns of a merged trade that its owner set, in any part or since; all if a part was typed."""
    parts = json.loads(merged)
    if all(part["content"] is None for part in parts):
        return None
    if any(part["content"] is None for part in parts):
        return ",".join(sorted({*OF_FILES, *OF_EDITED["symbol"]}))
    edited = {name for part in parts for name in (edited_columns(*read_checked(part)) or "").split(",") if name}
    if fees != sum(part["fees"] for part in parts):
        edited |= {*OF_EDITED["fees"]}
    if list_exchanges(fills) != list_exchanges(parts[0]["made"]["fills"]):
        edited |= {*OF_POSITION}
    elif gross_pnl is not None and gross_pnl != sum(part["gross_pnl"] for part in parts):
        edited.add("gross_pnl")
    return ",".join(sorted(edited)) or None


def list_exchanges(fills: str | None) -> list[tuple[Any, ...]]:
    return [(one["side"], one["quantity"], one["price"], one["at"]) for one in json.loads(fills or "[]")]


def read_checked(part: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of `edited_columns` for a part of a merged trade."""
    return part["content"] and bytes.fromhex(part["content"]), *(part[name] for name in CHECKED)


def state_parts(merged: str) -> str:
    """Return the parts of a merged trade, each with its id as the id of its statement."""
    parts = json.loads(merged)
    for part in parts:
        state_part(part)
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def state_part(part: dict[str, Any]) -> list[int]:
    """Change a part, and the parts that it was merged from itself. Returns the ids of its statements."""
    part["edited"] = edited_columns(*read_checked(part))
    part["typed"] = None
    for name, value in OF_LATER_RELEASES.items():
        part.setdefault(name, value)
    part["statement_ids"] = (
        [statement_id for inner in part["merged"] for statement_id in state_part(inner)]
        if part["merged"]
        else [part["id"]]
    )
    if "touched_at" in part:
        part["changed_at"] = part.pop("touched_at")
    for link in part.get("import_links", []):
        for name in ("updated_at", "written_at"):
            link.pop(name, None)
    for name in DROPPED:
        part.pop(name, None)
    return part["statement_ids"]  # type: ignore[no-any-return]
