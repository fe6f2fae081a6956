"""Why a body or a query does not fit its struct: every offending member, by its path.

msgspec stops at its first error, and its message quotes what the client wrote. So each member is read once
more by itself: then the path is known from the walk, and the message is about one value.
"""

from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Raw, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.values.types import COLOR_PATTERN, decode_value

MOST_ERRORS = 100
LONGEST_NAME = 100  # of what the client called a member
SENT_TWICE = "has a member twice, once with a value that is not valid"


class Kind(NamedTuple):
    """What a member may be, taken apart.

    `outer` is its type with Raw in the place of everything nested; `item` is the kind of the items of an
    array, `struct` that of an object, `allowed` a closed list of words. `check` is a rule that msgspec does
    not know, on the JSON as it was sent.
    """

    outer: Any
    item: "Kind | None" = None
    struct: type[Struct] | None = None
    allowed: tuple[str, ...] = ()
    check: Any = None


class Member(NamedTuple):
    kind: Kind
    is_required: bool


class Findings:
    """The errors of one request, up to MOST_ERRORS of them."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.unknown: list[str] = []
        self.allowed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.fields) + len(self.unknown)

    @property
    def is_full(self) -> bool:
        return len(self) >= MOST_ERRORS

    def add(self, path: str, reason: str) -> None:
        if not self.is_full:
            self.fields.setdefault(path, reason)

    def add_unknown(self, path: str) -> None:
        if not self.is_full:
            self.unknown.append(path)

    def error(self) -> ValidationFailed:
        """With `fields`, `unknown_fields`, and `allowed` of the first member that has a list of words."""
        details: dict[str, Any] = {}
        if self.fields:
            details["fields"] = self.fields
        if self.unknown:
            details["unknown_fields"] = self.unknown
        if self.allowed:
            details["allowed"] = list(self.allowed)
        message = None if self.fields else "The request has members that are not known."
        return ValidationFailed(message, **details)


def explained(body: bytes, struct: type[Struct]) -> ValidationFailed:
    """Why the body, which msgspec has refused, is not the struct. Raises DecodeError when it is not JSON."""
    try:
        members = msgspec.json.decode(body, type=dict[str, Raw])
    except msgspec.ValidationError as error:
        return ValidationFailed(f"The body {worded(error)}.")
    found = Findings()
    try:
        look_at_members(found, members, body, struct, "")
    except ValidationFailed as rule:  # of the struct as a whole
        return rule
    return found.error()


def explained_query(values: dict[str, Any], struct: type[Struct]) -> ValidationFailed:
    """Why the values of a query, which msgspec has refused, are not the struct."""
    found = Findings()
    for name, value in values.items():
        kind = members_of(struct)[name].kind
        try:
            msgspec.convert(value, kind.outer, dec_hook=decode_value)
        except msgspec.ValidationError as error:
            note(found, name, kind, error)
    return found.error()


def look_at_members(
    found: Findings, members: dict[str, Raw], raw: bytes, struct: type[Struct], path: str
) -> None:
    """Note what is wrong with an object and with everything in it.

    The rules between its members are asked only once nothing else is wrong with it. At the top they raise
    ValidationFailed, with details of their own.
    """
    before = len(found)
    known = members_of(struct)
    for name, value in members.items():
        if found.is_full:
            return
        if name in known:
            look_at(found, value, known[name].kind, f"{path}{name}")
        else:
            found.add_unknown(f"{path}{shortened(name)}")
    for name, member in known.items():
        if member.is_required and name not in members:
            found.add(f"{path}{name}", "is required")
    if len(found) == before:
        look_at_rules(found, raw, struct, path)


def look_at(found: Findings, raw: Raw, kind: Kind, path: str) -> None:
    """Note what is wrong with one value and with everything in it."""
    try:
        value = msgspec.json.decode(raw, type=kind.outer, dec_hook=decode_value)
        if kind.check is not None:
            kind.check(bytes(raw))
    except (ValueError, msgspec.DecodeError) as error:
        note(found, path, kind, error)
        return
    if kind.item is not None and isinstance(value, list):
        for index, item in enumerate(value):
            if found.is_full:
                return
            look_at(found, item, kind.item, f"{path}[{index}]")
    elif kind.struct is not None and isinstance(value, dict):
        look_at_members(found, value, bytes(raw), kind.struct, f"{path}.")


def look_at_rules(found: Findings, raw: bytes, struct: type[Struct], path: str) -> None:
    """Note what the struct's own `__post_init__` refuses."""
    try:
        msgspec.json.decode(raw, type=struct, dec_hook=decode_value)
    except ValidationFailed as error:
        if not path:
            raise
        for name, reason in error.details["fields"].items():
            found.add(f"{path}{name}", reason)
    except msgspec.ValidationError:
        # Every member is right as it was sent last, so an earlier one of the same name is not.
        if not path:
            raise ValidationFailed(f"The body {SENT_TWICE}.") from None
        found.add(path.removesuffix("."), SENT_TWICE)


def note(found: Findings, path: str, kind: Kind, error: Exception) -> None:
    """Add the reason why a value is not of its kind."""
    if kind.allowed:
        found.allowed = found.allowed or kind.allowed
        found.add(path, f"must be one of: {', '.join(kind.allowed)}")
    else:
        found.add(path, worded(error))


def worded(error: Exception) -> str:
    """The reason as docs/api.md#errors has it; it is about a single value, so it has no path."""
    if isinstance(error, msgspec.DecodeError) and not isinstance(error, msgspec.ValidationError):
        return "is not JSON"
    reason = str(error)
    if reason == f"Expected `str` matching regex {COLOR_PATTERN!r}":
        return "must be a colour #RRGGBB"
    return reason.replace("`", "").replace("Expected ", "must be ").replace(", got ", ", not ")


def shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."


@cache  # of the structs of this package, never of anything that was sent
def members_of(struct: type[Struct]) -> dict[str, Member]:
    """The members of an object by the names that clients know."""
    return {
        field.encode_name: Member(kind_of(field.type), field.required)
        for field in msgspec.structs.fields(struct)
    }


def kind_of(hint: Any) -> Kind:
    """The kind that a type hint means. Of a union at most one part is an array or an object."""
    parts = [part for part in parts_of(hint) if part is not UnsetType]
    taken_apart = [kind_of_part(part) for part in parts]
    outer: Any = Union[tuple(kind.outer for kind in taken_apart)]  # noqa: UP007
    special = [kind for kind in taken_apart if kind != Kind(kind.outer)]
    return special[0]._replace(outer=outer) if special else Kind(outer)


def kind_of_part(part: Any) -> Kind:
    bare, *notes = get_args(part) if get_origin(part) is Annotated else (part,)
    if get_origin(bare) is list:
        array: Any = Annotated[(list[Raw], *notes)] if notes else list[Raw]
        return Kind(array, item=kind_of(get_args(bare)[0]))
    if isinstance(bare, type) and issubclass(bare, Struct):
        return Kind(dict[str, Raw], struct=bare)
    if get_origin(bare) is Literal:
        return Kind(part, allowed=get_args(bare))
    extra = next((note.extra for note in notes if isinstance(note, Meta) and note.extra), {})
    return Kind(part, allowed=tuple(getattr(bare, "allowed", ())), check=extra.get("check"))


def parts_of(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
