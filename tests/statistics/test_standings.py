"""Standings of random accounts are those of an account that is kept on paper (funded_account.py)."""

import json
import time
from decimal import Decimal
from random import Random
from statistics import median
from typing import Any, get_args

import httpx
import msgspec
import pytest
from aiosqlite import Connection
from factories import (
    A_TRADE,
    create_account,
    create_checkpoint,
    insert_trade,
    put_rules,
    run_sql,
    unwrap,
)
from funded_account import (
    FIRST_DAY,
    Book,
    Cash,
    Trade,
    closings,
    random_cash,
    random_day,
    random_rules,
    random_trade,
    stand,
)
from proofs import SOAK, examples
from starlette.applications import Starlette

from journal_api.database.database import Database
from journal_api.repositories import standings
from journal_api.statistics import trade_facts
from journal_api.statistics.account_days import Movement, build_days, find_phase
from journal_api.statistics.account_floor import trace_floor
from journal_api.statistics.account_rules import judge
from journal_api.structs.account_rules import AccountRules, FloorKind

DAYS = 10
RULES = tuple(AccountRules.__struct_fields__)
MANY_TRADES = """
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
        closed_at, trading_day, gross_pnl, created_at, updated_at)
    SELECT user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
        printf('%sT12:%02d:00.000000Z', date('2015-01-01', day.value || ' days'), number.value),
        date('2015-01-01', day.value || ' days'), (abs(random()) % 700 - 345) * 100000000,
        created_at, updated_at
    FROM trades, json_each(:days) AS day, json_each(:per_day) AS number
    WHERE trades.id = :id"""
BARE_SUMS = (
    "SELECT trading_day, count(*), sum(net_pnl) FROM trade_facts WHERE account_id = 1 GROUP BY trading_day"
)


def change_at_random(random: Random, book: Book) -> tuple[str, int, Trade | Cash | None]:
    """Add, edit, move or delete a trade or cash. Returns the table, the id, and the row if it remains."""
    day = random_day(random, DAYS)
    table = random.choice(["trades"] * 4 + ["cash"])
    rows: Any = getattr(book, table)
    make: Any = random_trade if table == "trades" else random_cash
    if rows and random.random() < 0.35:
        row_id = random.choice(sorted(rows))
        action = random.choice(["edit", "move", "delete"])
        if action == "delete":
            del rows[row_id]
            return table, row_id, None
        rows[row_id] = make(random, day) if action == "edit" else rows[row_id]._replace(day=day)
    else:
        row_id = book.next_id(table)
        rows[row_id] = make(random, day)
    return table, row_id, rows[row_id]


def judged(book: Book, rules: dict[str, Any], at: str) -> dict[str, Any]:
    """What the pure functions say of the account."""
    results: dict[str, list[int]] = {}
    ids: dict[str, list[int]] = {}
    for trade_id, trade in sorted(book.trades.items(), key=lambda item: (item[1].minute, item[0])):
        if trade.day <= at:
            results.setdefault(trade.day, []).append(in_units(trade.amount))
            ids.setdefault(trade.day, []).append(trade_id)
    cash = [one for _, one in sorted(book.cash.items()) if one.day <= at]
    days = build_days(results, [Movement(one.day, one.kind, in_units(one.amount)) for one in cash])
    phase = find_phase(in_units(book.start), days)
    body = msgspec.json.encode({**dict.fromkeys(RULES), **in_floats(rules)})
    stated = msgspec.json.decode(body, type=AccountRules)
    trace = trace_floor(phase, stated.floor, at) if stated.floor else None
    standing = judge(1, phase, stated, trace, at)
    if standing.floor and trace and trace.peak.day is not None and trace.peak.place is not None:
        standing.floor.peak_trade_id = ids[trace.peak.day][trace.peak.place]
    return dict(msgspec.to_builtins(standing, builtin_types=(Decimal,)))


def in_units(amount: Decimal) -> int:
    return int(amount * 10**8)


def expected(book: Book, rules: dict[str, Any], at: str) -> dict[str, Any]:
    """The standing on paper. A fraction equals a decimal of the service only if it is the same number."""
    return {"account_id": 1, "at": at, "sees": "closed trades", **stand(book, rules, at)}


