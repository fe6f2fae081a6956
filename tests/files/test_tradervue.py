"""Tradervue's trades export: docs/imports.md."""

import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import (
    create_account,
    create_import,
    create_tag,
    details_of,
    error_of,
    read_file,
    send_file,
    unwrap,
)
from hypothesis import given
from hypothesis import strategies as st
from proofs import tried

from journal_api.rules.import_rows import Candidate, Rejected

EXPORT = Path(__file__).parents[1] / "data" / "tradervue_trades.csv"
# A long of 200 TSLA, as the smallest plan exports it.
PLAIN = {
    "Open Datetime": "2026-03-02 09:41:07",
    "Close Datetime": "2026-03-02 09:58:30",
    "Symbol": "TSLA",
    "Side": "L",
    "Volume": "400",
    "Exec Count": "2",
    "Entry Price": "248.15",
    "Exit Price": "249.90",
    "Gross P&L": "350",
    "Gross P&L (%)": "0.71",
    "BatchingConnection": "false",
    "Notes": "",
    "Tags": "",
}


def file_of(*rows: dict[str, str]) -> bytes:
    """An export with a row of PLAIN for each, but for those cells, and with the columns of the first."""
    written = io.StringIO()
    table = csv.DictWriter(written, list(PLAIN | rows[0]), restval="")
    table.writeheader()
    table.writerows(PLAIN | row for row in rows)
    return written.getvalue().encode()


def read(content: bytes, zone: str = "UTC") -> list[Candidate | Rejected]:
    return list(read_file(content, zone).candidates)


def read_one(cells: dict[str, str], zone: str = "UTC") -> Candidate:
    """The trade of a row of PLAIN with these cells, in units and in UTC."""
    (found,) = read(file_of(cells), zone)
    assert isinstance(found, Candidate), found
    return found


def reason_of(cells: dict[str, str]) -> str:
    (found,) = read(file_of(cells))
    assert isinstance(found, Rejected), found
    return found.reason


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**8)


async def trades_of(client: httpx.AsyncClient) -> Any:
    return unwrap(await client.get("/trades"))


# The whole file ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [13, 22, 29])
async def test_an_export_of_any_plan_is_recognised_among_all_formats_and_imported_whole(
    client: httpx.AsyncClient, width: int
) -> None:
    full = list(csv.reader(io.StringIO(EXPORT.read_text())))
    # The plan between has the excursions but not the costs.
    kept = [*range(14), *range(19, 27)] if width == 22 else range(width)
    written = io.StringIO()
    csv.writer(written).writerows([row[column] for column in kept] for row in full)

    report = await create_import(client, written.getvalue())

    assert report["format"] == "Tradervue trades"
    assert report["counts"] == {"new": 5, "duplicate": 0, "updated": 0, "error": 0}


async def test_the_trades_of_an_export_are_what_it_says_they_were(client: httpx.AsyncClient) -> None:
    await create_import(client, EXPORT.read_bytes())

    trades = list(reversed(await trades_of(client)))

    fields = ("symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price", "gross_pnl")
    assert [[trade[field] for field in fields] for trade in trades] == [
        ["TSLA", "long", 150, 1, 248.15, 249.9, 262.5],
        ["TSLA", "short", 400, 1, 250.2, 249.36, 251.2],
        ["ESH6", "short", 1, 50, 6012.25, 6008.75, 175],
        ["ESH6", "long", 2, 50, 6000, 6002, 300],
        ["F", "long", 19, 1, 11.42, 11.42, 0],
    ]
    assert [(trade["fees"], trade["initial_risk"]) for trade in trades] == [
        (3.3, 112.5),
        (8.3, None),
        (4.28, None),
        (8.56, 250),
        (0, None),
    ]
    assert trades[0]["opened_at"] == "2026-03-02T09:41:07.000000Z"
    assert trades[0]["closed_at"] == "2026-03-02T09:58:30.000000Z"
    assert trades[0]["notes"] == "Held for the high & got it.\nStop was 247.40\nand stayed there."
    assert [trade["notes"] for trade in trades[1:]] == [None] * 4


async def test_a_multiplier_that_the_trader_corrected_is_kept_when_the_result_is_corrected(
    client: httpx.AsyncClient,
) -> None:
    account = await create_account(client)
    fills = {"Symbol": "ESH6", "Exec Count": "3", "Gross P&L": "300"}
    await create_import(client, file_of(fills), account_id=account["id"])
    (trade,) = await trades_of(client)
    await client.patch(f"/trades/{trade['id']}", json={"multiplier": 50})

    later = await create_import(client, file_of(fills | {"Gross P&L": "312.5"}), account_id=account["id"])

    assert later["rows"][0]["changed"] == ["gross_pnl"]
    (trade,) = await trades_of(client)
    assert (trade["multiplier"], trade["gross_pnl"]) == (50, 312.5)


async def test_tags_are_not_imported(client: httpx.AsyncClient) -> None:
    await create_tag(client, "patience")

    await create_import(client, file_of({"Tags": "patience,breakout"}))

    (trade,) = await trades_of(client)
    assert trade["tag_ids"] == []


