"""AVIF: boxes that refer to each other by their place in the file (ISO 14496-12, 23008-12).

So nothing is moved: what describes the picture is overwritten with zeros where it stands, and its box or item
gets the type `free`, which decoders skip.
"""

from collections.abc import Iterator
from typing import NamedTuple

from journal_api.rules.picture_formats.parts import DamagedPicture, PartReader, Picture, blank, require

FREE = b"free"
# The boxes and properties that a decoder needs, and the items: coded pictures, and what joins them.
IN_META = (b"hdlr", b"pitm", b"iloc", b"iinf", b"iref", b"iprp", b"idat")
PROPERTIES = (
    *(b"ispe", b"pixi", b"av1C", b"colr", b"auxC", b"irot", b"imir", b"clap", b"pasp", b"clli"),
    *(b"a1op", b"a1lx", b"lsel"),
)
ITEMS = (b"av01", b"grid", b"iovl", b"iden", b"tmap")
IN_FILE, IN_IDAT = 0, 1  # where an item is
MAX_BOXES = 20  # of a file; each is compared with the places of all items


class Box(NamedTuple):
    """A box of the file: its type, and where it, its body and what follows begin."""

    kind: bytes
    start: int
    body: int
    end: int


class Item(NamedTuple):
    place: int
    extents: list[tuple[int, int]]  # start and end


def clean(data: bytes) -> Picture:
    """Return the picture up to its last known box, without EXIF, XMP, profiles and names."""
    content = bytearray(data)
    boxes = list(list_file(data))
    (meta,) = (box for box in boxes if box.kind == b"meta")
    in_meta = list(list_boxes(data, meta.body + 4, meta.end))
    parts = {box.kind: box for box in in_meta}
    require({b"pitm", b"iloc", b"iinf", b"iprp"} <= parts.keys(), "has no picture")
    kept = keep_items(data, parts[b"iinf"], content, find_thumbnails(data, parts))
    items = [item for number, item in read_locations(data, parts[b"iloc"]).items() if number in kept]
    size = read_size(data, parts, content)
    blank_file(content, boxes, items)
    blank_meta(content, in_meta, items)
    del content[boxes[-1].end :]
    return Picture(*size, content)


def blank_file(content: bytearray, boxes: list[Box], items: list[Item]) -> None:
    """Blank what no item has, and free the boxes that only describe the picture."""
    extents = [extent for item in items if item.place == IN_FILE for extent in item.extents]
    for box in boxes:
        if box.kind == b"mdat":
            blank(content, box.body, box.end, extents)
        elif box.kind not in (b"ftyp", b"meta"):
            free(content, box)


def blank_meta(content: bytearray, boxes: list[Box], items: list[Item]) -> None:
    """Blank the name of the handler and what no item has, and free the boxes that decoders do not need."""
    require([box.kind for box in boxes].count(b"idat") < 2, "has a box twice")
    for box in boxes:
        if box.kind == b"idat":
            places = [extent for item in items if item.place == IN_IDAT for extent in item.extents]
            kept = [(box.body + start, box.body + end) for start, end in places]
            blank(content, box.body, box.end, kept)
        elif box.kind == b"hdlr":
            blank(content, box.body + 24, box.end)
        elif box.kind not in IN_META:
            free(content, box)


def list_file(data: bytes) -> Iterator[Box]:
    """Yield the boxes of the file up to the first that is not known after the picture."""
    seen: set[bytes] = set()
    boxes, number = list_boxes(data, 0, len(data)), 0
    while True:
        try:
            box = next(boxes, None)
        except DamagedPicture:
            box = None
        if box is None or (box.kind not in (b"mdat", b"meta", FREE, b"skip") and seen >= {b"meta", b"mdat"}):
            break
        require(box.kind != b"meta" or box.kind not in seen, "has two pictures")
        number += 1
        require(number <= MAX_BOXES, f"has more than {MAX_BOXES} boxes")
        seen.add(box.kind)
        yield box
    require(seen >= {b"meta", b"mdat"}, "ends too soon, or states a wrong length")


def list_boxes(data: bytes, start: int, end: int) -> Iterator[Box]:
    reader = PartReader(memoryview(data)[:end])
    reader.at = start
    while reader:
        start = reader.at
        length, kind = reader.take_number(4), bytes(reader.take(4))
        if length == 1:
            length = reader.take_number(8)
        elif length == 0:
            length = end - start
        body = reader.at
        reader.take(length - (body - start))
        yield Box(kind, start, body, reader.at)


