"""One trade is one position: pairs and fills, files that cut a position, the same position in two formats."""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise, permutations
from typing import Any, TypeVar

import pytest
from factories import A_FILE, Client, create_account, create_import, details_of, list_trades, run_sql, send_file, unwrap
from positions import (
    FileFill,
    Pair,
    book_positions,
    executions,
    expected_positions,
    first_in_first_out,
    ninjatrader_trades,
    performance,
    position_history,
    random_fills,
    read_positions,
    stored_positions,
    topstepx_trades,
)
from proofs import examples
from saved_journals import for_rows
from starlette.applications import Starlette

pytestmark = pytest.mark.soak
T = TypeVar("T")
SEEDS = range(examples(full=400, ci=3))


@for_rows("seed", SEEDS)
@pytest.mark.promise(13)
def test_fills_and_the_pairs_of_them_are_the_positions_of_a_simple_book(seed: int) -> None:
    fills = random_fills(seed, examples(full=2500, ci=250))

    assert read_positions(executions(fills)) == {None: expected_positions(fills)}
    assert read_positions(performance(first_in_first_out(fills))) == {None: expected_positions(fills)}


FORMS: list[Callable[[Iterable[Pair]], bytes]] = [performance, position_history, topstepx_trades, ninjatrader_trades]
OF_FILLS: list[Callable[[Iterable[FileFill]], bytes]] = [executions, partial(executions, has_ids=False)]


def cut(rows: Sequence[T], seed: int, most: int = 5) -> list[list[T]]:
    """The rows in two pieces or more, in any order."""
    choose = random.Random(seed)
    places = sorted(choose.sample(range(1, len(rows)), min(choose.randint(1, most - 1), len(rows) - 1)))
    pieces = [list(rows[begin:end]) for begin, end in pairwise([0, *places, len(rows)])]
    choose.shuffle(pieces)
    return pieces


async def sum_results(client: Client) -> float:
    return float(sum(trade["gross_pnl"] or 0 for trade in await list_trades(client)))


def list_suspect(reports: Iterable[Any]) -> list[Any]:
    return [row for report in reports for row in report["rows"] if row["verdict"] == "suspect"]


# Of these, two pieces state one pair of a contract each, seconds apart: they are refused, as a copied trade is.
LIKE_COPIES = {291, 519, 562}


@pytest.mark.parametrize("form", [*FORMS, *OF_FILLS])
@pytest.mark.parametrize("seed", sorted({*range(examples(full=600, ci=1)), 36, 64, 106, 175} - LIKE_COPIES))
async def test_a_file_in_pieces_of_any_order_is_the_positions_of_the_whole(
    client: Client, account_id: int, seed: int, form: Callable[[Any], bytes]
) -> None:
    fills = random_fills(seed, 60 if seed % 4 == 1 else 30)
    rows: list[Any] = fills if form in OF_FILLS else list(first_in_first_out(fills))
    pieces = cut(rows, seed, most=2 + seed % 4)
    has_ids = form in (performance, position_history, executions)

    reports = [await create_import(client, form(piece), account_id=account_id) for piece in pieces]
    again = await create_import(client, form(rows), account_id=account_id)

    assert list_suspect([*reports, again]) == []
    assert await sum_results(client) == sum(one["gross"] for one in book_positions(fills))
    # Without ids the order of fills within a second is that of the file, so the whole file may correct it.
    if has_ids:
        assert again["counts"]["new"] == again["counts"]["updated"] == 0
        assert await stored_positions(client) == expected_positions(fills)


@pytest.mark.parametrize("formats", [*permutations([0, 1, 2], 2)], ids=str)
@pytest.mark.parametrize("seed", range(examples(full=40, ci=1)))
async def test_the_same_positions_in_two_formats_are_stored_once(
    client: Client, account_id: int, seed: int, formats: tuple[int, int]
) -> None:
    fills = random_fills(seed, 80)
    pairs = list(first_in_first_out(fills))
    files = executions(fills), performance(pairs), position_history(pairs)

    reports = [await create_import(client, files[one], account_id=account_id) for one in formats]

    positions = len(book_positions(fills))
    assert [one["counts"]["new"] for one in reports] == [positions, 0]
    assert reports[1]["counts"].get("suspect", 0) == 0
    assert await stored_positions(client) == expected_positions(fills)


