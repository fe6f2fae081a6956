"""Fills that only close, in files that say so, and options that expire or are assigned."""

from typing import Any

from factories import Client, create_import, list_trades
from file_positions import FileTrade
from file_tables import read_rows, read_trades
from saved_journals import for_rows

THINKORSWIM = "Exec Time,Spread,Side,Qty,Pos Effect,Symbol,Exp,Strike,Type,Price,Net Price,Order Type"
OPENS = "6/16/2026 13:45,STOCK,BUY,10,TO OPEN,OBAI,,,STOCK,1.02,1.02,LMT"
CLOSES = "6/16/2026 13:54,STOCK,SELL,-10,TO CLOSE,OBAI,,,STOCK,1.04,1.04,LMT"
CLOSES_MORE = "6/16/2026 13:54,STOCK,SELL,-15,TO CLOSE,OBAI,,,STOCK,1.04,1.04,LMT"
SELLS_SHORT = "6/16/2026 14:00,STOCK,SELL,-5,TO OPEN,OBAI,,,STOCK,1.03,1.03,LMT"
BUYS_BACK = "6/16/2026 14:10,STOCK,BUY,5,TO CLOSE,OBAI,,,STOCK,1.01,1.01,LMT"
ROBINHOOD = (
    '"Activity Date","Process Date","Settle Date","Instrument","Description","Trans Code","Quantity","Price","Amount"'
)
FIDELITY = "Run Date,Action,Symbol,Description,Type,Price ($),Quantity,Commission ($),Fees ($),Amount ($)"
TASTYTRADE = (
    "Date,Type,Sub Type,Action,Symbol,Instrument Type,Description,Value,Quantity,Average Price,Commissions,"
    "Fees,Multiplier,Root Symbol,Underlying Symbol,Expiration Date,Strike Price,Call or Put,Order #,Currency"
)


def thinkorswim(*rows: str) -> str:
    return "\n".join((THINKORSWIM, *rows)) + "\n"


async def results(client: Client) -> list[Any]:
    return [(one["direction"], one["quantity"], one["gross_pnl"]) for one in await list_trades(client)]


CLOSED_BESIDE = CLOSES.replace("13:54", "14:05")
LONG, SHORT = ("long", 10, 0.2), ("short", 5, 0.1)
CLOSINGS: dict[str, tuple[tuple[str, ...], list[Any], int]] = {
    # rows, what is stored, how many fills have no position
    "flat": ((CLOSES,), [], 1),
    "before a position": ((CLOSES, SELLS_SHORT, BUYS_BACK), [SHORT], 1),
    "of the position": ((OPENS, CLOSES), [LONG], 0),
    "more than the position": ((OPENS, CLOSES_MORE), [LONG], 1),
    "more than the position, newest first": ((CLOSES_MORE, OPENS), [LONG], 1),
    "beside a short position": ((SELLS_SHORT, CLOSED_BESIDE, BUYS_BACK), [SHORT], 1),
}


@for_rows("rows, stored, unmatched", CLOSINGS.values())
async def test_a_fill_that_only_closes_opens_nothing(
    client: Client, account_id: int, rows: tuple[str, ...], stored: list[Any], unmatched: int
) -> None:
    for is_again in (False, True):
        report = await create_import(client, thinkorswim(*rows), account_id=account_id)

        assert report["counts"]["new"] == (0 if is_again else len(stored))
        assert report["counts"].get("unmatched", 0) == unmatched
        reasons = [one["reason"] for one in report["rows"] if one["verdict"] == "unmatched"]
        assert all("neither the file nor the journal has the position" in reason for reason in reasons)
        assert sorted(await results(client)) == stored


@for_rows("held_first", [True, False])
async def test_shares_that_were_held_before_are_not_sold_short_in_an_account_that_is_long_only(
    client: Client, account_id: int, held_first: bool
) -> None:
    header = "Date,Time,Symbol,Side,Quantity,Price\n"
    held = f"{header}2026-01-05,10:00:00,QLTX,Buy,60,9\n"
    file = (
        f"{header}2026-03-02,10:00:00,QLTX,Sell,50,12\n2026-03-03,10:00:00,QLTX,Buy,20,10\n"
        "2026-03-04,10:00:00,QLTX,Sell,30,11\n2026-03-05,10:00:00,ESM6,Sell,1,7000\n"
    )
    if held_first:
        await create_import(client, held, account_id=account_id)
    told = await create_import(client, file, account_id=account_id, dry_run="true")
    chosen = await create_import(client, file, account_id=account_id, long_only="true")
    again = await create_import(client, file, account_id=account_id)
    if not held_first:
        assert sorted(await results(client)) == [("long", 20, 20), ("short", 1, None)]
        await create_import(client, held, account_id=account_id)

    assert ["(long_only): QLTX" in one for one in told["warnings"]] == [True]
    assert (chosen["warnings"], chosen["counts"].get("unmatched", 0)) == ([], 0 if held_first else 2)
    assert again["counts"]["updated"] == 0
    assert sorted(await results(client)) == [("long", 60, 190), ("short", 1, None)]


