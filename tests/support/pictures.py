"""Pictures made by hand, part by part, so that tests can put anything into them."""

import struct
import zlib
from collections.abc import Sequence

# EXIF with the maker SECRET, a place, and the orientation 6: a quarter turn to the right.
EXIF = (
    b"II*\0\x08\0\0\0\x03\0"
    + struct.pack("<HHI4s", 0x010F, 2, 7, struct.pack("<I", 50))
    + struct.pack("<HHIHH", 0x0112, 3, 1, 6, 0)
    + struct.pack("<HHI4s", 0x8825, 4, 1, struct.pack("<I", 57))
    + b"\0\0\0\0"
    + b"SECRET\0"
    + b"\x01\0"
    + struct.pack("<HHI4s", 0x0001, 2, 2, b"N\0\0\0")
    + b"\0\0\0\0"
)
XMP = b'<?xpacket?><x:xmpmeta xmlns:x="adobe:ns:meta/">SECRET</x:xmpmeta>'


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(
    width: int = 3,
    height: int = 2,
    *chunks: tuple[bytes, bytes],
    pixels: bytes | None = None,
    after: Sequence[tuple[bytes, bytes]] = (),
    end: bytes = b"",
) -> bytes:
    """A PNG of grey pixels, with chunks before the pixels and after them, and bytes after the end."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x7f" * width) * height) if pixels is None else pixels
    parts = [(b"IHDR", header), *chunks, (b"IDAT", lines), *after, (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*part) for part in parts) + end


def big_png(size: int, word: bytes = b"") -> bytes:
    """A PNG of about that many bytes, different for each word; nobody could draw it."""
    return png(3, 2, pixels=word.ljust(size, b"x"))


PNG = png()
HEADERS = {"Content-Type": "image/png"}


def jpeg_segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg(*segments: tuple[int, bytes], end: bytes = b"") -> bytes:
    """A JPEG of 16 x 8 pixels whose coded data is no picture, with those segments before its frame."""
    frame = (0xC0, struct.pack(">BHHB", 8, 8, 16, 1) + b"\x01\x11\x00")
    tables = [(0xDB, bytes(65)), frame, (0xC4, bytes(17)), (0xDA, b"\x01\x01\x00\x00\x3f\x00")]
    parts = b"".join(jpeg_segment(*one) for one in (*segments, *tables))
    return b"\xff\xd8" + parts + b"\x12\xff\x00\x34\xff\xd0\x56" + b"\xff\xd9" + end


GIF = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0;"  # of one pixel


def webp_chunk(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


WEBP_PIXELS = (b"VP8L", b"\x2f" + struct.pack("<I", 3 | 2 << 14) + bytes(4))


def riff(chunks: bytes, end: bytes = b"") -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks + end


def webp(*chunks: tuple[bytes, bytes], flags: int = 0x2C, end: bytes = b"") -> bytes:
    """A WebP of 4 x 3 pixels with all flags of metadata, and those chunks after its pixels."""
    header = (b"VP8X", bytes((flags, 0, 0, 0, 3, 0, 0, 2, 0, 0)))
    return riff(b"".join(webp_chunk(*one) for one in (header, WEBP_PIXELS, *chunks)), end)
