"""Profiles of an owner, and the profile that a dry run proposes: docs/formats.md#profiles."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import make_journal, run_failing
from factories import A_PROFILE, Client, create_import, create_import_profile, details_of, error_of, send_file, unwrap
from file_tables import read_errors, read_trade
from saved_journals import for_rows

from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.values.types import decode_value

FILE = """\
Ticker,Way,Size,In,Out,From,To
QLTX,UP,10,40.10,40.60,02.03.2026 09:31,02.03.2026 10:15
QLTX,down,20,41.00,40.50,03.03.2026 09:31,03.03.2026 09:40
"""
A_FILLS_TOML = """\
name = "Fills"
kind = "fills"
header = ["Done"]
symbol = "What"
quantity = "Signed"
price = "Fill"
at = "Done"
"""
FILLS = {
    "name": "Fills",
    "kind": "fills",
    "header": ["Done", "What"],
    "symbol": "What",
    "quantity": "Signed",
    "price": ["Fill", "At"],
    "at": "Done",
    "clock": "Clock",
    "costs": {"columns": ["Booked"], "paid": "negative"},
    "where": {"State": ["DONE*", "Part"]},
    "time": ["%d %b %Y %H:%M:%S"],
    "zone": "Europe/Berlin",
}
FILL_FILE = """\
Done,Clock,What,Signed,At,Booked,State
2 Mar 2026,09:31:00,QLTX,10,40.00,-0.50,Done
2 Mar 2026,09:32:00,QLTX,5,40.30,-0.25,Rejected
2 Mar 2026,09:33:00,QLTX,0.000000004,40.00,-0.10,Part
2 Mar 2026,09:41:00,QLTX,-10,41.00,-0.50,done (2)
"""


async def test_a_file_is_read_by_the_owners_profile(client: Client) -> None:
    await create_import_profile(client)

    report = await create_import(client, FILE)

    assert report["format"] == "Ticker list"
    trades = unwrap(await client.get("/trades"))
    assert [(trade["direction"], trade["gross_pnl"], trade["opened_at"]) for trade in trades] == [
        ("short", 10, "2026-03-03T09:31:00.000000Z"),
        ("long", 5, "2026-03-02T09:31:00.000000Z"),
    ]


async def test_fills_are_read_by_a_profile_with_conditions_costs_and_a_zone(client: Client) -> None:
    assert (await client.post("/import-profiles", json=FILLS)).status_code == 201

    report = await create_import(client, FILL_FILE, timezone="America/New_York")

    assert report["left_out"] == [
        {"reason": "State is not DONE* or Part", "rows": 1},
        {"reason": "Signed is 0", "rows": 1},
    ]
    (trade,) = unwrap(await client.get("/trades"))
    assert (trade["direction"], trade["quantity"], trade["gross_pnl"], trade["fees"]) == ("long", 10, 10, 1)
    assert (trade["opened_at"], trade["closed_at"]) == ("2026-03-02T08:31:00.000000Z", "2026-03-02T08:41:00.000000Z")


async def test_a_profile_without_formats_of_times_reads_dates_in_the_order_of_the_file(client: Client) -> None:
    await create_import_profile(client, time=[])
    file = FILE.replace("02.03.", "13/3/").replace("03.03.", "2/3/")

    report = await create_import(client, file)

    assert report["date_order"] == {"order": "day", "source": "file"}
    trades = unwrap(await client.get("/trades"))
    assert sorted(trade["opened_at"][:10] for trade in trades) == ["2026-03-02", "2026-03-13"]


async def test_a_profile_states_for_all_rows_what_a_file_lacks(client: Client, account_id: int) -> None:
    file = "Way,In,Out,From,To\nUp,40,41,2026-03-02 09:31,2026-03-02 10:15\n"
    proposed = unwrap(await send_file(client, file, account_id, dry_run="true"))
    await create_import_profile(client, header=["Way"], symbol="=MNQH26", quantity="=2", time=[])

    await create_import(client, file)

    assert proposed["columns"] == ["Way", "In", "Out", "From", "To"]
    (trade,) = unwrap(await client.get("/trades"))
    assert (trade["symbol"], trade["quantity"], trade["gross_pnl"]) == ("MNQH26", 2, 4)


async def test_an_own_profile_goes_before_the_built_in_formats(client: Client) -> None:
    names = {"symbol": "symbol", "quantity": "quantity", "entry_price": "entry_price", "exit_price": "exit_price"}
    times = {"opened_at": "opened_at", "closed_at": "closed_at", "time": ["%Y-%m-%dT%H:%M:%S%z"]}
    side = {"column": "direction", "long": ["short"], "short": ["long"]}
    await create_import_profile(client, name="Turned", header=["symbol"], side=side, **names, **times)

    report = await create_import(client)

    assert report["format"] == "Turned"
    assert unwrap(await client.get("/trades"))[0]["direction"] == "short"


async def test_a_deleted_profile_reads_no_file(client: Client, account_id: int) -> None:
    profile = await create_import_profile(client)
    assert (await client.delete(f"/import-profiles/{profile['id']}")).status_code == 204

    assert error_of(await send_file(client, FILE, account_id)) == (400, "validation_error")


@for_rows(
    "change, field",
    [
        ({"entry_price": None}, "entry_price"),
        ({"price": "In"}, "price"),
        ({"kind": "fills"}, "price"),
        ({"kind": "stories"}, "kind"),
        ({"gross_pnl": "P", "net_pnl": "N"}, "net_pnl"),
        ({"side": {"column": "Way", "long": ["Up", "open"], "short": ["Down", " OPEN"]}}, "side"),
        ({"side": {"column": "Way", "long": ["B*"], "short": ["*"]}}, "side"),
        ({"side": {"column": "Way", "long": ["Up*"], "short": ["upwards"]}}, "side"),
        ({"time": ["%d.%m.%Y", "%d.%d.%Y"]}, "time[1]"),
        ({"time": ["%Y-%m"]}, "time[0]"),
        ({"time": ["%Y-%m-%d %Q"]}, "time[0]"),
        ({"time": ["%Y-%m-%d" + "x" * 50]}, "time[0]"),
        ({"time": ["%Y-%m-%d"] * 11}, "time"),
        ({"zone": "Mars"}, "zone"),
        ({"header": []}, "header"),
        ({"header": ["x"] * 51}, "header"),
        ({"symbol": ["x"] * 11}, "symbol"),
        ({"symbol": "x" * 256}, "symbol"),
        ({"where": {f"c{number}": "x" for number in range(21)}}, "where"),
        ({"side": {"column": "Way", "long": ["x"] * 51, "short": ["y"]}}, "side.long"),
    ],
)
async def test_a_profile_that_breaks_a_rule_is_refused(client: Client, change: dict[str, Any], field: str) -> None:
    refused = await client.post("/import-profiles", json={**A_PROFILE, **change})

    assert error_of(refused) == (400, "validation_error")
    assert field in details_of(refused)["fields"]


async def test_the_name_of_a_built_in_format_is_taken(client: Client) -> None:
    refused = await client.post("/import-profiles", json={**A_PROFILE, "name": "Webull orders"})

    assert error_of(refused) == (409, "duplicate_name")


async def test_an_owner_has_at_most_a_hundred_profiles(client: Client) -> None:
    for number in range(100):
        await create_import_profile(client, name=f"Profile {number}")

    refused = await client.post("/import-profiles", json={**A_PROFILE, "name": "One more"})

    assert error_of(refused) == (429, "limit_reached")


@pytest.mark.parametrize(
    "document", ["name = ", 'name = "x"', A_FILLS_TOML.replace('"Fill"', "1"), A_FILLS_TOML + 'side = "S"\n']
)
def test_the_command_refuses_what_is_no_profile_and_names_the_file(tmp_path: Path, document: str) -> None:
    make_journal(tmp_path / "journal.db")
    (tmp_path / "trades.csv").write_text(FILE)
    (tmp_path / "list.toml").write_text(document)

    line = run_failing("import", tmp_path / "trades.csv", "--profile", tmp_path / "list.toml",
                   "--db", tmp_path / "journal.db")  # fmt: skip

    assert "list.toml" in line


def decode(profile: dict[str, Any]) -> ImportProfileCreate:
    return msgspec.convert(profile, ImportProfileCreate, dec_hook=decode_value)


@for_rows(
    "column, time_format, cell, opened_at",
    [
        ("At", "%Y-%m-%dT%H:%M:%SZ", "2026-03-02T09:31:00Z", "2026-03-02T09:31:00Z"),
        ("At", "%Y-%m-%d %H:%M:%S UTC+2", "2026-03-02 09:31:00 UTC+2", "2026-03-02T07:31:00Z"),
        ("At", "%Y-%m-%d %H:%M:%S -05:00", "2026-03-02 09:31:00 -05:00", "2026-03-02T14:31:00Z"),
        ("At", "%Y-%m-%d %H:%M:%S EST", "2026-03-02 09:31:00 EST", "2026-03-02T14:31:00Z"),
        ("At", "%Y-%m-%d %H:%M:%S Uhr", "2026-03-02 09:31:00 Uhr", "2026-03-02T00:31:00Z"),
        ("At (EST)", "%Y-%m-%d %H:%M:%S", "2026-03-02 09:31:00", "2026-03-02T14:31:00Z"),
        ("At (UTC-10)", "%Y-%m-%d %H:%M:%S", "2026-03-02 09:31:00", "2026-03-02T19:31:00Z"),
        ("At (UTC+1)", "%Y-%m-%d %H:%M:%S%z", "2026-03-02 09:31:00Z", "2026-03-02T09:31:00Z"),
        ("At (now)", "%Y-%m-%d %H:%M:%S", "2026-03-02 09:31:00", "2026-03-02T00:31:00Z"),
    ],
)
def test_a_time_has_the_zone_at_the_end_of_its_format_or_in_the_name_of_its_column(
    column: str, time_format: str, cell: str, opened_at: str
) -> None:
    plain = {"kind": "fills", "header": ["What"], "symbol": "What", "quantity": "Signed", "price": "Fill"}
    own = decode({**plain, "name": "Fills", "at": "At*", "time": [time_format]})

    trade = read_trade(f"What,Signed,Fill,{column}\nQLTX,1,40,{cell}\n", "Asia/Tokyo", profiles=[own])

    assert trade["opened_at"] == opened_at


TIME = "03/02/2026 09:31:00"
FORMATS = ["%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S %z"]
PAIR = "symbol,qty,buyPrice,sellPrice,pnl,buyFillId,sellFillId,boughtTimestamp,soldTimestamp"
SIDES = {
    side: {"price": f"{name}Price", "at": f"{side}Timestamp", "id": f"{name}FillId"}
    for side, name in (("bought", "buy"), ("sold", "sell"))
}
OF_PAIRS = {"kind": "trades", "header": ["pnl"], **SIDES}
OF_FILLS = {
    "kind": "fills",
    "header": ["fill"],
    "side": {"column": "side", "long": ["buy"], "short": ["sell"]},
    "price": "fill",
    "at": "at",
}


@for_rows(
    "profile, header, rows, error",
    [
        (
            OF_PAIRS,
            PAIR,
            [f"MESH6,1,1,2,5,1,2,{TIME} -0500,{TIME}"],
            "line 2: soldTimestamp must have an offset in both times",
        ),
        (
            OF_FILLS,
            "symbol,qty,side,fill,at",
            [f"MESH6,1,buy,1,{TIME} -0500", f"MESH6,1,sell,2,{TIME}"],
            "line 3: time must have an offset in all rows or in none",
        ),
    ],
)
def test_times_with_an_offset_and_times_without_one_are_not_mixed(
    profile: dict[str, Any], header: str, rows: list[str], error: str
) -> None:
    own = decode({"name": "Own", "symbol": "symbol", "quantity": "qty", "time": FORMATS} | profile)

    assert error in read_errors("\n".join([header, *rows]), profiles=[own])


VALUED = {
    "name": "Valued fills",
    "kind": "fills",
    "header": ["Average Price"],
    "symbol": "Symbol",
    "side": {"column": "Action", "long": ["Buy"], "short": ["Sell"]},
    "quantity": "Quantity",
    "price": "Average Price",
    "at": "Date",
    "costs": {"columns": ["Commission"]},
}
VALUED_FILE = (
    "Date,Action,Symbol,Quantity,Average Price,Commission,Value\n"
    "2026-01-05 10:00:00,Buy,QLTX  260117P00012000,1,{0},0.65,{1}\n"
    "2026-01-06 10:00:00,Sell,QLTX  260117P00012000,1,{0},0.65,{1}\n"
)


@for_rows(
    "price, value, changes, times",
    [
        ("0.05", "5.65", {}, None),  # with the costs
        ("5.00", "15.00", {}, "33.3"),
        ("5.00", "-15.00", {"divide_by": {"Average Price": "Quantity"}}, "33.3"),
        ("0.05", "500", {}, "0.01"),
        ("0.05", "n/a", {}, None),
    ],
)
async def test_a_file_whose_values_are_not_price_times_quantity_is_imported_with_force_only(
    client: Client, account_id: int, price: str, value: str, changes: Any, times: str | None
) -> None:
    await client.post("/import-profiles", json=VALUED | changes)
    file = VALUED_FILE.format(price, value)

    dry = await create_import(client, file, account_id=account_id, dry_run="true")
    response = await send_file(client, file, account_id)
    forced = await create_import(client, file, account_id=account_id, force="true")

    assert dry["failed_check"] is forced["failed_check"] is (times is not None)
    assert dry["counts"]["error"] == (0 if times is None else 1)
    if times is None:
        assert response.status_code == 201
        assert forced["warnings"] == []
    else:
        warning = f"Average Price times Quantity and the value of a point is {times} times Value: check symbol"
        assert details_of(response)["reason"].startswith(warning)
        assert forced["warnings"][0].startswith(warning)
        assert forced["counts"]["new"] == 1


async def test_the_owners_point_value_mends_a_failed_check(client: Client, account_id: int) -> None:
    await client.post("/import-profiles", json=VALUED)
    file = VALUED_FILE.replace("QLTX  260117P00012000", "DAXX").format("100", "300")

    refused = await send_file(client, file, account_id)
    await client.put("/instruments/DAXX", json={"point_value": 3})
    mended = await send_file(client, file, account_id)

    assert (refused.status_code, mended.status_code) == (400, 201)


@for_rows(
    "symbol, value, result, multiplier, gross_pnl",
    [
        ("QLTX  260117P00012000", "5.00", "", 1, 2),  # the price is of the whole contract
        ("QLTX", "10.00", "", 2, 4),
        ("QLTX", "", "200", 100, 200),
        ("QLTX", "", "2", 1, 2),
    ],
)
async def test_the_values_and_the_results_of_fills_show_what_a_point_is_worth(
    client: Client, symbol: str, value: str, result: str, multiplier: int, gross_pnl: int
) -> None:
    await client.post("/import-profiles", json=VALUED | {"costs": None})
    rows = [f"2026-01-05 10:00:00,Buy,{symbol},1,5,{value},", f"2026-01-06 10:00:00,Sell,{symbol},1,7,,{result}"]
    file = "\n".join(["Date,Action,Symbol,Quantity,Average Price,Value,Realized P/L", *rows])

    report = await create_import(client, file)

    (trade,) = unwrap(await client.get("/trades"))
    assert (trade["multiplier"], trade["gross_pnl"]) == (multiplier, gross_pnl)
    column = "Value" if value else "Realized P/L"
    shown = [] if result == "2" else [f"a point of {symbol} is worth {multiplier}, as {column} shows"]
    assert report["warnings"] == shown


async def test_results_that_the_fills_do_not_make_are_told(client: Client) -> None:
    await client.post("/import-profiles", json=VALUED)
    file = VALUED_FILE.replace("Value", "P&L").replace("1,{0}", "1,6", 1).replace("{1}", "0", 1).format("5", "14")

    report = await create_import(client, file)

    assert report["warnings"] == ["P&L of QLTX  260117P00012000 is 14.00, but its fills make -100.00"]


async def test_fills_of_one_side_that_all_have_a_result_may_close_earlier_ones_and_are_told(client: Client) -> None:
    await client.post("/import-profiles", json=VALUED)
    header, _, sale = VALUED_FILE.replace("Value", "P&L").format("5", "14").splitlines()

    report = await create_import(client, f"{header}\n{sale}\n")

    text = "all fills of a symbol have a P&L, as if none opened a position: is each row a whole trade?"
    assert report["warnings"] == [text]


NINJATRADER_DAY_FIRST = (
    "Instrument;Action;Quantity;Price;Time;E/X;Commission;Account display name\n"
    "MES JUN26;Buy;1;7200,75;07/04/2026 6:05:02;Entry;0,62 $;Playback\n"
    "MES JUN26;Sell;1;7204,75;{}/04/2026 6:10:02;Exit;0,62 $;Playback\n"
)


@for_rows("day, order, days", [("27", None, ["2026-04-07", "2026-04-27"]), ("08", "day", ["2026-04-07", "2026-04-08"])])
async def test_executions_of_ninjatrader_have_dates_in_the_order_of_windows(
    client: Client, account_id: int, day: str, order: str | None, days: list[str]
) -> None:
    params = {} if order is None else {"date_order": order}
    file = NINJATRADER_DAY_FIRST.format(day)

    await create_import(client, file, account_id=account_id, **params)

    (trade,) = unwrap(await client.get("/trades"))
    assert [trade["opened_at"][:10], trade["closed_at"][:10]] == days
    assert (trade["gross_pnl"], trade["fees"]) == (20, 1.24)


@for_rows(
    "time, order, day",
    [
        ("%m/%d/%Y", "day", "2026-03-02"),
        ("%m/%d/%Y", "month", "2026-02-03"),
        ("%d/%m/%Y", "month", "2026-02-03"),
        ("%d/%m/%Y", None, "2026-03-02"),
    ],
)
async def test_a_stated_date_order_holds_for_the_times_of_a_profile(
    client: Client, account_id: int, time: str, order: str | None, day: str
) -> None:
    await client.post("/import-profiles", json=VALUED | {"time": [f"{time} %H:%M"]})
    file = "Date,Action,Symbol,Quantity,Average Price,Commission\n02/03/2026 10:00,Buy,QLTX,1,5,0\n"
    params = {} if order is None else {"date_order": order}

    await create_import(client, file, account_id=account_id, **params)

    assert unwrap(await client.get("/trades"))[0]["opened_at"][:10] == day
