"""The rows of a file of trades, as plain types."""

from typing import Any, NamedTuple

from msgspec import Struct

from journal_api.rules.trade_draft import TradeDraft


class Answered(NamedTuple):
    """A confirmation of the trade's setup, by name, and its answer."""

    name: str
    was_present: bool
    notes: str | None = None


class ImportedTrade(Struct, frozen=True):
    """A trade, the line on which it stands or begins, and the names of what it points at."""

    line: int
    trade: TradeDraft
    unstated: tuple[str, ...] = ()  # the fields that the file says nothing of
    is_computed: bool = False  # the result: made of prices and multiplier, not stated
    account: str | None = None
    strategy: str | None = None
    setup: str | None = None
    tags: tuple[str, ...] = ()
    answers: tuple[Answered, ...] = ()
    row_name: str | None = None  # what `copy_of` of another row calls this one
    copy_of: str | None = None


class Rejected(NamedTuple):
    """A line that cannot be read, and why."""

    line: int
    reason: str


class Candidate(NamedTuple):
    """A trade of the file as it would be stored, but for the ids of what its names stand for."""

    imported: ImportedTrade
    columns: dict[str, Any]
    repeats_external_id: bool  # its external id was on an earlier line


class Names(NamedTuple):
    """The ids, by name; of setups and confirmations several, by what they belong to."""

    accounts: dict[str, int]
    strategies: dict[str, int]
    setups: dict[tuple[int, str], list[int]]
    confirmations: dict[tuple[int, str], list[int]]
    tags: dict[str, int]


class Ready(NamedTuple):
    """A row with the ids of everything it names."""

    imported: ImportedTrade
    columns: dict[str, Any]
    tag_ids: list[int]
    answers: list[tuple[int, bool, str | None]]
    repeats_external_id: bool

    @property
    def line(self) -> int:
        return self.imported.line


class Stored(NamedTuple):
    """A trade that a row was recognised as. `content` is None of one that no import has brought."""

    trade_id: int
    source_trade_id: int | None
    content: bytes | None
    fields: dict[str, Any]

    @property
    def original_id(self) -> int:
        return self.source_trade_id or self.trade_id


class Correction(NamedTuple):
    """What a file makes of a trade: the fields, which of them it changes, and what it has said of them."""

    trade_id: int
    fields: dict[str, Any]
    changed: list[str]
    content: bytes
