"""The page at /: every view, and Today, in a real browser (docs/page.md)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from chromium import (
    PageJournal,
    choose,
    drawn,
    drop,
    in_a_browser,
    no_dialog,
    only_member,
    poll,
    resize,
    see,
    show,
    sign_in,
    values_of,
)
from commands import new_key, run_ok
from factories import A_FILE, A_TRADE
from pictures import PNG
from playwright.async_api import Page, expect

pytestmark = in_a_browser
VIEWS = ["today", "report", "trades", "strategies", "import", "settings"]
GROUPS = ("strategy", "setup", "confirmation", "rules", "tag", "mistake", "symbol", "after", "nth", "pause")
OF_REPORTS = [f"report?by={by}" for by in ("confirmation", "mistake", "after")]
TODAY = f"{datetime.now(UTC):%Y-%m-%d}"
OF_THE_JOURNAL = [f"day/{TODAY}", "days", "search?q=bold"]
PLACES = [*VIEWS, "today?goal=1", *(f"report?by={by}" for by in GROUPS), "trades?id=1", "strategies?id=1",
          "settings?account=1", *OF_THE_JOURNAL]  # fmt: skip
MAX_REQUESTS = 10
MARKUP = "<b>bold</b>" + "W" * 39
AXE = Path(__file__).parent.parent / "javascript/node_modules/axe-core/axe.min.js"


def add_trade(journal: PageJournal, account_id: int, pnl: float, at: str = "") -> None:
    """Add a trade with that P&L that was closed at an instant, or now."""
    at = at or datetime.now(UTC).isoformat(timespec="seconds")
    prices = {"entry_price": 10_000, "exit_price": 10_000 + pnl}
    times = {"opened_at": at, "closed_at": at}
    journal.create("/trades", **{**A_TRADE, "symbol": "X", "account_id": account_id, **prices, **times})


def add_account(journal: PageJournal, name: str = "Main", **fields: Any) -> int:
    return int(journal.create("/accounts", name=name, **fields)["id"])


def add_rules(journal: PageJournal, account_id: int) -> None:
    """Add every rule, a payout, and a checkpoint that differs."""
    rules = {
        "floor": {"kind": "trade", "distance": 2_000_000},
        "daily_loss": 1_000_000,
        "profit_target": 3_000_000_000,
        "best_day_share": 50,
        "qualifying_day": {"amount": 150, "days": 5},
        "minimum_days": 5,
    }
    path, day = f"/accounts/{account_id}", "2026-01-05"
    journal.client.put(f"{path}/rules", json=rules).raise_for_status()
    journal.create(f"{path}/cash", kind="payout", amount=1_000, day=day, note=MARKUP)
    journal.create(f"{path}/checkpoints", day=day, balance=5, note=MARKUP)


def add_everything(journal: PageJournal, name: str) -> None:
    """Add one of everything with that name."""
    account = add_account(journal, name * 2, starting_balance=1_234_567_890)
    add_account(journal, name)
    add_rules(journal, account)
    journal.create("/copy-groups", name=name * 2)
    category = journal.create("/tag-categories", name=name)["id"]
    tag = journal.create("/tags", name=name, category_id=category, type="mistake")["id"]
    setups = [{"name": name * 2, "confirmations": [{"name": name}]}]
    setup = journal.create("/strategies", name=name * 2, setups=setups)["setups"][0]
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    journal.create("/goals", goal_name=name * 2, metric="net_pnl", target_value=1_234_567_890)
    add_trade(journal, account, 1_234_567_890)
    judgement = {"setup_id": setup["setup_id"], "notes": name, "symbol": name[:40]}
    journal.patch("/trades/1", tag_ids=[tag], confirmations=[answer], **judgement)
    add_day(journal, name, tag_ids=[tag])


def add_day(journal: PageJournal, text: str, **fields: Any) -> None:
    """Write that text of today, with a picture."""
    path = f"/days/{TODAY}"
    journal.patch(path, plan=text, review=text, rating=4, **fields)
    picture = only_member(journal.client.post(f"{path}/pictures", content=PNG))
    journal.patch(f"/pictures/{picture['id']}", caption=text)


# Every view ----------------------------------------------------------------------------------------------


async def test_every_view_is_drawn_from_few_requests(page: Page, journal: PageJournal) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))

    async def count_requests(place: str) -> None:
        requests.clear()
        await show(page, place)
        read = [url for url in requests if "/v1/" in url and "/changes" not in url]
        assert len(read) == len({*read}), read
        assert len(read) <= MAX_REQUESTS, place

    await sign_in(page, journal)
    for view in VIEWS:
        await count_requests(view)
        if view in ("report", "trades", "strategies"):
            assert len(await page.inner_text(".empty p >> nth=0")) > 40
    await show(page, "today")
    await page.click("#load-example")
    await see(page, "Daily loss limit")
    floor = {"kind": "end_of_day", "distance": 2000}
    journal.client.put("/accounts/1/rules", json={"floor": floor}).raise_for_status()
    for place in PLACES:
        await count_requests(place)
    journal.client.delete("/accounts/1/rules").raise_for_status()
    assert journal.key not in await page.content()
    await show(page, "today")
    await page.click("#remove-example")
    await page.click("dialog .danger")
    await see(page, "This journal is empty")
    assert journal.read("/example-journal")["is_loaded"] is False


async def test_names_that_are_markup_stay_text_and_no_view_is_wider_than_the_screen(
    page: Page, journal: PageJournal
) -> None:
    add_everything(journal, MARKUP)
    await sign_in(page, journal)

    too_wide = []
    for place in PLACES:
        await resize(page, 1600)
        await show(page, place)
        assert await page.locator("main b:text-is('bold')").count() == 0, place
        if not place.startswith(("strategies", "import")):  # where names are in fields, or none are shown
            await see(page, "<b>bold</b>W", "main")
        if place == "import":
            await drop(page, "f" * 240 + ".csv", "symbol,opened_at\nES,2026-01-05 14:00:00\n")
            await see(page, "Name of the format")
        for width in (1600, 768, 360):
            await resize(page, width)
            if await page.evaluate("document.documentElement.scrollWidth") > width:
                too_wide.append((place, width))

    assert too_wide == []


HIDDEN_CELLS = """
    [...document.querySelectorAll(":is(#goals, [aria-label=Imports]) td")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.textContent)
