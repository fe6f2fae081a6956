"""Three views of the page at /, in a real browser: what pays, trades and strategies (docs/page.md)."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from chromium import Page, PageJournal, in_a_browser
from commands import wait_until
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

pytestmark = in_a_browser
PLACES = [
    *(("report", f"?by={by}") for by in ("strategy", "setup", "confirmation", "tag", "mistake", "symbol")),
    *(("trades", ""), ("trades", "?id=1"), ("strategies", "")),
]
HTML = "<img src=x onerror=alert(1)>"


@pytest.fixture
def client(page_journal: PageJournal) -> httpx.Client:
    return page_journal.client


@pytest.fixture
def page(browser: Chrome, page_journal: PageJournal) -> Iterator[Page]:
    page = Page(browser, page_journal.server.url)
    page.sign_in(page_journal.key)
    page.complaints()
    yield page
    page.leave()


def find(page: Page, selector: str, text: str = "") -> WebElement:
    """The first such element that can be seen and has the text."""

    def seen() -> WebElement | None:
        try:
            return next((one for one in page.all(selector) if one.is_displayed() and text in one.text), None)
        except StaleElementReferenceException:
            return None

    element: WebElement = page.wait(seen, f"{selector} {text}")
    return element


def click(page: Page, selector: str, text: str = "") -> None:
    page.browser.execute_script("arguments[0].click()", find(page, selector, text))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.press(key)


def texts(page: Page, selector: str) -> list[str]:
    return [one.text for one in page.all(selector)]


def count(page: Page, selector: str) -> int:
    return len(page.all(selector))


def send(client: httpx.Client, method: str, path: str, body: object) -> Any:
    """The single member of the response's data."""
    response = client.request(method, path, json=body)
    assert response.is_success, response.text
    (member,) = response.json()["data"].values()
    return member


def get(client: httpx.Client, path: str) -> Any:
    (member,) = client.get(path).raise_for_status().json()["data"].values()
    return member


def trade(account_id: int, pnl: float, day: int = 2, **fields: Any) -> dict[str, Any]:
    """The body of a trade that was closed with that P&L, on a day of March."""
    return {
        "account_id": account_id,
        "symbol": "ES",
        "direction": "long",
        "quantity": 1,
        "multiplier": 1,
        "entry_price": 100,
        "exit_price": 100 + pnl,
        "opened_at": f"2026-03-{day:02}T10:00:00Z",
        "closed_at": f"2026-03-{day:02}T10:05:00Z",
        **fields,
    }


@pytest.fixture
def account(client: httpx.Client) -> int:
    return int(send(client, "POST", "/accounts", {"name": "Main"})["id"])


