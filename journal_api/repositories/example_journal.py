"""SQL of the example journal, which is written by the functions of other repositories."""

import hashlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import chain, count
from typing import Any, TypeVar

from aiosqlite import Connection
from msgspec import json
from msgspec.structs import replace

from journal_api.database import sql
from journal_api.database.sql import fetch, fetch_json
from journal_api.errors import AccountHasTrades, Conflict, NotFound
from journal_api.positions.commissions import Commissions
from journal_api.positions.trade_draft import TradeDraft, build_columns
from journal_api.repositories import (
    account_rules,
    accounts,
    cash,
    checkpoints,
    copy_groups,
    days,
    goals,
    new_trades,
    pictures,
    setups,
    strategies,
    tag_categories,
    tags,
    trade_annotations,
    users,
)
from journal_api.repositories.pictures import Content, Place
from journal_api.repositories.trade_references import read_references
from journal_api.rules import example_journal
from journal_api.rules.example_journal import Places
from journal_api.rules.picture_formats.cleaning import clean
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.cash import CashCreate, CashDay
from journal_api.structs.checkpoints import CheckpointCreate
from journal_api.structs.copy_groups import CopyGroupCreate, MemberPut, MembersPut
from journal_api.structs.days import DayPatch
from journal_api.structs.example_journal import ExampleJournal, ExampleTag
from journal_api.structs.me import Me
from journal_api.structs.pictures import PicturePatch
from journal_api.structs.strategies import Setup, StrategyCreate
from journal_api.structs.tag_categories import TagCategoryCreate
from journal_api.structs.tags import TagCreate
from journal_api.values.clock import now
from journal_api.values.money import Money

Named = TypeVar("Named", AccountCreate, CopyGroupCreate, StrategyCreate, TagCategoryCreate, TagCreate)

# What a copy has of its original.
NOT_COPIED = {"grade": None, "notes": None, "strategy_id": None, "setup_id": None}
# The balance of an account at the end of a day, and the first trade of the day.
BALANCE = """
    SELECT starting_balance
      + (SELECT coalesce(sum(net_pnl), 0) FROM trades
         WHERE account_id = accounts.id AND trading_day <= :day)
      + (SELECT coalesce(sum(iif(kind = 'deposit', amount, -amount)), 0) FROM cash_movements
         WHERE account_id = accounts.id AND day <= :day)
    FROM accounts
    WHERE id = :account_id
    """
FIRST_TRADE = """
    SELECT id FROM trades WHERE account_id = :account_id AND trading_day = :day ORDER BY opened_at, id LIMIT 1
    """

# The rows of one table, for `IN`.
ROWS = "(SELECT row_id FROM example_rows WHERE user_id = :user_id AND resource = '{table}')"
# In this order nothing refers to a row that is deleted. What the owner has used since is kept.
KEPT = {
    "pictures": "false",
    "trades": "false",
    "days": "updated_at <> created_at",
    "copy_groups": "EXISTS (SELECT 1 FROM strategies WHERE copy_group_id = copy_groups.id)",
    "goals": "false",
    "strategies": "EXISTS (SELECT 1 FROM trades WHERE strategy_id = strategies.id)",
    "tags": "EXISTS (SELECT 1 FROM trade_tags WHERE tag_id = tags.id)",
    "tag_categories": "EXISTS (SELECT 1 FROM tags WHERE category_id = tag_categories.id)",
    "accounts": "false",
}
# What the owner may have entered for the account of the example, and would lose with it.
OWN = {"cash_movements": "cash", "checkpoints": "checkpoints", "account_rules": "rules"}


async def get(db: Connection, user_id: int) -> str:
    """Return whether the example journal is loaded, as JSON."""
    return await fetch_json(
        db,
        f"""
        SELECT json_object(
            'is_loaded', {sql.json_boolean("count(*) > 0")},
            'account_id', min(row_id) FILTER (WHERE resource = 'accounts'),
            'trade_count', (SELECT count(*) FROM trades WHERE id IN {ROWS.format(table="trades")}))
        FROM example_rows
        WHERE user_id = :user_id
        """,
        {"user_id": user_id},
    )


async def is_loaded(db: Connection, user_id: int) -> bool:
    return json.decode(await get(db, user_id), type=ExampleJournal).is_loaded


# Loading it ----------------------------------------------------------------------------------------------


