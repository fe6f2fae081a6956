"""Interactive Brokers' Flex Query and activity statement: docs/imports.md."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import create_account, create_import, details_of, error_of, read_file, send_file, unwrap

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Candidate, Rejected

DATA = Path(__file__).parents[1] / "data"
FLEX_CSV = (DATA / "ibkr_flex_trades.csv").read_bytes()
FLEX_XML = (DATA / "ibkr_flex_query.xml").read_bytes()
STATEMENT = (DATA / "ibkr_activity_statement.csv").read_bytes()
HEADER = (
    "Trades,Header,DataDiscriminator,Asset Category,Currency,Symbol,Date/Time,Quantity,T. Price,C. Price,"
    "Proceeds,Comm/Fee,Basis,Realized P/L,MTM P/L,Code\n"
)


def read(content: str) -> list[Candidate | Rejected]:
    file = read_file(content, "America/New_York")
    return list(file.candidates)


def trades_in(content: str) -> list[dict[str, Any]]:
    """The columns of the trades of a file without errors."""
    rows = read(content)
    trades = [row.columns for row in rows if isinstance(row, Candidate)]
    assert len(trades) == len(rows)
    return trades


def order(
    category: str, symbol: str, quantity: str, price: str, value: str, level: str = "Order", minute: int = 0
) -> str:
    time = f'"2026-03-02, 10:{minute:02}:00"'
    return f"Trades,Data,{level},{category},USD,{symbol},{time},{quantity},{price},0,{value},-1,0,0,0,O\n"


def flex(*trades: str, statement: str = 'accountId="U1"') -> str:
    elements = "".join(f"<Trade {trade}/>" for trade in trades)
    return f"<FlexQueryResponse><FlexStatement {statement}>{elements}</FlexStatement></FlexQueryResponse>"


TRADE = (
    'symbol="QLTX" dateTime="20260302;093105" quantity="1" tradePrice="40" buySell="BUY" '
    'levelOfDetail="EXECUTION"'
)


# Flex Query ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "forms", [(FLEX_CSV, FLEX_XML), (FLEX_XML, FLEX_CSV)], ids=["CSV first", "XML first"]
)
async def test_both_forms_of_a_flex_query_are_the_same_trades(
    client: httpx.AsyncClient, forms: tuple[bytes, bytes]
) -> None:
    account = await create_account(client)

    counts = [(await create_import(client, form, account_id=account["id"]))["counts"] for form in forms]

    assert [count["new"] for count in counts] == [2, 0]
    assert counts[1] == {"new": 0, "duplicate": 2, "updated": 0, "error": 0}


@pytest.mark.parametrize("media_type", ["application/xml", "text/xml", "text/csv"])
async def test_a_flex_query_goes_into_the_account_that_it_names(
    client: httpx.AsyncClient, media_type: str
) -> None:
    account = await create_account(client, "U7654321")

    report = unwrap(
        await client.post(
            "/imports?timezone=America/New_York", content=FLEX_XML, headers={"Content-Type": media_type}
        )
    )

    assert report["format"] == "IBKR Flex trades"
    assert [part["account_id"] for part in report["accounts"]] == [account["id"]]
    assert report["left_out"] == [{"reason": "LevelOfDetail is not EXECUTION", "rows": 1}]
    trades = (await client.get("/trades")).json()["data"]["trades"]
    names = ("symbol", "direction", "quantity", "multiplier", "gross_pnl", "fees", "external_id")
    assert sorted(tuple(trade[name] for name in names) for trade in trades) == [
        ("QLTX", "long", 100, 1, 100, 2, "0000f1.01"),
        ("QLTX  260320C00045000", "short", 2, 100, 80, 2.6, "0000f3.01"),
    ]


@pytest.mark.parametrize("file", [FLEX_XML, STATEMENT], ids=["Flex Query", "activity statement"])
async def test_the_time_zone_of_the_account_must_be_stated_once(
    client: httpx.AsyncClient, file: bytes
) -> None:
    account = await create_account(client)

    refused = await send_file(client, file, account["id"], timezone=None)
    await create_import(client, file, account_id=account["id"], timezone="America/New_York")
    again = unwrap(await send_file(client, file, account["id"], timezone=None))

    assert "timezone" in details_of(refused)["fields"]
    assert (again["timezone"], again["timezone_source"]) == ("America/New_York", "remembered")
    assert again["counts"]["new"] == again["counts"]["updated"] == 0


def test_a_trade_without_an_account_has_that_of_its_statement() -> None:
    rows = read(flex(TRADE, f'accountId="U2" {TRADE}'))

    assert [row.imported.account for row in rows if isinstance(row, Candidate)] == ["U1", "U2"]


def test_a_flex_query_without_commissions_states_no_fees() -> None:
    (row,) = read(flex(TRADE))

    assert isinstance(row, Candidate)
    assert not row.imported.states("fees")


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (flex(), "has no <Trade>: add Trades to the Flex Query"),
        (flex(TRADE, statement=""), "it has no column 'ClientAccountID'"),
        (
            '<?xml version="1.0"?><Workbook/>',
            "is <Workbook>, and a Flex Query begins with <FlexQueryResponse>",
        ),
        ("<FlexQueryResponse><Trade", "is not XML: unclosed token"),
    ],
)
def test_what_is_no_flex_query_of_trades_is_refused(file: str, reason: str) -> None:
    with pytest.raises(ValidationFailed, match=reason):
        read(file)


def test_a_flex_query_that_ends_early_is_an_error_of_its_line() -> None:
    begin = flex(TRADE).partition("</FlexStatement>")[0]

    assert read(f"{begin}\n") == [Rejected(2, "is not XML: no element found")]


# Activity statement --------------------------------------------------------------------------------------


async def test_an_activity_statement_goes_into_the_account_that_it_names(client: httpx.AsyncClient) -> None:
    await create_account(client, "U7654321")

    report = unwrap(await send_file(client, STATEMENT, timezone="America/New_York"))

    assert report["format"] == "IBKR activity statement"
    assert report["left_out"] == [{"reason": "DataDiscriminator is not Order or Trade", "rows": 1}]
    trades = (await client.get("/trades")).json()["data"]["trades"]
    names = ("symbol", "direction", "quantity", "multiplier", "gross_pnl", "fees", "net_pnl", "closed_at")
    assert sorted(tuple(trade[name] for name in names) for trade in trades) == [
        ("EUR.USD", "short", 20000, 1, 20, 4, 16, "2026-03-05T19:05:41.000000Z"),
        ("MESH6", "long", 1, 5, 50, 1.24, 48.76, "2026-03-04T16:02:33.000000Z"),
        ("QLTX", "long", 100, 1, 100, 2, 98, "2026-03-02T15:15:00.000000Z"),
        ("QLTX 06MAR26 45 C", "short", 2, 100, 300, 1.3, 298.7, "2026-03-06T21:20:00.000000Z"),
    ]


def test_a_column_of_accounts_goes_before_the_account_of_the_statement() -> None:
    header = HEADER.replace("Symbol", "Account,Symbol")
    buy = order("Stocks", "U2,QLTX", "1", "40", "-40")

    rows = read(f"Account Information,Header,Field Name,Field Value\n"
                f"Account Information,Data,Account,U1\n{header}{buy}")  # fmt: skip

    assert [row.imported.account for row in rows if isinstance(row, Candidate)] == ["U2"]


def test_a_statement_without_orders_is_read_by_its_executions() -> None:
    buy = order("Stocks", "QLTX", "1", "40", "-40", "Trade")

    (trade,) = trades_in(HEADER + buy + order("Stocks", "QLTX", "-1", "41", "41", "Trade", 1))

    assert Decimal(trade["gross_pnl"]) / 10**8 == 1


@pytest.mark.parametrize(
    ("category", "price", "value", "multiplier"),
    [
        ("Equity and Index Options", "1.05", "-105", "100"),
        ("Equity and Index Options", "0", "0", "100"),
        ("Options On Futures", "12.25", "-612.5", "50"),
        ("Futures", "0.0067125", "-83906.25", "12500000"),
        ("Bonds", "98.5", "-0.985", "0.01"),
        ("Stocks", "0.0041", "-0", "1"),
    ],
)
def test_the_multiplier_follows_from_the_value_of_the_order(
    category: str, price: str, value: str, multiplier: str
) -> None:
    (trade,) = trades_in(HEADER + order(category, "QLTX", "1", price, value))

    assert Decimal(trade["multiplier"]) / 10**8 == Decimal(multiplier)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("Statement,Header,Field Name,Field Value\n", "the statement has no section Trades"),
        (HEADER.replace("T. Price", "Price"), "it has no column 'T. Price'"),
    ],
)
def test_a_statement_without_trades_or_their_prices_is_refused(file: str, reason: str) -> None:
    with pytest.raises(ValidationFailed, match=reason):
        read(file)


async def test_a_row_that_is_cut_is_an_error_of_its_line(client: httpx.AsyncClient) -> None:
    account = await create_account(client)
    row = order("Stocks", "QLTX", "1", "40", "-40").rpartition(",-1,")[0]

    refused = await send_file(client, HEADER + row, account["id"])

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["reason"] == "has 11 cells where its header has 16"
    assert details_of(refused)["line"] == 2
