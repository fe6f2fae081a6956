"""Details of the page at /: amounts, days, forms and their second tries (docs/page.md)."""

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from chromium import Page, PageJournal, create, in_a_browser, stored
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

pytestmark = in_a_browser


@pytest.fixture
def client(page_journal: PageJournal) -> httpx.Client:
    return page_journal.client


@pytest.fixture
def page(browser: Chrome, page_journal: PageJournal) -> Iterator[Page]:
    page = Page(browser, page_journal.server.url)
    page.resize(1280, 900)
    page.sign_in(page_journal.key)
    page.complaints()
    yield page
    page.leave()


def trade(client: httpx.Client, account_id: int, pnl: float, at: str = "") -> None:
    """Add a trade with that P&L that was closed at an instant, or now."""
    at = at or datetime.now(UTC).isoformat(timespec="seconds")
    create(
        client, "/trades", account_id=account_id, symbol="ES", direction="long", quantity=1, multiplier=1,
        entry_price=10_000, exit_price=10_000 + pnl, opened_at=at, closed_at=at,
    )  # fmt: skip


@pytest.fixture
def account(client: httpx.Client) -> int:
    return int(create(client, "/accounts", name="Main")["id"])


def calendar(page: Page) -> str:
    return page.find("section[aria-label=Calendar]").text


# Today ---------------------------------------------------------------------------------------------------


def test_amounts_in_several_currencies_are_never_added(
    page: Page, client: httpx.Client, account: int
) -> None:
    euros = create(client, "/accounts", name="Euro", currency="EUR")["id"]
    trade(client, account, 100, "2026-01-06T15:00:00Z")
    trade(client, euros, 30, "2026-01-07T15:00:00Z")
    trade(client, account, 5)
    trade(client, euros, 7)

    page.show("today", "?month=2026-01")
    page.wait_for_text("January 2026")
    text = calendar(page)

    assert "+100" in text
    assert "+30" in text
    assert "130" not in text
    assert "– · 2 trades" in text
    assert "Several currencies: choose an account." in text
    assert "–\n2" in text  # the week
    assert page.all("figure") == []
    assert "– in 2 trades. Several currencies" in page.text()
    client.patch("/me", json={"active_selection": f"account_{account}"})
    page.poll()
    page.wait_for_text("+5.00 in 1 trade")
    assert "Several currencies" not in page.text()


def test_a_goal_says_on_which_side_of_its_target_it_is(page: Page, client: httpx.Client) -> None:
    goals = [
        (825.5, {"metric": "net_pnl", "direction": "at_most", "target_value": 500}, "325.50 over 500.00"),
        (-600, {"metric": "net_pnl", "target_value": -500}, "100.00 below −500.00"),
        (450, {"metric": "net_pnl", "target_value": -500}, "950.00 above −500.00"),
        (-380, {"metric": "worst_day", "target_value": -500}, "120.00 left before −500.00"),
        (-15, {"metric": "worst_trade", "target_value": -10}, "5.00 below −10.00"),
        (-300, {"metric": "max_drawdown", "target_value": 250}, "50.00 over 250.00"),
        (-5, {"metric": "win_rate", "target_value": 50}, "50 points short of 50 %"),
    ]
    for number, (pnl, goal, _) in enumerate(goals):
        account = create(client, "/accounts", name=f"Account {number}")["id"]
        trade(client, account, pnl)
        create(client, "/goals", goal_name=f"Goal {number}", timeframe="daily", account_id=account, **goal)
    page.poll()

    page.wait_for_text(f"Goal {len(goals) - 1}")
    cards = [str(card.get_attribute("innerText")) for card in page.all(".goal")]
    for number, (_, _, words) in enumerate(goals):
        (card,) = [card for card in cards if f"Goal {number}" in card]
        assert words.replace("0 %", "0\u00a0%") in card


def test_months_of_any_length_and_month_names_that_are_none_are_shown(
    page: Page, client: httpx.Client, account: int
) -> None:
    trade(client, account, 10, "2024-02-29T15:00:00Z")
    page.show("today", "?month=2024-02")

    page.wait_for_text("February 2024")
    assert "+10.00 · 1 trade" in calendar(page)
    for wrong in ("foo", "2024-13", "0000-00"):
        page.show("today", f"?month={wrong}")
        page.wait_for_text(f"{datetime.now(UTC):%B %Y}")


