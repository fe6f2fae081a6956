"""The page when the service is slow, text is not saved, or its owner is signed out (docs/page.md)."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from chromium import Page, PageJournal, in_a_browser
from commands import new_key, run_ok, running, wait_until
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys
from test_page_views import click, find, get, press, send, trade

pytestmark = in_a_browser


@pytest.fixture
def client(page_journal: PageJournal) -> httpx.Client:
    return page_journal.client


@pytest.fixture
def page(browser: Chrome, page_journal: PageJournal) -> Iterator[Page]:
    page = Page(browser, page_journal.server.url)
    page.sign_in(page_journal.key)
    page.complaints()
    yield page
    delay(page, 0)
    page.leave()


def delay(page: Page, milliseconds: int) -> None:
    """Let every answer take that long."""
    conditions = {
        "offline": False, "latency": milliseconds, "downloadThroughput": -1, "uploadThroughput": -1
    }  # fmt: skip
    page.browser.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def add_trades(client: httpx.Client, count: int = 1) -> list[int]:
    """The ids, of which the list has the last first."""
    account = send(client, "POST", "/accounts", {"name": "Main"})["id"]
    return [send(client, "POST", "/trades", trade(account, 10, day))["id"] for day in range(2, 2 + count)]


def notes_of(page: Page) -> Any:
    return page.browser.execute_script("return document.querySelector('#notes')?.value")


def type_in(page: Page, selector: str, text: str) -> None:
    find(page, selector).send_keys(text)


def test_a_key_pressed_while_the_next_trade_is_read_grades_no_other(page: Page, client: httpx.Client) -> None:
    first, second, third = add_trades(client, 3)
    page.show("trades", f"?id={third}")
    delay(page, 400)

    press(page, "j", "j", "2")
    find(page, f'#trade[data-id="{first}"]')
    press(page, "3")
    wait_until(lambda: get(client, f"/trades/{first}")["grade"] == "B")

    assert [get(client, f"/trades/{other}")["grade"] for other in (second, third)] == [None, None]


@pytest.mark.parametrize("name", ["constructor", "nowhere"])
def test_an_address_of_no_view_shows_today(page: Page, name: str) -> None:
    page.show("settings")

    page.browser.execute_script(f"location.hash = '#/{name}'")
    wait_until(
        lambda: (
            page.browser.execute_script("return document.querySelector('main').dataset.view") != "settings"
        )
    )

    find(page, 'nav a[aria-current][href="#/today"]')
    assert page.text().count("This cannot be shown") == 0
    assert page.complaints() == []


def test_a_form_that_is_submitted_twice_writes_once(page: Page, client: httpx.Client) -> None:
    page.show("strategies")
    click(page, "button", "New strategy")
    type_in(page, "dialog [name=name]", "Opening range")
    delay(page, 300)

    press(page, Keys.ENTER, Keys.ENTER, Keys.ENTER)
    find(page, ".editor")

    assert [one["name"] for one in get(client, "/strategies")] == ["Opening range"]


def test_a_number_that_is_not_finite_is_refused_at_its_field(page: Page, client: httpx.Client) -> None:
    (trade_id,) = add_trades(client)
    page.show("trades", f"?id={trade_id}")
    click(page, "#trade button", "Change prices")
    find(page, "dialog [name=exit_price]").clear()
    type_in(page, "dialog [name=exit_price]", "Infinity" + Keys.ENTER)

    find(page, 'dialog [data-field="exit_price"]', " ")

    assert get(client, f"/trades/{trade_id}")["exit_price"] == 110


def test_prices_changed_meanwhile_show_both_versions(page: Page, client: httpx.Client) -> None:
    (trade_id,) = add_trades(client)
    page.show("trades", f"?id={trade_id}")
    click(page, "#trade button", "Change prices")
    send(client, "PATCH", f"/trades/{trade_id}", {"exit_price": 105, "symbol": "TSLA"})
    find(page, "dialog [name=exit_price]").clear()
    type_in(page, "dialog [name=exit_price]", "120" + Keys.ENTER)

    versions = find(page, "dialog .versions tbody").text
    click(page, "dialog button", "Save mine")
    wait_until(lambda: get(client, f"/trades/{trade_id}")["exit_price"] == 120)

    assert versions == (
        "Symbol (changed in the meantime; stays) ES TSLA\nExit 120 105\n"
        "Gross P&L (changed in the meantime; stays) 10 5"
    )
    assert get(client, f"/trades/{trade_id}")["symbol"] == "TSLA"
    page.wait(lambda: not page.all("dialog"))


def test_a_setup_that_another_tab_added_does_not_go_without_a_question(
    page: Page, client: httpx.Client
) -> None:
    send(client, "POST", "/strategies", {"name": "Opening range", "setups": [{"name": "Break"}]})
    page.show("strategies")
    type_in(page, "#strategy-name", "!")
    setup_id = get(client, "/strategies/1")["setups"][0]["setup_id"]
    setups = [{"setup_id": setup_id, "name": "Break"}, {"name": "Fade"}]
    send(client, "PATCH", "/strategies/1", {"setups": setups})

    click(page, ".editor .primary")
    click(page, "dialog button", "Save mine")
    question = find(page, "dialog form p", "removes").text

    assert question == "This removes 1 setup: no trade or answer is lost."
    assert len(get(client, "/strategies/1")["setups"]) == 2


# Text that is not saved ----------------------------------------------------------------------------------


def test_notes_that_are_refused_outlive_a_grade_and_are_not_called_saved(
    page: Page, client: httpx.Client
) -> None:
    (trade_id,) = add_trades(client)
    page.show("trades", f"?id={trade_id}")
    script = """
        const notes = document.querySelector("#notes");
        notes.value = "x".repeat(10001);
        for (const name of ["input", "change"]) notes.dispatchEvent(new Event(name, {bubbles: true}));
    """
    page.browser.execute_script(script)
    find(page, "#trade form .error", "Not saved")

    click(page, "#grade-2")
    find(page, "#saved", "Saved, but not the notes.")

    assert len(notes_of(page)) == 10001
    assert "10000" in find(page, "#trade form .error", "Not saved").text.replace(",", "")
    page.browser.execute_script("document.querySelector('#notes').value = 'short'")
    click(page, "#trade form button", "Save the notes")
    wait_until(lambda: get(client, f"/trades/{trade_id}")["notes"] == "short")
    page.wait(lambda: not page.all("#trade form[data-changed]"))


def test_notes_outlive_a_conflict_that_is_not_decided(page: Page, client: httpx.Client) -> None:
    (trade_id,) = add_trades(client)
    page.show("trades", f"?id={trade_id}")
    send(client, "PATCH", f"/trades/{trade_id}", {"notes": "theirs"})
    type_in(page, "#notes", "mine" + Keys.TAB)
    find(page, "dialog .versions")

    press(page, Keys.ESCAPE)
    click(page, "#grade-2")
    find(page, "#saved", "Saved, but not the notes.")

    assert notes_of(page) == "mine"
    assert get(client, f"/trades/{trade_id}")["notes"] == "theirs"


@pytest.fixture
def page_of_its_own(browser: Chrome, tmp_path: Path) -> Iterator[tuple[Page, PageJournal]]:
    """A page whose server the test may stop."""
    db = tmp_path / "journal.db"
    key = new_key(db)
    with running(db) as server, server.client(key) as client:
        page = Page(browser, server.url)
        page.sign_in(key)
        yield page, PageJournal(server, db, key, client)
        page.leave()


def test_notes_outlive_a_stopped_service_and_leaving_them_asks(
    page_of_its_own: tuple[Page, PageJournal],
) -> None:
    page, journal = page_of_its_own
    (trade_id,) = add_trades(journal.client)
    page.show("trades", f"?id={trade_id}")
    journal.server.stop(signal.SIGKILL)

    type_in(page, "#notes", "mine" + Keys.TAB)
    find(page, "#trade form .error", "Not saved")
    click(page, "#grade-2")
    find(page, "#saved.error", "does not answer")
    kept = notes_of(page)
    click(page, "nav a", "Strategies")
    question = find(page, "dialog form p").text
    click(page, "dialog button", "Cancel")

    assert (kept, notes_of(page)) == ("mine", "mine")
    assert question == "The notes of this trade are not saved."
    assert page.browser.current_url.endswith(f"#/trades?id={trade_id}")


def test_notes_that_are_left_by_a_link_are_saved_without_a_question(page: Page, client: httpx.Client) -> None:
    (trade_id,) = add_trades(client)
    page.show("trades", f"?id={trade_id}")
    type_in(page, "#notes", "mine")
    delay(page, 200)

    page.browser.execute_script("history.back()")
    page.wait_for_view("today")

    assert get(client, f"/trades/{trade_id}")["notes"] == "mine"
    assert page.all("dialog") == []


def test_notes_outlive_a_key_that_is_revoked_while_they_are_typed(
    page: Page, page_journal: PageJournal, client: httpx.Client
) -> None:
    (trade_id,) = add_trades(client)
    page.show("trades", f"?id={trade_id}")
    type_in(page, "#notes", "mine")
    run_ok("keys", "revoke", "1", "--db", page_journal.db)

    page.poll()
    page.wait_for_text("What you typed is still there.")
    new = new_key(page_journal.db)
    page.fill("key", new + Keys.ENTER, "#sign-in")
    page.wait(lambda: not page.all("dialog"))
    kept = notes_of(page)
    click(page, "#trade form button", "Save the notes")
    with page_journal.server.client(new) as client_of_new:
        wait_until(lambda: get(client_of_new, f"/trades/{trade_id}")["notes"] == "mine")

    assert kept == "mine"


def test_a_dialog_does_not_cover_the_sign_in(
    page: Page, page_journal: PageJournal, client: httpx.Client
) -> None:
    add_trades(client)
    send(client, "PATCH", "/me", {"day_rollover": "17:00"})  # else adding a trade asks for it
    page.show("trades")
    click(page, "button", "Add a trade")
    find(page, "dialog [name=symbol]")
    run_ok("keys", "revoke", "1", "--db", page_journal.db)

    page.poll()

    find(page, "main #sign-in")
    assert page.all("dialog") == []


def test_the_draft_of_a_strategy_is_not_lost_by_back_or_by_choosing_an_account(
    page: Page, client: httpx.Client
) -> None:
    for name in ("One", "Two"):
        send(client, "POST", "/accounts", {"name": name})
    send(client, "POST", "/strategies", {"name": "Opening range"})
    page.show("report")
    page.show("strategies")
    type_in(page, "#strategy-name", "!")

    page.browser.execute_script("history.back()")
    find(page, "dialog form p", "not saved")
    click(page, "dialog button", "Cancel")
    find(page, "#selection").send_keys("Two")
    find(page, "dialog form p", "not saved")
    click(page, "dialog button", "Cancel")
    typed = find(page, "#strategy-name").get_attribute("value")
    page.browser.execute_script("history.back()")
    click(page, "dialog .danger")
    page.wait_for_view("report")

    assert typed == "Opening range!"
    assert get(client, "/me")["active_selection"] == "all"


def test_reloading_asks_while_notes_are_typed(page: Page, client: httpx.Client) -> None:
    (trade_id,) = add_trades(client)
    page.show("trades", f"?id={trade_id}")
    asks = "return !dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    before = page.browser.execute_script(asks)
    type_in(page, "#notes", "mine")

    assert (before, page.browser.execute_script(asks)) == (False, True)


# Signing in and out, and a service that is away ----------------------------------------------------------


def test_signing_out_in_one_tab_signs_out_the_others(page: Page, page_journal: PageJournal) -> None:
    page.browser.execute_script(
        "sessionStorage.clear(); localStorage.setItem('journal-key', arguments[0])",
        page_journal.key,
    )
    page.show("strategies")
    first = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    page.browser.get(f"{page.url}/#/settings")
    page.wait_for_view("settings")

    click(page, "#sign-out")
    find(page, "#sign-in")
    page.browser.close()
    page.browser.switch_to.window(first)

    find(page, "#sign-in")


def test_the_page_recovers_once_the_service_answers_again(page: Page) -> None:
    page.browser.execute_script(
        "window.fetch = ((real) => (window.real = real, () => Promise.reject()))(fetch)"
    )
    page.show("trades")
    page.wait_for_text("The journal does not answer.")

    page.browser.execute_script("window.fetch = window.real")
    page.poll()

    find(page, ".empty", "There is no trade yet")


def test_a_key_without_a_scope_names_it_and_can_be_replaced(page: Page, page_journal: PageJournal) -> None:
    narrow = new_key(page_journal.db, "--scopes", "read:trades")
    page.browser.execute_script("sessionStorage.setItem('journal-key', arguments[0])", narrow)
    page.browser.refresh()
    page.wait_for_text("The key lacks the scope read:")
    assert "journal-api keys create NAME --scopes all" in page.text()
    assert "--scopes read:" not in page.text()

    click(page, "main button", "Sign out")

    find(page, "#sign-in")


def test_a_slow_service_is_not_polled_twice_at_once_and_the_new_view_is_marked(page: Page) -> None:
    page.browser.execute_script("""
        window.sent = 0;
        window.fetch = () => { window.sent += 1; return new Promise(() => {}); };
    """)
    page.poll()
    once = page.browser.execute_script("return window.sent")
    page.poll()
    page.poll()
    polled = page.browser.execute_script("return window.sent")
    page.browser.execute_script("location.hash = '#/trades'")

    find(page, 'nav a[href="#/trades"][aria-current="page"]')
    page.wait(lambda: float(find(page, "main").value_of_css_property("opacity")) < 0.8)
    assert polled == once > 0


def test_a_table_wider_than_the_screen_says_so(page: Page, client: httpx.Client) -> None:
    add_trades(client)
    page.resize(360, 800)
    page.show("report")

    find(page, "main p", "Scroll the table to the right")
    page.resize(1280, 900)
    page.show("report", "?by=symbol")
    assert "Scroll the table" not in page.text()
