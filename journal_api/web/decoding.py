"""Decode request bodies and query strings into msgspec structs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request

from journal_api.errors import Conflict, ValidationFailed
from journal_api.repositories.idempotency_keys import KeyedRequest
from journal_api.values.types import decode_value
from journal_api.web import validation_errors
from journal_api.web.bodies import check_media_type, find_max_body_size, stream_body
from journal_api.web.operation import Operation
from journal_api.web.quoting import shorten
from journal_api.web.read_only_echo import Echo, split_echo

S = TypeVar("S", bound=msgspec.Struct)

WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


async def decode_body(
    request: Request, operation: Operation, keyed: KeyedRequest | None
) -> tuple[msgspec.Struct | None, Echo]:
    """Return body, if any, and read-only members. Raises UnsupportedMediaType, RequestTooLarge, ValidationFailed."""
    if operation.body is None:
        return None, {}
    if keyed is None:
        check_media_type(request)
    body = b"".join([chunk async for chunk in stream_body(request, find_max_body_size(request))])
    try:
        # msgspec does not validate the UTF-8 of strings that it skips; str.decode does.
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise ValidationFailed("The body is not UTF-8.") from None
    if not text.strip():
        raise ValidationFailed("The body is empty; send a JSON object.")
    try:
        return decode_json(text, operation.body), {}
    except ValidationFailed:
        rest, echo = find_echo(operation, text)
        if not echo:
            raise
    return decode_json(rest, operation.body), echo


def find_echo(operation: Operation, body: str) -> tuple[bytes, Echo]:
    """Return the body of a PATCH without the members that PATCH cannot write, and those members."""
    if not operation.takes_echo or operation.body is None:
        return b"", {}
    (resource,) = operation.data.values()
    try:
        return split_echo(body, operation.body, resource)
    except (msgspec.DecodeError, RecursionError):
        return b"", {}


class IndexedErrors:
    """Collects the errors of a list's items under `name[index]`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.errors = validation_errors.ErrorCollector()
        self.ids: dict[str, list[int]] = {}  # such as unknown_tag_ids

    @contextmanager
    def at(self, index: int) -> Iterator[None]:
        """Collect ValidationFailed and Conflict from the block instead of raising them."""
        try:
            yield
        except (ValidationFailed, Conflict) as error:
            path = f"{self.name}[{index}]"
            fields = error.details.get("fields", {})
            unknown_fields = error.details.get("unknown_fields", [])
            self.errors.add_all(fields, f"{path}.")
            for field in unknown_fields:
                question = getattr(error, "questions", {}).get(field, "")
                self.errors.add_unknown(f"{path}.{field}", question)
            if not fields and not unknown_fields and not self.errors.is_full:
                self.errors.add(path, str(error))
                for name, ids in error.details.items():
                    self.ids[name] = list(dict.fromkeys(self.ids.get(name, []) + ids))

    def raise_if_any(self) -> None:
        """Raise ValidationFailed with the collected errors, if there are any."""
        if self.errors:
            error = self.errors.error()
            error.details |= self.ids
            raise error


def decode_json(body: str | bytes, struct: type[S]) -> S:
    """Decode JSON. Raises ValidationFailed with every error."""
    try:
        try:
            return msgspec.json.decode(body, type=struct, dec_hook=decode_value)
        except (msgspec.ValidationError, ValidationFailed):
            raise validation_errors.find_body_error(body.encode() if isinstance(body, str) else body, struct) from None
    except RecursionError:
        raise ValidationFailed("The body is nested too deeply.") from None
    except UnicodeDecodeError:
        raise ValidationFailed("The body is not UTF-8.") from None
    except msgspec.DecodeError as error:
        raise ValidationFailed(f"The body is not JSON: {error}") from None


def decode_query(request: Request, struct: type[S]) -> S:
    """Decode the query parameters. Raises ValidationFailed with every error."""
    errors = validation_errors.ErrorCollector()
    values = read_values(request.scope["query_string"].decode("latin-1"), struct, errors)
    try:
        decoded = msgspec.convert(values, struct, dec_hook=decode_value)
    except msgspec.ValidationError:
        validation_errors.add_query_errors(errors, values, struct)
    except ValidationFailed as rule_error:
        if not errors:
            raise
        errors.add_all(rule_error.details.get("fields", {}))
    else:
        if not errors:
            return decoded
    raise validation_errors.find_query_error(errors, struct) from None


def read_values(query: str, struct: type[msgspec.Struct], errors: validation_errors.ErrorCollector) -> dict[str, Any]:
    """Return the values of the parameters that the struct has; add what is wrong with the others."""
    members = validation_errors.list_members(struct)
    texts: dict[str, Any] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in members:
            errors.add_unknown(shorten(name))
        elif members[name].item is not None:
            texts.setdefault(name, []).append(text)
        elif name in texts:
            errors.add(name, "must be sent once")
        else:
            texts[name] = text
    values = {name: parse_value(members[name].scalar, name, text, errors) for name, text in texts.items()}
    return {name: value for name, value in values.items() if name not in errors.fields}


def parse_value(scalar: type | None, name: str, text: Any, errors: validation_errors.ErrorCollector) -> Any:
    """Return the value of a query parameter, converted where the member is a number or a boolean."""
    if scalar is int:
        if WHOLE_NUMBER.fullmatch(text):
            return int(text)
        errors.add(name, "must be a whole number")
    elif scalar is bool:
        if text in BOOLEANS:
            return BOOLEANS[text]
        errors.add(name, f"must be one of: {', '.join(BOOLEANS)}", tuple(BOOLEANS))
    return text
