"""Files that every client gets the same: compressed once, sent in parts."""

import gzip
import re
from collections.abc import Mapping
from pathlib import Path

import brotli
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from journal_api.web.responses import encode_headers, send_body

# A coding in Accept-Encoding, unless its weight is 0 (RFC 9110 §12.5.3).
ACCEPTED = r"(?i)(?:^|,)[ \t]*{}[ \t]*(?:,|$|;(?![ \t]*q=0(?:\.0*)?[ \t]*(?:,|$)))"
MAX_SMALL = 128 * 1024  # bytes of a file for which the highest quality of brotli takes some milliseconds
CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}


class StaticFile:
    """A file, compressed when it is made, so keep it. Browsers accept brotli from this machine and over HTTPS only."""

    def __init__(self, name: str, content: bytes, headers: Mapping[str, str]) -> None:
        self.content = content
        # The smallest first.
        self.compressed = {
            "br": brotli.compress(content, quality=11 if len(content) <= MAX_SMALL else 5),
            "gzip": gzip.compress(content, mtime=0),
        }
        content_type = CONTENT_TYPES[Path(name).suffix]
        self.headers = encode_headers({**headers, "content-type": content_type, "vary": "accept-encoding"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        accepted = Headers(scope=scope).get("accept-encoding", "")
        coding = next((one for one in self.compressed if re.search(ACCEPTED.format(one), accepted)), None)
        body = self.compressed[coding] if coding else self.content
        headers = [*self.headers, (b"content-length", b"%d" % len(body))]
        if coding:
            headers.append((b"content-encoding", coding.encode()))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send_body(send, b"" if scope["method"] == "HEAD" else body)
