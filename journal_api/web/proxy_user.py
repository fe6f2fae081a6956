"""The user whom a reverse proxy has signed in, by a header that only named proxies may send."""

from ipaddress import IPv6Address, ip_address

from starlette.requests import Request

from journal_api.settings import Networks, Settings
from journal_api.values.types import Name100


def find_proxy_user(request: Request) -> str | None:
    """Return the user's name; None without the setting, without one header, or from any other address.

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
