"""Imports: what came when from which file, and a verdict for every row."""

from typing import Literal

from msgspec import Struct

from journal_api.values.types import Flag, Instant, Name, RowId, TimeZone

VerdictWord = Literal["new", "duplicate", "updated", "error"]


class ImportQuery(Struct, kw_only=True):
    """`account_id` may be left out for a file with an `account` column, which names them."""

    account_id: RowId | None = None
    dry_run: Flag = "false"
    timezone: TimeZone | None = None
    file_name: Name | None = None


class UndoQuery(Struct, kw_only=True):
    force: Flag = "false"


class Verdict(Struct, kw_only=True, forbid_unknown_fields=True):
    """What becomes of a row. `trade_id` is null for an error, and for what a dry run would add."""

    line: int
    verdict: VerdictWord
    trade_id: int | None = None
    changed: list[str] = []  # of an update: which fields
    reason: str | None = None  # of an error


class Counts(Struct, kw_only=True, forbid_unknown_fields=True):
    """How many rows of each verdict."""

    new: int = 0
    duplicate: int = 0
    updated: int = 0
    error: int = 0


class Import(Struct, kw_only=True, forbid_unknown_fields=True):
    """`trade_count` is how many of the new trades are still there."""

    id: int
    account_id: int | None
    format: str
    file_name: str | None
    sha256: str
    timezone: str
    counts: Counts
    trade_count: int
    created_at: Instant
    updated_at: Instant


class ImportReport(Struct, kw_only=True, forbid_unknown_fields=True):
    """An import that was done, or by a dry run would be; then `id` is null and nothing was written."""

    id: int | None
    dry_run: bool
    account_id: int | None
    format: str
    file_name: str | None
    sha256: str
    timezone: str
    counts: Counts
    rows: list[Verdict]
