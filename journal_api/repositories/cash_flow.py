"""SQL of what accounts cost and pay: the money between them and their owner."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from aiosqlite import Connection
from msgspec.structs import asdict

from journal_api.database.database import Database
from journal_api.database.sql import fetch_column, stored_columns
from journal_api.repositories import standings
from journal_api.repositories.cash import RECEIVED
from journal_api.statistics import trade_facts
from journal_api.structs.cash_flow import CashFlow, CashFlowGroup, CashFlowQuery
from journal_api.values.money import shown
from journal_api.values.types import sort_name

MOVED = f"""
    SELECT accounts.id, name, broker, currency, substr(day, 1, 7) AS month,
        sum_of_integers(iif(outside OR kind = 'deposit', amount, 0)),
        sum_of_integers(iif(kind = 'withdrawal', amount, {RECEIVED})),
        sum_of_integers(iif(kind = 'payout', amount, 0))
    FROM accounts
    JOIN cash_movements ON account_id = accounts.id
    WHERE user_id = :user_id
      AND accounts.id = coalesce(:account_id, accounts.id)
      AND day BETWEEN coalesce(:since, '') AND coalesce(:until, '9999-12-31')
      AND (outside OR kind IN ('deposit', 'withdrawal', 'payout'))
    GROUP BY accounts.id, month"""
WITH_FLOOR = """
    SELECT account_id
    FROM account_rules
    JOIN accounts ON accounts.id = account_id
    WHERE user_id = :user_id AND floor_kind IS NOT NULL"""


class Moved(NamedTuple):
    """The money of one account in one month, in units of 10^-8."""

    account_id: int
    account: str
    broker: str | None
    currency: str
    month: str
    paid: int
    received: int
    payouts: int


# The key and the name of a group.
Key = tuple[int | str | None, str | None]
KEYS: dict[str, Callable[[Moved], Key]] = {
    "account": lambda one: (one.account_id, one.account),
    "broker": lambda one: (one.broker, one.broker),
    "month": lambda one: (f"{one.month}-01", one.month),
}


async def read(database: Database, user_id: int, query: CashFlowQuery) -> CashFlow:
    """Return the groups and the total, all of one snapshot."""
    await trade_facts.refresh(database, user_id)
    async with database.read_transaction() as db:
        return await db.run(partial(compute, user_id=user_id, query=query))


async def compute(db: Connection, user_id: int, query: CashFlowQuery) -> CashFlow:
    values = {"user_id": user_id, **stored_columns(asdict(query))}
    rows = await db.execute_fetchall(MOVED, values)
    moved = [Moved(*row[:-3], *map(int, row[-3:])) for row in rows]
    lost = await find_lost(db, user_id, {one.account_id for one in moved}, values["until"])
    groups: dict[Key, list[Moved]] = {}
    if find_key := KEYS.get(query.group_by):
        for one in moved:
            groups.setdefault(find_key(one), []).append(one)
    # A month loses no account: it is the account that stands somewhere.
    known = None if query.group_by == "month" else lost
    return CashFlow(
        groups=[build_group(key, groups[key], known) for key in sorted(groups, key=find_place)],
        total=build_group((None, None), moved, lost),
    )


async def find_lost(db: Connection, user_id: int, account_ids: set[int], at: str | None) -> set[int]:
    """Return the accounts whose floor is broken at the end of the day `at`, by default of the current one."""
    lost = set()
    for account_id in account_ids & {*await fetch_column(db, WITH_FLOOR, {"user_id": user_id})}:
        floor = (await standings.compute(db, user_id, account_id, at)).floor
        if floor is not None and floor.state == "broken":
            lost.add(account_id)
    return lost


def find_place(key: Key) -> tuple[object, ...]:
    """Return what orders a group: its name without case, then its key; one without a name is last."""
    return key[1] is None, sort_name(key[1] or ""), key[0]


def build_group(key: Key, moved: Sequence[Moved], lost: Collection[int] | None) -> CashFlowGroup:
    is_mixed = len({one.currency for one in moved}) > 1
    accounts = {one.account_id for one in moved}
    sums = {name: sum(getattr(one, name) for one in moved) for name in ("paid", "received", "payouts")}
    sums["net"] = sums["received"] - sums["paid"]
    return CashFlowGroup(
        key=key[0],
        name=key[1],
        accounts=len(accounts),
        lost=None if lost is None else len(accounts.intersection(lost)),
        **{name: None if is_mixed else shown(amount) for name, amount in sums.items()},
    )
