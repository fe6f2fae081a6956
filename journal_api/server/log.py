"""The log of the server, on standard error: plain for people on a terminal, JSON elsewhere (DECISIONS 46)."""

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

# Lines that wait to be written; beyond them the oldest are lost.
MOST_WAITING = 10_000
# A disk that is full now may have room again.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
PAUSE = 0.1  # seconds
PATIENCE = 2.0  # seconds for what is left at the end
# The loggers that say nothing of what a client sent, at any level.
SPEAKERS = ("journal_api", "uvicorn")


def log_to_standard_error(level: str) -> None:
    """Have what we and uvicorn say from that level on written there.

    Of other libraries only warnings: aiosqlite's debugging repeats every statement with its values.
    """
    if sys.stderr is None:  # closed from the start
        return
    # None of this is written, and a line a request should cost little.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = Background(sys.stderr.fileno())
    handler.setFormatter(Plain() if sys.stderr.isatty() else Json())
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler])
    for name in SPEAKERS:
        logging.getLogger(name).setLevel(number)


class Background(logging.Handler):
    """Writes in a thread of its own: whoever does not read the log loses lines and delays no request.

    It writes past `sys.stderr`, whose lock a waiting thread must not hold when the interpreter ends.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor
        self.lines: deque[str] = deque(maxlen=MOST_WAITING)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.write_on, name="log", daemon=True)
        self.thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def write_on(self) -> None:
        """Now and then all that came meanwhile: to wake up for each line would disturb whoever answers."""
        while not self.is_over.wait(PAUSE) or self.lines:
            lines = [self.lines.popleft() for _ in range(len(self.lines))]
            try:
                self.write("".join(f"{line}\n" for line in lines).encode(errors="backslashreplace"))
            except OSError as error:
                if error.errno not in NO_ROOM:
                    return  # nobody reads it any more

    def write(self, text: bytes) -> None:
        while text:
            text = text[os.write(self.descriptor, text) :]

    def close(self) -> None:
        """Write what is left, for as long as it is read."""
        self.is_over.set()
        self.thread.join(PATIENCE)
        super().close()


class Plain(logging.Formatter):
    """`12:15:22 GET /v1/tags 200 1.3 ms req_0f2c... key AbCd`, in the time of the machine."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        if record.levelno >= logging.WARNING:
            record.message = f"{record.levelname}: {record.message}"
        return super().formatMessage(record)


class Json(logging.Formatter):
    """One JSON object a line: `time` (UTC), `level`, and what a request was or what there is to say."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
        }
        if isinstance(record.msg, HandledRequest):
            line |= record.msg.as_json_members()
        else:
            line |= {"logger": record.name.removesuffix(".error"), "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()