@pytest.mark.soak
@pytest.mark.parametrize("number", range(examples(full=8, ci=2)))
def test_every_standing_of_a_random_account_is_that_on_paper(number: int) -> None:
    random = Random(Random().randrange(10**9) if SOAK else number)
    judgements, wanted = 0, examples(full=125_000, ci=1500)
    states: dict[tuple[str, Any], int] = {}
    while judgements < wanted:
        book, rules = Book(Decimal(1000)), random_rules(random)
        for _ in range(random.choice([5, 20, 60])):
            change_at_random(random, book)
            if random.random() < 0.3:
                at = random_day(random, DAYS + 2)
                seen = judged(book, rules, at)
                assert seen == expected(book, rules, at), (rules, vars(book), at)
                judgements += 1
                for name in RULES:
                    if seen[name]:
                        key = (name, seen[name]["state"])
                        states[key] = states.get(key, 0) + 1
    assert len(states) == 2 * 3 + 4 * 2, states


async def store_nothing(database: Database, user_id: int) -> None:
    """The facts of trades when the file cannot be written."""


@pytest.mark.soak
@pytest.mark.parametrize("stores", [True, False], ids=["facts stored", "facts stale"])
@pytest.mark.parametrize("number", range(examples(full=50, ci=2)))
async def test_every_standing_over_http_is_that_on_paper(
    client: httpx.AsyncClient, number: int, stores: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(Random().randrange(10**9) if SOAK else 100 + number)
    account = await create_account(client, starting_balance=1000)
    book, rules = Book(Decimal(1000)), random_rules(random)
    await put_rules(client, account["id"], **in_floats(rules))
    for written in range(60):
        if written == 30 and not stores:  # from here on, the stored facts become old
            monkeypatch.setattr(trade_facts, "refresh", store_nothing)
        await write(client, *change_at_random(random, book))
        if random.random() < 0.5:
            at = random_day(random, DAYS + 2)
            response = await client.get(f"/accounts/1/standing?at={at}")
            seen = json.loads(response.content, parse_float=Decimal)["data"]["standing"]
            assert seen == expected(book, rules, at), (rules, vars(book), at)
    for at in {random_day(random, DAYS + 2) for _ in range(3)}:
        checkpoint = await create_checkpoint(client, account["id"], day=at, balance=10**9)  # never agrees
        response = await client.get(f"/accounts/1/checkpoints/{checkpoint['id']}")
        seen = json.loads(response.content, parse_float=Decimal)["data"]["checkpoint"]
        assert seen["days"] == closings(book, at)
        assert seen["difference"] == stand(book, {}, at)["balance"] - 10**9


def in_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: in_floats(member) for name, member in value.items()}
    return float(value) if isinstance(value, Decimal) else value


async def write(client: httpx.AsyncClient, table: str, row_id: int, row: Trade | Cash | None) -> None:
    """Change the row of the service as that of the book; the service counts its ids alike."""
    collection = "/trades" if table == "trades" else "/accounts/1/cash"
    path = f"{collection}/{row_id}"
    if row is None:
        assert (await client.delete(path)).status_code == 204
        return
    body: dict[str, Any] = (
        {"kind": row.kind, "day": row.day, "amount": float(row.amount)}
        if isinstance(row, Cash)
        else {
            "closed_at": f"{row.day}T12:0{row.minute}:00Z",
            "gross_pnl": float(row.amount + Decimal("1.5")),
            "fees": 1.5,
        }
    )
    if (await client.get(path)).status_code == 200:
        unwrap(await client.patch(path, json=body))
    else:
        new = {"account_id": 1, **A_TRADE, "opened_at": FIRST_DAY.isoformat() + "T00:00:00Z"}
        created = unwrap(await client.post(collection, json={**(new if table == "trades" else {}), **body}))
        assert created["id"] == row_id


@pytest.mark.soak
@pytest.mark.parametrize("kind", get_args(FloorKind))
async def test_a_standing_costs_at_most_four_times_the_bare_sums_of_its_days(
    app: Starlette, client: httpx.AsyncClient, kind: str
) -> None:
    """In time of the processor, so that others on the machine do not count."""
    account = await create_account(client)
    await put_rules(client, account["id"], floor={"kind": kind, "distance": 2000}, daily_loss=1000)
    trade = await insert_trade(app, account["id"])
    values = {
        "id": trade,
        "days": str(list(range(examples(full=2500, ci=500)))),
        "per_day": str([*range(40)]),
    }
    await run_sql(app, MANY_TRADES, values)
    unwrap(await client.get(f"/accounts/{account['id']}/standing"))  # stores the facts

    async def measure(db: Connection) -> float:
        standing, bare = [], []
        for _ in range(7):
            start = time.thread_time()
            await standings.compute(db, 1, account["id"], None)
            middle = time.thread_time()
            await db.execute_fetchall(BARE_SUMS)
            standing.append(middle - start)
            bare.append(time.thread_time() - middle)
        return median(standing) / median(bare)

    async with app.state.database.read_transaction() as db:
        assert await db.run(measure) < 4
