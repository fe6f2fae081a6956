"""The import view of the page at /: it writes what it shows, and asks before an undo (docs/page.md)."""

import re
from pathlib import Path
from typing import Any

import pytest
from chromium import PageJournal, Tab, in_a_browser
from commands import command, run_ok
from playwright.async_api import expect

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
ONE_PAIR, TWO_PAIRS = (f"{PAIRS}\n{PAIR.format(1, 3)}", f"{PAIRS}\n{PAIR.format(1, 3)}\n{PAIR.format(2, 4)}")
OTHER_PAIRS = """\
Id,ContractName,EnteredAt,ExitedAt,EntryPrice,ExitPrice,Fees,PnL,Size,Type
7,MNQH6,02/12/2026 09:00:01 +00:00,02/12/2026 09:01:03 +00:00,100,101,1,4,2,Long
"""
FILLS = """\
Instrument,Quantity,Avg fill price,Time,Commission,Rate,Account,Order Id,Name
ES 03-24,1,4500.00,1/15/2024 9:30:00 AM,2.12,Buy,Sim,a,Entry
ES 03-24,1,4510.00,1/15/2024 9:45:00 AM,2.12,Sell,Sim,b,Exit
NQ 03-24,2,15000.00,1/15/2024 11:00:00 AM,4.24,Buy,Sim,c,Long
"""
IMPORTS = "section[aria-label=Imports]"
ALL_FILES = "section[aria-label='All files']"
TABLE = "table[aria-label='{}'] tbody tr"
WHOSE = "Which account are these trades from?"


@pytest.fixture
def accounts(page_journal: PageJournal) -> list[int]:
    """Two accounts, so that none is chosen."""
    return [page_journal.create("/accounts", name=name)["id"] for name in ("Sim", "Apex 50K Master")]


async def answer(page: Tab, question: str, choice: str) -> None:
    """Press the button that answers a question about a file."""
    await page.press(choice, f"[aria-label='{question}']")


async def describe(page: Tab, *, short: str = "Down") -> None:
    """Say what the columns of the unknown file hold."""
    await page.fill_in("#profile", long="Up", short=short)
    await page.click("#profile .primary")


async def import_all(page: Tab, button: str, files: int) -> None:
    await page.press(button)
    await page.count(f"{ALL_FILES} .gain:text('imported')", files)


def naming(*names: str) -> str:
    """A file of a trade in each of these accounts."""
    header, *rows = WITH_ZONE.splitlines()
    return "\n".join([f"account,{header}", *(f"{one},{row}" for one, row in zip(names, rows, strict=False))])


# One file ------------------------------------------------------------------------------------------------


async def test_a_first_file_is_dropped_imported_and_undone(page: Tab, page_journal: PageJournal) -> None:
    await page.sign_in(page_journal, "import")
    await page.drop("round trips.csv", WITH_ZONE)
    await answer(page, WHOSE, "New account…")
    await page.fill("#edit [name=name]", "Main account")
    await page.save()
    await page.see("Import 3 trades into Main account")

    rows = WITH_ZONE.splitlines()
    bad = [row.replace("long", "up") for row in rows[1:3]] + [rows[3], rows[3].replace(",1,", ",x,")]
    for content, words in (
        ("", "This file is empty."),
        ("\n\n", "There is no table with a header and rows in this file."),
        ("\n".join([rows[0], *bad]), "3 errors"),
    ):
        await page.drop("bad.csv", content)
        await page.see(words)
    await page.see_all(
        TABLE.format("Rows"),
        re.compile("^2\N{EN DASH}3\\s+error\\s+direction must be "),
        re.compile(r"^5\s+error\s+quantity must be a"),
    )
    await expect(page.locator("#import")).to_be_disabled()
    await page.press("Leave out 3 rows")
    await page.see("Import 1 trade into Main account")
    await page.drop("round trips.csv", WITH_ZONE)
    await page.see("3 new")
    assert page_journal.read("/trades") == []
    await page.click("#import")
    await page.see("Imported: 3 new trades")
    assert len(page_journal.read("/trades")) == 3

    await page.drop("round trips.csv", WITH_ZONE)
    await page.see("All 3 are already there.")
    await expect(page.locator("#import")).to_be_disabled()
    await page.press("Undo the import of round trips.csv")
    await page.gone(IMPORTS)
    assert page_journal.read("/trades") == []


