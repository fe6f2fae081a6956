"""The arguments of a tool call as parts of a request: path, query and page. The API validates all other values."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from journal_api.errors import ValidationFailed
from journal_api.mcp.results import encode
from journal_api.values.types import Offset
from journal_api.web.decoding import decode_json

Arguments = Mapping[str, Any]

ROWS = 20
MAX_ROWS = 200
MAX_VALUE_LENGTH = 1000  # characters, because an address has a limit
# What may be in a path, and what to say of anything else.
PLACE = re.compile(r"\{(\w+)\}")
AN_ID = re.compile("[1-9][0-9]{0,18}"), "must be a positive integer"
FORMS = {"date": (re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}"), "must be a date YYYY-MM-DD")}


class Page(Struct, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS)] = ROWS
    offset: Offset = 0


def read_path(template: str, arguments: Arguments) -> tuple[str, Arguments]:
    """The path of a request, with the id or the day in its braces, and all other arguments; or ValidationFailed."""
    names = PLACE.findall(template)
    for name in names:
        form, reason = FORMS.get(name, AN_ID)
        if not form.fullmatch(str(arguments[name])):
            raise ValidationFailed(fields={name: reason})
    return template.format(**arguments), {name: value for name, value in arguments.items() if name not in names}


def read_page(arguments: Arguments) -> Page:
    sent = {name: arguments[name] for name in Page.__struct_fields__ if name in arguments}
    return decode_json(encode(sent), Page)


def read_filters(arguments: Arguments) -> dict[str, str]:
    """The arguments that are no page, as query parameters. Raises ValidationFailed."""
    page = Page.__struct_fields__
    return {name: write_parameter(name, value) for name, value in arguments.items() if name not in page}


def write_parameter(name: str, value: Any) -> str:
    """The value of a query parameter, a list separated by commas. Raises ValidationFailed."""
    if isinstance(value, list) and not any(isinstance(item, bool | dict | list) for item in value):
        value = ",".join(map(str, value))
    if isinstance(value, bool):
        value = encode(value)
    if isinstance(value, dict | list):
        raise ValidationFailed(fields={name: "must be a text or a number"})
    text = str(value)
    if len(text) > MAX_VALUE_LENGTH:
        raise ValidationFailed(fields={name: f"must be at most {MAX_VALUE_LENGTH} characters"})
    return text
