"""Explain why a body or a query does not match its struct: every offending member, by its path.

msgspec stops at the first error, and its message quotes the client's text. So each member is decoded again
by itself: the walk knows the path, and the message is about one value.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Raw, Struct, UnsetType

from journal_api.errors import ValidationFailed, describe_fields
from journal_api.values.types import COLOR_PATTERN, decode_value, list_parts
from journal_api.web.quoting import quote, shorten

MAX_ERRORS = 100
MAX_NAMED = 5  # unknown members in a message; details have all
MAX_COMPARED_LENGTH = 100  # of a name; a longer one is near none, and comparing it would take long
REPEATED_MEMBER = "has a member twice, once with a value that is not valid"


class Kind(NamedTuple):
    """The type of a member, split so that each level can be decoded by itself.

    `outer` is the type with Raw in place of everything nested. `item` is the kind of an array's items,
    `struct` the type of an object, `allowed` the list of allowed values if it is closed, `parts` the list of
    what one text may name several of. `check` is an additional rule, a function of the JSON bytes that raises
    ValueError. `scalar` is int or bool, which a query states as text. A member may be required.
    """

    outer: Any
    item: "Kind | None" = None
    struct: type[Struct] | None = None
    allowed: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    check: Any = None
    scalar: type | None = None
    is_required: bool = False


class ErrorCollector:
    """The errors of one request, up to MAX_ERRORS."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.unknown: dict[str, str] = {}  # with the member that is probably meant, as a question
        self.allowed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.fields) + len(self.unknown)

    @property
    def is_full(self) -> bool:
        return len(self) >= MAX_ERRORS

    def add(self, path: str, reason: str, allowed: tuple[str, ...] = ()) -> None:
        if not self.is_full:
            self.fields.setdefault(path, reason)
            self.allowed = self.allowed or allowed

    def add_all(self, fields: Mapping[str, str], prefix: str = "") -> None:
        for path, reason in fields.items():
            self.add(f"{prefix}{path}", reason)

    def add_unknown(self, path: str, question: str = "") -> None:
        if not self.is_full:
            self.unknown.setdefault(path, question)

    def error(self) -> ValidationFailed:
        """The error with `fields`, `unknown_fields`, and `allowed` of the first member with a closed list."""
        details = {"fields": self.fields, "unknown_fields": list(self.unknown), "allowed": list(self.allowed)}
        message = f"{describe_unknown(self.unknown)} {describe_fields(self.fields)}".strip()
        error = ValidationFailed(message, **{name: value for name, value in details.items() if value})
        error.questions = self.unknown
        return error


def describe_unknown(unknown: Mapping[str, str]) -> str:
    """The first unknown members as a sentence, with the number of the others; nothing without any."""
    if not unknown:
        return ""
    first = [f"{quote(path)}{question}" for path, question in list(unknown.items())[:MAX_NAMED]]
    others = f" and {len(unknown) - MAX_NAMED} more" if len(unknown) > MAX_NAMED else ""
    return f"Unknown members: {', '.join(first)}{others}."


def find_query_error(errors: ErrorCollector, struct: type[Struct]) -> ValidationFailed:
    """The error with `fields`, `allowed` and `unknown_parameters`, with the nearest names there are."""
    error, known = errors.error(), list_members(struct)
    unknown = error.details.pop("unknown_fields", [])
    if not unknown:
        return error
    described = ", ".join(f"{quote(name)}{suggest(name, known)}" for name in unknown)
    message = f"Unknown query parameters: {described}. Known: {', '.join(known) or 'none'}."
    return ValidationFailed(message, **error.details, unknown_parameters=unknown)


def suggest(name: str, names: Iterable[str]) -> str:
    """Return a question for the nearest of the names, nothing if none is near; `setup_id` is near `id`."""
    whole = [known for known in names if known == f"{name}s"]
    longer = [known for known in names if known.endswith(f"_{name}") or known.startswith(f"{name}_")]
    nearest = whole or longer[:3] or get_close_matches(name[:MAX_COMPARED_LENGTH].lower(), names, n=1, cutoff=0.7)
    return f" (did you mean {' or '.join(nearest)}?)" if nearest else ""


def add_query_errors(errors: ErrorCollector, values: Mapping[str, Any], struct: type[Struct]) -> None:
    """Add the errors of the query's values that msgspec rejects."""
    for name, value in values.items():
        kind = list_members(struct)[name]
        for item in value if isinstance(value, list) else [value]:
            try:
                msgspec.convert(item, (kind.item or kind).outer, dec_hook=decode_value)
            except msgspec.ValidationError as error:
                add_error(errors, name, kind, error)


def find_body_error(body: bytes, struct: type[Struct]) -> ValidationFailed:
    """The error for a body that msgspec rejected. Raises DecodeError when the body is not JSON."""
    try:
        members = msgspec.json.decode(body, type=dict[str, Raw])
    except msgspec.ValidationError as error:
        return ValidationFailed(f"The body {explain(error)}.")
    errors = ErrorCollector()
    try:
        check_object(errors, members, body, struct, "")
    except ValidationFailed as rule_error:  # from a rule of the struct as a whole
        return rule_error
    return errors.error()


