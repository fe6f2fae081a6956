"""The page in a real Chromium, driven by Playwright, as a person at a screen has it."""

import asyncio
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from commands import PATIENCE, Server, new_key, running
from playwright.async_api import BrowserContext, ConsoleMessage, Dialog, Page, async_playwright, expect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# One process draws every page: a new process for each address takes a quarter more CPU.
FLAGS = [
    *("--lang=en-US", "--renderer-process-limit=1", "--disable-site-isolation-trials", "--in-process-gpu"),
    *("--no-proxy-server", "--host-resolver-rules=MAP *.example 127.0.0.1"),  # names of this machine
]
WAIT = 30_000  # milliseconds
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
expect.set_options(timeout=WAIT)


class PageJournal(NamedTuple):
    """A running journal, its file, its one key, which has the id 1, and a client with that key."""

    server: Server
    db: Path
    key: str
    client: httpx.Client

    def create(self, path: str, **body: Any) -> Any:
        """Return what was created."""
        return only_member(self.client.post(path, json=body))

    def read(self, path: str, **query: Any) -> Any:
        return only_member(self.client.get(path, params=query))

    def import_file(self, content: str, **query: Any) -> Any:
        headers = {"Content-Type": "text/csv"}
        params = {"timezone": "UTC", **query}
        return only_member(self.client.post("/imports", params=params, content=content, headers=headers))

    def patch(self, path: str, **body: Any) -> Any:
        return only_member(self.client.patch(path, json=body))


def only_member(response: httpx.Response) -> Any:
    """Return the single member of the response's data."""
    assert response.is_success, response.text
    (member,) = response.json()["data"].values()
    return member


class SharedServer(NamedTuple):
    """A running journal for many tests, and the file that it began with.

    The tests of the page do not start a server each: for one address the browser keeps the files of the page.
    """

    server: Server
    db: Path
    key: str
    template: Path

    def empty(self) -> None:
        """Put back what the file began with, as another program may write beside the server."""
        with (
            closing(sqlite3.connect(self.template)) as template,
            closing(sqlite3.connect(self.db, timeout=PATIENCE)) as db,
        ):
            db.execute("PRAGMA wal_autocheckpoint = 0")  # the server alone checkpoints
            template.backup(db)


@contextmanager
def shared_server_in(folder: Path) -> Iterator[SharedServer]:
    template, db = folder / "template.db", folder / "journal.db"
    key = new_key(template)
    shutil.copy(template, db)
    with running(db) as server:
        yield SharedServer(server, db, key, template)


@asynccontextmanager
async def open_browser(profile: Path) -> AsyncIterator[BrowserContext]:
    """Start a browser that has been nowhere. Its first tab serves all tests."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=FLAGS, reduced_motion="reduce"
        )
        browser.set_default_timeout(WAIT)
        browser.on("dialog", accept)
        yield browser
        await browser.close()


async def accept(dialog: Dialog) -> None:
    """Leave a page although its text is not saved."""
    await dialog.accept()


@asynccontextmanager
async def clean_tab(browser: BrowserContext) -> AsyncIterator[Page]:
    """Lend the first tab. At its end the console is clean, and nothing was requested from elsewhere."""
    page, complaints = browser.pages[0], list[str]()

    def note_message(message: ConsoleMessage) -> None:
        # The page shows a response with an error; the console repeats it.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            complaints.append(message.text)

    def note_request(request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.", "data:", "blob:http://127.0.0.")):
            complaints.append(request.url)

    def note_error(error: Exception) -> None:
        complaints.append(str(error))

    listeners: list[tuple[Any, Any]] = [
        ("console", note_message), ("request", note_request), ("pageerror", note_error)
    ]  # fmt: skip
    await resize(page, 1280, 900)
    for event, listener in listeners:
        page.on(event, listener)
    yield page
    for event, listener in listeners:
        page.remove_listener(event, listener)
    for other in browser.pages[1:]:
        await other.close()
    if page.url.startswith("http"):
        await page.evaluate("localStorage.clear(); sessionStorage.clear()")
    await page.goto("about:blank")
    assert complaints == []


# What a person does --------------------------------------------------------------------------------------


async def sign_in(page: Page, journal: PageJournal, place: str = "today") -> None:
    """Open a view in a tab that has the key, instead of typing it before each test."""
    await page.goto(f"{journal.server.url}/health")
    await page.evaluate("key => sessionStorage.setItem('journal-key', key)", journal.key)
    await page.goto(f"{journal.server.url}/#/{place}")
    await drawn(page, re.split("[/?]", place)[0])


async def show(page: Page, place: str) -> None:
    """Go to a view, with a query perhaps, and wait until it is drawn."""
    await page.evaluate(
        """place => new Promise((done) => {
            if (location.hash === place) return done();
            addEventListener("hashchange", () => done(), { once: true });
            location.hash = place;
        })""",
        f"#/{place}",
    )
    await drawn(page, re.split("[/?]", place)[0])


async def drawn(page: Page, view: str) -> None:
    await page.wait_for_selector(f"main[data-view={view}][aria-busy=false]:not(:has(progress))")


async def see(page: Page, text: str, within: str = "body") -> None:
    """Wait until the text can be read."""
    await expect(page.locator(within).first).to_contain_text(text, use_inner_text=True)


async def save(page: Page, form: str = "#edit") -> None:
    """Press the button of a dialog's form, and wait until the dialog is gone."""
    await page.click(f"{form} .primary")
    await no_dialog(page)


async def no_dialog(page: Page) -> None:
    await expect(page.locator("dialog")).to_have_count(0)


async def choose(page: Page, selector: str, label: str) -> None:
    await page.select_option(selector, label=label)


async def values_of(page: Page, selector: str) -> list[str]:
    return [await one.inner_text() for one in await page.locator(selector).all()]


async def poll(page: Page) -> None:
    """Let the page ask at once, as when it is shown again; by itself it asks again after a pause."""
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))")


async def drop(page: Page, name: str, content: str, **others: str) -> None:
    """Drop files on the view of imports: one, and others by their names without `.csv`."""
    files = [[name, content], *([f"{other}.csv", text] for other, text in others.items())]
    await page.locator(".drop").evaluate(
        """(zone, files) => {
            const dataTransfer = new DataTransfer();
            for (const [name, content] of files) dataTransfer.items.add(new File([content], name));
            zone.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
        }""",
        files,
    )


async def resize(page: Page, width: int, height: int = 900, *, dark: bool = False) -> None:
    await page.set_viewport_size({"width": width, "height": height})
    await page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")


async def delay(page: Page, milliseconds: int) -> None:
    """Let every answer take that long, until the tab leaves the journal."""
    await page.evaluate(
        """milliseconds => {
            const real = window.fetch;
            window.fetch = async (...request) => {
                await new Promise((done) => setTimeout(done, milliseconds));
                return real(...request);
            };
        }""",
        milliseconds,
    )


async def eventually(condition: Callable[[], Any]) -> None:
    """Wait until the journal holds what was saved."""
    for _ in range(WAIT // 20):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")