@pytest.fixture
def strategy(client: httpx.Client) -> Any:
    """A strategy of two setups; the first has two confirmations."""
    setups = [
        {"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]},
        {"name": "Fade", "confirmations": []},
    ]
    return send(client, "POST", "/strategies", {"name": "Opening range", "setups": setups})


def add_answered(client: httpx.Client, body: dict[str, Any], confirmation: Any, was_present: bool) -> None:
    trade_id = send(client, "POST", "/trades", body)["id"]
    answer = {"confirmation_id": confirmation["confirmation_id"], "was_present": was_present}
    send(client, "PUT", f"/trades/{trade_id}/confirmations", {"confirmations": [answer]})


# What pays -----------------------------------------------------------------------------------------------


def test_a_report_is_sorted_and_a_group_leads_to_its_trades(
    page: Page, client: httpx.Client, account: int
) -> None:
    for symbol, pnl in (("ES", 30), ("NQ", 50), ("NQ", -10), ("CL", -20)):
        send(client, "POST", "/trades", trade(account, pnl, symbol=symbol))

    page.show("report", "?by=symbol")
    by_pnl = texts(page, "tbody th")
    click(page, "#sort-win_rate")
    find(page, 'th[aria-sort="descending"]', "Win rate")
    by_win_rate = texts(page, "tbody th")
    reasons = texts(page, "tbody td.profit_factor")
    click(page, "tbody th a", "NQ")
    find(page, "#trades", "2 trades")

    assert by_pnl == ["NQ", "ES", "CL"]  # 40, 30, -20
    assert by_win_rate == ["ES", "NQ", "CL"]  # 100, 50 and 0 %
    assert reasons == ["no losses", "5.00", "0.00"]
    assert count(page, "#trades tbody tr") == 2
    assert page.complaints() == []


def test_the_edge_of_a_confirmation_has_its_interval_and_too_few_trades_are_said_to_be(
    page: Page, client: httpx.Client, account: int, strategy: Any
) -> None:
    volume, trend = strategy["setups"][0]["confirmations"]
    setup = {"setup_id": strategy["setups"][0]["setup_id"]}
    for pnl in (190, 10):  # the example of docs/goals.md
        for _ in range(5):
            add_answered(client, trade(account, pnl, **setup), volume, True)
    for pnl in (110, -130):
        for _ in range(5):
            add_answered(client, trade(account, pnl, **setup), volume, False)
    for pnl, was_present in ((10, True), (20, False)):
        add_answered(client, trade(account, pnl, **setup), trend, was_present)

    page.show("report", "?by=confirmation")
    rows = texts(page, "tbody tr")

    assert len(rows) == 2
    assert "+110.00 (+12.00 to +208.00)" in rows[0]
    assert "Earns more with it" in rows[0]
    assert count(page, "tbody tr:first-child .interval circle") == 1
    assert "1 decision with it, 1 without: too few to tell; 10 on each side are needed." in rows[1]
    assert page.complaints() == []


def test_filters_that_the_api_refuses_stand_with_its_reason(page: Page, account: int) -> None:
    page.show("report", "?from=2026-03-09&to=2026-03-02")

    reason = find(page, ".error", "From: must not be after to.").text
    page.show("trades", "?from=2026-03-09&to=2026-03-02")

    assert find(page, ".error", "From: must not be after to.").text == reason
    assert find(page, "#filter-from").get_attribute("value") == "2026-03-09"


def test_a_mistake_is_shown_with_what_it_cost(page: Page, client: httpx.Client, account: int) -> None:
    category = send(client, "POST", "/tag-categories", {"name": "Psychology"})["id"]
    fomo, calm = (
        send(client, "POST", "/tags", {"name": name, "category_id": category, "type": kind})["id"]
        for name, kind in (("FOMO", "mistake"), ("Calm", "custom"))
    )
    for pnl, tag in ((-30, fomo), (-20, fomo), (100, calm)):
        trade_id = send(client, "POST", "/trades", trade(account, pnl))["id"]
        send(client, "PUT", f"/trades/{trade_id}/tags", {"tag_ids": [tag]})

    page.show("report", "?by=mistake")

    assert texts(page, "tbody th") == ["FOMO"]
    assert "FOMO: −50.00 in 2 decisions" in find(page, "main section").text
    assert page.complaints() == []


# Trades --------------------------------------------------------------------------------------------------


def test_a_trade_is_opened_graded_and_answered_by_keyboard(
    page: Page, client: httpx.Client, account: int, strategy: Any
) -> None:
    setup_id = strategy["setups"][0]["setup_id"]
    ids = [
        send(client, "POST", "/trades", trade(account, pnl, day, setup_id=setup_id))["id"]
        for pnl, day in ((10, 2), (20, 3))
    ]

    page.show("trades")
    press(page, "j", "j", Keys.ENTER)  # the newest is first
    find(page, "#trade .big", "+10.00")
    press(page, "2")
    find(page, '#grade-2[aria-pressed="true"]')
    page.browser.execute_script("document.querySelector('[aria-label=\"yes: Volume\"]').focus()")
    press(page, Keys.ENTER)
    find(page, '[aria-label="yes: Volume"][aria-pressed="true"]')
    press(page, Keys.TAB, Keys.TAB, Keys.TAB, Keys.SPACE)
    find(page, '[aria-label="no: Trend"][aria-pressed="true"]')
    stored = get(client, f"/trades/{ids[0]}")
    press(page, "k")
    find(page, "#trade .big", "+20.00")
    press(page, Keys.ESCAPE)
    wait_until(lambda: count(page, "#trade") == 0)

    assert stored["grade"] == "A"
    assert [(one["name"], one["was_present"]) for one in stored["confirmations"]] == [
        ("Volume", True),
        ("Trend", False),
    ]
    assert get(client, f"/trades/{ids[1]}")["grade"] is None
    assert page.complaints() == []


def test_notes_are_saved_when_they_are_left_and_a_digit_in_them_is_not_a_grade(
    page: Page, client: httpx.Client, account: int
) -> None:
    trade_id = send(client, "POST", "/trades", trade(account, 10))["id"]

    page.show("trades", f"?id={trade_id}")
    find(page, "#notes").send_keys("1 of 6 jobs", Keys.TAB)
    find(page, "#saved", "Saved")

    stored = get(client, f"/trades/{trade_id}")
    click(page, "#trade .danger")
    click(page, "dialog .danger")
    find(page, ".empty")  # the ETag was that of the saved notes

    assert (stored["notes"], stored["grade"]) == ("1 of 6 jobs", None)


def test_answers_that_are_ticked_faster_than_they_are_saved_are_all_stored(
    page: Page, client: httpx.Client, account: int, strategy: Any
) -> None:
    setup_id = strategy["setups"][0]["setup_id"]
    trade_id = send(client, "POST", "/trades", trade(account, 10, setup_id=setup_id))["id"]
    page.show("trades", f"?id={trade_id}")

    page.browser.execute_script("""
        for (const label of ["yes: Volume", "no: Trend"])
          document.querySelector(`[aria-label="${label}"]`).click();
        document.querySelector("#grade-1").click();
    """)
    wait_until(lambda: get(client, f"/trades/{trade_id}")["grade"] == "A+")

    answers = get(client, f"/trades/{trade_id}")["confirmations"]
    assert [one["was_present"] for one in answers] == [True, False]
    assert page.all("dialog") == []


def test_what_the_api_refuses_is_said_in_the_trade(
    page: Page, client: httpx.Client, account: int, strategy: Any
) -> None:
    other = send(client, "POST", "/accounts", {"name": "Other"})["id"]
    send(client, "PATCH", f"/strategies/{strategy['id']}", {"account_id": other})
    trade_id = send(client, "POST", "/trades", trade(account, 10))["id"]
    page.show("trades", f"?id={trade_id}")

    Select(find(page, "#of-strategy_id")).select_by_visible_text("Opening range")

    find(page, "#saved.error", "Strategy id")
    assert find(page, "#of-strategy_id").get_attribute("value") == ""


def test_a_conflict_shows_both_versions_and_the_owner_chooses(
    page: Page, client: httpx.Client, account: int
) -> None:
    for choice, grade in (("Save mine", "B"), ("Keep the stored version", "F")):
        trade_id = send(client, "POST", "/trades", trade(account, 10))["id"]
        page.show("trades", f"?id={trade_id}")
        find(page, f'#trade[data-id="{trade_id}"]')
        send(client, "PATCH", f"/trades/{trade_id}", {"grade": "F"})

        press(page, "3")
        versions = find(page, "dialog tbody").text
        click(page, "dialog button", choice)
        find(page, f'[data-grade="{grade}"][aria-pressed="true"]')

        assert versions == "Grade B F"
        assert get(client, f"/trades/{trade_id}")["grade"] == grade


def test_a_trade_is_added_by_hand_and_deleted(page: Page, client: httpx.Client, account: int) -> None:
    send(client, "PATCH", "/me", {"day_rollover": "17:00"})  # else adding a trade asks for it
    page.show("trades")
    click(page, "button", "Add a trade")
    find(page, "dialog [name=symbol]").send_keys("ES")
    click(page, "dialog button", "Add the trade")
    reason = find(page, 'dialog [data-field="quantity"]', " ").text
    for name, text in (("quantity", "2"), ("entry_price", "100"), ("exit_price", "103")):
        find(page, f"dialog [name={name}]").send_keys(text)
    for name, text in (("opened_at", "2026-03-02T10:00"), ("closed_at", "2026-03-02T10:05")):
        script = "document.querySelector(arguments[0]).value = arguments[1]"
        page.browser.execute_script(script, f"dialog [name={name}]", text)
    click(page, "dialog button", "Add the trade")
    find(page, "#trade .big", "+")
    added = get(client, "/trades")
    click(page, "#trade .danger")
    click(page, "dialog .danger")
    find(page, ".empty", "There is no trade yet")

    assert reason == "is required"
    assert [(one["symbol"], one["net_pnl"], one["opened_at"][:16]) for one in added] == [
        ("ES", 6, "2026-03-02T10:00")
    ]
    assert get(client, "/trades") == []


# Strategies ----------------------------------------------------------------------------------------------


def test_a_strategy_is_reordered_by_keyboard_and_says_what_goes_before_it_is_saved(
    page: Page, client: httpx.Client, account: int, strategy: Any
) -> None:
    setup = strategy["setups"][0]
    add_answered(client, trade(account, 10, setup_id=setup["setup_id"]), setup["confirmations"][0], True)
    send(client, "POST", "/trades", trade(account, 10, setup_id=strategy["setups"][1]["setup_id"]))

    page.show("strategies")
    page.browser.execute_script("document.querySelectorAll('.items .items input')[1].focus()")
    ActionChains(page.browser).key_down(Keys.ALT).send_keys(Keys.ARROW_UP).key_up(Keys.ALT).perform()
    announced = page.browser.execute_script("return document.querySelector('#moved').textContent")
    click(page, ".editor .primary")
    wait_until(lambda: [one["name"] for one in stored_confirmations(client)] == ["Trend", "Volume"])
    find(page, ".editor:not([data-changed])")
    click(page, '[aria-label="Remove Volume"]')
    click(page, '[aria-label="Remove Fade"]')
    click(page, ".editor .primary")
    sentence = find(page, "dialog form p").text
    click(page, "dialog .danger")
    wait_until(lambda: len(stored_confirmations(client)) == 1)

    assert announced == "Trend: 1 of 2"
    assert sentence == (
        "This removes 1 setup and 1 confirmation: 1 trade loses its setup, 1 answer is deleted."
    )
    assert page.complaints() == []


def stored_confirmations(client: httpx.Client) -> Any:
    return get(client, "/strategies/1")["setups"][0]["confirmations"]


def test_an_error_stands_beside_the_row_that_it_is_about(
    page: Page, client: httpx.Client, strategy: Any
) -> None:
    page.show("strategies")
    find(page, '.items .items [aria-label="Name of the confirmation"]').send_keys(Keys.ENTER)  # adds a row

    click(page, ".editor .primary")

    reason = find(page, '[data-field="setups[0].confirmations[1].name"]', "must")
    assert "must be 1 to 255 characters" in reason.text


def test_a_strategy_changed_meanwhile_shows_both_versions(
    page: Page, client: httpx.Client, strategy: Any
) -> None:
    page.show("strategies")
    find(page, "#strategy-name").send_keys("!")
    send(client, "PATCH", "/strategies/1", {"name": "Theirs"})

    click(page, ".editor .primary")
    versions = find(page, "dialog tbody").text
    click(page, "dialog button", "Save mine")
    wait_until(lambda: get(client, "/strategies/1")["name"] == "Opening range!")

    assert "Opening range!" in versions
    assert "Theirs" in versions


def test_a_setup_is_dragged(page: Page, client: httpx.Client, strategy: Any) -> None:
    page.show("strategies")
    first, second = page.all(".editor > .nested > .items > li")

    ActionChains(page.browser).drag_and_drop_by_offset(
        first.find_element(By.CLASS_NAME, "handle"), 0, second.rect["y"] - first.rect["y"] + 60
    ).perform()
    click(page, ".editor .primary")

    wait_until(lambda: [one["name"] for one in get(client, "/strategies/1")["setups"]] == ["Fade", "Break"])
    assert page.complaints() == []


def test_leaving_unsaved_changes_of_a_strategy_asks_first(
    page: Page, client: httpx.Client, strategy: Any
) -> None:
    page.show("strategies")
    find(page, "#strategy-name").send_keys("!")

    click(page, "nav a", "Trades")
    question = find(page, "dialog form p").text
    click(page, "dialog .danger")
    page.wait_for_view("trades")

    assert question == "The changes of this strategy are not saved."
    assert get(client, "/strategies/1")["name"] == "Opening range"


# Everywhere ----------------------------------------------------------------------------------------------


def test_names_that_are_html_stay_text(page: Page, client: httpx.Client) -> None:
    account_id = send(client, "POST", "/accounts", {"name": HTML})["id"]
    send(client, "POST", "/accounts", {"name": "Other"})
    category = send(client, "POST", "/tag-categories", {"name": HTML})["id"]
    tag_id = send(client, "POST", "/tags", {"name": HTML, "category_id": category, "type": "mistake"})["id"]
    setups = [{"name": HTML, "confirmations": [{"name": HTML}]}]
    made = send(client, "POST", "/strategies", {"name": HTML, "setups": setups})
    setup = made["setups"][0]
    body = trade(account_id, 10, setup_id=setup["setup_id"], symbol=HTML, notes=HTML)
    add_answered(client, body, setup["confirmations"][0], True)
    send(client, "PUT", "/trades/1/tags", {"tag_ids": [tag_id]})

    for view, query in PLACES:
        page.show(view, query)

        assert count(page, "main img") == 0
        if view != "strategies":  # where names are in fields
            find(page, "main", HTML)

    assert page.complaints() == []


def test_an_empty_journal_explains_itself(page: Page) -> None:
    for view in ("report", "trades", "strategies"):
        page.show(view)

        assert len(find(page, ".empty p").text) > 40, view
    assert page.complaints() == []


def test_no_view_is_wider_than_the_screen_or_needs_more_than_ten_requests(
    page: Page, client: httpx.Client, account: int, strategy: Any
) -> None:
    setup = strategy["setups"][0]
    add_answered(client, trade(account, 10, setup_id=setup["setup_id"]), setup["confirmations"][0], True)

    def width_of(view: str, query: str) -> int:
        page.show(view, query)
        return int(page.browser.execute_script("return document.documentElement.scrollWidth"))

    page.resize(360, 800)
    for view, query in PLACES:
        page.show("settings")
        page.requests()
        assert width_of(view, query) <= 360, (view, query)
        assert len([url for url in page.requests() if "/v1/" in url]) <= 10, (view, query)
    page.resize(1600, 800)
    for view, query in PLACES:
        assert width_of(view, query) <= 1600, (view, query)
