"""The server's log on standard error: plain text on a terminal, JSON lines elsewhere (DECISIONS 35)."""

import errno
import logging
import os
import sys
import threading
from collections import deque
from datetime import UTC, datetime
from typing import Any

import msgspec

from journal_api.web.request_log import HandledRequest

# Lines that wait to be written; if there are more, the oldest are dropped.
MAX_WAITING = 10_000
# Errors after which writing is tried again, because a full disk may have room later.
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
WRITE_INTERVAL = 0.1  # seconds
CLOSE_TIMEOUT = 2.0  # seconds for the last lines
# Loggers that never log content of requests, at any level.
OWN_LOGGERS = ("journal_api", "uvicorn")


def log_to_standard_error(level: str) -> None:
    """Log this service and uvicorn from `level` on, others from warnings on: aiosqlite would log parameters."""
    if sys.stderr is None:  # closed before the start
        return
    # The formatters print none of these, and collecting them costs time for each request.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = BackgroundHandler(sys.stderr.fileno())
    handler.setFormatter(PlainFormatter() if sys.stderr.isatty() else JsonFormatter())
    level_number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(level_number, logging.WARNING), handlers=[handler])
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(level_number)


class BackgroundHandler(logging.Handler):
    """Writes lines in a daemon thread: if nobody reads the log, lines are lost and no request is delayed.

    It writes to the file descriptor, because a blocked thread that holds the lock of `sys.stderr` would
    prevent the interpreter from exiting.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor
        self.lines: deque[str] = deque(maxlen=MAX_WAITING)
        self.is_closing = threading.Event()
        self.thread = threading.Thread(target=self.write_lines, name="log", daemon=True)
        self.thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def write_lines(self) -> None:
        """Write the waiting lines at intervals: waking up for each line would slow down the event loop."""
        while not self.is_closing.wait(WRITE_INTERVAL) or self.lines:
            lines = [self.lines.popleft() for _ in range(len(self.lines))]
            try:
                self.write("".join(f"{line}\n" for line in lines).encode(errors="backslashreplace"))
            except OSError as error:
                if error.errno not in DISK_FULL:
                    return  # the reader of the pipe is gone

    def write(self, content: bytes) -> None:
        while content:
            content = content[os.write(self.descriptor, content) :]

    def close(self) -> None:
        self.is_closing.set()
        self.thread.join(CLOSE_TIMEOUT)
        super().close()


class PlainFormatter(logging.Formatter):
    """Formats `12:15:22 GET /v1/tags 200 1.3 ms req_0f2c... key AbCd`, in local time."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        if record.levelno >= logging.WARNING:
            record.message = f"{record.levelname}: {record.message}"
        return super().formatMessage(record)


class JsonFormatter(logging.Formatter):
    """Formats a line as a JSON object: `time` (UTC), `level`, and the members of a request or `message`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"time": format_time(record.created), "level": record.levelname.lower()}
        if isinstance(record.msg, HandledRequest):
            line |= record.msg._asdict()
        else:
            line |= {"logger": record.name.removesuffix(".error"), "message": encodable(record.getMessage())}
        if record.exc_info:
            line["exception"] = encodable(self.formatException(record.exc_info))
        return msgspec.json.encode(line).decode()


def encodable(text: str) -> str:
    """Return the text with what UTF-8 cannot say, as in names of files that are no text, escaped."""
    return text.encode(errors="backslashreplace").decode()


def format_time(instant: float) -> str:
    return datetime.fromtimestamp(instant, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
