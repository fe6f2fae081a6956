"""The field types of bodies and queries, and how each is decoded (DECISIONS 3).

The classes are types that msgspec does not know. `decode` gets the decoded JSON value and returns an
instance, or raises ValueError with the reason; web/validation_errors.py adds the path. `json_schema` is their
schema in the OpenAPI document.
"""

import re
import unicodedata
from datetime import date
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin

from msgspec import UNSET, Meta, Raw, field

from journal_api.errors import ValidationFailed
from journal_api.values.time_zones import time_zones

# The highest id that is stored: every client has it exactly, and there is room for more.
MAX_ID = 2**53
RowId = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Offset = Annotated[int, Meta(ge=0, le=2**63 - 1)]
SortOrder = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
# ISO numbers: 1 is Monday, 7 is Sunday.
Weekday = Annotated[int, Meta(ge=1, le=7)]
# The length is limited too, because `$` also matches before a final newline.
COLOR_PATTERN = "^#[0-9a-fA-F]{6}$"
Color = Annotated[str, Meta(pattern=COLOR_PATTERN, max_length=7)]
# Timestamps and days in responses.
Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
DayText = Annotated[str, Meta(extra_json_schema={"format": "date"})]
TagType = Literal["mistake", "custom"]

T = TypeVar("T")
# Unicode's categories Cc and Cs: control characters and surrogates. Texts may contain tabs and line breaks.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
CONTROL_IN_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")  # without tab and line breaks

# The strings of a JSON text, and its white space.
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
STRING_OR_SPACE = re.compile(rb'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', re.DOTALL)


def default_value(value: T) -> T:
    """Return a field default of one of the types below. msgspec accepts such a default only as a factory."""
    default: T = field(default_factory=lambda: value)
    return default


class Name(str):
    """A name: stripped, in NFC, 1 to `max_length` code points, without control characters."""

    max_length: ClassVar[int] = 255
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "minLength": 1, "maxLength": max_length}

    def __init_subclass__(cls) -> None:
        cls.json_schema = {"type": "string", "minLength": 1, "maxLength": cls.max_length}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        name = value.strip()
        # The length is checked before NFC too, which shortens a name to a quarter at most: ordering a long
        # run of combining characters takes quadratic time.
        if not name.isascii() and len(name) <= 4 * cls.max_length:
            name = unicodedata.normalize("NFC", name)
        if not 1 <= len(name) <= cls.max_length:
            raise ValueError(f"must be 1 to {cls.max_length} characters")
        # `isprintable` is much faster than the regular expression and almost always true.
        if not name.isprintable() and CONTROL.search(name):
            raise ValueError("must not contain control characters")
        return cls(name)


class Text(str):
    """A description or note: up to 10,000 code points, no control characters except tab and line breaks.

    SQLite's JSON functions truncate a text at NUL and escape the other control characters to six bytes.
    """

    max_length: ClassVar[int] = 10_000
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "maxLength": max_length,
        "pattern": "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$",
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        if len(value) > cls.max_length:
            raise ValueError(f"must be at most {cls.max_length} characters")
        # `isprintable` is much faster than the regular expression and true for most texts of one line.
        if not value.isprintable() and CONTROL_IN_TEXT.search(value):
            raise ValueError("must not contain control characters except tab and line breaks")
        return cls(value)


class LongText(Text):
    """A text as it was typed, of up to 64 KiB in UTF-8."""

    max_length = 64 * 1024
    json_schema: ClassVar[dict[str, Any]] = {**Text.json_schema, "maxLength": max_length}

    @classmethod
    def decode(cls, value: object) -> Self:
        text = super().decode(value)
        if not text.isascii() and len(text.encode()) > cls.max_length:
            raise ValueError("must be at most 64 KiB")
        return text


class Name40(Name):
    max_length = 40


class Name50(Name):
    max_length = 50


class Name100(Name):
    max_length = 100


class Day(date):
    """A calendar day of some years as YYYY-MM-DD; other ISO 8601 formats are rejected."""

    years: ClassVar[tuple[int, int]] = (1, 9999)
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "format": "date"}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise ValueError("must be a date YYYY-MM-DD")
        try:
            day = cls.fromisoformat(value)
        except ValueError:
            raise ValueError("is not a valid calendar day") from None
        first, last = cls.years
        if not first <= day.year <= last:
            raise ValueError(f"must be from {first}-01-01 to {last}-12-31")
        return day


class Selection(str):
    """A selection of accounts: `account_<n>`, `group_<n>` or `all`."""

    others: ClassVar[tuple[str, ...]] = ("all",)
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": "^(account_|group_)[1-9][0-9]*$|^all$"}

    @classmethod
    def decode(cls, value: object) -> Self:
        match = isinstance(value, str) and re.fullmatch(r"(?:account|group)_([1-9][0-9]{0,18})", value)
        if value in cls.others or (match and int(match[1]) < 2**63):
            return cls(value)
        raise ValueError("must be account_<n>, group_<n> or " + " or ".join(repr(word) for word in cls.others))

    @property
    def account_id(self) -> int | None:
        return int(self.removeprefix("account_")) if self.startswith("account_") else None

    @property
    def copy_group_id(self) -> int | None:
        return int(self.removeprefix("group_")) if self.startswith("group_") else None


class GoalScope(Selection):
    """A selection, or the empty string for the owner's active selection."""

    others = ("all", "")
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": "^((account_|group_)[1-9][0-9]*|all)?$"}


class TimeZone(str):
    """An IANA time zone name."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "examples": ["America/New_York"]}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or value not in time_zones():
            raise ValueError("must be an IANA time zone such as Europe/Berlin")
        return cls(value)


class DayRollover(str):
    """The local time at which the next trading day begins, HH:MM; 00:00 means calendar days."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value):
            raise ValueError("must be a time HH:MM")
        return cls(value)


def list_parts(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the type."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def sort_name(name: str) -> str:
    """Return the key by which lists are sorted: the case-folded name."""
    return unicodedata.normalize("NFC", name.casefold())


def require_name(row_id: object, name: object) -> None:
    """Raise ValidationFailed for a new nested item without a name."""
    if row_id is UNSET and name is UNSET:
        raise ValidationFailed(fields={"name": "is required"})


def decode_value(kind: Any, value: object) -> object:
    """Decode a value with its type's own `decode`: the hook that msgspec calls for types it does not know."""
    return kind.decode(value)


def free_form(value: bytes) -> bytes:
    """Return the JSON without white space. Raises ValueError unless an object or null, up to 64 KiB and 32 levels."""
    if len(value) > 64 * 1024:
        raise ValueError("must be at most 64 KiB")
    if value != b"null" and not value.startswith(b"{"):
        raise ValueError("must be an object or null")
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", STRING.sub(b"", value)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > 32:
        raise ValueError("must be at most 32 levels deep")
    return STRING_OR_SPACE.sub(lambda match: match[1] or b"", value)


# `check` is called by web/validation_errors.py, which decodes every member separately.
FREE_FORM_SCHEMA = {"anyOf": [{"$ref": "#/components/schemas/FreeForm"}, {"type": "null"}]}
FreeForm = Annotated[Raw, Meta(extra_json_schema=FREE_FORM_SCHEMA, extra={"check": free_form})]
