"""Bodies and responses of checkpoints: the balances that the broker states (docs/accounts.md#checkpoints)."""

from decimal import Decimal

from msgspec import UNSET, Struct, UnsetType

from journal_api.structs.cash import CashDay
from journal_api.values.money import Money
from journal_api.values.types import DayText, Instant, Text


class CheckpointCreate(Struct, kw_only=True, forbid_unknown_fields=True):
    """The broker's balance at the end of a trading day."""

    day: CashDay
    balance: Money
    note: Text | None = None


class CheckpointPatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """A difference that is `accepted` is no longer counted in later checkpoints, until it changes."""

    accepted: bool | UnsetType = UNSET
    note: Text | None | UnsetType = UNSET


class CheckpointListItem(Struct, kw_only=True, forbid_unknown_fields=True):
    """`difference` is the journal's balance less the broker's; null if it is out of range.

    `unexplained` is what an earlier accepted difference does not explain: 0 where the balances agree. `since`
    is the day of the last earlier checkpoint that agreed or was accepted, null without one.
    """

    id: int
    account_id: int
    day: DayText
    balance: Decimal
    accepted: bool
    note: str | None
    difference: Decimal | None
    unexplained: Decimal | None
    since: DayText | None
    created_at: Instant
    updated_at: Instant


class CheckpointDay(Struct, kw_only=True, forbid_unknown_fields=True):
    """A day with trades or cash, and the journal's balance at its end."""

    day: DayText
    net_pnl: Decimal | None
    cash: Decimal | None
    balance: Decimal | None


class Checkpoint(CheckpointListItem, kw_only=True, forbid_unknown_fields=True):
    """`days` are the days after `since`, from the last reset on: a difference is from one of them."""

    days: list[CheckpointDay]
