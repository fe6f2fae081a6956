"""Two weeks of a trader with a copier: trades typed during the day, and the files of four accounts at night."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import factories
import pytest
from factories import Client, unwrap
from positions import FileFill, book_positions, executions, first_in_first_out, orders, performance, position_history
from proofs import examples

# None of them states costs, so the account's commissions are charged.
FORMATS: dict[str, Callable[[list[FileFill]], bytes]] = {
    "executions": executions,
    "orders": orders,
    "performance": lambda fills: performance([*first_in_first_out(fills)]),
    "history": lambda fills: position_history([*first_in_first_out(fills)]),
}
MONDAY = datetime(2026, 2, 2)
PER_SIDE = Decimal("0.37")
TICK = Decimal("0.25")


def trade_a_day(choose: Random, number: int) -> list[FileFill]:
    """The fills of up to six ideas, each with entries and exits in parts."""
    time, fills = MONDAY + timedelta(days=number + 2 * (number > 4), hours=14, minutes=30), list[FileFill]()
    for _ in range(choose.randint(1, 6)):
        time += timedelta(minutes=choose.randint(1, 40), seconds=choose.randint(10, 59))
        side, sizes = choose.choice((1, -1)), [choose.randint(1, 2) for _ in range(choose.randint(1, 2))]
        for size in [*(side * size for size in sizes), *(-side * size for size in reversed(sizes))]:
            price = Decimal(choose.randint(400, 480)) / 4
            fills.append(FileFill(1000 * number + 10 * len(fills), time, "MNQH6", size, price))
            time += timedelta(seconds=choose.randint(8, 200))
    return fills


def copy_fills(choose: Random, fills: list[FileFill], account: int) -> list[FileFill]:
    """What a copier makes of the fills: up to two seconds later, up to a tick off."""
    late = [timedelta(seconds=choose.randint(0, 2)) for _ in fills]
    return [
        fill._replace(
            id=fill.id + 100_000 * account, time=fill.time + delay, price=fill.price + choose.choice((0, TICK))
        )
        for fill, delay in zip(fills, late, strict=True)
    ]


async def type_idea(client: Client, choose: Random, account_id: int, position: dict[str, Any]) -> str:
    """Type an idea to the minute, at prices that the trader saw. Return its note."""
    times = {
        f"{name}_at": f"{position[f'{name}_at'].replace(second=0):%Y-%m-%dT%H:%M:%SZ}" for name in ("opened", "closed")
    }
    prices = {f"{name}_price": round(float(position[name]), 2) + choose.choice((0, 0.25)) for name in ("entry", "exit")}
    what = {name: position[name] for name in ("symbol", "direction", "quantity")}
    note = f"Idea of {position['opened_at']}"
    await factories.create_trade(client, account_id, **what, **times, **prices, notes=note)
    return note


@pytest.mark.parametrize("seed", range(examples(full=100, ci=1)))
async def test_the_evenings_of_two_weeks_leave_as_many_decisions_as_ideas_and_the_balances_of_the_broker(
    client: Client, seed: int
) -> None:
    choose = Random(seed)
    ids = [
        (await factories.create_account(client, f"Account {n}", fees={"default": float(PER_SIDE)}))["id"]
        for n in range(4)
    ]
    group = await factories.create_copy_group(client, account_ids=ids)
    unwrap(await client.patch(f"/copy-groups/{group['id']}", json={"master_account_id": ids[0]}))
    formats = [choose.choice(sorted(FORMATS)) for _ in ids]
    traded: list[list[FileFill]] = [[] for _ in ids]
    notes = []
    for number in range(examples(full=10, ci=5)):
        day = trade_a_day(choose, number)
        for position in book_positions(day):
            if choose.random() < 1 / 3:
                notes.append(await type_idea(client, choose, ids[0], position))
        days = [day, *(copy_fills(choose, day, account) for account in (1, 2, 3))]
        for account in choose.sample(range(4), 4):
            traded[account] += days[account]
            kinds = [formats[account], *choose.sample(sorted(FORMATS), choose.choice((0, 0, 1)))]
            for kind in kinds:
                file = FORMATS[kind](days[account])
                report = await factories.create_import(client, file, account_id=ids[account], timezone="UTC")
                assert report["counts"].get("suspect", 0) == 0, report["rows"]

    ideas = len(book_positions(traded[0]))
    report = await factories.read_report(client)
    trades = await factories.list_trades(client)
    broker = [
        sum(position["gross"] for position in book_positions(fills))
        - PER_SIDE * sum(abs(one.quantity) for one in fills)
        for fills in traded
    ]
    own = [sum(Decimal(str(trade["net_pnl"])) for trade in trades if trade["account_id"] == one) for one in ids]
    assert report["total"]["values"]["trade_count"] == ideas
    assert len(trades) == 4 * ideas
    assert own == broker
    assert sorted(trade["notes"] for trade in trades if trade["notes"]) == sorted(notes)
