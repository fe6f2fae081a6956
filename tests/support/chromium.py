"""The page in a real Chromium, driven by Playwright, as a person at a screen has it."""

import asyncio
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from commands import PATIENCE, Server
from factories import A_TRADE, unwrap
from playwright.async_api import BrowserContext, ConsoleMessage, Dialog, Page, ViewportSize, async_playwright, expect

# Debian's shell is the same engine without the windows of a browser: a page takes it a third less CPU.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
# One process draws every page: a new process for each address takes a quarter more CPU.
FLAGS = [
    *("--lang=en-US", "--renderer-process-limit=1", "--disable-site-isolation-trials", "--in-process-gpu"),
    *("--no-proxy-server", "--host-resolver-rules=MAP *.example 127.0.0.1"),  # names of this machine
]
WAIT = PATIENCE * 1000  # milliseconds
BLANK = "about:blank"
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
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
        return unwrap(self.client.post(path, json=body))

    def read(self, path: str, **query: Any) -> Any:
        return unwrap(self.client.get(path, params=query))

    def import_file(self, content: str, **query: Any) -> Any:
        headers = {"Content-Type": "text/csv"}
        params = {"timezone": "UTC", **query}
        return unwrap(self.client.post("/imports", params=params, content=content, headers=headers))

    def patch(self, path: str, **body: Any) -> Any:
        return unwrap(self.client.patch(path, json=body))

    def put(self, path: str, **body: Any) -> Any:
        return unwrap(self.client.put(path, json=body))

    def delete(self, path: str) -> None:
        self.client.delete(path).raise_for_status()

    def add_trade(self, pnl: float = 10, at: str | None = "2026-01-05T10:00", minutes: int = 5, **fields: Any) -> int:
        """Add a trade with that P&L that was opened at a time in UTC, or now, and closed after those minutes.

        It is of the first account, which is made if there is none.
        """
        accounts = self.read("/accounts") or [self.create("/accounts", name="Main")]
        account_id = min(one["id"] for one in accounts)
        opened = datetime.fromisoformat(at).replace(tzinfo=UTC) if at else datetime.now(UTC)
        times = {"opened_at": f"{opened:{ISO}}", "closed_at": f"{opened + timedelta(minutes=minutes):{ISO}}"}
        prices = {"entry_price": 10_000, "exit_price": 10_000 + pnl, "multiplier": 1}
        trade = {**A_TRADE, "account_id": account_id, **prices, **times, **fields}
        return int(self.create("/trades", **trade)["id"])

    def add_tags(self, *names: str, **fields: Any) -> list[int]:
        """Add tags of a new category."""
        category = self.create("/tag-categories", name=names[0])["id"]
        return [self.create("/tags", name=name, category_id=category, **fields)["id"] for name in names]

    def run_sql(self, sql: str, *values: Any) -> None:
        """Write to the file as another program does."""
        with closing(sqlite3.connect(self.db, timeout=PATIENCE)) as db, db:
            db.execute("PRAGMA wal_autocheckpoint = 0")  # the server alone checkpoints
            db.execute(sql, values)