def check_object(errors: ErrorCollector, members: dict[str, Raw], raw: bytes, struct: type[Struct], path: str) -> None:
    """Add the errors of an object and everything nested in it.

    The rules between its members are checked only if each member is valid by itself. At the top level they
    raise ValidationFailed, which carries details of its own.
    """
    errors_before = len(errors)
    known = list_members(struct)
    for name, value in members.items():
        if errors.is_full:
            return
        if name in known:
            check_member(errors, value, known[name], f"{path}{name}")
        else:
            errors.add_unknown(f"{path}{shorten(name)}", suggest(name, known))
    for name, kind in known.items():
        if kind.is_required and name not in members:
            errors.add(f"{path}{name}", "is required")
    if len(errors) == errors_before:
        check_rules(errors, raw, struct, path)


def check_member(errors: ErrorCollector, raw: Raw, kind: Kind, path: str) -> None:
    """Add the errors of one value and everything nested in it."""
    try:
        value = msgspec.json.decode(raw, type=kind.outer, dec_hook=decode_value)
        if kind.check is not None:
            kind.check(bytes(raw))
    except (ValueError, msgspec.DecodeError) as error:
        add_error(errors, path, kind, error)
        return
    if kind.item is not None and isinstance(value, list):
        for index, item in enumerate(value):
            if errors.is_full:
                return
            check_member(errors, item, kind.item, f"{path}[{index}]")
    elif kind.struct is not None and isinstance(value, dict):
        check_object(errors, value, bytes(raw), kind.struct, f"{path}.")


def check_rules(errors: ErrorCollector, raw: bytes, struct: type[Struct], path: str) -> None:
    """Add the errors of the struct's `__post_init__`."""
    try:
        msgspec.json.decode(raw, type=struct, dec_hook=decode_value)
    except ValidationFailed as error:
        if not path:
            raise
        errors.add_all(error.details["fields"], path)
    except msgspec.ValidationError:
        # The last value of every member is valid, so an earlier value of a repeated member is not.
        if not path:
            raise ValidationFailed(f"The body {REPEATED_MEMBER}.") from None
        errors.add(path.removesuffix("."), REPEATED_MEMBER)


def add_error(errors: ErrorCollector, path: str, kind: Kind, error: Exception) -> None:
    if kind.allowed:
        errors.add(path, f"must be one of: {', '.join(kind.allowed)}", kind.allowed)
    else:
        errors.add(path, explain(error), kind.parts)


def explain(error: Exception) -> str:
    """The reason as a predicate ("must be ..."); the error is about a single value, so it has no path."""
    if isinstance(error, msgspec.DecodeError) and not isinstance(error, msgspec.ValidationError):
        return "is not JSON"
    reason = str(error)
    if reason == f"Expected `str` matching regex {COLOR_PATTERN!r}":
        return "must be a colour #RRGGBB"
    return reason.replace("`", "").replace("Expected ", "must be ").replace(", got ", ", not ")


@cache  # only called with structs of this package, so the cache is bounded
def list_members(struct: type[Struct]) -> dict[str, Kind]:
    """The kinds of the struct's members by their JSON names."""
    return {
        field.encode_name: build_kind(field.type)._replace(is_required=field.required)
        for field in msgspec.structs.fields(struct)
    }


def build_kind(hint: Any) -> Kind:
    """The kind of a type hint. At most one part of a union is more than a text, a decimal or null."""
    parts = [part for part in list_parts(hint) if part is not UnsetType]
    kinds = [build_part(part) for part in parts]
    outer: Any = Union[tuple(kind.outer for kind in kinds)]  # noqa: UP007
    special = [kind for kind in kinds if kind != Kind(kind.outer)]
    return special[0]._replace(outer=outer) if special else Kind(outer)


def build_part(part: Any) -> Kind:
    bare, *metadata = get_args(part) if get_origin(part) is Annotated else (part,)
    if get_origin(bare) is list:
        array: Any = Annotated[(list[Raw], *metadata)] if metadata else list[Raw]
        return Kind(array, item=build_kind(get_args(bare)[0]))
    if isinstance(bare, type) and issubclass(bare, Struct):
        return Kind(dict[str, Raw], struct=bare)
    if get_origin(bare) is Literal:
        return Kind(part, allowed=get_args(bare))
    extra = next((meta.extra for meta in metadata if isinstance(meta, Meta) and meta.extra), {})
    scalar = bare if bare in (int, bool) else None
    allowed, parts = tuple(getattr(bare, "allowed", ())), tuple(getattr(bare, "parts", ()))
    return Kind(part, allowed=allowed, parts=parts, check=extra.get("check"), scalar=scalar)


def accepts_null(kind: Kind) -> bool:
    return type(None) in list_parts(kind.outer)
