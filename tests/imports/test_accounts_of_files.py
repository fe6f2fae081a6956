"""The accounts that a file names: docs/imports.md#what-the-file-does-not-say."""

from pathlib import Path
from typing import Any

import pytest
from commands import command, dump, import_file, rows, run_failing
from factories import Client, create_account, create_import, details_of, error_of, list_trades, send_file, unwrap
from saved_journals import for_rows

HEADER = "account,symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,external_id\n"
GRID = "Instrument,Account,Market pos.,Qty,Entry price,Exit price,Entry time,Exit time,Profit\n"


def build_round_trips(*accounts: str) -> str:
    """Round trips, a trade in each of the accounts, the first with the external id T1."""
    lines = [
        f"{account},ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z,T{number}\n"
        for number, account in enumerate(accounts, 1)
    ]
    return HEADER + "".join(lines)


def build_grid(*accounts: str) -> str:
    """NinjaTrader's grid with a trade in each of the accounts."""
    lines = [
        f"ES 03-26,{account},Long,1,100,101,1/6/2026 9:31:12 AM,1/6/2026 9:{40 + number}:03 AM,$50.00\n"
        for number, account in enumerate(accounts)
    ]
    return GRID + "".join(lines)


FILES = [build_round_trips, build_grid]
# What other versions and formats call the column; the last one reads no accounts.
EXECUTIONS = "Date,Time,Symbol,Quantity,Price,Side,{}\n"
EXECUTION = "3/9/2026,09:31:04,AAPL,10,100.5,B,{}\n"
NINJATRADER = "Instrument,Action,Quantity,Price,Time,E/X,{}\n"
NINJATRADER_FILL = "MNQ 03-26,Buy,2,22100.25,3/5/2026 9:31:02 AM,Entry,{}\n"
TOPSTEPX = "Id,ContractName,EnteredAt,ExitedAt,EntryPrice,ExitPrice,Fees,PnL,Size,Type,{}\n"
TOPSTEPX_TRADE = "1,MNQ,01/28/2026 14:30:00,01/28/2026 15:05:00,21450.25,21475.75,1.34,51.00,1,Long,{}\n"
TRADERVUE = (
    "Open Datetime,Close Datetime,Symbol,Side,Volume,Exec Count,Entry Price,Exit Price,Gross P&L,Commissions,Fees,{}\n"
)
TRADERVUE_TRADE = "2026-03-09 09:31:04,2026-03-09 09:41:04,AAPL,L,10,2,100,101,10,0,0,{}\n"


async def list_accounts_of_trades(client: Client) -> list[int]:
    """The account of each trade, in the order of ids."""
    return [trade["account_id"] for trade in await list_trades(client)]


async def new_account(client: Client, name: str) -> int:
    return int((await create_account(client, name))["id"])


@for_rows("file", FILES)
async def test_a_file_goes_into_the_accounts_that_it_names_or_as_one_into_that_of_the_query(
    client: Client, file: Any
) -> None:
    sim, live = await new_account(client, "Sim"), await new_account(client, "Live")

    refused = await send_file(client, file("Sim", "Sim", "Live"), sim)
    into_two = unwrap(await send_file(client, file("Live", "Sim")))
    into_one = await create_import(client, file("Somewhere", "Somewhere"), account_id=sim, dry_run="true")

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["line"] == 4
    assert details_of(refused)["reason"].startswith(
        "account names 'Live', but earlier rows name 'Sim': leave out account_id"
    )
    assert await list_accounts_of_trades(client) == [live, sim]
    assert into_two["account_id"] is None
    assert into_two["accounts"] == [{"name": "Live", "account_id": live}, {"name": "Sim", "account_id": sim}]
    assert into_one["counts"]["error"] == 0
    assert into_one["accounts"] == [{"name": "Somewhere", "account_id": sim}]