def free(content: bytearray, box: Box) -> None:
    content[box.start + 4 : box.start + 8] = FREE
    blank(content, box.body, box.end)


def find_thumbnails(data: bytes, parts: dict[bytes, Box]) -> set[int]:
    """Return the ids of the items that are small copies of another, which may show what was cut off since."""
    if b"iref" not in parts:
        return set()
    box, primary = parts[b"iref"], parts[b"pitm"]
    size = 4 if data[box.body] > 0 else 2
    references = [one for one in list_boxes(data, box.body + 4, box.end) if one.kind == b"thmb"]
    thumbnails = {int.from_bytes(data[one.body : one.body + size]) for one in references}
    return thumbnails - {int.from_bytes(data[primary.body + 4 : primary.end])}


def keep_items(data: bytes, box: Box, content: bytearray, thumbnails: set[int]) -> set[int]:
    """Return the ids of the items that make the picture; free the others, and blank all names."""
    wide = data[box.body] > 0
    kept = set()
    for info in list_boxes(data, box.body + (8 if wide else 6), box.end):
        version = data[info.body]
        require(info.kind == b"infe" and version in (2, 3), "has an item of an unknown kind")
        number = 4 if version == 3 else 2
        kind = info.body + 4 + number + 2
        require(kind + 4 <= info.end, "has a damaged item")
        item = int.from_bytes(data[info.body + 4 : info.body + 4 + number])
        if data[kind : kind + 4] in ITEMS and item not in thumbnails:
            kept.add(item)
        else:
            content[kind : kind + 4] = FREE
        blank(content, kind + 4, info.end)
    return kept


def read_locations(data: bytes, box: Box) -> dict[int, Item]:
    """Return where the items are, by their ids."""
    reader = PartReader(memoryview(data)[box.body : box.end])
    version = reader.take_number(4) >> 24
    sizes = reader.take_number(2)
    offset_size, length_size, base_size, index_size = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    id_size = 4 if version == 2 else 2
    items = {}
    for _ in range(reader.take_number(id_size)):
        number = reader.take_number(id_size)
        place = reader.take_number(2) & 15 if version else IN_FILE
        reader.take(2)
        base = reader.take_number(base_size)
        extents = []
        for _ in range(reader.take_number(2)):
            reader.take(index_size if version else 0)
            start = base + reader.take_number(offset_size)
            extents.append((start, start + reader.take_number(length_size)))
        items[number] = Item(place, extents)
    return items


def read_size(data: bytes, parts: dict[bytes, Box], content: bytearray) -> tuple[int, int]:
    """Return the size of the primary item as it is shown; free the properties that only describe it."""
    boxes = {box.kind: box for box in list_boxes(data, parts[b"iprp"].body, parts[b"iprp"].end)}
    require({b"ipco", b"ipma"} <= boxes.keys(), "has no size")
    properties = list(list_boxes(data, boxes[b"ipco"].body, boxes[b"ipco"].end))
    for box in properties:
        if box.kind not in PROPERTIES or (box.kind == b"colr" and data[box.body : box.body + 4] != b"nclx"):
            free(content, box)
    primary = parts[b"pitm"]
    number = int.from_bytes(data[primary.body + 4 : primary.end])
    width = height = turns = 0
    for index in read_associations(data, boxes[b"ipma"]).get(number, []):
        require(1 <= index <= len(properties), "refers to a property that it does not have")
        kind, _, body, end = properties[index - 1]
        if kind == b"ispe" and end - body == 12:
            width, height = int.from_bytes(data[body + 4 : body + 8]), int.from_bytes(data[body + 8 : end])
        elif kind == b"irot" and end - body == 1:
            turns = data[body] & 3
    return (height, width) if turns % 2 else (width, height)


def read_associations(data: bytes, box: Box) -> dict[int, list[int]]:
    """Return the numbers of the properties of each item, counted from 1."""
    reader = PartReader(memoryview(data)[box.body : box.end])
    head = reader.take_number(4)
    id_size, index_size = (4 if head >> 24 else 2), (2 if head & 1 else 1)
    found = {}
    for _ in range(reader.take_number(4)):
        number = reader.take_number(id_size)
        indexes = [reader.take_number(index_size) for _ in range(reader.take_number(1))]
        found[number] = [index & (0x7FFF if index_size == 2 else 0x7F) for index in indexes if index]
    return found
