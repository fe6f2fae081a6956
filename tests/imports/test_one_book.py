"""Trades are what follows from the files in the journal, whatever the way there."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

import httpx
import pytest
from factories import create_account, create_import, create_trade, get_trade, list_trades, patch_trade
from positions import (
    FileFill,
    executions,
    first_in_first_out,
    ninjatrader_trades,
    orders,
    performance,
    position_history,
    random_fills,
    topstepx_trades,
)
from proofs import examples

BEGIN, END = datetime(2026, 2, 12, 9, 0, 20), datetime(2026, 2, 12, 9, 5, 10)
CSV = {"Content-Type": "text/csv"}
OWN = ("id", "account_id", "source_trade_id", "created_at", "updated_at")
Rows = Sequence[Any]


def cut(choose: Random, rows: Rows, write: Callable[[Rows], bytes]) -> list[bytes]:
    """Up to four files of the rows, of which neighbours may share one, cut where the market pauses."""
    pauses = [place for place in range(1, len(rows)) if find_pause(rows[place - 1], rows[place]) > 2]
    cuts = sorted(choose.sample(pauses, min(len(pauses), choose.randint(0, 3))))
    return [write(rows[max(0, a - choose.randint(0, 1)) : b]) for a, b in pairwise([0, *cuts, len(rows)])]


def find_pause(one: Any, other: Any) -> float:
    first, second = (row if isinstance(row, FileFill) else row.legs[1] for row in (one, other))
    return float((second.time - first.time).total_seconds())


def write_files(choose: Random) -> list[bytes]:
    """The files of one account in up to three formats, of which one is whole."""
    fills = random_fills(choose.randrange(10**6), choose.randint(4, 14))
    pairs = list(first_in_first_out(fills))
    told = {
        "fills": lambda: cut(choose, fills, executions),
        "performance": lambda: cut(choose, pairs, performance),
        "history": lambda: cut(choose, pairs, position_history),
        "grid": lambda: cut(choose, pairs, ninjatrader_trades),
        "topstepx": lambda: cut(choose, pairs, topstepx_trades),
        "orders": lambda: cut(choose, fills, orders),
    }
    kinds = choose.sample(sorted(told), choose.randint(1, 3))
    whole, *others = [told[kind]() for kind in kinds]
    return whole + [file for files in others for file in files if choose.random() < 0.6]


def write_pairs(fills: Rows) -> bytes:
    return performance(list(first_in_first_out(fills)))


async def read_trades(client: httpx.AsyncClient, account_id: int) -> list[Any]:
    """All that the trades of an account say, but for what is each journal's own."""
    found = [await get_trade(client, trade["id"]) for trade in await list_trades(client, account_id=account_id)]
    plain = [{name: value for name, value in trade.items() if name not in OWN} for trade in found]
    return sorted(plain, key=repr)


async def import_file(client: httpx.AsyncClient, account_id: int, file: bytes) -> int:
    report = await create_import(client, file, account_id=account_id, timezone="UTC")
    assert "suspect" not in report["counts"], report["rows"]
    return int(report["id"])


@pytest.mark.parametrize("seed", range(examples(full=2000, ci=8)))
async def test_any_imports_and_undos_that_end_in_the_same_files_give_the_same_trades(
    client: httpx.AsyncClient, seed: int
) -> None:
    choose = Random(seed)
    files = write_files(choose)
    wandering, straight = [(await create_account(client, f"{name} {seed}"))["id"] for name in ("A", "B")]
    kept = [file for file in files if choose.random() < 0.8] or files[:1]
    there: list[tuple[bytes, int]] = []
    for _ in range(choose.randint(2, 8)):
        if there and choose.random() < 0.4:
            _, import_id = there.pop(choose.randrange(len(there)))
            assert (await client.delete(f"/imports/{import_id}")).status_code == 204
        else:
            file = choose.choice(files)
            there.append((file, await import_file(client, wandering, file)))
    for import_id in [import_id for file, import_id in there if file not in kept]:
        assert (await client.delete(f"/imports/{import_id}")).status_code == 204
    missing = [file for file in kept if file not in [one for one, _ in there]]
    for file in choose.sample(missing, len(missing)):
        await import_file(client, wandering, file)
    for file in kept:
        await import_file(client, straight, file)

    assert await read_trades(client, wandering) == await read_trades(client, straight)


