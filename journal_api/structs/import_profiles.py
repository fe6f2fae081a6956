"""Import profiles: the file format of a broker as data (docs/formats.md#profiles).

A column may be given as a list of alternative names, of which the first in the header is read. A name or a
word that ends with * stands for everything that begins with it.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from journal_api.errors import ValidationFailed
from journal_api.values.time_formats import TimeFormat
from journal_api.values.types import Instant, Name100, TimeZone

Column = Annotated[str, Meta(min_length=1, max_length=255)]
Columns = Column | Annotated[list[Column], Meta(min_length=1, max_length=10)]
Word = Annotated[str, Meta(min_length=1, max_length=100)]
Words = Annotated[list[Word], Meta(min_length=1, max_length=50)]
ManyColumns = Annotated[list[Columns], Meta(min_length=1, max_length=50)]
OneTradeIs = Literal["position", "row"]
ProfileKind = Literal["trades", "fills"]
CostSign = Literal["positive", "negative"]
# The members that a kind needs, and those that only the other kind has.
OF_TRADES = ("entry_price", "exit_price", "opened_at", "closed_at")
OF_FILLS = ("price", "at")
ONLY_TRADES = (*OF_TRADES, "bought", "sold", "gross_pnl", "net_pnl")
ONLY_FILLS = (*OF_FILLS, "clock", "option", "repeated", "effect", "position")


class Side(Struct, kw_only=True, forbid_unknown_fields=True):
    """The words for a long trade or a purchase, and for a short trade or a sale, in any letter case."""

    column: Columns
    long: Words
    short: Words

    @property
    def words_of_both(self) -> list[str]:
        """The words of `short` for which a cell may be of `long` too, so that they state no side."""
        return [word for word in self.short if any(overlap(word, other) for other in self.long)]


def overlap(word: str, other: str) -> bool:
    """Return whether there is a cell that both words match; a word that ends with * is a beginning."""
    first, second = word.strip().casefold(), other.strip().casefold()
    shorter, longer = sorted((first, second), key=lambda text: len(text.removesuffix("*")))
    return first == second or (shorter.endswith("*") and longer.startswith(shorter[:-1]))


class MatchedFill(Struct, kw_only=True, forbid_unknown_fields=True):
    """The purchase or the sale of a row with both. Of two at the same time the lower id was first."""

    price: Columns
    at: Columns
    id: Columns


class Costs(Struct, kw_only=True, forbid_unknown_fields=True):
    """The columns whose sum is the fees, and the sign of a cost in them."""

    columns: ManyColumns
    paid: CostSign = "positive"


class Option(Struct, kw_only=True, forbid_unknown_fields=True):
    """The contract of an option, in the rows in which `strike` is not empty."""

    expires: Columns
    strike: Columns
    right: Columns


class Effect(Struct, kw_only=True, forbid_unknown_fields=True):
    """The words for a fill that only closes a position, and for an option that expires or is assigned.

    A fill that closes opens nothing: without a position it is `unmatched`. An option that expires is closed
    at 0 unless its row has a price, by whichever side that takes.
    """

    column: Columns
    close: Words | None = None
    expire: Words | None = None


class ProfileFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """The members that a stored profile has in the same types as a new one."""

    kind: ProfileKind
    header: ManyColumns  # the columns by which a file is recognised
    section: Word | None = None  # the line after which the header follows; a blank line ends the section
    where: Annotated[dict[Column, Word | Words], Meta(min_length=1, max_length=20)] | None = None
    repeated: ManyColumns | None = None  # an empty cell of these columns repeats the cell above
    symbol: Columns
    contract: Columns | None = None  # names the option, in the rows in which it does; the others have `symbol`
    quantity: Columns
    side: Side | None = None
    entry_price: Columns | None = None
    exit_price: Columns | None = None
    opened_at: Columns | None = None
    closed_at: Columns | None = None
    bought: MatchedFill | None = None
    sold: MatchedFill | None = None
    gross_pnl: Columns | None = None
    net_pnl: Columns | None = None
    price: Columns | None = None
    at: Columns | None = None
    clock: Columns | None = None  # the time of day, if `at` has the date only
    option: Option | None = None
    effect: Effect | None = None
    position: Columns | None = None  # the position after the fill: 2 L, 1 S, or with its sign
    costs: Costs | None = None
    abs: ManyColumns | None = None  # the sign of amounts in these columns is dropped
    divide_by: Annotated[dict[Column, Columns], Meta(min_length=1, max_length=20)] | None = None
    multiplier: Columns | None = None
    external_id: Annotated[list[Columns], Meta(min_length=1, max_length=5)] | None = None  # joined with -
    account: Columns | None = None
    one_trade_is: OneTradeIs | None = None

    def __post_init__(self) -> None:
        """Raise ValidationFailed for a member that the kind needs or does not have."""
        wrong = {name: "is required" for name in self._needed() if getattr(self, name) is None}
        other_kind = ONLY_FILLS if self.kind == "trades" else ONLY_TRADES
        for name in other_kind:
            if getattr(self, name) is not None:
                wrong[name] = f"does not belong to the kind {self.kind}"
        if self.gross_pnl is not None and self.net_pnl is not None:
            wrong["net_pnl"] = "must be left out with gross_pnl"
        if self.side is not None and self.side.words_of_both:
            wrong["side"] = f"must not have {', '.join(self.side.words_of_both)} in both long and short"
        if wrong:
            raise ValidationFailed(fields=wrong)

    def _needed(self) -> tuple[str, ...]:
        if self.kind == "fills":
            return OF_FILLS
        return ("bought", "sold") if self.bought or self.sold else OF_TRADES


class ImportProfileCreate(ProfileFields, kw_only=True, forbid_unknown_fields=True):
    """A profile of kind `trades` reads one trade per row, of kind `fills` one fill per row.

    A trade has either `bought` and `sold`, or prices and times. Without a `side`, a negative quantity is a
    sale or a short trade. `divide_by` names the column by which the amount of another column is divided,
    unless its cell is empty. Rows of trades are joined to positions, unless `one_trade_is` is `row`, as for
    brokers that keep several positions of one symbol.
    """

    name: Name100
    time: Annotated[list[TimeFormat], Meta(max_length=10)] = []
    zone: TimeZone | None = None  # of times without an offset; default: the zone of the import


class ImportProfile(ProfileFields, kw_only=True, forbid_unknown_fields=True):
    id: int
    name: str
    time: list[str]
    zone: str | None
    created_at: Instant
    updated_at: Instant


class ProposedProfile(Struct, kw_only=True, forbid_unknown_fields=True):
    """What no column shows is null."""

    name: str
    kind: ProfileKind
    one_trade_is: OneTradeIs | None = None
    header: list[str]
    where: dict[str, list[str]] | None = None
    symbol: str | None = None
    contract: str | None = None
    quantity: str | None = None
    side: Side | None = None
    effect: Effect | None = None
    entry_price: str | None = None
    exit_price: str | None = None
    opened_at: str | None = None
    closed_at: str | None = None
    gross_pnl: str | None = None
    net_pnl: str | None = None
    price: str | None = None
    at: str | None = None
    clock: str | None = None
    option: Option | None = None
    costs: Costs | None = None
    abs: list[str] | None = None
    divide_by: dict[str, str] | None = None
    multiplier: str | None = None
    external_id: list[str] | None = None
    account: str | None = None
    time: list[str] = []
    zone: str | None = None
