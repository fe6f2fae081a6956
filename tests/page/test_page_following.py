"""The page follows what others change, and says when it cannot (docs/page.md)."""

from chromium import PageJournal, Tab, in_a_browser
from commands import new_key
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


async def test_a_write_elsewhere_is_read_once_and_soon_or_once_the_page_is_shown(
    page: Tab, page_journal: PageJournal
) -> None:
    page_journal.add_trade()
    tags = page_journal.create("/tag-categories", name="Execution")["id"]
    await page.clock.install()
    async with page.followed():
        await page.sign_in(page_journal, "trades")
    await page.count(ROWS, 1)
    noted = note_requests(page)
    async with page.followed():
        page_journal.run_sql("UPDATE trades SET grade = 'B'")
        await expect(page.locator(ROWS)).to_contain_text("B", timeout=SOON)
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

    async with page.expect_event("requestfailed"):
        await set_visibility(page, "hidden")
    noted.clear()
    page_journal.add_trade()
    assert (await page.evaluate("fetch('/health').then(({ ok }) => ok)"), len(noted)) == (True, 1)
    page_journal.run_sql("UPDATE users SET expired_cursor = (SELECT max(seq) FROM changed_objects)")
    async with page.expect_response(lambda one: one.status == 410):
        await set_visibility(page, "visible")
    async with page.followed():
        await page.clock.run_for(2_000)  # after which it asks again
    await page.count(ROWS, 2)


async def test_nothing_is_drawn_over_what_is_typed_or_pressed_or_a_dialog(page: Tab, page_journal: PageJournal) -> None:
    trade = page_journal.add_trade()
    async with page.followed():
        await page.sign_in(page_journal, f"trades?id={trade}")
    await page.fill("#notes", "being typed")
    async with page.followed():
        page_journal.add_trade()  # which is read
    await page.poll()
    await page.count(ROWS, 1)
    await page.focused("#notes")
    await page.hover("#trade .danger", position={"x": 9, "y": 2})
    async with page.followed():
        await page.mouse.down()  # leaves the notes
        await page.see("Saved.", "#saved")  # above the button
        await page.mouse.up()
    await page.agree("Cancel")
    await page.poll()
    await page.count(ROWS, 2)
    await page.press("Delete", "#trade")
    async with page.followed():
        page_journal.add_trade()
    await page.poll()
    await page.count(ROWS, 2)
    await page.agree("Cancel")
    await page.evaluate("performance.now = () => 0")  # a press of no time, however busy the machine is
    await page.hover("#grade-2")
    async with page.expect_response("**/trades?*"), page.held():
        await page.evaluate("document.querySelector('#grade-1').click()")  # after which the view is drawn again
        await page.mouse.down()
    await page.evaluate("fetch('/health')")
    await page.mouse.up()
    await page.wait_for_selector("#grade-2[aria-pressed=true]")


async def test_a_journal_that_is_slow_or_away_is_said_and_asked_again(page: Tab, page_journal: PageJournal) -> None:
    await page.clock.install()
    async with page.followed():
        await page.sign_in(page_journal)
    async with page.held():
        await page.evaluate("location.hash = '#/trades'")
        await page.wait_for_function("() => getComputedStyle(document.querySelector('main')).opacity < 0.8")
    await page.drawn("trades")
    await page.evaluate(
        """() => {
            window.real = fetch;
            window.asked = 0;
            window.fetch = () => { window.asked += 1; return Promise.reject(); };
        }"""
    )
    page_journal.create("/accounts", name="Ends the request that waits")
    while not await page.evaluate("window.asked"):
        await page.clock.run_for(100)
    await page.clock.run_for(60_000)
    assert 10 <= await page.evaluate("window.asked") <= 14
    await page.see("The journal does not answer.", "#away")
    await page.evaluate("window.fetch = window.real; 0")
    await page.clock.run_for(10_000)
    await page.hidden("#away")


async def test_a_key_that_ends_or_lacks_a_scope_is_said(page: Tab, page_journal: PageJournal) -> None:
    page_journal.patch("/me", day_rollover="17:00")  # else adding a trade asks for it
    page_journal.create("/accounts", name="Main")
    await page.sign_in(page_journal, "trades")
    await page.press("Add a trade")
    await page.wait_for_selector("dialog [name=symbol]")
    key = new_key(page_journal.db)
    page_journal.delete("/keys/1")
    await page.see("This API key was revoked", "main #sign-in")
    await page.no_dialog()
    assert await page.evaluate("sessionStorage.length") == 0
    await page.enter("#sign-in [name=key]", key, "Enter")
    await page.drawn("trades")
    narrow = new_key(page_journal.db, "--scopes", "read:trades")
    await page.sign_in(page_journal._replace(key=narrow))
    await page.see("The key lacks the scope read:")
    await page.see("journal-api keys create NAME --scopes all")
    await page.press("Sign out and use another key")
    await page.wait_for_selector("#sign-in")
