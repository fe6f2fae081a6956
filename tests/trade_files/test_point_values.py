"""Multipliers of imported trades: docs/imports.md#point-values."""

import factories
from factories import Client, details_of, error_of, unwrap
from file_tables import read_errors, read_trades
from saved_journals import for_rows

from journal_api.values.instruments import InstrumentTable
from journal_api.values.money import PositiveMoney

HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,stop_loss"
TIMES = "2026-01-05T14:00:00Z,2026-01-05T15:00:00Z"
PAIRS = "Contract,Pair ID,Buy Fill ID,Sell Fill ID,Paired Qty,Buy Price,Sell Price,P/L,Bought Timestamp,Sold Timestamp"
FILLS = "Date,Time,Symbol,Side,Quantity,Price"
GRID = "Instrument,Market pos.,Qty,Entry price,Exit price,Entry time,Exit time,Profit"


def round_trips(*symbols: str) -> str:
    """Longs of one from 100 to 110 with a stop at 98."""
    return "\n".join([HEADER, *(f"{symbol},long,1,100,110,{TIMES},98" for symbol in symbols)])


def executions(symbol: str, quantity: int, bought: str, sold: str) -> str:
    lines = [f"4/6/26,09:15:49,{symbol},BUY,{quantity},{bought}", f"4/6/26,09:16:12,{symbol},SELL,{quantity},{sold}"]
    return "\n".join([FILLS, *lines])


def pairs(*rows: tuple[str, str, str, str]) -> str:
    """Pairs of fills of Tradovate: contract, price bought, price sold, P/L."""
    lines = [
        f"{contract},{number},{number}0,{number}1,1,{bought},{sold},{result},"
        f"04/09/2026 10:00:{number:02},04/09/2026 10:01:{number:02}"
        for number, (contract, bought, sold, result) in enumerate(rows, 1)
    ]
    return "\n".join([PAIRS, *lines])


CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    # multiplier and gross P&L of each trade
    "ten points of ES": (round_trips("ESU6"), [("50", "500")]),
    "fills of a future": (executions("/NQM26", 1, "24363.00", "24369.25"), [("20", "125")]),
    "fills of an option": (executions("SPY240422P00496000", 8, "1.03", "0.870"), [("100", "-128")]),
    "fills with the expiration of a future": (
        f"{FILLS},Expiration\n4/6/26,09:15:49,NQ,BUY,1,24363,2026-06-19\n"
        "4/6/26,09:16:12,NQ,SELL,1,24369.25,2026-06-19\n",
        [("20", "125")],
    ),
    # Three at 100, 100 and 101, sold at 102: 2 + 2 + 1 points of 50, though the average is 100.33333333.
    "averages of fills": (
        f"{FILLS}\n4/6/26,09:15,ESU6,BUY,2,100\n4/6/26,09:16,ESU6,BUY,1,101\n4/6/26,09:17,ESU6,SELL,3,102\n",
        [("50", "250")],
    ),
    "a stated multiplier or result": (
        f"{HEADER},multiplier,gross_pnl\nESU6,long,1,100,110,{TIMES},98,1,\nESU6,long,1,100,110,{TIMES},98,,490\n",
        [("1", "10"), ("50", "490")],
    ),
    "a scratched trade of a known contract": (pairs(("MNQM6", "25000", "25000", "0.00")), [("2", "0")]),
    "a scratched trade of a grid": (
        f"{GRID}\nMNQ SEP26,Long,1,30220,30220,2026-07-02 09:12:00,2026-07-02 09:13:00,$0.00\n",
        [("2", "0")],
    ),
    "a scratched trade has the multiplier of other rows of its contract": (
        pairs(("XYZU6", "50", "50", "0.00"), ("XYZU6", "50", "51", "7.00"), ("ABCDU6", "50", "50", "0.00")),
        [("7", "0"), ("7", "7"), ("1", "0")],
    ),
    # A tick of ZT is 7.8125, which the file rounds.
    "a result in cents": (pairs(("ZTU6", "104.00000000", "104.00390625", "7.81")), [("2000", "7.81")]),
    "a result half a cent beyond": (pairs(("ESU6", "100", "100.5", "25.005")), [("50", "25.005")]),
    "a result over half a cent beyond": (pairs(("ESU6", "100", "100.5", "25.006")), [("50.012", "25.006")]),
    "a result that no point value explains": (pairs(("ESU6", "6000", "6010", "490.00")), [("49", "490")]),
}


