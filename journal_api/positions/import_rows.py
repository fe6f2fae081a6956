"""The rows of an imported file at each step: parsed, resolved to ids, matched with stored trades."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from journal_api.positions.trade_draft import TradeDraft
from journal_api.positions.trade_identity import read_row_keys
from journal_api.structs.trades import FeesSource, FillSide
from journal_api.values.instruments import InstrumentTable
from journal_api.values.timestamps import Timestamp


class Answered(NamedTuple):
    """The answer to a confirmation of the trade's setup, which is given by name."""

    name: str
    was_present: bool
    notes: str | None = None


class FileFill(NamedTuple):
    """A fill of a file. Amounts are integers of 10^-8; the time may be local."""

    side: FillSide
    quantity: int
    price: int | None  # None for an exit that nobody stated
    time: Timestamp
    fees: int
    external_id: str | None


# What a file has: a trade, a pair of a position that the import keeps apart, or a position from flat to flat,
# made of pairs or of fills. A fill that only closes has no position in the file; what expires has no side.
RowKind = Literal["trade", "row", "pairs", "fills", "closing", "expiring"]


class PairRow(NamedTuple):
    """A row of a pair in the position that it was joined to, with the indexes of its fills there."""

    external_id: str | None
    entry: int
    exit: int
    quantity: int
    fees: int
    gross_pnl: int


class ImportedTrade(Struct, frozen=True, gc=False):
    """A trade parsed from a file, its first line, and the names of the objects that it refers to.

    A format leaves a multiplier that the file does not state at its default and names it in `unstated`; the
    point value of the symbol replaces it afterwards.
    """

    line: int
    trade: TradeDraft
    unstated: tuple[str, ...] = ()  # the fields that the file does not state
    is_computed: bool = False  # whether gross_pnl was computed from prices and multiplier
    multiplier_from_result: bool = False  # whether the multiplier was computed from prices and gross_pnl
    is_future: bool = False  # whether the file says so; then the symbol may be a bare contract root
    derives_risk: bool = False  # whether a missing initial risk follows from the stop
    as_read: TradeDraft | None = None  # the trade with the multiplier of the format
    account: str | None = None
    strategy: str | None = None
    setup: str | None = None
    tags: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    row_name: str | None = None  # the name by which `copy_of` of another row refers to this one
    copy_of: str | None = None
    fill_ids: tuple[str, str] | None = None  # of entry and exit in a row of a pair
    fills: tuple[FileFill, ...] = ()  # empty if the trade is one entry and one exit without ids
    fees_source: FeesSource | None = None  # if the file says it, as an export does
    kind: RowKind = "trade"
    pairs: tuple[PairRow, ...] = ()  # the rows of a position that was joined from several
    rows: int = 1  # the rows of the file that the trade was made from

    @property
    def is_unmatched(self) -> bool:
        """Whether it is a fill that only closes, and the file has no position for it."""
        return self.kind in ("closing", "expiring")

    def states(self, field: str) -> bool:
        """Return whether the file states the field."""
        return field not in self.unstated


def unstated(**fields: object) -> tuple[str, ...]:
    """Return the names of the fields that are None, because the file does not state them."""
    return tuple([name for name, value in fields.items() if value is None])


class Rejected(NamedTuple):
    """A line that cannot be imported, and the reason."""

    line: int
    reason: str


class LeftOut(NamedTuple):
    """A line that is no trade, such as a cancelled order, and the reason."""

    line: int
    reason: str


class Noted(NamedTuple):
    """What the report tells of a file whose trades may be wrong."""

    text: str


class FileCheck(NamedTuple):
    """A check of the whole file, which needs point values. It returns what is wrong, else None."""

    line: int
    find_warning: Callable[[InstrumentTable], str | None]


class Candidate(Struct, frozen=True, gc=False):
    """A trade of the file with its stored columns, except the ids of the objects that it names."""

    imported: ImportedTrade
    columns: dict[str, Any]


class Names(NamedTuple):
    """The user's ids by name.

    Setups and confirmations are by parent id and name, which may have several ids. `allowed_accounts` has the
    accounts of each strategy that is restricted to some.
    """

    accounts: dict[str, int]
    strategies: dict[str, int]
    setups: dict[tuple[int, str], list[int]]
    confirmations: dict[tuple[int, str], list[int]]
    tags: dict[str, int]
    allowed_accounts: dict[int, set[int]]


class ResolvedRow(Struct, frozen=True, gc=False):
    """A row with the ids of all objects that it names."""

    imported: ImportedTrade
    columns: dict[str, Any]
    tag_ids: list[int]
    answers: list[tuple[int, bool, str | None]]

    @property
    def line(self) -> int:
        return self.imported.line

    @property
    def row_keys(self) -> list[bytes]:
        """What identifies the rows of pairs that it was made of, in the order of `pairs`."""
        columns = self.columns
        return read_row_keys(columns["content"], columns["fingerprint"], columns["occurrence"])


class StoredTrade(NamedTuple):
    """The stored trade that a row matches. `content` is None for one that no file may correct.

    That is a trade that was entered by hand, or merged.
    """

    trade_id: int
    source_trade_id: int | None
    content: bytes | None
    fields: dict[str, Any]
    format: str | None = None  # of the file that added it
    external_id: str | None = None
    row_keys: frozenset[bytes] = frozenset()  # of the rows of pairs that it was made of

    @property
    def original_id(self) -> int:
        return self.source_trade_id or self.trade_id


class Relation(NamedTuple):
    """What a stored trade is to a row of a file.

    `row` is what the file makes of the stored trade, None if the file adds nothing. `is_filled_in` means that
    it is the stored trade with what only this file knows.
    """

    stored: StoredTrade
    row: ResolvedRow | None = None
    is_filled_in: bool = False
    is_continued: bool = False  # the fills of both must go through one book
    suspicion: str | None = None  # why the row may be in the journal already


class Correction(NamedTuple):
    """An update of a stored trade: its new fields, the names of those that change, its new content."""

    trade_id: int
    fields: dict[str, Any]
    changed: list[str]
    content: bytes
