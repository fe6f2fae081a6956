"""The import view of the page at /: it asks in few clicks, writes what it shows, and asks before an undo."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from chromium import ISO, PageJournal, Tab, eventually, in_a_browser
from playwright.async_api import expect
from proofs import only_in_soak

pytestmark = in_a_browser

HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at"
ROWS = [
    f"{symbol},long,1,100,101,2026-01-0{day} 14:00:00,2026-01-0{day} 15:00:00"
    for day, symbol in ((5, "ES"), (6, "NQ"), (7, "GC"))
]
FILE = "\n".join([HEADER, *ROWS])
WITH_ZONE = FILE.replace(":00:00", ":00:00Z")
UNKNOWN = """\
Ticker,Way,In,Out,From,To,Fee,Cut
ABC,Up,100,111,2026-01-05 10:00,2026-01-05 11:00,1,-2
ABC,Down,112,101,2026-01-05 12:00,2026-01-05 13:00,1,-2
"""
PAIRS = "symbol,buyFillId,sellFillId,qty,buyPrice,sellPrice,pnl,boughtTimestamp,soldTimestamp"
PAIR = "MNQH6,{0},{1},1,100,101,$2.00,02/12/2026 09:00:0{0},02/12/2026 09:01:0{1}"
ONE_PAIR = f"{PAIRS}\n{PAIR.format(1, 3)}"
TWO_FILLS = """\
Date,Time,Symbol,Quantity,Price,Side
02/12/2026,09:00:01,MNQH6,1,100,Buy
02/12/2026,09:01:03,MNQH6,1,101,Sell
"""
OTHER_PAIRS = """\
Id,ContractName,EnteredAt,ExitedAt,EntryPrice,ExitPrice,Fees,PnL,Size,Type
7,MNQH6,02/12/2026 09:00:01 +00:00,02/12/2026 09:01:03 +00:00,100,101,1,4,2,Long
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


async def import_all(page: Tab, button: str, files: int) -> None:
    await page.press(button)
    await page.count(f"{ALL_FILES} .gain:text('imported')", files)


CZECH = """\
Datum;Směr;Symbol;Cena;Kusy;Poplatek;Daň
2026-01-06 15:40;Nákup;AAPL;185,50;100;1;2
2026-01-07 15:40;Prodej;AAPL;187,00;100;1;2
"""
SECTIONS = """\
Done
Ware,Way,Amount,Left,Rate,When
ABC,In,2,2,100,2026-01-05 10:00
,Out,2,0,111,2026-01-05 11:00

Open
Ware,Way,Amount,Left,Rate,When
ABC,In,7,7,100,2026-01-06 10:00
"""
OPTIONS = """\
Datum,Uhrzeit,Symbol,Expiry,Strike,Call/Put,Action,Menge,Wert
14-03-13,09:31,QLTX,2014-03-21,12,C,Buy to open,2,4
14-03-13,10:31,QLTX,2014-03-21,12,C,Sell to close,2,6
"""


def naming(*names: str) -> str:
    """A file of a trade in each of these accounts."""
    header, *rows = WITH_ZONE.splitlines()
    return "\n".join([f"account,{header}", *(f"{one},{row}" for one, row in zip(names, rows, strict=False))])


COUNT_CLICKS = """() => {
    window.clicks = 0;
    addEventListener("click", ({ isTrusted, target }) => {
        window.clicks += isTrusted && !target.closest("label.drop");
    }, true);
}"""
ONE_ACCOUNT = f"{PAIRS}\nMNQH6,1,2,1,100,110,$20.00,02/12/2026 09:00:01,02/12/2026 09:01:02\n" + (
    "MNQH6,4,3,1,100,90,$(20.00),02/12/2026 10:01:02,02/12/2026 10:00:01\n"
)
FOUR_ACCOUNTS = "Instrument,Action,Quantity,Price,Time,ID,E/X,Account display name\n" + "".join(
    f"MNQ 03-26,{action},1,{price},2/12/2026 9:0{minute}:0{number},{number}{minute},{effect},Apex {number}\n"
    for number in range(1, 5)
    for minute, (action, price, effect) in enumerate([("Buy", 100, "Entry"), ("Sell", 110, "Exit")])
)


