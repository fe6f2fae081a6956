"""PNG: chunks with checksums (W3C PNG, third edition)."""

from zlib import crc32

from journal_api.rules.picture_formats.exif import UPRIGHT, build_exif, read_orientation, turn
from journal_api.rules.picture_formats.parts import STILL, PartReader, Picture, require

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The chunks before the pixels that are kept, each once, and the bytes that it may have.
PALETTE = b"PLTE"
BEFORE_PIXELS = {
    PALETTE: range(3, 769, 3),
    b"tRNS": range(1, 257),
    b"gAMA": (4,),
    b"cHRM": (32,),
    b"sRGB": (1,),
    b"cICP": (4,),
    b"sBIT": range(1, 5),
    b"bKGD": (1, 2, 6),
    b"pHYs": (9,),
}
HEADER, PIXELS, END, EXIF, ANIMATION = b"IHDR", b"IDAT", b"IEND", b"eXIf", b"acTL"


def clean(data: bytes) -> Picture:
    """Return the picture up to its last chunk, without texts, times, profiles and EXIF."""
    reader = PartReader(data)
    content = bytearray(reader.take(len(SIGNATURE)))
    kind, header = take_chunk(reader)
    require(kind == HEADER and len(header) == 13, "does not begin with its header")
    add_chunk(content, kind, header)
    orientation, seen = UPRIGHT, {HEADER}
    while kind != END:
        before = kind
        kind, body = take_chunk(reader)
        require(kind != ANIMATION, STILL)
        if kind == EXIF and orientation == UPRIGHT:
            orientation = read_orientation(bytes(body))
            if orientation != UPRIGHT:
                add_chunk(content, EXIF, build_exif(orientation))
        elif kind == PIXELS:
            require(before == PIXELS or PIXELS not in seen, "has pixels in two places")
            add_chunk(content, kind, body)
        elif is_kept(kind, len(body), seen):
            add_chunk(content, kind, body)
        elif kind != END:
            require(kind[0] & 0x20 != 0, "has a chunk that is not known and cannot be left out")
        seen.add(kind)
    require(PIXELS in seen, "has no picture")
    add_chunk(content, END, b"")
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    return Picture(*turn(width, height, orientation), content)


def is_kept(kind: bytes, length: int, seen: set[bytes]) -> bool:
    return kind not in seen and PIXELS not in seen and length in BEFORE_PIXELS.get(kind, ())


def take_chunk(reader: PartReader) -> tuple[bytes, memoryview]:
    length, kind = reader.take_number(4), bytes(reader.take(4))
    body = reader.take(length)
    require(reader.take_number(4) == crc32(body, crc32(kind)), "has a chunk with a wrong checksum")
    return kind, body


def add_chunk(content: bytearray, kind: bytes, body: bytes | memoryview) -> None:
    for part in (len(body).to_bytes(4), kind, body, crc32(body, crc32(kind)).to_bytes(4)):
        content += part