@pytest.mark.parametrize("has_ids", [True, False], ids=["ids", "no ids"])
@pytest.mark.parametrize("seed", range(examples(full=1000, ci=4)))
@pytest.mark.promise(13)
async def test_pieces_of_fills_and_of_pairs_in_any_order_are_the_plain_book(
    client: Client, account_id: int, seed: int, has_ids: bool
) -> None:
    fills, choose = random_fills(seed, seed % 5 * 4 + 3), random.Random(seed)
    pairs = list(first_in_first_out(fills))
    files = [
        *(executions(piece, has_ids=has_ids) for piece in cut(fills, seed, most=3)),
        *(FORMS[seed % 4](piece) for piece in ([pairs] if seed % 3 else cut(pairs, seed, most=2))),
    ]
    choose.shuffle(files)

    reports = [await create_import(client, file, account_id=account_id) for file in files]

    assert list_suspect(reports) == []
    assert await sum_results(client) == sum(one["gross"] for one in book_positions(fills))


ONE_LONG = [("09:00:00", 1, "1000", 1), ("10:00:00", -1, "1010", 2)]


@for_rows("order", [*permutations(["entry", "exit", "pair"])])
async def test_a_pair_of_fills_that_two_files_cut_is_never_stored_twice(
    client: Client, account_id: int, order: Sequence[str]
) -> None:
    entry, exit_ = fills_of_day(ONE_LONG)
    pairs = performance(first_in_first_out([entry, exit_]))
    files = {"entry": executions([entry]), "exit": executions([exit_]), "pair": pairs}

    reports = [await create_import(client, files[name], account_id=account_id) for name in order]

    assert await stored_positions(client) == expected_positions([entry, exit_])
    verdicts = [one["rows"][0]["verdict"] for one in reports]
    assert verdicts == ["new", "duplicate" if order[0] == "pair" else "updated", "duplicate"]


async def test_a_pair_is_a_part_of_the_fill_of_its_price_a_second_before(client: Client, account_id: int) -> None:
    fills = fills_of_day([("09:00:00", 3, "1000", 1), ("10:00:00", -1, "1010", 2), ("10:05:00", -2, "1010", 3)])
    pair, _ = first_in_first_out(fill._replace(time=fill.time + timedelta(seconds=1)) for fill in fills)

    await create_import(client, executions(fills, has_ids=False), account_id=account_id)
    report = await create_import(client, topstepx_trades([pair]), account_id=account_id)

    assert report["counts"]["duplicate"] == 1
    assert [trade["quantity"] for trade in await list_trades(client)] == [3]


# What the journal has of files, without the times at which trades were changed.
RECORD = (
    "SELECT id, import_id, external_id, quantity, entry_price, exit_price, opened_at, closed_at, gross_pnl,"
    " fees, fills, mae, mfe, typed, edited FROM trades ORDER BY id",
    "SELECT account_id, contract, import_id, key, stated, trade_id FROM statements ORDER BY id",
    "SELECT statement_id, import_id FROM restatements ORDER BY 1, 2",
    "SELECT id FROM imports ORDER BY id",
    "SELECT import_id, trade_id FROM import_links ORDER BY 1, 2",
)


async def read_record(app: Starlette) -> list[Any]:
    return [await run_sql(app, sql) for sql in RECORD]


