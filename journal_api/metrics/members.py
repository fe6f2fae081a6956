"""The statistics of a period or a group: the inputs of every metric. A member is one line (DECISIONS 16).

Its annotation says what sums it over `decisions`, in which unit it is, and which extra reading it needs. The
statement, the sums of parts, what a response shows and its schema follow from these lines.
"""

from collections.abc import Collection
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from msgspec import UNSET, Struct, UnsetType, defstruct

from journal_api.metrics.outcomes import is_loss, is_win
from journal_api.values.money import decimal_json

# What is only read for a metric that needs it.
ExtraStatistic = Literal["days", "max_drawdown", "win_streak", "excursions", "opening_balance"]


class Member(NamedTuple):
    """How a statistic is summed and shown. Amounts of money mean nothing over different currencies."""

    sql: str = ""
    extra: ExtraStatistic | None = None
    is_amount: bool = False
    is_money: bool = False
    is_shown: bool = True


def count(sql: str = "", extra: ExtraStatistic | None = None, *, is_money: bool = False) -> Member:
    return Member(sql, extra, is_money=is_money)


def money(sql: str = "", extra: ExtraStatistic | None = None) -> Member:
    return Member(sql, extra, is_amount=True, is_money=True)


def ratio(sql: str = "") -> Member:
    return Member(sql, is_amount=True)


def hidden(sql: str = "") -> Member:
    return Member(sql, is_shown=False)


WON, LOST = is_win(), is_loss()


class Statistics(Struct, kw_only=True, frozen=True):
    """Sums and counts over the trades of one period. Amounts are in units of 10^-8.

    None means that the sum does not fit into 64 bits, that there is no trade, or that the statistic was not
    requested. With `mixes_currencies` amounts of money have no meaning.
    """

    currency: Annotated[str | None, Member()] = None  # of all trades; None without one and for different ones
    mixes_currencies: Annotated[bool, hidden()] = False
    trades: Annotated[int, count("sum(trades)")] = 0
    decisions: Annotated[int, count("count(pnl)")] = 0
    wins: Annotated[int, count(f"sum({WON})")] = 0
    losses: Annotated[int, count(f"sum({LOST})")] = 0
    breakevens: Annotated[int, count()] = 0
    graded: Annotated[int, count("count(grade)")] = 0
    a_plus: Annotated[int, count("sum(grade = 'A+')")] = 0
    with_risk: Annotated[int, count("count(initial_risk)")] = 0
    with_r: Annotated[int, hidden("count(r)")] = 0
    with_checklist: Annotated[int, count("count(checklist)")] = 0
    checklists_confirmed: Annotated[int, count("sum(checklist)")] = 0
    with_mistake: Annotated[int, count("sum(is_mistake)")] = 0
    trading_days: Annotated[int, count(extra="days")] = 0
    winning_days: Annotated[int, count(extra="days", is_money=True)] = 0
    max_trades_per_day: Annotated[int, count(extra="days")] = 0
    # Of the day on which the snapshot is made, for its pace. A decision whose first trade closed earlier in
    # the period is of that day, although a copy closes today.
    decisions_today: Annotated[int, hidden()] = 0
    gross_pnl: Annotated[int, money()] = 0
    fees: Annotated[int, money("sum(fees)")] = 0
    net_pnl: Annotated[int, money("sum(net_pnl)")] = 0
    winning_pnl: Annotated[int, money(f"sum(iif({WON}, pnl, 0))")] = 0
    losing_pnl: Annotated[int, money(f"sum(iif({LOST}, pnl, 0))")] = 0
    # The total risk is risk_high * 2^32 + risk_low: in two parts its sum always fits.
    risk_high: Annotated[int, hidden("sum(initial_risk >> 32)")] = 0
    risk_low: Annotated[int, hidden("sum(initial_risk & 0xFFFFFFFF)")] = 0
    risk_total: Annotated[int | None, money()] = 0
    largest_risk: Annotated[int | None, money("max(initial_risk)")] = None
    worst_trade: Annotated[int | None, money("min(pnl)")] = None
    worst_day: Annotated[int | None, money(extra="days")] = None
    # The sum over decisions of net P&L / initial risk, each quotient rounded to eight decimals.
    r_total: Annotated[int | None, ratio("sum(r)")] = 0
    max_drawdown: Annotated[int | None, money(extra="max_drawdown")] = 0
    # The highest cumulative net P&L, at least 0: the current drawdown is peak_pnl - net_pnl.
    peak_pnl: Annotated[int | None, money(extra="max_drawdown")] = 0
    win_streak: Annotated[int | None, count(extra="win_streak")] = 0
    # Over decisions, of their trades with an excursion.
    with_mae: Annotated[int, count("count(mae)", "excursions")] = 0
    mae_total: Annotated[int, money("sum(mae)", "excursions")] = 0
    with_mfe: Annotated[int, count("count(mfe)", "excursions")] = 0
    mfe_total: Annotated[int, money("sum(mfe)", "excursions")] = 0
    winning_mfe: Annotated[int, money(f"sum(iif({WON}, mfe, 0))", "excursions")] = 0
    captured_pnl: Annotated[int, money(f"sum(iif({WON}, mfe_pnl, 0))", "excursions")] = 0
    # The balance of the accounts in scope at the start of the period, and what cash added to it.
    opening_balance: Annotated[int | None, money(extra="opening_balance")] = None
    cash: Annotated[int, money(extra="opening_balance")] = 0

    @property
    def closing_balance(self) -> int | None:
        return None if self.opening_balance is None else self.opening_balance + self.cash + self.net_pnl


