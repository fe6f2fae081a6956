"""Signing in and out of the page, by a link with a one-time code and by a key (docs/page.md)."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from chromium import (
    PageJournal,
    clean_tab,
    drawn,
    drop,
    in_a_browser,
    no_dialog,
    open_browser,
    poll,
    resize,
    see,
    show,
    sign_in,
)
from commands import PATIENCE, environment, key_in, new_key, rows, run_ok, running
from playwright.async_api import Page, expect

pytestmark = in_a_browser

A_FILE = "symbol,opened_at,quantity,entry_price,direction\nES,2026-03-02 10:00,1,5000,long\n"
STORED = "sessionStorage.length + localStorage.length"


class Start(NamedTuple):
    """A server that was started with `--first-key`, and what it printed."""

    journal: PageJournal
    link: str


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    db = tmp_path / "journal.db"
    with running(db, "--first-key") as server:
        printed = server.out.read_text()
        (link,) = re.findall(r"http://\S+/#code=\S+", printed)
        key = key_in(printed)
        with server.client(key) as client:
            yield Start(PageJournal(server, db, key, client), link)


async def key_of(page: Page) -> str:
    return str(await page.evaluate("sessionStorage.getItem('journal-key')"))


async def lead_to(page: Page, address: str) -> None:
    """Go to an address from the page of somebody else, as a link there does."""
    await page.goto("about:blank")
    await page.goto(address)


def new_user(db: Path) -> str:
    """A key of a new user."""
    run_ok("users", "add", "Ada", "--db", db)
    return new_key(db, "--user", "Ada")


async def enter_key(page: Page, key: str) -> None:
    await page.fill("#sign-in [name=key]", key)
    await page.keyboard.press("Enter")


async def lose_key(page: Page, journal: PageJournal) -> None:
    run_ok("keys", "revoke", "1", "--db", journal.db)
    await poll(page)
    await page.wait_for_selector("#sign-in")


def run_command(line: str) -> str:
    """What a command prints that is typed in a terminal."""
    return subprocess.check_output(shlex.split(line), env=environment(), text=True, timeout=PATIENCE).strip()


# By the link ---------------------------------------------------------------------------------------------


async def test_the_printed_link_signs_in_once_with_a_key_that_signing_out_revokes_and_no_history_holds(
    start: Start, tmp_path: Path
) -> None:
    journal, profile = start.journal, tmp_path / "profile"
    async with open_browser(profile) as browser, clean_tab(browser) as page:
        await page.goto(start.link)
        await drawn(page, "today")
        key, address = await key_of(page), page.url
        await show(page, "settings")
        await see(page, key[-4:], "#keys tr:has-text('this browser')")
        await see(page, "Chrome on Linux", "#keys tr:has-text('this browser')")
        await page.click("#sign-out")
        await page.wait_for_selector("#sign-in")
        await resize(page, 360)
        await lead_to(page, start.link)

        await see(page, "This link no longer signs in", "#sign-in .error")
        await see(page, "keys create page", "#sign-in code")
        command = await page.inner_text("#sign-in code")
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.url == address == f"{journal.server.url}/"
        await enter_key(page, run_command(command))
        await drawn(page, "today")
        await show(page, "settings")
        await page.click("#sign-out")
        await page.wait_for_selector("#sign-in")
        assert await page.evaluate(STORED) == 0

    remembered = [profile / "Default" / "History", *(profile / "Default" / "Sessions").glob("*")]
    assert key.startswith("tjk_")
    # What is looked through is where Chromium keeps addresses: the link is there.
    assert start.link.encode() in remembered[0].read_bytes()
    assert [file.name for file in remembered if key.encode() in file.read_bytes()] == []
    # A typed key is only forgotten.
    assert rows(journal.db, "SELECT name, revoked_at IS NULL FROM api_keys ORDER BY id") == [
        ("first key", 1),
        ("Chrome on Linux", 0),
        ("page", 1),
    ]


async def test_a_link_never_replaces_the_sign_in_of_another_user_without_a_question(
    page: Page, start: Start
) -> None:
    adas = new_user(start.journal.db)
    await sign_in(page, start.journal._replace(key=adas), "trades")

    await page.evaluate("address => { location = address; }", start.link)
    await see(page, f"You are signed in as Ada (key …{adas[-4:]}). Sign in as owner instead?", "dialog")
    await page.click("dialog button:text('Cancel')")
    assert (await key_of(page), page.url) == (adas, f"{start.journal.server.url}/#/trades")
    await page.evaluate("address => { location = address; }", start.link)
    await page.click("dialog button:text('Sign in as owner')")
    await page.wait_for_function("key => sessionStorage.getItem('journal-key') !== key", arg=adas)
    await drawn(page, "trades")
    await show(page, "settings")
    await see(page, "first key", "#keys")


async def test_a_link_changes_nothing_for_the_same_user_and_replaces_a_sign_in_that_no_longer_works(
    page: Page, start: Start
) -> None:
    journal = start.journal
    await sign_in(page, journal)
    async with page.expect_response("**/sign-in"):
        await lead_to(page, start.link)
    await drawn(page, "today")
    await no_dialog(page)
    assert await key_of(page) == journal.key
    assert rows(journal.db, "SELECT count(*) FROM api_keys") == [(1,)]

    run_ok("keys", "revoke", "1", "--db", journal.db)
    await page.evaluate("address => { location = address; }", start.link)
    await page.wait_for_function(
        "key => ![key, null].includes(sessionStorage.getItem('journal-key'))", arg=journal.key
    )
    await drawn(page, "today")


async def test_a_user_whom_the_proxy_names_signs_in_by_a_press(tmp_path: Path, page: Page) -> None:
    db = tmp_path / "journal.db"
    with running(db, JOURNAL_TRUSTED_PROXIES="127.0.0.1", JOURNAL_USER_HEADER="Remote-User") as server:
        await page.set_extra_http_headers({"Remote-User": "owner"})
        await page.goto(server.url)
        await page.click("#sign-in-by-proxy button:text('Sign in as owner')")
        await drawn(page, "today")
        await page.set_extra_http_headers({})
        await show(page, "settings")
        await page.click("#sign-out")
        await page.wait_for_selector("#sign-in")
        await expect(page.locator("#sign-in-by-proxy")).to_have_count(0)

    assert rows(db, "SELECT name, revoked_at IS NULL FROM api_keys") == [("Chrome on Linux", 0)]


# A sign-in that works stays ------------------------------------------------------------------------------


async def test_the_page_of_somebody_else_cannot_sign_the_owner_out(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal)

    for fragment in ("#key=x", "#key=abc%", "#code=x", "#code=abc%"):
        await lead_to(page, f"{journal.server.url}/{fragment}")
        await drawn(page, "today")
        if "code" in fragment:
            await see(page, "no longer signs in", "dialog[aria-label='You are still signed in']")
        assert page.url == f"{journal.server.url}/"
        assert await key_of(page) == journal.key


async def test_neither_a_key_in_the_address_nor_a_used_link_signs_anybody_in(
    page: Page, journal: PageJournal
) -> None:
    await lead_to(page, f"{journal.server.url}/#key={journal.key}")
    await page.wait_for_selector("#sign-in")
    assert page.url == f"{journal.server.url}/"
    assert await page.evaluate(STORED) == 0

    await sign_in(page, journal)
    run_ok("keys", "revoke", "1", "--db", journal.db)
    await page.evaluate("location.hash = '#code=x'")
    await see(page, "This link no longer signs in", "main #sign-in .error")
    await no_dialog(page)


async def test_a_key_revokes_itself_in_the_settings(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, "settings")
    await page.click("#keys tr:has-text('this browser') button")
    await see(page, "This browser is signed out.", "dialog")
    await page.click("dialog .danger")

    await page.wait_for_selector("#sign-in")
    assert rows(journal.db, "SELECT revoked_at IS NULL FROM api_keys") == [(0,)]


# Another key means a fresh page --------------------------------------------------------------------------


@pytest.mark.parametrize("is_same", [True, False], ids=["the same user", "another user"])
async def test_a_file_at_hand_is_found_again_by_the_same_user_alone(
    page: Page, journal: PageJournal, is_same: bool
) -> None:
    journal.create("/accounts", name="Main")
    await sign_in(page, journal, "import")
    await drop(page, "secret.csv", A_FILE)
    await see(page, "1 new")
    await lose_key(page, journal)

    await enter_key(page, new_key(journal.db) if is_same else new_user(journal.db))

    await drawn(page, "import")
    await see(page, "secret.csv" if is_same else "Drop files here")
    await expect(page.get_by_text("secret.csv")).to_have_count(int(is_same))
    await expect(page.locator("#import")).to_have_count(int(is_same))


async def test_a_tab_follows_when_another_tab_signs_in_as_another_user_and_out(
    page: Page, journal: PageJournal
) -> None:
    keep = "key => { sessionStorage.clear(); localStorage.setItem('journal-key', key); }"
    journal.create("/accounts", name="Main")
    await page.goto(f"{journal.server.url}/health")
    await page.evaluate(keep, journal.key)
    await page.goto(f"{journal.server.url}/#/import")
    await drawn(page, "import")
    await drop(page, "secret.csv", A_FILE)
    await see(page, "1 new")
    other = await page.context.new_page()
    await other.goto(f"{journal.server.url}/health")

    await other.evaluate(keep, new_user(journal.db))
    await see(page, "Drop files here")
    await expect(page.get_by_text("secret.csv")).to_have_count(0)

    await other.goto(f"{journal.server.url}/#/settings")
    await drawn(other, "settings")
    await other.click("#sign-out")
    await other.wait_for_selector("#sign-in")
    await page.wait_for_selector("#sign-in")
