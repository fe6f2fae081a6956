"""What tests begin with: one call makes one thing and returns what the API answered, or the new id."""

import io
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import httpx
import msgspec
from starlette.applications import Starlette

from journal_api.repositories import api_keys, new_trades
from journal_api.rules.trade_draft import TradeDraft
from journal_api.structs.trades import TradeCreate
from journal_api.trade_files import reader
from journal_api.trade_files.headers import UnknownHeader
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.api_keys import SCOPES
from journal_api.values.clock import now
from journal_api.values.types import decode_value, sort_name


def unwrap(response: httpx.Response) -> Any:
    """The one thing in `data`; fails on an error."""
    assert response.status_code in (200, 201), response.text
    (thing,) = response.json()["data"].values()
    return thing


def error_of(response: httpx.Response) -> tuple[int, str]:
    """(status, code) of a refused request."""
    return response.status_code, response.json()["error"]["code"]


def details_of(response: httpx.Response) -> Any:
    return response.json()["error"]["details"]


async def create_category(client: httpx.AsyncClient, name: str = "Psychology") -> Any:
    return unwrap(await client.post("/tag-categories", json={"name": name}))


async def create_tag(client: httpx.AsyncClient, name: str = "FOMO", **fields: Any) -> Any:
    """A tag, in a new category of the same name unless `category_id` is given."""
    if "category_id" not in fields:
        fields["category_id"] = (await create_category(client, f"of {name}"[:50]))["id"]
    return unwrap(await client.post("/tags", json={"name": name, **fields}))


async def create_strategy(client: httpx.AsyncClient, name: str = "Breakout", **fields: Any) -> Any:
    return unwrap(await client.post("/strategies", json={"name": name, **fields}))


async def get_strategy(client: httpx.AsyncClient, strategy_id: int) -> Any:
    return unwrap(await client.get(f"/strategies/{strategy_id}"))


async def create_goal(client: httpx.AsyncClient, **fields: Any) -> Any:
    goal = {"goal_name": "Goal", "metric": "net_pnl", "target_value": 100, **fields}
    return unwrap(await client.post("/goals", json=goal))


async def snapshots_of(client: httpx.AsyncClient, goal_id: int, **query: Any) -> Any:
    return unwrap(await client.get(f"/goals/{goal_id}/snapshots", params=query))


# What a trade needs beyond its account: a long from 100 to 101, a winner of 1.
A_TRADE = {
    "symbol": "ES",
    "direction": "long",
    "quantity": 1,
    "entry_price": 100,
    "exit_price": 101,
    "opened_at": "2026-01-05T14:00:00Z",
    "closed_at": "2026-01-05T15:00:00Z",
}


async def create_account(client: httpx.AsyncClient, name: str = "Sim", **fields: Any) -> Any:
    return unwrap(await client.post("/accounts", json={"name": name, **fields}))


async def create_key(client: httpx.AsyncClient) -> Any:
    """A second key of the client's user: no operation of the API makes one."""
    app = getattr(client, "_transport").app  # noqa: B009
    user = unwrap(await client.get("/me"))
    async with app.state.database.transaction() as db:
        await api_keys.insert(db, user["id"], "second", SCOPES)
    return unwrap(await client.get("/keys"))[-1]


async def create_example_journal(client: httpx.AsyncClient) -> Any:
    """The example journal, loaded unless it is there already; its path has no id."""
    await client.post("/example-journal")
    return {**unwrap(await client.get("/example-journal")), "id": 1}


async def create_copy_group(
    client: httpx.AsyncClient, name: str = "Copies", account_ids: Sequence[int] = ()
) -> Any:
    """A copy group with those accounts in it."""
    group = unwrap(await client.post("/copy-groups", json={"name": name}))
    members = [{"account_id": account_id} for account_id in account_ids]
    return unwrap(await client.put(f"/copy-groups/{group['id']}/members", json={"members": members}))


async def create_trade(client: httpx.AsyncClient, account_id: int | None = None, **fields: Any) -> Any:
    """A_TRADE with those fields, in a new account unless one is given."""
    if account_id is None:
        account_id = (await create_account(client, "of a trade"))["id"]
    return unwrap(await client.post("/trades", json={"account_id": account_id, **A_TRADE, **fields}))


A_FILE = """\
symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at
ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z
"""


async def send_file(
    client: httpx.AsyncClient,
    file: str | bytes,
    account_id: int | None = None,
    timezone: str | None = "UTC",
    **query: Any,
) -> httpx.Response:
    """The answer to a file of trades for that account; with `timezone=None`, without stating a time zone."""
    if account_id is not None:
        query["account_id"] = account_id
    if timezone is not None:
        query["timezone"] = timezone
    return await client.post("/imports", params=query, content=file, headers={"Content-Type": "text/csv"})


async def create_import(client: httpx.AsyncClient, file: str | bytes = A_FILE, **query: Any) -> Any:
    """The report of a file brought into a new account unless one is given."""
    if "account_id" not in query:
        query["account_id"] = (await create_account(client, "of an import"))["id"]
    return unwrap(await send_file(client, file, **query))


def read_file(file: str | bytes | BinaryIO, zone: str = "UTC", **options: Any) -> reader.TradeFile:
    """The trades of a file. Raises ValidationFailed for an unknown header, as an import does."""
    content = file.encode() if isinstance(file, str) else file
    opened = io.BytesIO(content) if isinstance(content, bytes) else content
    found = reader.read(opened, FileTimezone(zone), **options)
    if isinstance(found, UnknownHeader):
        raise found.refusal()
    return found


