"""Trades on the page at /: judged, added, corrected, and written about (docs/page.md)."""

from typing import Any

from chromium import PageJournal, Tab, eventually, in_a_browser
from commands import new_key, run_ok
from pictures import PNG
from playwright.async_api import FilePayload, Route, expect

pytestmark = in_a_browser
SETUPS = [{"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}]


def add_setup(journal: PageJournal) -> int:
    return int(journal.create("/strategies", name="Opening range", setups=SETUPS)["setups"][0]["setup_id"])


def present(trade: Any) -> list[bool]:
    return [one["was_present"] for one in trade["confirmations"]]


# Judged --------------------------------------------------------------------------------------------------


async def test_trades_are_judged_by_keyboard_one_at_a_time(page: Tab, page_journal: PageJournal) -> None:
    setup = add_setup(page_journal)
    first, second, third = (
        page_journal.add_trade(pnl, f"2026-03-0{day}T10:00", setup_id=setup, mae=4.5)
        for day, pnl in ((2, 10), (3, 20), (4, 30))
    )
    await page.sign_in(page_journal, "trades")

    await page.keys("j", "j", "j", "Enter")  # the newest is first
    await page.see("+10.00", "#trade .big")
    await page.see("4.50", "#trade .facts")
    await page.keys("2")
    await page.wait_for_selector("#grade-2[aria-pressed=true]")
    await page.focus("[aria-label='yes: Volume']")
    await page.keys("Enter")
    await page.wait_for_selector("[aria-label='yes: Volume'][aria-pressed=true]")
    await page.keys("Tab", "Tab", "Tab", "Space")
    await page.wait_for_selector("[aria-label='no: Trend'][aria-pressed=true]")
    async with page.held():
        await page.keys("k", "k", "2")
    await page.wait_for_selector(f"#trade[data-id='{third}']")
    await page.see("+30.00", "#trade .big")
    await page.keys("3")
    await page.wait_for_selector("#grade-3[aria-pressed=true]")
    await page.keys("Escape")
    await page.gone("#trade")

    trades = [page_journal.read(f"/trades/{one}") for one in (first, second, third)]
    assert [one["grade"] for one in trades] == ["A", None, "B"]
    assert [present(one) for one in trades] == [[True, False], [], []]


async def test_presses_faster_than_the_journal_are_all_stored(page: Tab, page_journal: PageJournal) -> None:
    setup, tags = add_setup(page_journal), page_journal.add_tags(*"ABC")
    judged, trade_id = page_journal.add_trade(), page_journal.add_trade(at="2026-03-03T10:00")
    first, second, third = (f"#tag-{tag}" for tag in tags)
    path = f"/trades/{trade_id}"
    await page.sign_in(page_journal, f"trades?id={judged}")
    await page.gone("#last-setup")
    page_journal.patch(f"/trades/{judged}", setup_id=setup)
    await page.show(f"trades?id={trade_id}")

    await page.press("Opening range › Break", "#trade")
    await page.press("✓ all of them", "#trade")
    await page.gone("#all-yes")
    async with page.held():
        await page.evaluate(
            "all => all.forEach((one) => document.querySelector(one).click())",
            [first, second, "[aria-label='no: Trend']", "#grade-1"],
        )
    await page.click(f"{first}[aria-pressed=true] ~ {third}")  # on the panel that is drawn after it
    await eventually(lambda: sorted(page_journal.read(path)["tag_ids"]) == tags)
    await page.click(f"{second}[aria-pressed=true]")
    await page.wait_for_selector(f"{second}[aria-pressed=false]")
    await page.no_dialog()
    trade = page_journal.read(path)
    assert (trade["tag_ids"], trade["setup_id"], trade["grade"]) == ([tags[0], tags[2]], setup, "A+")
    assert present(trade) == [True, False]

    for key, mine, choice, kept in (("3", "B", "Save mine", "B"), ("4", "C", "Keep the stored version", "F")):
        async with page.held():
            await page.keys(key)
            page_journal.patch(path, grade="F")
        await page.see_all("dialog tbody tr", f"Grade {mine} F")
        await page.agree(choice)
        await page.wait_for_selector(f"[data-grade={kept}][aria-pressed=true]")
        assert page_journal.read(path)["grade"] == kept


async def test_one_of_many_tags_is_found_by_typing(page: Tab, page_journal: PageJournal) -> None:
    ids = page_journal.add_tags(*(f"Tag {number}" for number in range(13)))
    trade_id = page_journal.add_trade()
    other = page_journal.create("/accounts", name="Other")["id"]
    page_journal.create("/strategies", name="Opening range", account_id=other)
    await page.sign_in(page_journal, f"trades?id={trade_id}")

    await page.enter("#add-tag", "tag 7", "Enter")
    await page.wait_for_selector(f"#tag-{ids[7]}[aria-pressed=true]")
    assert page_journal.read(f"/trades/{trade_id}")["tag_ids"] == [ids[7]]
    await page.click(f"#tag-{ids[7]}")
    await page.gone("#tags button")
    await page.choose("#of-strategy_id", "Opening range")
    await page.see("Strategy id", "#saved.error")
    await page.holds("#of-strategy_id", "")


# Added and corrected -------------------------------------------------------------------------------------


async def test_a_trade_is_added_by_hand_with_its_judgement(page: Tab, page_journal: PageJournal) -> None:
    page_journal.create("/accounts", name="Main")
    add_setup(page_journal)
    await page.sign_in(page_journal, "trades")
    await page.press("Add a trade")
    await page.see("When does your trading day begin?", "dialog")
    await page.click("dialog .primary")
    form = page.locator("#new-trade")
    await expect(form.locator("[name=symbol]")).to_be_focused()
    await expect(form.locator("[name=opened_at]")).not_to_have_value("")

    await page.fill("#new-trade [name=symbol]", "ES")
    await page.press("Add the trade")
    await page.see("is required", "#new-trade [data-field=quantity]")
    await expect(form.locator("[name=quantity]")).to_be_focused()
    await expect(form.locator("[aria-invalid=true]")).to_have_count(2)
    await page.see("Correct what is marked.", "#new-trade > [role=alert]")
    await page.choose("#new-trade [name=times_in]", "UTC time")
    await page.fill_in("#new-trade", quantity="2", entry_price="100", exit_price="103")
    await page.press("Closed now")
    await expect(form.locator("[name=closed_at]")).not_to_have_value("")
    await page.gone("[name=quantity][aria-invalid]")
    await page.focus("#new-trade [name=opened_at]")
    await page.keyboard.type("030220261500")  # a year of four digits, then the time
    await page.keyboard.type("P")
    await page.fill("#new-trade [name=closed_at]", "2026-03-02T15:05")
    await page.choose("#new-trade #of-strategy_id", "Opening range")
    await page.choose("#new-trade #of-setup_id", "Break")
    await page.press("✓ all of them")
    await expect(form.locator("#new-tag")).to_be_focused()
    await page.press("no: Trend")
    await page.press("New tag…")
    await page.fill_in("#edit", name="Late", new_category="Timing")
    await page.click("#edit .primary")
    await expect(form.locator("[aria-pressed=true]:text('Late')")).to_be_visible()
    picture: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": PNG}
    await page.set_input_files("#new-pictures", picture)
    await page.press("Add the trade")
    await page.see("+6.00", "#trade .big")
    await page.count("#trade .thumb", 1)
    await page.focused("#trade")
    (listed,) = page_journal.read("/trades")
    added = page_journal.read(f"/trades/{listed['id']}")
    await page.press("Delete", "#trade")
    await page.agree("Delete", "Delete this trade?")
    await page.see("There is no trade yet", ".empty")

    assert (added["symbol"], added["net_pnl"], added["opened_at"][:16]) == ("ES", 6, "2026-03-02T15:00")
    assert [one["name"] for one in added["tags"]] == ["Late"]
    assert present(added) == [True, False]
    assert len(added["pictures"]) == 1
    assert page_journal.read("/me")["day_rollover"] == "17:00"
    assert page_journal.read("/trades") == []


NEEDS_CLOSE = "Needs the time at which the trade closed"
# Exit price, gross P&L and close as they are typed; the field with the reason, and the reason.
REASONS = [
    ("25,310", "", "", "exit_price", NEEDS_CLOSE),
    ("", "10", "", "gross_pnl", NEEDS_CLOSE),
    ("", "", "2026-11-13T16:17", "exit_price", "Write the exit price, or the gross P&L"),
    ("", "10", "2025-11-13T16:17", "closed_at", "Must not be before the trade opened"),
]


async def test_prices_and_times_are_corrected(page: Tab, page_journal: PageJournal) -> None:
    open_trade: dict[str, Any] = {"entry_price": 25_300.25, "exit_price": None, "closed_at": None}
    path = f"/trades/{page_journal.add_trade(at='2026-11-13T15:00:07', symbol='MNQZ6', **open_trade)}"
    before = page_journal.read(path)
    await page.sign_in(page_journal, path.replace("/trades/", "trades?id="))
    await page.press("Change prices and times")
    await page.holds("dialog [name=entry_price]", "25,300.25")
    for exit_price, gross_pnl, closed_at, place, reason in REASONS:
        await page.fill_in("dialog", exit_price=exit_price, gross_pnl=gross_pnl, closed_at=closed_at)
        await page.press("Save", "dialog")
        await expect(page.locator(f"dialog [data-field={place}]")).to_have_text(reason)
    await page.focus("dialog [name=closed_at]")
    await page.keys("Delete")  # half a time is not sent as none
    await page.press("Save", "dialog")
    await expect(page.locator("dialog [data-field=closed_at]")).to_have_text("Complete it, or clear it")
    await page.fill_in("dialog", gross_pnl="", closed_at="2026-11-13T16:17", quantity="Infinity")
    await page.press("Save", "dialog")
    await page.see("Write a number such as", "dialog [data-field=quantity]")
    assert page_journal.read(path) == before
    await page.fill_in("dialog", quantity="2", exit_price="25,310.50")
    await page.save("dialog")
    trade = page_journal.read(path)
    assert (trade["quantity"], trade["exit_price"]) == (2, 25_310.5)
    assert (trade["closed_at"][:19], trade["opened_at"]) == ("2026-11-13T16:17:00", before["opened_at"])

    await page.press("Change prices and times")
    await page.holds("dialog [name=quantity]", "2")
    page_journal.patch(path, exit_price=25_305.25, symbol="TSLA")
    await page.fill("dialog [name=exit_price]", "25,320.25")
    await page.press("Save", "dialog")
    await page.see_all(
        "dialog .versions tbody tr",
        "Symbol (changed in the meantime; stays) MNQZ6 TSLA",
        "Exit 25320.25 25305.25",
        "Gross P&L (changed in the meantime; stays) 20.5 10",
    )
    await page.agree("Save mine")
    trade = page_journal.read(path)
    assert (trade["exit_price"], trade["symbol"]) == (25_320.25, "TSLA")


async def test_a_phone_folds_copies_and_opens_above_the_list(page: Tab, page_journal: PageJournal) -> None:
    original = page_journal.add_trade(at="2026-03-02T10:00")
    other = page_journal.create("/accounts", name="Topstep 150K Express")["id"]
    copy = page_journal.add_trade(12, "2026-03-02T10:00", account_id=other, source_trade_id=original)
    await page.resize(360, 740)
    await page.sign_in(page_journal, "trades")

    rows = page.locator("#trades tbody tr")
    await expect(rows).to_have_count(1)
    await page.see("1 trade, copies folded", "#trades")
    await page.click("#filters summary")
    await page.choose("#filter-copies", "With copies")
    await expect(rows).to_have_count(2)
    await expect(rows.first).to_have_text(
        "Mar 2 ES ▲ +12.00 – – Topstep 150K Express · copy", use_inner_text=True
    )
    too_wide = "document.querySelector('.list').scrollWidth - document.querySelector('.list').clientWidth"
    assert await page.evaluate(too_wide) == 0
    ends = "all => all.map((one) => one.getBoundingClientRect().right)"
    assert max(await page.locator("nav a").evaluate_all(ends)) <= 360
    await page.show(f"trades?id={original}")
    await page.see("1 copy: Topstep 150K Express +12.00", "#trade")
    tops = "['[data-grade=A]', '#trades'].map((one) => document.querySelector(one).getBoundingClientRect().y)"
    grade, listed = await page.evaluate(tops)
    assert grade < 300 < listed
    await page.click("#trade a:text('Topstep')")
    await page.see("A copy of ES in Main", "#trade")
    assert page.url.endswith(f"id={copy}")


# Notes ---------------------------------------------------------------------------------------------------

STATE, ERROR = "#trade form .state", "#trade form .error"
DRAFTS = "localStorage.getItem('journal-drafts')"
OF_ANOTHER = "localStorage.setItem('journal-drafts', JSON.stringify({owner: '7', texts: {}}))"
WOULD_ASK = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"


async def open_notes(page: Tab, journal: PageJournal) -> str:
    """Open a trade with its notes; its path."""
    trade_id = journal.add_trade()
    await page.sign_in(journal, f"trades?id={trade_id}")
    return f"/trades/{trade_id}"


async def refuse_writes(route: Route) -> None:
    await (route.abort() if route.request.method == "PATCH" else route.continue_())


async def test_notes_are_saved_while_typed_and_outlive_a_reload(page: Tab, page_journal: PageJournal) -> None:
    await page.clock.install()
    path = await open_notes(page, page_journal)
    assert not await page.evaluate(WOULD_ASK)
    await page.type("#notes", "1 of 6 jobs")
    assert await page.evaluate(WOULD_ASK)
    await page.clock.run_for(1_000)
    await page.see("Saved", STATE)
    await page.focused("#notes")
    stored = page_journal.read(path)
    assert (stored["notes"], stored["grade"]) == ("1 of 6 jobs", None)  # a digit in them is no key

    await page.route("**/v1/trades/**", refuse_writes)
    await page.type("#notes", ", second")
    await page.clock.run_for(1_000)
    await page.see("Not saved, trying again.", ERROR)
    await page.unroute_all()
    await page.clock.run_for(3_000)
    await page.see("Saved", STATE)
    assert page_journal.read(path)["notes"] == "1 of 6 jobs, second"

    await page.route("**/v1/trades/**", refuse_writes)
    await page.type("#notes", ", third")
    await page.reload()
    await page.see("Not saved. You typed this before.", ERROR)
    await page.unroute_all()
    await page.holds("#notes", "1 of 6 jobs, second, third")
    await page.goto("about:blank")
    await page.sign_in(page_journal, "days")
    await page.click("main .warn a:text('Notes')")
    await page.press("Save the notes")
    await page.see("Saved", STATE)
    assert page_journal.read(path)["notes"] == "1 of 6 jobs, second, third"

    await page.evaluate(OF_ANOTHER)
    await page.show("settings")
    assert await page.evaluate(DRAFTS) is None
    await page.evaluate(OF_ANOTHER)
    await page.press("Sign out")
    await page.wait_for_selector("#sign-in")
    assert await page.evaluate(DRAFTS) is None


async def test_notes_outlive_a_service_that_stops_and_starts(page: Tab, page_journal: PageJournal) -> None:
    await page.clock.install()
    path = await open_notes(page, page_journal)
    async with page.away():
        await page.enter("#notes", "mine")
        await page.see("Not saved, trying again.", ERROR)
        await page.click("#grade-2")
        await page.see("does not answer", "#saved.error")
        await page.see("The journal does not answer.", "#away")
        await page.click("nav a:text('Strategies')")
        await page.see("The notes of this trade are not saved.", "dialog")
        await page.agree("Cancel")
        await page.holds("#notes", "mine")
        assert page.url.endswith(path.replace("/trades/", "#/trades?id="))
    await page.clock.run_for(3_000)
    await eventually(lambda: page_journal.read(path)["notes"] == "mine")
    await page.gone("form[data-changed]")

    await page.show("report")
    await page.show(path.replace("/trades/", "trades?id="))
    await page.fill("#notes", "left by back")
    async with page.held():
        await page.evaluate("history.back()")
    await page.drawn("report")
    assert page_journal.read(path)["notes"] == "left by back"
    await page.no_dialog()


async def test_notes_in_conflict_outlive_a_grade_and_a_revoked_key(
    page: Tab, page_journal: PageJournal
) -> None:
    path = await open_notes(page, page_journal)
    notes = page.locator("#notes")
    await page.fill("#notes", "x" * 10_001)
    await page.keys("Tab")
    await page.see("Not saved", ERROR)
    await page.click("#grade-2")
    await page.see("Saved, but not the notes.", "#saved")
    await page.see("10000", ERROR)
    await expect(notes).to_have_value("x" * 10_001)
    page_journal.patch(path, notes="theirs")
    await page.enter("#notes", "mine")
    await page.wait_for_selector("dialog .versions")
    await page.keys("Escape")
    await page.click("#grade-3")
    await page.wait_for_selector("#grade-3[aria-pressed=true]")
    await page.see("Saved, but not the notes.", "#saved")
    await expect(notes).to_have_value("mine")
    assert page_journal.read(path)["notes"] == "theirs"

    run_ok("keys", "revoke", "1", "--db", page_journal.db)
    await page.poll()
    await page.see("What you typed is still there.")
    key = new_key(page_journal.db)
    await page.fill("#sign-in [name=key]", key)
    await page.keys("Enter")
    await page.no_dialog()
    await expect(notes).to_have_value("mine")
    await page.press("Save the notes")
    await page.press("Save mine", "dialog")
    await page.gone("#trade form[data-changed]")
    with page_journal.server.client(key) as client:
        assert page_journal._replace(client=client).read(path)["notes"] == "mine"