async def insert(db: Connection, user_id: int, max_strategies: int, until: str | None = None) -> None:
    """Write the example, with trades until that instant, by default now. Raises Conflict, LimitReached."""
    if await is_loaded(db, user_id):
        raise Conflict("The example journal is already loaded.")
    content, tables = example_journal.read_content(), (*KEPT, *OWN)
    # Rows with higher ids belong to the example: the write lock keeps others out.
    last_ids = {table: await fetch(db, f"SELECT coalesce(max(rowid), 0) FROM {table}", {}) for table in tables}
    account = await with_free_name(db, user_id, "accounts", content.account)
    account_id = await accounts.insert(db, user_id, account)
    places = Places(
        account_id,
        await insert_strategies(db, user_id, content.strategies, max_strategies),
        await insert_tags(db, user_id, content.tags),
    )
    owner, until = await users.find(db, user_id), until or now()
    dates = [day.isoformat() for day in example_journal.list_days(owner, until)]
    originals = await insert_trades(db, owner, places, until)
    await insert_copies(db, owner, account_id, originals)
    await insert_account(db, account_id, dates)
    await insert_days(db, user_id, places, dates)
    for goal in content.goals:
        await goals.insert(db, user_id, replace(goal, account_id=account_id))
    await record(db, user_id, last_ids)


async def record(db: Connection, user_id: int, last_ids: Mapping[str, int]) -> None:
    """Record the rows that are newer than those ids as the example journal."""
    for table, last_id in last_ids.items():
        await db.execute_fetchall(
            f"""
            INSERT INTO example_rows (user_id, resource, row_id)
            SELECT :user_id, :table, rowid FROM {table} WHERE rowid > :last_id
            """,
            {"user_id": user_id, "table": table, "last_id": last_id},
        )


async def insert_copies(db: Connection, owner: Me, account_id: int, originals: Sequence[dict[str, Any]]) -> None:
    """Create an account that copies the last trades of the example's."""
    content = example_journal.read_content()
    account = replace(content.account, name=content.copy.account)
    copy_id = await accounts.insert(db, owner.id, await with_free_name(db, owner.id, "accounts", account))
    group = CopyGroupCreate(name=content.copy.group)
    group_id = await copy_groups.insert(db, owner.id, await with_free_name(db, owner.id, "copy_groups", group))
    members = MembersPut(members=[MemberPut(account_id=row_id) for row_id in (account_id, copy_id)])
    await copy_groups.replace_members(db, owner.id, await copy_groups.find(db, owner.id, group_id), members)
    closed = [row for row in originals if row["closed_at"]][-content.copy.trades :]
    new = [{**row, "account_id": copy_id, "source_trade_id": row["id"], **NOT_COPIED} for row in closed]
    await new_trades.insert_many(db, owner.id, new)


async def insert_account(db: Connection, account_id: int, dates: Sequence[str]) -> None:
    content = example_journal.read_content()
    await account_rules.replace(db, account_id, content.rules)
    for days_ago, kind, amount, note in content.cash:
        body = CashCreate(kind=kind, amount=amount, day=CashDay.decode(dates[days_ago]), note=note)
        await cash.insert(db, account_id, body)
    days_ago, difference, note = content.checkpoint
    day = CashDay.decode(dates[days_ago])
    units = await fetch(db, BALANCE, {"account_id": account_id, "day": str(day)})
    balance = Money.of_units(units + difference.units)
    await checkpoints.insert(db, account_id, CheckpointCreate(day=day, balance=balance, note=note))


async def insert_days(db: Connection, user_id: int, places: Places, dates: Sequence[str]) -> None:
    """Write plans, reviews and pictures, on days on which the owner has written nothing."""
    content = example_journal.read_content()
    for days_ago, plan, review, rating, tag_names in content.days:
        stored = await days.find(db, user_id, dates[days_ago])
        if stored.created_at is None:
            tag_ids = [places.tag_ids[name] for name in tag_names]
            await days.update(db, user_id, stored, DayPatch(plan=plan, review=review, rating=rating, tag_ids=tag_ids))
    for number, (days_ago, caption) in enumerate(content.pictures):
        day = dates[days_ago]
        first = await fetch(db, FIRST_TRADE, {"account_id": places.account_id, "day": day})
        place = Place(trade_id=first) if number and first else Place(day=day)
        chart = example_journal.FILE.with_name(f"example_chart_{number}.png").read_bytes()
        width, height, _ = clean(chart, "image/png")
        facts = Content(hashlib.sha256(chart).hexdigest(), "image/png", width, height, len(chart))
        picture_id = await pictures.insert(db, user_id, place, facts, BytesIO(chart))
        stored_picture = await pictures.find(db, user_id, picture_id)
        await pictures.update(db, stored_picture, PicturePatch(caption=caption))


