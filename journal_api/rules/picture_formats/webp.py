"""WebP: chunks in a RIFF file (RFC 9649)."""

from journal_api.rules.picture_formats.exif import UPRIGHT, build_exif, read_orientation, turn
from journal_api.rules.picture_formats.parts import STILL, DamagedPicture, PartReader, Picture, require

EXTENDED, ALPHA, EXIF = b"VP8X", b"ALPH", b"EXIF"
LOSSY, LOSSLESS = b"VP8 ", b"VP8L"
PIXELS = {LOSSY, LOSSLESS}
ANIMATED = (b"ANIM", b"ANMF")
# Bits of the extended header.
HAS_ALPHA, HAS_EXIF = 0x10, 0x08


def clean(data: bytes) -> Picture:
    """Return the picture up to the end that its header states, without profile, EXIF and XMP."""
    chunks = list_chunks(data)
    pixels = LOSSY if LOSSY in chunks else LOSSLESS
    require(pixels in chunks, "has no picture")
    size = read_size(pixels, chunks[pixels])
    content = bytearray(b"RIFF\0\0\0\0WEBP")
    orientation = UPRIGHT
    if EXTENDED in chunks:
        header = bytes(chunks[EXTENDED])
        sides = b"".join((side - 1).to_bytes(3, "little") for side in size)
        require(len(header) == 10 and header[4:] == sides, "has a damaged header")
        orientation = read_orientation(bytes(chunks.get(EXIF, b"")).removeprefix(b"Exif\0\0"))
        flags = header[0] & HAS_ALPHA | (HAS_EXIF if orientation != UPRIGHT else 0)
        add_chunk(content, EXTENDED, bytes((flags, 0, 0, 0)) + sides)
        if ALPHA in chunks and pixels == LOSSY:
            add_chunk(content, ALPHA, chunks[ALPHA])
    add_chunk(content, pixels, chunks[pixels])
    if orientation != UPRIGHT:
        add_chunk(content, EXIF, build_exif(orientation))
    content[4:8] = (len(content) - 8).to_bytes(4, "little")
    return Picture(*turn(*size, orientation), content)


def list_chunks(data: bytes) -> dict[bytes, memoryview]:
    head = PartReader(data)
    head.take(4)
    reader = PartReader(head.take(int.from_bytes(head.take(4), "little")))
    reader.take(4)
    chunks: dict[bytes, memoryview] = {}
    while reader:
        kind, body = take_chunk(reader)
        require(kind not in ANIMATED, STILL)
        require(kind not in PIXELS or PIXELS.isdisjoint(chunks), "has more than one picture")
        require(kind != EXTENDED or not chunks, "has a header that is not the first chunk")
        chunks.setdefault(kind, body)
    return chunks


def take_chunk(reader: PartReader) -> tuple[bytes, memoryview]:
    kind, length = bytes(reader.take(4)), int.from_bytes(reader.take(4), "little")
    body = reader.take(length)
    if length % 2 and reader:
        reader.take(1)
    return kind, body


def add_chunk(content: bytearray, kind: bytes, body: bytes | memoryview) -> None:
    for part in (kind, len(body).to_bytes(4, "little"), body, bytes(len(body) % 2)):
        content += part


def read_size(kind: bytes, body: memoryview) -> tuple[int, int]:
    """Return width and height as the pixels state them."""
    if kind == LOSSLESS and len(body) > 5 and body[0] == 0x2F:
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == LOSSY and len(body) > 10 and bytes(body[3:6]) == b"\x9d\x01\x2a":
        width, height = (int.from_bytes(body[at : at + 2], "little") & 0x3FFF for at in (6, 8))
        return width, height
    raise DamagedPicture("has no picture")