async def test_an_unknown_header_is_described_and_corrected(page: Tab, page_journal: PageJournal) -> None:
    page_journal.create("/accounts", name="Main")
    page_journal.patch("/me", timezone="Europe/Berlin")
    await page.sign_in(page_journal, "import")
    await page.drop("acme.csv", UNKNOWN)
    await page.see("The header of this file is unknown")
    await describe(page, short="Dwon")
    await page.see("The times in this file have no time zone.")
    await expect(page.get_by_text("HTTP")).to_have_count(0)
    await page.press("Use Europe/Berlin")
    await page.see("1 error")
    await page.press("Change the columns")
    await page.holds("#profile [name=long]", "Up")
    await describe(page)
    await page.see("2 new")
    await page.see("Times are read in Europe/Berlin")
    await page.click("#import")
    await page.see("Imported: 2 new trades")

    trades = page_journal.read("/trades")
    assert [(one["direction"], one["net_pnl"]) for one in trades] == [("short", 10), ("long", 10)]
    assert trades[1]["opened_at"][:16] == "2026-01-05T09:00"
    await page.click("section[aria-label='Your formats'] .danger")
    await page.agree("Remove it", "What was imported stays.")
    await page.gone("section[aria-label='Your formats']")
    assert page_journal.read("/import-profiles") == []


async def test_what_is_imported_is_what_was_shown(
    page: Tab, page_journal: PageJournal, accounts: list[int]
) -> None:
    await page.sign_in(page_journal, "import")
    await page.drop("trades.csv", FILE)
    await answer(page, WHOSE, "Sim")
    await page.see("Import 3 trades into Sim")
    figures = "Days Jan 5 – Jan 7 Trades 3 Quantity 3"
    await expect(page.locator(".figures")).to_contain_text(figures, use_inner_text=True)
    await page.see("Gross = net, no costs +3.00", ".figures")
    await page.see("ES 1 1 +1.00 0.00 +1.00", "table[aria-label=Symbols]")
    await expect(page.locator(TABLE.format("First and last trades"))).to_have_count(3)

    zone = page.locator("#options [name=timezone]")
    await zone.fill("Mars")
    await page.keys("Tab")
    await page.see("Name a city of the time zone, such as Berlin", "#options [data-field=timezone]")
    await page.drawn("import")
    await page.gone("#import")
    await zone.fill("UTC")
    await page.keys("Tab")
    await page.wait_for_selector("#import")
    await zone.fill("new york")
    await page.click("#import")  # which leaves the field first
    await page.see("Times are read in America/New_York (as you said).")
    assert page_journal.read("/trades") == []
    await page.choose("#account_id", "Apex 50K Master")
    await page.see("Import 3 trades into Apex 50K Master")
    page_journal.import_file(f"{HEADER}\n{ROWS[0]}", account_id=accounts[1], timezone="America/New_York")
    await page.click("#import")
    await page.see("The journal has changed since this was shown")
    await page.see("2 new")
    assert len(page_journal.read("/trades")) == 1
    await page.click("#import")
    await page.see("Imported: 2 new trades, 0 updated, 1 already there")
    await page.see("Apex 50K Master", f"{IMPORTS} tbody tr")
    trades = page_journal.read("/trades")
    assert {(one["account_id"], one["opened_at"][11:16]) for one in trades} == {(accounts[1], "19:00")}


async def test_accounts_that_a_file_names_are_created_or_mapped(page: Tab, page_journal: PageJournal) -> None:
    page_journal.create(
        "/accounts", name="Sim"
    )  # the only account is not the answer for a file that names several
    await page.sign_in(page_journal, "import")
    await page.drop("two.csv", naming("Sim101", "Eval 7"))
    await page.see("Create 2 accounts", "#create-accounts")
    await answer(page, "Which account is Eval 7?", "Sim")
    await page.gone("#create-accounts")
    await answer(page, "Which account is Sim101?", "New account…")
    await page.holds("#edit [name=name]", "Sim101")
    await page.save()
    await page.press("Import 2 trades into 2 accounts")
    await page.see("Imported: 2 new trades")
    names = {one["id"]: one["name"] for one in page_journal.read("/accounts")}
    placed = {(trade["symbol"], names[trade["account_id"]]) for trade in page_journal.read("/trades")}
    assert placed == {("ES", "Sim101"), ("NQ", "Sim")}
    await page.see_all(f"{IMPORTS} tbody td:nth-child(2)", re.compile("^(Sim, Sim101|Sim101, Sim)$"))

    await page.drop("new.csv", naming("Live 1", "Live 2"))
    await page.press("Create 2 accounts")
    await page.see("Import 2 trades into 2 accounts")