@pytest.mark.parametrize("form", ["fills", "pairs", "pairs after fills"])
@pytest.mark.parametrize("seed", range(examples(full=40, ci=2)))
async def test_undoing_a_file_that_continued_positions_leaves_the_record_as_it_was(
    client: Client, account_id: int, app: Starlette, seed: int, form: str
) -> None:
    fills = random_fills(seed, 60)
    pairs = list(first_in_first_out(fills))
    cut = 1 + seed * 7 % (len(pairs) - 1)
    files = {
        "fills": [executions(fills[:cut]), executions(fills[cut:])],
        "pairs": [performance(pairs[:cut]), performance(pairs[cut:])],
        "pairs after fills": [performance(pairs), executions(fills)],
    }[form]
    record, imports = [await read_record(app)], list[int]()
    for file in files:
        tried = await create_import(client, file, account_id=account_id, dry_run=True)
        assert await read_record(app) == record[-1]
        report = await create_import(client, file, account_id=account_id)
        assert report["counts"] == tried["counts"]
        imports.append(report["id"])
        record.append(await read_record(app))

    for import_id in reversed(imports):
        assert await read_record(app) == record.pop()
        undone = await client.delete(f"/imports/{import_id}")
        assert undone.status_code == 204
        assert "X-Trades-Kept" not in undone.headers

    assert await read_record(app) == record.pop()


@pytest.mark.parametrize("has_ids", [True, False], ids=["ids", "no ids"])
@pytest.mark.parametrize("seed", sorted({*range(examples(full=600, ci=1)), 48, 75}))
@pytest.mark.promise(13)
async def test_the_whole_file_after_undoing_any_files_is_the_plain_book(
    client: Client, account_id: int, seed: int, has_ids: bool
) -> None:
    fills, choose = random_fills(seed, 24), random.Random(seed)
    files = [*cut(fills, seed), fills] if choose.randint(0, 1) else [fills[16:], fills]
    imports = [await create_import(client, executions(file, has_ids=has_ids), account_id=account_id) for file in files]

    for one in choose.sample(imports, choose.randint(1, len(imports))):
        await client.delete(f"/imports/{one['id']}?force=true")
    report = await create_import(client, executions(fills, has_ids=has_ids), account_id=account_id)

    assert list_suspect([*imports, report]) == []
    assert await sum_results(client) == sum(one["gross"] for one in book_positions(fills))
    assert await stored_positions(client) == expected_positions(fills) or not has_ids


@for_rows("seed", range(examples(full=30, ci=2)))
async def test_stored_rows_are_joined_to_the_positions_of_the_file_and_split_to_rows_again(
    client: Client, account_id: int, app: Starlette, seed: int
) -> None:
    fills = random_fills(seed, 80)
    pairs = list(first_in_first_out(fills))
    half = len(pairs) // 2
    query = {"account_id": account_id, "one_trade_is": "row"}
    for part in (pairs[:half], pairs[half:]):
        report = await create_import(client, performance(part), **query)
    before = await read_record(app)
    path = f"/imports/{report['id']}"

    tried = (await client.post(f"{path}/join?dry_run=true")).json()["data"]
    assert await read_record(app) == before
    joined = (await client.post(f"{path}/join")).json()["data"]

    assert joined["joined"] == tried["joined"] > len(joined["trades"]) > 0
    gone = len(before[0]) - len((await read_record(app))[0])
    assert gone == joined["joined"] - len(joined["trades"])
    assert await stored_positions(client) == expected_positions(fills)
    assert unwrap(await client.get(path))["one_trade_is"] == "position"
    again = await create_import(client, performance(pairs), account_id=account_id)
    assert (again["counts"]["new"], len(again["rows"])) == (0, len(book_positions(fills)))

    await client.delete(f"/imports/{again['id']}")
    await client.post(f"{path}/split")
    assert await read_record(app) == before


