"""Query and response of what accounts cost and pay (docs/accounts.md#what-accounts-cost-and-pay)."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct, field

from journal_api.structs.queries import check_range
from journal_api.values.types import Day, RowId

CashFlowKey = Literal["none", "account", "broker", "month"]


class CashFlowQuery(Struct, kw_only=True):
    """The money that moved on the trading days from `from` to `to`, both inclusive."""

    since: Day | None = field(name="from", default=None)
    until: Day | None = field(name="to", default=None)
    account_id: RowId | None = None
    group_by: CashFlowKey = "none"

    def __post_init__(self) -> None:
        check_range(self.since, self.until)


class CashFlowGroup(Struct, kw_only=True, forbid_unknown_fields=True):
    """What the owner paid (fees `outside`, deposits) and received (payouts, withdrawals).

    `payouts` are gross. `accounts` counts the accounts that moved money, `lost` how many of them have a broken floor
    at the end of `to`, by default now; it is null for a month. Amounts are null for accounts in different
    currencies and for sums out of range. The key of a month is its first day; `key` and `name` are null for
    accounts without a broker, and in the total.
    """

    key: int | str | None
    name: str | None
    paid: Decimal | None
    received: Decimal | None
    net: Decimal | None
    payouts: Decimal | None
    accounts: int
    lost: int | None


class CashFlow(Struct, kw_only=True, forbid_unknown_fields=True):
    """The groups are by name, months in their order."""

    groups: list[CashFlowGroup]
    total: CashFlowGroup
