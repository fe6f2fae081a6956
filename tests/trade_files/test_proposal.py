"""The profile that a dry run proposes for an unknown table: docs/formats.md#profiles."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from commands import import_file
from factories import Client, create_import, details_of, read_file, send_file, unwrap
from file_tables import write_file
from hypothesis import given
from hypothesis import strategies as st
from saved_journals import for_rows

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Candidate
from journal_api.structs.import_answers import SaidColumn
from journal_api.trade_files.profiles.profile_format import decode_profile
from journal_api.trade_files.profiles.proposal import Proposal, propose_profile, write_toml
from journal_api.trade_files.profiles.unknown_columns import NOTHING_SAID

HEADER, ROW = "Ticker,Way,Size\n", "ES,Up,1\n"


def propose(content: str | bytes, said: Mapping[str, Sequence[str]] = NOTHING_SAID) -> Proposal:
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    proposal = propose_profile(file, said=said)
    assert proposal is not None
    return proposal


@for_rows("lines_before, columns", [(0, "Ticker"), (99, "Ticker"), (100, "a"), (1000, "a")])
def test_a_header_is_sought_in_100_rows(lines_before: int, columns: str) -> None:
    proposal = propose("a,b,c\n" * lines_before + HEADER + ROW)

    assert proposal.columns[0] == columns


def test_three_rows_are_shown_with_200_characters_of_a_cell() -> None:
    proposal = propose(HEADER + f"{'x' * 201},Up,1\n" * 4)

    assert [[len(cell) for cell in row] for row in proposal.sample_rows] == [[200, 2, 1]] * 3


@for_rows("row, short", [(99, ["Sold"]), (100, ["Sell"])])
def test_the_words_of_the_side_are_sought_in_100_rows_below_the_header(row: int, short: list[str]) -> None:
    preamble = "a,b,c\n" * 99
    proposal = propose(preamble + HEADER + ROW * row + "ES,Sold,1\n")

    assert proposal.profile.side is not None
    assert proposal.profile.side.short == short


@for_rows("row, short", [(20, ["Sold"]), (21, ["Sell"])])
def test_of_a_table_of_1000_columns_20_rows_are_read(row: int, short: list[str]) -> None:
    others = "," * 996
    rows = [f"QLTX,{'Sold' if number == row else 'Bought'},1,2{others}\n" for number in range(1, 31)]

    proposal = propose(f"Symbol,Side,Quantity,Price{others}\n{''.join(rows)}")

    assert proposal.profile.side is not None
    assert proposal.profile.side.short == short


@for_rows("text", ["", "Ticker\n1\n", "Ticker,\n1,\n"])
def test_a_table_has_two_columns(text: str) -> None:
    assert propose_profile(io.BytesIO(text.encode())) is None


UNKNOWN = """\
Report of March

