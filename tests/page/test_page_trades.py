"""Reports, trades and strategies on the page at / (docs/page.md)."""

import signal
from pathlib import Path
from random import Random
from typing import Any

from chromium import (
    PageJournal,
    choose,
    delay,
    drawn,
    eventually,
    in_a_browser,
    no_dialog,
    poll,
    resize,
    save,
    see,
    show,
    sign_in,
    values_of,
)
from commands import new_key, run_ok, running
from factories import A_TRADE
from pictures import PNG
from playwright.async_api import FilePayload, Page, expect

pytestmark = in_a_browser
SETUPS = [
    {"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]},
    {"name": "Fade", "confirmations": []},
]


def add_trade(journal: PageJournal, pnl: float = 10, day: int = 2, **fields: Any) -> int:
    """Add a trade of the first account that was closed with that P&L on a day of March."""
    account, *_ = journal.read("/accounts") or [journal.create("/accounts", name="Main")]
    times = {"opened_at": f"2026-03-{day:02}T10:00:00Z", "closed_at": f"2026-03-{day:02}T10:05:00Z"}
    prices = {"entry_price": 100, "exit_price": 100 + pnl, "multiplier": 1}
    trade = {**A_TRADE, "symbol": "ES", "account_id": account["id"], **prices, **times, **fields}
    return int(journal.create("/trades", **trade)["id"])


def add_answered(journal: PageJournal, confirmation: Any, was_present: bool, pnl: float, setup: Any) -> None:
    answer = {"confirmation_id": confirmation["confirmation_id"], "was_present": was_present}
    add_trade(journal, pnl, setup_id=setup["setup_id"], confirmations=[answer])


def add_strategy(journal: PageJournal) -> Any:
    return journal.create("/strategies", name="Opening range", setups=SETUPS)


# What pays -----------------------------------------------------------------------------------------------


async def test_a_report_is_sorted_and_a_group_leads_to_its_trades(
    page: Page, page_journal: PageJournal
) -> None:
    for symbol, pnl in (("ES", 30), ("NQ", 50), ("NQ", -10), ("CL", -20)):
        add_trade(page_journal, pnl, symbol=symbol)
    await sign_in(page, page_journal, "report?by=symbol")

    assert await values_of(page, "tbody th") == ["NQ", "ES", "CL"]  # 40, 30, -20
    await page.click("#sort-win_rate")
    await see(page, "Win rate", 'th[aria-sort="descending"]')
    assert await values_of(page, "tbody th") == ["ES", "NQ", "CL"]  # 100, 50 and 0 %
    assert await values_of(page, "tbody td.profit_factor") == ["no losses", "5.00", "0.00"]
    await expect(page.locator(".axis")).to_have_count(0)  # too few trades for a line
    await see(page, "Amounts in USD.")
    await page.emulate_media(media="print")
    await expect(page.locator("#sort-win_rate")).to_be_visible()
    await expect(page.locator("#filters")).to_be_hidden()
    await page.emulate_media(media="screen")
    await page.click("tbody th a:text-is('NQ')")
    await see(page, "2 trades", "#trades")
    await expect(page.locator("#trades tbody tr")).to_have_count(2)


async def test_the_edge_of_a_confirmation_has_its_interval_and_too_few_trades_are_said_to_be(
    page: Page, page_journal: PageJournal
) -> None:
    setup = add_strategy(page_journal)["setups"][0]
    volume, trend = setup["confirmations"]
    example_of_the_docs = ((190, True), (10, True), (110, False), (-130, False))
    for pnl, was_present in example_of_the_docs:
        for _ in range(5):
            add_answered(page_journal, volume, was_present, pnl, setup)
    for pnl, was_present in ((10, True), (20, False)):
        add_answered(page_journal, trend, was_present, pnl, setup)
    await sign_in(page, page_journal, "report?by=confirmation")

    first, second = await values_of(page, "tbody tr")
    assert "+110.00 (+4.36 to +215.64)" in first
    assert "Earns more with it" in first
    await expect(page.locator("tbody tr:first-child .interval circle")).to_have_count(1)
    assert "1 trade with it, 1 without: too few to tell; 10 on each side are needed." in second


# Forty decisions, whose P&L follows the first of eight confirmations; the fifth differs by chance alone.
NAMES = "ABCDEFGH"
LARGE = {"name": "Size", "confirmations": [{"name": "Large"}, {"name": "Rare"}]}


def add_many_looks(journal: PageJournal) -> None:
    """Add decisions of two setups; of the second, the confirmed ones are larger and earn less in R."""
    setups = [{"name": "Break", "confirmations": [{"name": name} for name in NAMES]}, LARGE]
    looks, size = journal.create("/strategies", name="Opening range", setups=setups)["setups"]
    source = Random(12)
    answers = [[source.random() < 0.5 for _ in NAMES] for _ in range(40)]
    for of_one in answers:
        confirmations = answer(looks, *of_one)
        pnl = source.randint(-50, 50) + (40 if of_one[0] else -40)
        add_trade(journal, pnl, setup_id=looks["setup_id"], confirmations=confirmations)
    for place in range(22):
        is_large, more = place % 2 == 0, place % 3
        pnl, risk = (110 + more, 99) if is_large else (50 + more, 10)
        confirmations = answer(size, is_large, place == 0)
        add_trade(journal, pnl, stop_loss=100 - risk, setup_id=size["setup_id"], confirmations=confirmations)


def answer(setup: Any, *present: bool) -> list[dict[str, Any]]:
    return [
        {"confirmation_id": one["confirmation_id"], "was_present": was_present}
        for one, was_present in zip(setup["confirmations"], present, strict=True)
    ]


async def test_an_edge_is_worded_by_its_verdict_over_all_lines_and_never_by_its_interval(
    page: Page, page_journal: PageJournal
) -> None:
    add_many_looks(page_journal)
    await sign_in(page, page_journal, "report?by=confirmation")

    await see(page, "2 of 9 lines show a difference.")
    rows = {text.split()[0]: text for text in await values_of(page, ".edges tbody tr")}
    for name, words, tone in [
        ("A", "▲ Earns more with it", "gain"),
        (
            "B",
            "No difference shown\nAbout 3 more trades would make it clear, if it stays so.",
            "plain",
        ),
        ("E", "By itself it looks clear, but so does one of 20 by chance.", "plain"),
        ("Large", "the other way round: size, or which trades have a risk, makes the difference.", "gain"),
        ("Rare", "1 trade with it, 21 without: too few to tell", None),
    ]:
        assert words in rows[name]
        line = page.locator(f".edges tr:has(th a:text-is('{name}')) td:nth-child(4) circle")
        assert await line.evaluate_all("all => all.map((one) => one.classList.value)") == [tone] * bool(tone)
    assert "Earns" not in rows["E"]


async def test_means_that_chance_would_make_are_grey_and_counted_above_the_table(
    page: Page, page_journal: PageJournal
) -> None:
    for place in range(12):
        add_trade(page_journal, 100 + place, symbol="REAL")
        add_trade(page_journal, 100 if place % 2 else -90, symbol="NOISE")
    tokyo = page_journal.create("/accounts", name="Tokyo", currency="JPY")["id"]
    add_trade(page_journal, 500, symbol="ONCE", account_id=tokyo)
    await sign_in(page, page_journal, "report?by=symbol&sort=-expectancy")

    await see(
        page, "1 of 2 averages is clearly not zero. Chance alone would make about 0.1 of 2 look so (5 %)."
    )
    dots = page.locator("td.expectancy circle")
    assert await dots.evaluate_all("all => all.map((one) => one.classList.value)") == ["gain", "plain"]
    assert await values_of(page, "tbody td.expectancy") == ["+500.00\ntoo few", "+105.50", "+5.00"]
    assert await values_of(page, "tbody th") == ["ONCE\nJPY", "REAL\nUSD", "NOISE\nUSD"]
    assert await page.locator(".axis text").all_text_contents() == ["−58", "+108", "0"]  # not up to 500
    await expect(page.locator("tr:has-text('NOISE') :is(.gain, .loss)")).to_have_count(0)
    await expect(page.locator("tr:has-text('REAL') td.win_rate small")).to_have_text("75.8 % to 100.0 %")
    await show(page, "report?by=symbol&symbol=NOISE")
    await see(page, "None of these averages is clearly not zero.")


async def test_what_happened_before_a_trade_stands_beside_its_risk_and_is_chosen_from_a_list_on_a_phone(
    page: Page, page_journal: PageJournal
) -> None:
    for hour, pnl, stop in ((10, -20, 90), (11, 30, 80)):
        at = f"2026-03-02T{hour}"
        times: dict[str, Any] = {"opened_at": f"{at}:00:00Z", "closed_at": f"{at}:01:00Z"}
        add_trade(page_journal, pnl, stop_loss=stop, **times)
    await resize(page, 360)
    await sign_in(page, page_journal, "report")
    await choose(page, "[name=by]", "After win or loss")

    await see(page, "After a loss", "tbody")
    assert await values_of(page, "tbody th") == ["First of the day", "After a loss"]
    assert await values_of(page, "tbody td.average_risk") == ["10.00", "20.00"]
    for by, names in (("nth", ["1st", "2nd"]), ("pause", ["First of the day", "15 min to 1 h"])):
        await show(page, f"report?by={by}")
        assert await values_of(page, "tbody th") == names
    await show(page, "report?by=rules")
    assert await values_of(page, "tbody th") == ["No checklist"]


async def test_a_mistake_is_shown_with_what_it_cost_and_refused_filters_with_their_reason(
    page: Page, page_journal: PageJournal
) -> None:
    category = page_journal.create("/tag-categories", name="Psychology")["id"]
    fomo, calm = (
        page_journal.create("/tags", name=name, category_id=category, type=kind)["id"]
        for name, kind in (("FOMO", "mistake"), ("Calm", "custom"))
    )
    for pnl, tag in ((-30, fomo), (-20, fomo), (100, calm)):
        add_trade(page_journal, pnl, tag_ids=[tag])
    await sign_in(page, page_journal, "report?by=mistake")

    assert await values_of(page, ".edges tbody th") == ["FOMO"]
    await see(page, "FOMO: −50.00 in 2 trades", "main section")
    for view in ("report", "trades"):
        await show(page, f"{view}?from=2026-03-09&to=2026-03-02")
        await see(page, "From: must not be after to.", ".error")
        await expect(page.locator("#filter-from")).to_have_value("2026-03-09")
    await resize(page, 360)
    await show(page, "report")
    await see(page, "Scroll the table to the right")
    await resize(page, 1280)
    await show(page, "report?by=symbol")
    await expect(page.get_by_text("Scroll the table to the right")).to_be_hidden()


# A trade -------------------------------------------------------------------------------------------------


async def test_a_trade_is_opened_graded_and_answered_by_keyboard(
    page: Page, page_journal: PageJournal
) -> None:
    setup_id = add_strategy(page_journal)["setups"][0]["setup_id"]
    first, second = (
        add_trade(page_journal, pnl, day, setup_id=setup_id, mae=4.5) for pnl, day in ((10, 2), (20, 3))
    )
    await sign_in(page, page_journal, "trades")

    for key in ("j", "j", "Enter"):  # the newest is first
        await page.keyboard.press(key)
    await see(page, "+10.00", "#trade .big")
    await see(page, "4.50", "#trade .facts")
    await page.keyboard.press("2")
    await page.wait_for_selector('#grade-2[aria-pressed="true"]')
    await page.focus('[aria-label="yes: Volume"]')
    await page.keyboard.press("Enter")
    await page.wait_for_selector('[aria-label="yes: Volume"][aria-pressed="true"]')
    for key in ("Tab", "Tab", "Tab", "Space"):
        await page.keyboard.press(key)
    await page.wait_for_selector('[aria-label="no: Trend"][aria-pressed="true"]')
    stored = page_journal.read(f"/trades/{first}")
    await page.keyboard.press("k")
    await see(page, "+20.00", "#trade .big")
    await page.keyboard.press("Escape")
    await expect(page.locator("#trade")).to_have_count(0)

    assert stored["grade"] == "A"
    assert [one["was_present"] for one in stored["confirmations"]] == [True, False]
    assert page_journal.read(f"/trades/{second}")["grade"] is None


async def test_a_key_pressed_while_the_next_trade_is_read_grades_no_other(
    page: Page, page_journal: PageJournal
) -> None:
    first, second, third = (add_trade(page_journal, day=day) for day in (2, 3, 4))
    await sign_in(page, page_journal, f"trades?id={third}")
    await delay(page, 300)

    for key in ("j", "j", "2"):
        await page.keyboard.press(key)
    await page.wait_for_selector(f'#trade[data-id="{first}"]')
    await page.keyboard.press("3")
    await page.wait_for_selector('#grade-3[aria-pressed="true"]')

    grades = [page_journal.read(f"/trades/{one}")["grade"] for one in (first, second, third)]
    assert grades == ["B", None, None]


async def test_answers_that_are_ticked_faster_than_they_are_saved_are_all_stored(
    page: Page, page_journal: PageJournal
) -> None:
    trade_id = add_trade(page_journal, setup_id=add_strategy(page_journal)["setups"][0]["setup_id"])
    await sign_in(page, page_journal, f"trades?id={trade_id}")

    await page.evaluate("""
        for (const label of ["yes: Volume", "no: Trend"])
          document.querySelector(`[aria-label="${label}"]`).click();
        document.querySelector("#grade-1").click();
    """)
    await eventually(lambda: page_journal.read(f"/trades/{trade_id}")["grade"] == "A+")

    answers = page_journal.read(f"/trades/{trade_id}")["confirmations"]
    assert [one["was_present"] for one in answers] == [True, False]
    await no_dialog(page)


async def test_a_trade_is_judged_like_the_last_by_a_press_for_each_answer(
    page: Page, page_journal: PageJournal
) -> None:
    setup = add_strategy(page_journal)["setups"][0]["setup_id"]
    category = page_journal.create("/tag-categories", name="Mind")["id"]
    tags = [page_journal.create("/tags", name=one, category_id=category)["id"] for one in ("Calm", "FOMO")]
    judged = add_trade(page_journal)
    trade_id = add_trade(page_journal, day=3)
    await sign_in(page, page_journal, f"trades?id={judged}")
    assert await page.locator("#last-setup").count() == 0
    page_journal.patch(f"/trades/{judged}", setup_id=setup)
    await show(page, f"trades?id={trade_id}")

    for tag in (*tags, tags[0]):
        await page.click(f"#tag-{tag}")
    await page.click("#last-setup:text('Opening range › Break')")
    await page.click("#all-yes")
    await expect(page.locator("#all-yes")).to_have_count(0)
    await page.click("[aria-label='no: Trend']")
    await page.wait_for_selector("[aria-label='no: Trend'][aria-pressed=true]")

    trade = page_journal.read(f"/trades/{trade_id}")
    assert (trade["tag_ids"], trade["setup_id"]) == ([tags[1]], setup)
    assert [one["was_present"] for one in trade["confirmations"]] == [True, False]


async def test_presses_on_a_panel_and_on_the_one_drawn_after_it_are_all_stored(
    page: Page, page_journal: PageJournal
) -> None:
    category = page_journal.create("/tag-categories", name="Mind")["id"]
    tags = [page_journal.create("/tags", name=one, category_id=category)["id"] for one in "ABC"]
    trade_id = add_trade(page_journal)
    await sign_in(page, page_journal, f"trades?id={trade_id}")
    await delay(page, 200)

    first, second, third = (f"#tag-{tag}" for tag in tags)
    await page.evaluate(f"for (const one of ['{first}', '{second}']) document.querySelector(one).click()")
    await page.click(f"{first}[aria-pressed=true] ~ {third}")

    await eventually(lambda: sorted(page_journal.read(f"/trades/{trade_id}")["tag_ids"]) == tags)
    await no_dialog(page)


async def test_one_of_many_tags_is_found_by_typing(page: Page, page_journal: PageJournal) -> None:
    category = page_journal.create("/tag-categories", name="Mind")["id"]
    ids = [
        page_journal.create("/tags", name=f"Tag {number}", category_id=category)["id"] for number in range(13)
    ]
    trade_id = add_trade(page_journal)
    await sign_in(page, page_journal, f"trades?id={trade_id}")

    await page.fill("#add-tag", "tag 7")
    await page.keyboard.press("Enter")
    await page.click(f"#tag-{ids[7]}[aria-pressed=true]")
    await expect(page.locator("#tags button")).to_have_count(0)

    assert page_journal.read(f"/trades/{trade_id}")["tag_ids"] == []


async def test_what_the_api_refuses_is_said_in_the_trade(page: Page, page_journal: PageJournal) -> None:
    trade_id = add_trade(page_journal)
    other = page_journal.create("/accounts", name="Other")["id"]
    page_journal.patch(f"/strategies/{add_strategy(page_journal)['id']}", account_id=other)
    await sign_in(page, page_journal, f"trades?id={trade_id}")

    await choose(page, "#of-strategy_id", "Opening range")

    await see(page, "Strategy id", "#saved.error")
    await expect(page.locator("#of-strategy_id")).to_have_value("")


async def test_a_conflict_shows_both_versions_and_the_owner_chooses(
    page: Page, page_journal: PageJournal
) -> None:
    trade_id = add_trade(page_journal)
    await sign_in(page, page_journal, f"trades?id={trade_id}")
    for key, mine, choice, kept in (
        ("3", "B", "Save mine", "B"),
        ("4", "C", "Keep the stored version", "F"),
    ):
        page_journal.patch(f"/trades/{trade_id}", grade="F")
        await page.keyboard.press(key)
        assert (await page.inner_text("dialog tbody")).split() == ["Grade", mine, "F"]
        await page.click(f"dialog button:text('{choice}')")
        await page.wait_for_selector(f'[data-grade="{kept}"][aria-pressed="true"]')
        assert page_journal.read(f"/trades/{trade_id}")["grade"] == kept


async def test_a_trade_is_added_by_hand_with_all_that_is_thought_of_it(
    page: Page, page_journal: PageJournal
) -> None:
    page_journal.create("/accounts", name="Main")
    setups = [{"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}]
    page_journal.create("/strategies", name="Opening range", setups=setups)
    await sign_in(page, page_journal, "trades")
    await page.click("button:text('Add a trade')")
    await see(page, "When does your trading day begin?", "dialog")
    await page.click("dialog .primary")
    form = page.locator("#new-trade")
    await expect(form.locator("[name=symbol]")).to_be_focused()
    assert await page.input_value("#new-trade [name=opened_at]") != ""

    await page.fill("#new-trade [name=symbol]", "ES")
    await page.click("#new-trade .primary")
    await see(page, "is required", '#new-trade [data-field="quantity"]')
    await expect(form.locator("[name=quantity]")).to_be_focused()
    await expect(form.locator("[aria-invalid=true]")).to_have_count(2)
    await see(page, "Correct what is marked.", "#new-trade > [role=alert]")
    await choose(page, "#new-trade [name=times_in]", "UTC time")
    for name, text in {"quantity": "2", "entry_price": "100", "exit_price": "103"}.items():
        await page.fill(f"#new-trade [name={name}]", text)
    await page.click("#new-trade [aria-label='Closed now']")
    assert await page.input_value("#new-trade [name=closed_at]") != ""
    await expect(form.locator("[name=quantity][aria-invalid]")).to_have_count(0)
    await page.focus("#new-trade [name=opened_at]")
    await page.keyboard.type("030220261500")  # a year of four digits, then the time
    await page.keyboard.type("P")
    await page.fill("#new-trade [name=closed_at]", "2026-03-02T15:05")
    await choose(page, "#new-trade #of-strategy_id", "Opening range")
    await choose(page, "#new-trade #of-setup_id", "Break")
    await page.click("#new-trade #all-yes")
    await expect(page.locator("#new-trade #new-tag")).to_be_focused()
    await page.click("#new-trade [aria-label='no: Trend']")
    await page.click("#new-trade #new-tag")
    await page.fill("#edit [name=name]", "Late")
    await page.fill("#edit [name=new_category]", "Timing")
    await page.click("#edit .primary")
    await expect(form.locator("[aria-pressed=true]:text('Late')")).to_be_visible()
    picture: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": PNG}
    await page.set_input_files("#new-pictures", picture)
    await page.click("#new-trade .primary")
    await see(page, "+6.00", "#trade .big")
    await expect(page.locator("#trade .thumb")).to_have_count(1)
    await expect(page.locator("#trade")).to_be_focused()
    (listed,) = page_journal.read("/trades")
    added = page_journal.read(f"/trades/{listed['id']}")
    await page.click("#trade .danger")
    await page.click("dialog .danger")
    await see(page, "There is no trade yet", ".empty")

    assert (added["symbol"], added["net_pnl"], added["opened_at"][:16]) == ("ES", 6, "2026-03-02T15:00")
    assert [one["name"] for one in added["tags"]] == ["Late"]
    assert [one["was_present"] for one in added["confirmations"]] == [True, False]
    assert len(added["pictures"]) == 1
    assert page_journal.read("/me")["day_rollover"] == "17:00"
    assert page_journal.read("/trades") == []


# Prices and times ----------------------------------------------------------------------------------------


async def open_prices(page: Page, journal: PageJournal, **fields: Any) -> str:
    """Open the form of a trade that is open since 15:00:07; its path."""
    trade = add_trade(journal, symbol="MNQZ6", entry_price=25_300.25, exit_price=None, closed_at=None,
                      opened_at="2026-11-13T15:00:07Z")  # fmt: skip
    if fields:
        journal.patch(f"/trades/{trade}", **fields)
    await sign_in(page, journal, f"trades?id={trade}")
    await page.click("#trade button:text('Change prices')")
    return f"/trades/{trade}"


async def test_a_trade_is_closed_by_a_time_without_seconds_and_a_price_with_separators(
    page: Page, page_journal: PageJournal
) -> None:
    path = await open_prices(page, page_journal)
    before = page_journal.read(path)
    await expect(page.locator("dialog [name=entry_price]")).to_have_value("25,300.25")
    await page.fill("dialog [name=quantity]", "Infinity")
    await page.click("dialog .primary")
    await see(page, "Write a number such as", "dialog [data-field=quantity]")
    await page.fill("dialog [name=quantity]", "2")
    await page.fill("dialog [name=exit_price]", "25,310.50")
    await page.fill("dialog [name=closed_at]", "2026-11-13T16:17")
    await save(page, "dialog")

    trade = page_journal.read(path)
    assert (trade["quantity"], trade["exit_price"], trade["closed_at"][:19]) == (
        2,
        25_310.5,
        "2026-11-13T16:17:00",
    )
    assert trade["opened_at"] == before["opened_at"]


async def test_a_reason_is_said_in_the_words_of_the_form_and_half_a_time_is_not_sent_as_none(
    page: Page, page_journal: PageJournal
) -> None:
    path = await open_prices(page, page_journal)
    for typed, place, reason in (
        (("25,310", "", ""), "exit_price", "Needs the time at which the trade closed"),
        (("", "10", ""), "gross_pnl", "Needs the time at which the trade closed"),
        (("", "", "2026-11-13T16:17"), "exit_price", "Write the exit price, or the gross P&L"),
        (("", "10", "2025-11-13T16:17"), "closed_at", "Must not be before the trade opened"),
    ):
        for name, text in zip(("exit_price", "gross_pnl", "closed_at"), typed, strict=True):
            await page.fill(f"dialog [name={name}]", text)
        await page.click("dialog .primary")
        await expect(page.locator(f"dialog [data-field={place}]")).to_have_text(reason)

    await page.focus("dialog [name=closed_at]")
    await page.keyboard.press("Delete")
    await page.click("dialog .primary")
    await expect(page.locator("dialog [data-field=closed_at]")).to_have_text("Complete it, or clear it")
    assert page_journal.read(path)["closed_at"] is None


async def test_prices_changed_meanwhile_show_both_versions(page: Page, page_journal: PageJournal) -> None:
    closed = {"exit_price": 25_310.25, "closed_at": "2026-11-13T16:17:30Z"}
    path = await open_prices(page, page_journal, **closed)
    page_journal.patch(path, exit_price=25_305.25, symbol="TSLA")
    await page.fill("dialog [name=exit_price]", "25,320.25")
    await page.click("dialog .primary")

    versions = await page.inner_text("dialog .versions tbody")
    await page.click("dialog button:text('Save mine')")
    await no_dialog(page)

    assert [line.split("\t") for line in versions.splitlines()] == [
        ["Symbol (changed in the meantime; stays)", "MNQZ6", "TSLA"],
        ["Exit", "25320.25", "25305.25"],
        ["Gross P&L (changed in the meantime; stays)", "10", "5"],
    ]
    trade = page_journal.read(path)
    assert (trade["exit_price"], trade["symbol"]) == (25_320.25, "TSLA")


# Notes ---------------------------------------------------------------------------------------------------


async def open_notes(page: Page, journal: PageJournal) -> str:
    """Open a trade with its notes; its path."""
    trade_id = add_trade(journal)
    await sign_in(page, journal, f"trades?id={trade_id}")
    return f"/trades/{trade_id}"


async def test_copies_are_folded_and_on_a_phone_a_trade_is_two_lines_and_opens_above_the_list(
    page: Page, page_journal: PageJournal
) -> None:
    original = add_trade(page_journal)
    other = page_journal.create("/accounts", name="Topstep 150K Express")["id"]
    copy = add_trade(page_journal, 12, account_id=other, source_trade_id=original)
    await resize(page, 360, 740)
    await sign_in(page, page_journal, "trades")

    rows = page.locator("#trades tbody tr")
    await expect(rows).to_have_count(1)
    await see(page, "1 trade, copies folded", "#trades")
    await page.click("#filters summary")
    await choose(page, "#filter-copies", "With copies")
    await expect(rows).to_have_count(2)
    lines = " ".join((await rows.first.inner_text()).split())
    assert lines == "Mar 2 ES ▲ +12.00 – – Topstep 150K Express · copy"
    too_wide = "document.querySelector('.list').scrollWidth - document.querySelector('.list').clientWidth"
    assert await page.evaluate(too_wide) == 0
    for link in await page.locator("nav a").all():
        box = await link.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 360
    await show(page, f"trades?id={original}")
    await see(page, "1 copy: Topstep 150K Express +12.00", "#trade")
    tops = (
        "['[data-grade=A]', '#trades'].map((one) => document.querySelector(one).getBoundingClientRect().top)"
    )
    grade, listed = await page.evaluate(tops)
    assert grade < 300 < listed
    await page.click("#trade a:text('Topstep')")
    await see(page, "A copy of ES in Main", "#trade")
    assert page.url.endswith(f"id={copy}")


async def test_notes_are_saved_when_they_are_left_and_a_digit_in_them_is_not_a_grade(
    page: Page, page_journal: PageJournal
) -> None:
    path = await open_notes(page, page_journal)
    asks = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    before = await page.evaluate(asks)
    await page.type("#notes", "1 of 6 jobs")
    typed = await page.evaluate(asks)
    await page.keyboard.press("Tab")
    await see(page, "Saved", "#saved")
    stored = page_journal.read(path)
    await page.click("#trade .danger")
    await page.click("dialog .danger")
    await page.wait_for_selector(".empty")  # the ETag was that of the saved notes

    assert (before, typed) == (False, True)
    assert (stored["notes"], stored["grade"]) == ("1 of 6 jobs", None)


async def test_notes_that_are_refused_or_in_conflict_outlive_a_grade_and_are_not_called_saved(
    page: Page, page_journal: PageJournal
) -> None:
    path = await open_notes(page, page_journal)
    await page.fill("#notes", "x" * 10001)
    await page.keyboard.press("Tab")
    await see(page, "Not saved", "#trade form .error")
    await page.click("#grade-2")
    await see(page, "Saved, but not the notes.", "#saved")
    assert len(await page.input_value("#notes")) == 10001
    await see(page, "10000", "#trade form .error")

    page_journal.patch(path, notes="theirs")
    await page.fill("#notes", "mine")
    await page.keyboard.press("Tab")
    await page.wait_for_selector("dialog .versions")
    await page.keyboard.press("Escape")
    await page.click("#grade-3")
    await page.wait_for_selector('#grade-3[aria-pressed="true"]')
    await see(page, "Saved, but not the notes.", "#saved")

    assert await page.input_value("#notes") == "mine"
    assert page_journal.read(path)["notes"] == "theirs"


async def test_notes_outlive_a_stopped_service_and_leaving_them_asks(page: Page, tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        path = await open_notes(page, PageJournal(server, db, key, client))
        server.stop(signal.SIGKILL)
    await page.fill("#notes", "mine")
    await page.keyboard.press("Tab")
    await see(page, "Not saved, trying again.", "#trade form .error")
    await see(page, "The journal does not answer.", "#away")
    await page.click("#grade-2")
    await see(page, "does not answer", "#saved.error")
    await page.click("nav a:text('Strategies')")
    await see(page, "The notes of this trade are not saved.", "dialog")
    await page.click("dialog button:text('Cancel')")

    assert await page.input_value("#notes") == "mine"
    assert page.url.endswith(f"#/trades?id={path.rpartition('/')[2]}")


async def test_notes_are_saved_while_they_are_typed_and_outlive_a_reload_for_their_user_alone(
    page: Page, page_journal: PageJournal
) -> None:
    path = await open_notes(page, page_journal)
    await page.type("#notes", "first")
    await see(page, "Saved", "#trade form .state")
    assert page_journal.read(path)["notes"] == "first"
    await expect(page.locator("#notes")).to_be_focused()

    await page.route("**/v1/trades/**", lambda route: route.abort())
    await page.type("#notes", ", second")
    await see(page, "Not saved, trying again.", "#trade form .error")
    await page.unroute_all()
    await see(page, "Saved", "#trade form .state")
    assert page_journal.read(path)["notes"] == "first, second"

    await page.route(
        "**/v1/trades/**",
        lambda route: route.abort() if route.request.method == "PATCH" else route.continue_(),
    )
    await page.type("#notes", ", third")
    await page.reload()
    await see(page, "Not saved. You typed this before.", "#trade form .error")
    await page.unroute_all()
    await expect(page.locator("#notes")).to_have_value("first, second, third")
    await page.goto("about:blank")
    await sign_in(page, page_journal, "days")
    await page.click("main .warn a:text('Notes')")
    await page.click("#trade form button:text('Save the notes')")
    await see(page, "Saved", "#trade form .state")
    assert page_journal.read(path)["notes"] == "first, second, third"

    draft = "localStorage.getItem('journal-drafts')"
    of_another = "localStorage.setItem('journal-drafts', JSON.stringify({owner: '7', texts: {}}))"
    await page.evaluate(of_another)
    await show(page, "settings")
    assert await page.evaluate(draft) is None
    await page.evaluate(of_another)
    await page.click("#sign-out")
    await page.wait_for_selector("#sign-in")
    assert await page.evaluate(draft) is None


async def test_notes_that_are_left_by_back_are_saved_without_a_question(
    page: Page, page_journal: PageJournal
) -> None:
    path = await open_notes(page, page_journal)
    await show(page, "report")
    await show(page, path.replace("/trades/", "trades?id="))
    await page.fill("#notes", "mine")
    await delay(page, 100)

    await page.evaluate("history.back()")
    await drawn(page, "report")

    assert page_journal.read(path)["notes"] == "mine"
    await no_dialog(page)


async def test_notes_outlive_a_key_that_is_revoked_while_they_are_typed(
    page: Page, page_journal: PageJournal
) -> None:
    path = await open_notes(page, page_journal)
    await page.fill("#notes", "mine")
    run_ok("keys", "revoke", "1", "--db", page_journal.db)
    await poll(page)
    await see(page, "What you typed is still there.")
    key = new_key(page_journal.db)
    await page.fill("#sign-in [name=key]", key)
    await page.keyboard.press("Enter")
    await no_dialog(page)

    assert await page.input_value("#notes") == "mine"
    await page.click("#trade form button:text('Save the notes')")
    await expect(page.locator("#trade form[data-changed]")).to_have_count(0)
    with page_journal.server.client(key) as client:
        assert page_journal._replace(client=client).read(path)["notes"] == "mine"


# Strategies ----------------------------------------------------------------------------------------------


async def test_a_strategy_is_reordered_by_keyboard_and_says_what_goes_before_it_is_saved(
    page: Page, page_journal: PageJournal
) -> None:
    first, second = add_strategy(page_journal)["setups"]
    add_answered(page_journal, first["confirmations"][0], True, 10, first)
    add_trade(page_journal, setup_id=second["setup_id"])

    def confirmations() -> list[str]:
        setup = page_journal.read("/strategies/1")["setups"][0]
        return [one["name"] for one in setup["confirmations"]]

    await sign_in(page, page_journal, "strategies")
    await page.locator(".items .items input").nth(1).focus()
    await page.keyboard.press("Alt+ArrowUp")
    await expect(page.locator("#moved")).to_have_text("Trend: 1 of 2")
    await page.click(".editor .primary")
    await page.wait_for_selector(".editor:not([data-changed])")
    await drawn(page, "strategies")
    assert confirmations() == ["Trend", "Volume"]

    await page.click('[aria-label="Remove Volume"]')
    await page.click('[aria-label="Remove Fade"]')
    await page.click(".editor .primary")
    await see(page, "This removes 1 setup and 1 confirmation: 1 trade loses its setup, 1 answer", "dialog")
    await page.click("dialog .danger")
    await no_dialog(page)
    assert confirmations() == ["Trend"]


async def test_setups_of_a_large_strategy_are_laid_out_once_they_come_into_sight(
    page: Page, page_journal: PageJournal
) -> None:
    setups = [{"name": f"Setup {number}", "confirmations": [{"name": "Volume"}] * 9} for number in range(50)]
    page_journal.create("/strategies", name="Large", setups=setups)
    is_laid_out = "one => one.checkVisibility({ contentVisibilityAuto: true })"

    await sign_in(page, page_journal, "strategies")
    names = page.locator(".editor .item-name")
    before = [await names.nth(place).evaluate(is_laid_out) for place in (0, -1)]
    await names.nth(-1).scroll_into_view_if_needed()

    assert before == [True, False]
    await expect(names.nth(-1)).to_be_in_viewport()


async def test_setups_are_dragged_and_an_error_stands_beside_its_row(
    page: Page, page_journal: PageJournal
) -> None:
    add_strategy(page_journal)
    await sign_in(page, page_journal, "strategies")
    rows = page.locator(".editor > .nested > .items > li")
    handle = await rows.nth(0).locator(".handle").first.bounding_box()
    target = await rows.nth(1).bounding_box()
    assert handle
    assert target

    await page.mouse.move(handle["x"] + 3, handle["y"] + 3)
    await page.mouse.down()
    await page.mouse.move(handle["x"] + 3, target["y"] + target["height"] + 30, steps=4)
    await page.mouse.up()
    await page.click(".editor .primary")
    await eventually(
        lambda: [one["name"] for one in page_journal.read("/strategies/1")["setups"]] == ["Fade", "Break"]
    )
    await page.wait_for_selector(".editor:not([data-changed])")
    await drawn(page, "strategies")
    await page.focus('[aria-label="Name of the confirmation"]')
    await page.keyboard.press("Enter")  # adds a row
    await page.click(".editor .primary")

    await see(page, "must be 1 to 255 characters", '[data-field="setups[1].confirmations[1].name"]')


async def test_a_setup_that_another_tab_added_does_not_go_without_a_question(
    page: Page, page_journal: PageJournal
) -> None:
    setups = add_strategy(page_journal)["setups"]
    await sign_in(page, page_journal, "strategies")
    await page.fill("#strategy-name", "Mine")
    await page.fill(".editor [name=color_tag]", "#16a34a")
    await page.fill(".editor [name=description]", "Fades too")
    page_journal.patch("/strategies/1", name="Theirs", setups=[*setups, {"name": "New"}])

    await page.click(".editor .primary")
    versions = await page.inner_text("dialog tbody")
    await page.click("dialog button:text('Save mine')")
    await see(page, "This removes 1 setup: no trade or answer is lost.", "dialog")

    assert "Mine" in versions
    assert "Theirs" in versions
    assert len(page_journal.read("/strategies/1")["setups"]) == 3
    await page.click("dialog .danger")
    await eventually(lambda: page_journal.read("/strategies/1")["name"] == "Mine")
    strategy = page_journal.read("/strategies/1")
    assert (strategy["color_tag"], strategy["description"]) == ("#16a34a", "Fades too")


async def test_the_draft_of_a_strategy_is_not_lost_by_a_link_back_or_another_account(
    page: Page, page_journal: PageJournal
) -> None:
    for name in ("One", "Two"):
        page_journal.create("/accounts", name=name)
    add_strategy(page_journal)
    await sign_in(page, page_journal, "report")
    await show(page, "strategies")
    await page.fill("#strategy-name", "Draft")

    for leave in (
        lambda: page.evaluate("history.back()"),
        lambda: choose(page, "#selection", "Two"),
        lambda: page.click("nav a:text('Trades')"),
    ):
        await leave()
        await see(page, "The changes of this strategy are not saved.", "dialog")
        await page.click("dialog button:text('Cancel')")
        await no_dialog(page)
    assert await page.input_value("#strategy-name") == "Draft"
    await page.click("nav a:text('Trades')")
    await page.click("dialog .danger")
    await drawn(page, "trades")

    assert page_journal.read("/me")["active_selection"] == "all"
    assert page_journal.read("/strategies/1")["name"] == "Opening range"


async def test_a_form_that_is_submitted_twice_writes_once(page: Page, page_journal: PageJournal) -> None:
    await sign_in(page, page_journal, "strategies")
    await page.click("button:text('New strategy')")
    await page.fill("dialog [name=name]", "Opening range")
    await delay(page, 200)

    for _ in range(3):
        await page.keyboard.press("Enter")
    await page.wait_for_selector(".editor")

    assert [one["name"] for one in page_journal.read("/strategies")] == ["Opening range"]
