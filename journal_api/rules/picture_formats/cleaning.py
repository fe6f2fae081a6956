"""Which format a picture has, by its first bytes, and the picture without its metadata."""

from collections.abc import Callable

from journal_api.rules.picture_formats import jpeg, png, webp
from journal_api.rules.picture_formats.parts import DamagedPicture, Picture, require
from journal_api.structs.pictures import AcceptedType

MAX_PIXELS = 100_000_000
CLEANERS: dict[AcceptedType, Callable[[bytes], Picture]] = {
    "image/png": png.clean,
    "image/jpeg": jpeg.clean,
    "image/webp": webp.clean,
}


def find_media_type(data: bytes) -> AcceptedType | None:
    """Return the media type of a picture, None if its format is not accepted."""
    if data.startswith(png.SIGNATURE):
        return "image/png"
    if data.startswith(jpeg.START + b"\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def clean(data: bytes, media_type: AcceptedType) -> Picture:
    """Return the picture without metadata and without what follows its end. Raises DamagedPicture."""
    try:
        picture = CLEANERS[media_type](data)
    except IndexError:
        raise DamagedPicture("ends too soon") from None
    require(picture.width > 0 and picture.height > 0, "states no size")
    require(picture.width * picture.height <= MAX_PIXELS, f"has more than {MAX_PIXELS // 10**6} megapixels")
    return picture