async def insert_tags(db: Connection, user_id: int, new_tags: Sequence[ExampleTag]) -> dict[str, int]:
    """Create the tags with their categories and return the ids of the tags by name."""
    category_ids: dict[str, int] = {}
    tag_ids: dict[str, int] = {}
    for tag in new_tags:
        if tag.category not in category_ids:
            category = TagCategoryCreate(name=tag.category)
            category = await with_free_name(db, user_id, "tag_categories", category)
            category_ids[tag.category] = await tag_categories.insert(db, user_id, category)
        body = TagCreate(name=tag.name, category_id=category_ids[tag.category], type=tag.type, color=tag.color)
        tag_ids[tag.name] = await tags.insert(db, user_id, await with_free_name(db, user_id, "tags", body))
    return tag_ids


async def insert_strategies(
    db: Connection, user_id: int, bodies: Sequence[StrategyCreate], maximum: int
) -> dict[str, Setup]:
    """Create the strategies and return their setups by name. Raises LimitReached."""
    by_name: dict[str, Setup] = {}
    for body in bodies:
        renamed = await with_free_name(db, user_id, "strategies", body)
        strategy_id = await strategies.insert(db, user_id, renamed, maximum)
        text = await setups.list_of_strategy(db, user_id, strategy_id)
        by_name |= {setup.name: setup for setup in json.decode(text, type=list[Setup])}
    return by_name


async def insert_trades(db: Connection, owner: Me, places: Places, until: str) -> list[dict[str, Any]]:
    """Create the trades until that instant, with tags and answers, and return their columns."""
    days = example_journal.list_days(owner, until)
    bodies = [
        example_journal.build_body(trade, places, days[trade.days_ago], owner.day_rollover)
        for trade in example_journal.read_content().trades.rows
    ]
    drafts = [TradeDraft.of_body(body) for body in bodies]
    references = await read_references(db, owner.id, drafts)
    fees = example_journal.read_content().account.fees
    commissions = Commissions({root: fee.units for root, fee in fees.items()})
    new = []
    for body, draft in zip(bodies, drafts, strict=True):
        columns = build_columns(references.resolved(draft), owner.timezone)
        if (columns["closed_at"] or columns["opened_at"]) <= until:
            charged = commissions.compute(columns, is_future=True) or 0
            new.append((body, {**columns, "fees": charged, "fees_source": "account"}))
    ids = await new_trades.insert_many(db, owner.id, [columns for _, columns in new])
    await trade_annotations.insert_all(db, {row_id: body for row_id, (body, _) in zip(ids, new, strict=True)})
    return [{**columns, "id": row_id} for row_id, (_, columns) in zip(ids, new, strict=True)]


async def with_free_name(db: Connection, user_id: int, table: str, body: Named) -> Named:
    name, endings = body.name, chain([" (example)"], (f" (example {number})" for number in count(2)))
    is_taken = f"SELECT 1 FROM {table} WHERE user_id = :user_id AND name = :name"
    while await fetch(db, is_taken, {"user_id": user_id, "name": name}):
        name = type(name)(body.name + next(endings))
    return replace(body, name=name)


# Removing it ---------------------------------------------------------------------------------------------


async def delete(db: Connection, user_id: int) -> None:
    """Delete what nothing of the owner uses. Raises NotFound, AccountHasTrades, and Conflict for own goals or cash."""
    if not await is_loaded(db, user_id):
        raise NotFound("The example journal is not loaded.")
    if trade_count := await count_own(db, user_id, "trades"):
        message = "The account of the example journal has trades of your own; delete or move them first."
        raise AccountHasTrades(message, trade_count=trade_count)
    if await count_own(db, user_id, "goals"):
        raise Conflict("The account of the example journal has goals of your own; delete or move them first.")
    for table, what in OWN.items():
        if await count_own(db, user_id, table):
            raise Conflict(f"The account of the example journal has {what} of your own; delete them first.")
    for table, is_kept in KEPT.items():
        rows = ROWS.format(table=table)
        await db.execute_fetchall(f"DELETE FROM {table} WHERE id IN {rows} AND NOT {is_kept}", {"user_id": user_id})
    await db.execute_fetchall("DELETE FROM example_rows WHERE user_id = :user_id", {"user_id": user_id})


async def count_own(db: Connection, user_id: int, table: str) -> int:
    """Return the number of rows that the owner has added to the account of the example."""
    in_account = f"account_id IN {ROWS.format(table='accounts')} AND rowid NOT IN {ROWS.format(table=table)}"
    return int(await fetch(db, f"SELECT count(*) FROM {table} WHERE {in_account}", {"user_id": user_id}))
