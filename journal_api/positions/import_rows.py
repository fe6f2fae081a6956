"""The rows of an imported file: what is parsed from them, and what they state."""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from journal_api.positions.statements import Effect, Statement
from journal_api.positions.trade_draft import TradeDraft
from journal_api.structs.fills import FillSide
from journal_api.structs.trades import FeesSource
from journal_api.values.instruments import InstrumentTable
from journal_api.values.money import PositiveMoney
from journal_api.values.options import find_option
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


class Instrument(NamedTuple):
    """A symbol in an account, as the file writes it. Each contract has its own position.

    `multiplier` is a default if the file states none; the point value of the symbol replaces it.
    """

    account: str | None
    symbol: str
    multiplier: PositiveMoney
    is_stated: bool  # whether the file states the multiplier
    is_future: bool = False

    @property
    def contract(self) -> str:
        """The symbol of the trade: the canonical symbol of an option, whatever the file's form of it."""
        return find_option(self.symbol) or self.symbol


class FillId(NamedTuple):
    """The id of a fill and its column."""

    column: str
    text: str


class ImportedFill(Struct, gc=False):
    """A fill parsed from a file. Amounts are integers of 10^-8; the quantity of a sale is negative."""

    line: int
    instrument: Instrument
    fill_id: FillId | None
    time: Timestamp
    quantity: int
    price: int
    cost: int | None  # None if the file states no costs
    effect: Effect = Effect.NOT_STATED
    position: int | None = None  # after the fill, as the file states it
    value: float | None = None  # of the fill, as the file states it
    result: float | None = None
    number: int = 0  # of its instrument in the file

    @property
    def account(self) -> str | None:
        return self.instrument.account


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

    def states(self, field: str) -> bool:
        """Return whether the file states the field."""
        return field not in self.unstated

    @property
    def is_annotated(self) -> bool:
        """Return whether the file says what a trader writes on a trade."""
        trade = self.trade
        amounts = trade.stop_loss, trade.initial_risk, trade.grade, trade.notes
        names = self.strategy, self.setup, self.row_name, self.copy_of
        return any(one is not None for one in (*amounts, *names)) or bool(self.tags or self.answers)


def list_unstated(**fields: object) -> tuple[str, ...]:
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
    """What the report says of a file whose trades may be wrong."""

    text: str


class FileCheck(NamedTuple):
    """A check of the whole file, which needs point values. It returns what is wrong, else None.

    It `rejects` the file, or is a doubt.
    """

    line: int
    find_warning: Callable[[InstrumentTable], str | None]
    rejects: bool = True


class Candidate(NamedTuple):
    """What a row of a file states, in the account that it names.

    `imported` has what a trader wrote besides.
    """

    line: int
    account: str | None
    statement: Statement
    imported: ImportedTrade | None = None
    times: tuple[str, ...] = ()  # local ones as the file has them, which identify it in whatever zone they are read


class Names(NamedTuple):
    """The user's ids by name.

    Setups and confirmations are by parent id and name, which may have several ids. `allowed_accounts` has the
    accounts of each strategy that is restricted to some, `single` the category of each tag of a single one.
    """

    accounts: dict[str, int]
    strategies: dict[str, int]
    setups: dict[tuple[int, str], list[int]]
    confirmations: dict[tuple[int, str], list[int]]
    tags: dict[str, int]
    single: dict[int, str]
    allowed_accounts: dict[int, set[int]]