async def see_first_numbers(page: Tab, journal: PageJournal, net: str, most: int) -> None:
    """Import what is shown, after at most that many clicks."""
    await page.see(net.removeprefix("-"), ".figures")
    if await page.locator("#copies").count():
        await page.click("#copies")
        await page.save()
    await page.click("#import")
    await page.see("Imported: ")
    assert await page.evaluate("window.clicks") <= most
    assert f"{sum(trade['net_pnl'] for trade in journal.read('/trades')):.2f}" == net
    await page.no_dialog()


async def test_a_first_file_is_imported_in_few_clicks_corrected_and_undone(
    page: Tab, page_journal: PageJournal
) -> None:
    await page.sign_in(page_journal, "import")
    await page.evaluate(COUNT_CLICKS)
    await page.press("Count days like this")
    await page.drop("Apex 50K - Performance.csv", ONE_ACCOUNT)
    await page.press("Create Apex 50K")
    await page.gone(f"[aria-label='{WHOSE}']")
    await page.press("Use America/New_York")
    await page.fill(".costs [name=per_side]", "0.37")
    await page.press("Charge this")
    await see_first_numbers(page, page_journal, "-1.48", 6)

    await page.drop("bad.csv", WITH_ZONE.replace("long", "up", 1))
    await page.see("1 error")
    await page.see_all(TABLE.format("Rows"), re.compile("^2\\s+error\\s+direction must be "))
    await expect(page.locator("#import")).to_be_disabled()
    await page.press("Leave out 1 row")
    await page.see("Import 2 trades into Apex 50K", "#import")
    page_journal.import_file("\n".join(WITH_ZONE.splitlines()[::3]), account_id=1)
    await page.click("#import")
    await page.see("The journal has changed: here is what the file would do now.")
    assert len(page_journal.read("/trades")) == 3
    await page.click("#import")
    await page.see("Imported: 1 new trade, 0 updated, 1 already there")
    await page.drop("bad.csv", "\n".join(WITH_ZONE.splitlines()[::3]))
    await page.see("All 1 are already there.")
    await expect(page.locator("#import")).to_be_disabled()
    edited, *_ = page_journal.read("/trades")
    page_journal.patch(f"/trades/{edited['id']}", fees=1)
    for choice, left in (("Undo, and keep what was edited", 1), ("Undo, and delete that one too", 0)):
        await page.press("Undo the import of Apex 50K - Performance.csv")
        await page.see("edited since", "dialog")
        await page.agree(choice)
        assert len(page_journal.read("/trades")) == left + 2


@only_in_soak
async def test_four_accounts_with_copies_are_imported_in_few_clicks(page: Tab, page_journal: PageJournal) -> None:
    await page.sign_in(page_journal, "import")
    await page.evaluate(COUNT_CLICKS)
    await page.press("Count days like this")
    await page.drop("executions.csv", FOUR_ACCOUNTS)
    await page.press("Use America/New_York")
    await page.press("Create 4 accounts")
    await page.fill(".costs [name=per_side] >> nth=0", "0.37")
    await page.press("Charge all")
    await see_first_numbers(page, page_journal, "77.04", 12)
    assert [one["source_trade_id"] is None for one in page_journal.read("/trades")].count(False) == 3


