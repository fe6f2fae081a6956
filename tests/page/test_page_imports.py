"""The import view of the page at /: it writes what it shows, and asks before an undo (docs/page.md)."""

import re
from pathlib import Path
from typing import Any

import pytest
from chromium import (
    PageJournal,
    choose,
    drawn,
    drop,
    in_a_browser,
    no_dialog,
    save,
    see,
    show,
    sign_in,
    values_of,
)
from commands import command, run_ok
from playwright.async_api import Page, expect

pytestmark = in_a_browser

HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at"
ROWS = [
    f"{symbol},long,1,100,101,2026-01-0{day} 14:00:00,2026-01-0{day} 15:00:00"
    for day, symbol in ((5, "ES"), (6, "NQ"), (7, "GC"))
]
FILE = "\n".join([HEADER, *ROWS])
WITH_ZONE = FILE.replace(":00:00", ":00:00Z")
UNKNOWN = """\
Ticker,Way,Size,In,Out,From,To,Fee
ABC,Up,1,100,111,2026-01-05 10:00,2026-01-05 11:00,1
ABC,Down,1,112,101,2026-01-05 12:00,2026-01-05 13:00,1
"""
PAIRS = "symbol,buyFillId,sellFillId,qty,buyPrice,sellPrice,pnl,boughtTimestamp,soldTimestamp"
PAIR = "MNQH6,{0},{1},1,100,101,$2.00,02/12/2026 09:00:0{0},02/12/2026 09:01:0{1}"
OTHER_PAIRS = "Id,ContractName,EnteredAt,ExitedAt,EntryPrice,ExitPrice,Fees,PnL,Size,Type"
FILLS = """\
Instrument,Quantity,Avg fill price,Time,Commission,Rate,Account,Order Id,Name
ES 03-24,1,4500.00,1/15/2024 9:30:00 AM,2.12,Buy,Sim,a,Entry
ES 03-24,1,4510.00,1/15/2024 9:45:00 AM,2.12,Sell,Sim,b,Exit
NQ 03-24,2,15000.00,1/15/2024 11:00:00 AM,4.24,Buy,Sim,c,Long
"""
IMPORTS = "section[aria-label=Imports]"


@pytest.fixture
def accounts(journal: PageJournal) -> list[int]:
    """Two accounts, so that none is chosen."""
    return [journal.create("/accounts", name=name)["id"] for name in ("Sim", "Apex 50K Master")]


async def drop_and_choose(page: Page, journal: PageJournal) -> None:
    """Drop a file that names no account, and choose the first one."""
    await sign_in(page, journal, "import")
    await drop(page, "trades.csv", FILE)
    await answer(page, "Which account are these trades from?", "Sim")
    await see(page, "Import 3 trades into Sim")


async def answer(page: Page, question: str, choice: str) -> None:
    """Press the button that answers a question about a file."""
    await page.click(f"[aria-label='{question}'] button:text-is('{choice}')")


async def describe(page: Page, *, short: str = "Down") -> None:
    """Say what the columns of the unknown file hold."""
    await page.fill("#profile [name=long]", "Up")
    await page.fill("#profile [name=short]", short)
    await page.click("#profile .primary")


async def test_a_first_file_is_dropped_imported_and_undone(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, "import")
    await drop(page, "round trips.csv", WITH_ZONE)
    await answer(page, "Which account are these trades from?", "New account…")
    await page.fill("#edit [name=name]", "Main account")
    await save(page)
    await see(page, "Import 3 trades into Main account")

    for content, words in (
        ("", "This file is empty."),
        ("\n\n", "There is no table with a header and rows in this file."),
        (WITH_ZONE.replace("long", "up", 1), "direction must be long or short"),
    ):
        await drop(page, "bad.csv", content)
        await see(page, words)
    await expect(page.locator("#import")).to_be_disabled()
    await drop(page, "round trips.csv", WITH_ZONE)
    await see(page, "3 new")
    assert journal.read("/trades") == []
    await page.click("#import")
    await see(page, "Imported: 3 new trades")
    assert len(journal.read("/trades")) == 3

    await drop(page, "round trips.csv", WITH_ZONE)
    await see(page, "All 3 are already there.")
    await expect(page.locator("#import")).to_be_disabled()
    await page.click("button[aria-label='Undo the import of round trips.csv']")
    await expect(page.locator(IMPORTS)).to_have_count(0)
    assert journal.read("/trades") == []


