"""The settings: environment variables `JOURNAL_*`, read once into one frozen struct."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from journal_api.values.api_keys import RunKey
from journal_api.values.types import DayRollover, TimeZone

LOG_LEVELS = ("debug", "info", "warning", "error")
RUN_KEY = re.compile(r"[A-Za-z0-9_-]{32,200}")


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
    # Where `serve` puts backups; none without it.
    backup_dir: Path | None = None
    backup_every: timedelta = timedelta(hours=24)
    # How many of them remain; 0 for all.
    backup_keep: int = 14
    # The least that `serve` writes on standard error; `info` has a line a request.
    log_level: str = "info"
    # Whether there is GET /metrics, for Prometheus.
    metrics: bool = False
    # A key for this run alone, chosen by the program that starts it.
    run_key: RunKey | None = None

    @property
    def requests_a_minute(self) -> int:
        """The rate limit in force, 0 for none."""
        if self.rate_limit is not None:
            return self.rate_limit
        return 0 if is_loopback(self.host) else 600

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], db: Path | None = None) -> "Settings":
        """Read `JOURNAL_*`; `db` wins over what they say. Raises SettingsError."""
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
            "backup_dir": Path,
            "backup_every": hours_or_days,
            "backup_keep": lambda text: whole_number(text, 10**6),
            "log_level": log_level,
            "metrics": yes_or_no,
            "run_key": run_key,
        }
        values: dict[str, Any] = {}
        for field, text in sent.items():
            try:
                values[field] = readers.get(field, str)(text)
            except ValueError as error:
                told = "" if field == "run_key" else f": {text!r}"
                raise SettingsError(f"JOURNAL_{field.upper()} {error}{told}") from None
        values["db"] = db or values.get("db") or default_database()
        return cls(**values)


def default_database() -> Path:
    try:
        return platformdirs.user_data_path("journal-api", appauthor=False) / "journal.db"
    except RuntimeError:  # a user without a home
        raise SettingsError("JOURNAL_DB must be set: there is no home folder") from None


def whole_number(text: str, largest: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= largest):
        raise ValueError(f"must be a whole number from 0 to {largest}")
    return int(text)


def hours_or_days(text: str) -> timedelta:
    found = re.fullmatch(r"([1-9][0-9]{0,3})([hd]?)", text)
    if not found:
        raise ValueError("must be hours or days such as 24h or 7d")
    return timedelta(**{"days" if found[2] == "d" else "hours": int(found[1])})


def log_level(text: str) -> str:
    if text not in LOG_LEVELS:
        raise ValueError(f"must be one of: {', '.join(LOG_LEVELS)}")
    return text


def yes_or_no(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("must be true or false")
    return text == "true"


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def run_key(text: str) -> RunKey:
    if not RUN_KEY.fullmatch(text):
        raise ValueError("must be 32 to 200 characters of A-Z, a-z, 0-9, _ and -")
    return RunKey(text)


def words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.replace(",", " ").split() if word)


def origins(text: str) -> tuple[str, ...]:
    found = words(text)
    if any(not origin.startswith(("http://", "https://")) for origin in found):
        raise ValueError("must be origins such as http://localhost:5173, never * or null")
    return found
