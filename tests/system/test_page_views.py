"""Three views of the page at /, in a real browser: what pays, trades and strategies (docs/page.md)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from browsing import Page, chromium, in_a_browser
from commands import Server, new_key, running, wait_until
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

pytestmark = in_a_browser
HTML = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path / "journal.db") as server:
        yield server


@pytest.fixture
def key(server: Server, tmp_path: Path) -> str:
    return new_key(tmp_path / "journal.db")


@pytest.fixture
def client(server: Server, key: str) -> Iterator[httpx.Client]:
    with server.client(key) as client:
        yield client


@pytest.fixture
def page(browser: Chrome, server: Server, key: str) -> Iterator[Page]:
    page = Page(browser, server, key)
    page.complaints()
    yield page
    browser.execute_script("sessionStorage.clear()")


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

    page.open("report?by=symbol")
    by_pnl = page.texts("tbody th")
    page.click("#sort-win_rate")
    page.wait_for('th[aria-sort="descending"]', "Win rate")
    by_win_rate = page.texts("tbody th")
    reasons = page.texts("tbody td.profit_factor")
    page.click("tbody th a", "NQ")
    page.wait_for("#trades", "2 trades")

    assert by_pnl == ["NQ", "ES", "CL"]  # 40, 30, -20
    assert by_win_rate == ["ES", "NQ", "CL"]  # 100, 50 and 0 %
    assert reasons == ["no losses", "5.00", "0.00"]
    assert page.count("#trades tbody tr") == 2
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

    page.open("report?by=confirmation")
    rows = page.texts("tbody tr")

    assert len(rows) == 2
    assert "+110.00 (+12.00 to +208.00)" in rows[0]
    assert "Earns more with it" in rows[0]
    assert page.count("tbody tr:first-child .interval circle") == 1
    assert "1 decision with it, 1 without: too few to tell; 10 on each side are needed." in rows[1]
    assert page.complaints() == []


def test_a_mistake_is_shown_with_what_it_cost(page: Page, client: httpx.Client, account: int) -> None:
    category = send(client, "POST", "/tag-categories", {"name": "Psychology"})["id"]
    fomo, calm = (
        send(client, "POST", "/tags", {"name": name, "category_id": category, "type": kind})["id"]
        for name, kind in (("FOMO", "mistake"), ("Calm", "custom"))
    )
    for pnl, tag in ((-30, fomo), (-20, fomo), (100, calm)):
        trade_id = send(client, "POST", "/trades", trade(account, pnl))["id"]
        send(client, "PUT", f"/trades/{trade_id}/tags", {"tag_ids": [tag]})

    page.open("report?by=mistake")

    assert page.texts("tbody th") == ["FOMO"]
    assert "FOMO: −50.00 in 2 decisions" in page.wait_for("main section").text
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

    page.open("trades")
    page.press("j", "j", Keys.ENTER)  # the newest is first
    page.wait_for("#trade .big", "+10.00")
    page.press("2")
    page.wait_for('#grade-2[aria-pressed="true"]')
    page.browser.execute_script("document.querySelector('[aria-label=\"yes: Volume\"]').focus()")
    page.press(Keys.ENTER)
    page.wait_for('[aria-label="yes: Volume"][aria-pressed="true"]')
    page.press(Keys.TAB, Keys.TAB, Keys.TAB, Keys.SPACE)
    page.wait_for('[aria-label="no: Trend"][aria-pressed="true"]')
    stored = get(client, f"/trades/{ids[0]}")
    page.press("k")
    page.wait_for("#trade .big", "+20.00")
    page.press(Keys.ESCAPE)
    wait_until(lambda: page.count("#trade") == 0)

    assert stored["grade"] == "A"
    assert [(one["name"], one["was_present"]) for one in stored["confirmations"]] == [
        ("Volume", True),
        ("Trend", False),
    ]
    assert get(client, f"/trades/{ids[1]}")["grade"] is None
    assert page.complaints() == []


def test_a_digit_in_the_notes_is_not_a_grade(page: Page, client: httpx.Client, account: int) -> None:
    trade_id = send(client, "POST", "/trades", trade(account, 10))["id"]

    page.open(f"trades?id={trade_id}")
    page.wait_for("#notes").send_keys("1 of 6 jobs", Keys.TAB)
    page.wait_for("#saved", "Saved")

    stored = get(client, f"/trades/{trade_id}")
    assert (stored["notes"], stored["grade"]) == ("1 of 6 jobs", None)


@pytest.mark.parametrize(("choice", "grade"), [("Save mine", "B"), ("Keep the stored", "F")])
def test_a_conflict_shows_both_versions_and_the_owner_chooses(
    page: Page, client: httpx.Client, account: int, choice: str, grade: str
) -> None:
    trade_id = send(client, "POST", "/trades", trade(account, 10))["id"]
    page.open(f"trades?id={trade_id}")
    send(client, "PATCH", f"/trades/{trade_id}", {"grade": "F"})

    page.press("3")
    versions = page.wait_for("dialog tbody").text
    page.click("dialog button", choice)
    page.wait_for(f'[data-grade="{grade}"][aria-pressed="true"]')

    assert versions == "Grade B F"
    assert get(client, f"/trades/{trade_id}")["grade"] == grade


def test_a_trade_is_added_by_hand_and_deleted(page: Page, client: httpx.Client, account: int) -> None:
    page.open("trades")
    page.click("button", "Add a trade")
    page.wait_for("dialog [name=symbol]").send_keys("ES")
    page.click("dialog button", "Add the trade")
    reason = page.wait_for('dialog [data-field="quantity"]', " ").text
    for name, text in (("quantity", "2"), ("entry_price", "100"), ("exit_price", "103")):
        page.wait_for(f"dialog [name={name}]").send_keys(text)
    for name, text in (("opened_at", "2026-03-02T10:00"), ("closed_at", "2026-03-02T10:05")):
        script = "document.querySelector(arguments[0]).value = arguments[1]"
        page.browser.execute_script(script, f"dialog [name={name}]", text)
    page.click("dialog button", "Add the trade")
    page.wait_for("#trade .big", "+")
    added = get(client, "/trades")
    page.click("#trade .danger")
    page.click("dialog .danger")
    page.wait_for(".empty", "There is no trade yet")

    assert reason == "is required"
    assert [(one["symbol"], one["net_pnl"], one["opened_at"][:16]) for one in added] == [
        ("ES", 300, "2026-03-02T10:00")
    ]
    assert get(client, "/trades") == []


# Strategies ----------------------------------------------------------------------------------------------


def test_a_strategy_is_reordered_by_keyboard_and_says_what_goes_before_it_is_saved(
    page: Page, client: httpx.Client, account: int, strategy: Any
) -> None:
    setup = strategy["setups"][0]
    add_answered(client, trade(account, 10, setup_id=setup["setup_id"]), setup["confirmations"][0], True)
    send(client, "POST", "/trades", trade(account, 10, setup_id=strategy["setups"][1]["setup_id"]))

    page.open("strategies")
    page.browser.execute_script("document.querySelectorAll('.items .items input')[1].focus()")
    page.press_with(Keys.ALT, Keys.ARROW_UP)
    announced = page.browser.execute_script("return document.querySelector('#moved').textContent")
    page.press(Keys.ENTER)
    wait_until(lambda: [one["name"] for one in stored_confirmations(client)] == ["Trend", "Volume"])
    page.wait_for(".editor:not([data-changed])")
    page.click('[aria-label="Remove Volume"]')
    page.click('[aria-label="Remove Fade"]')
    page.click(".editor .primary")
    sentence = page.wait_for("dialog form p").text
    page.click("dialog .danger")
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
    page.open("strategies")
    page.click(".items .items + button")

    page.click(".editor .primary")

    reason = page.wait_for('[data-field="setups[0].confirmations[2].name"]', "must")
    assert "must be 1 to 255 characters" in reason.text


def test_a_strategy_changed_meanwhile_shows_both_versions(
    page: Page, client: httpx.Client, strategy: Any
) -> None:
    page.open("strategies")
    page.wait_for("#strategy-name").send_keys("!")
    send(client, "PATCH", "/strategies/1", {"name": "Theirs"})

    page.click(".editor .primary")
    versions = page.wait_for("dialog tbody").text
    page.click("dialog button", "Save mine")
    wait_until(lambda: get(client, "/strategies/1")["name"] == "Opening range!")

    assert "Opening range!" in versions
    assert "Theirs" in versions


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

    for place in (
        *(f"report?by={by}" for by in ("strategy", "setup", "confirmation", "tag", "mistake", "symbol")),
        *("trades", "trades?id=1", "strategies"),
    ):
        page.open(place)
        page.wait_for("main", "<img" if place != "strategies" else "")
        assert page.count("main img") == 0

    assert page.complaints() == []


@pytest.mark.parametrize("view", ["report", "trades", "strategies"])
def test_an_empty_journal_explains_itself(page: Page, view: str) -> None:
    page.open(view)

    assert len(page.wait_for(".empty p").text) > 40
    assert page.complaints() == []


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("place", ["report", "report?by=confirmation", "trades", "trades?id=1", "strategies"])
def test_no_view_is_wider_than_the_screen_and_none_needs_more_than_ten_requests(
    page: Page, client: httpx.Client, account: int, strategy: Any, place: str, width: int
) -> None:
    setup = strategy["setups"][0]
    add_answered(client, trade(account, 10, setup_id=setup["setup_id"]), setup["confirmations"][0], True)
    page.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    page.browser.execute_script("performance.clearResourceTimings()")

    page.open(place)
    requests = page.browser.execute_script(
        "return performance.getEntriesByType('resource').map(entry => entry.name)"
    )
    widest = page.browser.execute_script("return document.documentElement.scrollWidth")
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    assert widest <= width
    assert len([one for one in requests if "/v1/" in one]) <= 10
