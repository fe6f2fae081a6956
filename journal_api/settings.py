"""The settings: environment variables `JOURNAL_*`, read once into one frozen struct."""

from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from journal_api.values import DayRollover, TimeZone


class SettingsError(ValueError):
    """A setting that cannot be read; the message names it."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner of the machine decides. Everything else is decided over HTTP (`/v1/me`)."""

    db: Path
    host: str = "127.0.0.1"
    port: int = 8000
    # The zone and rollover that a new user starts with.
    timezone: str = "UTC"
    day_rollover: str = "00:00"
    # 0 for none.
    max_strategies: int = 100
    # Host names beyond those of the loopback interface; `*` for any.
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    # Requests a minute a key; 0 for no limit. Unless set: none on the loopback interface, 600 elsewhere.
    rate_limit: int | None = None

    @property
    def requests_a_minute(self) -> int:
        """The rate limit in force, 0 for none."""
        if self.rate_limit is not None:
            return self.rate_limit
        return 0 if is_loopback(self.host) else 600

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Read `JOURNAL_*`; raises SettingsError."""
        sent = {
            field: environ[f"JOURNAL_{field.upper()}"]
            for field in cls.__struct_fields__
            if environ.get(f"JOURNAL_{field.upper()}")
        }
        readers: dict[str, Callable[[str], object]] = {
            "db": Path,
            "port": lambda text: whole_number(text, 65535),
            "timezone": TimeZone.decode,
            "day_rollover": DayRollover.decode,
            "max_strategies": lambda text: whole_number(text, 2**31),
            "allowed_hosts": words,
            "cors_origins": origins,
            "rate_limit": lambda text: whole_number(text, 10**6),
        }
        values: dict[str, Any] = {}
        for field, text in sent.items():
            try:
                values[field] = readers.get(field, str)(text)
            except ValueError as error:
                raise SettingsError(f"JOURNAL_{field.upper()} {error}: {text!r}") from None
        return cls(**{"db": default_database(), **values})


def default_database() -> Path:
    return platformdirs.user_data_path("journal-api", appauthor=False) / "journal.db"


def whole_number(text: str, largest: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= largest):
        raise ValueError(f"must be a whole number from 0 to {largest}")
    return int(text)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.replace(",", " ").split() if word)


def origins(text: str) -> tuple[str, ...]:
    found = words(text)
    if any(not origin.startswith(("http://", "https://")) for origin in found):
        raise ValueError("must be origins such as http://localhost:5173, never * or null")
    return found
