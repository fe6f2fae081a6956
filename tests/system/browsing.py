"""The page at / as somebody at a screen has it: a real Chromium, driven by selenium."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import PATIENCE, Server
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"),
    *("--no-first-run", "--disable-quic", "--disable-sync", "--lang=en-US"),
    *("--disable-background-networking", "--disable-component-update", "--no-proxy-server"),
]
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="there is no Chromium with its driver on this machine"
)


@contextmanager
def chromium(profile: Path) -> Iterator[Chrome]:
    """A browser without a window."""
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # With the path of the driver given, selenium does not look for a driver, here or elsewhere.
    service = Service(str(DRIVER), env={**os.environ, "SE_OFFLINE": "true"}, log_output=subprocess.DEVNULL)
    browser = Chrome(options, service)
    try:
        yield browser
    finally:
        browser.quit()


class Page:
    """The page, signed in."""

    def __init__(self, browser: Chrome, server: Server, key: str) -> None:
        self.browser, self.url = browser, server.url
        browser.get(f"{server.url}/#key={key}")
        self.wait_for("header nav")

    def open(self, place: str) -> None:
        """Go to a view and wait until it is drawn."""
        view = place.split("?")[0]
        self.browser.execute_script("location.hash = arguments[0]", f"#/{place}")
        self.wait_for(f'main[data-view="{view}"][aria-busy="false"] > *')

    def wait_for(self, selector: str, text: str = "") -> WebElement:
        """The first such element that can be seen and has the text."""

        def seen(browser: Chrome) -> WebElement | None:
            elements = browser.find_elements(By.CSS_SELECTOR, selector)
            return next((one for one in elements if one.is_displayed() and text in one.text), None)

        waiting = WebDriverWait(self.browser, PATIENCE, ignored_exceptions=[StaleElementReferenceException])
        found: WebElement = waiting.until(seen)
        return found

    def click(self, selector: str, text: str = "") -> None:
        self.browser.execute_script("arguments[0].click()", self.wait_for(selector, text))

    def press(self, *keys: str) -> None:
        """Press keys one after another, wherever the focus is."""
        ActionChains(self.browser).send_keys(*keys).perform()

    def press_with(self, modifier: str, key: str) -> None:
        ActionChains(self.browser).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def texts(self, selector: str) -> list[str]:
        return [one.text for one in self.browser.find_elements(By.CSS_SELECTOR, selector)]

    def count(self, selector: str) -> int:
        return len(self.browser.find_elements(By.CSS_SELECTOR, selector))

    def complaints(self) -> list[Any]:
        """What the console says: errors of scripts, and what the policy refused."""
        entries: list[Any] = self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        return entries
