"""Queries and responses of imports: the source file, the counts, a verdict for every row."""

from typing import Literal

from msgspec import Struct

from journal_api.structs.import_profiles import ProposedProfile
from journal_api.values.types import Flag, Instant, Name, RowId, TimeZone

VerdictWord = Literal["new", "duplicate", "updated", "error"]


class ImportQuery(Struct, kw_only=True):
    """`account_id` may be omitted for a file with an `account` column."""

    account_id: RowId | None = None
    dry_run: Flag = "false"
    timezone: TimeZone | None = None
    file_name: Name | None = None


class UndoQuery(Struct, kw_only=True):
    force: Flag = "false"


class Verdict(Struct, kw_only=True, forbid_unknown_fields=True):
    """The result of one row. `trade_id` is null for an error, and for a new trade in a dry run."""

    line: int
    verdict: VerdictWord
    trade_id: int | None = None
    changed: list[str] = []  # the fields that an update changes
    reason: str | None = None  # why the row is an error


class Counts(Struct, kw_only=True, forbid_unknown_fields=True):
    """The number of rows with each verdict."""

    new: int = 0
    duplicate: int = 0
    updated: int = 0
    error: int = 0


class LeftOutRows(Struct, kw_only=True, forbid_unknown_fields=True):
    """The number of rows that are no trades, such as cancelled orders, with the same reason."""

    reason: str
    rows: int


class Import(Struct, kw_only=True, forbid_unknown_fields=True):
    """`trade_count` is the number of added trades that still exist."""

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
    """The report of an import. In a dry run `id` is null and nothing was written.

    In a dry run of an unknown header `format` is "unknown", and the last three members say what the file has.
    """

    id: int | None
    dry_run: bool
    account_id: int | None
    format: str
    file_name: str | None
    sha256: str
    timezone: str
    counts: Counts
    left_out: list[LeftOutRows] = []
    rows: list[Verdict]
    columns: list[str] | None = None
    sample_rows: list[list[str]] | None = None
    proposed_profile: ProposedProfile | None = None
