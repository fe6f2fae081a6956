"""The parts of merged trades, by what identifies them in imports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aiosqlite import Connection
from msgspec import Struct, json

from journal_api.positions.trade_identity import compute_content_fingerprint, read_row_keys
from journal_api.repositories.new_trades import Kind


class StoredPart(Struct):
    """What identifies a part of a merged trade in imports, and the parts that it was merged from."""

    external_id: str | None
    fingerprint: str | None
    occurrence: int
    content: str | None
    merged: "list[StoredPart] | None" = None


class MergedParts:
    """The merged trades of a user by what identifies their parts in an account.

    A part that was entered by hand without an external id may be told by its content, once.
    """

    def __init__(self) -> None:
        self.by_external_id: dict[tuple[int, str], int] = {}
        self.by_content: dict[tuple[Kind, int], int] = {}
        self.entered: dict[Kind, list[int]] = {}

    def add(self, trade_id: int, account_id: int, parts: Sequence[StoredPart]) -> None:
        """Add the parts of a merged trade, and theirs."""
        for part in parts:
            if part.external_id is not None:
                self.by_external_id[account_id, part.external_id] = trade_id
            if part.fingerprint is not None:
                kind = Kind(account_id, bytes.fromhex(part.fingerprint))
                self.by_content[kind, part.occurrence] = trade_id
                if part.external_id is None and part.content is None:
                    self.entered.setdefault(kind, []).append(trade_id)
            self.add(trade_id, account_id, part.merged or ())

    def find(self, columns: Mapping[str, Any]) -> int | None:
        """Return the merged trade that the row of a file is a part of, None without one."""
        account_id, external_id = columns["account_id"], columns["external_id"]
        kind = Kind(account_id, columns["fingerprint"])
        if external_id is None:
            return self.by_content.get((kind, columns["occurrence"]))
        found = self.by_external_id.get((account_id, external_id))
        if found is None and self.entered:
            entered = self.entered.get(Kind(account_id, compute_content_fingerprint(dict(columns))))
            found = entered.pop(0) if entered else None
        return found


async def read_merged_parts(db: Connection, user_id: int) -> MergedParts:
    """Return what identifies the parts of all merged trades of the user."""
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT id, account_id, merged
        FROM trades
        WHERE account_id IN (SELECT id FROM accounts WHERE user_id = :user_id) AND merged IS NOT NULL
        """,
        {"user_id": user_id},
    )
    parts = MergedParts()
    for trade_id, account_id, merged in rows:
        parts.add(trade_id, account_id, json.decode(merged, type=list[StoredPart]))
    return parts


def list_row_keys(merged: str) -> Iterator[bytes]:
    """Yield the keys of the rows of pairs that the parts of a merged trade were made of."""
    pending = json.decode(merged, type=list[StoredPart])
    while pending:
        part = pending.pop()
        pending += part.merged or ()
        content = bytes.fromhex(part.content) if part.content else None
        yield from read_row_keys(content, bytes.fromhex(part.fingerprint or ""), part.occurrence)
