"""What a later export of the same broker changes: the same trades in another form, or corrected ones."""

from random import Random
from typing import Any

import factories
from factories import Client, error_of, unwrap
from file_tables import SAMPLES, write_csv, write_file
from plain_rows import FEES, PLAIN
from proofs import examples
from saved_journals import for_rows

PERFORMANCE = (SAMPLES / "tradovate_performance.csv").read_bytes()
POSITION_HISTORY = (SAMPLES / "tradovate_position_history.csv").read_bytes()
FLEX_CSV, FLEX_XML = ((SAMPLES / f"ibkr_flex_{name}").read_bytes() for name in ("trades.csv", "query.xml"))
STATEMENT = (SAMPLES / "ibkr_activity_statement.csv").read_bytes()
REPORT, COPY = ((SAMPLES / f"metatrader5_history.{suffix}").read_bytes() for suffix in ("html", "csv"))


def counts(new: int = 0, duplicate: int = 0, updated: int = 0) -> dict[str, int]:
    return {"new": new, "duplicate": duplicate, "updated": updated, "error": 0}


@for_rows("first, second, trades", [(PERFORMANCE, POSITION_HISTORY, 5), (FLEX_CSV, FLEX_XML, 2), (REPORT, COPY, 5)])
async def test_two_forms_of_a_report_are_the_same_trades(
    client: Client, account_id: int, first: bytes, second: bytes, trades: int
) -> None:
    reports = [await factories.create_import(client, file, account_id=account_id) for file in (first, second)]

    assert [report["counts"] for report in reports] == [counts(new=trades), counts(duplicate=trades)]


async def test_a_position_that_is_still_open_is_left_out_of_the_position_history(client: Client) -> None:
    *lines, last = POSITION_HISTORY.decode().splitlines()
    open_position = ",".join([*last.split(",")[:16], *[""] * 7, "USD", "", ""])

    report = await factories.create_import(client, "\n".join([*lines, open_position]))

    assert report["counts"] == counts(new=4)
    assert report["left_out"] == [{"reason": "Pair ID is empty", "rows": 1}]


async def test_a_file_of_any_media_type_goes_into_the_account_that_it_names(client: Client) -> None:
    account = await factories.create_account(client, "U7654321")
    headers = {"Content-Type": "application/xml"}

    for content in (FLEX_XML, STATEMENT):
        report = unwrap(await client.post("/imports?timezone=America/New_York", content=content, headers=headers))
        assert [part["account_id"] for part in report["accounts"]] == [account["id"]]


OPENED = "Date,Time,Symbol,Quantity,Price,Side\n3/9/2026,09:00:00,NVTA,1,10,Buy\n"
CLOSED = f"{OPENED}3/9/2026,09:01:00,NVTA,1,12,Sell\n"
META, VUE = (PLAIN["MetaTrader 5"], {**PLAIN["Tradervue"], "Symbol": "ESH6", "Exec Count": "3", "Gross P&L": "300"})
IN_PART = {"Volume": "0.10 / 0.50", "Profit": "24.30"}
NO_PROFIT = {"Exit price": "6012.50", "Profit": "($0.96)"}
LATER: dict[str, tuple[bytes | str, dict[str, Any], bytes | str, list[str], dict[str, Any]]] = {
    # the first export, what the trader then writes, the later one, what it changes, the trade then
    "costs": (
        *(write_file(PLAIN["NinjaTrader"], FEES), {}, write_file(PLAIN["NinjaTrader"], {})),
        *(["multiplier", "gross_pnl", "fees"], {"gross_pnl": 32.5, "fees": 3.46, "net_pnl": 29.04}),
    ),
    "no costs": (
        *(write_file(PLAIN["NinjaTrader"], NO_PROFIT), {}),
        *(write_file(PLAIN["NinjaTrader"], {**NO_PROFIT, **FEES}), ["gross_pnl", "fees"]),
        {"multiplier": 5, "net_pnl": -0.96},
    ),
    "closed in part, then whole": (
        *(write_file(META, IN_PART | {"Commission": "-0.70"}), {}, write_file(META, {})),
        *(["quantity", "gross_pnl", "fees"], {"quantity": 0.5}),
    ),
    "closed in part, then at the price of its entry": (
        *(write_file(META, IN_PART), {}, write_file(META, {"Price 2": "1.08412", "Profit": "0.00"})),
        *(["quantity", "exit_price", "gross_pnl"], {"multiplier": 100000}),
    ),
    "a net result": (
        *(write_file(PLAIN["TradeZella"], {}), {}, write_file(PLAIN["TradeZella"], {"Net P&L": "395.5"})),
        *(["fees"], {"fees": 4.5}),
    ),
    "a result beside the trader's multiplier": (
        *(write_file(VUE, {}), {"multiplier": 50}, write_file(VUE, {"Gross P&L": "312.5"})),
        *(["gross_pnl"], {"multiplier": 50, "gross_pnl": 312.5}),
    ),
    "fills that state no fees beside the trader's": (
        *(OPENED, {"fees": 2.5}, CLOSED, ["exit_price", "closed_at", "gross_pnl"]),
        {"gross_pnl": 2, "fees": 2.5, "net_pnl": -0.5},
    ),
    "an older file after the trader has reopened it": (
        *(CLOSED, {"closed_at": None}, OPENED, []),
        {"closed_at": None, "gross_pnl": None},
    ),
}


