"""What the picture formats have in common: reading a file part by part."""

from typing import NamedTuple

# A real picture has some thousand parts; this many take a fifth of a second.
MAX_PARTS = 200_000


STILL = "is animated: save one frame of it as a picture"


class DamagedPicture(ValueError):
    """The file is not what its first bytes say; the reason is a predicate, such as "ends too soon"."""


class Picture(NamedTuple):
    """The size in pixels as the picture is shown, and the file without what is not shown."""

    width: int
    height: int
    content: bytearray


class PartReader:
    """Reads a file, or a part of one, from its beginning to its end. Raises DamagedPicture."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = memoryview(data)
        self.at = 0
        self._parts = 0

    def __bool__(self) -> bool:
        return self.at < len(self.data)

    def take(self, length: int) -> memoryview:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise DamagedPicture(f"has more than {MAX_PARTS} parts")
        if not 0 <= length <= len(self.data) - self.at:
            raise DamagedPicture("ends too soon, or states a wrong length")
        self.at += length
        return self.data[self.at - length : self.at]

    def take_number(self, size: int) -> int:
        """Return the next bytes as a number, most significant byte first."""
        return int.from_bytes(self.take(size))


def require(condition: bool, reason: str) -> None:
    """Raise DamagedPicture with the reason unless the condition holds."""
    if not condition:
        raise DamagedPicture(reason)
