"""Draws the charts of the example journal: bars of a random walk with an entry and an exit."""

import struct
import zlib
from random import Random

WIDTH, HEIGHT, BAR = 320, 160, 5
WHITE, GREY, GREEN, RED, BLUE = range(5)
COLORS = bytes((255, 255, 255, 226, 232, 240, 21, 128, 61, 185, 28, 28, 29, 78, 216))


def draw_chart(seed: int) -> bytes:
    """Return a chart as PNG, the same for a seed every time."""
    random, rows = Random(seed), [bytearray(WIDTH) for _ in range(HEIGHT)]
    for line in range(0, HEIGHT, 40):
        rows[line][:] = bytes([GREY]) * WIDTH
    level = HEIGHT / 2
    for left in range(2, WIDTH - BAR, BAR + 1):
        close = min(max(level + random.gauss(-0.6, 6), 12), HEIGHT - 12)
        low, high = sorted((int(level), int(close)))
        color = GREEN if close <= level else RED
        fill(rows, left + BAR // 2, low - random.randrange(6), 1, high - low + 8, color)
        fill(rows, left, low, BAR, high - low + 1, color)
        if left in (62, 242):  # the entry and the exit
            fill(rows, left - 12, int(close) - 1, BAR + 24, 2, BLUE)
        level = close
    return write_png(rows)


def fill(rows: list[bytearray], left: int, top: int, width: int, height: int, color: int) -> None:
    for row in rows[max(top, 0) : top + height]:
        row[left : left + width] = bytes([color]) * len(row[left : left + width])


def write_png(rows: list[bytearray]) -> bytes:
    """Return the rows of palette indexes as PNG."""
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)),
        (b"PLTE", COLORS),
        (b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
