"""Between HTTP and msgspec: bodies and queries in."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request

from journal_api.errors import Conflict, ValidationFailed
from journal_api.values.types import decode_value
from journal_api.web.bodies import T, body_of, check_media_type, most_bytes
from journal_api.web.validation_errors import Findings, explained, explained_query

S = TypeVar("S", bound=msgspec.Struct)

WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")


async def decode_body(request: Request, struct: type[S]) -> S:
    """The JSON body as the struct.

    Raises UnsupportedMediaType, RequestTooLarge, or ValidationFailed with `fields`, `unknown_fields` or
    `allowed`.
    """
    assert request.scope["operation"].body is struct, "the route's row states another struct"
    check_media_type(request)
    body = b"".join([part async for part in body_of(request, most_bytes(request))])
    try:
        # msgspec does not look inside strings that it skips; this does.
        return decode_json(body.decode("utf-8"), struct)
    except UnicodeDecodeError:
        raise ValidationFailed("The body is not UTF-8.") from None


def decode_each(
    values: Sequence[msgspec.Raw], struct: type[S], name: str, convert: Callable[[S], T]
) -> list[T]:
    """Each value as the struct, converted; raises ValidationFailed with the errors of all, by index."""
    items: list[T] = []
    errors = IndexedErrors(name)
    for index, value in enumerate(values):
        with errors.at(index):
            items.append(convert(decode_json(bytes(value), struct)))
    errors.raise_if_any()
    return items


class IndexedErrors:
    """The errors of many items, gathered under `name[index]`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found = Findings()

    @contextmanager
    def at(self, index: int) -> Iterator[None]:
        """Gather what the block raises of ValidationFailed and Conflict."""
        try:
            yield
        except (ValidationFailed, Conflict) as error:
            path = f"{self.name}[{index}]"
            fields = error.details.get("fields", {})
            unknown = error.details.get("unknown_fields", [])
            for field, reason in fields.items():
                self.found.add(f"{path}.{field}", reason)
            for field in unknown:
                self.found.add_unknown(f"{path}.{field}")
            if not fields and not unknown:
                self.found.add(path, str(error))

    def raise_if_any(self) -> None:
        """Raises ValidationFailed."""
        if self.found:
            raise self.found.error()


def decode_json(body: str | bytes, struct: type[S]) -> S:
    """Raises ValidationFailed with every error."""
    try:
        try:
            return msgspec.json.decode(body, type=struct, dec_hook=decode_value)
        except (msgspec.ValidationError, ValidationFailed):
            raise explained(body.encode() if isinstance(body, str) else body, struct) from None
    except RecursionError:
        raise ValidationFailed("The body is nested too deeply.") from None
    except msgspec.DecodeError as error:
        raise ValidationFailed(f"The body is not JSON: {error}") from None


def decode_query(request: Request, struct: type[S]) -> S:
    """The known query parameters as the struct; unknown ones are ignored. Raises ValidationFailed."""
    assert request.scope["operation"].query is struct, "the route's row states another struct"
    whole_numbers = members_that_are_numbers(struct)
    names = {field.encode_name for field in msgspec.structs.fields(struct)}
    values: dict[str, str | int] = {}
    query = request.scope["query_string"].decode("latin-1")
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in names:
            continue
        if name in values:
            raise ValidationFailed(fields={name: "must be sent once"})
        if name in whole_numbers and not WHOLE_NUMBER.fullmatch(text):
            raise ValidationFailed(fields={name: "must be a whole number"})
        values[name] = int(text) if name in whole_numbers else text
    try:
        return msgspec.convert(values, struct, dec_hook=decode_value)
    except msgspec.ValidationError:
        raise explained_query(values, struct) from None


@cache  # of the structs of this package, never of anything that was sent
def members_that_are_numbers(struct: type[msgspec.Struct]) -> frozenset[str]:
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    return frozenset(
        field.encode_name
        for field in info.fields
        if any(
            isinstance(kind, msgspec.inspect.IntType) for kind in getattr(field.type, "types", (field.type,))
        )
    )
