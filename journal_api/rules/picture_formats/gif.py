"""GIF: blocks, of which the pictures and the controls of their animation are kept (GIF89a)."""

from journal_api.rules.picture_formats.parts import PartReader, Picture, require

EXTENSION, IMAGE, TRAILER = 0x21, 0x2C, 0x3B
CONTROL, APPLICATION = 0xF9, 0xFF
LOOPS = (b"\x0bNETSCAPE2.0", b"\x0bANIMEXTS1.0")


def clean(data: bytes) -> Picture:
    """Return the picture up to its trailer, without comments, texts and what applications wrote."""
    reader = PartReader(data)
    header = reader.take(13)
    content = bytearray(header)
    content += reader.take(read_table_size(header[10]))
    has_image = False
    while (block := reader.take(1)[0]) != TRAILER:
        if block == IMAGE:
            descriptor = reader.take(9)
            content += bytes((IMAGE,)) + bytes(descriptor)
            content += reader.take(read_table_size(descriptor[8]))
            content += reader.take(1)
            content += take_sub_blocks(reader)
            has_image = True
        else:
            require(block == EXTENSION, "has an unknown block")
            label = reader.take(1)[0]
            content += clean_extension(label, take_sub_blocks(reader))
    require(has_image, "has no picture")
    content.append(TRAILER)
    return Picture(int.from_bytes(header[6:8], "little"), int.from_bytes(header[8:10], "little"), content)


def read_table_size(flags: int) -> int:
    """Return the bytes of the table of colours that follows, if there is one."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def take_sub_blocks(reader: PartReader) -> memoryview:
    """Return the sub-blocks that follow, each after its length, and the empty one that ends them."""
    end, data = reader.at, reader.data
    while end < len(data) and (length := data[end]):
        end += length + 1
    return reader.take(end + 1 - reader.at)


def clean_extension(label: int, blocks: memoryview) -> bytes:
    """Return the extension as it is kept: how long a frame is shown, and how often all are."""
    is_control = label == CONTROL and len(blocks) == 6
    is_loop = label == APPLICATION and bytes(blocks[:12]) in LOOPS and bytes(blocks[12:14]) == b"\x03\x01"
    if is_control or (is_loop and len(blocks) == 17):
        return bytes((EXTENSION, label)) + bytes(blocks)
    return b""