# The statistics of a period without trades.
NO_TRADES = Statistics()
HINTS = get_type_hints(Statistics, include_extras=True)
MEMBERS: dict[str, Member] = {name: hint.__metadata__[0] for name, hint in HINTS.items()}
# What SQL sums, in this order; and the bounds, which are folded by the function that SQL has for them.
SUMMED = [name for name, member in MEMBERS.items() if member.sql.startswith(("sum", "count"))]
BOUNDS = {name: member.sql for name, member in MEMBERS.items() if member.sql.startswith(("min", "max"))}


def sums_columns(extras: Collection[ExtraStatistic | None]) -> str:
    """Return the columns of SUMMED and of BOUNDS, 0 for those that are not read."""
    sums = (
        f"coalesce({member.sql}, 0)" if member.extra is None or member.extra in extras else "0"
        for member in map(MEMBERS.__getitem__, SUMMED)
    )
    return ",\n    ".join((*sums, *BOUNDS.values()))


def show_statistics(statistics: Statistics | None, extras: Collection[ExtraStatistic | None]) -> dict[str, object]:
    """Return the members of a JSON object, without the extras that were not read. Mixed currencies have no amounts."""
    shown: dict[str, object] = {}
    for name, member in MEMBERS.items() if statistics else ():
        if not member.is_shown or (member.extra is not None and member.extra not in extras):
            continue
        value = getattr(statistics, name)
        if statistics and statistics.mixes_currencies and member.is_money:
            shown[name] = None
        else:
            shown[name] = decimal_json(value) if member.is_amount else value
    return shown


def find_shown_type(name: str) -> Any:
    """Return what a response has in a member."""
    member, kind = MEMBERS[name], get_args(HINTS[name])[0]
    whole = Decimal if member.is_amount else kind
    return whole | None | UnsetType if member.is_money or member.is_amount else whole | UnsetType


if TYPE_CHECKING:

    class ShownStatistics(Struct, kw_only=True):
        """MEMBERS as a response has them."""

        def __getattr__(self, name: str) -> Any: ...

else:
    ABOUT = """The sums and counts from which values are computed (docs/goals.md#what-a-snapshot-says).

    Amounts are null for accounts in different currencies. All members are missing if a sum was too large to
    compute. What has to be read for one metric alone is only there for metrics that need it; in reports also
    `trading_days`, `winning_days`, `max_trades_per_day` and `worst_day`.
    """
    ShownStatistics = defstruct(
        "ShownStatistics",
        [(name, find_shown_type(name), UNSET) for name, member in MEMBERS.items() if member.is_shown],
        namespace={"__doc__": ABOUT, "__module__": __name__},
        kw_only=True,
    )
