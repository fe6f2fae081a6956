"""GET and POST /sign-in, for the page. Both are outside /v1 and need no API key."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address, ip_address

from aiosqlite import Connection
from msgspec import UNSET, Struct, UnsetType, json
from starlette.requests import Request
from starlette.routing import Route

from journal_api.database.sql import fetch
from journal_api.errors import Unauthorized, UnsupportedMediaType, ValidationFailed
from journal_api.repositories import api_keys, users
from journal_api.settings import Networks, Settings, is_loopback
from journal_api.values.api_keys import SCOPES, hash_key
from journal_api.values.clock import as_text
from journal_api.values.sign_in import KEY_COMMAND, SignInOptions, name_browser
from journal_api.values.types import Name100
from journal_api.web.auth import count_bad_key
from journal_api.web.bodies import stream_body
from journal_api.web.context import database
from journal_api.web.decoding import decode_json
from journal_api.web.middleware import HOST, LOOPBACK_HOSTS
from journal_api.web.quoting import quote
from journal_api.web.responses import Response, created, ok

MAX_BODY = 4096  # bytes
# The page forgets its key with the tab, so the key must not live for ever.
KEY_LASTS = timedelta(days=30)
# About as long as the sessions of proxies, so that whom the proxy locks out is out a day later.
PROXY_KEY_LASTS = timedelta(days=1)
PROXY_HEADERS = ("forwarded", "via", "x-real-ip")
INVALID_CODE = (
    "This link no longer signs in: its code was used, is older than 10 minutes, or is of an earlier start. "
    "Start the journal with `make run` or `journal-api serve --first-key` to get a new link, or sign in with "
    "an API key."
)


class SignIn(Struct, kw_only=True, forbid_unknown_fields=True):
    # Without a code, the user is the one whom a trusted proxy names.
    code: str | UnsetType = UNSET
    # Only say whose journal would be opened; the code stays valid.
    dry_run: bool = False


async def get_sign_in(request: Request) -> Response:
    """Return the command that creates a key, and the user whom a trusted proxy names.

    Only a browser on this machine gets paths of this machine.
    """
    options: SignInOptions = request.app.state.sign_in_options
    command = options.command if is_on_this_machine(request) else KEY_COMMAND
    user = find_proxy_user(request)
    named = {"user": json.encode(user).decode()} if user else {}
    return ok(command=json.encode(command).decode(), **named)


async def sign_in(request: Request) -> Response:
    """Exchange a one-time code, or a user whom a trusted proxy names, for a new key."""
    body = await decode_sign_in(request)
    if isinstance(body.code, UnsetType):
        return await exchange_proxy_user(request, is_dry_run=body.dry_run)
    return await exchange_code(request, body.code, is_dry_run=body.dry_run)


async def exchange_code(request: Request, code: str, *, is_dry_run: bool) -> Response:
    """Return a new key of the first user, or with a dry run only that user."""
    options: SignInOptions = request.app.state.sign_in_options
    if is_of_another_site(request) or not options.code.is_valid(code):
        count_bad_key(request)
        raise Unauthorized(INVALID_CODE)
    if is_dry_run:
        return await tell_user(request, await users.find_first_id(database(request).reader))
    with options.code.used():  # without an await since is_valid, so that of two requests one has the code
        return await create_key(request, None, KEY_LASTS)


async def exchange_proxy_user(request: Request, *, is_dry_run: bool) -> Response:
    """Return a new key of the user whom a trusted proxy names, or with a dry run only that user."""
    user = find_proxy_user(request)
    if user is None:
        raise ValidationFailed(fields={"code": "is required"})
    if is_of_another_site(request):
        raise Unauthorized("The page of another site cannot sign in.")
    user_id = await users.find_id(database(request).reader, user)
    if user_id is None:
        raise Unauthorized(f"There is no user {quote(user)}: `journal-api users add NAME` creates one.")
    if is_dry_run:
        return await tell_user(request, user_id)
    return await create_key(request, user_id, PROXY_KEY_LASTS)


async def tell_user(request: Request, user_id: int) -> Response:
    return ok(me=await users.get(database(request).reader, user_id))


async def create_key(request: Request, user_id: int | None, lasts: timedelta) -> Response:
    """Create a key that is named after the browser, of the first user without a user."""
    name = name_browser(request.headers.get("user-agent", ""))
    expires_at = as_text(datetime.now(UTC) + lasts)

    async def insert(db: Connection) -> Response:
        owner_id = user_id or await users.find_first_id(db)
        key = await api_keys.insert(db, owner_id, name, SCOPES, expires_at)
        key_id = await fetch(db, api_keys.KEY_ROW, {"hash": hash_key(key)})
        return created(f"/v1/keys/{key_id}", key=f'"{key}"', key_id=str(key_id))

    return await database(request).write(insert)


async def decode_sign_in(request: Request) -> SignIn:
    """Decode the body. A form of another site cannot send the media type, which is therefore required."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UnsupportedMediaType("Send the body as application/json.", allowed=["application/json"])
    return decode_json(b"".join([chunk async for chunk in stream_body(request, MAX_BODY)]), SignIn)


def is_of_another_site(request: Request) -> bool:
    """Return whether the page of another origin sent the request, as the browser says."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site != "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != request.headers["host"]


def is_on_this_machine(request: Request) -> bool:
    """Return whether the request comes from this machine: not through a proxy, not from another site."""
    host = HOST.fullmatch(request.headers["host"])
    return (
        request.client is not None
        and is_loopback(request.client.host)
        and host is not None
        and host["name"].lower() in LOOPBACK_HOSTS
        and not any(name in PROXY_HEADERS or name.startswith("x-forwarded-") for name in request.headers)
        and not is_of_another_site(request)
    )


def find_proxy_user(request: Request) -> str | None:
    """Return the user whom a trusted proxy names by a header; None without the setting or one header.

    No header can change the address: it is the connection's.
    """
    settings: Settings = request.app.state.settings
    if not settings.user_header or request.client is None:
        return None
    if not is_of(request.client.host, settings.trusted_proxies):
        return None
    values = request.headers.getlist(settings.user_header)
    try:
        (value,) = values
        return str(Name100.decode(value.encode("latin-1").decode()))
    except ValueError:
        return None


def is_of(host: str, networks: Networks) -> bool:
    """Return whether the address is of the networks; an IPv4 address may have its form for IPv6."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return any(address in network for network in networks)


ROUTES = [Route("/sign-in", get_sign_in), Route("/sign-in", sign_in, methods=["POST"])]