def test_a_week_is_summed_with_its_days_in_another_month(
    page: Page, client: httpx.Client, account: int
) -> None:
    trade(client, account, 10, "2026-03-30T15:00:00Z")  # Monday
    trade(client, account, 20, "2026-04-01T15:00:00Z")  # Wednesday
    page.show("today", "?month=2026-04")
    page.wait_for_text("April 2026")

    text = calendar(page)
    assert "+20.00 · 1 trade" in text
    assert "+30\n2" in text
    assert "+10" in page.find(".calendar .other a").text


def test_what_rounds_to_nothing_is_no_loss_and_no_drawdown(
    page: Page, client: httpx.Client, account: int
) -> None:
    trade(client, account, -0.001)
    page.poll()
    page.wait_for_text("1 trade")

    assert page.all(".calendar td.loss, .chart path.loss") == []
    assert page.find(".calendar .pnl").text == "0.00"


def test_days_are_gregorian_in_every_locale(
    browser: Chrome, page: Page, client: httpx.Client, account: int
) -> None:
    trade(client, account, 10, "2026-01-06T15:00:00Z")
    page.show("today", "?month=2026-01")

    for locale, heading in (("fa-IR", "ژانویهٔ ۲۰۲۶"), ("th-TH", "มกราคม 2026")):
        script = f"""
            const Original = Intl.DateTimeFormat;
            Intl.DateTimeFormat = function (given, options) {{
                return new Original(given ?? "{locale}", options);
            }};
        """
        added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        try:
            browser.refresh()
            page.wait_for_view("today")
        finally:
            browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

        assert page.find("section[aria-label=Calendar] h2").text == heading


def test_a_goal_that_does_not_run_yet_says_when_and_what(page: Page, client: httpx.Client) -> None:
    create(
        client, "/goals", goal_name="Later", metric="net_pnl", target_value=750, timeframe="custom",
        custom_start="2090-01-01", custom_end="2090-02-01",
    )  # fmt: skip
    page.poll()

    page.wait_for_text("Jan 1, 2090 – Feb 1, 2090 · target 750")


def test_the_trading_day_is_asked_for_until_it_is_answered(page: Page, client: httpx.Client) -> None:
    client.patch("/me", json={"active_selection": "all", "name": "Somebody"})
    page.poll()

    page.wait_for_text("When does your trading day begin?")
    client.patch("/me", json={"day_rollover": "17:00"})
    page.poll()
    page.wait(lambda: "When does your trading day begin?" not in page.text())


# Settings ------------------------------------------------------------------------------------------------


def test_commissions_that_can_be_misread_are_refused(page: Page, client: httpx.Client, account: int) -> None:
    page.show("settings")
    for written in ("0,62", "MES 0,62", "0.62, 0.37", "MES"):
        page.click("#accounts .link")
        page.fill("fees", written, "#edit")
        page.click("#edit .primary")
        page.wait_for_text("Write 0.62 for all, or MES 0.62, MNQ 0.37")
        assert stored(client, f"/accounts/{account}")["fees"] == {}, written
        page.press(Keys.ESCAPE)
        page.click("dialog:last-of-type .danger")
        page.wait(lambda: not page.all("dialog"))

    page.click("#accounts .link")
    page.fill("fees", "0.62, mes 0.37", "#edit")
    page.click("#edit .primary")
    page.wait(lambda: not page.all("dialog"))
    assert stored(client, f"/accounts/{account}")["fees"] == {"default": 0.62, "MES": 0.37}


def test_a_goal_that_was_changed_meanwhile_is_saved_after_asking(page: Page, client: httpx.Client) -> None:
    goal = create(client, "/goals", goal_name="Limit", metric="worst_day", target_value=-500)["id"]
    page.show("settings")
    page.click("#goals .link")
    page.find("#edit")
    client.patch(f"/goals/{goal}", json={"target_value": -400})
    page.fill("target_value", "-300", "#edit")
    page.click("#edit .primary")

    page.wait_for_text("This goal was changed in the meantime")
    assert [cell.text for cell in page.all(".versions td")] == ["-300", "-400"]
    page.click("dialog:last-of-type .row .primary")
    page.wait_for_text("Worst day ≥ −300.00")
    assert stored(client, f"/goals/{goal}")["target_value"] == -300


