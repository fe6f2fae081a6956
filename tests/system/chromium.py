"""The page in a real Chromium, as a person at a screen has it."""

import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from commands import PATIENCE, Server, new_key, running
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-US"),
    *("--no-first-run", "--disable-quic", "--disable-sync", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--no-proxy-server"),
    # One process draws every page: a new process for each address takes a quarter more CPU.
    *("--renderer-process-limit=1", "--disable-site-isolation-trials", "--in-process-gpu"),
    *("--disable-features=BackForwardCache,SpareRendererForSitePerProcess", "--disable-extensions"),
]
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="there is no Chromium with its driver on this machine"
)


class Page:
    """The page of a running journal in one tab."""

    def __init__(self, browser: Chrome, url: str) -> None:
        self.browser, self.url = browser, url

    def sign_in(self, key: str) -> None:
        """Open the page in a tab that has the key, instead of typing it before each test."""
        self.browser.get(f"{self.url}/health")
        self.browser.execute_script("sessionStorage.setItem('journal-key', arguments[0])", key)
        self.browser.get(f"{self.url}/")
        self.wait_for_view("today")

    def show(self, view: str, query: str = "") -> None:
        """Go to a view and wait until it is drawn."""
        self.browser.execute_script("location.hash = arguments[0]", f"#/{view}{query}")
        self.wait_for_view(view)

    def wait_for_view(self, view: str) -> None:
        self.wait(lambda: self.drawn_view() == view, f"the view {view}")

    def drawn_view(self) -> str | None:
        """The name of the view, None while it is being drawn or is that of another address."""
        view: str | None = self.browser.execute_script("""
            const main = document.querySelector("main");
            const [, name] = location.hash.match(/^#[/]([a-z]+)/) ?? [];
            const isDrawn = main.getAttribute("aria-busy") === "false" && !main.querySelector("progress");
            return isDrawn && (!name || main.dataset.view === name || main.dataset.view === "sign-in") ?
                main.dataset.view : null;
        """)
        return view

    def wait(self, condition: Callable[[], Any], what: str = "it") -> Any:
        """What the condition returns, once that is true."""
        deadline = time.monotonic() + PATIENCE / 4
        while not (value := condition()):
            assert time.monotonic() < deadline, f"never came: {what}\n{self.text()[:2000]}"
            time.sleep(0.03)
        return value

    def wait_for_text(self, text: str) -> None:
        self.wait(lambda: text in self.text(), text)

    def text(self) -> str:
        """All that can be read, dialogs included."""
        return str(self.browser.execute_script("return document.body.innerText"))

    def find(self, selector: str) -> WebElement:
        """The first such element, once it can be seen."""
        element: WebElement = self.wait(
            lambda: next((one for one in self.all(selector) if one.is_displayed()), None), selector
        )
        return element

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def click(self, selector: str) -> None:
        self.find(selector).click()

    def click_at_the_edge(self, selector: str) -> None:
        """Click two pixels above the lower edge: a button that moves between press and release is missed."""
        button = self.find(selector)
        edge = button.size["height"] // 2 - 2
        ActionChains(self.browser).move_to_element_with_offset(button, 0, edge).click().perform()

    def fill(self, name: str, value: str, within: str = "form") -> None:
        """Type a value into the control of that name, or choose it."""
        control = self.find(f"{within} [name={name}]")
        if control.tag_name == "input":
            control.clear()
        control.send_keys(value)

    def retype(self, name: str, value: str, within: str = "form") -> None:
        """Type over what a control holds, and stay in it: `clear` of `fill` would leave it first."""
        self.find(f"{within} [name={name}]").send_keys(Keys.CONTROL, "a", Keys.NULL, value)

    def tab_to(self, selector: str) -> None:
        """Press Tab until such an element has the focus."""
        for _ in range(80):
            self.press(Keys.TAB)
            if self.browser.execute_script("return document.activeElement.matches(arguments[0])", selector):
                return
        raise AssertionError(f"no Tab leads to {selector}")

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        ActionChains(self.browser).send_keys(*keys).perform()

    def poll(self) -> None:
        """What the page does every ten seconds."""
        self.browser.execute_script("document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))")

    def drop(self, name: str, content: str) -> None:
        """Drop a file on the view of imports."""
        self.find(".drop")
        self.browser.execute_script(
            """
            const files = new DataTransfer();
            files.items.add(new File([arguments[1]], arguments[0]));
            const event = new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: files});
            document.querySelector(".drop").dispatchEvent(event);
            """,
            name,
            content,
        )

    def complaints(self) -> list[str]:
        """What stands in the console, except for responses with an error, which the page shows."""
        log: list[Any] = self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        return [entry["message"] for entry in log if entry["source"] != "network"]

    def requests(self) -> list[str]:
        """The addresses that the page requested since the last call."""
        log: list[Any] = self.browser.get_log("performance")  # type: ignore[no-untyped-call]
        messages = [json.loads(entry["message"])["message"] for entry in log]
        sent = [one["params"] for one in messages if one["method"] == "Network.requestWillBeSent"]
        return [one["request"]["url"] for one in sent if one["documentURL"].startswith(self.url)]

    def statuses(self) -> list[int]:
        """The statuses of the service's answers to the page since the last call."""
        log: list[Any] = self.browser.get_log("performance")  # type: ignore[no-untyped-call]
        messages = [json.loads(entry["message"])["message"] for entry in log]
        received = [
            one["params"]["response"] for one in messages if one["method"] == "Network.responseReceived"
        ]
        return [one["status"] for one in received if "/v1/" in one["url"]]

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """Give the page this many pixels and the theme, whose colours are there at once."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme, motion]})

    def leave(self) -> None:
        """Leave the tab to the next test as it was when the browser started."""
        self.browser.execute_script("sessionStorage.clear(); localStorage.clear()")
        self.browser.get("about:blank")
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)  # type: ignore[no-untyped-call]


@contextmanager
def browser_with(profile: Path) -> Iterator[Chrome]:
    """A browser that has been nowhere."""
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # With the driver's path said, selenium looks for none, here or elsewhere.
    service = Service(str(DRIVER), env={**os.environ, "SE_OFFLINE": "true"}, log_output=subprocess.DEVNULL)
    browser = Chrome(options, service)
    try:
        yield browser
    finally:
        browser.quit()


class PageJournal(NamedTuple):
    """A running journal, its file, its one key, which has the id 1, and a client with that key."""

    server: Server
    db: Path
    key: str
    client: httpx.Client


def create(client: httpx.Client, path: str, **body: Any) -> Any:
    """The single member of the response's data."""
    response = client.post(path, json=body)
    assert response.is_success, response.text
    (member,) = response.json()["data"].values()
    return member


def stored(client: httpx.Client, path: str, **query: Any) -> Any:
    (member,) = client.get(path, params=query).raise_for_status().json()["data"].values()
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
