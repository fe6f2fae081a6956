"""The values that bodies and queries are made of, and how each is read (DECISIONS 5).

A class here is a type that msgspec does not know: `decode` takes what JSON gave, returns the value or
raises ValueError with the reason, and explaining.py adds the path. `json_schema` describes it to clients.
"""

import re
import unicodedata
from datetime import date, datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from msgspec import UNSET, Meta, Raw, field

from journal_api.errors import ValidationFailed
from journal_api.values.clock import as_text
from journal_api.values.free_form import free_form

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


def sort_name(name: str) -> str:
    """What lists are ordered by: the name without its case."""
    return unicodedata.normalize("NFC", name.casefold())


def require_name(row_id: object, name: object) -> None:
    """Raises ValidationFailed for a new nested item that comes without its name."""
    if row_id is UNSET and name is UNSET:
        raise ValidationFailed(fields={"name": "is required"})


def decode_value(kind: Any, sent: object) -> object:
    """msgspec's hook: the types of this module and of money.py read themselves."""
    return kind.decode(sent)


# `check` is a rule for explaining.py, which reads every member by itself.
FreeForm = Annotated[Raw, Meta(extra_json_schema={"type": ["object", "null"]}, extra={"check": free_form})]
