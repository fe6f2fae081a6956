"""Multipliers of imported trades: docs/imports.md#point-values."""

from typing import Any

import httpx
import pytest
from factories import (
    create_account,
    create_import,
    create_instrument,
    details_of,
    error_of,
    run_sql,
    send_file,
    unwrap,
)
from starlette.applications import Starlette

HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,stop_loss"
TIMES = "2026-01-05T14:00:00Z,2026-01-05T15:00:00Z"
TRADOVATE_HEADER = (
    "Contract,Pair ID,Buy Fill ID,Sell Fill ID,Paired Qty,Buy Price,Sell Price,P/L,"
    "Bought Timestamp,Sold Timestamp"
)
NINJATRADER_HEADER = "Instrument,Market pos.,Qty,Entry price,Exit price,Entry time,Exit time,Profit"


def round_trips(*symbols: str) -> str:
    """Longs of one from 100 to 110 with a stop at 98."""
    return "\n".join([HEADER, *(f"{symbol},long,1,100,110,{TIMES},98" for symbol in symbols)])


def executions(symbol: str, quantity: int, bought: str, sold: str) -> str:
    return (
        "Date,Time,Symbol,Side,Quantity,Price\n"
        f"4/6/26,09:15:49,{symbol},BUY,{quantity},{bought}\n4/6/26,09:16:12,{symbol},SELL,{quantity},{sold}\n"
    )


def pairs(*rows: tuple[str, str, str, str]) -> str:
    """Pairs of fills of Tradovate: contract, price bought, price sold, P/L."""
    lines = [
        f"{contract},{number},{number}0,{number}1,1,{bought},{sold},{result},"
        f"04/09/2026 10:00:{number:02},04/09/2026 10:01:{number:02}"
        for number, (contract, bought, sold, result) in enumerate(rows, 1)
    ]
    return "\n".join([TRADOVATE_HEADER, *lines])


async def trades_of(client: httpx.AsyncClient) -> list[Any]:
    return list(reversed(unwrap_list(await client.get("/trades"))))


def unwrap_list(response: httpx.Response) -> list[Any]:
    trades: list[Any] = response.json()["data"]["trades"]
    return trades


async def imported(client: httpx.AsyncClient, file: str) -> list[tuple[float, float]]:
    """(multiplier, gross P&L) of the trades of a file, in a new account."""
    await create_import(client, file)
    return [(trade["multiplier"], trade["gross_pnl"]) for trade in await trades_of(client)]


# Files that state no result --------------------------------------------------------------------------------


async def test_ten_points_of_es_in_a_file_without_a_multiplier_are_500(client: httpx.AsyncClient) -> None:
    assert await imported(client, round_trips("ESU6")) == [(50, 500)]


async def test_the_risk_of_a_stop_follows_from_the_point_value(client: httpx.AsyncClient) -> None:
    await create_import(client, round_trips("ESU6"))

    (trade,) = await trades_of(client)
    assert (trade["initial_risk"], trade["rr_realized"]) == (100, 5)


@pytest.mark.parametrize(
    ("symbol", "quantity", "bought", "sold", "multiplier", "gross_pnl"),
    [
        ("/NQM26", 1, "24363.00", "24369.25", 20, 125),
        ("SPY240422P00496000", 8, "1.03", "0.870", 100, -128),
        ("ES 03-26", 1, "6000", "6010", 50, 500),
        ("AAPL", 10, "200", "201", 1, 10),
    ],
)
async def test_fills_without_a_multiplier(
    client: httpx.AsyncClient,
    symbol: str,
    quantity: int,
    bought: str,
    sold: str,
    multiplier: int,
    gross_pnl: float,
) -> None:
    file = executions(symbol, quantity, bought, sold)

    assert await imported(client, file) == [(multiplier, gross_pnl)]


async def test_fills_with_a_column_of_the_expiration_are_of_a_future(client: httpx.AsyncClient) -> None:
    file = (
        "Date,Time,Symbol,Side,Quantity,Price,Expiration\n"
        "4/6/26,09:15:49,NQ,BUY,1,24363,2026-06-19\n4/6/26,09:16:12,NQ,SELL,1,24369.25,2026-06-19\n"
    )

    assert await imported(client, file) == [(20, 125)]


async def test_averages_of_fills_make_an_exact_result(client: httpx.AsyncClient) -> None:
    """Three at 100, 100 and 101, sold at 102: 2 + 2 + 1 points of 50, though the average is 100.33333333."""
    file = "Date,Time,Symbol,Side,Quantity,Price\n" + "\n".join(
        f"4/6/26,09:15:0{second},ESU6,{side},{quantity},{price}"
        for second, (side, quantity, price) in enumerate(
            [("BUY", 2, 100), ("BUY", 1, 101), ("SELL", 3, 102)], 1
        )
    )

    assert await imported(client, file) == [(50, 250)]


async def test_what_the_file_states_wins(client: httpx.AsyncClient) -> None:
    lines = round_trips("ESU6", "ESU6").split("\n")
    cells = ["multiplier,gross_pnl", "1,", ",490"]
    file = "\n".join(",".join(pair) for pair in zip(lines, cells, strict=True))

    assert await imported(client, file) == [(1, 10), (50, 490)]


