"""Days, weeks, Today's calendar and the search on the page at / (docs/journal.md#on-the-page)."""

import re
from datetime import UTC, date, datetime, timedelta

from chromium import PageJournal, Tab, eventually, in_a_browser
from pictures import PNG
from proofs import only_in_soak

pytestmark = in_a_browser
MONDAY, FRIDAY = "2026-01-05", "2026-01-09"
DAY = f"/days/{MONDAY}"
PLACE = f"day/{MONDAY}"


async def save(page: Tab, field: str, text: str) -> None:
    """Type a text and leave it; what the page has saved while it was typed is not all of it."""
    await page.enter(field, text)
    await page.gone(f"form[data-changed]:has({field})")
    await page.see("Saved.", "#saved")


async def test_a_day_shows_what_happened_is_written_and_left_without_a_mouse(
    page: Tab, page_journal: PageJournal
) -> None:
    (tag,) = page_journal.add_tags("Calm")
    page_journal.patch("/me", plan_template="Bias:")
    page_journal.add_trade(30, f"{MONDAY}T10:00", 60)
    page_journal.add_trade(-80, f"{MONDAY}T10:15", 15, grade="F")
    page_journal.put("/accounts/1/rules", daily_loss=500)
    limit = {"metric": "worst_day", "target_value": -40, "timeframe": "daily"}
    page_journal.create("/goals", goal_name="Loss limit", account_id=1, **limit)
    await page.sign_in(page_journal, PLACE)
    await page.holds("#plan", "Bias:")
    await page.see("Your template.", "form:has(#plan)")
    await page.see("−50.00 USD in 2 trades: 1 win, 1 loss")
    await page.see_all(".of-day tbody tr", "10:15 ES ▲ 1 −80.00 −80.00 F", "10:00 ES ▲ 1 +30.00 −50.00")
    blocks = await page.locator(".timeline i").evaluate_all(
        "all => all.map(({ className, style }) => [className, style.left, style.width])"
    )
    assert blocks == [["loss", "25%", "25%"], ["gain", "0%", "100%"]]
    await page.see("✕ Broken · Loss limit: −50.00, limit −40.00")
    await page.see("450.00 left", "#account-1")
    assert await page.get_attribute(".of-day a >> nth=0", "href") == f"#/trades?from={MONDAY}&to={MONDAY}&id=2"

    async with page.held():
        await page.evaluate("document.querySelector('#rating-3').click()")
        await page.type("#review", "Waited.")  # while the view is drawn again
    await page.wait_for_selector("#rating-3[aria-pressed=true]")
    await page.keys("ArrowLeft", "Tab")  # an arrow moves the cursor
    await eventually(lambda: page_journal.read(DAY)["review"] == "Waited.")
    await page.gone("form[data-changed]")
    assert page_journal.read(DAY)["plan"] is None  # it is stored once it is typed into
    await page.keys("4")
    await page.wait_for_selector("#rating-4[aria-pressed=true]")
    await page.focus(f"#tag-{tag}")
    await page.keys("Enter")
    await page.wait_for_selector(f"#tag-{tag}[aria-pressed=true]")
    day = page_journal.read(DAY)
    assert (day["rating"], day["tag_ids"]) == (4, [tag])
    await page.focus("#plan")
    await page.keys("Control+End")
    await page.keyboard.type(" 25,300")
    async with page.held():
        await page.click("#day-after")
    await page.see("Jan 6", "h1")
    assert page_journal.read(DAY)["plan"] == "Bias: 25,300"

    await page.fill("#plan", "x" * 65_537)
    await page.see("65536", "form:has(#plan) .error")
    await page.click("#day-after")
    await page.agree("Cancel", "The plan of this day is not saved.")
    await page.enter("#plan", "")
    await page.show(f"day/{FRIDAY}")  # once the plan is saved
    await page.see("Fri, Jan 9, 2026", "h1")
    await page.keys("ArrowRight")
    await page.see("Mon, Jan 12, 2026", "h1")
    await page.click("#day-before")
    await page.see("Fri, Jan 9, 2026", "h1")
    assert await page.title() == "Fri, Jan 9, 2026 · Trading journal"
    await page.show("day/nonsense")
    await page.see(f"{datetime.now(UTC):%b %-d, %Y}", "h1")