async def test_a_corrected_purchase_of_a_fill_that_was_held_before_opens(client: Client, account_id: int) -> None:
    fill = "Date,Time,Symbol,Side,Quantity,Price,Fill ID,Multiplier\n2026-03-02,10:00:00,QLTX,{},50,12,1,1\n"

    sold = await create_import(client, fill.format("Sell"), account_id=account_id, long_only="true")
    await create_import(client, fill.format("Buy"), account_id=account_id)

    assert sold["counts"]["unmatched"] == 1
    assert await results(client) == [("long", 50, None)]


@for_rows("opens_first", [True, False])
async def test_the_closing_of_a_later_file_completes_a_stored_position(
    client: Client, account_id: int, opens_first: bool
) -> None:
    opening, closing = thinkorswim(OPENS), thinkorswim(CLOSES, SELLS_SHORT, BUYS_BACK)

    files = [opening, closing] if opens_first else [closing, opening]
    reports = [await create_import(client, file, account_id=account_id) for file in (*files, closing, opening)]

    assert sorted(await results(client)) == [LONG, SHORT]
    assert [row["line"] for row in reports[-2]["rows"]] == [2, 3]
    assert reports[0]["open_at_end"] == (1 if opens_first else 0)
    counts = [[one["counts"].get(name, 0) for one in reports] for name in ("new", "updated", "unmatched")]
    assert counts == [[1, 1, 0, 0], [0, int(opens_first), 0, 0], [int(not opens_first), 0, 0, 0]]


@for_rows(
    "file, trades",
    [
        (
            f"{ROBINHOOD}\n"
            '"7/28/2023","","","SOFI","Option Expiration for SOFI 7/28/2023 Call $10.00","OEXP","4","",""\n'
            '"7/27/2023","","","LULU","Option Expiration for LULU 7/27/2023 Put $310.00","OEXP","2S","",""\n'
            '"7/26/2023","","","SOFI","SOFI 7/28/2023 Call $10.00","STO","4","$0.26","$104.00"\n'
            '"7/26/2023","","","LULU","LULU 7/27/2023 Put $310.00","BTO","2","$1.50","($300.00)"\n',
            [("LULU230727P00310000", "long", "2", "-300"), ("SOFI230728C00010000", "short", "4", "104")],
        ),
        (
            f"{FIDELITY}\n"
            "05-15-2026,ASSIGNED as of 05-15-2026 PUT (NVDA), -NVDA260515P195,PUT,Cash,,1,,,0\n"
            "05-15-2026,YOU BOUGHT ASSIGNED PUTS (NVDA),NVDA,NVIDIA,Cash,195,100,,,-19500\n"
            "05-11-2026,YOU SOLD OPENING TRANSACTION PUT, -NVDA260515P195,PUT,Cash,2.5,-1,0.65,,249.35\n",
            [("NVDA", "long", "100", None), ("NVDA260515P00195000", "short", "1", "250")],
        ),
        (
            f"{TASTYTRADE}\n"
            "2022-09-23T21:00:00+0000,Receive Deliver,Expiration,,PLTR  220923P00008000,Equity Option,"
            "Removal,0.00,10,--,--,0.00,100,PLTR,PLTR,9/23/22,8,PUT,,USD\n"
            "2022-09-01T15:30:00+0000,Trade,Sell to Open,SELL_TO_OPEN,PLTR  220923P00008000,Equity Option,"
            "Sold,720,10,72.0,-1.00,1.00,100,PLTR,PLTR,9/23/22,8,PUT,123456,USD\n",
            [("PLTR220923P00008000", "short", "10", "720")],
        ),
    ],
)
def test_an_option_that_expires_or_is_assigned_is_closed_at_0(file: str, trades: list[Any]) -> None:
    read = read_trades(file)

    names = ("symbol", "direction", "quantity", "gross_pnl")
    assert sorted(tuple(one[name] for name in names) for one in read) == trades


@for_rows("trans_code", ["STO", "BTO"])
async def test_an_expiration_in_a_later_file_closes_either_side(
    client: Client, account_id: int, trans_code: str
) -> None:
    call = "SOFI 7/28/2023 Call $10.00"
    opening = f'{ROBINHOOD}\n"7/26/2023","","","SOFI","{call}","{trans_code}","4","$0.26",""\n'
    expires = f'{ROBINHOOD}\n"7/28/2023","","","SOFI","Option Expiration for {call}","OEXP","4","",""\n'

    for file in (opening, expires, expires):
        report = await create_import(client, file, account_id=account_id)

    assert report["counts"] == {"new": 0, "duplicate": 1, "updated": 0, "error": 0}
    is_short = trans_code == "STO"
    assert await results(client) == [("short" if is_short else "long", 4, 104 if is_short else -104)]


