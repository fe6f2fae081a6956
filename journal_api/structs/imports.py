"""Queries and responses of imports: the source file, the counts, a verdict for every row."""

import re
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar, Literal, Self

from msgspec import UNSET, Struct, UnsetType, field

from journal_api.errors import ValidationFailed
from journal_api.structs.copy_groups import AmbiguousCopy
from journal_api.structs.import_answers import AccountMapping, LineAnswer, SaidColumn
from journal_api.structs.import_previews import ImportPreview
from journal_api.structs.import_profiles import OneTradeIs, ProposedProfile
from journal_api.structs.queries import DryRunQuery
from journal_api.values.types import DayText, Instant, Name, RowId, TimeZone

TimezoneSource = Literal["stated", "remembered", "owner"]
DateOrder = Literal["month", "day", "year"]
DateOrderSource = Literal["stated", "file", "assumed"]
CostsSource = Literal["stated", "by_account", "none"]
VerdictWord = Literal["new", "duplicate", "updated", "suspect", "unmatched", "error"]
ImportSource = Literal["user", "folder"]


class PreviewToken(str):
    """What a dry run has shown: hashes of the file, of how it is read, and of what the import writes."""

    parts: ClassVar[tuple[str, ...]] = ("file", "options", "journal")
    pattern: ClassVar[str] = "[0-9a-f]{16}-[0-9a-f]{16}-[0-9a-f]{16}"
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": f"^{pattern}$"}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or not re.fullmatch(cls.pattern, value):
            raise ValueError("must be the token of a dry run's preview")
        return cls(value)

    @classmethod
    def build(cls, *hashes: str) -> Self:
        return cls("-".join(one[:16] for one in hashes))

    def find_changed(self, other: Self) -> list[str]:
        """Return the parts that differ. One that the other does not know yet is left out."""
        pairs = zip(self.parts, self.split("-"), other.split("-"), strict=True)
        return [name for name, mine, theirs in pairs if theirs not in ("", mine)]


class ImportQuery(DryRunQuery, kw_only=True):
    """`account_id` may be omitted for a file that names its accounts.

    `day` is for times without one. `columns` say what an unknown header means, `answers` what
    suspects are. `force` imports suspects too, and a file whose check fails; `skip_errors` the
    rest of a file with unreadable rows. With `long_only` sales of shares and coins open nothing.
    """

    account_id: RowId | None = None
    accounts: list[AccountMapping] = field(default_factory=list)
    timezone: TimeZone | None = None
    date_order: DateOrder | None = None
    day: date | None = None
    columns: list[SaidColumn] = field(default_factory=list)
    one_trade_is: OneTradeIs | None = None
    file_name: Name | None = None
    preview: PreviewToken | None = None
    answers: list[LineAnswer] = field(default_factory=list)
    force: bool = False
    skip_errors: bool = False
    long_only: bool = False

    def __post_init__(self) -> None:
        if self.account_id is not None and self.accounts:
            raise ValidationFailed(fields={"accounts": "must not be sent with account_id"})


class UndoQuery(DryRunQuery, kw_only=True):
    """Trades that the owner annotated are kept with `keep`, and deleted with `force`."""

    keep: bool = False
    force: bool = False


class FieldChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """A field as it is stored, and as the file has it: an amount or a text; of `fills` their number."""

    field: str
    before: float | str | None
    after: float | str | None


class Verdict(Struct, kw_only=True, forbid_unknown_fields=True):
    """The result of one row. `trade_id` is null for an error, and for a new trade in a dry run."""

    line: int
    verdict: VerdictWord
    trade_id: int | None = None
    changed: list[str] = []  # the fields that an update changes
    # Of an update the values of these fields; of a suspect the stored trade's beside the row's.
    changes: list[FieldChange] | UnsetType = UNSET
    reason: str | None = None  # why the row is an error
    rows: int | UnsetType = UNSET  # the rows of the file that a position was made from, if more than one
    answers: list[str] | UnsetType = UNSET  # of a suspect: what you may say of it