async def test_rows_without_a_name_go_where_the_others_go_and_are_errors_if_none_has_one(client: Client) -> None:
    sim = await new_account(client, "Sim")
    refused = await send_file(client, build_round_trips("", ""))

    await create_import(client, build_round_trips("", "Somewhere", ""), account_id=sim)

    assert await list_accounts_of_trades(client) == [sim] * 3
    assert [row["line"] for row in details_of(refused)["rows"]] == [2, 3]
    assert details_of(refused)["reason"].startswith("account is required unless")


async def test_all_accounts_that_the_journal_does_not_have_are_named_at_once(client: Client) -> None:
    sim = await new_account(client, "Sim")
    file = build_round_trips("A", "Sim", "B", "A")

    foretold = unwrap(await send_file(client, file, dry_run="true"))
    refused = await send_file(client, file)

    assert foretold["counts"]["error"] == 3
    assert foretold["accounts"] == [
        {"name": "A", "account_id": None},
        {"name": "Sim", "account_id": sim},
        {"name": "B", "account_id": None},
    ]
    assert details_of(refused)["unknown_accounts"] == ["A", "B"]
    assert "The journal has no account 'A', 'B'" in refused.json()["error"]["message"]
    assert await list_accounts_of_trades(client) == []


async def test_a_build_round_trips_very_many_accounts_is_told_the_first_100(client: Client) -> None:
    refused = await send_file(client, build_round_trips(*(f"A{number}" for number in range(150))))

    assert details_of(refused)["counts"]["error"] == 150
    assert details_of(refused)["unknown_accounts"] == [f"A{number}" for number in range(100)]


@for_rows(
    "names, accounts, expected",
    [
        # Main is 1 and Other: 2 is 2; the account 3 has the name 1.
        (["U1", "U:2", "1"], ["U1:Main", "U:2:2", "unused:Main"], [1, 2, 3]),
        (["U1"], "U1:1", [3]),  # a number is a name before it is an id
        (["A", "B"], ["A:Main", "B:Main"], [1, 1]),
    ],
)
async def test_names_of_the_file_are_mapped_to_accounts_by_name_or_id(
    client: Client, names: list[str], accounts: Any, expected: list[int]
) -> None:
    for name in ("Main", "Other: 2", "1"):
        await create_account(client, name)

    report = unwrap(await send_file(client, build_round_trips(*names), accounts=accounts))
    repeated = build_round_trips(*names[:1] * 2).replace(",T2", ",T3").replace(",T1", ",T3")
    refused = await send_file(client, repeated, accounts=accounts)

    assert await list_accounts_of_trades(client) == expected
    assert [named["account_id"] for named in report["accounts"]] == expected
    assert details_of(refused)["reason"] == "external_id 'T3' is repeated"


@for_rows(
    "accounts, reason",
    [
        ("Main", "must be the name in the file and an account, such as Sim101:Evaluation 50K"),
        ("A:", "must be the name in the file and an account, such as Sim101:Evaluation 50K"),
        ("A" * 101 + ":Main", "must be 1 to 100 characters"),
        (["A:Nobody", "B:99", "C:Main"], "must name your accounts, not 'Nobody', '99'"),
        (["A:Main", " A :Main"], "must have each name of the file once"),
    ],
)
async def test_a_mapping_to_no_account_is_refused(
    client: Client, other_user_client: Client, accounts: Any, reason: str
) -> None:
    main = await new_account(client, "Main")
    await new_account(other_user_client, "Nobody")

    refused = await send_file(client, build_round_trips("A"), accounts=accounts)
    with_account = await send_file(client, build_round_trips("A"), main, accounts="A:Main")

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["fields"] == {"accounts": reason}
    assert details_of(with_account)["fields"] == {"accounts": "must not be sent with account_id"}


def write_file(folder: Path, content: str) -> Path:
    file = folder / "trades.csv"
    file.write_text(content)
    return file


