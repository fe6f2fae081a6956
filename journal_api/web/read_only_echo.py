"""Members of a PATCH body that the client read and sends back although PATCH cannot write them.

A client may send a whole object as it was read. A member that PATCH does not have, and a null where PATCH
takes no null, are accepted if they say what is stored (docs/api.md#sending-back-what-was-read).
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct

from journal_api.errors import PreconditionFailed, ValidationFailed
from journal_api.web.responses import Envelope
from journal_api.web.validation_errors import accepts_null, list_members

READ_ONLY, NOT_NULL = "is read-only", "must not be null"
STALE = "is no longer what is stored"
# What a client sends in place of a read-only member.
USE_INSTEAD = {
    "account_id": "scope",
    "copy_group_id": "scope",
    "members": "PUT /v1/copy-groups/{id}/members",
    "net_pnl": "gross_pnl and fees",
    "pictures": "POST to /pictures below it",
    "setup_count": "setups",
    "tags": "tag_ids",
    "trading_day": "closed_at",
}
# Members that nobody tries to write, and that change with other objects while updated_at stays.
CHANGED_BY_OTHERS = frozenset(
    {"tag_count", "difference", "unexplained", "since", "days"}
    | {"currency", "trade_count", "wins", "losses", "picture_count", "pictures", "goals"}
)


class ReadOnlyEcho(NamedTuple):
    """A member to compare with the stored object, and the error if they differ."""

    value: Raw
    reason: str


Echo = dict[str, ReadOnlyEcho]


def split_echo(body: str, patch: type[Struct], resource: type[Struct]) -> tuple[bytes, dict[str, ReadOnlyEcho]]:
    """Return the body without the members that PATCH cannot write, and those members. Raises DecodeError."""
    members = msgspec.json.decode(body, type=dict[str, Raw])
    writable, readable = list_members(patch), list_members(resource)
    only_readable_as_null = {
        name
        for name in writable.keys() & readable.keys()
        if accepts_null(readable[name]) and not accepts_null(writable[name])
    }
    echo = {}
    for name in filter(readable.__contains__, members):
        if name not in writable:
            echo[name] = ReadOnlyEcho(members[name], READ_ONLY + find_hint(name, writable))
        elif bytes(members[name]) == b"null" and name in only_readable_as_null:
            echo[name] = ReadOnlyEcho(members[name], NOT_NULL)
    rest = {name: value for name, value in members.items() if name not in echo}
    return msgspec.json.encode(rest), echo


def find_hint(name: str, writable: Collection[str]) -> str:
    """Return what to send in place of the member: a request, or a member that the body can have."""
    instead = USE_INSTEAD.get(name, "")
    is_request = instead.startswith(("POST ", "PUT "))
    return f"; use {instead}" if is_request or instead.split(" ")[0] in writable else ""


def check_echo(echo: Echo, current: Envelope | None) -> None:
    """Compare with the stored object. Raises PreconditionFailed for an older version of it, else ValidationFailed."""
    if not echo or current is None:
        return
    (stored,) = msgspec.json.decode(current.content + b"}")["data"].values()
    different = {name: reason for name, (value, reason) in echo.items() if not is_same(value, stored[name])}
    if not different:
        return
    is_changed_by_others = "updated_at" in echo and different.keys() <= CHANGED_BY_OTHERS
    if is_changed_by_others or is_older(echo, stored["updated_at"]):
        raise PreconditionFailed(
            "The object has changed since it was read: read it again. See details.",
            fields=dict.fromkeys(different, STALE),
        )
    raise ValidationFailed(fields=different)


def is_older(echo: dict[str, ReadOnlyEcho], updated_at: str | None) -> bool:
    """Return whether the body was read from an older version; of a day with nothing written, it is null."""
    if "updated_at" not in echo:
        return False
    sent = decode_or_unset(echo["updated_at"].value)
    if updated_at is None:
        return sent is not None
    if sent is None:  # with an id of null: nothing was written then
        return "id" in echo and decode_or_unset(echo["id"].value) is None
    read_at = parse_instant(sent)
    return read_at is not None and read_at < datetime.fromisoformat(updated_at)


def is_same(value: Raw, stored: Any) -> bool:
    """Return whether JSON says what is stored: true is not 1, a timestamp may have another offset."""
    sent = decode_or_unset(value)
    if isinstance(sent, bool) != isinstance(stored, bool):
        return False
    return bool(sent == stored) or None is not parse_instant(sent) == parse_instant(stored)


def decode_or_unset(value: Raw) -> Any:
    """Return the value, UNSET for one that is never stored: a number beyond a float, a deep array."""
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return UNSET


def parse_instant(value: Any) -> datetime | None:
    """Return the instant that a timestamp with an offset states, None for any other value."""
    try:
        instant = msgspec.convert(value, datetime)
    except msgspec.ValidationError:
        return None
    return instant if instant.tzinfo else None