WHOLE = [("14:00:00", -1, "100", 1), ("14:05:00", 1, "90", 2), ("15:00:00", -1, "100", 3), ("15:05:00", 1, "90", 4)]
LATER = [("14:05:00", -2, "110", 2), ("15:00:00", 1, "100", 3), ("15:05:00", -1, "200", 4)]
LONG = ("14:00:00", 2, "100", 1)
OVERLAPS: dict[str, tuple[list[list[tuple[str, int, str, int]]], list[tuple[Any, ...]]]] = {
    "a fill turns the position over": ([[LONG, ("14:05:00", -8, "110", 2)]], [("long", 2, 40), ("short", 6, None)]),
    "the whole after its first part": ([WHOLE[:1], WHOLE], [("short", 1, 20), ("short", 1, 20)]),
    "the whole after its later part": ([LATER, [LONG, *LATER]], [("long", 2, 40), ("long", 1, 200)]),
    "a fill of another position closes that one only": (
        [
            [("14:00:00", 1, "100", 1), ("14:05:00", -1, "110", 2)],
            [("14:05:00", -1, "110", 2), ("15:00:00", 1, "100", 3)],
        ],
        [("long", 1, 20), ("long", 1, None)],
    ),
}


@for_rows("files, positions", OVERLAPS.values())
async def test_files_that_overlap_give_each_position_once(
    client: Client, account_id: int, files: list[Any], positions: list[tuple[Any, ...]]
) -> None:
    await create_import(client, A_FILE, account_id=account_id)

    for file in map(executions, map(fills_of_day, files)):
        tried = await create_import(client, file, account_id=account_id, dry_run=True)
        report = await create_import(client, file, account_id=account_id)
        assert report["counts"] == tried["counts"]

    trades = sorted((await list_trades(client))[1:], key=lambda trade: str(trade["opened_at"]))
    assert [(one["direction"], one["quantity"], one["gross_pnl"]) for one in trades] == positions


@for_rows("first", ["rows", "fills", "fills of another zone"])
async def test_rows_and_positions_of_the_same_trades_never_double(client: Client, account_id: int, first: str) -> None:
    fills = random_fills(1, 60)
    pairs = performance(first_in_first_out(fills))
    other = executions([fill._replace(id=fill.id + 5000) for fill in fills])
    steps: list[tuple[bytes, dict[str, str]]] = {
        "rows": [(pairs, {"one_trade_is": "row"}), (pairs, {"one_trade_is": "position"})],
        "fills": [(other, {}), (pairs, {"one_trade_is": "row"})],
        "fills of another zone": [(other, {"timezone": "America/New_York"}), (pairs, {})],
    }[first]

    for file, query in steps:
        await create_import(client, file, account_id=account_id, **query)

    assert await sum_results(client) == sum(one["gross"] for one in book_positions(fills))


@for_rows("seed", range(examples(full=30, ci=2)))
async def test_positions_come_back_from_an_export(client: Client, seed: int) -> None:
    fills = random_fills(seed, 80)
    account = await create_account(client, fees={"MNQ": 0.37})
    report = await create_import(client, executions(fills), account_id=account["id"])
    file = (await client.get("/trades/export")).content
    await client.delete(f"/imports/{report['id']}")

    back = await create_import(client, file, account_id=account["id"])

    assert back["counts"]["new"] == len(book_positions(fills))
    assert await stored_positions(client) == expected_positions(fills)
    assert (await client.get("/trades/export")).content == file


BUY = {"id": 1, "side": "buy", "quantity": 1, "price": 100, "at": "2026-01-05T14:00:00Z", "fees": 0}
SELL = {**BUY, "id": 2, "side": "sell", "price": 101, "at": "2026-01-05T15:00:00Z"}


@for_rows(
    "fills",
    [
        [],
        [{**BUY, "quantity": 1e300}, SELL],
        [{**BUY, "quantity": -1}, SELL],
        [{**BUY, "price": "a"}, SELL],
        [{**BUY, "at": "2026-01-05T14:00"}, SELL],
        [{**BUY, "external_id": "x" * 101}, SELL],
        [SELL, BUY],
        [{**BUY, "quantity": 2}, {**SELL, "quantity": 2}],
        [BUY],
    ],
)
async def test_fills_that_do_not_make_the_trade_of_their_row_are_refused(
    client: Client, account_id: int, fills: list[Any]
) -> None:
    cell = json.dumps([{"external_id": None, **fill} for fill in fills]).replace('"', '""')
    row = f'ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z,"{cell}"'
    header = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,fills"

    refused = await send_file(client, f"{header}\n{row}\n", account_id)

    assert refused.status_code == 400
    assert details_of(refused)["reason"].startswith("fills must ")


