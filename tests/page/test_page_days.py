"""Days, weeks and the search on the page at / (docs/journal.md#on-the-page)."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from chromium import (
    PageJournal,
    delay,
    drawn,
    eventually,
    in_a_browser,
    no_dialog,
    poll,
    resize,
    see,
    show,
    sign_in,
    values_of,
)
from factories import A_TRADE
from pictures import PNG
from playwright.async_api import Page, expect

pytestmark = in_a_browser
MONDAY, FRIDAY = "2026-01-05", "2026-01-09"


def add_trade(
    journal: PageJournal, pnl: float, at: str = f"{MONDAY}T10:00", minutes: int = 5, **fields: Any
) -> int:
    """Add a trade with that P&L that was opened at a time in UTC and closed after those minutes."""
    account, *_ = journal.read("/accounts") or [journal.create("/accounts", name="Main")]
    opened = datetime.fromisoformat(at).replace(tzinfo=UTC)
    times = {"opened_at": opened.isoformat(), "closed_at": (opened + timedelta(minutes=minutes)).isoformat()}
    prices = {"entry_price": 100, "exit_price": 100 + pnl, "multiplier": 1}
    trade = {**A_TRADE, "symbol": "ES", "account_id": account["id"], **prices, **times, **fields}
    return int(journal.create("/trades", **trade)["id"])


def add_tags(journal: PageJournal, *names: str) -> list[int]:
    category = journal.create("/tag-categories", name="Mind")["id"]
    return [journal.create("/tags", name=name, category_id=category)["id"] for name in names]


async def write(page: Page, field: str, text: str) -> None:
    """Type a text and leave it."""
    await page.fill(field, text)
    await page.keyboard.press("Tab")
    await see(page, "Saved.", "#saved")


# A day ---------------------------------------------------------------------------------------------------


async def test_a_day_is_written_without_a_mouse(page: Page, journal: PageJournal) -> None:
    (tag,) = add_tags(journal, "Calm")
    await sign_in(page, journal, f"day/{MONDAY}")

    await page.focus("#plan")
    await page.keyboard.type("No trade before 10:00.\n1. wait")
    await page.keyboard.press("Tab")
    await see(page, "Saved.", "#saved")
    await page.focus("#review")
    await page.keyboard.type("Waited.")
    await page.keyboard.press("Tab")
    await eventually(lambda: journal.read(f"/days/{MONDAY}")["review"])
    await page.keyboard.press("4")
    await page.wait_for_selector("#rating-4[aria-pressed=true]")
    await page.focus(f"#tag-{tag}")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(f"#tag-{tag}[aria-pressed=true]")

    day = journal.read(f"/days/{MONDAY}")
    assert (day["plan"], day["review"]) == ("No trade before 10:00.\n1. wait", "Waited.")
    assert (day["rating"], day["tag_ids"]) == (4, [tag])
    await page.keyboard.press("4")
    await page.wait_for_selector("#rating-4[aria-pressed=false]")
    assert journal.read(f"/days/{MONDAY}")["rating"] is None


async def test_arrows_lead_to_the_days_on_which_one_trades(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, f"day/{FRIDAY}")

    for press, what, day in (
        (page.keyboard.press, "ArrowRight", "Mon, Jan 12, 2026"),
        (page.keyboard.press, "ArrowLeft", "Fri, Jan 9, 2026"),
        (page.click, "#day-before", "Thu, Jan 8, 2026"),
        (page.click, "#day-after", "Fri, Jan 9, 2026"),
    ):
        await press(what)
        await see(page, day, "h1")
    assert await page.title() == "Fri, Jan 9, 2026 · Trading journal"
    await page.focus("#plan")
    await page.keyboard.press("ArrowLeft")  # moves the cursor
    await see(page, "Fri, Jan 9, 2026", "h1")
    await show(page, "day/nonsense")
    await see(page, f"{datetime.now(UTC):%b %-d, %Y}", "h1")
    await page.evaluate("location.hash = '#/day/2026-02-31'")
    await see(page, "This cannot be shown")


async def test_a_day_shows_its_trades_in_the_order_of_their_closes_its_goals_and_rules(
    page: Page, journal: PageJournal
) -> None:
    add_trade(journal, 30, f"{MONDAY}T10:00", 60)
    add_trade(journal, -80, f"{MONDAY}T10:15", 15, grade="F")
    add_trade(journal, 999, "2026-01-06T10:00")
    journal.client.put("/accounts/1/rules", json={"daily_loss": 500}).raise_for_status()
    journal.create("/goals", goal_name="Loss limit", metric="worst_day", target_value=-40, timeframe="daily")
    await sign_in(page, journal, f"day/{MONDAY}")

    await see(page, "−50.00 USD in 2 trades: 1 win, 1 loss")
    rows = [row.split() for row in await values_of(page, ".of-day tbody tr")]
    assert rows == [
        ["10:15", "ES", "▲", "1", "−80.00", "−80.00", "F"],
        ["10:00", "ES", "▲", "1", "+30.00", "−50.00"],
    ]
    blocks = await page.locator(".timeline i").evaluate_all(
        "all => all.map(({ className, style }) => [className, style.left, style.width])"
    )
    assert blocks == [["loss", "25%", "25%"], ["gain", "0%", "100%"]]
    await see(page, "✕ Broken · Loss limit: −50.00, limit −40.00")
    await see(page, "450.00 left", "#account-1")
    await page.click(".of-day a >> nth=0")
    await see(page, "−80.00", "#trade .big")
    await page.click("#trade .facts a")
    await drawn(page, "day")
    await see(page, "Mon, Jan 5, 2026", "h1")


async def test_the_numbers_of_a_day_are_of_the_chosen_account_and_its_texts_are_saved_all_the_same(
    page: Page, journal: PageJournal
) -> None:
    for name, currency in (("Main", "USD"), ("Euro", "EUR")):
        journal.create("/accounts", name=name, currency=currency)
    for account, pnl in ((1, 30), (2, 7)):
        add_trade(journal, pnl, account_id=account)
    await sign_in(page, journal, f"day/{MONDAY}")
    await see(page, "+7.00 EUR, +30.00 USD in 2 trades")
    assert await values_of(page, ".of-day tbody td:nth-child(3)") == ["+7.00 EUR", "+30.00 USD"]
    journal.patch("/me", active_selection="account_2")
    await poll(page)
    await see(page, "+7.00 EUR in 1 trade")

    await write(page, "#plan", "Small.")

    assert journal.read(f"/days/{MONDAY}")["plan"] == "Small."
    await no_dialog(page)


async def test_a_template_fills_an_empty_text_and_is_stored_only_once_it_is_typed_into(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "settings")
    await page.fill("#templates [name=plan_template]", "Bias:\nLevels:")
    await page.click("#templates .primary")
    await eventually(lambda: journal.read("/me")["plan_template"] == "Bias:\nLevels:")
    await show(page, f"day/{MONDAY}")

    await expect(page.locator("#plan")).to_have_value("Bias:\nLevels:")
    await see(page, "Your template.", "form:has(#plan)")
    await page.click("#plan")
    await page.keyboard.press("Tab")
    await write(page, "#review", "Nothing planned.")
    assert journal.read(f"/days/{MONDAY}")["plan"] is None
    await page.focus("#plan")
    await page.keyboard.press("Control+End")
    await page.keyboard.type(" 25,300")
    await page.keyboard.press("Tab")
    await eventually(lambda: journal.read(f"/days/{MONDAY}")["plan"] == "Bias:\nLevels: 25,300")
    await show(page, "settings")
    await page.fill("#templates [name=plan_template]", "  ")
    await page.click("#templates .primary")
    await eventually(lambda: journal.read("/me")["plan_template"] is None)


async def test_a_text_that_was_changed_meanwhile_shows_both_and_what_differs_elsewhere_asks_nothing(
    page: Page, journal: PageJournal
) -> None:
    path = f"/days/{MONDAY}"
    await sign_in(page, journal, f"day/{MONDAY}")
    journal.patch(path, review="theirs")  # another text of the same day
    await write(page, "#plan", "mine")
    await no_dialog(page)
    await page.fill("#plan", "mine again")
    journal.patch(path, plan="theirs too")
    await page.keyboard.press("Tab")

    versions = (await page.inner_text("dialog .versions tbody")).splitlines()
    assert versions == ["Plan\tmine again\ttheirs too"]
    await see(page, "Not saved. The day was changed in the meantime.", "form:has(#plan) .error")
    await page.evaluate("document.querySelector('#plan').dataset.drawn = 'before'")
    await page.click("dialog button:text('Save mine')")
    await expect(page.locator("#plan[data-drawn]")).to_have_count(0)
    assert journal.read(path)["plan"] == "mine again"
    await page.fill("#plan", "mine")
    journal.patch(path, plan="theirs")
    await page.keyboard.press("Tab")
    await page.click("dialog button:text('Keep the stored version')")
    await no_dialog(page)
    await expect(page.locator("#plan")).to_have_value("theirs")
    assert journal.read(path)["review"] == "theirs"


async def test_a_text_that_was_changed_while_another_part_was_saved_is_not_overwritten(
    page: Page, journal: PageJournal
) -> None:
    path = f"/days/{MONDAY}"
    await sign_in(page, journal, f"day/{MONDAY}")
    await page.fill("#plan", "mine")
    journal.patch(path, plan="theirs")
    await page.evaluate("document.querySelector('#rating-2').click()")
    await page.wait_for_selector("#rating-2[aria-pressed=true]")
    await page.keyboard.press("Tab")

    assert (await page.inner_text("dialog .versions tbody")).split() == ["Plan", "mine", "theirs"]
    assert journal.read(path)["plan"] == "theirs"
    await page.keyboard.press("Escape")
    await page.click("button:text('Save the plan')")
    await page.click("dialog button:text('Save mine')")
    await no_dialog(page)
    await eventually(lambda: journal.read(path)["plan"] == "mine")
    await expect(page.locator("form[data-changed]")).to_have_count(0)


async def test_typing_goes_on_where_the_cursor_is_when_the_day_is_drawn_again(
    page: Page, journal: PageJournal
) -> None:
    journal.patch(f"/days/{MONDAY}", plan="abcdef")
    await sign_in(page, journal, f"day/{MONDAY}")
    await page.focus("#plan")
    await page.evaluate("document.querySelector('#plan').setSelectionRange(3, 3)")
    await page.keyboard.type("1")
    await page.evaluate("document.querySelector('#plan').dataset.drawn = 'before'")
    await page.evaluate("document.querySelector('#rating-2').click()")
    await expect(page.locator("#plan[data-drawn]")).to_have_count(0)

    await page.keyboard.type("23")

    await expect(page.locator("#plan")).to_have_value("abc123def")


async def test_templates_that_are_not_saved_are_not_left_without_a_question(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "settings")
    await page.fill("#templates textarea[name=plan_template]", "Slept?")
    await page.click("nav a[href='#/trades']")
    await see(page, "The templates are not saved.", "dialog")


async def test_texts_that_are_typed_are_saved_when_the_day_is_left_and_a_refused_one_asks(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, f"day/{MONDAY}")
    await delay(page, 100)
    await page.fill("#plan", "Wait.")
    await page.click("#day-after")
    await see(page, "Jan 6", "h1")
    assert journal.read(f"/days/{MONDAY}")["plan"] == "Wait."

    await page.fill("#plan", "x" * 65_537)
    await page.fill("#review", "kept")
    await see(page, "65536", "form:has(#plan) .error")
    await page.click("#day-after")
    await see(page, "The plan of this day is not saved.", "dialog")
    await page.click("dialog button:text('Cancel')")
    await see(page, "Jan 6", "h1")
    assert journal.read("/days/2026-01-06")["review"] == "kept"
    assert len(await page.input_value("#plan")) == 65_537


async def test_a_text_that_is_typed_while_the_view_is_drawn_again_is_saved(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, f"day/{MONDAY}")
    await delay(page, 100)
    await page.focus("#review")
    await page.evaluate("document.querySelector('#rating-3').click()")
    await page.keyboard.type("Waited.")
    await page.wait_for_selector("#rating-3[aria-pressed=true]")
    await page.keyboard.press("Tab")

    await eventually(lambda: journal.read(f"/days/{MONDAY}")["review"] == "Waited.")
    await expect(page.locator("form[data-changed]")).to_have_count(0)


# Today ---------------------------------------------------------------------------------------------------


async def test_today_shows_the_plan_and_asks_for_the_review_once_trades_are_closed(
    page: Page, journal: PageJournal
) -> None:
    now = datetime.now(UTC)
    journal.patch("/me", trading_weekdays=[1, 2, 3, 4, 5, 6, 7])
    journal.create("/accounts", name="Main")
    add_trade(journal, 5)
    today = f"/days/{now.date()}"
    await sign_in(page, journal)

    await see(page, "Nothing is planned yet.", "#day")
    await page.click("#day a:text('Write the plan')")
    await drawn(page, "day")
    await write(page, "#plan", "One trade.")
    await show(page, "today")
    await see(page, "One trade.", "#day .written")
    add_trade(journal, 9, now.isoformat(timespec="minutes")[:16], 0)
    await poll(page)
    await see(page, "1 trade closed: what did you learn?", "#day")
    journal.patch(today, review="To stop.")
    await poll(page)
    await expect(page.locator("#day")).to_have_count(0)


async def test_the_calendar_leads_to_days_and_weeks_and_marks_what_is_written(
    page: Page, journal: PageJournal
) -> None:
    add_trade(journal, 12)
    journal.patch("/days/2026-01-06", plan="Wait.")
    journal.client.post("/days/2026-01-06/pictures", content=PNG).raise_for_status()
    await sign_in(page, journal, "today?month=2026-01")
    cells = page.locator(".calendar tbody td > a")

    assert await cells.nth(2).inner_text() == "5\n+12\n1 trade"
    assert await cells.nth(3).inner_text() == "6 ✎ ▣"
    await page.click(".calendar a:has-text('6 ✎')")
    await drawn(page, "day")
    await expect(page.locator("#plan")).to_have_value("Wait.")
    await show(page, "today?month=2026-01")
    await page.click(".calendar .week a")
    await see(page, "Jan 5 – Jan 11", "h1")
    await show(page, "today?month=2026-01")
    await page.click("[aria-label=Calendar] h2 a")
    await see(page, "January 2026", "h1")


# A week and a month --------------------------------------------------------------------------------------


async def test_a_week_is_read_from_its_first_day_on_and_days_with_trades_alone_are_short(
    page: Page, journal: PageJournal
) -> None:
    (tag,) = add_tags(journal, "<b>Calm</b>")
    for day, pnl in ((MONDAY, 30), ("2026-01-06", -20), (FRIDAY, 5)):
        add_trade(journal, pnl, f"{day}T10:00")
    journal.patch(f"/days/{FRIDAY}", plan="Wait.\n<b>bold</b>", review="Waited.", rating=5, tag_ids=[tag])
    picture = journal.client.post(f"/days/{FRIDAY}/pictures", content=PNG).json()["data"]["picture"]
    journal.patch(f"/pictures/{picture['id']}", caption="The low")
    await sign_in(page, journal, f"days?from={MONDAY}&to=2026-01-11")

    assert [re.sub(r"\n+", "\n", text) for text in await values_of(page, "main .card")] == [
        "Mon, Jan 5, 2026 · +30.00 USD in 1 trade",
        "Tue, Jan 6, 2026 · −20.00 USD in 1 trade",
        "Fri, Jan 9, 2026 · +5.00 USD in 1 trade · 5 of 5\n<b>Calm</b>\n"
        "Plan\nWait.\n<b>bold</b>\nReview\nWaited.\nThe low",
    ]
    await see(page, "+15.00 USD in 3 trades, 2 of 3 days won")
    await page.wait_for_selector(".thumb img[src][alt='The low']")
    await page.click("#days-after")
    await see(page, "Nothing was traded or written in these days.")
    await page.click("#days-before")
    await see(page, "Jan 5 – Jan 11", "h1")
    await page.click("a:text('Month')")
    await see(page, "January 2026", "h1")
    await page.click("#days-after")
    await see(page, "February 2026", "h1")
    await show(page, "days?from=2026-01-09&to=2026-01-05")
    await see(page, "From: must not be after to.", ".error")
    await show(page, "days")
    await see(page, "Nothing was traded or written in these days.")


async def test_a_week_is_printed_without_the_bar_and_buttons(page: Page, journal: PageJournal) -> None:
    journal.patch(f"/days/{MONDAY}", plan="Wait.", rating=4)
    await sign_in(page, journal, f"days?from={MONDAY}&to=2026-01-11")
    await page.evaluate("window.print = () => { window.printed = true; }")
    await page.click("button:text('Print')")
    assert await page.evaluate("window.printed")
    await page.emulate_media(media="print")

    for gone in ("header", "#days-before", "button:text('Print')"):
        await expect(page.locator(gone)).to_be_hidden()
    await expect(page.get_by_text("Wait.")).to_be_visible()
    await show(page, f"day/{MONDAY}")
    for gone in ("header", "#day-before", "#add-picture", "#rating-3"):
        await expect(page.locator(gone)).to_be_hidden()
    await expect(page.locator("#rating-4")).to_be_visible()
    await page.emulate_media(media="screen")


# Search --------------------------------------------------------------------------------------------------


async def test_a_slash_begins_a_search_and_arrows_and_enter_open_a_result(
    page: Page, journal: PageJournal
) -> None:
    trade = add_trade(journal, 5, notes="Bought the low too late")
    journal.patch(f"/days/{MONDAY}", plan="Not late again")
    await sign_in(page, journal, f"trades?id={trade}")

    await page.focus("#notes")
    await page.keyboard.type("/")
    assert await page.evaluate("document.activeElement.id") == "notes"
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await page.keyboard.type("late")
    await page.keyboard.press("Enter")
    await drawn(page, "search")
    await see(page, "2 results")
    for key, focused in (
        ("ArrowDown", "ES long 2026-01-05"),
        ("ArrowDown", MONDAY),
        ("ArrowDown", MONDAY),
        ("ArrowUp", "ES long 2026-01-05"),
        ("ArrowUp", ""),
        ("ArrowDown", "ES long 2026-01-05"),
        ("ArrowDown", MONDAY),
    ):
        await page.keyboard.press(key)
        assert focused in await page.evaluate("document.activeElement.textContent"), key
    await page.keyboard.press("Enter")
    await drawn(page, "day")
    await expect(page.locator("#plan")).to_have_value("Not late again")
    await expect(page.locator("#search input")).to_have_value("")


async def test_what_is_found_is_marked_by_code_points_and_stays_text(
    page: Page, journal: PageJournal
) -> None:
    add_trade(journal, 5, notes="😀😀 <b>late</b> 👩‍👩‍👧 entry, latest 𝔘 late")
    await sign_in(page, journal, "search?q=late")

    await see(page, "😀😀 <b>late</b> 👩‍👩‍👧 entry, latest 𝔘 late", ".results")
    assert await values_of(page, ".results mark") == ["late", "latest", "late"]
    await expect(page.locator(".results b")).to_have_count(0)
    await show(page, "search?q=entry%20-late")
    await see(page, "Nothing has these words.")
    await show(page, "search")
    await see(page, "What do you look for?")
    await show(page, f"search?q={'x' * 501}")
    await see(page, "500", ".error")


async def test_each_kind_of_result_leads_to_its_place_and_pages_go_on(
    page: Page, journal: PageJournal
) -> None:
    setups = [{"name": "Late break"}]
    journal.create("/strategies", name="Late range", setups=setups)
    add_tags(journal, "Late entry")
    journal.create("/goals", goal_name="Never late", metric="net_pnl", target_value=5)
    for number in range(21):
        journal.patch(f"/days/2025-03-{number + 1:02}", plan=f"late {number}")
    await sign_in(page, journal, "search?q=late")

    links = page.locator(".results a")
    hrefs = {
        text.split()[0]: await links.nth(place).get_attribute("href")
        for place, text in enumerate(await values_of(page, ".results a"))
    }
    assert hrefs == {
        "Goal": "#/today?goal=1",
        "Tag": "#/trades?tag_id=1",
        "Strategy": "#/strategies?id=1",
        "Setup": "#/strategies?id=1",
        "Day": hrefs["Day"],
    }
    assert str(hrefs["Day"]).startswith("#/day/2025-03-")
    await expect(links).to_have_count(20)
    await page.click("#older")
    await see(page, "21 to 25")
    await expect(links).to_have_count(5)
    await page.click("#newer")
    await see(page, "1 to 20")


async def test_a_search_that_is_typed_does_not_stop_the_view_from_following_changes(
    page: Page, journal: PageJournal
) -> None:
    await resize(page, 360)
    await sign_in(page, journal, f"day/{MONDAY}")
    await page.fill("#search input", "late")
    journal.patch(f"/days/{MONDAY}", plan="theirs")
    await poll(page)

    await expect(page.locator("#plan")).to_have_value("theirs")
