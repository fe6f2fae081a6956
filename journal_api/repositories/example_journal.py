"""Writes the example journal with the functions of the other repositories (docs/api.md#example-journal)."""

from datetime import date
from itertools import chain, count
from typing import Any, NamedTuple, TypeVar

from aiosqlite import Connection
from msgspec import json

from journal_api.errors import Conflict
from journal_api.repositories import (
    accounts,
    confirmation_answers,
    example_rows,
    goals,
    new_trades,
    setups,
    sql,
    strategies,
    tag_categories,
    tags,
    trade_tags,
    users,
)
from journal_api.rules import example_journal
from journal_api.rules.example_journal import ExampleTrade
from journal_api.rules.trade_draft import TradeDraft
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.goals import GoalCreate
from journal_api.structs.me import Me
from journal_api.structs.setups import Setup
from journal_api.structs.strategies import StrategyCreate
from journal_api.structs.tag_categories import TagCategoryCreate
from journal_api.structs.tags import TagCreate
from journal_api.structs.trades import TradeCreate
from journal_api.values.clock import now
from journal_api.values.types import decode_value

T = TypeVar("T")


class StoredSetup(NamedTuple):
    """The ids of a setup of the example."""

    strategy_id: int
    setup_id: int
    confirmation_ids: list[int]


class References(NamedTuple):
    """What trades of the example refer to, by the names in the example."""

    account_id: int
    setups: dict[str, StoredSetup]
    tag_ids: dict[str, int]

    def columns_of(self, trade: ExampleTrade, timezone: str) -> dict[str, Any]:
        """Return the stored columns of the trade."""
        setup = self.setups[trade.setup] if trade.setup else None
        ids = {"strategy_id": setup.strategy_id, "setup_id": setup.setup_id} if setup else {}
        body = decoded({**trade.body, **ids, "account_id": self.account_id}, TradeCreate)
        return TradeDraft.of_body(body).columns(timezone)

    def answers_of(self, trade: ExampleTrade) -> list[tuple[int, bool, None]]:
        """Return the answers to the checklist of the trade's setup, without notes."""
        confirmation_ids = self.setups[trade.setup].confirmation_ids if trade.setup else []
        return [
            (row_id, is_present, None)
            for row_id, is_present in zip(confirmation_ids, trade.answers, strict=True)
        ]


async def insert(db: Connection, user_id: int, max_strategies: int) -> None:
    """Write the rows of the example. Raises Conflict if it is loaded, and LimitReached."""
    if await example_rows.is_loaded(db, user_id):
        raise Conflict("The example journal is already loaded.")
    owner = await users.find(db, user_id)
    today = date.fromisoformat(await users.today(db, owner.id))
    account_id = await create_account(db, owner.id)
    setups_by_name = await create_strategies(db, owner.id, max_strategies)
    references = References(account_id, setups_by_name, await create_tags(db, owner.id))
    plan = example_journal.trades_until(today, owner.trading_weekdays, owner.day_rollover)
    await create_trades(db, owner, references, plan)
    await create_goals(db, owner.id, account_id)


async def create_account(db: Connection, user_id: int) -> int:
    """Create the account and return its id."""
    body = await named(db, user_id, "accounts", example_journal.ACCOUNT)
    account_id = await accounts.insert(db, user_id, decoded(body, AccountCreate))
    await example_rows.insert(db, user_id, "accounts", [account_id])
    return account_id


async def create_tags(db: Connection, user_id: int) -> dict[str, int]:
    """Create the tags and return their ids by their names in the example."""
    ids: dict[str, int] = {}
    for category, tags_of_category in example_journal.TAGS.items():
        body = await named(db, user_id, "tag_categories", {"name": category})
        category_id = await tag_categories.insert(db, user_id, decoded(body, TagCategoryCreate))
        await example_rows.insert(db, user_id, "tag_categories", [category_id])
        for name, fields in tags_of_category.items():
            tag = await named(db, user_id, "tags", {"name": name, "category_id": category_id, **fields})
            ids[name] = await tags.insert(db, user_id, decoded(tag, TagCreate))
    await example_rows.insert(db, user_id, "tags", list(ids.values()))
    return ids


async def create_strategies(db: Connection, user_id: int, maximum: int) -> dict[str, StoredSetup]:
    """Create the strategies and return their setups by name. Raises LimitReached."""
    by_name = {}
    for strategy in example_journal.STRATEGIES:
        body = await named(db, user_id, "strategies", strategy)
        strategy_id = await strategies.insert(db, user_id, decoded(body, StrategyCreate), maximum)
        await example_rows.insert(db, user_id, "strategies", [strategy_id])
        text = await setups.list_of_strategy(db, user_id, strategy_id)
        for setup in json.decode(text, type=list[Setup]):
            ids = [confirmation.confirmation_id for confirmation in setup.confirmations]
            by_name[setup.name] = StoredSetup(strategy_id, setup.setup_id, ids)
    return by_name


async def create_trades(
    db: Connection,
    owner: Me,
    references: References,
    plan: list[ExampleTrade],
) -> None:
    """Create those trades of the plan that are closed by now, with their tags and answers."""
    drafts = [(references.columns_of(trade, owner.timezone), trade) for trade in plan]
    rows = [(columns, trade) for columns, trade in drafts if columns["closed_at"] <= now()]
    ids = await new_trades.insert_many(db, owner.id, [columns for columns, _ in rows])
    await example_rows.insert(db, owner.id, "trades", ids)
    trades = [(row_id, trade) for row_id, (_, trade) in zip(ids, rows, strict=True)]
    tag_rows = [(row_id, references.tag_ids[name]) for row_id, trade in trades for name in trade.tags]
    await trade_tags.insert_many(db, tag_rows)
    answers = [(row_id, *answer) for row_id, trade in trades for answer in references.answers_of(trade)]
    await confirmation_answers.insert_many(db, answers)


async def create_goals(db: Connection, user_id: int, account_id: int) -> None:
    """Create the goals of the account."""
    bodies = [{**goal, "account_id": account_id} for goal in example_journal.GOALS]
    ids = [await goals.insert(db, user_id, decoded(body, GoalCreate)) for body in bodies]
    await example_rows.insert(db, user_id, "goals", ids)


async def named(db: Connection, user_id: int, table: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with a name that no row of the table has."""
    name, endings = body["name"], chain([" (example)"], (f" (example {number})" for number in count(2)))
    while await sql.name_is_taken(db, table, user_id, name):
        name = body["name"] + next(endings)
    return {**body, "name": name}


def decoded(body: dict[str, Any], struct: type[T]) -> T:
    """Return the body as its struct, by way of JSON, which free-form members are kept as."""
    return json.decode(json.encode(body), type=struct, dec_hook=decode_value)
