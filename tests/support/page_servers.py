"""A server of empty pages, which decides by their request what they are."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from commands import PATIENCE

# The status and the headers for a request.
Answer = Callable[[BaseHTTPRequestHandler], tuple[int, dict[str, str]]]


@contextmanager
def empty_pages(answer: Answer) -> Iterator[int]:
    """The port on the loopback interface where the pages are served."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers = answer(self)
            self.send_response(status)
            for name, value in {"Content-Length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing: standard error belongs to the tests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(PATIENCE)