async def test_a_correction_shows_both_values_and_costs_are_asked_for(
    page: Tab, page_journal: PageJournal, accounts: list[int]
) -> None:
    numbered = [f"{row},{number}" for number, row in enumerate(ROWS)]
    page_journal.import_file(f"{HEADER},external_id\n{numbered[0]}", account_id=accounts[0])
    await page.sign_in(page_journal, "import")
    await page.drop("again.csv", "\n".join([f"{HEADER},external_id", *numbered]).replace(",101,", ",103,"))
    await answer(page, WHOSE, "Sim")
    await page.see("Exit price: 101 → 103", "table[aria-label=Rows]")
    await page.press("Close")
    await page.drop("trades.csv", FILE)
    await answer(page, WHOSE, "Sim")
    await page.see("This file states no costs. What do you pay per side?")
    await page.fill(".costs [name=per_side]", "1.25")
    await page.press("Charge this", ".costs")
    await page.agree("Charge them", "Charge 1 earlier trade of Sim too?")
    await page.gone(".costs")
    await page.see("Commissions of Sim: 7.50 on 3 rows.")
    await page.click("#import")
    await page.see("Imported: 3 new trades")
    assert {one["fees"] for one in page_journal.read("/trades")} == {2.5}
    await page.see(re.compile(r"Jan 5 – Jan 7\s+3\s+−4\.50"), f"{IMPORTS} tbody tr")


# Several files -------------------------------------------------------------------------------------------


async def test_files_go_into_the_accounts_that_their_names_have(
    page: Tab, page_journal: PageJournal, accounts: list[int]
) -> None:
    third = page_journal.create("/accounts", name="Apex 50K")["id"]
    group = f"/copy-groups/{page_journal.create('/copy-groups', name='Copies')['id']}"
    members = [{"account_id": one, "quantity_multiplier": 1} for one in accounts]
    page_journal.put(f"{group}/members", members=members)
    page_journal.patch(group, master_account_id=accounts[1])
    await page.sign_in(page_journal, "import")
    await page.drop("apex_50k_master 2026.csv", FILE, **{"Fills-Apex-50K": FILE, "unnamed": FILE})
    await page.see("Import 6 trades of 2 files into 2 accounts", "#import-all")
    await page.see("needs an answer below", ALL_FILES)
    await answer(page, WHOSE, "Sim")
    await import_all(page, "Import 9 trades of 3 files into 3 accounts", 3)
    held = [one["account_id"] for one in page_journal.read("/trades")]
    assert {account: held.count(account) for account in held} == dict.fromkeys([*accounts, third], 3)
    assert len([one for one in page_journal.read("/trades") if one["source_trade_id"]]) == 3
    await page.press("Close all")
    await page.gone("section[aria-label=File]")
    await page.press("Undo the import of apex_50k_master 2026.csv", IMPORTS)
    await page.see("3 copies in other accounts lose their originals.", "dialog")
    await page.save("dialog")
    assert {one["account_id"] for one in page_journal.read("/trades")} == {accounts[0], third}

    await page.drop("one.csv", naming("Live"), other=naming("Live").replace("ES", "NQ"))
    await page.click("[aria-label='Which account is Live?'] button:text('New account…') >> nth=0")
    await page.save()  # asked for once for all files that name it, as its costs are
    await page.count(".costs", 2)
    await page.fill(".costs [name=per_side] >> nth=0", "1")
    await page.click(".costs button >> nth=0")
    await page.gone(".costs")
    await import_all(page, "Import 2 trades of 2 files into Live", 2)
    assert [one["fees"] for one in page_journal.read("/trades") if one["fees"]] == [2, 2]
    await page.press("Where do I find the file?")
    await page.see("Position History", "dialog")


async def test_copies_are_not_imported_whole_hours_apart(
    page: Tab, page_journal: PageJournal, accounts: list[int]
) -> None:
    page_journal.patch(
        f"/accounts/{accounts[1]}", broker="Apex", starting_balance=50_000, fees={"default": 1}
    )
    page_journal.put(f"/accounts/{accounts[0]}/rules", daily_loss=500)
    await page.sign_in(page_journal, "import")
    file = f"{PAIRS}\n{PAIR.format(1, 2)}"
    await page.drop("Apex 50K 2 - Trades 2026-01-07.csv", file, **{"TS_3 (1)": file.replace("09:0", "10:0")})
    new = page.locator("button:text('New account…')")
    for left, name in ((1, "Apex 50K 2"), (0, "TS 3")):
        await expect(new).to_have_count(left + 1)
        await new.first.click()
        await page.holds("#edit [name=name]", name)
        await page.choose("#edit [name=rules_of]", "Sim")
        await page.save()
        await expect(new).to_have_count(left)
    await page.enter("#timezone-1", "UTC")

    await page.see("TS_3 (1).csv has the trades of Apex 50K 2 - Trades 2026-01-07.csv, 1 hour later.")
    await expect(page.locator("#import-all")).to_be_disabled()
    await page.enter("#timezone-1", "Europe/Berlin")
    await import_all(page, "Import 2 trades of 2 files into 2 accounts", 2)
    for account in page_journal.read("/accounts"):
        if account["id"] not in accounts:
            assert (account["broker"], account["starting_balance"]) == ("Apex", 50_000)
            assert account["fees"] == {"default": 1}
            assert page_journal.read(f"/accounts/{account['id']}/rules")["daily_loss"] == 500


