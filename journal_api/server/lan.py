"""The address of this machine in the local network."""

import socket
from ipaddress import IPv4Address

from journal_api.settings import SettingsError

# An address of documentation (RFC 5737), which belongs to nobody.
ELSEWHERE = ("192.0.2.1", 9)
AUTOMATIC = "auto"


def find_lan_address(text: str) -> str:
    """Return the IPv4 address; for `auto` the address that reaches other networks. Raises SettingsError."""
    if text == AUTOMATIC:
        found = detect_address()
        if found is None:
            raise SettingsError("this machine is in no network; name its address: --lan 192.168.1.20")
        return found
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise SettingsError(f"--lan must be an IPv4 address of this machine: {text!r}") from None


def detect_address() -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)  # which chooses the way and sends nothing
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    return None if IPv4Address(address).is_loopback else address
