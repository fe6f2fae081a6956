"""Trades are what follows from the files in the journal, whatever the way there."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from factories import Client, create_account, create_import, create_trade, get_trade, list_trades, patch_trade, unwrap
from positions import (
    FileFill,
    book_positions,
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
from saved_journals import for_rows

BEGIN, END = datetime(2026, 2, 12, 9, 0, 20), datetime(2026, 2, 12, 9, 5, 10)
CSV = {"Content-Type": "text/csv"}
OWN = ("id", "account_id", "source_trade_id", "created_at", "updated_at")
TOLD = ("symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at", "gross_pnl")
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


async def read_trades(client: Client, account_id: int) -> list[Any]:
    """All that the trades of an account say, but for what is each journal's own."""
    found = [await get_trade(client, trade["id"]) for trade in await list_trades(client, account_id=account_id)]
    plain = [{name: value for name, value in trade.items() if name not in OWN} for trade in found]
    return sorted(plain, key=repr)


async def import_file(client: Client, account_id: int, file: bytes) -> int:
    report = await create_import(client, file, account_id=account_id, timezone="UTC")
    assert "suspect" not in report["counts"], report["rows"]
    return int(report["id"])


# In the last two, files cut an order whose other fills another file has.
@for_rows("seed", sorted({*range(examples(full=2000, ci=4)), 248, 302}))
async def test_any_imports_and_undos_that_end_in_the_same_files_give_the_same_trades(client: Client, seed: int) -> None:
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


def trade_for_days(choose: Random) -> list[list[FileFill]]:
    """The fills of two or three days, of positions that are minutes apart or touch."""
    days = []
    for day in range(choose.randint(2, 3)):
        time, fills = BEGIN + timedelta(days=day), list[FileFill]()
        for _ in range(choose.randint(1, 5)):
            time += timedelta(minutes=choose.choice((0, 3, 20)), seconds=choose.randint(0, 59))
            sizes = [choose.choice((1, 2, 3)) * choose.choice((1, -1)) for _ in range(choose.randint(1, 3))]
            sizes = [abs(size) if sizes[0] > 0 else -abs(size) for size in sizes]
            for size in [*sizes, -sum(sizes)]:
                number = 1000 + 100 * day + len(fills)
                fills.append(FileFill(number, time, "MNQH6", size, Decimal(choose.randint(400, 480)) / 4))
                time += timedelta(seconds=choose.choice((1, 7, 90)))
        days.append(fills)
    return days


def write_days(choose: Random, days: Rows) -> list[bytes]:
    """A file of each day, or of several, in up to three formats, of which one is whole."""
    of_fills = {"executions": executions, "orders": orders}
    of_pairs = {"performance": performance, "grid": ninjatrader_trades, "topstepx": topstepx_trades}
    files: list[bytes] = []
    for number, kind in enumerate(choose.sample([*of_fills, *of_pairs], choose.randint(1, 3))):
        cuts = sorted(choose.sample(range(1, len(days)), choose.randint(0, len(days) - 1)))
        for begin, end in pairwise([0, *cuts, len(days)]):
            fills = [fill for day in days[begin:end] for fill in day]
            pairs = list(first_in_first_out(fills))
            if number == 0 or choose.random() < 0.6:
                files.append(of_fills[kind](fills) if kind in of_fills else of_pairs[kind](pairs))
    return files


def type_trade(choose: Random, position: dict[str, Any]) -> dict[str, Any]:
    """What a trader types of a position during the day: to the minute, at a price that he saw."""
    opened, closed = (one.replace(second=0) for one in (position["opened_at"], position["closed_at"]))
    typed = {name: position[name] for name in ("symbol", "direction", "quantity")}
    prices = {f"{name}_price": round(float(position[name]), 2) + choose.choice((0, 0.25)) for name in ("entry", "exit")}
    times = {"opened_at": f"{opened:%Y-%m-%dT%H:%M:%SZ}", "closed_at": f"{closed:%Y-%m-%dT%H:%M:%SZ}"}
    return {**typed, **prices, **times}


async def write_or_merge(client: Client, choose: Random, account_id: int, noted: list[str]) -> None:
    """Write a note on a trade, or merge two that follow each other."""
    trades = await list_trades(client, account_id=account_id)
    free = [trade for trade in trades if not trade["notes"]]
    if free and choose.random() < 0.7:
        trade = choose.choice(free)
        noted.append(f"Written at {trade['opened_at']}, note {len(noted)}")
        await patch_trade(client, trade["id"], notes=noted[-1])
    elif len(trades) > 1:
        place = choose.randrange(len(trades) - 1)
        both = [await get_trade(client, one["id"]) for one in trades[place : place + 2]]
        # Of two that are only typed, no file says which of its positions are meant.
        if any(is_told(one) for one in both):
            # Trades that are open, or of two directions, are refused.
            await client.post("/trades/merge", json={"ids": [one["id"] for one in both]})


