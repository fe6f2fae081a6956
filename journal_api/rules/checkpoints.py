"""Where the journal's balance is not the broker's (docs/accounts.md#checkpoints)."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from journal_api.rules.account_days import AccountDay, Closing, close_days
from journal_api.structs.checkpoints import Checkpoint, CheckpointDay
from journal_api.values.money import from_units, shown


class StoredCheckpoint(NamedTuple):
    """A row of the table."""

    id: int
    account_id: int
    day: str
    balance: int
    accepted: int
    note: str | None
    created_at: str
    updated_at: str


class Agreement(NamedTuple):
    """The last checkpoint that agreed or was accepted, and the difference that it left."""

    day: str
    difference: int


def compare(
    starting_balance: int, days: Sequence[AccountDay], stored: Iterable[StoredCheckpoint]
) -> Iterator[Checkpoint]:
    """Yield the checkpoints, which are in the order of their days, with what they differ by.

    A difference that was accepted explains as much of later ones, until a reset begins the balance anew.
    """
    closings = list(close_days(starting_balance, days))
    names, resets = [day.day for day in days], [day.day for day in days if day.reset is not None]
    agreed: Agreement | None = None
    for checkpoint in stored:
        end = bisect_right(names, checkpoint.day)
        reset = next((day for day in reversed(resets) if day <= checkpoint.day), "")
        if agreed is not None and agreed.day < reset:
            agreed = None
        balance = closings[end - 1].balance if end else starting_balance
        difference = balance - checkpoint.balance
        unexplained = 0 if checkpoint.accepted else difference - (agreed.difference if agreed else 0)
        start = bisect_right(names, agreed.day) if agreed else bisect_left(names, reset)
        yield Checkpoint(
            **{
                **checkpoint._asdict(),
                "balance": from_units(checkpoint.balance),
                "accepted": bool(checkpoint.accepted),
            },
            difference=shown(difference),
            unexplained=shown(unexplained),
            since=agreed and agreed.day,
            days=[describe_day(closing) for closing in closings[start:end]],
        )
        if unexplained == 0:
            agreed = Agreement(checkpoint.day, difference)


def describe_day(closing: Closing) -> CheckpointDay:
    return CheckpointDay(
        day=closing.day.day,
        net_pnl=shown(closing.day.net_pnl),
        cash=shown(closing.day.cash),
        balance=shown(closing.balance),
    )
