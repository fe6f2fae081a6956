"""Signing in and out of the page, by a link with a one-time code and by a key (docs/page.md)."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from chromium import Page, PageJournal, browser_with, in_a_browser
from commands import PATIENCE, Server, environment, key_in, new_key, rows, run_ok, running
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys
from test_page_frame import add_trades, notes_of, type_in
from test_page_views import click, find

pytestmark = in_a_browser

A_FILE = "secret.csv", "symbol,opened_at,quantity,entry_price,direction\nES,2026-03-02 10:00,1,5000,long\n"


class Start(NamedTuple):
    """A server that was started with `--first-key`, and what it printed."""

    server: Server
    db: Path
    link: str
    key: str


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    db = tmp_path / "journal.db"
    with running(db, "--first-key") as server:
        printed = server.out.read_text()
        (link,) = re.findall(r"http://\S+/#code=\S+", printed)
        yield Start(server, db, link, key_in(printed))


@pytest.fixture
def page(browser: Chrome, start: Start) -> Iterator[Page]:
    """The page of that server, where nobody is signed in."""
    page = Page(browser, start.server.url)
    browser.get("about:blank")
    yield page
    page.leave()


@pytest.fixture
def shared_page(browser: Chrome, page_journal: PageJournal) -> Iterator[Page]:
    page = Page(browser, page_journal.server.url)
    page.sign_in(page_journal.key)
    yield page
    page.leave()


def key_of(page: Page) -> str:
    return str(page.browser.execute_script("return sessionStorage.getItem('journal-key')"))


def new_user(db: Path, name: str = "Ada") -> str:
    """A key of a new user."""
    run_ok("users", "add", name, "--db", db)
    return new_key(db, "--user", name)


def lead_to(page: Page, address: str) -> None:
    """What the page of somebody else does."""
    page.browser.get(f"data:text/html,<script>location = '{address.replace('#', '%23')}'</script>")
    page.wait(lambda: page.browser.current_url.startswith(page.url))


# By the link ---------------------------------------------------------------------------------------------


def test_the_printed_link_signs_in_with_a_key_that_settings_lists_and_revokes(
    page: Page, start: Start
) -> None:
    page.browser.get(start.link)
    page.wait_for_view("today")
    own, address = key_of(page), page.browser.current_url

    page.show("settings")
    row = find(page, "#keys tr", "this browser")
    assert "Chrome on Linux" in row.text
    assert own[-4:] in row.text
    click(page, "#keys tr:last-child button", "Revoke")
    find(page, "dialog", "This browser is signed out.")
    click(page, "dialog .danger")

    find(page, "#sign-in")
    assert own != start.key
    assert address == f"{page.url}/"
    assert rows(start.db, "SELECT name, revoked_at IS NULL FROM api_keys ORDER BY id") == [
        ("first key", 1),
        ("Chrome on Linux", 0),
    ]
    assert page.complaints() == []


def test_no_history_of_the_browser_holds_the_key(start: Start, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    with browser_with(profile) as browser:
        page = Page(browser, start.server.url)
        browser.get(start.link)
        page.wait_for_view("today")
        page.show("trades")
        key = key_of(page)
        visited = browser.execute_cdp_cmd("Page.getNavigationHistory", {})["entries"]

    remembered = [profile / "Default" / "History", profile / "Default" / "Favicons"]
    remembered += (profile / "Default" / "Sessions").iterdir()
    assert key.startswith("tjk_")
    assert key not in str(visited)
    # What is looked through is where Chromium keeps addresses: the link is there.
    assert start.link.encode() in remembered[0].read_bytes()
    assert [file.name for file in remembered if key.encode() in file.read_bytes()] == []


def test_a_used_link_says_so_and_names_the_command_that_leads_back_in(page: Page, start: Start) -> None:
    page.browser.get(start.link)
    page.wait_for_view("today")
    page.leave()
    page.resize(360, 800)

    page.browser.get(start.link)

    find(page, "#sign-in .error", "This link no longer signs in")
    command = find(page, "#sign-in code", "keys create page").text
    assert str(start.db) in command
    assert page.browser.execute_script("return document.documentElement.scrollWidth") <= 360
    assert page.browser.current_url == f"{page.url}/"
    ran = subprocess.run(
        shlex.split(command), env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    page.fill("key", ran.stdout.strip() + Keys.ENTER, "#sign-in")
    page.wait_for_view("today")


def test_signing_out_revokes_the_key_of_a_link_and_forgets_a_typed_one(page: Page, start: Start) -> None:
    page.browser.get(start.link)
    page.wait_for_view("today")
    page.show("settings")
    click(page, "#sign-out")
    find(page, "#sign-in")
    page.fill("key", start.key + Keys.ENTER, "#sign-in")
    page.wait(lambda: page.drawn_view() == "settings")
    click(page, "#sign-out")
    find(page, "#sign-in")

    assert page.browser.execute_script("return sessionStorage.length + localStorage.length") == 0
    assert rows(start.db, "SELECT name FROM api_keys WHERE revoked_at IS NOT NULL") == [("Chrome on Linux",)]


# A sign-in that works stays ------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["#key=x", "#key=abc%", "#code=x", "#code=abc%"])
def test_the_page_of_somebody_else_cannot_sign_the_owner_out(page: Page, start: Start, address: str) -> None:
    page.sign_in(start.key)

    lead_to(page, f"{page.url}/{address}")

    page.wait_for_view("today")
    if "code" in address:
        find(page, "dialog[aria-label='You are still signed in']", "no longer signs in")
    assert page.browser.current_url == f"{page.url}/"
    assert key_of(page) == start.key
    assert page.complaints() == []


def test_a_key_in_the_address_signs_nobody_in(page: Page, start: Start) -> None:
    lead_to(page, f"{page.url}/#key={start.key}")

    find(page, "#sign-in")
    assert page.browser.current_url == f"{page.url}/"
    assert page.browser.execute_script("return sessionStorage.length + localStorage.length") == 0


def test_a_link_in_a_page_that_is_signed_in_as_another_user_asks_and_names_both(
    page: Page, start: Start
) -> None:
    adas = new_user(start.db)
    page.sign_in(adas)
    page.show("trades")

    page.browser.execute_script("location = arguments[0]", start.link)
    question = find(page, "dialog form p", "instead?").text
    click(page, "dialog button", "Cancel")
    kept, address = key_of(page), page.browser.current_url
    page.browser.execute_script("location = arguments[0]", start.link)
    click(page, "dialog button", "Sign in as owner")
    page.wait(lambda: key_of(page) != adas)
    page.wait_for_view("trades")
    page.show("settings")

    assert question == f"You are signed in as Ada (key …{adas[-4:]}). Sign in as owner instead?"
    assert (kept, address) == (adas, f"{page.url}/#/trades")
    assert "first key" in find(page, "#keys").text


def test_a_link_in_a_page_that_is_signed_in_as_the_same_user_changes_nothing(
    page: Page, start: Start
) -> None:
    page.sign_in(start.key)

    page.browser.get("about:blank")
    page.browser.get(start.link)
    page.wait_for_view("today")
    page.wait(lambda: any("/sign-in" in url for url in page.requests()))
    page.show("trades")

    assert page.all("dialog") == []
    assert key_of(page) == start.key
    assert rows(start.db, "SELECT count(*) FROM api_keys") == [(1,)]


def test_a_link_replaces_a_sign_in_that_no_longer_works(page: Page, start: Start) -> None:
    page.sign_in(start.key)
    run_ok("keys", "revoke", "1", "--db", start.db)

    page.browser.execute_script("location = arguments[0]", start.link)

    page.wait(lambda: key_of(page) not in (start.key, "None"))
    page.wait_for_view("today")


def test_without_a_sign_in_that_works_a_used_link_leads_to_the_form(page: Page, start: Start) -> None:
    page.sign_in(start.key)
    run_ok("keys", "revoke", "1", "--db", start.db)

    page.browser.execute_script("location.hash = '#code=x'")

    find(page, "main #sign-in .error", "This link no longer signs in")
    assert page.all("dialog") == []


# Another key means a fresh page --------------------------------------------------------------------------


def drop_a_file_and_lose_the_key(page: Page, journal: PageJournal) -> None:
    journal.client.post("/accounts", json={"name": "Main"})
    page.show("import")
    page.drop(*A_FILE)
    page.wait_for_text("1 new")
    run_ok("keys", "revoke", "1", "--db", journal.db)
    page.poll()
    find(page, "#sign-in")


def test_the_next_user_of_the_tab_sees_nothing_of_the_last_ones_file(
    shared_page: Page, page_journal: PageJournal
) -> None:
    page = shared_page
    drop_a_file_and_lose_the_key(page, page_journal)

    page.fill("key", new_user(page_journal.db) + Keys.ENTER, "#sign-in")

    page.wait_for_view("import")
    page.wait_for_text("First, an account")
    assert "secret.csv" not in page.text()
    assert page.all("#import") == []


def test_the_same_user_finds_the_file_again(shared_page: Page, page_journal: PageJournal) -> None:
    page = shared_page
    drop_a_file_and_lose_the_key(page, page_journal)

    page.fill("key", new_key(page_journal.db) + Keys.ENTER, "#sign-in")

    page.wait_for_view("import")
    find(page, "#import")
    assert "secret.csv" in page.text()


def test_what_the_last_user_typed_is_not_left_to_the_next(
    shared_page: Page, page_journal: PageJournal
) -> None:
    page = shared_page
    (trade_id,) = add_trades(page_journal.client)
    page.show("trades", f"?id={trade_id}")
    type_in(page, "#notes", "mine")
    run_ok("keys", "revoke", "1", "--db", page_journal.db)
    page.poll()
    page.wait_for_text("What you typed is still there.")

    page.fill("key", new_user(page_journal.db) + Keys.ENTER, "#sign-in")

    page.wait(lambda: not page.all("dialog"))
    page.wait_for_view("trades")
    assert not notes_of(page)


def test_a_tab_follows_when_another_tab_signs_in_as_another_user(
    shared_page: Page, page_journal: PageJournal
) -> None:
    page = shared_page
    adas = new_user(page_journal.db)
    keep = "sessionStorage.clear(); localStorage.setItem('journal-key', arguments[0])"
    page.browser.execute_script(keep, page_journal.key)
    page.browser.refresh()
    page_journal.client.post("/accounts", json={"name": "Main"})
    page.show("import")
    page.drop(*A_FILE)
    page.wait_for_text("1 new")
    first = page.browser.current_window_handle
    page.browser.switch_to.new_window("tab")
    page.browser.get(f"{page.url}/health")

    page.browser.execute_script(keep, adas)
    page.browser.close()
    page.browser.switch_to.window(first)

    page.wait_for_text("First, an account")
    assert "secret.csv" not in page.text()