@for_rows("file, expected", CASES.values())
def test_the_multiplier_of_a_trade(file: str, expected: list[tuple[str, str]]) -> None:
    trades = read_trades(file, one_trade_is=lambda file_format: "row")

    assert [(trade["multiplier"], trade["gross_pnl"]) for trade in trades] == expected


def test_the_owners_point_value_takes_precedence_and_the_risk_of_a_stop_follows_from_it() -> None:
    trades = read_trades(round_trips("ESU6", "ES"), instruments=InstrumentTable({"ES": PositiveMoney(49)}))

    assert [(trade["gross_pnl"], trade["initial_risk"]) for trade in trades] == [("490", "98")] * 2


def test_an_open_future_without_a_point_value_is_an_error() -> None:
    open_trade = f"{HEADER}\nXYZU6,long,1,100,,2026-01-05T14:00:00Z,,"

    assert read_errors(open_trade)[0].startswith("line 2: multiplier is required, because XYZU6 looks like")


async def shown(client: Client) -> list[tuple[float, float]]:
    return [(trade["multiplier"], trade["gross_pnl"]) for trade in await factories.list_trades(client)]


async def test_a_future_without_a_point_value_is_an_error_until_the_owner_sets_it(
    client: Client, account_id: int
) -> None:
    refused = await factories.send_file(client, round_trips("ESU6", "XYZU6"), account_id)
    await factories.create_instrument(client, "XYZ", 4)
    report = await factories.create_import(client, round_trips("ESU6", "XYZU6"), account_id=account_id)

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["line"] == 3
    assert report["counts"]["new"] == 2
    assert await shown(client) == [(50, 500), (4, 40)]


FILLS_OF_ES = f"{FILLS},Exec ID\n4/6/26,09:15:49,ESU6,BUY,1,100,E-1\n4/6/26,09:16:12,ESU6,SELL,1,110,E-2\n"
PAIRS_OF_ES = pairs(("ESU6", "6000", "6010", "500.00"), ("ESU6", "6000", "6000", "0.00"))
AS_DOLLARS = round_trips("ESU6").replace("stop_loss", "stop_loss,multiplier").replace(",98", ",98,1")
LATER: dict[str, tuple[str, str, list[str], list[tuple[float, float]]]] = {
    # A file, a later one, the verdicts and what they change, and multiplier and gross P&L then.
    "the same round trips": (round_trips("ESU6", "ES"), "", ["duplicate"] * 2, [(50, 500), (1, 10)]),
    "the same pairs": (PAIRS_OF_ES, "", ["duplicate"], [(50, 500)]),
    "a corrected price": (
        *(FILLS_OF_ES, FILLS_OF_ES.replace("110", "111"), ["updated exit_price gross_pnl fills"]),
        [(50, 550)],
    ),
    # Earlier versions stored multiplier 1 and 10 dollars, and the checksums of both.
    "points as dollars": (AS_DOLLARS, round_trips("ESU6"), ["duplicate"], [(1, 10)]),
}


@for_rows("first, second, verdicts, trades", LATER.values())
async def test_another_point_value_leaves_the_multiplier_of_a_stored_trade(
    client: Client,
    account_id: int,
    first: str,
    second: str,
    verdicts: list[str],
    trades: list[tuple[float, float]],
) -> None:
    await factories.create_import(client, first, account_id=account_id)
    await factories.create_instrument(client, "ES", 7)

    later = await factories.create_import(client, second or first, account_id=account_id)

    assert [" ".join([row["verdict"], *row["changed"]]) for row in later["rows"]] == verdicts
    assert await shown(client) == trades
    exported = (await client.get("/trades/export")).text
    unwrap(await factories.send_file(client, exported, (await factories.create_account(client, "Other"))["id"]))
    assert await shown(client) == trades * 2
