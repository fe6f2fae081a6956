"""What tests start with: `create_*` sends a request and returns the object, `insert_*` runs SQL."""

import asyncio
import csv
import io
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, timedelta
from typing import Any, BinaryIO

import httpx
import msgspec
from aiosqlite import Connection
from pictures import HEADERS, PNG
from starlette.applications import Starlette

from journal_api.database.database import Database
from journal_api.positions.trade_draft import TradeDraft, build_columns
from journal_api.repositories import api_keys, new_trades
from journal_api.structs.trades import TradeCreate
from journal_api.trade_files import reader
from journal_api.trade_files.headers import UnknownHeader
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.api_keys import SCOPES
from journal_api.values.clock import now
from journal_api.values.types import decode_value, sort_name

# The client of a running journal.
Client = httpx.AsyncClient


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


async def create_category(client: Client, name: str = "Psychology", **fields: Any) -> Any:
    return unwrap(await client.post("/tag-categories", json={"name": name, **fields}))


async def create_tag(client: Client, name: str = "FOMO", **fields: Any) -> Any:
    """A tag, in a new category of the same name unless `category_id` is given."""
    if "category_id" not in fields:
        fields["category_id"] = (await create_category(client, f"of {name}"[:50]))["id"]
    return unwrap(await client.post("/tags", json={"name": name, **fields}))


def three_by_three(word: str) -> list[dict[str, Any]]:
    """Three setups of three confirmations, whose names begin with the word."""
    return [
        {"name": f"{word} s{number}", "confirmations": [{"name": f"{word} c{number}.{place}"} for place in range(3)]}
        for number in range(3)
    ]


def renamed(setups: Any) -> list[dict[str, Any]]:
    """The same setups and confirmations by their ids, each with another name."""
    return [
        {
            **setup,
            "name": f"{setup['name']} again",
            "confirmations": [{**one, "name": f"{one['name']} again"} for one in setup["confirmations"]],
        }
        for setup in setups
    ]


def is_whole(strategy: Any) -> bool:
    """Whether the strategy has three setups of three confirmations and all names begin with one word."""
    setups = strategy["setups"]
    names = [one["name"] for setup in setups for one in (setup, *setup["confirmations"])]
    words = {name.split()[0] for name in [strategy["name"], *names]}
    return [len(setup["confirmations"]) for setup in setups] == [3, 3, 3] and len(words) == 1


async def create_strategy(client: Client, name: str = "Breakout", **fields: Any) -> Any:
    return unwrap(await client.post("/strategies", json={"name": name, **fields}))


async def get_strategy(client: Client, strategy_id: int) -> Any:
    return unwrap(await client.get(f"/strategies/{strategy_id}"))


async def create_goal(client: Client, **fields: Any) -> Any:
    goal = {"goal_name": "Goal", "metric": "net_pnl", "target_value": 100, **fields}
    return unwrap(await client.post("/goals", json=goal))


async def snapshots_of(client: Client, goal_id: int, **query: Any) -> Any:
    return unwrap(await client.get(f"/goals/{goal_id}/snapshots", params=query))


async def history_of(client: Client, goal: Any) -> list[Any]:
    """The snapshots of a goal without what is each goal's own."""
    return [
        {name: value for name, value in one.items() if name not in ("goal_id", "computed_at")}
        for one in await snapshots_of(client, goal["id"], limit=365)
    ]


# A goal over the whole of 2026.
YEAR = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-12-31"}


async def read_actual(client: Client, goal: Any) -> Any:
    """The value of a goal that has one snapshot."""
    (snapshot,) = await snapshots_of(client, goal["id"])
    return snapshot["actual"]


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


# More of A_TRADE, and so a trade that is open.
A_FILL = {"side": "buy", "quantity": 1, "price": 99, "at": "2026-01-05T14:30:00Z"}


A_DAY = "2026-01-05"


async def create_picture(client: Client, path: str = f"/days/{A_DAY}", file: bytes = PNG) -> Any:
    """A picture of a day, or of the trade with that path."""
    return unwrap(await client.post(f"{path}/pictures", content=file, headers=HEADERS))


async def create_account(client: Client, name: str = "Sim", **fields: Any) -> Any:
    return unwrap(await client.post("/accounts", json={"name": name, **fields}))


A_DEPOSIT = {"kind": "deposit", "amount": 100, "day": "2026-01-05"}