TYPED = {"symbol": "MNQH6", "direction": "long", "quantity": 2, "multiplier": 2, "entry_price": 100}
A_FILE_OF_IT = [("09:30:20", 2, "100", 1), ("09:41:40", -2, "110", 2)]


def fills_of_day(rows: Sequence[tuple[str, int, str, int]]) -> list[FileFill]:
    day = "2026-02-12T"
    return [
        FileFill(number, datetime.fromisoformat(day + at), "MNQH6", size, Decimal(price))
        for at, size, price, number in rows
    ]


async def read_trade(client: Client, trade_id: int) -> dict[str, Any]:
    """The trade without the time at which it was changed."""
    return {**unwrap(await client.get(f"/trades/{trade_id}")), "updated_at": None}


@pytest.mark.parametrize("form", ["fills", "fills after an open position", "pairs", "row"])
@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        ({"opened_at": "09:30:20", "closed_at": "09:41:40", "exit_price": 110}, "updated"),
        ({"opened_at": "09:30:21", "closed_at": "09:41:39", "exit_price": 110}, "updated"),
        ({"opened_at": "09:30:00", "closed_at": "09:41:00", "exit_price": 110}, "updated"),
        ({"opened_at": "09:31:00", "closed_at": "09:42:00", "exit_price": 110}, "updated"),
        ({"opened_at": "09:30:00", "closed_at": "09:41:00", "exit_price": 109, "quantity": 1}, "updated"),
        ({"opened_at": "09:35:00", "closed_at": "09:41:00", "exit_price": 109}, "suspect"),
        ({"opened_at": "09:30:00"}, "updated"),
        ({"opened_at": "09:50:00", "closed_at": "09:55:00", "exit_price": 110}, "new"),
        ({"opened_at": "09:30:20", "closed_at": "09:41:40", "exit_price": 110, "symbol": "MNQ"}, "updated"),
        ({"opened_at": "09:31:00", "closed_at": "09:42:00", "exit_price": 110, "symbol": "/MNQ"}, "updated"),
        ({"opened_at": "09:50:00", "closed_at": "09:55:00", "exit_price": 110, "symbol": "MNQ"}, "new"),
        ({"opened_at": "09:30:20", "closed_at": "09:41:40", "exit_price": 110, "symbol": "MNQM6"}, "new"),
    ],
    ids=[
        *("same", "seconds apart", "minutes", "next minutes", "another size", "overlaps", "still open"),
        *("later", "root alone", "root and minutes", "root and later", "other month"),
    ],
)
async def test_a_file_never_doubles_a_trade_that_was_entered_by_hand(
    client: Client, account_id: int, form: str, typed: dict[str, Any], verdict: str
) -> None:
    times = {name: f"2026-02-12T{at}Z" for name, at in typed.items() if name.endswith("_at")}
    created = await client.post("/trades", json={**TYPED, **typed, **times, "account_id": account_id})
    assert created.status_code == 201, created.text

    fills = fills_of_day(A_FILE_OF_IT)
    if form == "fills after an open position":
        earlier = fills_of_day([("09:00:00", 1, "100", 90), ("09:01:00", -1, "101", 91)])
        await create_import(client, executions(earlier[:1]), account_id=account_id)
        fills = [*earlier, *fills]
    file = executions(fills) if form.startswith("fills") else performance(first_in_first_out(fills))
    query = {"one_trade_is": "row"} if form == "row" else {}

    report = await create_import(client, file, account_id=account_id, **query)

    row = report["rows"][-1]
    assert row["verdict"] == verdict
    trades = {trade["id"]: trade for trade in await list_trades(client)}
    before = unwrap(created)
    others = len(fills) // 2 - 1
    assert len(trades) == (2 if verdict == "new" else 1) + others
    if verdict == "suspect":
        assert "entered by hand: the file has long 2 MNQH6 from 2026-02-12T09:30:20" in row["reason"]
    elif verdict == "updated":
        assert row["trade_id"] == before["id"]
        taken = trades[before["id"]]
        assert (taken["symbol"], taken["quantity"], taken["gross_pnl"]) == ("MNQH6", 2, 40)
        assert (taken["opened_at"][11:19], taken["closed_at"][11:19]) == ("09:30:20", "09:41:40")
    assert (await client.delete(f"/imports/{report['id']}")).status_code == 204
    assert await read_trade(client, before["id"]) == {**before, "updated_at": None}


