"""PNG and APNG: chunks with checksums (W3C PNG, third edition)."""

from zlib import crc32

from journal_api.rules.picture_formats.exif import UPRIGHT, build_exif, read_orientation, turn
from journal_api.rules.picture_formats.parts import PartReader, Picture, require

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The chunks that are kept, and the bytes that one may have; any other that a decoder may skip is left out.
CRITICAL = {b"IHDR": 13, b"PLTE": 768, b"IDAT": 2**31, b"IEND": 0}
ANCILLARY = {
    b"tRNS": 256,
    b"gAMA": 4,
    b"cHRM": 32,
    b"sRGB": 1,
    b"cICP": 4,
    b"sBIT": 4,
    b"bKGD": 6,
    b"pHYs": 9,
    b"acTL": 8,
    b"fcTL": 26,
    b"fdAT": 2**31,
}
EXIF = b"eXIf"


def clean(data: bytes) -> Picture:
    """Return the picture up to its last chunk, without texts, times, profiles and EXIF."""
    reader = PartReader(data)
    content = bytearray(reader.take(len(SIGNATURE)))
    kind, header = take_chunk(reader)
    require(kind == b"IHDR" and len(header) == 13, "does not begin with its header")
    add_chunk(content, kind, header)
    orientation, has_pixels = UPRIGHT, False
    while kind != b"IEND":
        kind, body = take_chunk(reader)
        if kind == EXIF and orientation == UPRIGHT:
            orientation = read_orientation(bytes(body))
            if orientation != UPRIGHT:
                add_chunk(content, EXIF, build_exif(orientation))
        elif kind in CRITICAL:
            require(len(body) <= CRITICAL[kind] and kind != b"IHDR", f"has a wrong chunk {kind.decode()}")
            add_chunk(content, kind, body)
        elif len(body) <= ANCILLARY.get(kind, -1):
            add_chunk(content, kind, body)
        else:
            require(kind[0] & 0x20 != 0, "has a chunk that is not known and cannot be left out")
        has_pixels = has_pixels or kind == b"IDAT"
    require(has_pixels, "has no picture")
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    return Picture(*turn(width, height, orientation), content)


def take_chunk(reader: PartReader) -> tuple[bytes, memoryview]:
    """Return the kind and the body of the next chunk."""
    length, kind = reader.take_number(4), bytes(reader.take(4))
    body = reader.take(length)
    require(reader.take_number(4) == crc32(body, crc32(kind)), "has a chunk with a wrong checksum")
    return kind, body


def add_chunk(content: bytearray, kind: bytes, body: bytes | memoryview) -> None:
    for part in (len(body).to_bytes(4), kind, body, crc32(body, crc32(kind)).to_bytes(4)):
        content += part
