"""WebP: chunks in a RIFF file (RFC 9649)."""

from journal_api.rules.picture_formats.exif import UPRIGHT, build_exif, read_orientation, turn
from journal_api.rules.picture_formats.parts import DamagedPicture, PartReader, Picture, require

EXTENDED, ANIMATION, FRAME, EXIF = b"VP8X", b"ANIM", b"ANMF", b"EXIF"
PIXELS = (b"VP8 ", b"VP8L")
KEPT = {EXTENDED: 10, ANIMATION: 6}  # bytes
# Bits of the extended header: a profile, EXIF, XMP.
HAS_PROFILE, HAS_EXIF, HAS_XMP = 0x20, 0x08, 0x04


def clean(data: bytes) -> Picture:
    """Return the picture up to the end that its header states, without profile, EXIF and XMP."""
    head = PartReader(data)
    head.take(4)
    reader = PartReader(head.take(int.from_bytes(head.take(4), "little")))
    reader.take(4)
    content = bytearray(b"RIFF\0\0\0\0WEBP")
    size, orientation, has_pixels = None, UPRIGHT, False
    while reader:
        kind, body = take_chunk(reader)
        if kind == EXIF and content[12:16] == EXTENDED and orientation == UPRIGHT:
            orientation = read_orientation(bytes(body).removeprefix(b"Exif\0\0"))
        require(kind != EXTENDED or len(content) == 12, "has a header that is not the first chunk")
        size = size or read_size(kind, body)
        has_pixels = has_pixels or kind in (*PIXELS, FRAME)
        add_clean_chunk(content, kind, body)
    if size is None or not has_pixels:
        raise DamagedPicture("has no picture")
    if content[12:16] == EXTENDED:
        content[20] &= ~(HAS_PROFILE | HAS_EXIF | HAS_XMP)
        if orientation != UPRIGHT:
            content[20] |= HAS_EXIF
            add_chunk(content, EXIF, build_exif(orientation))
    content[4:8] = (len(content) - 8).to_bytes(4, "little")
    return Picture(*turn(*size, orientation), content)


def take_chunk(reader: PartReader) -> tuple[bytes, memoryview]:
    kind, length = bytes(reader.take(4)), int.from_bytes(reader.take(4), "little")
    body = reader.take(length)
    if length % 2 and reader:
        reader.take(1)
    return kind, body


def add_clean_chunk(content: bytearray, kind: bytes, body: memoryview) -> None:
    """Add the chunk as it is kept; nothing for what only describes the picture."""
    if kind == FRAME:
        require(len(body) > 16, "has a damaged frame")
        reader = PartReader(body)
        start = len(content) + 8
        add_chunk(content, FRAME, reader.take(16))
        while reader:
            add_clean_chunk(content, *take_chunk(reader))
        content[start - 4 : start] = (len(content) - start).to_bytes(4, "little")
    elif kind in (*PIXELS, b"ALPH"):
        add_chunk(content, kind, body)
    elif kind in KEPT:
        require(len(body) == KEPT[kind], "has a damaged header")
        add_chunk(content, kind, body)


def add_chunk(content: bytearray, kind: bytes, body: bytes | memoryview) -> None:
    for part in (kind, len(body).to_bytes(4, "little"), body, bytes(len(body) % 2)):
        content += part


def read_size(kind: bytes, body: memoryview) -> tuple[int, int] | None:
    """Return width and height as the first chunk states them, None for a chunk without."""
    if kind == EXTENDED and len(body) == 10:
        return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
    if kind == b"VP8L" and len(body) > 5 and body[0] == 0x2F:
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and len(body) > 10 and bytes(body[3:6]) == b"\x9d\x01\x2a":
        width, height = (int.from_bytes(body[at : at + 2], "little") & 0x3FFF for at in (6, 8))
        return width, height
    return None
