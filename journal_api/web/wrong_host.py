"""The page that a browser shows when the journal is opened under a name that is not allowed."""

import re
from html import escape

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.types import Scope

# What can be written into the setting as it is.
PLAIN_HOST = re.compile(r"([A-Za-z0-9.-]{1,100})(:[0-9]{1,5})?")
PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Trading journal: this address is not allowed</title>
<h1>The journal is here, but not under this address</h1>
<p>It answers to the names that its owner has allowed only, so that no other web page can read it.</p>
<h2>What helps</h2>
<ul>
<li>On the machine of the journal, open it as <code>localhost</code> or <code>127.0.0.1</code>.</li>
<li>On a phone or another machine in the same network, start it with
<code>journal-api serve --lan</code> and open the link that it prints.</li>
<li>To allow this name, start it with the setting <code>JOURNAL_ALLOWED_HOSTS={host}</code>.</li>
</ul>
"""
HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}


def build_page(scope: Scope) -> HTMLResponse | None:
    """The page, if a browser opens something; None if the request is for the API, or for no HTML."""
    headers = Headers(scope=scope)
    is_page = scope["method"] in ("GET", "HEAD") and not scope["path"].startswith("/v1/")
    if not is_page or "text/html" not in headers.get("accept", ""):
        return None
    match = PLAIN_HOST.fullmatch(headers.get("host", ""))
    return HTMLResponse(PAGE.format(host=escape(match[1]) if match else "..."), 421, HEADERS)
