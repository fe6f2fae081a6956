"""What statements that have come or gone change in the trades of one contract."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.positions.book import Part, Position
from journal_api.positions.commissions import Commissions
from journal_api.positions.sources import SourceStatement

BY_HAND = "is at the time of a trade that was entered by hand"
Decision = int | Literal["new", "leave"]  # of a person about a line: it is that trade, none, or to be left out


class StoredTrade(NamedTuple):
    """A trade of the journal.

    `edited` are the columns that its owner has changed, who is right about them.
    """

    trade_id: int
    columns: dict[str, Any]
    import_id: int | None = None
    edited: tuple[str, ...] = ()
    typed: str | None = None  # the columns that its owner had typed before a file stated it, as JSON
    is_merged: bool = False
    is_touched: bool = False  # whether a person wrote anything on it
    source_trade_id: int | None = None


class Change(NamedTuple):
    """A position and the trade that it is, None if it is new.

    `columns` are the trade's, afterwards.
    """

    position: Position
    stored: StoredTrade | None
    columns: dict[str, Any]
    stated: tuple[SourceStatement, ...]  # what the position is made of
    changed: list[str]  # the fields of the verdict
    typed: str | None = None

    @property
    def is_written(self) -> bool:
        return self.stored is None or self.columns != self.stored.columns or self.typed != self.stored.typed

    @property
    def import_id(self) -> int:
        return min(import_id for stated in self.stated for import_id in stated.imports)


class Suspect(NamedTuple):
    """A position of the file that may be in the journal already, and what it may be."""

    position: Position
    reason: str
    other: Position | StoredTrade | None

    @property
    def typed_id(self) -> int | None:
        """The id of the trade that its owner typed, if it may be one."""
        other = self.other
        return other.trade_id if isinstance(other, StoredTrade) and self.reason == BY_HAND else None


class Refused(NamedTuple):
    """A position of the file that exceeds a limit."""

    position: Position
    reason: ValidationFailed


class Plan(NamedTuple):
    """All that statements which have come or gone change in one contract."""

    changes: list[Change]
    gone: list[tuple[StoredTrade, int | None]]  # trades without a position, and the trade that took their fills
    restored: list[StoredTrade]  # trades that their owner has typed or written on, and which no file states any more
    unmatched: list[Part]
    suspects: list[Suspect]
    refused: list[Refused]
    left_out: frozenset[SourceStatement] = frozenset()  # of the file, because they are suspect
    strangers: frozenset[int] = frozenset()  # imports that are of another account, unless the file is


class Journal(NamedTuple):
    """What the journal has of a contract.

    The trades that statements are in, and those that its owner typed.
    """

    trades: Mapping[int, StoredTrade]
    typed: Sequence[StoredTrade]
    commissions: Commissions
