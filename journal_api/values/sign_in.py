"""How a browser signs in: a one-time code of this run, the command that makes a key, the name of that key."""

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from typing import NamedTuple

from journal_api.values.api_keys import Hidden

MAX_AGE = 600.0  # seconds
KEY_COMMAND = "journal-api keys create page --scopes all"
# The first match counts: most browsers also name the ones that they are compatible with.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrome/": "Chrome",
    "CriOS/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iOS",
    "iPad": "iPadOS",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


class OneTimeCode:
    """A code that is valid once, for ten minutes. Only its hash is kept, in the memory of this process."""

    def __init__(self) -> None:
        self._hash, self._ends = Hidden(), 0.0

    def issue(self) -> str:
        code = secrets.token_urlsafe(32)
        self._hash, self._ends = hash_code(code), time.monotonic() + MAX_AGE
        return code

    def is_valid(self, text: str) -> bool:
        """Return whether the text is the code, and the code is neither used nor too old."""
        return compare_digest(self._hash, hash_code(text)) and time.monotonic() < self._ends

    @contextmanager
    def used(self) -> Iterator[None]:
        """Make the code invalid for the block, and for good unless the block fails."""
        code, self._hash = self._hash, Hidden()
        try:
            yield
        except BaseException:
            self._hash = code
            raise


class SignInOptions(NamedTuple):
    """What a browser signs in with: the code of the printed link, or the key that the command prints."""

    code: OneTimeCode
    command: str


def hash_code(code: str) -> Hidden:
    return Hidden(hashlib.sha256(code.encode()).digest())


def name_browser(user_agent: str) -> str:
    """Return a name such as `Firefox on Linux`; without a known browser it begins with `Browser`."""
    browser = next((name for mark, name in BROWSERS.items() if mark in user_agent), "Browser")
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), None)
    return f"{browser} on {system}" if system else browser
