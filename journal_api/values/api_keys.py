"""API keys: `tjk_`, 30 random base62 characters and a checksum of 6 more (DECISIONS 5)."""

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

RESOURCES = ("tags", "strategies", "goals", "accounts", "copy_groups", "trades", "days", "settings")
SCOPES = tuple(f"{action}:{resource}" for resource in RESOURCES for action in ("read", "write"))


class Hidden(bytes):
    """Bytes whose repr and str hide the value, so that logs and tracebacks do not show it."""

    def __repr__(self) -> str:
        return "<hidden>"

    __str__ = __repr__


class RunKey(Hidden):
    """The SHA-256 and the length of a key that is valid for one run. The key itself is not stored."""

    length: int

    def __new__(cls, text: str) -> Self:
        run_key = super().__new__(cls, hashlib.sha256(text.encode()).digest())
        run_key.length = len(text)
        return run_key

    def matches(self, text: str) -> bool:
        return compare_digest(self, hashlib.sha256(text.encode()).digest())

    def is_in(self, text: str) -> bool:
        """Return whether the text contains the key."""
        starts = range(len(text) - self.length + 1)
        return any(self.matches(text[start : start + self.length]) for start in starts)


def make_key() -> str:
    """Return a new key with 178 bits of entropy."""
    body = PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + checksum(body)


def is_well_formed(key: str) -> bool:
    """Return whether the prefix, the alphabet and the checksum are right. Does not query the database."""
    return FORM.fullmatch(key) is not None and checksum(key[:-CHECK_LENGTH]) == key[-CHECK_LENGTH:]


def is_in(text: str, run_key: RunKey | None) -> bool:
    return PREFIX in text or (run_key is not None and run_key.is_in(text))


def hash_key(key: str) -> bytes:
    """Return the hash that is stored for a key. With 178 random bits a plain SHA-256 cannot be reversed."""
    return hashlib.sha256(key.encode("ascii")).digest()


def parse_scopes(text: str) -> list[str]:
    """Return the scopes of `all`, `read` or a comma-separated list, in the order of SCOPES. Raises ValueError."""
    if text == "all":
        return list(SCOPES)
    if text == "read":
        return [scope for scope in SCOPES if scope.startswith("read:")]
    named = [word.strip() for word in text.split(",")]
    if unknown := [word for word in named if word not in SCOPES]:
        raise ValueError(f"no such scope: {', '.join(unknown)}; available: all, read, {', '.join(SCOPES)}")
    return [scope for scope in SCOPES if scope in named]


def checksum(body: str) -> str:
    """Return the CRC-32 in base62, most significant digit first, padded with zeros."""
    checksum, digits = zlib.crc32(body.encode("ascii")), ""
    for _ in range(CHECK_LENGTH):
        checksum, digit = divmod(checksum, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
