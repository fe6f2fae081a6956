"""Commissions of an account, charged to files that state no costs: docs/imports.md#commissions."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import factories
from commands import import_file
from factories import Client, details_of, error_of, unwrap
from saved_journals import for_rows

FEES = {"MNQ": 0.37, "default": 2}
HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at"
OPENED, CLOSED = "2026-01-05T14:00:00Z", "2026-01-05T15:00:00Z"
FILLS = "Date,Time,Symbol,Side,Quantity,Price\n1/5/2026,14:00:00,MNQH6,BUY,3,100\n"
CLOSING_FILL = "1/5/2026,14:30:00,MNQH6,SELL,3,101\n"


def file_of(*trades: tuple[str, int], is_open: bool = False, fees: str | None = None) -> str:
    """Trades of symbol and quantity that win one point."""
    exit_price, closed = ("", "") if is_open else ("101", CLOSED)
    lines = [f"{symbol},long,{size},100,{exit_price},{OPENED},{closed}" for symbol, size in trades]
    if fees is None:
        return "\n".join([HEADER, *lines])
    return "\n".join([f"{HEADER},fees", *(f"{line},{fees}" for line in lines)])


async def fees_of(client: Client) -> list[float]:
    """The fees of all trades, in the order of their ids."""
    trades = unwrap(await client.get("/trades"))
    return [trade["fees"] for trade in sorted(trades, key=lambda trade: int(trade["id"]))]


async def account_with_fees(client: Client, fees: Any = FEES, name: str = "Sim") -> int:
    return int((await factories.create_account(client, name, fees=fees))["id"])


@for_rows(
    "rates, file, charged, rows, total",
    [
        (FEES, file_of(("MNQH6", 3), ("ESH6", 1)), [2.22, 4], 2, 6.22),
        (FEES, file_of(("MNQH6", 3), is_open=True), [1.11], 1, 1.11),
        (FEES, file_of(("MNQH6", 3), fees="0"), [0], 0, 0),
        ({"MNQ": 0.37}, file_of(("ESH6", 1), ("MNQ", 1)), [0, 0.74], 1, 0.74),
    ],
)
async def test_a_file_that_states_no_costs_pays_the_commissions_of_its_account(
    client: Client, rates: Any, file: str, charged: list[float], rows: int, total: float
) -> None:
    account_id = await account_with_fees(client, rates)
    applied = [{"account_id": account_id, "rows": rows, "total": total}] if rows else []

    dry = await factories.create_import(client, file, account_id=account_id, dry_run=True)
    report = await factories.create_import(client, file, account_id=account_id)

    assert dry["fees_applied"] == report["fees_applied"] == applied
    assert await fees_of(client) == charged


async def test_a_trade_that_a_later_file_closes_pays_the_other_side(client: Client) -> None:
    account_id = await account_with_fees(client)
    await factories.create_import(client, FILLS, account_id=account_id)

    report = await factories.create_import(client, FILLS + CLOSING_FILL, account_id=account_id)

    assert await fees_of(client) == [2.22]
    assert report["rows"][0]["changed"] == ["exit_price", "closed_at", "gross_pnl", "fees"]
    assert report["fees_applied"] == [{"account_id": account_id, "rows": 1, "total": 1.11}]


async def test_the_same_file_after_a_change_of_the_fees_changes_no_trade(client: Client) -> None:
    account_id = await account_with_fees(client)
    await factories.create_import(client, file_of(("MNQH6", 3)), account_id=account_id)
    unwrap(await client.patch(f"/accounts/{account_id}", json={"fees": {"MNQ": 1}}))

    again = await factories.create_import(client, file_of(("MNQH6", 3)), account_id=account_id)

    assert (again["counts"]["duplicate"], again["fees_applied"]) == (1, [])
    assert await fees_of(client) == [2.22]


@for_rows("before, after", [({}, FEES), (FEES, {}), (FEES, {"default": 9})])
async def test_a_later_file_of_the_contract_charges_no_stored_trade_anew(
    client: Client, before: Any, after: Any
) -> None:
    account_id = await account_with_fees(client, before)
    options = {"account_id": account_id, "timezone": "UTC"}
    await factories.create_import(client, FILLS + CLOSING_FILL, **options)
    (trade,) = await factories.list_trades(client)
    stored = await factories.get_trade(client, trade["id"])
    await client.patch(f"/accounts/{account_id}", json={"fees": after})

    later = (FILLS + CLOSING_FILL).replace("1/5/2026", "1/6/2026")
    report = await factories.create_import(client, later, **options)
    assert [row["verdict"] for row in report["rows"]] == ["new"]
    assert await factories.get_trade(client, stored["id"]) == stored
    await client.delete(f"/imports/{report['id']}")

    assert await factories.get_trade(client, stored["id"]) == stored


async def test_a_corrected_price_is_that_of_the_fill_of_a_trade_that_pays_commissions(client: Client) -> None:
    options = {"account_id": await account_with_fees(client), "timezone": "UTC"}
    file = FILLS.replace("Price\n", "Price,Execution ID\n").replace("100\n", "100,1\n") + CLOSING_FILL.strip() + ",2\n"
    await factories.create_import(client, file, **options)
    report = await factories.create_import(client, file.replace("101", "102"), **options)

    (row,) = report["rows"]
    trade = await factories.get_trade(client, row["trade_id"])
    assert [fill["price"] for fill in trade["fills"]] == [trade["entry_price"], trade["exit_price"]] == [100, 102]
    assert trade["fees"] == sum(fill["fees"] for fill in trade["fills"]) == 2.22


async def test_each_account_of_a_file_pays_its_own_commissions(client: Client) -> None:
    one = await account_with_fees(client, {"default": 1}, "One")
    other = await account_with_fees(client, {"default": 2}, "Other")
    lines = file_of(("ESH6", 1), ("ESH6", 1), ("ESH6", 2)).split("\n")
    accounts = ("account", "One", "Other", "Other")
    file = "\n".join(f"{line},{account}" for line, account in zip(lines, accounts, strict=True))

    report = unwrap(await factories.send_file(client, file))

    assert await fees_of(client) == [2, 4, 8]
    assert [(part["account_id"], part["rows"], part["total"]) for part in report["fees_applied"]] == [
        (one, 1, 2),
        (other, 2, 12),
    ]


async def test_a_commission_beyond_the_limit_of_amounts_is_an_error_of_its_row(client: Client) -> None:
    account_id = await account_with_fees(client, {"default": 10_000_000_000})

    refused = await factories.send_file(client, file_of(("ESH6", 1)), account_id)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["reason"].startswith("fees by the account's commissions exceed")


def test_the_command_says_what_it_charged(tmp_path: Path) -> None:
    db, file = tmp_path / "journal.db", tmp_path / "trades.csv"
    file.write_text(file_of(("ESH6", 1)))
    first = import_file(db, file)
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("INSERT INTO account_fees VALUES (1, 'MNQ', 37000000)")
    file.write_text(file_of(("MNQH6", 3)))

    second = import_file(db, file)

    assert first.out == "1 new, 0 already there\n"
    assert second.out == "1 new, 0 already there\nCommissions of account 1: 2.22 for 1 rows\n"
