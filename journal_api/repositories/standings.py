"""SQL of standings: how accounts stand by their rules. All that a response says is from one snapshot."""

from functools import partial

from aiosqlite import Connection
from msgspec import json

from journal_api.database.database import Database
from journal_api.database.sql import fetch_column
from journal_api.errors import NotFound
from journal_api.repositories import account_rules
from journal_api.statistics import account_days_sql, trade_facts
from journal_api.statistics.account_days import find_phase
from journal_api.statistics.account_floor import trace_floor
from journal_api.statistics.account_rules import judge, judge_payout, list_days
from journal_api.structs.account_rules import AccountRules
from journal_api.structs.standings import Standing
from journal_api.values.money import ENCODER

NO_RULES = AccountRules(**dict.fromkeys(AccountRules.__struct_fields__))


async def read(database: Database, user_id: int, account_id: int, at: str | None, *, with_days: bool) -> str:
    """Return the standing of an account as JSON, by default of its current trading day. Raises NotFound."""
    await trade_facts.refresh(database, user_id)
    async with database.read_transaction() as db:
        standing = await db.run(partial(compute, user_id=user_id, account_id=account_id, at=at, with_days=with_days))
    return ENCODER.encode(standing).decode()


async def read_all(database: Database, user_id: int, at: str | None = None) -> dict[int, Standing]:
    """Return the standings of the user's accounts that have rules, by account id."""
    await trade_facts.refresh(database, user_id)
    async with database.read_transaction() as db:
        return await db.run(partial(compute_all, user_id=user_id, at=at))


async def compute_all(db: Connection, user_id: int, at: str | None) -> dict[int, Standing]:
    account_ids = await fetch_column(
        db,
        """
        SELECT id
        FROM accounts
        JOIN account_rules ON account_id = id
        WHERE user_id = :user_id
        ORDER BY sort_name, id
        """,
        {"user_id": user_id},
    )
    return {account_id: await compute(db, user_id, account_id, at) for account_id in account_ids}


async def compute(
    db: Connection, user_id: int, account_id: int, at: str | None, *, with_days: bool = False
) -> Standing:
    """Return the standing, without any rule for an account that has none. Raises NotFound."""
    history = await account_days_sql.read_history(db, user_id, account_id, at)
    try:
        rules = json.decode(await account_rules.get(db, user_id, account_id), type=AccountRules)
    except NotFound:
        rules = NO_RULES
    phase = find_phase(history.starting_balance, history.days)
    trace = None if rules.floor is None else trace_floor(phase, rules.floor, history.until)
    standing = judge(account_id, phase, rules, trace, history.until)
    if standing.floor is not None and trace is not None:
        standing.payout = judge_payout(standing.floor, history.payout_share)
        if trace.peak.place is not None:
            standing.floor.peak_trade_id = await account_days_sql.find_trade(db, account_id, trace.peak)
        if with_days:
            standing.floor.days = list_days(trace)
    return standing
