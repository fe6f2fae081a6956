"""The server's log: times, and a disk that is full for a while."""

import errno
import logging
import os

import msgspec
import pytest
from commands import wait_until

from journal_api.server import log
from journal_api.server.log import BackgroundHandler, JsonFormatter, PlainFormatter, format_time


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1767225600, "2026-01-01T00:00:00.000Z"),
        (1767225600.0078125, "2026-01-01T00:00:00.007Z"),
        (1767225600.25, "2026-01-01T00:00:00.250Z"),
        (1767225600.9999, "2026-01-01T00:00:00.999Z"),
        (1767225601, "2026-01-01T00:00:01.000Z"),
    ],
)
def test_the_time_of_a_line_has_three_digits_of_a_second(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


@pytest.mark.parametrize(
    ("level", "text"), [(logging.INFO, "ready"), (logging.WARNING, "WARNING: ready"), (logging.ERROR, "ERROR: ready")]
)
def test_a_line_on_a_terminal_names_its_level_from_warnings_on(level: int, text: str) -> None:
    record = logging.LogRecord("journal_api", level, "", 0, "ready", None, None)
    assert PlainFormatter().format(record)[len("12:15:22 ") :] == text


def test_lines_are_written_again_once_a_full_disk_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    errors, write = [errno.ENOSPC], os.write

    def fail_at_first(descriptor: int, content: bytes) -> int:
        if errors:
            raise OSError(errors.pop(), "No space left on device")
        return write(descriptor, content)

    monkeypatch.setattr(log, "WRITE_INTERVAL", 0.01)
    monkeypatch.setattr(os, "write", fail_at_first)
    handler = BackgroundHandler(writing)
    for message in ("lost", "kept"):
        handler.emit(logging.makeLogRecord({"msg": message}))
        wait_until(lambda: not errors)
    handler.close()
    os.close(writing)

    with open(reading, "rb") as lines:
        assert lines.read() == b"kept\n"


def test_a_name_that_is_no_text_is_escaped_in_its_line() -> None:
    reading, writing = os.pipe()
    handler = BackgroundHandler(writing)
    handler.setFormatter(JsonFormatter())
    for message in (os.fsdecode(b"journal \xff.db"), "the next"):
        handler.emit(logging.makeLogRecord({"msg": message, "name": "journal"}))
    handler.close()
    os.close(writing)

    with open(reading, "rb") as lines:
        assert [msgspec.json.decode(line)["message"] for line in lines] == [r"journal \udcff.db", "the next"]