def test_trading_days_are_saved_although_another_tab_chose_an_account(
    page: Page, client: httpx.Client, account: int
) -> None:
    page.show("settings")
    page.fill("timezone", "America/New_York", "#days")
    client.patch("/me", json={"active_selection": f"account_{account}", "day_rollover": "17:00"})
    page.click("#days .primary")

    page.wait_for_text("A trading day begins at 17:00 in America/New_York")
    assert stored(client, "/me")["active_selection"] == f"account_{account}"


def test_a_time_zone_that_was_changed_meanwhile_is_asked_about(page: Page, client: httpx.Client) -> None:
    page.show("settings")
    page.fill("timezone", "America/New_York", "#days")
    client.patch("/me", json={"timezone": "Europe/Berlin"})
    page.click("#days .primary")

    page.wait_for_text("This setting was changed in the meantime")
    assert [cell.text for cell in page.all(".versions td")] == ["America/New_York", "Europe/Berlin"]
    page.click("dialog .row .primary")
    page.wait_for_text("in America/New_York. Daily limits")
    assert stored(client, "/me")["timezone"] == "America/New_York"


def test_a_copy_group_is_created_whole_or_completed_by_the_next_try(
    page: Page, client: httpx.Client, account: int
) -> None:
    page.show("settings")
    page.click("#new-copy_group")
    page.fill("name", "Evals", "#edit")
    page.click(f"#edit [name=member_{account}]")
    page.fill(f"multiplier_{account}", "0,5", "#edit")
    page.click("#edit .primary")
    page.wait_for_text("Multipliers are numbers over 0")
    assert stored(client, "/copy-groups") == []

    client.delete(f"/accounts/{account}")
    page.fill(f"multiplier_{account}", "0.5", "#edit")
    page.click("#edit .primary")
    page.wait(lambda: len(stored(client, "/copy-groups")) == 1)
    page.wait(lambda: [one for one in page.all("#edit .error") if one.text])
    page.click(f"#edit [name=member_{account}]")
    page.click("#edit .primary")

    page.wait(lambda: not page.all("dialog"))
    assert [group["name"] for group in stored(client, "/copy-groups")] == ["Evals"]


def test_a_long_list_of_tags_is_filtered(page: Page, client: httpx.Client) -> None:
    category = create(client, "/tag-categories", name="Kinds")["id"]
    for number in range(21):
        create(client, "/tags", name=f"Tag {number}", category_id=category)
    page.show("settings")
    page.find("#filter-tags").send_keys("tag 7")

    assert [row.text for row in page.all("#tags tbody tr") if row.is_displayed()] == ["Tag 7 Kinds custom"]


def test_a_hint_of_a_goal_has_no_names_of_the_api(page: Page, client: httpx.Client) -> None:
    page.show("settings")
    page.click("#new-goal")
    page.fill("ready", "Another goal", "#edit")
    page.fill("metric", "Worst day", "#edit")

    page.wait_for_text("a daily loss limit is at least -500. An amount of money.")


def test_an_archived_account_that_is_chosen_is_said_to_be(
    page: Page, client: httpx.Client, account: int
) -> None:
    trade(client, account, 10, "2026-01-06T15:00:00Z")
    client.patch(f"/accounts/{account}", json={"archived": True})
    client.patch("/me", json={"active_selection": f"account_{account}"})
    page.poll()

    page.wait_for_text("Account Main is archived")


# Import --------------------------------------------------------------------------------------------------

WITHOUT_ZONE = """\
symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at
ES,long,1,100,101,2026-01-05 14:00:00,2026-01-05 15:00:00
"""
UNKNOWN = """\
Ticker,Way,Size,In,Out,From,To,Fee
ABC,Up,1,100,111,2026-01-05 10:00,2026-01-05 11:00,1
ABC,Down,1,112,101,2026-01-05 12:00,2026-01-05 13:00,1
"""


def test_a_file_without_a_zone_is_read_in_the_one_of_the_owner(
    page: Page, client: httpx.Client, account: int
) -> None:
    client.patch("/me", json={"timezone": "Europe/Berlin"})
    page.show("import")
    page.drop("acme.csv", UNKNOWN)
    page.fill("long", "Up", "#profile")
    page.fill("short", "Down", "#profile")
    page.click("#profile button")

    page.wait_for_text("The times in this file have no time zone. State it once; it is remembered.")
    assert "HTTP" not in page.text()
    page.click("#options button")
    page.wait_for_text("2 new")
    assert "Times are read in Europe/Berlin" in page.text()