async def test_an_open_trade_is_refused_with_its_line_because_its_size_is_unknown(
    client: httpx.AsyncClient,
) -> None:
    account = await create_account(client)
    file = file_of({}, {"Close Datetime": "", "Exit Price": ""})

    refused = await send_file(client, file, account["id"])

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["line"] == 3
    assert details_of(refused)["reason"].startswith(
        "Close Datetime is empty, and Volume is not the quantity of an open trade"
    )
    assert await trades_of(client) == []


# Sizes, results and costs ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("volume", "quantity"), [("400", "200"), ("2", "1"), ("1", "0.5"), ("1,000", "500"), ("0.05", "0.025")]
)
def test_the_quantity_is_half_of_the_volume_which_counts_both_sides(volume: str, quantity: str) -> None:
    trade = read_one({"Volume": volume})

    assert trade.columns["quantity"] == units(quantity)


@pytest.mark.parametrize(("side", "direction"), [("L", "long"), ("S", "short")])
def test_the_side_is_a_letter(side: str, direction: str) -> None:
    trade = read_one({"Side": side})

    assert trade.columns["direction"] == direction


@pytest.mark.parametrize("gross", ["262.5", "-15.7281", "0"])
def test_the_result_is_the_files_whatever_the_prices_say(gross: str) -> None:
    trade = read_one({"Exec Count": "3", "Gross P&L": gross})

    assert trade.columns["gross_pnl"] == units(gross)


@pytest.mark.parametrize(
    ("commissions", "fees", "paid"),
    [("3", "0.3", "3.3"), ("3", "", "3"), ("", "0.3", "0.3"), ("0", "0", "0"), ("3", "-0.5", "2.5")],
)
def test_fees_are_commissions_and_fees(commissions: str, fees: str, paid: str) -> None:
    trade = read_one({"Commissions": commissions, "Fees": fees})

    assert trade.columns["fees"] == units(paid)
    assert trade.imported.unstated == ()


@pytest.mark.parametrize(
    "cells",
    [{}, {"Commissions": "", "Fees": ""}, {"Commissions": "3"}, {"Fees": "0.3"}],
    ids=["no columns", "empty", "commissions alone", "fees alone"],
)
def test_where_the_costs_are_not_all_there_the_file_says_nothing_of_fees(cells: dict[str, str]) -> None:
    trade = read_one(cells)

    assert trade.columns["fees"] == 0
    assert trade.imported.unstated == ("fees",)


def test_fees_beyond_any_amount_are_refused() -> None:
    reason = reason_of({"Commissions": "10000000000", "Fees": "1"})

    assert reason.startswith("Fees with Commissions must be between ")


@pytest.mark.parametrize(
    ("written", "risk"), [("112.5", "112.5"), ("", None), ("0", None), ("0.0000", None), ("-5", None)]
)
def test_an_initial_risk_over_zero_is_taken(written: str, risk: str | None) -> None:
    trade = read_one({"Initial Risk": written})

    assert trade.columns["initial_risk"] == (risk and units(risk))


@pytest.mark.parametrize(
    ("entry", "exit_price", "volume", "gross", "multiplier"),
    [
        ("248.15", "249.90", "400", "350", "1"),
        ("6012.25", "6014", "2", "87.5", "50"),
        ("22510.25", "22498.5", "6", "-70.5", "2"),
        ("2.15", "2.45", "10", "150", "100"),
        ("1.0825", "1.0826", "2", "12.5", "125000"),
        ("110.5", "110.75", "2", "3.125", "12.5"),
    ],
    ids=["share", "index", "micro", "option", "euro", "a half"],
)
def test_one_fill_in_and_one_out_tell_the_value_of_a_point(
    entry: str, exit_price: str, volume: str, gross: str, multiplier: str
) -> None:
    trade = read_one({"Entry Price": entry, "Exit Price": exit_price, "Volume": volume, "Gross P&L": gross})

    assert trade.columns["multiplier"] == units(multiplier)
    assert "multiplier" not in trade.imported.unstated


@pytest.mark.parametrize(
    "cells",
    [
        {"Exec Count": "3", "Gross P&L": "340.585"},
        {"Exec Count": "3", "Gross P&L": "26250"},
        {"Exec Count": "", "Gross P&L": "17500"},
        {"Gross P&L": "350.035"},
        {"Gross P&L": "350.0001"},
        {"Gross P&L": "-350"},
        {"Gross P&L": "0"},
        {"Exit Price": "248.15"},
        {"Exit Price": "248.15", "Gross P&L": "0"},
    ],
    ids=[
        "several fills",
        "several fills by chance a whole number",
        "unknown fills",
        "no short number",
        "not exactly",
        "against the prices",
        "no result",
        "equal prices",
        "nothing at all",
    ],
)
def test_what_does_not_tell_the_value_of_a_point_leaves_it_one_and_unstated(cells: dict[str, str]) -> None:
    trade = read_one(cells)

    assert trade.columns["multiplier"] == units("1")
    assert "multiplier" in trade.imported.unstated
    assert trade.columns["gross_pnl"] == units(cells.get("Gross P&L", "350"))