async def test_a_text_that_was_changed_meanwhile_shows_both(page: Tab, page_journal: PageJournal) -> None:
    await page.clock.install()
    await page.sign_in(page_journal, PLACE)
    page_journal.patch(DAY, review="theirs")  # another text of the same day
    await save(page, "#plan", "mine")
    await page.no_dialog()
    async with page.held():
        await page.fill("#plan", "mine again")
        page_journal.patch(DAY, plan="theirs too")
        await page.clock.run_for(1_000)
    await page.see("Not saved. The day was changed in the meantime.", "form:has(#plan) .error")
    await page.evaluate("document.querySelector('#rating-2').click()")  # saves another part of the day
    await page.wait_for_selector("#rating-2[aria-pressed=true]")
    await page.see_all("dialog .versions tbody tr", "Plan mine again theirs too")
    assert page_journal.read(DAY)["plan"] == "theirs too"
    await page.keys("Escape")
    await page.press("Save the plan")
    await page.agree("Keep the stored version", "Which version do you want to keep?")
    await page.holds("#plan", "theirs too")
    await page.gone("form[data-changed]")
    assert page_journal.read(DAY)["review"] == "theirs"

    await page.focus("#plan")
    await page.evaluate("document.querySelector('#plan').setSelectionRange(3, 3)")
    await page.keyboard.type("1")
    await page.evaluate("document.querySelector('#plan').dataset.drawn = 'before'")
    await page.evaluate("document.querySelector('#rating-3').click()")
    await page.gone("#plan[data-drawn]")
    await page.keyboard.type("23")
    await page.holds("#plan", "the123irs too")


@only_in_soak
async def test_today_shows_the_plan_and_leads_to_days_and_weeks(page: Tab, page_journal: PageJournal) -> None:
    page_journal.patch("/me", trading_weekdays=[1, 2, 3, 4, 5, 6, 7])
    page_journal.add_trade(12)
    page_journal.patch("/days/2026-01-06", plan="Wait.\n<b>bold</b>", review="Waited.", rating=5)
    page_journal.client.post("/days/2026-01-06/pictures", content=PNG).raise_for_status()
    await page.sign_in(page_journal, "today?month=2026-01")
    week = ["5 +12 1 trade", "6 ✎ ▣", "7", "8", "9", "10", "11", "+12 1"]
    await page.see_all(".calendar tr:has-text('+12') a", *week)
    await page.show("today")
    await page.see("Nothing is planned yet.", "#day")
    await page.click("#day a:text('Write the plan')")
    await page.drawn("day")
    await save(page, "#plan", "One trade.")
    await page.show("today")
    await page.see("One trade.", "#day .written")
    page_journal.add_trade(9, None, 0)
    await page.poll()
    await page.see("1 trade closed: what did you learn?", "#day")
    page_journal.patch(f"/days/{datetime.now(UTC).date()}", review="To stop.")
    await page.poll()
    await page.gone("#day")

    await page.show("today?month=2026-01")
    await page.click(".calendar .week a")
    await page.see("Jan 5 – Jan 11", "h1")
    await page.see_all(
        "main > .card:not(#week)",
        "Mon, Jan 5, 2026 · +12.00 USD in 1 trade",
        "Tue, Jan 6, 2026 · 5 of 5 Plan Wait. <b>bold</b> Review Waited.",
    )
    await page.see("+12.00 USD in 1 trade, 1 of 1")
    await page.evaluate("window.print = () => { window.printed = true; }")
    await page.press("Print")
    assert await page.evaluate("window.printed")
    await page.emulate(media="print")
    await page.hidden("header", "#days-before", "button:text('Print')")
    await page.wait_for_selector(":text('Waited.')")
    await page.emulate(media="screen")
    await page.click("#days-after")
    await page.see("Nothing was traded or written in these days.")
    await page.click("a:text('Month')")
    await page.see("January 2026", "h1")


