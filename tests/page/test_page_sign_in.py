"""Signing in and out of the page, by a link with a one-time code and by a key (docs/page.md)."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import PageJournal, Tab, in_a_browser
from commands import PATIENCE, environment, key_in, new_key, rows, run_ok, running

pytestmark = in_a_browser

A_FILE = "symbol,opened_at,quantity,entry_price,direction\nES,2026-03-02 10:00,1,5000,long\n"
STORED = "sessionStorage.length + localStorage.length"
GO = "address => { location = address; }"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[tuple[PageJournal, str]]:
    """A journal whose server was started with `--first-key` behind a proxy, and the link that it printed."""
    db = tmp_path / "journal.db"
    with running(db, "--first-key", JOURNAL_TRUSTED_PROXIES="127.0.0.1", JOURNAL_USER_HEADER="Remote-User") as server:
        printed = server.out.read_text()
        (link,) = re.findall(r"http://\S+/#code=\S+", printed)
        key = key_in(printed)
        with server.client(key) as client:
            yield PageJournal(server, db, key, client), link


async def key_of(page: Tab) -> str:
    return str(await page.evaluate("sessionStorage.getItem('journal-key')"))


async def lead_to(page: Tab, address: str) -> None:
    """Go to an address from the page of somebody else, as a link there does."""
    await page.goto("about:blank")
    await page.goto(address)


async def sign_out(page: Tab) -> None:
    await page.show("settings")
    await page.press("Sign out")
    await page.wait_for_selector("#sign-in")


def new_user(db: Path, name: str = "Ada") -> str:
    """A key of a new user."""
    run_ok("users", "add", name, "--db", db)
    return new_key(db, "--user", name)


def run_command(line: str) -> str:
    return subprocess.check_output(shlex.split(line), env=environment(), text=True, timeout=PATIENCE).strip()


async def test_the_printed_link_signs_in_once_and_over_no_other_user(page: Tab, start: tuple[PageJournal, str]) -> None:
    journal, link = start
    adas, visited = new_user(journal.db), list[str]()
    page.on("framenavigated", lambda frame: visited.append(frame.url))
    await page.sign_in(journal)
    async with page.expect_response("**/sign-in"):
        await page.evaluate(GO, link)
    assert await key_of(page) == journal.key  # it changes nothing for the same user
    await page.sign_in(journal._replace(key=adas), "trades")
    await page.evaluate(GO, link)
    question = f"You are signed in as Ada (key …{adas[-4:]}). Sign in as owner instead?"
    await page.agree("Cancel", question)
    assert (await key_of(page), page.url) == (adas, f"{journal.server.url}/#/trades")
    await page.evaluate(GO, link)
    await page.press("Sign in as owner", "dialog")
    await page.wait_for_function("key => sessionStorage.getItem('journal-key') !== key", arg=adas)
    await page.drawn("trades")
    await page.show("settings")
    key = await key_of(page)
    await page.see(key[-4:], "#keys tr:has-text('this browser')")
    await sign_out(page)
    await page.resize(360)
    await lead_to(page, link)
    await page.see("This link no longer signs in", "#sign-in .error")
    await page.see("keys create page", "#sign-in code")
    command = await page.inner_text("#sign-in code")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    await page.enter("#sign-in [name=key]", run_command(command), "Enter")
    await page.drawn("today")
    await sign_out(page)
    assert await page.evaluate(STORED) == 0
    await page.set_extra_http_headers({"Remote-User": "owner"})
    await lead_to(page, journal.server.url)
    await page.press("Sign in as owner", "#sign-in-by-proxy")
    await page.drawn("today")
    await page.set_extra_http_headers({})
    await sign_out(page)
    await page.gone("#sign-in-by-proxy")
    assert link in visited  # its code has been used; no key is among what the browser remembers of its way
    assert [url for url in visited if "tjk_" in url] == []
    # A typed key is only forgotten.
    keys = "SELECT name, revoked_at IS NULL FROM api_keys WHERE user_id = 1 ORDER BY id"
    assert rows(journal.db, keys) == [
        ("first key", 1), ("Chrome on Linux", 0), ("page", 1), ("Chrome on Linux", 0)
    ]  # fmt: skip


async def test_no_page_of_somebody_else_signs_in_or_out(page: Tab, page_journal: PageJournal) -> None:
    await lead_to(page, f"{page_journal.server.url}/#key={page_journal.key}")
    await page.wait_for_selector("#sign-in")
    assert page.url == f"{page_journal.server.url}/"
    assert await page.evaluate(STORED) == 0
    await page.sign_in(page_journal)
    await page.evaluate(GO, f"{page_journal.server.url}/#key=abc%")
    await lead_to(page, f"{page_journal.server.url}/#code=abc%")
    await page.see("no longer signs in", "dialog[aria-label='You are still signed in']")
    assert (page.url, await key_of(page)) == (f"{page_journal.server.url}/", page_journal.key)
    await page.press("Close", "dialog")
    await page.show("settings")
    await page.click("#keys tr:has-text('this browser') button")
    await page.see("This browser is signed out.", "dialog")
    await page.click("dialog .danger")
    await page.wait_for_selector("#sign-in")
    assert rows(page_journal.db, "SELECT revoked_at IS NULL FROM api_keys") == [(0,)]


async def test_a_file_is_found_again_by_the_same_user_alone(page: Tab, page_journal: PageJournal) -> None:
    keep = "key => { sessionStorage.clear(); localStorage.setItem('journal-key', key); }"
    page_journal.create("/accounts", name="Main")
    await page.sign_in(page_journal, "import")
    await page.drop("secret.csv", A_FILE)
    await page.see("1 new")
    key = new_key(page_journal.db)
    page_journal.delete("/keys/1")
    await page.enter("#sign-in [name=key]", key, "Enter")
    await page.drawn("import")
    await page.see("secret.csv")
    await page.count("#import", 1)
    other = Tab(await page.context.new_page())
    await other.goto(f"{page_journal.server.url}/health")
    await page.evaluate(keep, key)
    await other.evaluate(keep, new_user(page_journal.db))
    await page.see("Drop files here")
    await page.gone(":text('secret.csv')", "#import")
