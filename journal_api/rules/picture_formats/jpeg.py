"""JPEG: segments, of which those that the decoder needs are kept (ITU T.81, annex B)."""

import re

from journal_api.rules.picture_formats.exif import UPRIGHT, build_exif, read_orientation, turn
from journal_api.rules.picture_formats.parts import DamagedPicture, PartReader, Picture, require

START, END = b"\xff\xd8", 0xD9
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
SCAN = 0xDA
# Tables of Huffman codes, arithmetic coding and quantization, the restart interval, the number of lines.
TABLES = frozenset((0xC4, 0xCC, 0xDB, 0xDC, 0xDD))
JFIF, EXIF, ADOBE = 0xE0, 0xE1, 0xEE
APPLICATIONS, COMMENT = range(0xE0, 0xF0), 0xFE
# In the data of a scan 0xFF is followed by 0, or by the number of a restart.
END_OF_SCAN = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")


def clean(data: bytes) -> Picture:
    """Return the picture up to its end marker, without comments and what applications wrote."""
    reader = PartReader(data)
    content = bytearray(reader.take(2))
    size, orientation, has_scan = None, UPRIGHT, False
    while (marker := take_marker(reader)) != END:
        length = reader.take_number(2)
        segment = bytes(reader.take(length - 2))
        if marker in FRAMES:
            require(size is None and len(segment) > 5, "has more than one frame, or a damaged one")
            size = int.from_bytes(segment[3:5]), int.from_bytes(segment[1:3])
        elif marker == EXIF and segment.startswith(b"Exif\0") and orientation == UPRIGHT:
            orientation = read_orientation(segment[6:])
        content += clean_segment(marker, segment)
        if marker == SCAN:
            require(size is not None, "has a scan before its frame")
            content += take_scan(reader, data)
            has_scan = True
    require(size is not None and has_scan, "has no picture")
    content += b"\xff\xd9"
    assert size is not None
    return Picture(*turn(*size, orientation), content)


def take_marker(reader: PartReader) -> int:
    require(reader.take(1)[0] == 0xFF, "has no marker where one must be")
    while (marker := reader.take(1)[0]) == 0xFF:
        pass
    return marker


def take_scan(reader: PartReader, data: bytes) -> memoryview:
    """Return the coded data of a scan, up to the next marker."""
    end = END_OF_SCAN.search(data, reader.at)
    if end is None:
        raise DamagedPicture("ends too soon")
    return reader.take(end.start() - reader.at)


def clean_segment(marker: int, segment: bytes) -> bytes:
    """Return the segment as it is kept; nothing for what only describes the picture."""
    if marker == JFIF and segment.startswith(b"JFIF\0") and len(segment) >= 14:
        segment = segment[:12] + bytes(2)  # without the thumbnail
    elif marker == ADOBE and segment.startswith(b"Adobe") and len(segment) >= 12:
        segment = segment[:12]  # which colours the components are
    elif marker == EXIF and segment.startswith(b"Exif\0"):
        orientation = read_orientation(segment[6:])
        if orientation == UPRIGHT:
            return b""
        segment = b"Exif\0\0" + build_exif(orientation)
    elif marker in APPLICATIONS or marker == COMMENT:
        return b""
    else:
        require(marker in FRAMES | TABLES | {SCAN}, f"has an unknown marker {marker:#x}")
    return b"\xff%c%b%b" % (marker, (len(segment) + 2).to_bytes(2), segment)
