"""The page follows what others change, in a real browser (docs/page.md)."""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any

from chromium import PageJournal, drawn, eventually, in_a_browser, no_dialog, see, show, sign_in
from commands import PATIENCE
from factories import A_TRADE
from playwright.async_api import Page, Request, expect

pytestmark = in_a_browser
SOON = 2_000  # milliseconds


def add_trade(journal: PageJournal, **fields: Any) -> int:
    at = "2026-01-05T15:00:00Z"
    body = {**A_TRADE, "account_id": 1, "opened_at": at, "closed_at": at, **fields}
    return int(journal.create("/trades", **body)["id"])


def write_by_hand(journal: PageJournal, sql: str) -> None:
    """Write to the file as another program does."""
    with closing(sqlite3.connect(journal.db, timeout=PATIENCE)) as db, db:
        db.execute("PRAGMA wal_autocheckpoint = 0")  # the server alone checkpoints
        db.execute(sql)


def note_requests(page: Page) -> list[str]:
    """Return a list to which the address of each request without its origin is added."""
    noted: list[str] = []

    def note(request: Request) -> None:
        noted.append(request.url.split("/v1")[-1].split("&wait")[0])

    page.on("request", note)
    return noted


async def is_waiting(page: Page) -> None:
    """Wait until nothing but the request for changes is under way."""
    await asyncio.sleep(1.2)


async def set_visibility(page: Page, state: str) -> None:
    await page.evaluate(
        """state => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
        }""",
        state,
    )


async def test_a_write_of_another_program_or_client_shows_within_two_seconds(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/accounts", name="Main")
    trade = add_trade(journal)
    await sign_in(page, journal, "trades")
    row = page.locator("#trades tbody tr")
    await expect(row).to_have_count(1)
    await is_waiting(page)

    write_by_hand(journal, f"UPDATE trades SET grade = 'B' WHERE id = {trade}")
    await expect(row.first).to_contain_text("B", timeout=SOON)
    add_trade(journal, symbol="NQZ6")
    await expect(row).to_have_count(2, timeout=SOON)
    journal.client.delete(f"/trades/{trade}").raise_for_status()
    await expect(row).to_have_count(1, timeout=SOON)
    await show(page, "settings")
    await is_waiting(page)
    write_by_hand(journal, "UPDATE accounts SET name = 'By hand'")
    await expect(page.locator("main")).to_contain_text("By hand", timeout=SOON)


async def test_a_change_reads_what_it_names_once_and_nothing_else(page: Page, journal: PageJournal) -> None:
    journal.create("/accounts", name="Main")
    trade = add_trade(journal)
    tags = journal.create("/tag-categories", name="Execution")["id"]
    await sign_in(page, journal, "trades")
    await is_waiting(page)
    noted = note_requests(page)

    journal.create("/goals", goal_name="Not here", metric="net_pnl", target_value=1)
    await eventually(lambda: noted)
    await is_waiting(page)
    assert [one for one in noted if "/changes" not in one] == []
    noted.clear()
    journal.create("/tags", name="Late", category_id=tags)
    await expect(page.locator("#filter-tag_id")).to_contain_text("Late")
    await is_waiting(page)
    read = [one.split("?")[0] for one in noted]
    assert read.count("/tags") == read.count("/trades") == read.count("/accounts") == 1
    assert not {"/strategies", "/me"} & {*read}
    noted.clear()
    await page.click(f"#trade-{trade}")
    await page.click("[data-grade=A]")
    await see(page, "Saved.")
    await is_waiting(page)
    assert len([one for one in noted if one == f"/trades/{trade}"]) == 3  # opened, saved, drawn again


async def test_a_hidden_page_asks_nothing_and_catches_up_when_it_is_shown(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/accounts", name="Main")
    await sign_in(page, journal, "trades")
    await is_waiting(page)
    await set_visibility(page, "hidden")
    noted = note_requests(page)
    add_trade(journal)
    await is_waiting(page)
    assert noted == []

    await set_visibility(page, "visible")
    await expect(page.locator("#trades tbody tr")).to_have_count(1, timeout=SOON)


async def test_nothing_is_drawn_over_what_is_typed_or_a_dialog_and_shows_after_it(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/accounts", name="Main")
    trade = add_trade(journal)
    await sign_in(page, journal, f"trades?id={trade}")
    rows = page.locator("#trades tbody tr")
    await page.fill("#notes", "being typed")
    add_trade(journal)
    await asyncio.sleep(SOON / 1000)
    await expect(rows).to_have_count(1)
    await expect(page.locator("#notes")).to_be_focused()
    await page.locator("#notes").blur()
    await expect(rows).to_have_count(2)

    await page.click("#trade .danger")
    add_trade(journal)
    await asyncio.sleep(SOON / 1000)
    await expect(rows).to_have_count(2)
    await page.click("dialog button:text('Cancel')")
    await no_dialog(page)
    await expect(rows).to_have_count(3)


async def test_a_cursor_that_expired_lets_the_page_read_everything_again(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/accounts", name="Main")
    add_trade(journal)
    await sign_in(page, journal, "trades")
    await is_waiting(page)
    await set_visibility(page, "hidden")
    journal.create("/tag-categories", name="Another")
    write_by_hand(journal, "UPDATE users SET expired_cursor = (SELECT max(seq) FROM object_changes)")
    write_by_hand(journal, "UPDATE trades SET grade = 'C'")

    await set_visibility(page, "visible")
    await expect(page.locator("#trades tbody tr")).to_contain_text("C")


async def test_a_journal_that_is_away_is_said_above_what_was_read_and_asked_every_five_seconds(
    page: Page, journal: PageJournal
) -> None:
    await page.clock.install()
    await sign_in(page, journal, "trades")
    await page.evaluate(
        """() => {
            window.real = fetch;
            window.asked = 0;
            window.fetch = () => { window.asked += 1; return Promise.reject(); };
        }"""
    )
    journal.create("/tag-categories", name="Ends the request that waits")
    while not await page.evaluate("window.asked"):
        await page.clock.run_for(100)
    await page.clock.run_for(60_000)
    assert 10 <= await page.evaluate("window.asked") <= 14
    await see(page, "The journal does not answer.", "#away")
    await page.click("nav a:text('Days')")
    await page.clock.run_for(5_000)
    await expect(page.locator("main[data-view=trades] .empty")).to_be_visible()

    await page.evaluate("window.fetch = window.real; 0")
    journal.create("/accounts", name="New")
    await page.clock.run_for(5_500)
    await drawn(page, "days")
    await expect(page.locator("#away")).to_be_hidden()