@for_rows("first, edit, later, changed, expected", LATER.values())
async def test_a_later_export_corrects_a_trade_but_for_what_the_trader_wrote(
    client: Client,
    account_id: int,
    first: bytes | str,
    edit: dict[str, Any],
    later: bytes | str,
    changed: list[str],
    expected: dict[str, Any],
) -> None:
    (trade_id,) = factories.read_ids(await factories.create_import(client, first, account_id=account_id))
    if edit:
        await factories.patch_trade(client, trade_id, **edit)

    report = await factories.create_import(client, later, account_id=account_id)

    assert report["rows"][0]["changed"] == changed
    (trade,) = unwrap(await client.get("/trades"))
    assert {member: trade[member] for member in expected} == expected


async def test_a_grid_that_counts_from_one_again_adds_only_what_is_new(client: Client, account_id: int) -> None:
    first, second, third = ({"Qty": str(quantity)} for quantity in (1, 3, 4))
    grid = PLAIN["NinjaTrader"]
    as_rows = {"account_id": account_id, "one_trade_is": "row"}
    await factories.create_import(client, write_file(grid, first, second), **as_rows)

    later = await factories.create_import(client, write_file(grid, second, third, third), **as_rows)

    assert later["counts"] == counts(new=2, duplicate=1)


@for_rows("width", [13, 22, 29])
async def test_the_export_of_every_plan_of_tradervue_is_recognised(client: Client, account_id: int, width: int) -> None:
    rows = [line.split(",") for line in (SAMPLES / "tradervue_trades.csv").read_text().splitlines()]
    # The plan between has the excursions but not the costs.
    kept = [*range(14), *range(19, 27)] if width == 22 else range(width)
    header = write_csv([[rows[0][column] for column in kept]])

    report = unwrap(await factories.send_file(client, header, account_id, dry_run="true"))

    assert report["format"] == "Tradervue trades"


