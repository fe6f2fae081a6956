"""Trades on the page at /: judged, added, corrected, and written about (docs/page.md)."""

from typing import Any

from chromium import (
    PageJournal,
    agree,
    away,
    choose,
    drawn,
    eventually,
    fill,
    gone,
    held,
    in_a_browser,
    no_dialog,
    poll,
    press,
    press_keys,
    resize,
    save,
    see,
    see_all,
    show,
    sign_in,
)
from commands import new_key, run_ok
from pictures import PNG
from playwright.async_api import FilePayload, Page, Route, expect

pytestmark = in_a_browser
SETUPS = [{"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}]


def add_setup(journal: PageJournal) -> int:
    return int(journal.create("/strategies", name="Opening range", setups=SETUPS)["setups"][0]["setup_id"])


def present(trade: Any) -> list[bool]:
    return [one["was_present"] for one in trade["confirmations"]]


# Judged --------------------------------------------------------------------------------------------------


async def test_trades_are_judged_by_keyboard_and_a_key_never_reaches_another_trade(
    page: Page, journal: PageJournal
) -> None:
    setup = add_setup(journal)
    first, second, third = (
        journal.add_trade(pnl, f"2026-03-0{day}T10:00", setup_id=setup, mae=4.5)
        for day, pnl in ((2, 10), (3, 20), (4, 30))
    )
    await sign_in(page, journal, "trades")

    await press_keys(page, "j", "j", "j", "Enter")  # the newest is first
    await see(page, "+10.00", "#trade .big")
    await see(page, "4.50", "#trade .facts")
    await page.keyboard.press("2")
    await page.wait_for_selector("#grade-2[aria-pressed=true]")
    await page.focus("[aria-label='yes: Volume']")
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[aria-label='yes: Volume'][aria-pressed=true]")
    await press_keys(page, "Tab", "Tab", "Tab", "Space")
    await page.wait_for_selector("[aria-label='no: Trend'][aria-pressed=true]")
    async with held(page):
        await press_keys(page, "k", "k", "2")
    await page.wait_for_selector(f"#trade[data-id='{third}']")
    await see(page, "+30.00", "#trade .big")
    await page.keyboard.press("3")
    await page.wait_for_selector("#grade-3[aria-pressed=true]")
    await page.keyboard.press("Escape")
    await gone(page, "#trade")

    trades = [journal.read(f"/trades/{one}") for one in (first, second, third)]
    assert [one["grade"] for one in trades] == ["A", None, "B"]
    assert [present(one) for one in trades] == [[True, False], [], []]


async def test_presses_that_are_faster_than_the_journal_are_all_stored_and_a_conflict_is_asked_about(
    page: Page, journal: PageJournal
) -> None:
    setup, tags = add_setup(journal), journal.add_tags(*"ABC")
    judged, trade_id = journal.add_trade(), journal.add_trade(at="2026-03-03T10:00")
    first, second, third = (f"#tag-{tag}" for tag in tags)
    path = f"/trades/{trade_id}"
    await sign_in(page, journal, f"trades?id={judged}")
    await gone(page, "#last-setup")
    journal.patch(f"/trades/{judged}", setup_id=setup)
    await show(page, f"trades?id={trade_id}")

    await press(page, "Opening range › Break", "#trade")
    await press(page, "✓ all of them", "#trade")
    await gone(page, "#all-yes")
    async with held(page):
        await page.evaluate(
            "all => all.forEach((one) => document.querySelector(one).click())",
            [first, second, "[aria-label='no: Trend']", "#grade-1"],
        )
    await page.click(f"{first}[aria-pressed=true] ~ {third}")  # on the panel that is drawn after it
    await eventually(lambda: sorted(journal.read(path)["tag_ids"]) == tags)
    await page.click(f"{second}[aria-pressed=true]")
    await page.wait_for_selector(f"{second}[aria-pressed=false]")
    await no_dialog(page)
    trade = journal.read(path)
    assert (trade["tag_ids"], trade["setup_id"], trade["grade"]) == ([tags[0], tags[2]], setup, "A+")
    assert present(trade) == [True, False]

    for key, mine, choice, kept in (("3", "B", "Save mine", "B"), ("4", "C", "Keep the stored version", "F")):
        journal.patch(path, grade="F")
        await page.keyboard.press(key)
        await see_all(page, "dialog tbody tr", f"Grade {mine} F")
        await agree(page, choice)
        await page.wait_for_selector(f"[data-grade={kept}][aria-pressed=true]")
        assert journal.read(path)["grade"] == kept


async def test_one_of_many_tags_is_found_by_typing_and_what_is_refused_is_said(
    page: Page, journal: PageJournal
) -> None:
    ids = journal.add_tags(*(f"Tag {number}" for number in range(13)))
    trade_id = journal.add_trade()
    other = journal.create("/accounts", name="Other")["id"]
    journal.create("/strategies", name="Opening range", account_id=other)
    await sign_in(page, journal, f"trades?id={trade_id}")

    await page.fill("#add-tag", "tag 7")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(f"#tag-{ids[7]}[aria-pressed=true]")
    assert journal.read(f"/trades/{trade_id}")["tag_ids"] == [ids[7]]
    await page.click(f"#tag-{ids[7]}")
    await gone(page, "#tags button")
    await choose(page, "#of-strategy_id", "Opening range")
    await see(page, "Strategy id", "#saved.error")
    await expect(page.locator("#of-strategy_id")).to_have_value("")


# Added and corrected -------------------------------------------------------------------------------------


async def test_a_trade_is_added_by_hand_with_all_that_is_thought_of_it(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/accounts", name="Main")
    add_setup(journal)
    await sign_in(page, journal, "trades")
    await press(page, "Add a trade")
    await see(page, "When does your trading day begin?", "dialog")
    await page.click("dialog .primary")
    form = page.locator("#new-trade")
    await expect(form.locator("[name=symbol]")).to_be_focused()
    await expect(form.locator("[name=opened_at]")).not_to_have_value("")

    await page.fill("#new-trade [name=symbol]", "ES")
    await press(page, "Add the trade")
    await see(page, "is required", "#new-trade [data-field=quantity]")
    await expect(form.locator("[name=quantity]")).to_be_focused()
    await expect(form.locator("[aria-invalid=true]")).to_have_count(2)
    await see(page, "Correct what is marked.", "#new-trade > [role=alert]")
    await choose(page, "#new-trade [name=times_in]", "UTC time")
    await fill(page, "#new-trade", quantity="2", entry_price="100", exit_price="103")
    await press(page, "Closed now")
    await expect(form.locator("[name=closed_at]")).not_to_have_value("")
    await gone(page, "[name=quantity][aria-invalid]")
    await page.focus("#new-trade [name=opened_at]")
    await page.keyboard.type("030220261500")  # a year of four digits, then the time
    await page.keyboard.type("P")
    await page.fill("#new-trade [name=closed_at]", "2026-03-02T15:05")
    await choose(page, "#new-trade #of-strategy_id", "Opening range")
    await choose(page, "#new-trade #of-setup_id", "Break")
    await press(page, "✓ all of them")
    await expect(form.locator("#new-tag")).to_be_focused()
    await press(page, "no: Trend")
    await press(page, "New tag…")
    await fill(page, "#edit", name="Late", new_category="Timing")
    await page.click("#edit .primary")
    await expect(form.locator("[aria-pressed=true]:text('Late')")).to_be_visible()
    picture: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": PNG}
    await page.set_input_files("#new-pictures", picture)
    await press(page, "Add the trade")
    await see(page, "+6.00", "#trade .big")
    await expect(page.locator("#trade .thumb")).to_have_count(1)
    await expect(page.locator("#trade")).to_be_focused()
    (listed,) = journal.read("/trades")
    added = journal.read(f"/trades/{listed['id']}")
    await press(page, "Delete", "#trade")
    await agree(page, "Delete", "Delete this trade?")
    await see(page, "There is no trade yet", ".empty")

    assert (added["symbol"], added["net_pnl"], added["opened_at"][:16]) == ("ES", 6, "2026-03-02T15:00")
    assert [one["name"] for one in added["tags"]] == ["Late"]
    assert present(added) == [True, False]
    assert len(added["pictures"]) == 1
    assert journal.read("/me")["day_rollover"] == "17:00"
    assert journal.read("/trades") == []


NEEDS_CLOSE = "Needs the time at which the trade closed"
# Exit price, gross P&L and close as they are typed; the field with the reason, and the reason.
REASONS = [
    ("25,310", "", "", "exit_price", NEEDS_CLOSE),
    ("", "10", "", "gross_pnl", NEEDS_CLOSE),
    ("", "", "2026-11-13T16:17", "exit_price", "Write the exit price, or the gross P&L"),
    ("", "10", "2025-11-13T16:17", "closed_at", "Must not be before the trade opened"),
]


async def test_prices_and_times_are_corrected_in_the_words_of_the_form_beside_another_change(
    page: Page, journal: PageJournal
) -> None:
    open_trade: dict[str, Any] = {"entry_price": 25_300.25, "exit_price": None, "closed_at": None}
    path = f"/trades/{journal.add_trade(at='2026-11-13T15:00:07', symbol='MNQZ6', **open_trade)}"
    before = journal.read(path)
    await sign_in(page, journal, path.replace("/trades/", "trades?id="))
    await press(page, "Change prices and times")
    await expect(page.locator("dialog [name=entry_price]")).to_have_value("25,300.25")
    for exit_price, gross_pnl, closed_at, place, reason in REASONS:
        await fill(page, "dialog", exit_price=exit_price, gross_pnl=gross_pnl, closed_at=closed_at)
        await press(page, "Save", "dialog")
        await expect(page.locator(f"dialog [data-field={place}]")).to_have_text(reason)
    await page.focus("dialog [name=closed_at]")
    await page.keyboard.press("Delete")  # half a time is not sent as none
    await press(page, "Save", "dialog")
    await expect(page.locator("dialog [data-field=closed_at]")).to_have_text("Complete it, or clear it")
    await fill(page, "dialog", gross_pnl="", closed_at="2026-11-13T16:17", quantity="Infinity")
    await press(page, "Save", "dialog")
    await see(page, "Write a number such as", "dialog [data-field=quantity]")
    assert journal.read(path) == before
    await fill(page, "dialog", quantity="2", exit_price="25,310.50")
    await save(page, "dialog")
    trade = journal.read(path)
    assert (trade["quantity"], trade["exit_price"]) == (2, 25_310.5)
    assert (trade["closed_at"][:19], trade["opened_at"]) == ("2026-11-13T16:17:00", before["opened_at"])

    await press(page, "Change prices and times")
    await expect(page.locator("dialog [name=quantity]")).to_have_value("2")
    journal.patch(path, exit_price=25_305.25, symbol="TSLA")
    await page.fill("dialog [name=exit_price]", "25,320.25")
    await press(page, "Save", "dialog")
    await see_all(
        page,
        "dialog .versions tbody tr",
        "Symbol (changed in the meantime; stays) MNQZ6 TSLA",
        "Exit 25320.25 25305.25",
        "Gross P&L (changed in the meantime; stays) 20.5 10",
    )
    await agree(page, "Save mine")
    trade = journal.read(path)
    assert (trade["exit_price"], trade["symbol"]) == (25_320.25, "TSLA")


async def test_copies_are_folded_and_on_a_phone_a_trade_is_two_lines_and_opens_above_the_list(
    page: Page, journal: PageJournal
) -> None:
    original = journal.add_trade(at="2026-03-02T10:00")
    other = journal.create("/accounts", name="Topstep 150K Express")["id"]
    copy = journal.add_trade(12, "2026-03-02T10:00", account_id=other, source_trade_id=original)
    await resize(page, 360, 740)
    await sign_in(page, journal, "trades")

    rows = page.locator("#trades tbody tr")
    await expect(rows).to_have_count(1)
    await see(page, "1 trade, copies folded", "#trades")
    await page.click("#filters summary")
    await choose(page, "#filter-copies", "With copies")
    await expect(rows).to_have_count(2)
    await expect(rows.first).to_have_text(
        "Mar 2 ES ▲ +12.00 – – Topstep 150K Express · copy", use_inner_text=True
    )
    too_wide = "document.querySelector('.list').scrollWidth - document.querySelector('.list').clientWidth"
    assert await page.evaluate(too_wide) == 0
    ends = "all => all.map((one) => one.getBoundingClientRect().right)"
    assert max(await page.locator("nav a").evaluate_all(ends)) <= 360
    await show(page, f"trades?id={original}")
    await see(page, "1 copy: Topstep 150K Express +12.00", "#trade")
    tops = "['[data-grade=A]', '#trades'].map((one) => document.querySelector(one).getBoundingClientRect().y)"
    grade, listed = await page.evaluate(tops)
    assert grade < 300 < listed
    await page.click("#trade a:text('Topstep')")
    await see(page, "A copy of ES in Main", "#trade")
    assert page.url.endswith(f"id={copy}")


# Notes ---------------------------------------------------------------------------------------------------

STATE, ERROR = "#trade form .state", "#trade form .error"
DRAFTS = "localStorage.getItem('journal-drafts')"
OF_ANOTHER = "localStorage.setItem('journal-drafts', JSON.stringify({owner: '7', texts: {}}))"
WOULD_ASK = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"


async def open_notes(page: Page, journal: PageJournal) -> str:
    """Open a trade with its notes; its path."""
    trade_id = journal.add_trade()
    await sign_in(page, journal, f"trades?id={trade_id}")
    return f"/trades/{trade_id}"


async def refuse_writes(route: Route) -> None:
    await (route.abort() if route.request.method == "PATCH" else route.continue_())


async def test_notes_are_saved_while_they_are_typed_and_outlive_a_reload_for_their_user_alone(
    page: Page, journal: PageJournal
) -> None:
    await page.clock.install()
    path = await open_notes(page, journal)
    assert not await page.evaluate(WOULD_ASK)
    await page.type("#notes", "1 of 6 jobs")
    assert await page.evaluate(WOULD_ASK)
    await page.clock.run_for(1_000)
    await see(page, "Saved", STATE)
    await expect(page.locator("#notes")).to_be_focused()
    stored = journal.read(path)
    assert (stored["notes"], stored["grade"]) == ("1 of 6 jobs", None)  # a digit in them is no key

    await page.route("**/v1/trades/**", refuse_writes)
    await page.type("#notes", ", second")
    await page.clock.run_for(1_000)
    await see(page, "Not saved, trying again.", ERROR)
    await page.unroute_all()
    await page.clock.run_for(3_000)
    await see(page, "Saved", STATE)
    assert journal.read(path)["notes"] == "1 of 6 jobs, second"

    await page.route("**/v1/trades/**", refuse_writes)
    await page.type("#notes", ", third")
    await page.reload()
    await see(page, "Not saved. You typed this before.", ERROR)
    await page.unroute_all()
    await expect(page.locator("#notes")).to_have_value("1 of 6 jobs, second, third")
    await page.goto("about:blank")
    await sign_in(page, journal, "days")
    await page.click("main .warn a:text('Notes')")
    await press(page, "Save the notes")
    await see(page, "Saved", STATE)
    assert journal.read(path)["notes"] == "1 of 6 jobs, second, third"

    await page.evaluate(OF_ANOTHER)
    await show(page, "settings")
    assert await page.evaluate(DRAFTS) is None
    await page.evaluate(OF_ANOTHER)
    await press(page, "Sign out")
    await page.wait_for_selector("#sign-in")
    assert await page.evaluate(DRAFTS) is None


async def test_notes_outlive_a_service_that_stops_and_starts_and_leaving_them_asks(
    page: Page, journal: PageJournal
) -> None:
    await page.clock.install()
    path = await open_notes(page, journal)
    async with away(page):
        await page.fill("#notes", "mine")
        await page.keyboard.press("Tab")
        await see(page, "Not saved, trying again.", ERROR)
        await page.click("#grade-2")
        await see(page, "does not answer", "#saved.error")
        await see(page, "The journal does not answer.", "#away")
        await page.click("nav a:text('Strategies')")
        await see(page, "The notes of this trade are not saved.", "dialog")
        await agree(page, "Cancel")
        await expect(page.locator("#notes")).to_have_value("mine")
        assert page.url.endswith(path.replace("/trades/", "#/trades?id="))
    await page.clock.run_for(3_000)
    await eventually(lambda: journal.read(path)["notes"] == "mine")
    await gone(page, "form[data-changed]")

    await show(page, "report")
    await show(page, path.replace("/trades/", "trades?id="))
    await page.fill("#notes", "left by back")
    async with held(page):
        await page.evaluate("history.back()")
    await drawn(page, "report")
    assert journal.read(path)["notes"] == "left by back"
    await no_dialog(page)


async def test_notes_that_are_refused_or_in_conflict_outlive_a_grade_and_a_revoked_key(
    page: Page, journal: PageJournal
) -> None:
    path = await open_notes(page, journal)
    notes = page.locator("#notes")
    await page.fill("#notes", "x" * 10_001)
    await page.keyboard.press("Tab")
    await see(page, "Not saved", ERROR)
    await page.click("#grade-2")
    await see(page, "Saved, but not the notes.", "#saved")
    await see(page, "10000", ERROR)
    await expect(notes).to_have_value("x" * 10_001)
    journal.patch(path, notes="theirs")
    await page.fill("#notes", "mine")
    await page.keyboard.press("Tab")
    await page.wait_for_selector("dialog .versions")
    await page.keyboard.press("Escape")
    await page.click("#grade-3")
    await page.wait_for_selector("#grade-3[aria-pressed=true]")
    await see(page, "Saved, but not the notes.", "#saved")
    await expect(notes).to_have_value("mine")
    assert journal.read(path)["notes"] == "theirs"

    run_ok("keys", "revoke", "1", "--db", journal.db)
    await poll(page)
    await see(page, "What you typed is still there.")
    key = new_key(journal.db)
    await page.fill("#sign-in [name=key]", key)
    await page.keyboard.press("Enter")
    await no_dialog(page)
    await expect(notes).to_have_value("mine")
    await press(page, "Save the notes")
    await press(page, "Save mine", "dialog")
    await gone(page, "#trade form[data-changed]")
    with journal.server.client(key) as client:
        assert journal._replace(client=client).read(path)["notes"] == "mine"