def test_the_command_maps_names_to_accounts_by_name_or_id_and_creates_those_that_are_missing(
    db: Path, tmp_path: Path
) -> None:
    import_file(db, write_file(tmp_path, HEADER), account="Main")
    before, file = dump(db), write_file(tmp_path, build_round_trips("U1", "U2", "U3", "Main", "U4", "Copy"))
    pairs = ("U1=Master", "U2=Copy", "U3=Main", "U4=1")
    mapping = [word for pair in pairs for word in ("--accounts", pair)]

    foretold = command("import", file, *mapping, "--dry-run", "--db", db)
    unchanged = dump(db) == before
    ran = command("import", file, *mapping, "--db", db)

    assert unchanged
    assert "accounts 'Copy', 'Master', 1 have no commissions" in foretold.err
    assert "Account 'Copy': 2 trades" in foretold.out
    for one in (foretold, ran):
        assert one.code == 0
        assert one.err.startswith("New account 'Master'.\nNew account 'Copy'.\n")
    assert rows(db, "SELECT account_id FROM trades ORDER BY id") == [(2,), (3,), (1,), (1,), (1,), (3,)]
    wrong_id = run_failing("import", file, "--accounts", "U1=99", "--db", db)
    assert "must name your accounts, not '99'" in wrong_id


def test_the_command_refuses_several_accounts_for_one_and_names_unknown_ones(db: Path, tmp_path: Path) -> None:
    import_file(db, write_file(tmp_path, HEADER), account="Main")
    before = dump(db)
    file = write_file(tmp_path, build_round_trips("U1", "U2"))

    into_one = run_failing("import", file, "--account", "Main", "--db", db)
    unknown = run_failing("import", file, "--db", db)
    foretold = run_failing("import", file, "--dry-run", "--db", db)

    assert into_one.startswith("journal-api: line 3: account names 'U2', but earlier rows name 'U1'")
    assert "--accounts" in into_one
    assert "The journal has no account 'U1', 'U2': create it" in unknown
    assert foretold == unknown
    assert dump(db) == before


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (NINJATRADER, NINJATRADER_FILL),
        (EXECUTIONS, EXECUTION),
        (TOPSTEPX, TOPSTEPX_TRADE),
        (GRID.replace("Account", "{}"), build_grid("{}").splitlines(keepends=True)[1]),
    ],
    ids=["NinjaTrader executions", "executions", "TopstepX trades", "NinjaTrader trades"],
)
@pytest.mark.parametrize("column", ["Account display name", "Trading account"])
async def test_a_column_that_is_named_like_an_account_is_the_account(
    client: Client, header: str, row: str, column: str
) -> None:
    main = await new_account(client, "Main")
    file = header.format(column) + "".join(row.format(name) for name in ("APEX-1", "APEX-2"))

    refused = await send_file(client, file, main)
    report = await create_import(
        client, file, account_id=None, accounts=[f"APEX-1:{main}", f"APEX-2:{await new_account(client, 'Copy')}"]
    )

    assert details_of(refused)["rows"][0]["reason"].startswith(
        "account names 'APEX-2', but earlier rows name 'APEX-1': leave out account_id"
    )
    assert report["counts"]["new"] == 2
    assert len(set(await list_accounts_of_trades(client))) == 2


async def test_an_amount_of_an_account_is_no_account(client: Client) -> None:
    main = await new_account(client, "Main")
    rows = "".join(EXECUTION.format(balance) for balance in ("50000", "49000"))

    report = await create_import(client, EXECUTIONS.format("Account Balance") + rows, account_id=main)

    assert report["accounts"] == []


async def test_a_second_account_is_an_error_where_a_format_has_no_accounts(client: Client) -> None:
    main = await new_account(client, "Main")
    rows = "".join(TRADERVUE_TRADE.format(name) for name in ("One", "One", "Two"))

    refused = await send_file(client, TRADERVUE.format("Account Tag") + rows, main)

    assert details_of(refused)["reason"] == (
        "Account Tag is 'Two', but earlier rows have 'One': import a file for each account"
    )
