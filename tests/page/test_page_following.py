"""The page follows what others change (docs/page.md)."""

from chromium import PageJournal, Tab, in_a_browser
from playwright.async_api import Request, expect

pytestmark = in_a_browser
SOON = 15_000  # milliseconds; less than a request waits for changes
ROWS = "#trades tbody tr"


def note_requests(page: Tab) -> list[str]:
    """Return a list to which the path of each request but those for changes is added."""
    noted: list[str] = []

    def note(request: Request) -> None:
        if "/changes" not in request.url:
            noted.append(request.url.split("/v1")[-1])

    page.on("request", note)
    return noted


async def set_visibility(page: Tab, state: str) -> None:
    await page.evaluate(
        """state => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
        }""",
        state,
    )


async def test_a_write_elsewhere_shows_soon_and_is_read_once(page: Tab, page_journal: PageJournal) -> None:
    trade = page_journal.add_trade()
    tags = page_journal.create("/tag-categories", name="Execution")["id"]
    async with page.followed():
        await page.sign_in(page_journal, "trades")
    await page.count(ROWS, 1)
    noted = note_requests(page)
    async with page.followed():
        page_journal.run_sql("UPDATE trades SET grade = 'B'")
        await expect(page.locator(ROWS)).to_contain_text("B", timeout=SOON)
    async with page.followed():
        page_journal.add_trade(symbol="NQZ6")
        await expect(page.locator(ROWS)).to_have_count(2, timeout=SOON)
    async with page.followed():
        page_journal.delete(f"/trades/{trade + 1}")
        await expect(page.locator(ROWS)).to_have_count(1, timeout=SOON)

    noted.clear()
    async with page.followed():
        page_journal.create("/goals", goal_name="Not here", metric="net_pnl", target_value=1)
    assert noted == []
    async with page.followed():
        page_journal.create("/tags", name="Late", category_id=tags)
        await page.see("Late", "#filter-tag_id")
    read = [one.split("?")[0] for one in noted]
    assert read.count("/tags") == read.count("/trades") == read.count("/accounts") == 1
    assert not {"/strategies", "/me"} & {*read}

    await page.show("settings")
    page_journal.run_sql("UPDATE accounts SET name = 'By hand'")
    await expect(page.locator("main")).to_contain_text("By hand", timeout=SOON)


async def test_a_hidden_page_asks_nothing_and_catches_up(page: Tab, page_journal: PageJournal) -> None:
    page_journal.create("/accounts", name="Main")
    async with page.followed():
        await page.sign_in(page_journal, "trades")
    noted: list[str] = []
    async with page.expect_event("requestfailed"):
        await set_visibility(page, "hidden")
    page.on("request", lambda request: noted.append(request.url))
    page_journal.add_trade()
    assert (await page.evaluate("fetch('/health').then(({ ok }) => ok)"), len(noted)) == (True, 1)
    async with page.followed():
        await set_visibility(page, "visible")
    await page.count(ROWS, 1)

    async with page.expect_event("requestfailed"):
        await set_visibility(page, "hidden")
    page_journal.create("/tag-categories", name="Another")
    page_journal.run_sql("UPDATE users SET expired_cursor = (SELECT max(seq) FROM changed_objects)")
    page_journal.run_sql("UPDATE trades SET grade = 'C'")
    await page.clock.install()
    await set_visibility(page, "visible")
    await page.clock.run_for(2_000)
    await page.see("C", ROWS)


async def test_nothing_is_drawn_over_what_is_typed_or_a_dialog(page: Tab, page_journal: PageJournal) -> None:
    trade = page_journal.add_trade()
    async with page.followed():
        await page.sign_in(page_journal, f"trades?id={trade}")
    await page.fill("#notes", "being typed")
    async with page.followed():
        page_journal.add_trade()  # which is read
    await page.poll()
    await page.count(ROWS, 1)
    await page.focused("#notes")
    async with page.followed():
        await page.locator("#notes").blur()
    await page.poll()
    await page.count(ROWS, 2)

    await page.press("Delete", "#trade")
    async with page.followed():
        page_journal.add_trade()
    await page.poll()
    await page.count(ROWS, 2)
    await page.agree("Cancel")
    await page.poll()
    await page.count(ROWS, 3)


async def test_a_journal_that_is_away_is_said_and_asked_again(page: Tab, page_journal: PageJournal) -> None:
    await page.clock.install()
    async with page.followed():
        await page.sign_in(page_journal, "trades")
    await page.evaluate(
        """() => {
            window.real = fetch;
            window.asked = 0;
            window.fetch = () => { window.asked += 1; return Promise.reject(); };
        }"""
    )
    page_journal.create("/tag-categories", name="Ends the request that waits")
    while not await page.evaluate("window.asked"):
        await page.clock.run_for(100)
    await page.clock.run_for(60_000)
    assert 10 <= await page.evaluate("window.asked") <= 14
    await page.see("The journal does not answer.", "#away")
    await page.click("nav a:text('Days')")
    await page.clock.run_for(5_000)
    await page.wait_for_selector("main[data-view=trades] .empty")

    await page.evaluate("window.fetch = window.real; 0")
    page_journal.create("/accounts", name="New")
    await page.clock.run_for(5_500)
    await page.drawn("days")
    await page.hidden("#away")
