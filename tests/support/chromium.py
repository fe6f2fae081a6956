"""The page in a real Chromium, driven by Playwright, as a person at a screen has it."""

import asyncio
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from commands import PATIENCE, Server, new_key, running
from factories import A_TRADE
from playwright.async_api import BrowserContext, ConsoleMessage, Dialog, Page, async_playwright, expect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# One process draws every page: a new process for each address takes a quarter more CPU.
FLAGS = [
    *("--lang=en-US", "--renderer-process-limit=1", "--disable-site-isolation-trials", "--in-process-gpu"),
    *("--no-proxy-server", "--host-resolver-rules=MAP *.example 127.0.0.1"),  # names of this machine
]
WAIT = 30_000  # milliseconds
ISO = "%Y-%m-%dT%H:%M:%SZ"
AXE = Path(__file__).parent.parent / "javascript/node_modules/axe-core/axe.min.js"
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

    def put(self, path: str, **body: Any) -> Any:
        return only_member(self.client.put(path, json=body))

    def delete(self, path: str) -> None:
        self.client.delete(path).raise_for_status()

    def add_trade(
        self, pnl: float = 10, at: str | None = "2026-01-05T10:00", minutes: int = 5, **fields: Any
    ) -> int:
        """Add a trade with that P&L that was opened at a time in UTC, or now, and closed after those minutes.

        It is of the first account, which is made if there is none.
        """
        account, *_ = self.read("/accounts") or [self.create("/accounts", name="Main")]
        opened = datetime.fromisoformat(at).replace(tzinfo=UTC) if at else datetime.now(UTC)
        times = {"opened_at": f"{opened:{ISO}}", "closed_at": f"{opened + timedelta(minutes=minutes):{ISO}}"}
        prices = {"entry_price": 10_000, "exit_price": 10_000 + pnl, "multiplier": 1}
        trade = {**A_TRADE, "account_id": account["id"], **prices, **times, **fields}
        return int(self.create("/trades", **trade)["id"])

    def add_tags(self, *names: str, **fields: Any) -> list[int]:
        """Add tags of a new category."""
        category = self.create("/tag-categories", name=f"Of {names[0]}")["id"]
        return [self.create("/tags", name=name, category_id=category, **fields)["id"] for name in names]

    def run_sql(self, sql: str, *values: Any) -> None:
        """Write to the file as another program does."""
        with closing(sqlite3.connect(self.db, timeout=PATIENCE)) as db, db:
            db.execute("PRAGMA wal_autocheckpoint = 0")  # the server alone checkpoints
            db.execute(sql, values)


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


async def see_all(page: Page, selector: str, *texts: str | re.Pattern[str]) -> None:
    """Wait until these are the texts of all such elements, with one blank in the place of several."""
    await expect(page.locator(selector)).to_have_text(texts, use_inner_text=True)


async def gone(page: Page, *selectors: str) -> None:
    """Wait until there is no such element."""
    for selector in selectors:
        await expect(page.locator(selector)).to_have_count(0)


async def press(page: Page, name: str, within: str = "body") -> None:
    """Press the button of that name, in the newest of several dialogs."""
    await page.locator(within).last.get_by_role("button", name=name, exact=True).click()


async def save(page: Page, form: str = "#edit") -> None:
    """Press the button of a dialog's form, and wait until the dialog is gone."""
    await page.click(f"{form} .primary")
    await no_dialog(page)


async def agree(page: Page, name: str, question: str = "") -> None:
    """Read the question of the newest dialog and press the button of that name; then no dialog is left."""
    await expect(page.locator("dialog").last).to_contain_text(question, use_inner_text=True)
    await press(page, name, "dialog")
    await no_dialog(page)


async def no_dialog(page: Page) -> None:
    await gone(page, "dialog")


async def choose(page: Page, selector: str, label: str) -> None:
    await page.select_option(selector, label=label)


async def values_of(page: Page, selector: str) -> list[str]:
    return await page.locator(selector).all_inner_texts()


async def press_keys(page: Page, *keys: str) -> None:
    for key in keys:
        await page.keyboard.press(key)


async def fill(page: Page, form: str, **typed: str) -> None:
    """Type into the fields of a form, by their names, whose dots are double underscores."""
    for name, text in typed.items():
        await page.fill(f"{form} [name='{name.replace('__', '.')}']", text)


async def poll(page: Page) -> None:
    """Let the page ask and draw at once, as when it is shown again and nothing was pressed for a while."""
    await page.evaluate("""() => {
        const long_ago = new Event("pointerdown");
        Object.defineProperty(long_ago, "timeStamp", { value: -1e6 });
        dispatchEvent(long_ago);
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    }""")


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


@asynccontextmanager
async def held(page: Page) -> AsyncIterator[None]:
    """Let all that the page asks wait until the end, as of a journal that is slow."""
    await page.evaluate("""() => {
        const real = fetch, gate = new Promise((open) => { window.release = open; });
        window.fetch = async (...request) => { await gate; return real(...request); };
    }""")
    yield
    await page.evaluate("window.release()")


@asynccontextmanager
async def away(page: Page) -> AsyncIterator[None]:
    """Let nothing that the page asks be answered until the end, as of a journal that has stopped."""
    await page.evaluate("() => { window.real = fetch; window.fetch = () => Promise.reject(); }")
    yield
    await page.evaluate("() => { window.fetch = window.real; }")


@asynccontextmanager
async def locale(page: Page, name: str) -> AsyncIterator[None]:
    """The browser of somebody in that locale, from the next page on."""
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setLocaleOverride", {"locale": name})
    yield
    await session.send("Emulation.setLocaleOverride", {})


async def find_violations(page: Page, *, dark: bool = False) -> list[str]:
    """What axe finds wrong with what is shown: all of its rules, in the dark those of contrast."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(f"{AXE.read_text()}\n; 0")
    await resize(page, 1280, dark=dark)
    found: list[str] = await page.evaluate(
        """(rules) => axe.run({ resultTypes: ["violations"], ...rules }).then(({ violations }) =>
            violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))""",
        {"runOnly": ["color-contrast"]} if dark else {},
    )
    return found


async def eventually(condition: Callable[[], Any]) -> None:
    """Wait until the journal holds what was saved."""
    for _ in range(WAIT // 20):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")


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