async def test_a_later_file_of_fills_closes_the_open_trade_and_opens_the_next(client: Client, account_id: int) -> None:
    fills = "Date,Time,Symbol,Quantity,Price,Side,Commission\n3/9/2026,09:00:00,NVTA,2,10,Buy,1\n"
    await factories.create_import(client, fills, account_id=account_id)
    (trade,) = unwrap(await client.get("/trades"))
    await client.patch(f"/trades/{trade['id']}", json={"notes": "patient"})

    more = fills + "3/9/2026,09:01:00,NVTA,3,12,Sell,1.5\n"
    later = await factories.create_import(client, more, account_id=account_id)
    newest_first = "\n".join([fills.splitlines()[0], *reversed(more.splitlines()[1:])])
    again = await factories.create_import(client, newest_first, account_id=account_id)

    assert [(row["line"], row["verdict"]) for row in later["rows"]] == [(2, "updated"), (3, "new")]
    assert set(later["rows"][0]["changed"]) == {"exit_price", "closed_at", "gross_pnl", "fees", "fills"}
    assert again["counts"] == counts(duplicate=2)
    trades = sorted(unwrap(await client.get("/trades")), key=lambda trade: int(trade["id"]))
    names = ("direction", "quantity", "exit_price", "gross_pnl", "fees", "notes")
    assert [tuple(trade[name] for name in names) for trade in trades] == [
        ("long", 2, 12, 4, 2, "patient"),
        ("short", 1, None, None, 0.5, None),
    ]


HEADER = "Instrument,Action,Quantity,Price,Time,ID,E/X,Account display name"
ENTRY, EXIT = (f"{HEADER}\nMNQ 03-26,Sell,1,100,2/12/2026 9:00:00,1,{one},Sim\n" for one in ("Entry", "Exit"))


async def test_what_its_owner_wrote_of_a_trade_that_is_none_any_more_is_kept(client: Client, account_id: int) -> None:
    trade_id = factories.read_ids(await factories.create_import(client, ENTRY, account_id=account_id))[0]
    written = await factories.patch_trade(client, trade_id, notes="Too early")

    report = await factories.create_import(client, EXIT, account_id=account_id)

    assert report["counts"]["unmatched"] == 1
    kept = await factories.get_trade(client, trade_id)
    assert kept == {**written, "updated_at": kept["updated_at"]}


async def test_an_undo_after_which_a_trade_is_none_any_more_asks(client: Client, account_id: int) -> None:
    await factories.create_import(client, EXIT, account_id=account_id)
    report = await factories.create_import(client, ENTRY, account_id=account_id)
    await factories.patch_trade(client, factories.read_ids(report)[0], notes="Too early")
    path = f"/imports/{report['id']}"

    assert error_of(await client.delete(path)) == (409, "trades_kept")
    assert (await client.delete(path, params={"force": True})).status_code == 204
    assert await factories.list_trades(client) == []


async def test_a_fill_of_another_contract_leaves_its_trade_with_what_is_left_of_it(
    client: Client, account_id: int
) -> None:
    entry, closing = "ES 03-26,Buy,1,118,2/12/2026 9:02:00,1,Entry,Sim", "{},Sell,1,119,2/12/2026 9:06:00,4,{},Sim"
    trades = [closing.format("ES 03-26", "Exit"), closing.format("MNQ 03-26", "Entry")]
    for row in trades:
        await factories.create_import(client, f"{HEADER}\n{row}\n{entry}\n", account_id=account_id)

    found = [
        (one["id"], one["symbol"], one["direction"], one["exit_price"]) for one in await factories.list_trades(client)
    ]
    assert found == [(1, "ES 03-26", "long", None), (2, "MNQ 03-26", "short", None)]


def write_fills(choose: Random) -> str:
    """Some of ten fills, of which each file may say another contract, and whether they close."""
    rows, is_flagged = [HEADER], choose.random() < 0.5
    for number in range(1, 11):
        side, flag = choose.choice((("Buy", "Entry"), ("Sell", "Exit"), ("Sell", "Entry"), ("Buy", "Exit")))
        contract = choose.choice(("MES 03-26", "MNQ 03-26", "CL 04-26"))
        flag = flag if is_flagged else ""
        rows.append(f"{contract},{side},{choose.randint(1, 3)},100,2/12/2026 9:{number:02}:00,{number},{flag},Sim")
    return "\n".join([HEADER, *choose.sample(rows[1:], choose.randint(2, 8))]) + "\n"


