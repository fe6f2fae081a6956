"""The values that bodies and queries are made of, and how each is read (DECISIONS 5).

A class here is a type that msgspec does not know: `decode` takes what JSON gave, returns the value or
raises ValueError with the reason, and explaining.py adds the path. `json_schema` describes it to clients.
"""

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from msgspec import UNSET, Meta, Raw, field

from journal_api.errors import ValidationFailed

RowId = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Offset = Annotated[int, Meta(ge=0, le=2**63 - 1)]
SortOrder = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
# The length guards what the pattern cannot: `$` also matches before a final newline.
COLOR_PATTERN = "^#[0-9a-fA-F]{6}$"
Color = Annotated[str, Meta(pattern=COLOR_PATTERN, max_length=7)]
# As they are answered.
Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
DayText = Annotated[str, Meta(extra_json_schema={"format": "date"})]
TagType = Literal["mistake", "custom"]
# In a query, where everything is text.
Flag = Literal["true", "false", "1", "0"]


T = TypeVar("T")
# Unicode's categories Cc and Cs: control characters, and halves of characters. A text may have tab and line
# breaks.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
CONTROL_IN_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]"
)  # without tab and line breaks


def unless_sent(value: T) -> T:
    """A default of one of the types below, which msgspec can describe only through a factory."""
    default: T = field(default_factory=lambda: value)
    return default


def is_yes(flag: Flag) -> bool:
    return flag in ("true", "1")


class Name(str):
    """A name: white space around it dropped, NFC, 1 to `max_length` code points, no control characters."""

    max_length: ClassVar[int] = 255
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "minLength": 1, "maxLength": max_length}

    def __init_subclass__(cls) -> None:
        cls.json_schema = {"type": "string", "minLength": 1, "maxLength": cls.max_length}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str):
            raise ValueError("must be a string")
        name = sent.strip()
        # Measured before it is composed too, which shortens a name to a quarter at most: putting a long run
        # of combining marks in order takes the square of its length.
        if not name.isascii() and len(name) <= 4 * cls.max_length:
            name = unicodedata.normalize("NFC", name)
        if not 1 <= len(name) <= cls.max_length:
            raise ValueError(f"must be 1 to {cls.max_length} characters")
        # The first is asked in no time, and almost always enough.
        if not name.isprintable() and CONTROL.search(name):
            raise ValueError("must not contain control characters")
        return cls(name)


class Text(str):
    """A description or a note: up to 10,000 code points, no control characters but tab and line breaks.

    SQLite's JSON functions end a text at NUL, and write six bytes for most of the others.
    """

    longest: ClassVar[int] = 10_000
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "maxLength": longest,
        "pattern": "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$",
    }

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str):
            raise ValueError("must be a string")
        if len(sent) > cls.longest:
            raise ValueError(f"must be at most {cls.longest} characters")
        # The first is asked in no time, and enough for a text of one line.
        if not sent.isprintable() and CONTROL_IN_TEXT.search(sent):
            raise ValueError("must not contain control characters but tab and line breaks")
        return cls(sent)


class Name40(Name):
    max_length = 40


class Name50(Name):
    max_length = 50


class Name100(Name):
    max_length = 100


# ISO 4217, the codes of currencies that are in use.
CURRENCIES = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
    CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
    GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD
    KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN
    NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
    SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND
    VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """.split()  # noqa: SIM905
)


class Currency(str):
    """A currency of ISO 4217, three capital letters."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": "^[A-Z]{3}$", "examples": ["USD"]}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str) or sent not in CURRENCIES:
            raise ValueError("must be a currency of ISO 4217 such as USD")
        return cls(sent)


