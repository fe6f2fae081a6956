"""The settings of the process: environment variables `JOURNAL_*`, read once into a frozen struct."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
import platformdirs

from journal_api.values.api_keys import RunKey
from journal_api.values.origins import require_origin
from journal_api.values.time_zones import machine_time_zone
from journal_api.values.types import DayRollover, TimeZone

T = TypeVar("T")
Networks = tuple[IPv4Network | IPv6Network, ...]
# Variables of other programs: of systemd, for a service that logs to its journal, and of scripts that call
# the HTTP API.
NO_SETTINGS = frozenset({"JOURNAL_STREAM", "JOURNAL_URL", "JOURNAL_KEY"})


class SettingsError(ValueError):
    """A setting has an invalid value; the message names the setting and the allowed values."""


def up_to(largest: int) -> Callable[[str], int]:
    """The function that reads a whole number from 0 on."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= largest):
            raise ValueError(f"must be a whole number from 0 to {largest}")
        return int(text)

    return parse


def formed(pattern: str, form: str, convert: Callable[[str], T]) -> Callable[[str], T]:
    """The function that converts a text of that form."""

    def parse(text: str) -> T:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {form}")
        return convert(text)

    return parse


parse_boolean = formed("true|false", "true or false", lambda text: text == "true")
parse_log_level = formed("debug|info|warning|error", "one of: debug, info, warning, error", str)
parse_header = formed("[A-Za-z0-9-]{1,100}", "the name of a header, such as Remote-User", str.lower)
parse_run_key = formed("[A-Za-z0-9_-]{32,200}", "32 to 200 characters of A-Z, a-z, 0-9, _ and -", RunKey)


def parse_interval(text: str) -> timedelta:
    match = re.fullmatch(r"([1-9][0-9]{0,3})([hd]?)", text)
    if match is None:
        raise ValueError("must be hours or days such as 24h or 7d")
    return timedelta(**{"days" if match[2] == "d" else "hours": int(match[1])})


def split_words(text: str) -> tuple[str, ...]:
    """The items of a list that is separated by commas or spaces."""
    return tuple(text.replace(",", " ").split())


def parse_networks(text: str) -> Networks:
    try:
        return tuple(ip_network(word) for word in split_words(text))
    except ValueError:
        raise ValueError("must be addresses such as 127.0.0.1, or networks such as 172.18.0.0/16") from None


def parse_origins(text: str) -> tuple[str, ...]:
    return tuple(require_origin(word) for word in split_words(text))


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the machine, each with the function that reads it. A user's are at `/v1/me`."""

    db: Annotated[Path, Path]
    host: str = "127.0.0.1"
    port: Annotated[int, up_to(65535)] = 8000
    # The time zone and day rollover of a new user. Without JOURNAL_TIMEZONE, the zone of the machine.
    timezone: Annotated[str, TimeZone.decode] = "UTC"
    day_rollover: Annotated[str, DayRollover.decode] = "00:00"
    # Strategies per user; 0 for no limit.
    max_strategies: Annotated[int, up_to(2**31)] = 100
    # MiB of a picture, pictures of a trade or day, and pictures per user; 0 for no limit of either number.
    max_picture_mib: Annotated[int, up_to(64)] = 10
    max_pictures_each: Annotated[int, up_to(2**31)] = 20
    max_pictures: Annotated[int, up_to(2**31)] = 10_000
    # Host names accepted in addition to the names of the loopback interface; `*` for any.
    allowed_hosts: Annotated[tuple[str, ...], split_words] = ()
    cors_origins: Annotated[tuple[str, ...], parse_origins] = ()
    # The reverse proxies that sign users in, and the header in which they name the user. Both or neither.
    trusted_proxies: Annotated[Networks, parse_networks] = ()
    user_header: Annotated[str, parse_header] = ""
    # Requests per minute and key; 0 for no limit. Default: 600, or no limit on the loopback interface if
    # `allowed_hosts` is empty, because nobody else can reach the service then.
    rate_limit: Annotated[int | None, up_to(10**6)] = None
    # The folder of scheduled backups; None for no backups.
    backup_dir: Annotated[Path | None, Path] = None
    backup_every: Annotated[timedelta, parse_interval] = timedelta(hours=24)
    # The number of backups to keep; 0 for all.
    backup_keep: Annotated[int, up_to(10**6)] = 14
    # The folder whose files are imported by themselves; None for none.
    watch: Annotated[Path | None, Path] = None
    # How long changes of objects can be followed (docs/api.md#changes).
    keep_changes: Annotated[timedelta, parse_interval] = timedelta(days=90)
    # Whether the server makes checkpoints; False if Litestream makes them (docs/self-hosting.md#replication).
    checkpoints: Annotated[bool, parse_boolean] = True
    # The log level of the server; `info` includes a line for each request.
    log_level: Annotated[str, parse_log_level] = "info"
    # Whether GET /metrics exists, for Prometheus.
    metrics: Annotated[bool, parse_boolean] = False
    # An API key for this process only, chosen by the program that starts it.
    run_key: Annotated[RunKey | None, parse_run_key] = None

    @property
    def requests_a_minute(self) -> int:
        """The rate limit per key; 0 for no limit."""
        if self.rate_limit is not None:
            return self.rate_limit
        # Behind a reverse proxy the service listens on the loopback interface as well.
        return 0 if is_loopback(self.host) and not self.allowed_hosts else 600

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], db: Path | None = None) -> "Settings":
        """Read `JOURNAL_*`, unset if empty; `db` overrides JOURNAL_DB. Raises SettingsError, also for unknown names."""
        require_known(name for name, text in environ.items() if text)
        values: dict[str, Any] = {}
        for field, hint in get_type_hints(cls, include_extras=True).items():
            name = f"JOURNAL_{field.upper()}"
            try:
                if text := environ.get(name):
                    values[field] = getattr(hint, "__metadata__", (str,))[0](text)
            except ValueError as error:
                # A key is not printed; the error about an origin names the origin.
                value = "" if field in ("run_key", "cors_origins") else f": {text!r}"
                raise SettingsError(f"{name} {error}{value}") from None
        if ("trusted_proxies" in values) != ("user_header" in values):
            raise SettingsError("JOURNAL_TRUSTED_PROXIES and JOURNAL_USER_HEADER need each other: set both")
        values["db"] = db or values.get("db") or find_default_database()
        values.setdefault("timezone", machine_time_zone())
        return cls(**values)


def require_known(names: Iterable[str]) -> None:
    """Raise SettingsError for a name `JOURNAL_*` that is no setting: probably a typing error."""
    settings = [field.upper() for field in Settings.__struct_fields__]
    for name in names:
        if not name.startswith("JOURNAL_") or name in NO_SETTINGS:
            continue
        setting = name.removeprefix("JOURNAL_")
        if setting not in settings:
            nearest = difflib.get_close_matches(setting, settings, n=1)
            hint = f"did you mean JOURNAL_{nearest[0]}?" if nearest else f"there are {', '.join(settings)}"
            raise SettingsError(f"{name} is not a setting; {hint}")


def find_default_database() -> Path:
    """`journal.db` in the user's data folder. Raises SettingsError if the user has no home folder."""
    try:
        return platformdirs.user_data_path("journal-api", appauthor=False) / "journal.db"
    except RuntimeError:
        raise SettingsError("JOURNAL_DB must be set to a file, because there is no home folder") from None


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
