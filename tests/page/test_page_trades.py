"""Trades on the page at /: judged, added, corrected, and written about (docs/page.md)."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from chromium import PageJournal, Tab, eventually, in_a_browser
from commands import new_key, rows
from pictures import PNG
from playwright.async_api import FilePayload, Route
from proofs import only_in_soak

pytestmark = in_a_browser
SETUPS = [{"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}]


def add_setup(journal: PageJournal) -> int:
    return int(journal.create("/strategies", name="Opening range", setups=SETUPS)["setups"][0]["setup_id"])


def present(trade: Any) -> list[bool]:
    return [one["was_present"] for one in trade["confirmations"]]


@only_in_soak
async def test_trades_are_judged_by_keyboard_faster_than_the_journal(page: Tab, page_journal: PageJournal) -> None:
    setup, tags = add_setup(page_journal), page_journal.add_tags(*(f"Tag {number}" for number in range(13)))
    first, second = (page_journal.add_trade(pnl, f"2026-03-0{pnl}T10:00", mae=4.5) for pnl in (2, 3))
    page_journal.patch(f"/trades/{second}", setup_id=setup)
    path = f"/trades/{first}"
    await page.sign_in(page_journal, "trades")
    await page.keys("j", "j", "Enter")  # the newest is first
    await page.see("4.50", "#trade .facts")
    await page.press("Opening range › Break", "#trade")
    await page.press("✓ all of them", "#trade")
    await page.gone("#all-yes")
    for tag in (3, 7):
        await page.enter("#add-tag", f"tag {tag}", "Enter")
        await page.wait_for_selector(f"#tag-{tags[tag]}[aria-pressed=true]")
    await page.locator("#add-tag").blur()
    async with page.held():
        await page.evaluate(
            "all => all.forEach((one) => document.querySelector(one).click())",
            [f"#tag-{tags[3]}", "[aria-label='no: Trend']", "#grade-1"],
        )
    await page.gone(f"#tag-{tags[3]}")
    await page.wait_for_selector("[aria-label='no: Trend'][aria-pressed=true]")
    await page.wait_for_selector("#grade-1[aria-pressed=true]")  # the last of the three, drawn as it is stored
    trade = page_journal.read(path)
    assert trade["grade"] == "A+"
    assert (trade["tag_ids"], trade["setup_id"], present(trade)) == ([tags[7]], setup, [True, False])

    async with page.held():
        await page.keys("3")
        page_journal.patch(path, grade="F")
    await page.see_all("dialog tbody tr", "Grade B F")
    await page.agree("Keep the stored version")
    await page.wait_for_selector("[data-grade=F][aria-pressed=true]")
    async with page.held():
        await page.keys("k", "2")
    await page.wait_for_selector(f"#trade[data-id='{second}']")
    await page.keys("3")
    await page.wait_for_selector("#grade-3[aria-pressed=true]")
    await page.keys("Escape")
    await page.gone("#trade")
    assert [page_journal.read(f"/trades/{one}")["grade"] for one in (first, second)] == ["F", "B"]


@asynccontextmanager
async def read_while_drawn(page: Tab) -> AsyncIterator[None]:
    """Let the view of a new trade be drawn once its pictures are asked for; they are there at the end."""
    viewed, asked, drawn = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def store(route: Route) -> None:
        await viewed.wait()
        await route.continue_()

    async def read_trade(route: Route) -> None:
        if viewed.is_set():
            asked.set()
            await drawn.wait()
        viewed.set()
        await route.continue_()

    async def read_list(route: Route) -> None:
        await asked.wait()
        await route.continue_()

    routes = {"**/trades/1/pictures": store, "**/trades/1": read_trade, "**/trades?*": read_list}
    for url, handler in routes.items():
        await page.route(url, handler)
    yield
    drawn.set()
    for url in routes:
        await page.unroute(url)


async def test_a_trade_is_added_by_hand_with_its_judgement(page: Tab, page_journal: PageJournal) -> None:
    page_journal.create("/accounts", name="Main")
    add_setup(page_journal)
    await page.sign_in(page_journal, "trades")
    await page.press("Add a trade")
    await page.see("When does your trading day begin?", "dialog")
    await page.click("dialog .primary")
    await page.focused("#new-trade [name=symbol]")
    await page.fill("#new-trade [name=symbol]", "ES")
    await page.press("Add the trade")
    await page.see("is required", "#new-trade [data-field=quantity]")
    await page.focused("#new-trade [name=quantity]")
    await page.choose("#new-trade [name=times_in]", "UTC time")
    await page.fill_in("#new-trade", quantity="2", entry_price="100", exit_price="103")
    await page.focus("#new-trade [name=opened_at]")
    await page.keyboard.type("030220261500P")  # a year of four digits, then the time
    await page.fill("#new-trade [name=closed_at]", "2026-03-02T15:05")
    await page.evaluate("performance.now = () => 0")  # a press of no time, however busy the machine is
    async with page.expect_response("**/strategies/1"), page.held():
        await page.choose("#new-trade #of-strategy_id", "Opening range")
        await page.hover("#new-trade #new-tag")
        await page.mouse.down()
    await page.evaluate("fetch('/health')")
    await page.mouse.up()
    await page.see("Name", "#edit")
    await page.keys("Escape")
    await page.choose("#new-trade #of-setup_id", "Break")
    await page.press("✓ all of them")
    await page.press("no: Trend")
    await page.press("New tag…")
    await page.send("#edit", name="Late", new_category="Timing")
    await page.wait_for_selector("#new-trade [aria-pressed=true]:text('Late')")
    picture: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": PNG}
    await page.set_input_files("#new-pictures", picture)
    async with read_while_drawn(page):
        await page.press("Add the trade")
        await page.see("+6.00", "#trade .big")
    await page.count("#trade .thumb", 1)
    (listed,) = page_journal.read("/trades")
    added = page_journal.read(f"/trades/{listed['id']}")
    assert (added["symbol"], added["net_pnl"], added["opened_at"][:16]) == ("ES", 6, "2026-03-02T15:00")
    assert ([one["name"] for one in added["tags"]], present(added)) == (["Late"], [True, False])
    assert (len(added["pictures"]), page_journal.read("/me")["day_rollover"]) == (1, "17:00")
    async with page.held():
        await page.set_input_files("#add-picture", picture)
        await page.press("Delete", "#trade")  # no view is drawn below its question
    await page.count("#trade .thumb", 2)
    await page.agree("Delete", "Delete this trade?")
    await page.see("No trade yet", ".empty")


# Exit price, gross P&L and close as they are typed; the field with the reason, and the reason.
REASONS = [
    ("25,310", "", "", "exit_price", "Needs the time at which the trade closed"),
    ("", "", "2026-11-13T16:17", "exit_price", "Write the exit price, or the gross P&L"),
    ("", "10", "2025-11-13T16:17", "closed_at", "Must not be before the trade opened"),
]


@only_in_soak
async def test_prices_and_times_are_corrected(page: Tab, page_journal: PageJournal) -> None:
    open_trade: dict[str, Any] = {"entry_price": 25_300.25, "exit_price": None, "closed_at": None}
    path = f"/trades/{page_journal.add_trade(at='2026-11-13T15:00:07', symbol='MNQZ6', **open_trade)}"
    before = page_journal.read(path)
    await page.sign_in(page_journal, path.replace("/trades/", "trades?id="))
    await page.press("Change prices and times")
    await page.holds("dialog [name=entry_price]", "25,300.25")
    for exit_price, gross_pnl, closed_at, place, reason in REASONS:
        await page.send("dialog", exit_price=exit_price, gross_pnl=gross_pnl, closed_at=closed_at)
        await page.see_all(f"dialog [data-field={place}]", reason)
    page_journal.patch(path, symbol="TSLA")
    typed = {"quantity": "2", "exit_price": "25,310.50", "gross_pnl": "", "closed_at": "2026-11-13T16:17"}
    await page.send("dialog", **typed)
    await page.see("Symbol (changed in the meantime; stays) MNQZ6 TSLA", "dialog .versions")
    await page.agree("Save mine")
    trade = page_journal.read(path)
    assert (trade["symbol"], trade["quantity"], trade["exit_price"]) == ("TSLA", 2, 25_310.5)
    assert (trade["closed_at"][:19], trade["opened_at"]) == ("2026-11-13T16:17:00", before["opened_at"])


async def test_a_phone_folds_copies_and_opens_above_the_list(page: Tab, page_journal: PageJournal) -> None:
    original = page_journal.add_trade(at="2026-03-02T10:00")
    other = page_journal.create("/accounts", name="Topstep 150K Express")["id"]
    page_journal.add_trade(12, "2026-03-02T10:00", account_id=other, source_trade_id=original)
    await page.resize(360, 740)
    await page.sign_in(page_journal, "trades")

    await page.count("#trades tbody tr", 1)
    await page.see("1 trade, copies folded", "#trades")
    await page.click("#filters summary")
    await page.choose("#filter-copies", "With copies")
    copied = "Mar 2 ES ▲ +12.00 – – Topstep 150K Express · copy"
    await page.see_all("#trades tbody tr", copied, re.compile(r"\+10.00\s+–\s+–\s+Main"))
    too_wide = "document.querySelector('.list').scrollWidth - document.querySelector('.list').clientWidth"
    assert await page.evaluate(too_wide) == 0
    await page.show(f"trades?id={original}")
    tops = "['[data-grade=A]', '#trades'].map((one) => document.querySelector(one).getBoundingClientRect().y)"
    grade, listed = await page.evaluate(tops)
    assert grade < 300 < listed


STATE, ERROR = "#trade form .state", "#trade form .error"


async def test_notes_are_saved_while_typed_and_outlive_a_reload_and_a_key(page: Tab, page_journal: PageJournal) -> None:
    await page.clock.install()
    trade_id = page_journal.add_trade()
    path = f"/trades/{trade_id}"
    await page.sign_in(page_journal, f"trades?id={trade_id}")
    await page.type("#notes", "1 of 6 jobs")
    assert await page.evaluate("!dispatchEvent(new Event('beforeunload', {cancelable: true}))")  # it would ask
    await page.clock.run_for(1_000)
    await page.see("Saved", STATE)
    await page.focused("#notes")
    stored = page_journal.read(path)
    assert (stored["notes"], stored["grade"]) == ("1 of 6 jobs", None)  # a digit in them is no key

    async with page.away():
        await page.enter("#notes", "mine")
        await page.see("Not saved, trying again.", ERROR)
        await page.click("nav a:text('Strategies')")
        await page.agree("Cancel", "The notes of this trade are not saved.")
        await page.holds("#notes", "mine")
    await page.clock.run_for(3_000)
    await eventually(lambda: page_journal.read(path)["notes"] == "mine")
    await page.gone("form[data-changed]")

    await page.evaluate("() => { window.fetch = () => Promise.reject(); }")
    await page.type("#notes", ", too")
    await page.reload()
    await page.see("Not saved. You typed this before.", ERROR)
    await page.sign_in(page_journal, "days")
    await page.click("main .warn a:text('Notes')")
    await page.holds("#notes", "mine, too")
    key = new_key(page_journal.db)
    page_journal.delete("/keys/1")
    await page.see("What you typed is still there.")
    await page.enter("#sign-in [name=key]", key, "Enter")
    await page.no_dialog()
    await page.holds("#notes", "mine, too")
    await page.enter("#notes", "mine again")  # saved as it is left, whether the key came before or after a retry
    await eventually(lambda: rows(page_journal.db, "SELECT notes FROM trades") == [("mine again",)])
    await page.gone("form[data-changed]")

    await page.fill("#notes", "left by back")
    async with page.held():
        await page.evaluate("history.back()")
    await page.drawn("days")
    await page.go_forward()
    await page.holds("#notes", "left by back")
    for leave in (page.show("settings"), page.press("Sign out")):
        await page.evaluate("localStorage.setItem('journal-drafts', JSON.stringify({owner: '7', texts: {}}))")
        await leave
        await page.wait_for_function("localStorage.getItem('journal-drafts') === null")
