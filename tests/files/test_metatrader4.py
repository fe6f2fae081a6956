"""MetaTrader 4's statement: docs/imports.md, "MetaTrader 4 statement"."""

from pathlib import Path

import httpx
import pytest
from factories import create_account, create_import, details_of, send_file, unwrap

STATEMENT = (Path(__file__).parents[1] / "data" / "metatrader4_statement.html").read_text()


async def test_a_statement_comes_in_as_the_terminal_wrote_it(client: httpx.AsyncClient) -> None:
    account = await create_account(client)

    report = unwrap(await send_file(client, STATEMENT, account["id"]))

    assert report["format"] == "MetaTrader 4 statement"
    assert report["left_out"] == [{"reason": "Type is not buy or sell", "rows": 2}]
    trades = (await client.get("/trades")).json()["data"]["trades"]
    names = ("external_id", "symbol", "direction", "quantity", "entry_price", "exit_price", "stop_loss")
    assert sorted(
        tuple(trade[name] for name in (*names, "gross_pnl", "fees", "net_pnl")) for trade in trades
    ) == [
        ("81200114", "eurusd", "long", 0.5, 1.08412, 1.08655, 1.0825, 121.5, 3.5, 118),
        ("81200431", "xauusd", "short", 0.1, 2034.56, 2041.18, 2041.18, -66.2, 1.94, -68.14),
        ("81200777", "usdjpy", "short", 1, 148, 147.5, None, 338.98, 6.3, 332.68),
    ]
    # The statement's Closed P/L.
    assert sum(round(100 * trade["net_pnl"]) for trade in trades) == 38254


async def test_the_time_zone_of_the_server_must_be_stated(client: httpx.AsyncClient) -> None:
    account = await create_account(client)

    refused = await send_file(client, STATEMENT, account["id"], timezone=None)

    assert "timezone" in details_of(refused)["fields"]


@pytest.mark.parametrize(
    ("cell", "wrong", "reason"),
    [
        ("<td>buy</td>", "<td></td>", "Type must be long or short"),
        (">81200114<", ">8.12E+07<", "Ticket must be the number of a position"),
        (">-3.50<", "><", "Commission must be a number"),
        (">2026.01.12 16:42:31<", "><", "Close Time must be a date"),
    ],
)
async def test_a_closed_order_that_cannot_be_read_is_an_error(
    client: httpx.AsyncClient, cell: str, wrong: str, reason: str
) -> None:
    account = await create_account(client)

    refused = await send_file(client, STATEMENT.replace(cell, wrong, 1), account["id"])

    assert details_of(refused)["line"] == 9
    assert details_of(refused)["reason"].startswith(reason)


async def test_a_comment_below_an_order_is_skipped(client: httpx.AsyncClient) -> None:
    comment = "<tr align=right><td colspan=9>&nbsp;</td><td>0</td><td colspan=4>my robot</td></tr>\n"

    report = await create_import(client, STATEMENT.replace("<tr align=right><td title=\"Deposit\"",
                                 f"{comment}<tr align=right><td title=\"Deposit\""))  # fmt: skip

    assert report["counts"] == {"new": 3, "duplicate": 0, "updated": 0, "error": 0}