async def test_an_unknown_header_is_described_read_in_the_owners_zone_and_corrected(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/accounts", name="Main")
    journal.patch("/me", timezone="Europe/Berlin")
    await sign_in(page, journal, "import")
    await drop(page, "acme.csv", UNKNOWN)
    await see(page, "The header of this file is unknown")
    await describe(page, short="Dwon")
    await see(page, "The times in this file have no time zone.")
    assert "HTTP" not in await page.inner_text("body")
    await page.click("button:text('Use Europe/Berlin')")
    await see(page, "1 error")
    await page.click("#change-columns")
    assert await page.input_value("#profile [name=long]") == "Up"
    await describe(page)
    await see(page, "2 new")
    await see(page, "Times are read in Europe/Berlin")
    await page.click("#import")
    await see(page, "Imported: 2 new trades")

    trades = journal.read("/trades")
    assert [(one["direction"], one["net_pnl"]) for one in trades] == [("short", 10), ("long", 10)]
    assert trades[1]["opened_at"][:16] == "2026-01-05T09:00"
    await page.click("section[aria-label='Your formats'] .danger")
    await page.click("dialog .danger")
    await expect(page.locator("section[aria-label='Your formats']")).to_have_count(0)
    assert journal.read("/import-profiles") == []


async def test_the_only_account_of_a_journal_is_not_the_answer_for_a_file_that_names_several(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/accounts", name="Live")
    await sign_in(page, journal, "import")
    rows = WITH_ZONE.splitlines()
    await drop(page, "two.csv", f"account,{rows[0]}\nSim101,{rows[1]}\nEval 7,{rows[2]}\n")

    await page.click("#create-accounts:text('Create 2 accounts')")

    await see(page, "Import 2 trades into 2 accounts")


async def test_accounts_that_a_file_names_are_created_or_mapped_and_the_import_names_them(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    await sign_in(page, journal, "import")
    rows = WITH_ZONE.splitlines()
    await drop(page, "two.csv", f"account,{rows[0]}\nSim101,{rows[1]}\nEval 7,{rows[2]}\n")
    await see(page, "Create 2 accounts", "#create-accounts")
    await answer(page, "Which account is Eval 7?", "Sim")
    await expect(page.locator("#create-accounts")).to_have_count(0)
    await answer(page, "Which account is Sim101?", "New account…")
    assert await page.input_value("#edit [name=name]") == "Sim101"
    await save(page)
    await see(page, "Import 2 trades into 2 accounts")
    await page.click("#import")
    await see(page, "Imported: 2 new trades")

    names = {one["id"]: one["name"] for one in journal.read("/accounts")}
    assert sorted(names.values()) == ["Apex 50K Master", "Sim", "Sim101"]
    places = {(trade["symbol"], names[trade["account_id"]]) for trade in journal.read("/trades")}
    assert places == {("ES", "Sim101"), ("NQ", "Sim")}
    listed = await page.inner_text(f"{IMPORTS} tbody td:nth-child(2)")
    assert sorted(listed.split(", ")) == ["Sim", "Sim101"]


async def test_an_account_and_its_costs_are_asked_for_once_for_all_files_that_name_it(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "import")
    head, *rows = WITH_ZONE.splitlines()
    files = [f"account,{head}\nSim101,{row}" for row in rows[:2]]
    await drop(page, "one.csv", files[0], other=files[1])
    await page.click("[aria-label='Which account is Sim101?'] button")
    await save(page)
    await expect(page.locator(".costs")).to_have_count(2)
    await page.fill(".costs [name=per_side]", "1")
    await page.click(".costs button")
    await expect(page.locator(".costs")).to_have_count(0)
    await page.click("#import-all:text('Import 2 trades of 2 files into Sim101')")
    await expect(page.locator("section[aria-label='All files'] .gain:text('imported')")).to_have_count(2)

    assert [one["fees"] for one in journal.read("/trades")] == [2, 2]


async def test_an_account_that_is_chosen_after_the_preview_is_the_one_that_is_imported_into(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    await drop_and_choose(page, journal)
    await choose(page, "#account_id", "Apex 50K Master")
    await see(page, "Import 3 trades into Apex 50K Master")
    await page.click("#import")
    await see(page, "Imported: 3 new trades")

    assert {trade["account_id"] for trade in journal.read("/trades")} == {accounts[1]}
    await see(page, "Apex 50K Master", f"{IMPORTS} tbody tr")


async def test_a_time_zone_that_is_typed_and_not_read_yet_is_never_imported_over(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    await drop_and_choose(page, journal)
    await page.fill("#options [name=timezone]", "Mars")
    await page.keyboard.press("Tab")
    await see(page, "Name a city of the time zone, such as Berlin", "#options [data-field=timezone]")
    await drawn(page, "import")
    await expect(page.locator("#import")).to_have_count(0)

    await page.fill("#options [name=timezone]", "UTC")
    await page.keyboard.press("Tab")
    await page.wait_for_selector("#import")
    await page.fill("#options [name=timezone]", "new york")
    await page.click("#import")  # which leaves the field first
    await see(page, "Times are read in America/New_York (as you said).")
    assert journal.read("/trades") == []
    await page.click("#import")
    await see(page, "Imported: 3 new trades")
    assert {trade["opened_at"][11:16] for trade in journal.read("/trades")} == {"19:00"}


async def test_an_undo_says_what_was_annotated_and_keeps_it_unless_told_otherwise(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    journal.import_file(FILE, account_id=accounts[0], file_name="trades.csv")
    trades: list[Any] = journal.read("/trades")
    category = journal.create("/tag-categories", name="Mind")
    tag = journal.create("/tags", name="Patient", category_id=category["id"])
    journal.patch(f"/trades/{trades[0]['id']}", tag_ids=[tag["id"]])
    journal.patch(f"/trades/{trades[1]['id']}", fees=1)
    await sign_in(page, journal, "import")

    async def undo(choice: str) -> list[int]:
        await page.click(f"{IMPORTS} .danger")
        await see(page, "edited since", "dialog")
        await page.click(f"dialog {choice}")
        await no_dialog(page)
        return [trade["id"] for trade in journal.read("/trades")]

    assert len(await undo(".row:last-child button")) == 3  # Cancel
    await page.click(f"{IMPORTS} .danger")
    await see(page, "1 trade is deleted.", "dialog")
    await see(page, "2 trades of this file were edited since; 1 of them with notes, a grade", "dialog")
    await page.keyboard.press("Escape")
    assert await undo(".primary") == [one["id"] for one in trades[:2]]
    await show(page, "today")
    await show(page, "import")
    assert await undo(".danger") == []


async def test_an_import_out_of_a_watched_folder_is_told_from_the_others_and_undone(
    page: Page, journal: PageJournal, accounts: list[int], tmp_path: Path
) -> None:
    journal.import_file(FILE, account_id=accounts[0], file_name="by hand.csv")
    (tmp_path / "bad.csv").write_text("no table")
    command("watch", tmp_path, "--once", "--db", journal.db)
    (tmp_path / "day.csv").write_text(WITH_ZONE.replace("ES", "YM"))
    run_ok("watch", tmp_path, "--account", "Apex 50K Master", "--once", "--db", journal.db)

    await sign_in(page, journal, "import")

    names = await page.locator(f"{IMPORTS} tbody td:first-child").all_inner_texts()
    assert names == ["day.csv (by itself)", "bad.csv", "by hand.csv"]
    await show(page, "today")
    await see(page, "▲ bad.csv was refused", ".refused")
    await page.click(".refused button")
    await expect(page.locator(".refused")).to_have_count(0)
    lines = page.locator(".notice:has(.danger)")
    await expect(lines).to_have_text(re.compile(r"^3 trades from day\.csv at \d\d:\d\dUndo$"))
    await page.click("[aria-label='Undo the import of day.csv']")
    await expect(lines).to_have_count(0)
    await show(page, "import")
    await expect(page.locator(f"{IMPORTS} tbody tr")).to_have_count(1)
    assert len(journal.read("/trades")) == 3


async def test_a_preview_shows_what_is_written_and_a_changed_journal_is_shown_anew(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    await drop_and_choose(page, journal)
    figures = (await page.inner_text(".figures")).split("\n")
    assert figures[:6] == ["Days", "Jan 5 – Jan 7", "Trades", "3", "Quantity", "3"]
    assert figures[-2:] == ["Gross = net, no costs", "+3.00"]
    await see(page, "ES\t1\t1\t+1.00\t0.00\t+1.00", "table[aria-label=Symbols]")
    await expect(page.locator("table[aria-label='First and last trades'] tbody tr")).to_have_count(3)

    journal.import_file("\n".join([HEADER, ROWS[0]]), account_id=accounts[0])
    await page.click("#import")
    await see(page, "The journal has changed since this was shown")
    await see(page, "2 new")
    assert len(journal.read("/trades")) == 1
    await page.click("#import")
    await see(page, "Imported: 2 new trades, 0 updated, 1 already there")


async def test_a_correction_shows_old_beside_new_values(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    with_ids = [f"{row},{number}" for number, row in enumerate(FILE.splitlines()[1:])]
    journal.import_file("\n".join([f"{HEADER},external_id", *with_ids]), account_id=accounts[0])
    await sign_in(page, journal, "import")
    corrected = "\n".join([f"{HEADER},external_id", with_ids[0].replace(",101,", ",103,")])
    await drop(page, "again.csv", corrected)
    await answer(page, "Which account are these trades from?", "Sim")
    await see(page, "Exit price: 101 → 103", "table[aria-label=Rows]")
    await see(page, "Import 1 trade into Sim", "#import")


async def test_costs_that_no_file_states_are_asked_for_and_charge_earlier_trades_on_request(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    journal.import_file("\n".join([HEADER, ROWS[0]]), account_id=accounts[0])
    await sign_in(page, journal, "import")
    await drop(page, "trades.csv", FILE)
    await answer(page, "Which account are these trades from?", "Sim")
    await see(page, "This file states no costs. What do you pay per side?")
    await page.fill(".costs [name=per_side]", "1.25")
    await page.click(".costs button")
    await see(page, "Charge 1 earlier trade of Sim too?", "dialog")
    await page.click("dialog .primary")
    await no_dialog(page)
    await expect(page.locator(".costs")).to_have_count(0)
    await see(page, "Commissions of Sim: 5.00 on 2 rows.")
    await page.click("#import")
    await see(page, "Imported: 2 new trades")

    assert {one["fees"] for one in journal.read("/trades")} == {2.5}
    listed = (await page.inner_text(f"{IMPORTS} tbody tr")).split("\t")
    assert [one.strip() for one in listed[4:7]] == ["Jan 6 – Jan 7", "2", "\N{MINUS SIGN}3.00"]


async def test_files_of_one_drop_go_into_the_accounts_that_their_names_have_in_them(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    third = journal.create("/accounts", name="Apex 50K")["id"]
    await sign_in(page, journal, "import")
    await drop(page, "apex_50k_master 2026.csv", FILE, **{"Fills-Apex-50K": FILE, "unnamed": FILE})
    await see(page, "Import 6 trades of 2 files into 2 accounts", "#import-all")
    await see(page, "needs an answer below", "section[aria-label='All files']")
    await answer(page, "Which account are these trades from?", "Sim")
    await see(page, "Import 9 trades of 3 files into 3 accounts", "#import-all")
    await page.click("#import-all")
    await expect(page.locator("section[aria-label='All files'] .gain:text('imported')")).to_have_count(3)

    held = [one["account_id"] for one in journal.read("/trades")]
    assert {account: held.count(account) for account in held} == dict.fromkeys([*accounts, third], 3)
    await page.click("button:text('Close all')")
    await expect(page.locator("section[aria-label=File]")).to_have_count(0)
    await page.click("#where-is-it")
    await see(page, "Position History", "dialog")


async def test_copies_of_a_drop_get_accounts_like_the_last_and_are_not_imported_whole_hours_apart(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    journal.patch(f"/accounts/{accounts[1]}", broker="Apex", starting_balance=50_000, fees={"default": 1})
    journal.client.put(f"/accounts/{accounts[0]}/rules", json={"daily_loss": 500}).raise_for_status()
    await sign_in(page, journal, "import")
    file = f"{PAIRS}\n{PAIR.format(1, 2)}"
    await drop(page, "Apex 50K 2 - Trades 2026-01-07.csv", file, **{"TS_3 (1)": file.replace("09:0", "10:0")})
    new = page.locator("button:text('New account…')")
    for left, name in ((1, "Apex 50K 2"), (0, "TS 3")):
        await expect(new).to_have_count(left + 1)
        await new.first.click()
        assert await page.input_value("#edit [name=name]") == name
        await choose(page, "#edit [name=rules_of]", "Sim")
        await save(page)
        await expect(new).to_have_count(left)
    await page.fill("#timezone-1", "UTC")
    await page.keyboard.press("Tab")

    await see(page, "TS_3 (1).csv has the trades of Apex 50K 2 - Trades 2026-01-07.csv, 1 hour later.")
    await expect(page.locator("#import-all")).to_be_disabled()
    await page.fill("#timezone-1", "Europe/Berlin")
    await page.keyboard.press("Tab")
    await page.click("#import-all:text('Import 2 trades of 2 files into 2 accounts')")
    await expect(page.locator("section[aria-label='All files'] .gain:text('imported')")).to_have_count(2)

    for account in journal.read("/accounts"):
        if account["id"] not in accounts:
            assert (account["broker"], account["starting_balance"]) == ("Apex", 50_000)
            assert account["fees"] == {"default": 1}
            assert journal.read(f"/accounts/{account['id']}/rules")["daily_loss"] == 500


async def test_rows_of_pairs_are_joined_to_positions_and_made_rows_again(
    page: Page, journal: PageJournal
) -> None:
    file = "\n".join([PAIRS, PAIR.format(1, 3), PAIR.format(2, 4)])
    account = journal.create("/accounts", name="Sim")["id"]
    journal.import_file(file, account_id=account, timezone="UTC", one_trade_is="row")
    await sign_in(page, journal, "import")

    await page.click(f"{IMPORTS} >> text=Join rows")
    await see(page, "2 rows of Tradovate performance are 1 position: join them?")
    await page.click("dialog .primary")
    await no_dialog(page)
    await page.click(f"{IMPORTS} >> text=Rows again")
    await see(page, "Join rows")

    assert len(journal.read("/trades")) == 2


async def test_a_trade_that_may_be_there_already_stands_beside_it_and_is_imported_on_request_alone(
    page: Page, journal: PageJournal
) -> None:
    account = journal.create("/accounts", name="Sim")["id"]
    journal.import_file("\n".join([PAIRS, PAIR.format(1, 3)]), account_id=account)
    other = "7,MNQH6,02/12/2026 09:00:01 +00:00,02/12/2026 09:01:03 +00:00,100,101,1,4,2,Long"
    await sign_in(page, journal, "import")
    await drop(page, "other.csv", f"{OTHER_PAIRS}\n{other}")

    await see(page, "1 trade may be in the journal already.")
    await see(page, "What the file has is at the time of a position that another file has added.")
    stored, mine = await values_of(page, "table[aria-label=Suspects] tbody tr")
    assert stored.split("\t")[:3] == ["Journal", "MNQH6", "long"]
    assert mine.split("\t")[0] == "Line 2"
    marked = "table[aria-label=Suspects] tbody tr:nth-child({}) mark"
    assert await values_of(page, marked.format(1)) == ["1", "2", "0"]
    assert await values_of(page, marked.format(2)) == ["2", "4", "1"]
    await expect(page.locator("#import")).to_be_disabled()
    await page.click("button:text('Import anyway')")
    await page.click("#import:text('Import 1 trade into Sim')")
    await see(page, "Imported: 1 new trade")

    assert [one["quantity"] for one in journal.read("/trades")] == [2, 1]


async def test_one_press_imports_the_files_of_a_copy_group_and_an_undo_says_which_copies_it_frees(
    page: Page, journal: PageJournal, accounts: list[int]
) -> None:
    group = journal.create("/copy-groups", name="Copies")
    members = [{"account_id": one, "quantity_multiplier": 1} for one in accounts]
    journal.client.put(f"/copy-groups/{group['id']}/members", json={"members": members})
    journal.patch(f"/copy-groups/{group['id']}", master_account_id=accounts[1])
    await sign_in(page, journal, "import")
    await drop(page, "Sim.csv", WITH_ZONE, **{"Apex 50K Master": WITH_ZONE})
    await page.click("#import-all:text('Import 6 trades of 2 files into 2 accounts')")
    await expect(page.locator("section[aria-label='All files'] .gain:text('imported')")).to_have_count(2)
    assert len([one for one in journal.read("/trades") if one["source_trade_id"]]) == 3

    undo = "button[aria-label='Undo the import of Apex 50K Master.csv']"
    await page.click(f"{IMPORTS} {undo}")
    await see(page, "3 copies in other accounts lose their originals.", "dialog")
    await page.click("dialog .primary")
    await no_dialog(page)
    assert {one["account_id"] for one in journal.read("/trades")} == {accounts[0]}


@pytest.mark.parametrize(
    ("content", "is_asked"),
    [
        (FILLS, False),
        ("\n".join([PAIRS, PAIR.format(1, 3)]), False),
        ("\n".join([PAIRS, PAIR.format(1, 3), PAIR.format(2, 4)]), True),
    ],
    ids=["fills", "pairs that are no larger positions", "pairs of one position"],
)
async def test_what_one_trade_is_is_asked_only_where_it_changes_something(
    page: Page, journal: PageJournal, content: str, is_asked: bool
) -> None:
    journal.create("/accounts", name="Sim")
    await sign_in(page, journal, "import")
    await drop(page, "file.csv", content)
    await page.click("button:text('Use UTC')")
    await page.wait_for_selector("#import")

    await expect(page.locator("#one_trade_is")).to_have_count(int(is_asked))
    if content == FILLS:
        await see(page, "1 position is open at the end of the file: the next file completes it.")


async def test_every_refused_row_has_its_line_and_its_reason(page: Page, journal: PageJournal) -> None:
    journal.create("/accounts", name="Sim")
    rows = WITH_ZONE.splitlines()
    bad = [row.replace("long", "up") for row in rows[1:3]] + [rows[3], rows[3].replace(",1,", ",x,")]
    await sign_in(page, journal, "import")
    await drop(page, "bad.csv", "\n".join([rows[0], *bad]))

    await see(page, "3 errors")
    told = [row.split("\t") for row in await values_of(page, "table[aria-label=Rows] tbody tr")]
    assert [(lines, verdict, why[:18]) for lines, verdict, why in told] == [
        ("2\N{EN DASH}3", "error", "direction must be "),
        ("5", "error", "quantity must be a"),
    ]