"""
BROKEN_WORDS = r"""
    [...document.querySelectorAll(".facts dt")].flatMap(({ firstChild: text }) =>
        [...text.data.matchAll(/\S+/g)].map(({ 0: word, index }) => {
            const range = new Range();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            return range.getClientRects().length > 1 && word;
        }).filter(Boolean))
"""


async def test_a_phone_shows_every_cell_of_imports_and_goals_and_breaks_no_word_of_a_trade(
    page: Page, journal: PageJournal
) -> None:
    journal.create("/goals", goal_name="Daily loss limit", metric="worst_day", target_value=-500)
    rows = "symbol,direction,quantity,entry_price,opened_at\nES,long,1,100,2026-01-05 14:00:00\n"
    account = add_account(journal)
    journal.import_file(rows, account_id=account, file_name="a file with a long name.csv")
    await resize(page, 360)
    await sign_in(page, journal, "trades?id=1")

    assert await page.evaluate(BROKEN_WORDS) == []
    for view in ("import", "settings"):
        await show(page, view)
        assert await page.evaluate(HIDDEN_CELLS) == [], view


async def test_nothing_of_a_view_shuts_anybody_out(page: Page, journal: PageJournal) -> None:
    if not AXE.exists():
        pytest.skip("npm has not installed axe-core: make lint-page")
    source, found = AXE.read_text(), set()

    async def look(*, dark: bool = False) -> None:
        if not await page.evaluate("'axe' in window"):
            await page.evaluate(f"{source}\n; 0")
        await resize(page, 1280, dark=dark)
        only = ", runOnly: ['color-contrast']" if dark else ""
        found.update(
            await page.evaluate(f"""
                axe.run({{ resultTypes: ['violations']{only} }}).then(({{ violations }}) => violations
                    .flatMap(({{ id, nodes }}) => nodes.map(({{ html }}) => `${{id}}: ${{html}}`)))
            """)
        )

    await page.goto(journal.server.url)
    await drawn(page, "sign-in")
    await look()
    journal.create("/example-journal")
    add_rules(journal, 1)
    await sign_in(page, journal)
    add_day(journal, "A bold plan")
    for place in [*VIEWS, *OF_REPORTS, "today?goal=1", "trades?id=1", "settings?account=1", *OF_THE_JOURNAL]:
        await show(page, place)
        if place == "import":
            await drop(page, "trades.csv", A_FILE)
            await see(page, "Import 1 trade")
        await look()
        if place in ("today", "report", "trades", "settings?account=1", *OF_REPORTS, *OF_THE_JOURNAL):
            await look(dark=True)
    await show(page, f"day/{TODAY}")
    await page.click(".thumb")
    await page.wait_for_selector(".viewer img[src]")
    await look()
    await look(dark=True)
    await show(page, "settings")
    await page.click("#new-goal")
    await look()
    await look(dark=True)

    assert found == set()


async def test_the_main_path_needs_no_mouse(page: Page, journal: PageJournal) -> None:
    async def press_on(selector: str) -> None:
        """Press Tab until such an element has the focus, then Enter."""
        for _ in range(300):  # a view that is drawn again meanwhile begins from its top
            await page.keyboard.press("Tab")
            if await page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return await page.keyboard.press("Enter")
        raise AssertionError(f"no Tab leads to {selector}")

    await page.goto(journal.server.url)
    await drawn(page, "sign-in")
    await page.keyboard.type("tjk_wrong")
    await page.keyboard.press("Enter")
    await see(page, "This API key does not exist.")
    await page.fill("#sign-in [name=key]", journal.key)
    await page.keyboard.press("Enter")
    await drawn(page, "today")
    await press_on("#load-example")
    await see(page, "Daily loss limit")
    await press_on(".goal")
    await see(page, "kept in")
    await press_on(".columns a")
    await page.wait_for_url("**period=*")
    await drawn(page, "today")
    await press_on("nav a[href='#/settings']")
    await drawn(page, "settings")
    await press_on("#new-goal")
    await page.wait_for_selector("#edit")
    await page.keyboard.press("Escape")
    await no_dialog(page)


# Today ---------------------------------------------------------------------------------------------------


async def test_a_limit_says_what_is_left_what_happened_since_and_one_word_for_its_state(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    limit = {"metric": "worst_day", "target_value": -500, "timeframe": "daily"}
    journal.create("/goals", goal_name="Limit", **limit)
    await sign_in(page, journal)
    await see(page, "500.00 left before −500.00")

    for loss, words, state, width in (
        (-375, "125.00 left before", "● Within limit", "25%"),
        (-75, "50.00 left before", "▲ Near limit", "10%"),
        (-60, "10.00 below", "✕ Broken", "0%"),
    ):
        add_trade(journal, account, loss)
        await poll(page)
        await see(page, f"{words} −500.00")
        await see(page, state, "#goal-1")
        assert await page.locator(".bar i").evaluate("bar => bar.style.width") == width
    await page.click(".goal")
    await see(page, "−510.00 = the lowest net P&L of a day.")
    await see(page, "wanted at least −500.00, broken")
    await show(page, f"day/{TODAY}")
    await see(page, "✕ Broken · Limit: −510.00, limit −500.00")


async def test_a_goal_says_on_which_side_of_its_target_it_is(page: Page, journal: PageJournal) -> None:
    goals = [
        (825.5, {"metric": "net_pnl", "direction": "at_most", "target_value": 500}, "325.50 over 500.00"),
        (-600, {"metric": "net_pnl", "target_value": -500}, "100.00 below −500.00"),
        (450, {"metric": "net_pnl", "target_value": -500}, "950.00 above −500.00"),
        (-380, {"metric": "worst_day", "target_value": -500}, "limit −500.00"),
        (-15, {"metric": "worst_trade", "target_value": -10}, "5.00 below −10.00"),
        (-300, {"metric": "max_drawdown", "target_value": 250}, "50.00 over 250.00"),
        (-5, {"metric": "win_rate", "target_value": 50}, "50 points short of 50\u00a0%"),
        (-5, {"metric": "average_win", "target_value": -500}, "target −500.00"),
    ]
    for number, (pnl, goal, _) in enumerate(goals):
        account = add_account(journal, f"Account {number}")
        add_trade(journal, account, pnl)
        name = f"Goal {number}"
        journal.create("/goals", goal_name=name, timeframe="daily", account_id=account, **goal)
    later = {"timeframe": "custom", "custom_start": "2090-01-01", "custom_end": "2090-02-01"}
    journal.create("/goals", goal_name="Later", metric="net_pnl", target_value=750, **later)
    await sign_in(page, journal)

    await see(page, "Jan 1, 2090 – Feb 1, 2090 · target 750")
    cards = await values_of(page, ".goal")
    for number, (_, _, words) in enumerate(goals):
        assert words in next(card for card in cards if f"Goal {number}" in card)
    await page.click(".goal:has-text('Goal 6')")
    await see(page, "wins 0 / decisions 1 × 100.")


async def test_today_never_calls_a_doubtful_goal_on_track(page: Page, journal: PageJournal) -> None:
    limit = {"goal_name": "Limit", "metric": "worst_day", "target_value": 500, "timeframe": "daily"}
    journal.create("/goals", direction="at_most", **limit)
    await sign_in(page, journal)

    await see(page, "a loss limit is at least -500.", "#goal-1")
    card = await page.inner_text("#goal-1")
    assert [word for word in ("On track", "Behind", "Within limit") if word in card] == []
    await page.click("#goal-1 button")
    await choose(page, "#edit [name=direction]", "At least")
    await page.fill("#edit [name=target_value]", "-500")
    await page.click("#edit .primary")
    await see(page, "left before −500.00")
    await expect(page.get_by_text("Check this goal")).to_have_count(0)


async def test_amounts_in_several_currencies_are_never_added_and_an_account_can_be_chosen(
    page: Page, journal: PageJournal
) -> None:
    dollars, euros = add_account(journal), add_account(journal, "Euro", currency="EUR")
    add_trade(journal, dollars, 100, "2026-01-06T15:00:00Z")
    add_trade(journal, euros, 30, "2026-01-07T15:00:00Z")
    add_trade(journal, dollars, 5)
    add_trade(journal, euros, 7)
    await sign_in(page, journal, "today?month=2026-01")
    text = await page.inner_text("section[aria-label=Calendar]")

    assert "130" not in text
    for words in ("+30.00 EUR, +100.00 USD · 2 trades", "+100 USD", "+30 EUR", "+30 EUR\n+100 USD\n2"):
        assert words in text
    assert await values_of(page, ".card:has(figure) h3") == ["EUR", "USD"]  # a curve of each
    today = f"{datetime.now(UTC):%b} {datetime.now(UTC).day}"
    await page.hover(".chart >> nth=1", position={"x": 300, "y": 60})
    await expect(page.locator(".said >> nth=1")).to_have_text(f"{today}: +5 (+5)")
    await page.focus(".chart input >> nth=0")
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator(".said >> nth=0")).to_have_text("Start: 0")
    await see(page, "+7.00 EUR, +5.00 USD in 2 trades")
    await choose(page, "#selection", "Main")
    await see(page, "+5.00 USD in 1 trade")
    await expect(page.locator(".card figure")).to_have_count(1)
    assert journal.read("/me")["active_selection"] == f"account_{dollars}"
    journal.patch(f"/accounts/{euros}", archived=True)
    journal.patch("/me", active_selection=f"account_{euros}", day_rollover="23:59")
    await poll(page)
    await see(page, "Euro (archived)", "#selection")


async def test_the_calendar_shows_months_of_any_length_and_sums_weeks_over_their_ends(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    days = {"2024-02-29": 12, "2026-03-30": 10, "2026-04-01": 20, "2020-01-06": -0.001}
    for day, pnl in days.items():
        add_trade(journal, account, pnl, f"{day}T15:00:00Z")
    calendar = "section[aria-label=Calendar]"
    await sign_in(page, journal, "today?month=2024-02")

    await see(page, "February 2024", calendar)
    await see(page, "+12.00 USD · 1 trade", calendar)
    for wrong in ("foo", "2024-13", "0000-00"):
        await show(page, f"today?month={wrong}")
        await see(page, f"{datetime.now(UTC):%B %Y}", calendar)
    await show(page, "today?month=2026-04")
    await see(page, "+20.00 USD · 1 trade", calendar)  # of April
    assert "+30\n2" in await page.inner_text(calendar)  # of its first week
    await see(page, "+10", ".calendar .other a")
    await show(page, "today?month=2020-01")  # what rounds to nothing is no loss
    await see(page, "0.00", ".calendar .pnl")
    await expect(page.locator(".calendar td.loss, .chart path.loss")).to_have_count(0)
    journal.patch(f"/accounts/{account}", archived=True)
    journal.patch("/me", active_selection=f"account_{account}")
    await poll(page)
    await see(page, "Account Main is archived")


async def test_days_are_gregorian_in_every_locale(page: Page, journal: PageJournal) -> None:
    add_trade(journal, add_account(journal), 10, "2026-01-06T15:00:00Z")
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setLocaleOverride", {"locale": "fa-IR"})
    await sign_in(page, journal, "today?month=2026-01")
    shown = await page.inner_text("section[aria-label=Calendar] h2")
    await session.send("Emulation.setLocaleOverride", {})

    assert shown == "ژانویهٔ ۲۰۲۶"


# A service that is slow or away, and a key that ends -----------------------------------------------------


async def test_an_address_of_no_view_shows_today(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, "settings")

    for name in ("constructor", "nowhere"):
        await page.evaluate(f"location.hash = '#/{name}'")
        await drawn(page, "today")
        await page.wait_for_selector('nav a[aria-current][href="#/today"]')
        await expect(page.get_by_text("This cannot be shown")).to_have_count(0)
        await show(page, "settings")


async def test_a_slow_service_shows_that_the_new_view_is_being_read(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal)
    await page.evaluate("window.fetch = () => new Promise(() => {}); 0")
    await page.evaluate("location.hash = '#/trades'")

    await page.wait_for_selector('nav a[href="#/trades"][aria-current="page"]')
    await page.wait_for_function("() => getComputedStyle(document.querySelector('main')).opacity < 0.8")


async def test_the_page_recovers_once_the_service_answers_again(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal)
    await page.evaluate("window.real = fetch; window.fetch = () => Promise.reject(); 0")
    await page.evaluate("location.hash = '#/trades'")
    await see(page, "The journal does not answer.")

    await page.evaluate("window.fetch = window.real; 0")
    await poll(page)

    await see(page, "There is no trade yet", ".empty")


async def test_a_key_that_is_revoked_meanwhile_leads_back_to_the_sign_in_without_a_dialog(
    page: Page, journal: PageJournal
) -> None:
    journal.patch("/me", day_rollover="17:00")  # else adding a trade asks for it
    add_account(journal)
    await sign_in(page, journal, "trades")
    await page.click("button:text('Add a trade')")
    await page.wait_for_selector("dialog [name=symbol]")
    run_ok("keys", "revoke", "1", "--db", journal.db)
    await poll(page)

    await see(page, "This API key was revoked", "main #sign-in")
    await no_dialog(page)
    assert await page.evaluate("sessionStorage.length") == 0
    await page.fill("#sign-in [name=key]", new_key(journal.db))
    await page.keyboard.press("Enter")
    await drawn(page, "trades")


async def test_a_key_without_a_scope_names_it_and_can_be_replaced(page: Page, journal: PageJournal) -> None:
    narrow = new_key(journal.db, "--scopes", "read:trades")
    await sign_in(page, journal._replace(key=narrow))

    await see(page, "The key lacks the scope read:")
    await see(page, "journal-api keys create NAME --scopes all")
    await expect(page.get_by_text("--scopes read:")).to_have_count(0)
    await page.click("main button:text('Sign out')")
    await page.wait_for_selector("#sign-in")