class Browser(NamedTuple):
    """A browser, and what its console said since the test began."""

    context: BrowserContext
    complaints: list[str]


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """Start a browser that has been nowhere and writes nothing to disk. Its first tab serves all tests."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = await browser.new_context(viewport=VIEWPORT, reduced_motion="reduce")
        context.set_default_timeout(WAIT)
        complaints = list[str]()

        def note_message(message: ConsoleMessage) -> None:
            # The page shows a response with an error; the console repeats it. It says what a policy has refused.
            if message.type == "error" and not message.text.startswith("Failed to load resource"):
                complaints.append(message.text)

        context.on("console", note_message)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("dialog", accept)
        await context.new_page()
        yield Browser(context, complaints)
        await browser.close()


async def accept(dialog: Dialog) -> None:
    """Leave a page although its text is not saved."""
    await dialog.accept()


class Tab:
    """A tab of the browser: Playwright's page, and what a person does in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.is_changed = False  # how it looks, until the end of the test

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)

    # Where it is

    async def sign_in(self, journal: PageJournal, place: str = "today") -> None:
        """Open a view with the key in the tab, instead of typing it before each test."""
        if self.page.url != BLANK:  # at the same address another fragment would be no new page
            await self.page.goto(BLANK)
        async with await self.page.add_init_script(f"sessionStorage.setItem('journal-key', '{journal.key}')"):
            await self.page.goto(f"{journal.server.url}/#/{place}")
        await self.drawn(re.split("[/?]", place)[0])

    async def show(self, place: str) -> None:
        """Go to a view, with a query perhaps, and wait until it is drawn."""
        await self.page.evaluate(
            """place => new Promise((done) => {
                if (location.hash === place) return done();
                addEventListener("hashchange", () => done(), { once: true });
                location.hash = place;
            })""",
            f"#/{place}",
        )
        await self.drawn(re.split("[/?]", place)[0])

    async def drawn(self, view: str) -> None:
        await self.page.wait_for_selector(f"main[data-view={view}][aria-busy=false]:not(:has(progress))")

    async def resize(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        await self.emulate(color_scheme="dark" if dark else "light")
        await self.page.set_viewport_size({"width": width, "height": height})

    async def emulate(self, **media: Any) -> None:
        self.is_changed = True
        await self.page.emulate_media(**media)

    # What is seen: each waits until it is so

    async def see(self, text: str | re.Pattern[str], within: str = "body") -> None:
        await expect(self.page.locator(within).first).to_contain_text(text, use_inner_text=True)

    async def see_all(self, selector: str, *texts: str | re.Pattern[str]) -> None:
        """These are the texts of all such elements, with one blank in the place of several."""
        await expect(self.page.locator(selector)).to_have_text(texts, use_inner_text=True)

    async def count(self, selector: str, number: int) -> None:
        await expect(self.page.locator(selector)).to_have_count(number)

    async def gone(self, *selectors: str) -> None:
        for selector in selectors:
            await self.count(selector, 0)

    async def hidden(self, *selectors: str) -> None:
        for selector in selectors:
            await expect(self.page.locator(selector)).to_be_hidden()

    async def holds(self, selector: str, value: str) -> None:
        """A field has that value."""
        await expect(self.page.locator(selector)).to_have_value(value)

    async def focused(self, selector: str) -> None:
        await expect(self.page.locator(selector)).to_be_focused()

    async def no_dialog(self) -> None:
        await self.gone("dialog")

    # What is done

    async def press(self, name: str, within: str = "body") -> None:
        """Press the button of that name, in the newest of several dialogs."""
        await self.page.locator(within).last.get_by_role("button", name=name, exact=True).click()

    async def send(self, form: str, **typed: str) -> None:
        """Fill in a form, and press its button."""
        await self.fill_in(form, **typed)
        await self.page.click(f"{form} .primary")

    async def save(self, form: str = "#edit", **typed: str) -> None:
        """Send the form of a dialog; then no dialog is left."""
        await self.send(form, **typed)
        await self.no_dialog()

    async def agree(self, name: str, question: str = "") -> None:
        """Read the question of the newest dialog, and press that button; then no dialog is left."""
        await expect(self.page.locator("dialog").last).to_contain_text(question, use_inner_text=True)
        await self.press(name, "dialog")
        await self.no_dialog()

    async def choose(self, selector: str, label: str) -> None:
        await self.page.select_option(selector, label=label)

    async def keys(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)

    async def type(self, selector: str, text: str) -> None:
        """Type into a field, key by key, and stay in it."""
        await self.page.focus(selector)
        await self.page.keyboard.type(text)

    async def enter(self, selector: str, text: str, key: str = "Tab") -> None:
        """Replace what is in a field, and leave it by that key."""
        await self.page.fill(selector, text)
        await self.page.keyboard.press(key)

    async def fill_in(self, form: str, **typed: str) -> None:
        """Replace what is in the fields of a form, by their names, whose dots are double underscores."""
        for name, text in typed.items():
            await self.page.fill(f"{form} [name='{name.replace('__', '.')}']", text)

    async def drop(self, name: str, content: str, **others: str) -> None:
        """Drop files on the view of imports: one, and others by their names without `.csv`."""
        files = [[name, content], *([f"{other}.csv", text] for other, text in others.items())]
        await self.page.locator(".drop").evaluate(
            """(zone, files) => {
                const dataTransfer = new DataTransfer();
                for (const [name, content] of files) dataTransfer.items.add(new File([content], name));
                zone.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
            }""",
            files,
        )

    # What happens to it

    async def poll(self) -> None:
        """Ask and draw at once, as a page does that is shown again after nothing was pressed for a while."""
        await self.page.evaluate("""() => {
            const longAgo = new Event("pointerdown");
            Object.defineProperty(longAgo, "timeStamp", { value: -1e6 });
            dispatchEvent(longAgo);
            document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
        }""")

    @asynccontextmanager
    async def followed(self) -> AsyncIterator[None]:
        """Wait until what changes meanwhile has been read, and the page waits for the next change."""
        async with self.page.expect_request(lambda one: "/changes?" in one.url and "wait=25" in one.url):
            yield

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Let all that the page asks wait until the end, as of a journal that is slow."""
        await self.page.evaluate("""() => {
            const real = fetch, gate = new Promise((open) => { window.release = open; });
            window.fetch = async (...request) => { await gate; return real(...request); };
        }""")
        yield
        await self.page.evaluate("window.release()")

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """Let nothing that the page asks be answered until the end, as of a journal that has stopped."""
        await self.page.evaluate("() => { window.real = fetch; window.fetch = () => Promise.reject(); }")
        yield
        await self.page.evaluate("() => { window.fetch = window.real; }")

    @asynccontextmanager
    async def locale(self, name: str) -> AsyncIterator[None]:
        """The browser of somebody in that locale, from the next page on."""
        session = await self.page.context.new_cdp_session(self.page)
        await session.send("Emulation.setLocaleOverride", {"locale": name})
        yield
        await session.send("Emulation.setLocaleOverride", {})

    async def find_violations(self, *, dark: bool = False) -> set[str]:
        """What axe finds wrong with what is shown: by all of its rules, in the dark by those of contrast.

        Nothing where npm has not installed it.
        """
        if not AXE.exists():
            return set()
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(f"{AXE.read_text()}\n; 0")
        await self.emulate(color_scheme="dark" if dark else "light")
        found = await self.page.evaluate(
            """(rules) => axe.run({ resultTypes: ["violations"], ...rules }).then(({ violations }) =>
                violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))""",
            {"runOnly": ["color-contrast"]} if dark else {},
        )
        return set(found)


@asynccontextmanager
async def clean_tab(browser: Browser) -> AsyncIterator[Tab]:
    """Lend the first tab. At its end the console is clean."""
    tab, *others = browser.context.pages
    for other in others:
        await other.close()
    browser.complaints.clear()
    lent = Tab(tab)
    yield lent
    if lent.is_changed:
        await lent.emulate(media="screen")
        await lent.resize(**VIEWPORT)
    if tab.url.startswith("http"):
        await tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    await tab.goto(BLANK)
    assert browser.complaints == []


async def eventually(condition: Callable[[], Any]) -> None:
    """Wait until the journal holds what was saved."""
    for _ in range(WAIT // 20):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came")