def test_an_empty_file_is_said_to_be_empty(page: Page, account: int) -> None:
    page.show("import")
    for content, words in (
        ("", "This file is empty."),
        ("\n\n", "There is no table with a header and rows in this file."),
    ):
        page.drop("empty.csv", content)

        page.wait_for_text(words)
    assert page.complaints() == []


def test_a_file_that_needs_an_account_asks_for_it(page: Page, client: httpx.Client, account: int) -> None:
    create(client, "/accounts", name="Second")
    page.show("import")
    page.drop("trades.csv", WITHOUT_ZONE)

    page.wait_for_text("Which account are these trades from?")


def test_columns_that_were_described_wrongly_are_changed(
    page: Page, client: httpx.Client, account: int
) -> None:
    page.show("import")
    page.drop("acme.csv", UNKNOWN)
    page.fill("long", "Up", "#profile")
    page.fill("short", "Dwon", "#profile")
    page.click("#profile button")
    page.wait_for_text("State it once")
    page.click("#options button")  # Use UTC
    page.wait_for_text("error")
    page.click("#change-columns")

    assert page.find("#profile [name=long]").get_attribute("value") == "Up"
    page.fill("short", "Down", "#profile")
    page.click("#profile button")
    page.wait_for_text("2 new")
    assert len(stored(client, "/import-profiles")) == 1
    page.click("section[aria-label='Your formats'] .danger")
    page.click("dialog .danger")
    page.wait(lambda: stored(client, "/import-profiles") == [])


# Long names and large amounts ----------------------------------------------------------------------------

LONG = "W" * 50
PLACES = [
    *(("today", ""), ("today", "?goal=1"), ("report", "?by=symbol"), ("report", "?by=tag"), ("trades", "")),
    *(("trades", "?id=1"), ("strategies", ""), ("strategies", "?id=1"), ("import", ""), ("settings", "")),
]


def test_long_names_and_large_amounts_make_no_view_wider_than_the_screen(
    page: Page, client: httpx.Client
) -> None:
    account = create(client, "/accounts", name=LONG * 2, starting_balance=1_234_567_890)["id"]
    create(client, "/accounts", name=LONG)
    create(client, "/copy-groups", name=LONG * 2)
    category = create(client, "/tag-categories", name=LONG)["id"]
    tag = create(client, "/tags", name=LONG, category_id=category)["id"]
    create(client, "/strategies", name=LONG * 2, setups=[{"name": LONG * 2}])
    create(client, "/goals", goal_name=LONG * 2, metric="net_pnl", target_value=1_234_567_890)
    trade(client, account, 1_234_567_890)
    client.put("/trades/1/tags", json={"tag_ids": [tag]}).raise_for_status()

    widths = {}
    for width in (360, 1280):
        page.resize(width, 900)
        for view, query in PLACES:
            page.show(view, query)
            if view == "import":
                page.drop("f" * 240 + ".csv", WITHOUT_ZONE)
                page.wait_for_text("Read again")
            widest = page.browser.execute_script("return document.documentElement.scrollWidth")
            widths[width, view, query] = widest

    assert {place: wide for place, wide in widths.items() if wide > place[0]} == {}


def test_a_phone_shows_every_cell_of_imports_and_goals_and_breaks_no_word_of_a_trade(
    page: Page, client: httpx.Client, account: int
) -> None:
    client.post(
        "/imports",
        params={"account_id": account, "timezone": "UTC", "file_name": "a file with a long name.csv"},
        content=WITHOUT_ZONE,
        headers={"Content-Type": "text/csv"},
    ).raise_for_status()
    create(client, "/goals", goal_name="Daily loss limit", metric="worst_day", target_value=-500)
    page.resize(360, 900)
    hidden, broken = (
        """
        return [...document.querySelectorAll(":is(#goals, [aria-label=Imports]) td")]
            .filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.textContent);
        """,
        """
        return [...document.querySelectorAll(".facts dt")].flatMap(({ firstChild: text }) =>
            [...text.data.matchAll(/\\S+/g)].map(({ 0: word, index }) => {
                const range = new Range();
                range.setStart(text, index);
                range.setEnd(text, index + word.length);
                return range.getClientRects().length > 1 && word;
            }).filter(Boolean));
        """,
    )

    for view, query, script in (
        ("import", "", hidden), ("settings", "", hidden), ("trades", "?id=1", broken),
    ):  # fmt: skip
        page.show(view, query)
        page.find("#trade .facts dt" if query else "main td")
        assert page.browser.execute_script(script) == [], view