def is_told(trade: Any) -> bool:
    """Whether a file tells of a trade, and not only its owner."""
    return bool(trade["typed"]) or not str(trade["notes"]).startswith("Typed")


async def edit_fees(client: Client, choose: Random, account_id: int, fees: float) -> int:
    """Correct the fees of a trade that no one has corrected yet. Return how many were corrected: one or none."""
    trades = [await get_trade(client, one["id"]) for one in await list_trades(client, account_id=account_id)]
    free = [one for one in trades if is_told(one) and one["fees_source"] != "typed" and not one["merged_ids"]]
    for trade in choose.sample(free, min(1, len(free))):
        await patch_trade(client, trade["id"], fees=fees)
    return len(free[:1])


def find_times(trade: Any) -> tuple[str, ...]:
    return trade["direction"], trade["opened_at"], trade["closed_at"]


async def split_all(client: Client, account_id: int) -> None:
    for trade in await list_trades(client, account_id=account_id):
        if (await get_trade(client, trade["id"]))["merged_ids"]:
            unwrap(await client.post(f"/trades/{trade['id']}/split"))


@for_rows("seed", range(examples(full=2000, ci=4)))
async def test_what_a_trader_types_writes_and_merges_between_imports_stays_and_changes_no_figure(
    client: Client, seed: int
) -> None:
    choose = Random(seed)
    days = trade_for_days(choose)
    files = write_days(choose, days)
    wandering, straight = [(await create_account(client, f"{name} {seed}"))["id"] for name in ("A", "B")]
    noted, edited = list[str](), 0
    for position in book_positions(fill for day in days for fill in day):
        if choose.random() < 0.3:
            typed = type_trade(choose, position)
            noted.append(f"Typed at {typed['opened_at']}, note {len(noted)}")
            for account_id in (wandering, straight):
                await create_trade(client, account_id, **typed, notes=noted[-1])
    there: list[tuple[bytes, int]] = []
    for _ in range(choose.randint(3, 10)):
        step = choose.random()
        if there and step < 0.2:
            one = choose.choice(there)
            if (await client.delete(f"/imports/{one[1]}")).status_code == 204:
                there.remove(one)
        elif step < 0.5:
            file = choose.choice(files)
            there.append((file, await import_file(client, wandering, file)))
        elif step < 0.6:
            edited += await edit_fees(client, choose, wandering, len(noted) + 0.25)
        else:
            await write_or_merge(client, choose, wandering, noted)
    missing = [file for file in files if file not in [one for one, _ in there]]
    for file in choose.sample(missing, len(missing)):
        await import_file(client, wandering, file)
    for file in files:
        await import_file(client, straight, file)
    await split_all(client, wandering)
    corrected = [one for one in await list_trades(client, account_id=wandering) if one["fees_source"] == "typed"]
    by_times = {find_times(one): one["id"] for one in await list_trades(client, account_id=straight)}
    for one in corrected:
        await patch_trade(client, by_times[find_times(one)], fees=one["fees"])

    found, expected = [await read_trades(client, account_id) for account_id in (wandering, straight)]
    written = "\n".join(trade["notes"] or "" for trade in found)
    assert len(corrected) == edited
    assert {note: written.count(note) for note in noted} == dict.fromkeys(noted, 1)
    own = {"notes": None, "typed": None}  # what was corrected before a file came again is typed, too
    assert [{**trade, **own} for trade in found] == [{**trade, **own} for trade in expected]


@for_rows("seed", range(examples(full=300, ci=4)))
async def test_the_export_of_a_journal_is_known_to_it_and_meets_the_files_in_another_account(
    client: Client, seed: int
) -> None:
    choose = Random(seed)
    days = trade_for_days(choose)
    files = write_days(choose, days)
    own, other = [(await create_account(client, f"{name} {seed}"))["id"] for name in ("A", "B")]
    for position in book_positions(fill for day in days for fill in day):
        if choose.random() < 0.3:
            await create_trade(client, own, **type_trade(choose, position))
    for file in files:
        await import_file(client, own, file)
    before = await read_trades(client, own)
    export = (await client.get("/trades/export", params={"account_id": own})).content

    again = await create_import(client, export, account_id=own, timezone="UTC")
    for file in (export, *files):
        await import_file(client, other, file)

    assert again["counts"] == {"new": 0, "duplicate": len(before), "updated": 0, "error": 0}
    assert await read_trades(client, own) == before
    told = [{name: trade[name] for name in TOLD} for trade in await read_trades(client, other)]
    assert told == [{name: trade[name] for name in TOLD} for trade in before]


