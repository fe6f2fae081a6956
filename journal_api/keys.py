"""API keys: `tjk_`, 30 random base62 characters, and 6 that check what precedes them (DECISIONS 6)."""

import hashlib
import re
import secrets
import string
import zlib

from journal_api.settings import RunKey

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
PREFIX = "tjk_"
RANDOM_LENGTH = 30
CHECK_LENGTH = 6
FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM_LENGTH + CHECK_LENGTH}}}")

RESOURCES = ("tags", "strategies", "goals", "accounts", "copy_groups", "trades", "settings")
SCOPES = tuple(f"{action}:{resource}" for resource in RESOURCES for action in ("read", "write"))


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
