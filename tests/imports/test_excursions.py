"""The excursions `mae` and `mfe` of trades that imports add and update."""

from typing import Any

import httpx
import pytest
from factories import OPEN_ROW, build_file, create_import, list_trades, unwrap
from file_tables import SAMPLES, write_csv, write_file
from plain_rows import PLAIN, Cells

GRID = PLAIN["NinjaTrader"]
STATED: Cells = {"MAE": "$10.00", "MFE": "$35.00"}
# A second pair that was entered while the first was open.
ADDED: Cells = {"Entry time": "1/6/2026 9:40:00 AM", "MAE": "$1.00", "MFE": "$9.00"}


def grid(*rows: Cells) -> str:
    return write_file(GRID, *rows).decode()


def stated(mae: str, mfe: str, **cells: str) -> str:
    return build_file({"external_id": "1", "mae": mae, "mfe": mfe, **cells})


async def read_excursions(client: httpx.AsyncClient) -> list[tuple[float | None, float | None]]:
    return [(trade["mae"], trade["mfe"]) for trade in await list_trades(client)]


LATER: dict[str, tuple[str, str, tuple[float | None, float | None]]] = {
    "a file that states them": (stated("", ""), stated("5", "7"), (5, 7)),
    "one of them": (stated("3", ""), stated("3", "7"), (3, 7)),
    "a file with others": (stated("3", "4"), stated("5", "7"), (3, 4)),
    "a file without them": (stated("3", "4"), stated("", ""), (3, 4)),
    "a correction without them": (stated("3", "4"), stated("", "", quantity="2"), (3, 4)),
    "more while it is open": (stated("3", "4", **OPEN_ROW), stated("5", "7", **OPEN_ROW), (5, 7)),
    "the close": (stated("3", "4", **OPEN_ROW), stated("5", ""), (5, 4)),
    "the same rows of pairs": (grid({}), grid(STATED), (10, 35)),
    "another pair of the position": (grid(STATED), grid(ADDED), (None, None)),
    "both pairs of the position": (grid(STATED), grid(STATED, ADDED), (None, None)),
}


@pytest.mark.parametrize(("first", "second", "expected"), LATER.values(), ids=LATER)
async def test_a_later_file_states_excursions_and_undo_takes_them_back(
    client: httpx.AsyncClient, account_id: int, first: str, second: str, expected: tuple[float | None, ...]
) -> None:
    await create_import(client, first, account_id=account_id)
    before = await list_trades(client)

    said = await create_import(client, second, account_id=account_id, dry_run=True)
    unchanged = await list_trades(client)
    report = await create_import(client, second, account_id=account_id)
    after = await read_excursions(client)
    await client.delete(f"/imports/{report['id']}")

    assert (said["counts"], unchanged) == (report["counts"], before)
    assert after == [expected]
    assert await list_trades(client) == before


async def test_what_the_trader_has_written_stays_and_is_no_update(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(client, grid(STATED), account_id=account_id)
    (trade,) = await list_trades(client)
    unwrap(await client.patch(f"/trades/{trade['id']}", json={"mae": 12, "mfe": 30.5}))

    again = await create_import(client, grid(STATED), account_id=account_id)

    assert again["counts"]["duplicate"] == 1
    assert await read_excursions(client) == [(12, 30.5)]


async def test_they_stay_when_the_price_of_a_pair_is_corrected(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = (SAMPLES / "tradovate_performance.csv").read_text()
    await create_import(client, file, account_id=account_id)
    for trade in await list_trades(client):
        unwrap(await client.patch(f"/trades/{trade['id']}", json={"mae": 12}))

    corrected = await create_import(client, file.replace(",22481.00,", ",22482.00,"), account_id=account_id)

    assert corrected["counts"]["updated"] == 1
    assert {trade["mae"] for trade in await list_trades(client)} == {12}


async def test_an_update_is_reported_with_the_excursions(client: httpx.AsyncClient, account_id: int) -> None:
    await create_import(client, grid({}), account_id=account_id)

    report = await create_import(client, grid(STATED), account_id=account_id)

    (row,) = report["rows"]
    assert (row["verdict"], row["changed"]) == ("updated", ["mae", "mfe"])
    assert row["changes"][0] == {"field": "mae", "before": None, "after": 10}


async def test_a_file_of_another_format_fills_them_in(client: httpx.AsyncClient, account_id: int) -> None:
    fills = [
        ("Date", "Time", "Symbol", "Quantity", "Price", "Side"),
        ("1/6/2026", "9:31:12", "MESH6", "2", "6012.25", "Buy"),
        ("1/6/2026", "9:48:03", "MESH6", "2", "6015.50", "Sell"),
    ]
    await create_import(client, write_csv(fills).decode(), account_id=account_id)

    report = await create_import(client, grid(STATED), account_id=account_id)

    assert report["counts"]["updated"] == 1
    assert await read_excursions(client) == [(10, 35)]


@pytest.mark.parametrize(
    ("one_trade_is", "expected"),
    [
        ("position", [(10, 35), (125, 1100), (310, 95), (None, None)]),
        ("row", [(10, 35), (125, 1100), (2.5, 5), (2.5, 5), (310, 95)]),
    ],
)
async def test_rows_that_are_joined_have_none(
    client: httpx.AsyncClient, account_id: int, one_trade_is: str, expected: list[Any]
) -> None:
    sample = (SAMPLES / "ninjatrader_trades.csv").read_bytes()

    await create_import(client, sample, account_id=account_id, one_trade_is=one_trade_is)

    assert sorted(await read_excursions(client), key=str) == expected
