"""EXIF: of everything that a camera writes, the orientation alone is needed to show the picture."""

import struct

ORIENTATION, SHORT = 0x0112, 3
UPRIGHT = 1
# The orientations in which width and height change places.
SIDEWAYS = (5, 6, 7, 8)


def read_orientation(exif: bytes) -> int:
    """Return the orientation, 1 to 8; upright if EXIF (a TIFF file) does not state it, or is damaged."""
    try:
        order = {b"II*\0": "<", b"MM\0*": ">"}[exif[:4]]
        (directory,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, directory)
        for entry in range(directory + 2, directory + 2 + 12 * count, 12):
            tag, kind, values, value = struct.unpack_from(f"{order}HHIH", exif, entry)
            if (tag, kind, values) == (ORIENTATION, SHORT, 1):
                return value if 1 <= value <= 8 else UPRIGHT
    except (KeyError, struct.error):
        pass
    return UPRIGHT


def build_exif(orientation: int) -> bytes:
    return struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, ORIENTATION, SHORT, 1, orientation, 0, 0)


def turn(width: int, height: int, orientation: int) -> tuple[int, int]:
    """Return width and height as they are shown."""
    return (height, width) if orientation in SIDEWAYS else (width, height)