async def test_a_slash_begins_a_search_and_enter_opens_a_result(page: Tab, page_journal: PageJournal) -> None:
    trade = page_journal.add_trade(5, notes="😀😀 <b>late</b> 👩‍👩‍👧 entry, latest 𝔘 late")
    page_journal.patch(DAY, plan="Not late again")
    await page.sign_in(page_journal, f"trades?id={trade}")
    await page.type("#notes", "/")
    await page.focused("#notes")
    await page.keys("Escape", "/")
    await page.keyboard.type("late")
    await page.keys("Enter")
    await page.drawn("search")
    await page.see("2 results")
    await page.see("😀😀 <b>late</b> 👩‍👩‍👧 entry, latest 𝔘 late", ".results")  # by code points, and text
    assert {"latest"} < {*await page.locator(".results mark").all_inner_texts()}
    down, up, of_trade = "ArrowDown", "ArrowUp", "ES long 2026-01-05"
    for key, focused in ((down, of_trade), (down, MONDAY), (down, MONDAY), (up, of_trade), (up, "")):
        await page.keys(key)
        assert focused in await page.evaluate("document.activeElement.textContent"), key
    await page.keys(down, down, "Enter")
    await page.drawn("day")
    await page.holds("#plan", "Not late again")
    await page.holds("#search input", "")
    page_journal.create("/strategies", name="Late range", setups=[{"name": "Late break"}])
    page_journal.add_tags("Late entry")
    page_journal.create("/goals", goal_name="Never late", metric="net_pnl", target_value=5)
    await page.show("search?q=late")
    hrefs = await page.locator(".results a").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    found = [PLACE, "strategies?id=1", "strategies?id=1", "today?goal=1", "trades?id=1", "trades?tag_id=1"]
    assert sorted(hrefs) == [f"#/{one}" for one in found]


async def test_a_week_stands_beside_the_mean_of_the_weeks_before(page: Tab, page_journal: PageJournal) -> None:
    for week, pnl in enumerate([100, 20, 40, -20, 30, 80]):  # the newest last; the first is too old
        day = date(2026, 3, 2) + timedelta(weeks=week) - (timedelta(weeks=9) if not week else timedelta())
        page_journal.add_trade(pnl, f"{day}T10:00")
    page_journal.add_trade(500, "2026-04-20T10:00")  # which the end of the week does not know
    worst = page_journal.add_trade(-30, "2026-04-08T10:00", notes="Too early.", initial_risk=20)
    page_journal.client.post(f"/trades/{worst}/pictures", content=PNG).raise_for_status()
    page_journal.put("/accounts/1/rules", floor={"kind": "static", "distance": 500})
    goal = {"metric": "worst_day", "target_value": -20, "direction": "at_least"}
    page_journal.create("/goals", goal_name="Daily limit", timeframe="daily", **goal)
    page_journal.create("/goals", goal_name="Weekly limit", timeframe="weekly", **goal)
    await page.sign_in(page_journal, "days?from=2026-04-06&to=2026-04-12")
    await page.see("The week beside those before")
    texts = [" ".join(one.split()) for one in await page.locator("tbody tr").all_inner_texts()]
    # Four weeks are too few for an interval.
    assert texts[0] == "Net P&L +80.00 −30.00 +50.00 +17.50 –"
    assert texts[1:3] == ["R – −1.50 −1.50 – –", "Trades 1 1 2 1 –"]
    assert texts[5:] == [
        "Daily limit daily limit −20.00 1 of 2 4 of 4",
        "Weekly limit weekly limit −20.00 ✕ −30.00 4 of 4",
        "Main 220.00 720.00 ● Within its limits",
    ]
    await page.see_all(
        "section.read h2", "Best trade: ES long · Mon 6 · +80.00", re.compile("^Worst trade: .* −1.50 R$")
    )
    await page.see("Too early.")
    await page.locator("section.read img[src]").wait_for()
    await page.show("days?from=2026-04-01&to=2026-04-30")
    await page.gone("#week")