# Two trades of one minute, typed at the same price: nothing tells which of them is the position of the file.
TYPED = {"symbol": "MNQH6", "quantity": 1, "entry_price": 108, "exit_price": 110}


@pytest.mark.parametrize("answer", ["second", "new", "leave"])
async def test_a_person_decides_which_of_two_typed_trades_a_position_is(
    client: httpx.AsyncClient, account_id: int, answer: str
) -> None:
    times = {"opened_at": "2026-02-12T09:00:00Z", "closed_at": "2026-02-12T09:05:00Z"}
    typed = [
        (await create_trade(client, account_id, **{**TYPED, **times, "notes": notes, "quantity": size}))["id"]
        for notes, size in (("one", 2), ("two", 3))
    ]
    fills = [FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)), FileFill(2, END, "MNQH6", -1, Decimal(110))]
    options = {"account_id": account_id, "timezone": "UTC"}
    asked = await create_import(client, executions(fills), **options)
    said = str(typed[1]) if answer == "second" else answer

    (row,) = (await create_import(client, executions(fills), **options, answers=f"2:{said}"))["rows"]

    after = {trade["id"]: trade["quantity"] for trade in await list_trades(client, account_id=account_id)}
    expected = {"second": ("updated", {typed[1]: 1}), "new": ("new", {}), "leave": ("suspect", {})}
    verdict, changed = expected[answer]
    assert [one["answers"] for one in asked["rows"]] == [[f"2:{typed[0]}", f"2:{typed[1]}", "2:new", "2:leave"]]
    assert row["verdict"] == verdict
    assert {**dict(zip(typed, (2, 3), strict=True)), **changed}.items() <= after.items()
    assert len(after) == 2 + (answer == "new")


async def test_a_trade_that_is_moved_to_its_account_is_known_to_the_file_of_that_account(
    client: httpx.AsyncClient, account_id: int
) -> None:
    other_id = (await create_account(client, "Other"))["id"]
    fills = [FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)), FileFill(2, END, "MNQH6", -1, Decimal(110))]
    report = await create_import(client, executions(fills), account_id=account_id, timezone="UTC")
    (trade_id,) = [row["trade_id"] for row in report["rows"]]

    await patch_trade(client, trade_id, account_id=other_id)
    again = await create_import(client, executions(fills), account_id=other_id, timezone="UTC")

    assert [(row["verdict"], row["trade_id"]) for row in again["rows"]] == [("duplicate", trade_id)]
    assert [trade["account_id"] for trade in await list_trades(client)] == [other_id]


@pytest.mark.parametrize("write", [executions, write_pairs], ids=["fills", "pairs"])
async def test_a_file_of_another_account_is_refused_and_forced_leaves_nothing_when_it_is_undone(
    client: httpx.AsyncClient, account_id: int, write: Callable[[Rows], bytes]
) -> None:
    other_id = (await create_account(client, "Copy"))["id"]
    mine = [
        FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)),
        FileFill(2, END, "MNQH6", -1, Decimal(110)),
        FileFill(3, END + timedelta(minutes=5), "MNQH6", -1, Decimal(111)),
        FileFill(4, END + timedelta(minutes=9), "MNQH6", 1, Decimal(107)),
    ]
    theirs = [fill._replace(id=fill.id + 90, time=fill.time + timedelta(seconds=2)) for fill in mine]
    options = {"account_id": account_id, "timezone": "UTC"}
    stored = await create_import(client, write(mine), **options, file_name="monday.csv")
    await create_import(client, write(theirs), account_id=other_id, timezone="UTC")
    before = await read_trades(client, account_id)

    tried = [
        await client.post(f"/imports?account_id={account_id}&timezone=UTC&{more}", content=write(theirs), headers=CSV)
        for more in ("dry_run=true", "file_name=copy.csv")
    ]
    after = await read_trades(client, account_id)
    forced = await create_import(client, write(theirs), **options, force=True)
    undone = await client.delete(f"/imports/{forced['id']}")

    assert [response.status_code for response in tried] == [409, 409]
    error = tried[1].json()["error"]
    assert error["code"] == "conflict"
    assert "copy.csv and monday.csv" in error["message"]
    assert error["details"] == {
        "imports": [{"id": stored["id"], "file_name": "monday.csv"}],
        "accounts": [{"id": other_id, "name": "Copy", "because": "has fills of it"}],
    }
    assert forced["counts"]["new"] + forced["counts"]["updated"] > 0
    assert undone.status_code == 204
    assert after == await read_trades(client, account_id) == before