async def test_an_unknown_header_is_described_and_corrected(page: Tab, page_journal: PageJournal) -> None:
    page_journal.create("/accounts", name="Main")
    page_journal.patch("/me", timezone="Europe/Berlin")
    await page.sign_in(page_journal, "import")
    await page.drop("acme.csv", UNKNOWN)
    await page.see("The header of this file is unknown")
    await page.choose("#profile [name=quantity]", "=1")
    proposed = expect(page.locator("#profile .primary"))
    await proposed.to_be_enabled()
    await page.page.locator("#profile [name=long]").select_text()
    await page.choose("#profile [name=costs]", "Cut")
    await proposed.to_be_enabled()
    await page.keys("U", "p")  # in the place of what is selected, although it was drawn anew
    await page.send("#profile", short="Dwon")
    await page.see("The times in this file have no time zone.")
    await page.press("Use Europe/Berlin")
    await page.see("1 error")
    await page.press("Change the columns")
    await page.holds("#profile [name=long]", "Up")
    await page.send("#profile", short="Down")
    await page.see("Change the columns")  # what was read may be wrong without an error
    await page.press("Import 2 trades into Main")
    await page.see("Imported: 2 new trades")
    trades = page_journal.read("/trades")
    assert [(one["direction"], one["net_pnl"]) for one in trades] == [("short", 9), ("long", 9)]
    assert trades[1]["opened_at"][:16] == "2026-01-05T09:00"
    await page.click("section[aria-label='Your formats'] .danger")
    await page.agree("Remove it", "What was imported stays.")
    await page.gone("section[aria-label='Your formats']")
    assert page_journal.read("/import-profiles") == []

    await page.drop("options.csv", OPTIONS)  # all that is proposed is remembered
    await page.click("#profile .primary")
    await page.press("The year")
    await page.press("Import 1 trade into Main")
    await page.see("Imported: 1 new trade")
    (profile,) = page_journal.read("/import-profiles")
    option = {"expires": "Expiry", "strike": "Strike", "right": "Call/Put"}
    assert [profile[name] for name in ("clock", "option", "divide_by")] == ["Uhrzeit", option, {"Wert": "Menge"}]
    (trade,) = page_journal.read("/trades", to="2014-12-31")
    assert (trade["opened_at"], trade["gross_pnl"]) == ("2014-03-13T08:31:00.000000Z", 2)


async def test_columns_that_are_changed_keep_what_the_form_does_not_show(page: Tab, page_journal: PageJournal) -> None:
    profile = {"kind": "fills", "header": ["Ware", "Way"], "section": "Done", "repeated": ["Ware"], "position": "Left"}
    columns = {"symbol": "Ware", "quantity": "Amount", "price": "Rate", "at": "When", "multiplier": "=1"}
    side = {"column": "Way", "long": ["In"], "short": ["Aus"]}
    page_journal.create("/import-profiles", name="Shop", **profile, **columns, side=side)
    page_journal.create("/accounts", name="Main")
    page_journal.patch("/me", timezone="Europe/Berlin")
    await page.sign_in(page_journal, "import")
    await page.drop("shop.csv", SECTIONS)
    await page.see("1 error")
    await page.press("Change the columns")
    await page.holds("#profile [name=short]", "Aus")
    await page.send("#profile", short="Out")
    await page.press("Use Europe/Berlin")
    await page.press("Import 1 trade into Main")
    await page.see("Imported: 1 new trade")
    (trade,) = page_journal.read("/trades")
    assert (trade["symbol"], trade["quantity"], trade["net_pnl"]) == ("ABC", 2, 22)
    (stored,) = page_journal.read("/import-profiles")
    assert stored.items() >= (profile | columns).items()


