"""Between HTTP and msgspec: bodies and queries in."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect, Request

from journal_api.database import Database
from journal_api.errors import Conflict, RequestTooLarge, UnsupportedMediaType, ValidationFailed

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

LARGEST_BODY = 4 * 1024 * 1024
LARGEST_UPLOAD = 64 * 1024 * 1024
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")
# How msgspec words its errors; test_codec.py holds it to them.
AT_PATH = re.compile(r"(?P<reason>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
ABOUT_MEMBER = re.compile(
    r"Object (?P<what>missing required|contains unknown) field `(?P<member>.*)`", re.DOTALL
)


def database(request: Request) -> Database:
    opened: Database = request.scope.get("database") or request.app.state.database
    return opened


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


def decode_each(values: Sequence[msgspec.Raw], struct: type[S], name: str) -> list[S]:
    """Each of the values as the struct; raises ValidationFailed with the errors of all, by index."""
    found: list[S] = []
    errors = IndexedErrors(name)
    for index, value in enumerate(values):
        with errors.at(index):
            found.append(decode_json(bytes(value), struct))
    errors.raise_if_any()
    return found


class IndexedErrors:
    """The errors of many items, gathered under `name[index]`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.details: dict[str, Any] = {"fields": {}, "unknown_fields": []}

    @contextmanager
    def at(self, index: int) -> Iterator[None]:
        """Gather what the block raises of ValidationFailed and Conflict."""
        try:
            yield
        except (ValidationFailed, Conflict) as error:
            path = f"{self.name}[{index}]"
            fields = error.details.get("fields", {})
            unknown = error.details.get("unknown_fields", [])
            self.details["fields"] |= {f"{path}.{field}": reason for field, reason in fields.items()}
            self.details["unknown_fields"] += [f"{path}.{field}" for field in unknown]
            if not fields and not unknown:
                self.details["fields"][path] = str(error)

    def raise_if_any(self) -> None:
        """Raises ValidationFailed."""
        if details := {name: found for name, found in self.details.items() if found}:
            raise ValidationFailed(**details)


def decode_json(body: str | bytes, struct: type[S]) -> S:
    """Raises ValidationFailed."""
    try:
        return msgspec.json.decode(body, type=struct, dec_hook=decode_value)
    except RecursionError:
        raise ValidationFailed("The body is nested too deeply.") from None
    except msgspec.ValidationError as error:
        raise explained(error, struct) from None
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
    except msgspec.ValidationError as error:
        raise explained(error, struct) from None


def decode_value(kind: Any, sent: object) -> object:
    """msgspec's hook: the types of values.py and money.py read themselves."""
    return kind.decode(sent)


def check_media_type(request: Request) -> None:
    """Raises UnsupportedMediaType for what the operation does not take; no word is taken for the first."""
    taken: tuple[str, ...] = request.scope["operation"].takes
    media_type, _, parameters = request.headers.get("content-type", taken[0]).partition(";")
    charset = re.search(r'charset\s*=\s*"?([^";\s]*)', parameters, re.IGNORECASE)
    if (
        media_type.strip().lower() not in taken
        or (charset and charset[1].lower() not in ("utf-8", "utf8"))
        or request.headers.get("content-encoding", "identity").strip().lower() != "identity"
    ):
        raise UnsupportedMediaType(allowed=list(taken))


def most_bytes(request: Request) -> int:
    """How long a body of this operation may be."""
    return LARGEST_UPLOAD if request.scope["operation"].takes_file else LARGEST_BODY


async def body_of(request: Request, max_bytes: int) -> AsyncIterator[bytes]:
    """The body in parts; raises RequestTooLarge as soon as it is longer than `max_bytes`."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced[:20]) > max_bytes:
        raise RequestTooLarge(max_bytes=max_bytes)
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise RequestTooLarge(max_bytes=max_bytes)
        yield part


class Upload(NamedTuple):
    """A body that is a file, at its beginning."""

    file: BinaryIO
    sha256: str


@asynccontextmanager
async def uploaded(request: Request) -> AsyncIterator[Upload]:
    """The body as a file, gone after the block. Raises UnsupportedMediaType or RequestTooLarge."""
    check_media_type(request)
    digest = hashlib.sha256()
    with TemporaryFile() as file:
        async for part in body_of(request, most_bytes(request)):
            digest.update(part)
            file.write(part)
        file.seek(0)
        yield Upload(file, digest.hexdigest())


async def while_wanted(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work returns. Once the client has gone it is cancelled, and ClientDisconnect raised.

    The body must have been read.
    """
    working = asyncio.ensure_future(work)
    tasks = (working, asyncio.ensure_future(request.receive()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def explained(error: msgspec.ValidationError, struct: type[msgspec.Struct]) -> ValidationFailed:
    """The error of msgspec as `details`: which field and why, which unknown member, which words go."""
    at = AT_PATH.fullmatch(str(error))
    assert at is not None
    path, reason = at["path"] or "", at["reason"]
    if about := ABOUT_MEMBER.fullmatch(reason):
        path = f"{path}.{about['member']}" if path else about["member"]
        if about["what"] == "contains unknown":
            return ValidationFailed("The request has members that are not known.", unknown_fields=[path])
        reason = "is required"
    if not path:
        return ValidationFailed(f"The body {worded(reason)}.")
    details: dict[str, Any] = {"fields": {path: worded(reason)}}
    if allowed := words_allowed(struct, path):
        details["allowed"] = allowed
        details["fields"][path] = f"must be one of: {', '.join(allowed)}"
    return ValidationFailed(**details)


def worded(reason: str) -> str:
    """msgspec's reason in the words of the contract."""
    reason = reason.replace("`", "").replace("Expected ", "must be ").replace(", got ", ", not ")
    if reason.startswith("must be str matching regex '^#"):
        return "must be a colour #RRGGBB"
    if reason.startswith("must be str matching regex '^[^"):
        return "must not contain NUL"
    return reason


@lru_cache(maxsize=256)
def words_allowed(struct: type[msgspec.Struct], member: str) -> list[str]:
    """The words of a member that has a closed list of them, else nothing."""
    hint = get_type_hints(struct).get(member)
    for kind in (hint, *get_args(hint)):
        if get_origin(kind) is Literal:
            return [word for word in get_args(kind) if isinstance(word, str)]
        if listed := getattr(kind, "allowed", None):
            return list(listed)
    return []


@lru_cache(maxsize=64)
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