@for_rows(
    "typed_at, price, later",
    [
        ("09:41:40", 110, A_FILE_OF_IT),
        ("09:41:00", 110, A_FILE_OF_IT),
        ("09:42:00", 110, A_FILE_OF_IT[1:]),
        ("09:43:10", 110, A_FILE_OF_IT),
        ("09:41:40", 109, A_FILE_OF_IT),
    ],
)
async def test_a_fill_that_was_added_by_hand_stays_when_the_file_has_it(
    client: Client, account_id: int, typed_at: str, price: int, later: list[Any]
) -> None:
    first = await create_import(client, executions(fills_of_day(A_FILE_OF_IT[:1])), account_id=account_id)
    trade_id = first["rows"][0]["trade_id"]
    fill = {"side": "sell", "quantity": 2, "price": price, "at": f"2026-02-12T{typed_at}Z"}
    typed = unwrap(await client.post(f"/trades/{trade_id}/fills", json=fill))
    assert typed["gross_pnl"] == (price - 100) * 4

    for _ in range(2):
        report = await create_import(client, executions(fills_of_day(later)), account_id=account_id)

        assert [(row["verdict"], row["trade_id"]) for row in report["rows"]] == [("duplicate", trade_id)]
        assert len(await list_trades(client)) == 1
        assert await read_trade(client, trade_id) == {**typed, "updated_at": None}


TOUCHING = {
    "earlier": [("10:00:00", 1, "100", 1), ("10:05:00", -1, "101", 2)],
    "middle": [("10:05:00", 1, "101", 3), ("10:07:30", 1, "102", 4), ("10:10:00", -2, "103", 5)],
    "later": [("10:10:00", 1, "103", 6), ("10:15:00", -1, "104", 7)],
    "open": [("10:20:10", 1, "104", 8)],
}


@pytest.mark.parametrize("has_ids", [True, False], ids=["ids", "no ids"])
@pytest.mark.parametrize(
    "names",
    [" ".join(TOUCHING), "earlier middle", "middle open", "middle", "earlier open", "middle later"][
        : examples(full=6, ci=3)
    ],
)
async def test_a_corrected_price_beside_positions_of_the_same_second_corrects_the_trade_or_is_suspect(
    client: Client, app: Starlette, names: str, has_ids: bool
) -> None:
    fills = fills_of_day([fill for name in names.split() for fill in TOUCHING[name]])
    for place, fill in enumerate(fills):
        corrected = [*fills[:place], fill._replace(price=fill.price + 1), *fills[place + 1 :]]
        account = await create_account(client, name=f"{names} {place}")
        await create_import(client, executions(fills, has_ids=has_ids), account_id=account["id"])
        before = (await read_record(app))[0]

        report = await create_import(client, executions(corrected, has_ids=has_ids), account_id=account["id"])

        if report["counts"].get("suspect"):
            assert not has_ids
            assert (await read_record(app))[0] == before
        else:
            trades = await list_trades(client, account_id=account["id"])
            assert report["counts"]["updated"] == 1
            assert len(trades) == len(names.split())
            booked = book_positions(corrected if "open" not in names else corrected[:-1])
            assert sum(one["gross_pnl"] or 0 for one in trades) == sum(one["gross"] for one in booked)