def test_times_are_read_in_the_zone_of_the_import() -> None:
    trade = read_one({}, zone="America/New_York")

    assert trade.columns["opened_at"] == "2026-03-02T14:41:07.000000Z"
    assert trade.columns["closed_at"] == "2026-03-02T14:58:30.000000Z"


# Notes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("<p>first trade</p>", "first trade"),
        ("<p>in</p><p>out</p>", "in\nout"),
        ("<p>in</p>\r\n\r\n<p>out</p>\n", "in\nout"),
        ("in<br>out<br/>again<BR />at last", "in\nout\nagain\nat last"),
        ("<ul><li>one</li><li>two</li></ul>", "one\ntwo"),
        ('<p style="color: red">a <b>bold</b>  <em>move</em></p>', "a bold move"),
        (
            "<p>R&amp;D &lt;b&gt; 5&nbsp;&#8364; &eacute;</p>",
            "R&D <b> 5 \N{EURO SIGN} \N{LATIN SMALL LETTER E WITH ACUTE}",
        ),
        ("<p>risk < 5 and reward > 3</p>", "risk < 5 and reward > 3"),
        ("seen<!-- <p>hidden</p> --> too", "seen too"),
        ("seen<!-- to the end", "seen"),
        ("<![if x]>seen<![endif]>", "seen"),
        ("no tags\nat all", "no tags\nat all"),
        ("<p></p>", None),
        ("<p><br></p>", None),
        (" ", None),
        ("", None),
    ],
)
def test_notes_are_told_as_plain_text_a_paragraph_a_line(written: str, told: str | None) -> None:
    trade = read_one({"Notes": written})

    assert trade.columns["notes"] == told


def test_notes_are_kept_as_far_as_the_journal_allows() -> None:
    trade = read_one({"Notes": f"<p>{'a' * 9_999}&amp;cut</p>"})

    assert trade.columns["notes"] == "a" * 9_999 + "&"


@pytest.mark.parametrize(
    "part",
    ["<", "<a ", "<a", f"<{'a' * 1000}", "<!--", "<!", "&", "&#1", "a>", "</p"],
    ids=lambda part: part[:5],
)
def test_notes_of_any_length_that_are_hardly_html_are_read_too(part: str) -> None:
    trade = read_one({"Notes": part * (100_000 // len(part))})

    assert len(trade.columns["notes"] or "") <= 10_000


# Whatever the cells hold -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Open Datetime", ""),
        ("Open Datetime", "2026-03-02"),
        ("Close Datetime", "2026-03-32 09:58:30"),
        ("Symbol", ""),
        ("Symbol", "X" * 41),
        ("Side", ""),
        ("Volume", ""),
        ("Volume", "0"),
        ("Volume", "-400"),
        ("Volume", "0.00000001"),
        ("Exec Count", "two"),
        ("Entry Price", ""),
        ("Exit Price", ""),
        ("Gross P&L", ""),
        ("Gross P&L", "Inf"),
        ("Notes", "a\0b"),
        ("Notes", f"&#{'9' * 5000};"),
    ],
)
def test_a_cell_that_breaks_its_rule_is_refused_with_its_column(column: str, cell: str) -> None:
    reason = reason_of({column: cell})

    assert reason.startswith(f"{column} ")


def test_a_trade_that_closes_before_it_opens_is_refused() -> None:
    reason = reason_of({"Close Datetime": "2026-03-02 09:41:06"})

    assert reason == "closed_at must not be before opened_at"


FULL = PLAIN | {
    "Net P&L": "346.7",
    "Commissions": "3",
    "Fees": "0.3",
    "Initial Risk": "112.5",
    "P&L (R)": "3R",
}
CELLS = st.one_of(
    st.text(max_size=12),
    st.text("0123456789.,$()+-: ", max_size=20),
    st.text("<>&#;!-/pbr x1", max_size=30),
    st.sampled_from(
        [
            *("", " ", "0", "-1", "1e9", "nan", "Inf", "9" * 30, "0.00000001", "10000000000"),
            *("-10000000000", "L", "S", "2", "x" * 300, "\0", "<![x[", "&#xD800;", "<p>note</p>"),
            *("2026-03-02 09:41:07", "1970-01-01 00:00:00", "2200-12-31 23:59:59"),
        ]
    ),
)


@tried(full=200, short=40)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from(sorted(FULL)), CELLS, max_size=8), min_size=1, max_size=4)
)
def test_whatever_the_cells_hold_each_row_is_a_trade_or_rejected_with_a_reason(
    rows: list[dict[str, str]],
) -> None:
    found = read(file_of(FULL, *(FULL | row for row in rows)))

    assert len(found) == 1 + len(rows)
    assert isinstance(found[0], Candidate)
    assert all(one.reason for one in found if isinstance(one, Rejected))