async def create_cash(client: Client, account_id: int, **fields: Any) -> Any:
    return unwrap(await client.post(f"/accounts/{account_id}/cash", json={**A_DEPOSIT, **fields}))


A_CHECKPOINT = {"day": "2026-01-05", "balance": 100}


async def create_checkpoint(client: Client, account_id: int, **fields: Any) -> Any:
    return unwrap(await client.post(f"/accounts/{account_id}/checkpoints", json={**A_CHECKPOINT, **fields}))


async def put_rules(client: Client, account_id: int, **rules: Any) -> Any:
    return unwrap(await client.put(f"/accounts/{account_id}/rules", json=rules))


async def create_funded_account(client: Client, name: str = "Funded") -> Any:
    """A new account with rules, and with cash and a checkpoint that have its id, for paths with both."""
    number = len(unwrap(await client.get("/accounts")))
    account = await create_account(client, f"{name} {number}")
    cash = await create_cash(client, account["id"])
    checkpoint = await create_checkpoint(client, account["id"])
    while account["id"] < max(cash["id"], checkpoint["id"]):
        number += 1
        account = await create_account(client, f"{name} {number}")
    while cash["id"] < account["id"]:
        cash = await create_cash(client, account["id"])
    while checkpoint["id"] < account["id"]:
        day = date(2026, 1, 1) + timedelta(days=checkpoint["id"])
        checkpoint = await create_checkpoint(client, account["id"], day=day.isoformat())
    await put_rules(client, account["id"], daily_loss=500)
    return account


async def write_day(client: Client, day: str = "2026-01-05", **fields: Any) -> Any:
    """A day on which the fields are written, by default a plan."""
    return unwrap(await client.patch(f"/days/{day}", json=fields or {"plan": "Wait for the open."}))


def app_of(client: Client) -> Any:
    """The application that the client calls."""
    return getattr(client, "_transport").app  # noqa: B009


async def create_key(client: Client) -> Any:
    """A second key of the client's user: no operation of the API makes one."""
    user = unwrap(await client.get("/me"))
    await app_of(client).state.database.write(lambda db: api_keys.insert(db, user["id"], "second", SCOPES))
    return unwrap(await client.get("/keys"))[-1]


async def create_example_journal(client: Client) -> Any:
    """The example journal, loaded unless it is there already; its path has no id."""
    await client.post("/example-journal")
    return {**unwrap(await client.get("/example-journal")), "id": 1}


async def create_copy_group(client: Client, name: str = "Copies", account_ids: Sequence[int] = ()) -> Any:
    """A copy group with those accounts in it."""
    group = unwrap(await client.post("/copy-groups", json={"name": name}))
    members = [{"account_id": account_id} for account_id in account_ids]
    return unwrap(await client.put(f"/copy-groups/{group['id']}/members", json={"members": members}))


async def account_of_trades(client: Client) -> int:
    """The id of the account of trades that state none."""
    created = await client.post("/accounts", json={"name": "of a trade"})
    if created.status_code == 201:
        return int(unwrap(created)["id"])
    accounts = unwrap(await client.get("/accounts"))
    return int(next(account["id"] for account in accounts if account["name"] == "of a trade"))


async def create_trade(client: Client, account_id: int | None = None, **fields: Any) -> Any:
    """A_TRADE with those fields, in a new account unless one is given."""
    if account_id is None:
        account_id = await account_of_trades(client)
    return unwrap(await client.post("/trades", json={"account_id": account_id, **A_TRADE, **fields}))


A_FILE = """\
symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at
ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z
"""