# Two trades of one minute, typed at the same price: nothing tells which of them is the position of the file.
TYPED = {"symbol": "MNQH6", "quantity": 1, "entry_price": 108, "exit_price": 110}


@for_rows("answer", ["second", "new", "leave", "999"])  # the last is no trade of the journal
async def test_a_person_decides_which_of_two_typed_trades_a_position_is(
    client: Client, account_id: int, answer: str
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
    expected = {"second": ("updated", {typed[1]: 1}), "new": ("new", {})}
    verdict, changed = expected.get(answer, ("suspect", {}))
    assert [one["answers"] for one in asked["rows"]] == [[f"2:{typed[0]}", f"2:{typed[1]}", "2:new", "2:leave"]]
    assert row["verdict"] == verdict
    assert {**dict(zip(typed, (2, 3), strict=True)), **changed}.items() <= after.items()
    assert len(after) == 2 + (answer == "new")


@for_rows(
    "answers, left", [(["2:leave"], 1), (["3:leave"], 1), (["4:new"], 2), (["2:999"], 1), (["2:leave", "4:leave"], 0)]
)
async def test_an_answer_is_heard_about_any_line(
    client: Client, account_id: int, answers: list[str], left: int
) -> None:
    later = timedelta(hours=1)
    fills = [FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)), FileFill(2, END, "MNQH6", -1, Decimal(110))]
    fills += [fill._replace(id=fill.id + 2, time=fill.time + later) for fill in fills]
    options = {"account_id": account_id, "timezone": "UTC"}

    report = await create_import(client, executions(fills), **options, answers=answers)
    unknown = await client.post(
        f"/imports?account_id={account_id}&timezone=UTC&answers=9:leave", content=executions(fills), headers=CSV
    )

    assert len(await list_trades(client)) == report["counts"]["new"] == left
    assert report["counts"].get("suspect", 0) == 2 - left
    assert unknown.json()["error"]["details"] == {"fields": {"answers": "line 9 of the file has no trade"}}


async def test_a_file_that_joins_two_trades_keeps_both_grades(client: Client, account_id: int) -> None:
    fills = [
        FileFill(number, BEGIN + timedelta(minutes=number), "MNQH6", 1 if number % 2 else -1, Decimal(108))
        for number in range(1, 5)
    ]
    options = {"account_id": account_id, "timezone": "UTC"}
    report = await create_import(client, executions(fills), **options)
    ids = [row["trade_id"] for row in report["rows"]]
    for trade_id, grade in zip(ids, "AB", strict=True):
        await patch_trade(client, trade_id, grade=grade, notes=f"Graded {grade}")

    first = FileFill(9, BEGIN - timedelta(minutes=5), "MNQH6", 1, Decimal(108))
    await create_import(client, executions([first]), **options)

    (trade,) = await list_trades(client)
    assert (trade["id"], trade["grade"]) == (ids[0], "A")
    assert trade["notes"] == "Graded A\n\nGraded B\n\nJoined trade: grade B"


async def test_fills_whose_numbers_begin_again_each_day_are_fills_of_their_days(
    client: Client, account_id: int
) -> None:
    monday = [FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)), FileFill(2, END, "MNQH6", -1, Decimal(110))]
    tuesday = [fill._replace(time=fill.time + timedelta(days=1), price=fill.price + 5) for fill in monday]
    for file in (executions(monday), write_pairs(tuesday)):
        await import_file(client, account_id, file)

    days = [trade["trading_day"] for trade in await list_trades(client)]
    assert sorted(days) == ["2026-02-12", "2026-02-13"]


async def test_a_trade_that_is_moved_to_its_account_is_known_to_the_file_of_that_account(
    client: Client, account_id: int
) -> None:
    other_id = (await create_account(client, "Other"))["id"]
    fills = [FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)), FileFill(2, END, "MNQH6", -1, Decimal(110))]
    report = await create_import(client, executions(fills), account_id=account_id, timezone="UTC")
    (trade_id,) = [row["trade_id"] for row in report["rows"]]

    await patch_trade(client, trade_id, account_id=other_id)
    again = await create_import(client, executions(fills), account_id=other_id, timezone="UTC")

    assert [(row["verdict"], row["trade_id"]) for row in again["rows"]] == [("duplicate", trade_id)]
    assert [trade["account_id"] for trade in await list_trades(client)] == [other_id]