class Day(date):
    """A calendar day, YYYY-MM-DD and nothing else that ISO 8601 allows."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "format": "date"}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", sent):
            raise ValueError("must be a date YYYY-MM-DD")
        try:
            return cls.fromisoformat(sent)
        except ValueError:
            raise ValueError("is not a day of the calendar") from None


class Selection(str):
    """Which accounts: `account_<n>`, `group_<n>` or `all`."""

    others: ClassVar[tuple[str, ...]] = ("all",)
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "pattern": "^(account_|group_)[1-9][0-9]*$|^all$",
    }

    @classmethod
    def decode(cls, sent: object) -> Self:
        found = isinstance(sent, str) and re.fullmatch(r"(?:account|group)_([1-9][0-9]{0,18})", sent)
        if sent in cls.others or (found and int(found[1]) < 2**63):
            return cls(sent)
        raise ValueError(
            "must be account_<n>, group_<n> or " + " or ".join(repr(word) for word in cls.others)
        )

    @property
    def account_id(self) -> int | None:
        return int(self.removeprefix("account_")) if self.startswith("account_") else None

    @property
    def copy_group_id(self) -> int | None:
        return int(self.removeprefix("group_")) if self.startswith("group_") else None


class GoalScope(Selection):
    """A selection, or the empty string: whatever the owner's active selection is."""

    others = ("all", "")
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "pattern": "^((account_|group_)[1-9][0-9]*|all)?$",
    }


time_zones = cache(available_timezones)


class TimeZone(str):
    """An IANA time zone name."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "examples": ["America/New_York"]}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str) or sent not in time_zones():
            raise ValueError("must be an IANA time zone such as Europe/Berlin")
        return cls(sent)


class DayRollover(str):
    """The wall-clock time at which the next trading day begins, HH:MM; 00:00 is the calendar day."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str) or not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", sent):
            raise ValueError("must be a time HH:MM")
        return cls(sent)


class Timestamp(datetime):
    """An instant: RFC 3339, or without an offset and then read in a zone that the caller names."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "format": "date-time"}
    _FORM = re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
        r"([Zz]|[+-][0-9]{2}:[0-9]{2})?"
    )

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str) or not cls._FORM.fullmatch(sent):
            raise ValueError("must be a time such as 2026-04-09T15:38:40Z")
        try:
            instant = cls.fromisoformat(sent.upper())
        except ValueError:
            raise ValueError("is not a time of the calendar") from None
        if not 1970 <= instant.year <= 2200:
            raise ValueError("must be in the years 1970 to 2200")
        return instant

    def stored(self, timezone: str) -> str:
        """The instant in UTC as it is stored and answered: a fixed width, so that text order is time order.

        A wall-clock time that a change of clocks skips or repeats is read by the offset before the change.
        """
        aware = self if self.tzinfo else self.replace(tzinfo=ZoneInfo(timezone))
        return as_text(aware)


def as_text(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def now() -> str:
    """This instant, in the form in which every timestamp is stored and answered."""
    return as_text(datetime.now(UTC))


def instant_after(instant: str) -> str:
    """The next instant, so that a change is later than the last one whatever the clock says."""
    return as_text(datetime.fromisoformat(instant) + timedelta(microseconds=1))


def now_after(instant: str) -> str:
    """This instant; if the clock was set back, or stands still, the next one after `instant`."""
    return max(now(), instant_after(instant))


def sort_name(name: str) -> str:
    """What lists are ordered by: the name without its case."""
    return unicodedata.normalize("NFC", name.casefold())


def check_range(since: Day | None, until: Day | None) -> None:
    """Raises ValidationFailed when the `from` of a query is after its `to`."""
    if since and until and since > until:
        raise ValidationFailed(fields={"from": "must not be after to"})


def require_name(row_id: object, name: object) -> None:
    """Raises ValidationFailed for a new nested item that comes without its name."""
    if row_id is UNSET and name is UNSET:
        raise ValidationFailed(fields={"name": "is required"})


def decode_value(kind: Any, sent: object) -> object:
    """msgspec's hook: the types of this module and of money.py read themselves."""
    return kind.decode(sent)


def free_form(sent: bytes) -> bytes:
    """Free-form JSON token by token as it was sent, without the white space around the tokens.

    Raises ValueError unless it is an object or null, of at most 64 KiB and 32 levels.
    """
    if len(sent) > 64 * 1024:
        raise ValueError("must be at most 64 KiB")
    if sent != b"null" and not sent.startswith(b"{"):
        raise ValueError("must be an object or null")
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", _STRING.sub(b"", sent)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > 32:
        raise ValueError("must be at most 32 levels deep")
    return _STRING_OR_SPACE.sub(lambda found: found[1] or b"", sent)


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_STRING_OR_SPACE = re.compile(rb'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', re.DOTALL)
# `check` is a rule for explaining.py, which reads every member by itself.
FreeForm = Annotated[Raw, Meta(extra_json_schema={"type": ["object", "null"]}, extra={"check": free_form})]
