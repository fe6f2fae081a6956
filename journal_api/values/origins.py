"""Origins of web pages, in the form in which browsers send them (RFC 6454, 6.1)."""

import re

DEFAULT_PORTS = {"http": "80", "https": "443"}
# The schemes of pages whose origin is always null.
OPAQUE_SCHEMES = frozenset({"about", "blob", "data", "file", "javascript"})
PORT = r"(?::(?P<port>[1-9][0-9]{0,4}))?"
WEB = re.compile(rf"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+){PORT}")
# Desktop programs and extensions; browsers keep the case of such a host.
CUSTOM = re.compile(rf"(?P<scheme>(?!https?:)[a-z][a-z0-9+.-]*)://(?P<host>[A-Za-z0-9._-]+){PORT}")
EXTENSIONS = {
    "chrome-extension": (re.compile(r"[a-p]{32}"), "the 32 letters of the extension's id"),
    "moz-extension": (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "the extension's UUID"),
}
EXAMPLE = "http://localhost:5173"


def require_origin(text: str) -> str:
    """Return an origin that a browser can send, as it is. Raises ValueError that says what to write instead."""
    scheme = text.partition(":")[0].lower()
    if text in ("*", "null"):
        raise ValueError(f"must be origins such as {EXAMPLE}, never * or null")
    if scheme in OPAQUE_SCHEMES:
        raise ValueError(
            f"must be origins such as {EXAMPLE}: pages from {scheme}: have the origin null, which is never "
            "allowed; serve the page on a port of localhost"
        )
    if not is_origin(text):
        raise ValueError(f"must be origins as browsers send them: write {suggest_origin(text)} instead of {text}")
    if scheme in EXTENSIONS and not EXTENSIONS[scheme][0].fullmatch(text.partition("://")[2]):
        raise ValueError(
            f"must be origins as browsers send them: write {scheme}:// and {EXTENSIONS[scheme][1]} instead of {text}"
        )
    return text


def is_origin(text: str) -> bool:
    match = WEB.fullmatch(text) or CUSTOM.fullmatch(text)
    if match is None:
        return False
    port = match["port"] or ""
    return int(port or 0) < 65536 and port != DEFAULT_PORTS.get(match["scheme"], "none")


def suggest_origin(text: str) -> str:
    """Return the origin that was probably meant, or an example if that is unclear."""
    scheme, _, rest = text.lower().rpartition("://")
    scheme = scheme or "http"
    authority = re.split(r"[/?#]", rest)[0].rpartition("@")[2]
    host = authority.removesuffix(f":{DEFAULT_PORTS.get(scheme)}")
    guess = f"{scheme}://" + re.sub(r":[^0-9:\]]*$", ":5173", host)  # a wildcard or nothing as the port
    return guess if is_origin(guess) else EXAMPLE