async def send_file(
    client: Client,
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


# A_TRADE as a row of a file.
A_ROW = {name: str(value) for name, value in A_TRADE.items()}
OPEN_ROW = {"exit_price": "", "closed_at": ""}
A_CHECKLIST: dict[str, Any] = {
    "name": "Breakout",
    "setups": [{"name": "High", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}],
}


def build_file(*rows: Mapping[str, str]) -> str:
    """A file of round trips; each row is A_ROW but for those cells."""
    table = [{**A_ROW, **row} for row in rows]
    text = io.StringIO()
    columns = dict.fromkeys(column for row in table for column in row)
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def read_ids(report: Any) -> list[int]:
    """The trade of each row of an import."""
    return [row["trade_id"] for row in report["rows"]]


async def list_trades(client: Client, **query: Any) -> list[Any]:
    """The trades that match, oldest first."""
    found = unwrap(await client.get("/trades", params={"limit": 200, **query}))
    return sorted(found, key=lambda trade: int(trade["id"]))


async def get_trade(client: Client, trade: Any) -> Any:
    """Read a trade as it is now, by its id or as it was."""
    return unwrap(await client.get(f"/trades/{trade if isinstance(trade, int) else trade['id']}"))


async def export(client: Client, **query: Any) -> str:
    answer = await client.get("/trades/export", params=query)
    assert answer.status_code == 200
    return answer.text


async def list_names(client: Client, path: str, **query: Any) -> list[str]:
    return [one["name"] for one in unwrap(await client.get(path, params=query))]


async def patch_trade(client: Client, trade_id: int, **fields: Any) -> Any:
    return unwrap(await client.patch(f"/trades/{trade_id}", json=fields))


def read_verdicts(report: Any) -> list[str]:
    """The verdict of each row of an import."""
    return [row["verdict"] for row in report["rows"]]


async def create_import(client: Client, file: str | bytes = A_FILE, **query: Any) -> Any:
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


async def create_instrument(client: Client, root: str = "XYZ", point_value: float = 4) -> Any:
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


async def create_import_profile(client: Client, **fields: Any) -> Any:
    return unwrap(await client.post("/import-profiles", json={**A_PROFILE, **fields}))


async def run_sql(app: Starlette, sql: str, values: Mapping[str, Any] | None = None) -> list[Any]:
    """One statement in a transaction of its own: for what the HTTP interface does not reach."""

    async def run(db: Connection) -> list[Any]:
        return list(await db.execute_fetchall(sql, values or {}))

    rows: list[Any] = await app.state.database.write(run)
    return rows


@asynccontextmanager
async def held_writes(database: Database) -> AsyncIterator[None]:
    """Until the end of the block a write is at work, and all others wait for it."""
    has_begun, may_end = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def wait(db: Connection) -> None:
        loop.call_soon_threadsafe(has_begun.set)
        may_end.wait(60)

    write = asyncio.create_task(database.write(wait, commit=False))
    await has_begun.wait()
    try:
        yield
    finally:
        may_end.set()
        await write


async def insert_row(app: Starlette, table: str, **columns: Any) -> int:
    """The id of a new row, which has been created now."""
    columns["created_at"] = columns["updated_at"] = now()
    names = ", ".join(columns)
    values = ", ".join(f":{column}" for column in columns)
    rows = await run_sql(app, f"INSERT INTO {table} ({names}) VALUES ({values}) RETURNING id", columns)
    return int(rows[0][0])


async def insert_account(app: Starlette, name: str = "Sim", user_id: int = 1, starting_balance: int = 0) -> int:
    """The id of a new account; the balance in whole units of its currency."""
    named = {"user_id": user_id, "name": name, "sort_name": sort_name(name)}
    return await insert_row(app, "accounts", **named, starting_balance=starting_balance * 10**8)


async def insert_copy_group(app: Starlette, name: str = "Copies", user_id: int = 1, members: Sequence[int] = ()) -> int:
    """The id of a new copy group with those accounts in it."""
    group_id = await insert_row(app, "copy_groups", user_id=user_id, name=name, sort_name=sort_name(name))
    for account_id in members:
        await run_sql(
            app,
            "INSERT INTO copy_group_members (copy_group_id, account_id) VALUES (:group, :account)",
            {"group": group_id, "account": account_id},
        )
    return group_id


async def insert_user(app: Starlette, name: str = "other") -> int:
    """The id of a new user."""
    return await insert_row(app, "users", name=name, timezone="UTC", day_rollover="00:00")


async def read_report(client: Client, group_by: str = "none", **query: Any) -> Any:
    return unwrap(await client.get("/reports", params={"group_by": group_by, **query}))


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
    columns = build_columns(TradeDraft.of_body(trade), "UTC")
    (trade_id,) = await app.state.database.write(lambda db: new_trades.insert_many(db, user_id, [columns]))
    return int(trade_id)


async def insert_trade_tags(app: Starlette, trade_id: int, tag_ids: Sequence[int]) -> None:
    """Make these the tags of the trade."""
    await run_sql(app, "DELETE FROM trade_tags WHERE trade_id = :id", {"id": trade_id})
    for tag_id in tag_ids:
        await run_sql(
            app, "INSERT INTO trade_tags (trade_id, tag_id) VALUES (:trade, :tag)", {"trade": trade_id, "tag": tag_id}
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
        {"trade": trade_id, "confirmation": confirmation_id, "was_present": was_present, "notes": notes},
    )
