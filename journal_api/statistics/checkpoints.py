"""Where the journal's balance is not the broker's (docs/accounts.md#checkpoints)."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import asdict

from journal_api.statistics.account_days import AccountDay, Closing, close_days
from journal_api.structs.checkpoints import Checkpoint, CheckpointDay, CheckpointListItem
from journal_api.values.money import from_units, shown


class StoredCheckpoint(NamedTuple):
    """A row of the table."""

    id: int
    account_id: int
    day: str
    balance: int
    accepted_difference: int | None
    note: str | None
    created_at: str
    updated_at: str


class Comparison(NamedTuple):
    """A checkpoint with what it differs by, and the days on which that began."""

    checkpoint: CheckpointListItem
    closings: Sequence[Closing]


def compare(
    starting_balance: int, days: Sequence[AccountDay], stored: Iterable[StoredCheckpoint]
) -> Iterator[Comparison]:
    """Compare the checkpoints, which are in the order of their days, with the balances of the journal.

    A difference that was accepted explains as much of later ones, until the balances agree or a reset begins
    the balance anew. If it changes, it is not accepted any more.
    """
    closings = list(close_days(starting_balance, days))
    names, resets = [day.day for day in days], [day.day for day in days if day.reset is not None]
    # The day of the last checkpoint that agreed or was accepted, and the difference that it left.
    agreed_on, agreed_difference = "", 0
    for row in stored:
        reset = resets[end - 1] if (end := bisect_right(resets, row.day)) else ""
        if agreed_on < reset:
            agreed_on, agreed_difference = "", 0
        start = bisect_right(names, agreed_on) if agreed_on else bisect_left(names, reset)
        end = bisect_right(names, row.day)
        difference = (closings[end - 1].balance if end else starting_balance) - row.balance
        is_explained = difference in (0, row.accepted_difference)
        unexplained = 0 if is_explained else difference - agreed_difference
        checkpoint = describe(row, difference, unexplained, agreed_on or None)
        yield Comparison(checkpoint, closings[start:end])
        if unexplained == 0:
            agreed_on, agreed_difference = row.day, difference


def describe(row: StoredCheckpoint, difference: int, unexplained: int, since: str | None) -> CheckpointListItem:
    return CheckpointListItem(
        id=row.id,
        account_id=row.account_id,
        day=row.day,
        balance=from_units(row.balance),
        accepted=row.accepted_difference == difference,
        note=row.note,
        difference=shown(difference),
        unexplained=shown(unexplained),
        since=since,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def add_days(comparison: Comparison) -> Checkpoint:
    days = [
        CheckpointDay(day=day.day, net_pnl=shown(day.net_pnl), cash=shown(day.cash), balance=shown(balance))
        for day, balance in comparison.closings
    ]
    return Checkpoint(**asdict(comparison.checkpoint), days=days)