@for_rows("symbols", [("MNQZ6", "mnqz6"), ("MNQ 12-26", "MNQZ26"), ("MNQ DEC26", "/MNQZ6")])
def test_the_spellings_of_a_future_in_one_file_are_one_contract(symbols: tuple[str, str]) -> None:
    bought, sold = symbols
    file = (
        "Date,Time,Symbol,Quantity,Price,Side\n"
        f"2026-10-12,09:31:00,{bought},1,100,Buy\n2026-10-12,09:32:00,{sold},1,101,Sell\n"
    )

    (trade,) = read_trades(file)

    assert (trade["contract"], trade["gross_pnl"]) == ("MNQZ26", "2")


NINJATRADER = (
    "Instrument,Action,Quantity,Price,Time,E/X,Position,Account\n"
    "MNQ 12-26,Sell,6,29441.25,9/15/2026 9:39:00 AM,{},{},Sim101\n"
)
STATEMENT = (
    "Trades,Header,DataDiscriminator,Asset Category,Currency,Symbol,Date/Time,Quantity,T. Price,C. Price,"
    "Proceeds,Comm/Fee,Basis,Realized P/L,MTM P/L,Code\n"
    'Trades,Data,Order,Stocks,USD,QLTX,"2026-03-15, 14:00:00",-20,50,49.9,1000,-1,-330,670,2,{}\n'
)
TOPSTEPX = (
    "Id,AccountName,ContractName,Status,Size,Side,FilledAt,ExecutePrice,PositionDisposition\n"
    "71,DEMO-50K,MESH6,Filled,2,Ask,02/19/2026 08:45:21 -06:00,6130.25,{}\n"
)
FLEX = (
    '<FlexQueryResponse><FlexStatement accountId="U1"><Trades><Trade symbol="QLTX" multiplier="1" '
    'dateTime="20260302;093105" quantity="-60" tradePrice="40" ibCommission="-0.5" buySell="SELL" '
    'ibExecID="1" levelOfDetail="EXECUTION" openCloseIndicator="{}"/></Trades></FlexStatement>'
    "</FlexQueryResponse>"
)
REDUCING = (
    "DateTime,Symbol,Type,Quantity,Price,OrderID,TradeID,Reduce-only\n"
    "2024-07-29 07:12:59,LDOUSDT,Sell,52,1.562,1,1,{}\n"
)
SIERRA = (
    "ActivityType\tDateTime\tTransDateTime\tSymbol\tQuantity\tBuySell\tOrderStatus\tFillPrice\t"
    "FilledQuantity\tTradeAccount\tOpenClose\tPositionQuantity\tFillExecutionServiceID\n"
    "Fills\t2026-03-11 09:42:10\t2026-03-11 09:42:10\tMESM26.CME\t"
    "2\tSell\tFilled\t6143.25\t2\tSim1\t{}\t{}\t7\n"
)


@for_rows(
    "file, only_closes",
    [
        (NINJATRADER.format("Exit", "-"), True),
        (NINJATRADER.format("Exit", "3 L"), True),
        (NINJATRADER.format("Exit", "2 S"), False),
        (NINJATRADER.format("Entry", "6 S"), False),
        (STATEMENT.format("C"), True),
        (STATEMENT.format("A;C;P"), True),
        (STATEMENT.format("C;O"), False),
        (STATEMENT.format("O"), False),
        (TOPSTEPX.format("Closing"), True),
        (TOPSTEPX.format("Opening"), False),
        (FLEX.format("C"), True),
        (FLEX.format("O"), False),
        (SIERRA.format("Close", "0"), True),
        (SIERRA.format("Open", "-2"), False),
        (REDUCING.format("Y"), True),
        (REDUCING.format("N"), False),
    ],
)
def test_a_sale_while_flat_is_a_short_position_unless_the_file_says_that_it_closes(
    file: str, only_closes: bool
) -> None:
    (row,) = read_rows(file.encode(), "America/New_York")

    assert isinstance(row, FileTrade)
    assert row.is_unmatched is only_closes


@for_rows(
    "positions, warnings",
    [
        (("2 L", "-"), 0),
        (("-", "-"), 0),  # of an account whose position the platform does not follow
        (("2 L", "1 L"), 1),
        (("5 L", "3 L"), 1),
    ],
)
async def test_a_position_that_is_not_the_sum_of_its_fills_is_told(
    client: Client, account_id: int, positions: tuple[str, str], warnings: int
) -> None:
    rows = (
        f"MNQ 12-26,Buy,2,29441.25,9/15/2026 9:30:00 AM,Entry,{positions[0]},Sim101\n"
        f"MNQ 12-26,Sell,2,29445.25,9/15/2026 9:35:00 AM,Exit,{positions[1]},Sim101\n"
    )

    report = await create_import(client, NINJATRADER.splitlines()[0] + "\n" + rows, account_id=account_id)

    assert report["counts"]["new"] == 1
    told = [text for text in report["warnings"] if "is not the sum of its fills" in text]
    assert len(told) == len(report["warnings"]) == warnings