async def create_instrument(client: httpx.AsyncClient, root: str = "XYZ", point_value: float = 4) -> Any:
    """A point value of the owner's."""
    return unwrap(await client.put(f"/instruments/{root}", json={"point_value": point_value}))


# A file of this profile: Ticker,Way,Size,In,Out,From,To
A_PROFILE: dict[str, Any] = {
    "name": "Ticker list",
    "kind": "trades",
    "header": ["Ticker", "Way"],
    "symbol": "Ticker",
    "side": {"column": "Way", "long": ["Up"], "short": ["Down"]},
    "quantity": "Size",
    "entry_price": "In",
    "exit_price": "Out",
    "opened_at": "From",
    "closed_at": "To",
    "time": ["%d.%m.%Y %H:%M"],
}


async def create_import_profile(client: httpx.AsyncClient, **fields: Any) -> Any:
    return unwrap(await client.post("/import-profiles", json={**A_PROFILE, **fields}))


async def run_sql(app: Starlette, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
    """One statement in a transaction of its own: for what the HTTP interface does not reach."""
    async with app.state.database.transaction() as db:
        return list(await db.execute_fetchall(sql, values or {}))


async def insert_account(
    app: Starlette, name: str = "Sim", user_id: int = 1, starting_balance: int = 0
) -> int:
    """The id of a new account; the balance in whole units of its currency."""
    rows = await run_sql(
        app,
        """
        INSERT INTO accounts (user_id, name, sort_name, starting_balance, created_at, updated_at)
        VALUES (:user_id, :name, :sort_name, :balance, :now, :now)
        RETURNING id
        """,
        {
            "user_id": user_id,
            "name": name,
            "sort_name": sort_name(name),
            "balance": starting_balance * 10**8,
            "now": now(),
        },
    )
    return int(rows[0][0])


async def insert_copy_group(
    app: Starlette, name: str = "Copies", user_id: int = 1, members: Sequence[int] = ()
) -> int:
    """The id of a new copy group with those accounts in it."""
    rows = await run_sql(
        app,
        """
        INSERT INTO copy_groups (user_id, name, sort_name, created_at, updated_at)
        VALUES (:user_id, :name, :name, :now, :now)
        RETURNING id
        """,
        {"user_id": user_id, "name": name, "now": now()},
    )
    group_id = int(rows[0][0])
    for account_id in members:
        await run_sql(
            app,
            "INSERT INTO copy_group_members (copy_group_id, account_id) VALUES (:group, :account)",
            {"group": group_id, "account": account_id},
        )
    return group_id


async def insert_user(app: Starlette, name: str = "other") -> int:
    """The id of a new user."""
    rows = await run_sql(
        app,
        """
        INSERT INTO users (name, timezone, day_rollover, created_at, updated_at)
        VALUES (:name, 'UTC', '00:00', :now, :now)
        RETURNING id
        """,
        {"name": name, "now": now()},
    )
    return int(rows[0][0])


async def insert_trade(app: Starlette, account_id: int, user_id: int = 1, **fields: Any) -> int:
    """The id of a new trade: a long of one from 100, closed on 2026-01-05, with `gross_pnl` 0 unless said.

    Fields are those of TradeCreate, as JSON has them. Give `closed_at=None` for an open trade.
    """
    closed_at = fields.pop("closed_at", "2026-01-05T15:00:00Z")
    sent = {
        "account_id": account_id,
        "symbol": "ES",
        "direction": "long",
        "quantity": 1,
        "entry_price": 100,
        "opened_at": "2000-01-01T00:00:00Z",
        "closed_at": closed_at,
        **({} if closed_at is None or "exit_price" in fields else {"gross_pnl": 0}),
        **fields,
    }
    trade = msgspec.convert(sent, TradeCreate, dec_hook=decode_value)
    columns = TradeDraft.of_body(trade).columns("UTC") | {
        "id": None,
        "content": None,
        "fingerprint": None,
        "occurrence": 1,
    }
    async with app.state.database.transaction() as db:
        await new_trades.insert_all(db, user_id, [columns], None, now())
        (row,) = await db.execute_fetchall("SELECT last_insert_rowid()")
    return int(row[0])


async def insert_trade_tags(app: Starlette, trade_id: int, tag_ids: Sequence[int]) -> None:
    """Make these the tags of the trade."""
    await run_sql(app, "DELETE FROM trade_tags WHERE trade_id = :id", {"id": trade_id})
    for tag_id in tag_ids:
        await run_sql(
            app,
            "INSERT INTO trade_tags (trade_id, tag_id) VALUES (:trade, :tag)",
            {"trade": trade_id, "tag": tag_id},
        )


async def insert_answer(
    app: Starlette, trade_id: int, confirmation_id: int, was_present: bool, notes: str | None = None
) -> None:
    """Answer one confirmation on the trade, in place of an earlier answer."""
    await run_sql(
        app,
        """
        INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
        VALUES (:trade, :confirmation, :was_present, :notes)
        ON CONFLICT DO UPDATE SET was_present = excluded.was_present, notes = excluded.notes
        """,
        {
            "trade": trade_id,
            "confirmation": confirmation_id,
            "was_present": was_present,
            "notes": notes,
        },
    )
