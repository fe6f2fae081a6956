"""The accounts that a file names: docs/imports.md, "Account"."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import dump, import_file, rows, run_failing, run_ok
from factories import create_account, create_import, details_of, error_of, send_file, unwrap

DATA = Path(__file__).parents[1] / "data"
HEADER = "account,symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,external_id\n"
GRID = "Instrument,Account,Market pos.,Qty,Entry price,Exit price,Entry time,Exit time,Profit\n"
PAIRS = (
    "Account,Contract,Pair ID,Buy Fill ID,Sell Fill ID,Paired Qty,Buy Price,Sell Price,P/L,"
    "Bought Timestamp,Sold Timestamp\n"
)


def file_of(*accounts: str) -> str:
    """Round trips, a trade in each of the accounts, the first with the external id T1."""
    lines = [
        f"{account},ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z,T{number}\n"
        for number, account in enumerate(accounts, 1)
    ]
    return HEADER + "".join(lines)


def grid_of(*accounts: str) -> str:
    """NinjaTrader's grid with a trade in each of the accounts."""
    lines = [
        f"ES 03-26,{account},Long,1,100,101,1/6/2026 9:31:12 AM,1/6/2026 9:{40 + number}:03 AM,$50.00\n"
        for number, account in enumerate(accounts)
    ]
    return GRID + "".join(lines)


def pairs_of(*accounts: str) -> str:
    """Tradovate's pairs of fills, one in each of the accounts."""
    lines = [
        f"{account},MNQM6,{number},{number}1,{number}2,1,100,101,2.00,"
        "04/09/2026 15:38:40,04/09/2026 15:40:03\n"
        for number, account in enumerate(accounts, 1)
    ]
    return PAIRS + "".join(lines)


def zella_of(*accounts: str) -> str:
    """TradeZella's first documented trade, once in each of the accounts."""
    header, first, *_ = (DATA / "tradezella_trades.csv").read_text().splitlines(keepends=True)
    _, comma, rest = first.partition(",")
    return header + "".join(account + comma + rest for account in accounts)


FILES = [file_of, grid_of, pairs_of, zella_of]


async def accounts_with_trades(client: httpx.AsyncClient) -> list[Any]:
    """The account of each trade, in the order of ids."""
    trades = unwrap(await client.get("/trades"))
    return [trade["account_id"] for trade in sorted(trades, key=lambda trade: trade["id"])]


async def account_of(client: httpx.AsyncClient, name: str) -> int:
    return int((await create_account(client, name))["id"])


@pytest.mark.parametrize("file", FILES)
async def test_trades_go_into_the_accounts_that_the_file_names(client: httpx.AsyncClient, file: Any) -> None:
    sim, live = await account_of(client, "Sim"), await account_of(client, "Live")

    report = unwrap(await send_file(client, file("Live", "Sim")))

    assert await accounts_with_trades(client) == [live, sim]
    assert report["account_id"] is None
    assert report["accounts"] == [
        {"name": "Live", "account_id": live},
        {"name": "Sim", "account_id": sim},
    ]


@pytest.mark.parametrize("file", FILES)
async def test_a_file_of_several_accounts_does_not_go_into_one(client: httpx.AsyncClient, file: Any) -> None:
    sim = await account_of(client, "Sim")

    refused = await send_file(client, file("Sim", "Sim", "Live"), sim)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["line"] == 4
    assert details_of(refused)["reason"].startswith(
        "account names 'Live', but earlier rows name 'Sim': leave out account_id"
    )
    assert await accounts_with_trades(client) == []


@pytest.mark.parametrize("file", FILES)
async def test_a_file_of_one_account_goes_into_the_account_of_the_query(
    client: httpx.AsyncClient, file: Any
) -> None:
    sim = await account_of(client, "Sim")

    report = await create_import(client, file("Somewhere", "Somewhere"), account_id=sim)

    assert await accounts_with_trades(client) == [sim, sim]
    assert report["accounts"] == [{"name": "Somewhere", "account_id": sim}]


async def test_rows_without_a_name_go_where_the_others_go(client: httpx.AsyncClient) -> None:
    sim = await account_of(client, "Sim")

    await create_import(client, file_of("", "Somewhere", ""), account_id=sim)

    assert await accounts_with_trades(client) == [sim] * 3


async def test_rows_without_an_account_are_errors_of_their_lines(client: httpx.AsyncClient) -> None:
    refused = await send_file(client, file_of("", ""))

    assert [row["line"] for row in details_of(refused)["rows"]] == [2, 3]
    assert details_of(refused)["reason"].startswith("account is required unless")


async def test_all_accounts_that_the_journal_does_not_have_are_named_at_once(
    client: httpx.AsyncClient,
) -> None:
    sim = await account_of(client, "Sim")
    file = file_of("A", "Sim", "B", "A")

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
    assert await accounts_with_trades(client) == []


