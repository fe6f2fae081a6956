"""Formats of times in files, in the directives of strptime, compiled to one pattern."""

import re
from collections.abc import Callable
from datetime import timedelta, timezone, tzinfo
from functools import cache
from typing import Any, ClassVar, Self

from journal_api.values.timestamps import Timestamp

# Names of zones, with different names for daylight saving time. Other abbreviations are ambiguous: CST is
# also China's zone, and IST the zone of three countries.
ZONE_NAMES = {0: "UTC GMT", -4: "EDT", -5: "EST CDT", -6: "CST MDT", -7: "MST PDT", -8: "PST"}
ZONE_NAMES |= {1: "CET WEST", 2: "CEST EET SAST", 3: "EEST MSK", 8: "HKT SGT AWST", 9: "JST KST"}
ZONE_NAMES |= {10: "AEST", 11: "AEDT", 12: "NZST", 13: "NZDT"}
OFFSETS = {name: timezone(timedelta(hours=hours)) for hours, names in ZONE_NAMES.items() for name in names.split()}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DIRECTIVES = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "b": "[A-Za-z]{3,9}",
    "d": "[0-9]{1,2}",
    "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}",
    "M": "[0-9]{2}",
    "S": "[0-9]{2}",
    "f": "[0-9]{1,9}",
    "p": r"[AaPp]\.?[Mm]\.?",
    "z": "[Zz]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]",
    "Z": "[A-Z]{3}",
}
LITERAL_ZONE = re.compile("(?:UTC|GMT)?([+-])([01]?[0-9]):?([0-5][0-9])?")
PART = re.compile(r"%(?P<directive>.?)|(?P<blank>\s+)|(?P<text>[^%\s]+)", re.DOTALL)


class TimeFormat(str):
    """A format such as %m/%d/%Y %I:%M:%S %p, with day, month and year, each directive once."""

    max_length: ClassVar[int] = 50
    json_schema: ClassVar[dict[str, Any]] = {
        "type": "string",
        "maxLength": max_length,
        "examples": ["%m/%d/%Y %H:%M:%S"],
    }

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        if len(value) > cls.max_length:
            raise ValueError(f"must be at most {cls.max_length} characters")
        directives = re.findall("%(.?)", value, re.DOTALL)
        if len(set(directives)) < len(directives) or not set(directives) <= DIRECTIVES.keys():
            raise ValueError(f"must have each directive once, of %{' %'.join(DIRECTIVES)}")
        if "d" not in directives or not set("Yy") & set(directives) or not set("mb") & set(directives):
            raise ValueError("must have day, month and year: %d, %m or %b, %Y or %y")
        if "I" in directives and "p" not in directives:
            raise ValueError("must have %p with %I: without it every hour would be one of the morning")
        return cls(value)

    def reader(self, zone: tzinfo | None = None) -> Callable[[str], Timestamp | None]:
        """Return a function that reads a time, None for a text in another format.

        A time without an offset is in the zone that stands at the end of the format, as in %H:%M:%SZ, else in
        `zone`, or without an offset if `zone` is None. The function raises
        ValueError for a time that does not exist, such as February 30.
        """
        pattern = re.compile("".join(map(build_pattern, PART.finditer(self))))
        zone = find_literal_zone(re.split("%.", self)[-1].strip()) or zone

        def read(text: str) -> Timestamp | None:
            match = pattern.fullmatch(text)
            return build_time(match.groupdict(), zone) if match else None

        return read


def find_literal_zone(text: str) -> tzinfo | None:
    """Return the zone of a text such as Z, UTC, EDT, UTC+2 or -05:00, None for any other text."""
    if match := LITERAL_ZONE.fullmatch(text):
        sign, hours, minutes = match.groups("00")
        return read_offset(f"{sign}{hours:0>2}{minutes}")
    return OFFSETS["UTC"] if text == "Z" else OFFSETS.get(text)


def build_pattern(part: re.Match[str]) -> str:
    if part["blank"]:
        return " +"
    name = part["directive"]
    return f"(?P<{name}>{DIRECTIVES[name]})" if name else re.escape(part["text"])


def build_time(parts: dict[str, str], zone: tzinfo | None) -> Timestamp:
    """Return the time with these values of the directives. Raises ValueError."""
    offset = find_offset(parts)
    return Timestamp(
        int(parts["Y"] if "Y" in parts else "20" + parts["y"]),
        int(parts["m"]) if "m" in parts else find_month(parts["b"]),
        int(parts["d"]),
        find_hour(parts),
        int(parts.get("M", 0)),
        int(parts.get("S", 0)),
        int(parts["f"][:6].ljust(6, "0")) if "f" in parts else 0,
        tzinfo=zone if offset is None else offset,
    ).within_years()


def find_month(name: str) -> int:
    """Return the month of a name such as Sep or September. Raises ValueError."""
    if (beginning := name[:3].lower()) not in MONTHS:
        raise ValueError("has no month of that name")
    return MONTHS.index(beginning) + 1


def find_hour(parts: dict[str, str]) -> int:
    """Return the hour. With %H the half of the day is ignored: some files have 13:00 PM."""
    if "I" not in parts:
        return int(parts.get("H", 0))
    if not 1 <= int(parts["I"]) <= 12:
        raise ValueError("must have an hour from 1 to 12 before AM and PM")
    return int(parts["I"]) % 12 + 12 * (parts.get("p", "A")[0] in "Pp")


def find_offset(parts: dict[str, str]) -> tzinfo | None:
    if "Z" in parts:
        if parts["Z"] not in OFFSETS:
            raise ValueError(f"must be in one of the zones {', '.join(OFFSETS)}")
        return OFFSETS[parts["Z"]]
    return read_offset(parts["z"]) if "z" in parts else None


@cache  # the pattern accepts a few thousand texts
def read_offset(text: str) -> timezone:
    """Return the offset of a text such as -06:00, -0600 or Z."""
    digits = text.replace(":", "").upper().replace("Z", "+0000")
    offset = timedelta(hours=int(digits[1:3]), minutes=int(digits[3:]))
    return timezone(-offset if digits[0] == "-" else offset)