@for_rows("write", [executions, write_pairs])
async def test_a_file_of_another_account_is_refused_and_forced_leaves_nothing_when_it_is_undone(
    client: Client, account_id: int, write: Callable[[Rows], bytes]
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


async def test_the_typed_part_of_a_merged_trade_stays_when_the_file_of_the_other_is_undone(
    client: Client, account_id: int
) -> None:
    fills = [FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)), FileFill(2, END, "MNQH6", -1, Decimal(110))]
    report = await create_import(client, executions(fills), account_id=account_id, timezone="UTC")
    times = {"opened_at": "2026-02-12T09:05:10Z", "closed_at": "2026-02-12T09:20:00Z"}
    typed = await create_trade(client, account_id, **TYPED, **times, notes="The second half")
    ids = [report["rows"][0]["trade_id"], typed["id"]]
    assert (await client.post("/trades/merge", json={"ids": ids})).status_code == 200

    undone = await client.delete(f"/imports/{report['id']}")

    assert undone.status_code == 204
    assert [(one["id"], one["notes"]) for one in await list_trades(client)] == [(typed["id"], "The second half")]


async def test_an_undo_asks_about_the_note_of_a_merged_part_and_keeps_the_others_merged(
    client: Client, account_id: int
) -> None:
    times = [BEGIN + timedelta(minutes=10 * number) for number in range(4)]
    files = [
        [
            FileFill(2 * number, first, "MNQH6", 1, Decimal(108)),
            FileFill(2 * number + 1, last, "MNQH6", -1, Decimal(110)),
        ]
        for number, (first, last) in enumerate(pairwise(times), 1)
    ]
    options = {"account_id": account_id, "timezone": "UTC"}
    reports = [await create_import(client, executions(file), **options) for file in files]
    ids = [report["rows"][0]["trade_id"] for report in reports]
    await patch_trade(client, ids[2], notes="The third", fees=5)
    assert (await client.post("/trades/merge", json={"ids": ids})).status_code == 200

    asked = await client.delete(f"/imports/{reports[2]['id']}")
    forced = await client.delete(f"/imports/{reports[2]['id']}?force=true")
    (left,) = [await get_trade(client, one["id"]) for one in await list_trades(client)]

    assert (asked.status_code, forced.status_code) == (409, 204)
    assert asked.json()["error"]["details"] == {"trades": 1, "others": 0}
    assert (left["merged_ids"], left["notes"], left["fees"], left["gross_pnl"]) == (ids[1:2], None, 0, 8)


async def test_a_merged_trade_forgets_the_part_whose_file_is_undone(client: Client, account_id: int) -> None:
    middle, last = BEGIN + timedelta(minutes=30), BEGIN + timedelta(minutes=40)
    fills = [FileFill(1, BEGIN, "MNQH6", 1, Decimal(108)), FileFill(2, middle, "MNQH6", -1, Decimal(110))]
    further = [FileFill(3, middle, "MNQH6", 1, Decimal(110)), FileFill(4, last, "MNQH6", -1, Decimal(111))]
    options = {"account_id": account_id, "timezone": "UTC"}
    first, second = [await create_import(client, executions(one), **options) for one in (fills, further)]
    ids = [report["rows"][0]["trade_id"] for report in (first, second)]
    assert (await client.post("/trades/merge", json={"ids": ids})).status_code == 200

    assert (await client.delete(f"/imports/{second['id']}")).status_code == 204
    (alone,) = [await get_trade(client, one["id"]) for one in await list_trades(client)]
    again = await create_import(client, executions(further), **options)

    assert (alone["id"], alone["gross_pnl"], alone["merged_ids"]) == (ids[0], 4, [])
    assert again["counts"]["new"] == 1
    assert sorted(one["gross_pnl"] for one in await list_trades(client)) == [2, 4]
    assert (await client.post(f"/trades/{ids[0]}/split")).status_code == 409


ROWS = """symbol,direction,quantity,multiplier,entry_price,exit_price,opened_at,closed_at,external_id
ES,long,2,50,5000,5001,2026-02-12T09:00:00Z,2026-02-12T09:10:00Z,{0}
ES,long,1,50,5001,5003,2026-02-12T09:10:00Z,2026-02-12T09:20:00Z,{1}
"""


@pytest.mark.parametrize("names", [("A", "B"), ("", "")], ids=["with ids", "without ids"])
@pytest.mark.parametrize("change", ["merged", "edited"])
async def test_the_export_of_trades_that_their_owner_has_changed_is_known_to_the_journal(
    client: Client, account_id: int, names: tuple[str, str], change: str
) -> None:
    report = await create_import(client, ROWS.format(*names), account_id=account_id)
    ids = [row["trade_id"] for row in report["rows"]]
    if change == "merged":
        assert (await client.post("/trades/merge", json={"ids": ids})).status_code == 200
    else:
        await patch_trade(client, ids[0], exit_price=5002)
    before = await read_trades(client, account_id)
    export = (await client.get("/trades/export")).content

    again = await create_import(client, export, account_id=account_id)

    assert again["counts"] == {"new": 0, "duplicate": len(before), "updated": 0, "error": 0}
    assert await read_trades(client, account_id) == before