async def test_an_answer_about_a_column_is_for_its_file_and_keeps_what_is_typed(
    page: Tab, page_journal: PageJournal
) -> None:
    await page.sign_in(page_journal, "import")
    await page.drop("one.csv", CZECH, two=CZECH.replace("Směr", "Typ"))
    await page.fill("#profile-1 [name=name]", "Second")
    await page.choose("#profile-1 [name=quantity]", "Kusy")
    await page.holds("#profile-1 [name=short]", "Prodej")  # follows from the quantity
    await page.holds("#profile-1 [name=name]", "Second")
    await page.holds("#profile [name=name]", "New profile")
    await page.fill("#profile [name=name]", "First")
    await page.click("section[aria-label=File] .quiet >> nth=0")  # the second keeps what is its own
    await page.gone("#profile")
    await page.holds("#profile-1 [name=name]", "Second")
    await page.page.select_option("#profile-1 [name=costs]", ["Daň", "Poplatek"])
    await page.page.select_option("#profile-1 [name=multiplier]", "Cena")
    await page.choose("#profile-1 [name=multiplier]", "–")
    await page.click("#profile-1 .primary")
    await eventually(lambda: len(page_journal.read("/import-profiles")) == 1)
    (profile,) = page_journal.read("/import-profiles")
    assert (profile["name"], profile["side"]["column"], profile["multiplier"]) == ("Second", "Typ", None)
    assert sorted(profile["costs"]["columns"]) == ["Daň", "Poplatek"]


async def test_files_go_into_the_accounts_that_they_name(
    page: Tab, page_journal: PageJournal, accounts: list[int]
) -> None:
    page_journal.put(f"/accounts/{accounts[0]}/rules", daily_loss=500)
    await page.sign_in(page_journal, "import")
    await page.drop("apex_50k_master 2026.csv", FILE, unnamed=FILE)
    await page.see("needs an answer below", ALL_FILES)
    await page.count(f"{ALL_FILES} td:text-is('ready')", 1)  # both are read: no form is drawn again below a press
    await answer(page, WHOSE, "Sim")
    await import_all(page, "Import 6 trades of 2 files into 2 accounts", 2)
    held = Counter(one["account_id"] for one in page_journal.read("/trades"))
    assert held == dict.fromkeys(accounts, 3)
    await page.press("Close all")
    live = naming("Live")
    await page.drop("one.csv", live.replace("2026-", "2025-"), other=live.replace("2026-", "2024-"))
    await page.count(f"{ALL_FILES} tbody .warn", 2)
    await page.click("[aria-label='Which account is Live?'] button:text('New account…') >> nth=0")
    await page.holds("#edit [name=name]", "Live")
    await page.choose("#edit [name=rules_of]", "Sim")
    await page.save()  # asked for once for all files that name it
    await import_all(page, "Import 2 trades of 2 files into Live", 2)
    assert page_journal.read(f"/accounts/{accounts[1] + 1}/rules")["daily_loss"] == 500

    # Copies are not imported whole hours apart.
    await page.press("Close all")
    file = f"{PAIRS}\n{PAIR.format(1, 2)}"
    await page.drop("Sim.csv", file, **{"Apex 50K Master": file.replace("09:0", "10:0")})
    await page.count(f"{ALL_FILES} tbody .warn", 2)
    await page.enter("#timezone-1", "UTC")
    await page.see("Apex 50K Master.csv has the trades of Sim.csv, 1 hour later.")
    await expect(page.locator("#import-all")).to_be_disabled()
    await page.enter("#timezone-1", "Europe/Berlin")
    await page.see("Import 2 trades of 2 files into 2 accounts", "#import-all")


async def test_what_is_sold_and_not_bought_was_held_before_if_the_trader_says_so(
    page: Tab, page_journal: PageJournal
) -> None:
    page_journal.create("/accounts", name="Cash")
    rows = "02/12/2026,09:00:01,QLTX,2,100,Sell\n02/13/2026,09:01:03,QLTX,1,99,Buy\n"
    await page.sign_in(page_journal, "import")
    await page.drop("cash.csv", f"Date,Time,Symbol,Quantity,Price,Side\n{rows}")
    await page.enter("#timezone", "UTC")
    await page.see("QLTX ▼ short")
    await page.choose("[name=long_only]", "held before")
    await page.see("QLTX ▲ long")
    await page.see("1 without an opening")
    await page.click("#import")
    await page.see("Imported: ")

    assert [trade["direction"] for trade in page_journal.read("/trades")] == ["long"]


