"""JPEG: segments, of which those that the decoder needs are kept (ITU T.81, annex B)."""

import re

from journal_api.rules.picture_formats.exif import UPRIGHT, build_exif, read_orientation, turn
from journal_api.rules.picture_formats.parts import DamagedPicture, PartReader, Picture, require

START, END = b"\xff\xd8", 0xD9
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
SCAN = 0xDA
HUFFMAN, QUANTIZATION = 0xC4, 0xDB
# The conditioning of arithmetic coding and the restart interval, with the bytes that they may have.
SETTINGS = {0xCC: range(2, 33, 2), 0xDD: (2,)}
LINES = 0xDC  # in a picture
JFIF, EXIF, ADOBE = 0xE0, 0xE1, 0xEE
APPLICATIONS, COMMENT = range(0xE0, 0xF0), 0xFE
# In the data of a scan 0xFF is followed by 0, or by the number of a restart.
END_OF_SCAN = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")


def clean(data: bytes) -> Picture:
    """Return the picture up to its end marker, without comments and what applications wrote."""
    reader = PartReader(data)
    content = bytearray(reader.take(2))
    tables, settings, seen = Tables(), dict[int, bytes](), set[int]()
    frame, orientation = b"", UPRIGHT
    while (marker := take_marker(reader)) != END:
        segment = bytes(reader.take(reader.take_number(2) - 2))
        if marker in FRAMES:
            is_whole = len(segment) > 8 and len(segment) == 6 + 3 * segment[5]
            require(is_whole and not frame, "has more than one frame, or a damaged one")
            frame = bytes((marker,)) + segment
        elif marker in (HUFFMAN, QUANTIZATION):
            tables.add(marker, segment)
        elif marker == SCAN:
            require(bool(frame), "has a scan before its frame")
            add_segment(content, QUANTIZATION, tables.take_used(QUANTIZATION, frame[9::3]))
            if SCAN not in seen:
                add_segment(content, frame[0], frame[1:])
            add_segment(content, HUFFMAN, tables.take_used(HUFFMAN, read_tables_of_scan(segment)))
            for setting in list(settings):
                add_segment(content, setting, settings.pop(setting))
            add_segment(content, SCAN, segment)
            content += take_scan(reader, data)
            seen.add(SCAN)
        elif marker in SETTINGS:
            require(len(segment) in SETTINGS[marker], f"has a damaged segment {marker:#x}")
            settings[marker] = segment
        elif marker == LINES:
            require(len(segment) == 2, f"has a damaged segment {marker:#x}")
            add_segment(content, LINES, segment if SCAN in seen and LINES not in seen else b"")
            seen.add(LINES)
        elif marker == EXIF and segment.startswith(b"Exif\0") and orientation == UPRIGHT:
            orientation = read_orientation(segment[6:])
            if orientation != UPRIGHT:
                add_segment(content, EXIF, b"Exif\0\0" + build_exif(orientation))
        else:
            kept = b"" if marker in seen else clean_segment(marker, segment)
            add_segment(content, marker, kept)
            seen |= {marker} if kept else set()
    require(SCAN in seen, "has no picture")
    content += b"\xff\xd9"
    size = int.from_bytes(frame[4:6]), int.from_bytes(frame[2:4])
    return Picture(*turn(*size, orientation), content)


class Tables:
    """The tables that were defined and are in no scan yet, by their marker and their number."""

    def __init__(self) -> None:
        self._defined: dict[tuple[int, int], bytes] = {}

    def add(self, marker: int, segment: bytes) -> None:
        """Add the tables of a segment; the last definition of a table counts."""
        reader = PartReader(segment)
        while reader:
            number = reader.take(1)[0]
            if marker == QUANTIZATION:
                values = bytes(reader.take(128 if number >> 4 else 64))
            else:
                lengths = reader.take(16)
                values = bytes(lengths) + bytes(reader.take(sum(lengths)))
            require(len(values) <= 272, "has a table that is too long")
            self._defined[marker, number & (15 if marker == QUANTIZATION else 31)] = bytes((number,)) + values

    def take_used(self, marker: int, numbers: bytes) -> bytes:
        """Return the tables of these numbers that were defined since they were returned."""
        used = [self._defined.pop((marker, number), b"") for number in dict.fromkeys(numbers)]
        return b"".join(used)


def read_tables_of_scan(segment: bytes) -> bytes:
    """Return the numbers of the Huffman tables of a scan: of the first coefficients, then of the others."""
    require(len(segment) > 4 and len(segment) == 4 + 2 * segment[0], "has a damaged scan")
    pairs = segment[2 : 2 + 2 * segment[0] : 2]
    return bytes(pair >> 4 for pair in pairs) + bytes(16 | pair & 15 for pair in pairs)


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
        return segment[:12] + bytes(2)  # without the thumbnail
    if marker == ADOBE and segment.startswith(b"Adobe") and len(segment) >= 12:
        return segment[:12]  # which colours the components are
    require(marker in APPLICATIONS or marker == COMMENT, f"has an unknown marker {marker:#x}")
    return b""


def add_segment(content: bytearray, marker: int, segment: bytes) -> None:
    if segment:
        content += b"\xff%c%b%b" % (marker, (len(segment) + 2).to_bytes(2), segment)
