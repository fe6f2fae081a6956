"""What the dry run of an import shows of the trades that it would add."""

from decimal import Decimal

from msgspec import Struct

from journal_api.structs.trades import Direction, FeesSource
from journal_api.values.types import DayText, Instant


class PreviewSums(Struct, kw_only=True, forbid_unknown_fields=True):
    """Sums of new trades, of which `open` are open. Results and fees are sums of the closed ones."""

    trades: int
    open: int
    quantity: Decimal
    gross_pnl: Decimal
    fees: Decimal
    net_pnl: Decimal


class PreviewAccount(PreviewSums, kw_only=True, forbid_unknown_fields=True):
    account_id: int


class PreviewSymbol(PreviewSums, kw_only=True, forbid_unknown_fields=True):
    """The symbol is as the first trade of the contract has it; null for those beyond 1,000."""

    symbol: str | None
    contract: str | None
    root: str | None


class PreviewDay(PreviewSums, kw_only=True, forbid_unknown_fields=True):
    """The trading day; null for open trades."""

    day: DayText | None


class PreviewTrade(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new trade, the line of its first row, and the number of its rows."""

    line: int
    rows: int
    account_id: int
    symbol: str
    direction: Direction
    quantity: Decimal
    entry_price: Decimal
    exit_price: Decimal | None
    opened_at: Instant
    closed_at: Instant | None
    trading_day: DayText | None
    gross_pnl: Decimal | None
    fees: Decimal
    fees_source: FeesSource
    net_pnl: Decimal | None


class ImportPreview(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a dry run shows of the new trades, `first` and `last` up to five by the time of opening.

    `token` is for the parameter `preview` of the import; null if a row is an error.
    """

    total: PreviewSums
    first_day: DayText | None
    last_day: DayText | None
    accounts: list[PreviewAccount]
    symbols: list[PreviewSymbol]
    days: list[PreviewDay]
    first: list[PreviewTrade]
    last: list[PreviewTrade]
    token: str | None = None