async def test_the_owners_point_value_takes_precedence(client: httpx.AsyncClient) -> None:
    await create_instrument(client, "ES", 49)

    assert await imported(client, round_trips("ESU6", "ES")) == [(49, 490), (49, 490)]


async def test_a_future_without_a_point_value_is_an_error_of_its_row(client: httpx.AsyncClient) -> None:
    account = await create_account(client)

    refused = await send_file(client, round_trips("ESU6", "XYZU6"), account["id"])
    await create_instrument(client, "XYZ", 4)
    report = await create_import(client, round_trips("ESU6", "XYZU6"), account_id=account["id"])

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["line"] == 3
    assert details_of(refused)["reason"].startswith("multiplier is required, because XYZU6 looks like")
    assert report["counts"]["new"] == 2
    assert [trade["gross_pnl"] for trade in await trades_of(client)] == [500, 40]


# Files that state a result ---------------------------------------------------------------------------------


async def test_a_scratched_trade_has_the_point_value_of_its_contract(client: httpx.AsyncClient) -> None:
    assert await imported(client, pairs(("MNQM6", "25000", "25000", "0.00"))) == [(2, 0)]


async def test_a_scratched_trade_has_the_multiplier_of_other_rows_of_its_contract(
    client: httpx.AsyncClient,
) -> None:
    file = pairs(("XYZU6", "50", "50", "0.00"), ("XYZU6", "50", "51", "7.00"), ("ABCDU6", "50", "50", "0.00"))

    assert await imported(client, file) == [(7, 0), (7, 7), (1, 0)]


async def test_a_result_in_cents_does_not_distort_the_point_value(client: httpx.AsyncClient) -> None:
    """A tick of ZT is 7.8125, which the file rounds."""
    file = pairs(("ZTU6", "104.00000000", "104.00390625", "7.81"))

    assert await imported(client, file) == [(2000, 7.81)]


async def test_a_result_that_the_point_value_does_not_explain_stays(client: httpx.AsyncClient) -> None:
    assert await imported(client, pairs(("ESU6", "6000", "6010", "490.00"))) == [(49, 490)]


async def test_a_scratched_trade_of_ninjatrader_has_the_point_value_of_its_contract(
    client: httpx.AsyncClient,
) -> None:
    times = "2026-07-02 09:12:00,2026-07-02 09:13:00"
    file = f"{NINJATRADER_HEADER}\nMNQ SEP26,Long,1,30220,30220,{times},$0.00\n"

    assert await imported(client, file) == [(2, 0)]


# The same file again ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        round_trips("ESU6", "ES"),
        executions("ESU6", 1, "100", "110"),
        pairs(("ESU6", "6000", "6010", "500.00"), ("ESU6", "6000", "6000", "0.00")),
    ],
    ids=["round trips", "executions", "Tradovate"],
)
async def test_another_point_value_changes_no_trade_of_the_same_file(
    client: httpx.AsyncClient, file: str
) -> None:
    account = await create_account(client)
    await create_import(client, file, account_id=account["id"])
    before = await trades_of(client)
    await create_instrument(client, "ES", 7)

    again = await create_import(client, file, account_id=account["id"])

    assert again["counts"] == {"new": 0, "updated": 0, "duplicate": len(before), "error": 0}
    assert await trades_of(client) == before


async def test_a_corrected_price_keeps_the_multiplier_of_the_stored_trade(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    file = executions("ESU6", 1, "100", "110")
    await create_import(client, file, account_id=account["id"])
    await create_instrument(client, "ES", 7)

    again = await create_import(client, file.replace("110", "111"), account_id=account["id"])

    (trade,) = await trades_of(client)
    assert again["rows"][0]["changed"] == ["exit_price", "gross_pnl"]
    assert (trade["multiplier"], trade["gross_pnl"]) == (50, 550)


@pytest.mark.own_journal
async def test_a_trade_that_was_imported_with_points_as_dollars_stays(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    """Earlier versions stored multiplier 1 and 10 dollars, and the checksums of both."""
    account = await create_account(client)
    columns = round_trips("ESU6").replace("stop_loss", "stop_loss,multiplier").replace(",98", ",98,1")
    await create_import(client, columns, account_id=account["id"])
    before = await trades_of(client)

    again = await create_import(client, round_trips("ESU6"), account_id=account["id"])

    assert again["counts"]["duplicate"] == 1
    assert await trades_of(client) == before
    assert [tuple(row) for row in await run_sql(app, "SELECT count(*) FROM import_updates")] == [(0,)]


async def test_an_export_is_imported_with_the_multipliers_that_it_states(client: httpx.AsyncClient) -> None:
    await create_import(client, round_trips("ESU6"))
    file = (await client.get("/trades/export")).text
    await create_instrument(client, "ES", 7)
    other = await create_account(client, "Other")

    unwrap(await send_file(client, file, other["id"]))

    assert [(trade["multiplier"], trade["gross_pnl"]) for trade in await trades_of(client)] == [(50, 500)] * 2