@for_rows("seed", range(examples(full=2000, ci=8)))
async def test_a_file_that_moves_fills_to_other_contracts_is_imported_and_an_undo_moves_them_back(
    client: Client, seed: int
) -> None:
    choose = Random(seed)
    account_id = (await factories.create_account(client, f"Moved {seed}"))["id"]

    async def read_figures() -> list[Any]:
        names = ("symbol", "direction", "quantity", "entry_price", "exit_price", "opened_at", "closed_at")
        found = await factories.list_trades(client, account_id=account_id)
        return sorted(([trade[name] for name in names] for trade in found), key=repr)

    import_ids = []
    for file in [write_fills(choose) for _ in range(choose.randint(2, 4))]:
        before = await read_figures()
        import_ids.append((await factories.create_import(client, file, account_id=account_id, force=True))["id"])
        after = await read_figures()

    path = f"/imports/{import_ids.pop()}"
    assert (await client.delete(path, params={"force": True})).status_code == 204
    assert await read_figures() == before
    import_ids.append((await factories.create_import(client, file, account_id=account_id, force=True))["id"])
    assert await read_figures() == after
    for import_id in choose.sample(import_ids, len(import_ids)):
        assert (await client.delete(f"/imports/{import_id}", params={"force": True})).status_code == 204
    assert await read_figures() == []


async def test_accounts_of_a_file_whose_fills_have_the_same_ids_move_each_their_own(client: Client) -> None:
    for name in "AB":
        await factories.create_account(client, name)
    row = "{},{},1,{},2/12/2026 9:0{}:00,{},,{}"
    files = [
        "\n".join(
            [
                HEADER,
                *(row.format(symbol, *fill, name) for name in "AB" for fill in (("Buy", 1, 1, 1), ("Sell", 2, 2, 2))),
            ]
        )
        for symbol in ("MES 03-26", "MNQ 03-26")
    ]
    await factories.send_file(client, files[0])
    was = await factories.patch_trade(client, 1, notes="Too early")

    report = unwrap(await factories.send_file(client, files[1]))
    moved = [(trade["id"], trade["account_id"], trade["symbol"]) for trade in await factories.list_trades(client)]
    await client.delete(f"/imports/{report['id']}")

    assert moved == [(1, 1, "MNQ 03-26"), (2, 2, "MNQ 03-26")]
    assert {**await factories.get_trade(client, 1), "updated_at": was["updated_at"]} == was


async def test_a_position_has_equal_fills_of_which_one_has_an_id(client: Client, account_id: int) -> None:
    rows = ["MNQH6,1,118.5,Sell,7", "MNQH6,1,118.5,Sell,", "MNQH6,2,110,Buy,8"]
    file = "\n".join(
        ["Date,Time,Symbol,Quantity,Price,Side,Execution ID", *(f"02/12/2026,09:00:00,{row}" for row in rows)]
    )

    await factories.create_import(client, file, account_id=account_id)

    assert [trade["gross_pnl"] for trade in await factories.list_trades(client)] == [34]


async def test_what_is_left_out_of_another_contract_stays_in_its_trade(client: Client, account_id: int) -> None:
    rows = "{0},Sell,2,100,2/12/2026 9:03:00,3,,Sim\n{0},Buy,2,101,2/12/2026 9:06:00,6,,Sim\n"
    await factories.create_import(client, f"{HEADER}\n{rows.format('MES 03-26')}", account_id=account_id)
    was = await factories.patch_trade(client, 1, notes="Too early")

    left_out = f"{HEADER}\n{rows.format('MNQ 03-26')}"
    report = await factories.create_import(client, left_out, account_id=account_id, answers="2:leave")

    assert report["counts"]["suspect"] == 1
    assert [await factories.get_trade(client, trade["id"]) for trade in await factories.list_trades(client)] == [was]


async def test_the_export_of_a_trade_of_fills_whose_symbol_its_owner_has_changed_is_known(
    client: Client, account_id: int
) -> None:
    await factories.create_import(client, ENTRY, account_id=account_id)
    await factories.patch_trade(client, 1, symbol="MES 03-26")

    report = await factories.create_import(client, (await client.get("/trades/export")).content, account_id=account_id)

    assert report["counts"] == counts(duplicate=1)
