"""Conditional requests: ETag, If-Match and If-None-Match (RFC 9110 §13, DECISIONS 4)."""

import re
from collections.abc import Iterable
from dataclasses import replace

from msgspec import Struct, json
from starlette.requests import Request

from journal_api.errors import PreconditionFailed
from journal_api.structs.trades import Trade
from journal_api.web.responses import Envelope, Response, StoredFile, compute_etag

# The list of entity tags in both headers: RFC 9110 §8.8.3 and §5.6.1.
ENTITY_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
ENTITY_TAGS = re.compile(rf"[ \t,]*(?:{ENTITY_TAG}[ \t]*(?:,[ \t,]*|\Z))+")
TAG = re.compile(ENTITY_TAG)
NO_TAG = "If-Match is not an ETag: send the header ETag of the GET as it is, with its double quotes."


def with_etag(request: Request, response: Response) -> Response:
    """Return the response with an ETag header, or a 304 if If-None-Match lists that ETag."""
    if not isinstance(response, Envelope | StoredFile):
        return response
    etag = response.etag
    if request.method in ("GET", "HEAD") and matches(etag, join_header(request, "if-none-match"), weak=True):
        return response.not_modified
    if isinstance(response, StoredFile) or "ETag" in response.headers:
        return response
    return response.with_headers({"ETag": etag})


def is_conditional(request: Request) -> bool:
    return "if-match" in request.headers or "if-none-match" in request.headers


class Version(Struct):
    """The members that tell the states of an object apart."""

    id: int
    updated_at: str


def encode_versions(objects: Iterable[Version | Trade]) -> bytes:
    """Return what the ETag of several objects is over, in any order."""
    return json.encode(sorted((one.id, one.updated_at) for one in objects))


def with_versions(response: Envelope, listed: str) -> Envelope:
    """Return the response with the ETag of the objects that it lists, in any order."""
    return replace(response, versions=encode_versions(json.decode(listed, type=list[Version])))


def check_versions(request: Request, objects: Iterable[Trade]) -> None:
    """Compare the ETag of the objects that a body names with the conditions. Raises PreconditionFailed."""
    if is_conditional(request):
        check_conditions(request, compute_etag(encode_versions(objects)))


def check_conditions(request: Request, etag: str) -> None:
    """Compare the current ETag with If-Match and If-None-Match. Raises PreconditionFailed."""
    if_match, if_none_match = join_header(request, "if-match"), join_header(request, "if-none-match")
    if if_match is not None and not matches(etag, if_match, weak=False):
        raise PreconditionFailed(None if is_tag_list(if_match) else NO_TAG)
    if matches(etag, if_none_match, weak=True):
        raise PreconditionFailed


def is_tag_list(header: str) -> bool:
    return header.strip(" \t") == "*" or ENTITY_TAGS.fullmatch(header) is not None


def join_header(request: Request, name: str) -> str | None:
    """Return the value of a list header, its lines joined, None without the header."""
    sought = name.encode()
    lines = [value.decode("latin-1") for name, value in request.scope["headers"] if name == sought]
    return ", ".join(lines) if lines else None


def matches(etag: str, header: str | None, *, weak: bool) -> bool:
    """Return whether the header lists the ETag. `*` matches any, weak tags only if `weak`, other text nothing."""
    if header is None:
        return False
    if header.strip(" \t") == "*":
        return True
    return is_tag_list(header) and any(etag == (tag.removeprefix("W/") if weak else tag) for tag in TAG.findall(header))