Contract,Direction,Lots,Open price,Close price,Open time,Close time,Profit,Commission,Ticket
MES,Long,2,6100.25,6104.25,2026-03-02 09:31:00,2026-03-02 10:15:00,40.00,2.00,t1
MES,Short,1,6110.00,6112.00,2026-03-03 09:31:00,2026-03-03 09:40:00,-10.00,1.00,t2
"""


async def test_a_dry_run_of_an_unknown_header_proposes_a_profile_that_reads_the_file(
    client: Client, account_id: int
) -> None:
    report = unwrap(await send_file(client, UNKNOWN, account_id, dry_run="true"))

    assert (report["format"], report["columns"][:2]) == ("unknown", ["Contract", "Direction"])
    assert [row[0] for row in report["sample_rows"]] == ["MES", "MES"]
    proposed = report["proposed_profile"]
    assert (await client.post("/import-profiles", json=proposed)).status_code == 201
    read = await create_import(client, UNKNOWN)
    assert read["counts"] == {"new": 2, "duplicate": 0, "updated": 0, "error": 0}
    trades = unwrap(await client.get("/trades"))
    assert [(trade["gross_pnl"], trade["fees"], trade["external_id"]) for trade in trades] == [
        (-10, 1, "t2"),
        (40, 2, "t1"),
    ]


@for_rows("separator, encoding", [(";", "utf-8"), ("\t", "utf-16-le"), (";", "cp1252")])
def test_a_proposal_is_of_the_separator_and_the_encoding_of_the_file(separator: str, encoding: str) -> None:
    content = UNKNOWN.replace(",", separator).replace("March", "März").replace("Close price", "Open price")

    proposal = propose(content.encode(encoding))

    assert (proposal.columns[:2], proposal.encoding) == (["Contract", "Direction"], encoding)
    assert proposal.columns[3:5] == ["Open price", "Open price 2"]


CELLS = {"Side": "Short", "Time": "2026-03-02 09:31", "Price": "1", "Fee": "1", "Commissions": "2", "Id": "7"}
PRICES = {"Entry price": "1", "Exit price": "2"}
ORDER_TIMES = {"Time": None, "Open time": "2026-03-02 09:31", "Close time": "2026-03-02 09:32"}
MADE = [{"Nominale": str(size), "Amount": f"{-2.5 * size - 0.05}"} for size in (10, 20, 30)]
POSITIONS = {
    "ID": "1", "Symbol": "US30", "Open time": "19.02.2026 02:06:23", "Side": "SELL", "Volume": "10",
    "Close time": "19.02.2026 02:32:34", "Open price": "44589", "Close price": "44598",
    "Commission": "-26.76", "Profit": "-116.76",
}  # fmt: skip
ORDERS = {
    "Symbol": "QLTX", "Side": "Buy", "Time": "03/02/2026 09:31:00", "Qty": "10", "Price": "2.5",
    "Amount": "-25",
}  # fmt: skip


@for_rows(
    "plain, rows, expected",
    [
        (CELLS, [{}], {"side.column": "Side", "side.long": ["Buy"], "side.short": ["Short"]}),
        (CELLS, [{}], {"costs.columns": ["Fee", "Commissions"], "external_id": ["Id"]}),
        (CELLS, [{"Side": "BOT"}], {"side.long": ["BOT"], "side.short": ["Sell"]}),
        (CELLS, [{"Entry price": "1"}], {"kind": "fills"}),
        (CELLS, [PRICES], {"kind": "trades"}),
        (CELLS, [PRICES | {"Side": "b"}], {"side.long": ["b"], "side.short": ["Short"]}),
        (CELLS, [PRICES | {"Account": "A", "P&L": "3"}], {"gross_pnl": "P&L"}),
        (CELLS, [ORDER_TIMES | {"P&L": "3"}], {"kind": "trades"}),
        (CELLS, [ORDER_TIMES | {"Price": None, "Size": "2", "Value": "9"}], {"kind": "fills", "at": "Close time"}),
        (CELLS, [{"Username": "a"}, {"Username": "b"}], {"account": "Username"}),
        (CELLS, [{"Charges": "1", "Fee Quantity": "2"}], {"costs.columns": ["Fee", "Commissions", "Charges"]}),
        (CELLS, [{"Open time": "1", "Close time": "2"}], {"kind": "fills", "opened_at": None}),
        (
            CELLS,
            [PRICES | {"Close time": "2026-03-02 09:32", "Time": None}],
            {"kind": "trades", "opened_at": "Close time", "closed_at": "Close time"},
        ),
        (CELLS, [{"Way": "Long", "Side": None}], {"side.column": "Way"}),
        (CELLS, [{"Kind": "Long", "Side": None}], {"side.column": "Kind"}),
        (CELLS, [{"Kind": "Longer", "Side": None}], {"side": None}),
        (CELLS, [{"Exec ID": "8"}], {"external_id": ["Exec ID"]}),
        (CELLS, [{"Time": "20260302;093105", "Done": "2026-03-02"}], {"at": "Time", "clock": None}),
        (CELLS, [{"Time": "yesterday"}], {"at": None}),
        (CELLS, [{"Time": "09:31", "Date": "2026-03-02"}], {"at": "Date", "clock": "Time"}),
        (CELLS, [{"Time": None, "Datum": "02.03.2026", "Uhrzeit": "9:31"}], {"at": "Datum", "clock": "Uhrzeit"}),
        (CELLS, [{"Price": None, "Kurs": "1,5"}], {"price": "Kurs"}),
        (ORDERS, [{"Price": None}], {"price": "Amount", "divide_by": {"Amount": "Qty"}, "abs": ["Amount"]}),
        (
            ORDERS,
            [{"Strike": "12", "Expiry": "3/20/2026", "Call/Put": "C"}],
            {"option.expires": "Expiry", "option.strike": "Strike", "option.right": "Call/Put"},
        ),
        (POSITIONS, [{}], {"net_pnl": "Profit", "gross_pnl": None, "costs.paid": "negative"}),
        (POSITIONS, [{"Profit": "-90"}], {"net_pnl": None, "gross_pnl": "Profit", "costs.paid": "negative"}),
        (POSITIONS, [{"Commission": "26.76"}], {"net_pnl": "Profit", "costs.paid": "positive"}),
        (POSITIONS, [{"Profit": "-90", "Commission": "26.76"}], {"gross_pnl": "Profit", "costs.paid": "positive"}),
        (POSITIONS, [{"Commission": "0"}], {"gross_pnl": "Profit", "costs.paid": "positive"}),
        # Two results state the sign: a swap is a booking, whatever its own sign.
        (
            POSITIONS,
            [{"Commission": None, "Swap": "3.52", "Net USD": "-86.48", "Profit": "-90"}],
            {"gross_pnl": "Profit", "net_pnl": None, "costs.paid": "negative"},
        ),
        (
            POSITIONS,
            [{"Commission": "3.52", "Net USD": "-93.52", "Profit": "-90"}],
            {"gross_pnl": "Profit", "costs.paid": "positive"},
        ),
        (POSITIONS, [{"Net USD": "-116.76", "Profit": None}], {"net_pnl": "Net USD", "gross_pnl": None}),
        (POSITIONS, [{"Volume": None, "Amount": "5000"}], {"quantity": None}),
        (POSITIONS, [{}, {}], {"external_id": None}),
        (POSITIONS, [{}, {"ID": "2"}], {"external_id": ["ID"]}),
        (
            ORDERS,
            [{"Commission": "-1", "SEC Fee": "0.02"}],
            {"abs": ["Commission", "SEC Fee"], "costs.paid": "positive"},
        ),
        (
            ORDERS,
            [{"Fee": fee, "SEC Fee": "0.02", "Charges": charges} for fee, charges in (("1", "1.02"), ("2", "2.02"))],
            {"costs.columns": ["Fee", "SEC Fee"]},
        ),
        (
            ORDERS,
            [{"Fee": "1", "SEC Fee": "1"}, {"Qty": "-10", "Fee": "-1", "SEC Fee": "1"}],
            {"abs": ["Fee", "SEC Fee"]},
        ),
        (ORDERS, [{"SEC Fee": "0.02", "Total fees": "1"}], {"abs": None, "costs.columns": ["Total fees"]}),
        (ORDERS, [{"Price": None, "Prezzo medio": "2"}], {"price": "Prezzo medio"}),
        (ORDERS, [{"Price": None, "Prezzo medio": "2", "Prijs": "3"}], {"price": "Prijs"}),
        (ORDERS, [{"Prezzo": "2", "Precio de entrada": "3"}], {"price": "Price", "entry_price": None}),
        (
            ORDERS,
            [{"Price": None, "Precio de entrada": "2", "Ausstiegskurs": "3"}],
            {"entry_price": "Precio de entrada", "exit_price": "Ausstiegskurs"},
        ),
        (ORDERS, [{"Status": "Filled"}, {"Status": "Cancelled"}], {"where": {"Status": ["Filled"]}}),
        (ORDERS, [{"Status": "Active"}, {"Status": "Inactive"}], {"where": {"Status": ["Filled"]}}),
        (ORDERS, [{"Status": "Settled"}], {"where": None}),
        *(
            (ORDERS, [{"Time": None, name: f"03/02/2026 {clock}"}], {"at": name, "zone": zone})
            for name, clock, zone in (
                ("Date (+01)", "09:31", "Etc/GMT-1"),
                ("Date(UTC-3 5 Jan 2026 - 5 Mar)", "09:31", "Etc/GMT+3"),
                ("TradeDateUtc", "09:31", "Etc/UTC"),
                ("TradeDateUtc", "00:00:00", None),
                ("Date (UTC-5 in winter, UTC-4 in summer)", "09:31", None),
                ("Date (T+1)", "09:31", None),
            )
        ),
        (ORDERS, [{"Side": None, "Unit": "BTC"}], {"side": None}),
        (ORDERS, [{"Time": "12 D\u0130C 2026"}], {"at": None}),
        (ORDERS, [{"Time": None, "Term": "20MAR26", "When": "2026-03-02 09:31"}], {"at": "When"}),
        (
            ORDERS,
            [{"Qty": None, "Deal volume": "1", "Status": status} for status in ("Filled", "Cancelled")],
            {"quantity": "Deal volume", "where": None},
        ),
        (ORDERS, [{"Symbol": None, "Trading venue": name} for name in ("XAMS", "XPAR")], {"symbol": None}),
        (ORDERS, [{"Symbol": None, "Money": name} for name in ("USD", "CAD")], {"symbol": None}),
        (ORDERS, [{"Symbol": None, "Valuta": f"03.0{day}.2026"} for day in (4, 5)], {"symbol": None}),
        (ORDERS, [{"Symbol": None, "Valuta": name} for name in ("BTC", "EUR")], {"symbol": "Valuta"}),
        (
            ORDERS,
            [{"Price": None, "Side": side, "Buy price": "1", "Preço venda": "2"} for side in ("B", "S")],
            {"entry_price": "Buy price", "exit_price": "Preço venda"},
        ),
        (
            ORDERS,
            [{"Price": None, "Side": side, "Buy price": "1", "Preço venda": "2" * (side == "S")} for side in "BS"],
            {"entry_price": None, "exit_price": None},
        ),
        (ORDERS, [{"Qty": None, "Amount": None, "Size (USD)": "9"}], {"quantity": None}),
        (ORDERS, [{"Settlement": "Complete"}, {"Settlement": "Cancelled"}], {"where": None}),
        (ORDERS, [{"Exec Type": "F"}, {"Exec Type": "Liquidation"}], {"where": None}),
        # Quantity times price is the amount, also if the name of the quantity is unknown.
        (ORDERS, [{"Qty": None, **row} for row in MADE], {"quantity": "Nominale"}),
        (
            ORDERS,
            [{"Qty": None, **row, "Price": "1.01", "Amount": row["Nominale"]} for row in MADE],
            {"quantity": "Amount"},
        ),
        (ORDERS, [{"Qty": None, **row, "Nominale": "1"} for row in MADE], {"quantity": "Amount"}),
        (ORDERS, [{"Qty": row["Amount"], **row, "Amount": None} for row in MADE], {"quantity": "Qty"}),
        (ORDERS, [{"Qty": None, **row, "Value": f"{row['Amount']}00"} for row in MADE], {"quantity": "Nominale"}),
        (ORDERS, [{"Side": None, "Type": "K"}, {"Side": None, "Type": "V"}], {"side.long": ["K"], "side.short": ["V"]}),
        (CELLS, [{"Way": way, "Side": side} for way, side in (("L1", "buy"), ("L2", "sell"))], {"side.column": "Side"}),
        (
            ORDERS,
            [{"Product": "0815", "Symbol": None, "ISIN": f"US000000000{number}"} for number in range(2)],
            {"symbol": "ISIN"},
        ),
        (
            ORDERS,
            [
                {"Product": f"{'A long name' * 4} {number}", "Symbol": None, "ISIN": f"US000000000{number}"}
                for number in (1, 2)
            ],
            {"symbol": "ISIN"},
        ),
        (ORDERS, [{"Side": None, "Type": "A", "Qty": size} for size in ("1", "-1")], {"side": None}),
        (ORDERS, [{"Side": None, "Type": "Market", "Qty": size} for size in ("1", "(1)")], {"side": None}),
        (ORDERS, [{"Side": None, "Typ": "Kúpiť"}, {"Side": None, "Typ": "Predať"}], {"side.long": ["Kúpiť"]}),
        (ORDERS, [{"Time": None, "Number": "1276692282", "Done": "03/02/2026 09:31"}], {"at": "Done"}),
        (ORDERS, [{"Time": None, "Settled on": "03/04/2026", "Done": "03/02/2026"}], {"at": "Done"}),
        (
            ORDERS,
            [{"Side": None, "Kind": kind, "Qty": size} for kind, size in (("Bought", "1"), ("Sold", "1"), ("Fee", ""))],
            {"side.column": "Kind"},
        ),
        (ORDERS, [{"Side": None, "Note": note, "Qty": "1"} for note in ("bought", "scalp")], {"side": None}),
        (
            ORDERS,
            [
                {"Symbol": None, "ISIN": f"US000000000{number}", "Venue": name}
                for number, name in enumerate(("XA", "XB", "XC"))
            ],
            {"symbol": "ISIN"},
        ),
        (
            ORDERS,
            [{"Side": "Open Long"}, {"Side": "Close Long"}],
            {"side.long": ["Open Long"], "side.short": ["Close Long"]},
        ),
    ],
)
def test_a_proposal_follows_from_the_names_signs_and_words_of_the_table(
    plain: dict[str, str], rows: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    proposal = propose(write_file(plain, *rows))

    members = msgspec.to_builtins(proposal.profile)
    found = {}
    for name in expected:
        member, _, part = name.partition(".")
        found[name] = members[member][part] if part else members[member]
    assert found == expected


@for_rows(
    "rows, factor",
    [
        ([{}], None),
        ([{"Amount": "24.10"}], None),
        ([{"Price": "75"}], "30"),
        ([{"Price": "0.75"}], "0.3"),
        ([{"Price": "250"}], None),  # a point is worth 0.01
        ([{"Symbol": "QLTX260417C00012000", "Amount": "2500"}], None),
        ([{"Symbol": "QLTX260417C00012000", "Price": "250", "Amount": "2500"}], None),
        ([{"Symbol": "QLTX260417C00012000", "Price": "750", "Amount": "2500"}], "300"),
        ([{"Multiplier": "4", "Amount": "100"}], None),
        ([{"Amount": "0"}, {"Amount": ""}, {"Amount": "25"}], None),
        ([{"Amount": None}], None),
    ],
)
def test_a_proposal_says_that_prices_are_out_of_line_with_the_amounts_of_the_file(
    rows: list[dict[str, Any]], factor: str | None
) -> None:
    proposal = propose(write_file(ORDERS, *rows))

    warning = f"Price times Qty and the value of a point is {factor} times Amount: check "
    assert [text.startswith(warning) for text in proposal.warnings] == ([True] if factor else [])


async def test_a_profile_is_proposed_for_a_known_format_of_which_no_row_can_be_read(
    client: Client, account_id: int, tmp_path: Path
) -> None:
    # An order id that stands twice is an error of its row, and says nothing of what to do.
    (tmp_path / "orders.csv").write_text(
        "orderId,Account,B/S,Contract,Product,avgPrice,filledQty,Fill Time,Side,Status\n"
        + "".join(
            f"{number},A,{side},NQH6,NQ,{price},4,2026-03-02 10:0{number}:{second}{second},Sell,Filled\n"
            for number in (1, 2)
            for side, price, second in (("Sell", 20, 1), ("Buy", 10, 2))
        )
    )
    content = (tmp_path / "orders.csv").read_text()
    doubt = "no row can be read as Tradovate orders: line 3: orderId '1' is repeated"

    report = unwrap(await send_file(client, content, account_id, dry_run="true"))
    ran = import_file(tmp_path / "journal.db", tmp_path / "orders.csv", "--dry-run", "--timezone", "UTC")
    await client.post("/import-profiles", json=report["proposed_profile"])
    read = await create_import(client, content)

    assert (report["format"], report["proposal_warnings"]) == ("unknown", [doubt])
    assert (ran.out.splitlines()[0], read["counts"]["new"]) == (f"# Check: {doubt}", 2)


def test_the_command_prints_the_warnings_of_a_proposal_above_it(tmp_path: Path) -> None:
    (tmp_path / "trades.csv").write_bytes(write_file(ORDERS, {"Price": "75", "Status": "Filled"}))

    ran = import_file(tmp_path / "journal.db", tmp_path / "trades.csv", "--dry-run")

    first, *rest = ran.out.splitlines()
    assert first.startswith("# Check: Price times Qty")
    assert 'where = {"Status" = ["Filled"]}' in rest
    assert "a dry run" not in ran.err


def test_numbers_of_many_digits_in_a_table_without_names_are_read() -> None:
    rows = (f"2026-03-0{n},QLTX,{n}{'0' * 30},{n}.5,{n * (2 * n + 1) * 5}{'0' * 29}\n" for n in range(1, 6))

    proposal = propose("".join(rows))

    assert (proposal.profile.quantity, proposal.profile.price) == ("Column 3", "Column 4")


async def test_a_quantity_that_only_repetition_tells_from_the_price_is_a_doubt(client: Client, account_id: int) -> None:
    # Of coins the price is whole and the size is not: only a person can know, unless sales are negative.
    fills = [("Buy", 0.015, 60_000), ("Sell", 0.015, 61_000), ("Buy", 0.02, 60_000), ("Sell", 0.02, 59_000)]
    doubt = "Column 4 is taken for the quantity, and Column 5 for the price, as their product is the value: is that so?"
    for sign in (1, -1):
        file = "".join(
            f"2026-03-0{day} 10:00:00,{side},QLTX,{size if side == 'Buy' else sign * size},{price},{size * price}\n"
            for day, (side, size, price) in enumerate(fills, 1)
        )

        report = unwrap(await send_file(client, file, account_id, dry_run="true"))

        proposed, (*warnings, _) = report["proposed_profile"], report["proposal_warnings"]
        assert (proposed["quantity"], proposed["price"], warnings) == ("Column 4", "Column 5", [doubt])


CZECH = """\
Datum obchodu;Ago;Symbol;Cena;Kvanto;Poplatky v USD;Poplatek
05.01.2026 15:40;Vklad;;;;;
06.01.2026 15:40;Nákup;AAPL;185,50;100;-2,00;-0,50
07.01.2026 15:40;Prodej;AAPL;187,00;100;-2,00;-0,50
"""


async def test_what_is_said_of_a_column_is_proposed_with_what_follows_from_it(client: Client, account_id: int) -> None:
    first = unwrap(await send_file(client, CZECH, account_id, dry_run="true"))
    said = ["quantity:Kvanto", "costs:Cena", "costs:", "costs:Poplatky v USD", "costs:Poplatek"]
    report = unwrap(await send_file(client, CZECH, account_id, dry_run="true", columns=said))

    assert (first["proposed_profile"]["quantity"], first["proposed_profile"]["side"]) == (None, None)
    proposed = report["proposed_profile"]
    assert proposed["side"] == {"column": "Ago", "long": ["Nákup"], "short": ["Prodej"]}
    await client.post("/import-profiles", json=proposed)
    await create_import(client, CZECH, date_order="day")
    (trade,) = unwrap(await client.get("/trades"))
    assert (trade["quantity"], trade["gross_pnl"], trade["fees"]) == (100, 150, 5)


@for_rows(
    "said, reason",
    [
        ("quantity:Počet", "the file has no column Počet"),
        ("size:Kvanto", "must be one of symbol, quantity"),
        ("Kvanto", "must be one of symbol, quantity"),
        ("kind:Kvanto", "must have the kind trades or fills"),
        ("side:=Buy", "must have a column: only symbol, quantity, multiplier, account may be the same in all rows"),
        ("entry_price:Cena", "the kind fills has no entry_price"),
    ],
)
async def test_a_column_that_is_not_in_the_file_or_of_no_member_is_refused(
    client: Client, account_id: int, said: str, reason: str
) -> None:
    refused = await send_file(client, CZECH, account_id, dry_run="true", columns=said)

    assert refused.status_code == 400
    assert reason in str(details_of(refused)["fields"])


def test_costs_of_unknown_names_are_asked_where_the_prices_are_said() -> None:
    rows = "QLTX,2026-03-02 10:00,2026-03-02 11:00,Buy,10,11,5,5,-0.5\n"

    proposal = propose(
        "Symbol,Entry Time,Exit Time,Side,Kurso,Alia,Quantity,Profit,Pago\n" + rows,
        {"entry_price": ["Kurso"], "exit_price": ["Alia"]},
    )

    assert "Pago may be costs: if they are, add them" in proposal.warnings


ANSWERS = st.lists(st.tuples(st.sampled_from(SaidColumn.members), st.sampled_from(["", "Lots", "Profit", "Ticket"])))


@given(st.sampled_from(["", "trades", "fills"]), ANSWERS)
def test_the_proposal_has_each_column_as_it_is_said_or_says_that_its_kind_has_none(
    kind: str, answers: list[tuple[str, str]]
) -> None:
    texts = [f"{name}:{kind if name == 'kind' else column}" for name, column in answers if kind or name != "kind"]
    said = SaidColumn.collect([SaidColumn.decode(text) for text in texts])

    refused = ""
    try:
        profile = propose(UNKNOWN, said).profile
    except ValidationFailed as error:
        refused = str(error)
    if refused:
        assert "the kind " in refused
        assert any(said[name] and name in refused for name in said)
        return
    proposed = {**msgspec.structs.asdict(profile), "side": profile.side and profile.side.column}
    proposed["costs"] = profile.costs and profile.costs.columns
    for name, columns in said.items():
        assert proposed[name] == (columns if name == "costs" else "".join(columns)) or not (proposed[name] or columns)


@for_rows(
    "said, told",
    [
        (["price:Wert"], ("Wert", {"Wert": "Menge"})),  # a value is divided, as without the answer
        (["symbol:=ES", "side:Wert"], ("Wert", {"Wert": "Menge"})),
        (["account:=Main", "account:"], ("Wert", {"Wert": "Menge"})),
    ],
)
def test_an_answer_that_is_proposed_already_changes_nothing(said: list[str], told: tuple[str, dict[str, str]]) -> None:
    content = "Datum,Symbol,Menge,Wert,Gebühr\n2026-01-06,AAPL,100,-18550,1\n2026-01-07,AAPL,100,18700,1\n"
    first = propose(content).profile
    again = propose(content, SaidColumn.collect(map(SaidColumn.decode, said))).profile

    assert (again.price, again.divide_by, again.side) == (*told, first.side)


@for_rows("answer, accounts", [("symbol:Account", ["Main"]), ("side:Account", [])])
def test_a_column_named_like_an_account_may_be_another_member(answer: str, accounts: list[str]) -> None:
    content = "When,Account,Symbol,Side,Quantity,Price\n2026-03-02 10:00,QLTX,Buy,Buy,1,100\n"
    said = SaidColumn.collect(map(SaidColumn.decode, [answer, "account:=Main"]))

    profile = decode_profile(write_toml(propose(content, said).profile).encode())

    rows = read_file(content, profiles=[profile]).rows
    assert [row.account for row in rows if isinstance(row, Candidate)] == accounts


@for_rows(
    "answers, last",
    [(["net_pnl:Lots", "gross_pnl:Profit"], "gross_pnl"), (["gross_pnl:Lots", "net_pnl:Profit"], "net_pnl")],
)
def test_the_last_result_that_is_said_counts(answers: list[str], last: str) -> None:
    profile = propose(UNKNOWN, SaidColumn.collect(map(SaidColumn.decode, answers))).profile

    stated = {name: getattr(profile, name) for name in ("gross_pnl", "net_pnl") if getattr(profile, name)}
    assert stated == {last: "Profit"}


@for_rows("answer", ["net_pnl:Net", "gross_pnl:Gross", "kind:trades"])
def test_the_sign_of_costs_follows_from_both_results_whichever_is_said(answer: str) -> None:
    content = (
        "Symbol,Side,Qty,Entry Price,Exit Price,Entry Time,Exit Time,Gross,Swap,Net\n"
        "QLTX,Long,1,100,111,2026-01-05 10:00,2026-01-05 11:00,11,2,13\n"
        "QLTX,Long,1,100,112,2026-01-06 10:00,2026-01-06 11:00,12,3,15\n"
    )

    profile = propose(content, SaidColumn.collect([SaidColumn.decode(answer)])).profile

    assert profile.costs is not None
    assert (profile.costs.columns, profile.costs.paid) == (["Swap"], "negative")


def test_the_command_proposes_a_profile_with_the_columns_that_it_is_told(tmp_path: Path) -> None:
    file = tmp_path / "unknown.csv"
    file.write_text(CZECH)

    told = ("--column", "symbol==AAPL", "--column", "quantity=Kvanto")
    ran = import_file(tmp_path / "journal.db", file, "--dry-run", *told)

    assert 'symbol = "=AAPL"\nquantity = "Kvanto"\n' in ran.out