async def test_what_may_be_there_already_is_joined_or_asked_about(
    page: Tab, page_journal: PageJournal, accounts: list[int]
) -> None:
    rows = {"account_id": accounts[0], "one_trade_is": "row"}
    page_journal.import_file(f"{ONE_PAIR}\n{PAIR.format(2, 4)}", **rows)
    await page.sign_in(page_journal, "import")
    await page.press("Join rows", IMPORTS)
    await page.see("2 rows of Tradovate performance are 1 position: join them?", "dialog")
    await page.save("dialog")
    await page.press("Rows again", IMPORTS)
    await page.see("Join rows")
    assert len(page_journal.read("/trades")) == 2

    page_journal.delete(f"/imports/{page_journal.read('/imports')[0]['id']}")
    page_journal.import_file(TWO_FILLS, account_id=accounts[0], file_name="monday.csv")
    await page.drop("other.csv", OTHER_PAIRS)
    await answer(page, WHOSE, "Sim")
    await page.see("What the file has is contradicted by another file of the same time.")
    suspects = TABLE.format("Suspects")
    await page.see_all(suspects, re.compile(r"^Journal\s+MNQH6\s+long"), re.compile("^Line 2"))
    await page.see_all(f"{suspects}:last-child mark", "2", "4", "1")
    await page.press("Import anyway")
    await page.see("Import 1 trade into Sim", "#import")
    await page.press("Close")
    await page.drop("fills.csv", TWO_FILLS.replace(":01,", ":02,").replace(":03,", ":05,"))
    await answer(page, WHOSE, "Sim")
    await page.see("monday.csv tells the same time, and no fill in common")
    await page.press("Import anyway")
    await page.see("Import 1 trade into Sim")
    await page.press("Close")

    prices: dict[str, Any] = {"symbol": "MNQH6", "entry_price": 100, "exit_price": 101}
    typed = [page_journal.add_trade(0, "2026-02-13T09:00", 1, quantity=size, **prices) for size in (2, 3)]
    await page.drop("friday.csv", TWO_FILLS.replace("02/12", "02/13"))
    await answer(page, WHOSE, "Sim")
    await page.choose("[aria-label='Line 2 is']", f"trade {typed[1]}")
    await page.press("Import 1 trade into Sim")
    await page.see("Imported: 0 new trades, 1 updated")
    await page.show(f"trades?id={typed[1]}")
    await page.see("You typed 3 at 100,")
    assert [page_journal.read(f"/trades/{one}")["quantity"] for one in typed] == [2, 1]


@only_in_soak
async def test_what_watched_folders_brought_is_said_and_undone(page: Tab, page_journal: PageJournal) -> None:
    for day, name in ((2, "Apex 1"), (13, "Apex 2")):
        file = WITH_ZONE.replace("2026-01", "2025-02")
        account = page_journal.create("/accounts", name=name)["id"]
        page_journal.import_file(file, account_id=account, file_name=f"{day}.csv")
    eight_days_ago = f"{datetime.now(UTC) - timedelta(days=8):{ISO}}"
    page_journal.run_sql("UPDATE imports SET created_at = ? WHERE id = 1", eight_days_ago)
    page_journal.run_sql("UPDATE imports SET source = 'folder' WHERE id = 2")
    page_journal.run_sql(
        "INSERT INTO imports SELECT 3, user_id, NULL, 'refused', 'bad.csv', sha256, timezone, 0, 0, 0,"
        " created_at, updated_at, one_trade_is, source FROM imports WHERE id = 2"
    )
    await page.sign_in(page_journal)
    await page.see(re.compile("Last trade Feb 7, 2025, last import .*, Apex 1: 8 days ago"), "#freshness")
    await page.see("▲ bad.csv was refused", ".refused")
    await page.click(".refused button")
    await page.gone(".refused")
    lines = page.locator(".notice:has(.danger)")
    await expect(lines).to_have_text(re.compile(r"^3 trades from 13\.csv at \d\d:\d\dUndo$"))
    await page.press("Undo the import of 13.csv")
    await expect(lines).to_have_count(0)
    assert len(page_journal.read("/trades")) == 3