async def test_a_file_of_very_many_accounts_is_told_the_first_100(client: httpx.AsyncClient) -> None:
    refused = await send_file(client, file_of(*(f"A{number}" for number in range(150))))

    assert details_of(refused)["counts"]["error"] == 150
    assert details_of(refused)["unknown_accounts"] == [f"A{number}" for number in range(100)]


# accounts= -----------------------------------------------------------------------------------------------


async def test_names_of_the_file_are_mapped_to_accounts_by_name_or_id(client: httpx.AsyncClient) -> None:
    main, other = await account_of(client, "Main"), await account_of(client, "Other: 2")
    sim = await account_of(client, "Sim")

    report = unwrap(
        await send_file(
            client, file_of("U1", "U:2", "Sim"), accounts=["U1:Main", f"U:2:{other}", "unused:Main"]
        )
    )

    assert await accounts_with_trades(client) == [main, other, sim]
    assert [named["account_id"] for named in report["accounts"]] == [main, other, sim]


async def test_a_number_is_a_name_before_it_is_an_id(client: httpx.AsyncClient) -> None:
    first = await account_of(client, "First")
    numbered = await account_of(client, str(first))

    await send_file(client, file_of("U1"), accounts=f"U1:{first}")

    assert await accounts_with_trades(client) == [numbered]


async def test_several_names_may_be_mapped_to_one_account(client: httpx.AsyncClient) -> None:
    main = await account_of(client, "Main")
    same = file_of("A", "B").replace(",T2", ",T1")

    await send_file(client, file_of("A", "B"), accounts=["A:Main", "B:Main"])
    repeated = await send_file(client, same, accounts=["A:Main", "B:Main"])

    assert await accounts_with_trades(client) == [main, main]
    assert details_of(repeated)["reason"] == "external_id 'T1' is repeated"


@pytest.mark.parametrize(
    ("accounts", "reason"),
    [
        ("Main", "must be the name in the file and an account, such as Sim101:Evaluation 50K"),
        (":Main", "must be the name in the file and an account, such as Sim101:Evaluation 50K"),
        ("A:", "must be the name in the file and an account, such as Sim101:Evaluation 50K"),
        ("A\0:Main", "must not contain control characters"),
        ("A" * 101 + ":Main", "must be 1 to 100 characters"),
        (["A:Nobody", "B:99", "C:Main"], "must name your accounts, not 'Nobody', '99'"),
        (["A:Main", " A :Main"], "must have each name of the file once"),
    ],
)
async def test_a_mapping_to_no_account_is_refused(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient, accounts: Any, reason: str
) -> None:
    await account_of(client, "Main")
    await account_of(other_user_client, "Nobody")

    refused = await send_file(client, file_of("A"), accounts=accounts)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["fields"] == {"accounts": reason}


async def test_a_mapping_and_an_account_of_the_whole_file_exclude_each_other(
    client: httpx.AsyncClient,
) -> None:
    main = await account_of(client, "Main")

    refused = await send_file(client, file_of("A"), main, accounts="A:Main")

    assert details_of(refused)["fields"] == {"accounts": "must not be sent with account_id"}


# The command ---------------------------------------------------------------------------------------------


def file_at(folder: Path, content: str) -> Path:
    file = folder / "trades.csv"
    file.write_text(content)
    return file


def trades_by_account(db: Path) -> list[Any]:
    return rows(
        db,
        """
        SELECT name, count(*)
        FROM trades
        JOIN accounts ON accounts.id = account_id
        GROUP BY name
        ORDER BY name
        """,
    )


def test_the_command_maps_names_of_the_file_too(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    for name in ("Main", "Sim"):
        import_file(db, file_at(tmp_path, HEADER), account=name)
    file = file_at(tmp_path, file_of("U1", "Sim", "U2"))

    out = run_ok("import", file, "--accounts", "U1=Main", "--accounts", "U2=2", "--db", db)

    assert out == "3 new, 0 already there\n"
    assert trades_by_account(db) == [("Main", 1), ("Sim", 2)]


def test_the_command_refuses_several_accounts_for_one_and_names_unknown_ones(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    import_file(db, file_at(tmp_path, HEADER), account="Main")
    before = dump(db)
    file = file_at(tmp_path, file_of("U1", "U2"))

    into_one = run_failing("import", file, "--account", "Main", "--db", db)
    unknown = run_failing("import", file, "--db", db)
    foretold = run_failing("import", file, "--dry-run", "--db", db)

    assert into_one.startswith("journal-api: line 3: account names 'U2', but earlier rows name 'U1'")
    assert "--accounts" in into_one
    assert "The journal has no account 'U1', 'U2': create it" in unknown
    assert foretold == unknown
    assert dump(db) == before
