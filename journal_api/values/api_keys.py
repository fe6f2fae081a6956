"""API keys: `tjk_`, 30 random base62 characters, and 6 that check what precedes them (DECISIONS 6)."""

import hashlib
import re
import secrets
import string
import zlib
from hmac import compare_digest
from typing import Self

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
PREFIX = "tjk_"
RANDOM_LENGTH = 30
CHECK_LENGTH = 6
FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM_LENGTH + CHECK_LENGTH}}}")

RESOURCES = ("tags", "strategies", "goals", "accounts", "copy_groups", "trades", "settings")
SCOPES = tuple(f"{action}:{resource}" for resource in RESOURCES for action in ("read", "write"))


class Hidden(bytes):
    """A value that no log and no traceback shows."""

    def __repr__(self) -> str:
        return "<hidden>"

    __str__ = __repr__


class RunKey(Hidden):
    """The SHA-256 of a key for one run, and how long that key is; the key itself is not kept."""

    length: int

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, hashlib.sha256(text.encode()).digest())
        made.length = len(text)
        return made

    def matches(self, text: str) -> bool:
        return compare_digest(self, hashlib.sha256(text.encode()).digest())

    def is_in(self, text: str) -> bool:
        """Whether the key stands anywhere in the text."""
        starts = range(len(text) - self.length + 1)
        return any(self.matches(text[start : start + self.length]) for start in starts)


def new_key() -> str:
    """A fresh key, with 178 bits of chance in it."""
    body = PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + _check(body)


def is_well_formed(key: str) -> bool:
    """Whether the key could have been issued; told without asking the database."""
    return FORM.fullmatch(key) is not None and _check(key[:-CHECK_LENGTH]) == key[-CHECK_LENGTH:]


def is_in(text: str, run_key: RunKey | None) -> bool:
    """Whether a key, or the beginning of one, stands in a text that a client made up: it must not be kept."""
    return PREFIX in text or (run_key is not None and run_key.is_in(text))


def hashed(key: str) -> bytes:
    """What is stored of a key. It is random enough that a plain SHA-256 cannot be turned back."""
    return hashlib.sha256(key.encode("ascii")).digest()


def scopes_named(text: str) -> list[str]:
    """The scopes of `all`, `read` or a list with commas, in the order of SCOPES; raises ValueError."""
    if text == "all":
        return list(SCOPES)
    if text == "read":
        return [scope for scope in SCOPES if scope.startswith("read:")]
    named = [word.strip() for word in text.split(",")]
    if unknown := [word for word in named if word not in SCOPES]:
        raise ValueError(f"no such scope: {', '.join(unknown)}; there are: {', '.join(SCOPES)}")
    return [scope for scope in SCOPES if scope in named]


def _check(body: str) -> str:
    """The CRC-32 in base62, the most significant digit first, padded with 0."""
    rest, digits = zlib.crc32(body.encode("ascii")), ""
    for _ in range(CHECK_LENGTH):
        rest, digit = divmod(rest, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