class Counts(Struct, kw_only=True, forbid_unknown_fields=True):
    """The number of rows with each verdict; those that few files have are left out if there are none."""

    new: int = 0
    duplicate: int = 0
    updated: int = 0
    error: int = 0
    suspect: int | UnsetType = UNSET
    unmatched: int | UnsetType = UNSET


class AppliedFees(Struct, kw_only=True, forbid_unknown_fields=True):
    """The commissions that an import charged to an account, for rows whose costs the file does not state."""

    account_id: int
    rows: int
    total: Decimal


class LeftOutRows(Struct, kw_only=True, forbid_unknown_fields=True):
    """The number of rows that are no trades, such as cancelled orders, with the same reason."""

    reason: str
    rows: int


class Import(Struct, kw_only=True, forbid_unknown_fields=True):
    """`trade_count` is the number of added trades that still exist; days and `net_pnl` are theirs.

    `account_id` is null for a file that names its accounts; `account_ids` has the accounts of its trades.
    `merged_count` is the number of its trades that others were merged into. `source` is `folder` if the file
    was imported by itself; such a file that was refused has the `format` `refused`.
    """

    id: int
    account_id: int | None
    account_ids: list[int]
    format: str
    file_name: str | None
    sha256: str
    timezone: str
    one_trade_is: OneTradeIs
    counts: Counts
    merged_count: int
    trade_count: int
    first_day: DayText | None
    last_day: DayText | None
    net_pnl: Decimal | None
    source: ImportSource
    created_at: Instant
    updated_at: Instant


class FileAccount(Struct, kw_only=True, forbid_unknown_fields=True):
    """A name that the file has for an account, and the account; null if the journal has none for it."""

    name: str
    account_id: int | None


class FileDateOrder(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which of day and month is first in the dates of a file, and why.

    It is `stated` by the request, decided by a number over 12 in the `file`, or `assumed`.
    """

    order: DateOrder
    source: DateOrderSource


class ImportReport(Struct, kw_only=True, forbid_unknown_fields=True):
    """The report of an import. In a dry run `id` is null and nothing was written.

    `one_trade_is` says what one trade is in a file of pairs (`has_pairs`): a position from flat to flat, or
    a row. `timezone_source` says why times without an offset were read in `timezone`: the request states it,
    it is that of the last import of the account and format, or the owner's. It is null if all times have an
    offset. `replaced_timezones` are remembered zones other than the stated one. `accounts` are up to 100
    names that the file has for them. `date_order` is null if all dates have the year first. `rounded` is the
    number of amounts rounded to eight decimals. `costs` says where costs come from: `stated` by the file,
    charged `by_account`, or `none` if those of any row are unknown; `accounts_without_costs` are the accounts
    of such rows. `preview` is what a dry run shows of the new trades. `warnings` say why trades may be wrong
    although every row was read. `failed_check` means that price times quantity is not the stated value: an
    error unless `force` is sent. `open_at_end` is the number of positions left open, for a later file to
    complete. `linked` is the number of copies that were linked to their originals in a copy group,
    `ambiguous` has those that were not, because several trades may be their original or copy. In a dry run
    of an unknown header `format` is "unknown", and the last four members say what the file has.
    """

    id: int | None
    dry_run: bool
    account_id: int | None
    format: str
    file_name: str | None
    sha256: str
    timezone: str
    timezone_source: TimezoneSource | None
    replaced_timezones: list[str]
    encoding: str
    date_order: FileDateOrder | None
    one_trade_is: OneTradeIs
    has_pairs: bool = False
    rounded: int
    accounts: list[FileAccount]
    counts: Counts
    fees_applied: list[AppliedFees]
    costs: CostsSource | None = None
    accounts_without_costs: list[int] = []
    preview: ImportPreview | None = None
    left_out: list[LeftOutRows] = []
    warnings: list[str] = []
    failed_check: bool = False
    open_at_end: int = 0
    linked: int = 0
    ambiguous: list[AmbiguousCopy] = []
    rows: list[Verdict]
    columns: list[str] | None = None
    sample_rows: list[list[str]] | None = None
    proposed_profile: ProposedProfile | None = None
    proposal_warnings: list[str] | None = None
