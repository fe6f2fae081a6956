"""Files that every client gets the same: compressed once, sent in parts."""

import gzip
import re
from collections.abc import Mapping
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from journal_api.web.responses import encode_headers, send_body

# gzip in Accept-Encoding, unless its weight is 0 (RFC 9110 §12.5.3).
GZIP = re.compile(r"(?i)(?:^|,)[ \t]*gzip[ \t]*(?:,|$|;(?![ \t]*q=0(?:\.0*)?[ \t]*(?:,|$)))")


CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}


class StaticFile:
    """The response with a file, compressed for clients that accept gzip. Make it once and keep it."""

    def __init__(self, name: str, content: bytes, headers: Mapping[str, str]) -> None:
        self.content, self.compressed = content, gzip.compress(content, mtime=0)
        content_type = CONTENT_TYPES[Path(name).suffix]
        self.headers = encode_headers({**headers, "content-type": content_type, "vary": "accept-encoding"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_compressed = GZIP.search(Headers(scope=scope).get("accept-encoding", "")) is not None
        body = self.compressed if is_compressed else self.content
        headers = [*self.headers, (b"content-length", b"%d" % len(body))]
        if is_compressed:
            headers.append((b"content-encoding", b"gzip"))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send_body(send, b"" if scope["method"] == "HEAD" else body)