# What is in the journal already --------------------------------------------------------------------------


async def test_rows_are_joined_and_suspects_are_asked_about(page: Tab, page_journal: PageJournal) -> None:
    account = page_journal.create("/accounts", name="Sim")["id"]
    page_journal.import_file(TWO_PAIRS, account_id=account, one_trade_is="row")
    await page.sign_in(page_journal, "import")
    await page.press("Join rows", IMPORTS)
    await page.see("2 rows of Tradovate performance are 1 position: join them?", "dialog")
    await page.save("dialog")
    await page.press("Rows again", IMPORTS)
    await page.see("Join rows")
    assert len(page_journal.read("/trades")) == 2

    page_journal.delete(f"/imports/{page_journal.read('/imports')[0]['id']}")
    page_journal.import_file(ONE_PAIR, account_id=account)
    await page.drop("other.csv", OTHER_PAIRS)
    await page.see("1 trade may be in the journal already.")
    await page.see("What the file has is at the time of a position that another file has added.")
    suspects = TABLE.format("Suspects")
    await page.see_all(suspects, re.compile(r"^Journal\s+MNQH6\s+long"), re.compile("^Line 2"))
    await page.see_all(f"{suspects}:first-child mark", "1", "2", "0")
    await page.see_all(f"{suspects}:last-child mark", "2", "4", "1")
    await expect(page.locator("#import")).to_be_disabled()
    await page.press("Import anyway")
    await page.press("Import 1 trade into Sim")
    await page.see("Imported: 1 new trade")
    assert [one["quantity"] for one in page_journal.read("/trades")] == [2, 1]

    for content, is_asked in ((FILLS, False), (ONE_PAIR, False), (TWO_PAIRS, True)):
        await page.press("Done" if content == FILLS else "Close")
        await page.drop("file.csv", content)
        if content == FILLS:
            await page.press("Use UTC")
            await page.see("1 position is open at the end of the file: the next file completes it.")
        await page.wait_for_selector("#import")
        await page.count("#one_trade_is", int(is_asked))


async def test_an_undo_keeps_what_was_annotated_unless_told(
    page: Tab, page_journal: PageJournal, accounts: list[int]
) -> None:
    page_journal.import_file(FILE, account_id=accounts[0], file_name="trades.csv")
    trades: list[Any] = page_journal.read("/trades")
    page_journal.patch(f"/trades/{trades[0]['id']}", tag_ids=page_journal.add_tags("Patient"))
    page_journal.patch(f"/trades/{trades[1]['id']}", fees=1)
    await page.sign_in(page_journal, "import")

    for choice, left in (
        (".row:last-child button", [one["id"] for one in trades]),  # Cancel
        (".primary", [one["id"] for one in trades[:2]]),
        (".danger", []),
    ):
        await page.click(f"{IMPORTS} .danger")
        if len(left) > 2:
            await page.see("1 trade is deleted.", "dialog")
            await page.see("2 trades of this file were edited since; 1 of them with notes, a grade", "dialog")
            await page.keys("Escape")
            await page.no_dialog()
            await page.click(f"{IMPORTS} .danger")
        await page.see("edited since", "dialog")
        await page.click(f"dialog {choice}")
        await page.no_dialog()
        assert [trade["id"] for trade in page_journal.read("/trades")] == left
        await page.show("today")
        await page.show("import")


async def test_an_import_of_a_watched_folder_is_said_and_undone(
    page: Tab, page_journal: PageJournal, accounts: list[int], tmp_path: Path
) -> None:
    page_journal.import_file(FILE, account_id=accounts[0], file_name="by hand.csv")
    (tmp_path / "bad.csv").write_text("no table")
    command("watch", tmp_path, "--once", "--db", page_journal.db)
    (tmp_path / "day.csv").write_text(WITH_ZONE.replace("ES", "YM"))
    run_ok("watch", tmp_path, "--account", "Apex 50K Master", "--once", "--db", page_journal.db)
    await page.sign_in(page_journal, "import")

    await page.see_all(f"{IMPORTS} tbody td:first-child", "day.csv (by itself)", "bad.csv", "by hand.csv")
    await page.show("today")
    await page.see("▲ bad.csv was refused", ".refused")
    await page.click(".refused button")
    await page.gone(".refused")
    lines = page.locator(".notice:has(.danger)")
    await expect(lines).to_have_text(re.compile(r"^3 trades from day\.csv at \d\d:\d\dUndo$"))
    await page.press("Undo the import of day.csv")
    await expect(lines).to_have_count(0)
    await page.show("import")
    await page.count(f"{IMPORTS} tbody tr", 1)
    assert len(page_journal.read("/trades")) == 3
