"""The text of a file: its encoding, and its lines in pieces."""

import codecs
import re
from collections.abc import Callable, Iterator
from os import SEEK_END
from typing import BinaryIO, NamedTuple

from journal_api.database.thread_connection import raise_if_cancelled
from journal_api.trade_files.archives import is_workbook
from journal_api.trade_files.vocabulary import PURCHASES, SALES, TRANSLATIONS, WORDS, without_signs

# Bytes read at once, so that no step between two cancel checks takes long.
PIECE = 64 * 1024
LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]+")
ENDS = ("\r", "\n")
BYTE_ORDER_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF8: "utf-8"}
# Every line takes time, whatever it holds. A file of trades may have this many lines of any length; if it has
# more, they are longer than this on average.
MAX_SHORT_LINES, MIN_CHARACTERS_PER_LINE = 1_000_000, 8
# Bytes in which UTF-16 without a byte order mark is recognised: the beginning of a header.
BYTES_OF_HEADER = 64
BYTES_OF_WORDS = 16 * 1024  # in which those of a language are sought
# The first is that of most files.
CODE_PAGES = {"cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251", "cp1254": "Windows-1254"}
CODE_PAGES |= {"cp932": "Shift JIS", "gb18030": "GBK", "cp949": "EUC-KR"}
NAMES = {page: f"UTF-8 or {name}" for page, name in CODE_PAGES.items()}
NAMES |= {"utf-8": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
FOREIGN_WORDS = [word for word in (*TRANSLATIONS, *WORDS, *PURCHASES, *SALES) if len(word) > 3 or not word.isascii()]
ZIP = b"PK\x03\x04"
# What a file is that is no text, by its first bytes.
NO_TEXTS = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an old Excel file: save it as .xlsx or CSV",
    ZIP: "is a ZIP archive: extract the file",
    b"\x1f\x8b": "is a compressed archive: extract the file",
    b"7z\xbc\xaf\x27\x1c": "is a 7-Zip archive: extract the file",
    b"Rar!": "is a RAR archive: extract the file",
    b"%PDF-": "is a PDF document: export the trades as CSV",
    **dict.fromkeys((b"{", b"[{", b"[\n", b"[\r"), "is JSON: export the trades as CSV"),
    **dict.fromkeys((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM6"), "is a picture: export the trades as CSV"),
}
TOO_MANY_SHORT_LINES = (
    f"follows over {MAX_SHORT_LINES} lines of under {MIN_CHARACTERS_PER_LINE} characters on average: "
    "remove the blank lines"
)


class Unreadable(Exception):
    """A line that cannot be decoded or is too long."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class FileText(NamedTuple):
    """The encoding of a file and the pieces of its lines; iterate `pieces` once. A workbook has none.

    Lines have their line ends, and long lines are several pieces. The last item is an error if the text
    cannot be read to its end: as an item it reaches every copy of the iterator.
    """

    encoding: str
    pieces: Iterator[str | Unreadable]
    workbook: BinaryIO | None = None


def read_text(file: BinaryIO, on_bytes: Callable[[int], object] = lambda number: None) -> FileText:
    """Return the text of a file. `on_bytes` is called with the number of bytes read."""
    start = file.read(PIECE)
    if start.startswith(ZIP) and is_workbook(file):
        on_bytes(file.seek(0, SEEK_END))
        return FileText("xlsx", iter(()), file)
    if reason := next((reason for mark, reason in NO_TEXTS.items() if start.startswith(mark)), None):
        return FileText("binary", iter([Unreadable(1, reason)]))
    mark = next((mark for mark in BYTE_ORDER_MARKS if start.startswith(mark)), b"")
    encoding = BYTE_ORDER_MARKS.get(mark) or guess_utf_16(start) or "utf-8"
    file.seek(len(mark))
    if encoding == "utf-8" and not mark and is_of_code_page(file):
        encoding = guess_code_page(start)
    file.seek(len(mark))
    return FileText(encoding, read_pieces(file, encoding, on_bytes))


def guess_utf_16(start: bytes) -> str | None:
    """Return the form of UTF-16 in which every other byte of ASCII is zero, None for other texts."""
    header = start[:BYTES_OF_HEADER]
    is_zero = [2 * header[offset::2].count(0) > len(header[offset::2]) for offset in (0, 1)]
    return {(False, True): "utf-16-le", (True, False): "utf-16-be"}.get((is_zero[0], is_zero[1]))


def guess_code_page(start: bytes) -> str:
    """Return the code page that shows most known words."""
    texts = {page: without_signs(start[:BYTES_OF_WORDS].decode(page, "ignore")) for page in CODE_PAGES}
    return max(CODE_PAGES, key=lambda page: sum(word in texts[page] for word in FOREIGN_WORDS))


def is_of_code_page(file: BinaryIO) -> bool:
    """Return whether the rest of the file has an invalid byte of UTF-8 before any character beyond ASCII.

    A file with characters of UTF-8 before the invalid byte is damaged UTF-8.
    """
    try:
        for text in decode_parts(file, "utf-8"):
            if not text.isascii():
                return False
    except UnicodeDecodeError:
        return True
    return False


def read_pieces(file: BinaryIO, encoding: str, on_bytes: Callable[[int], object]) -> Iterator[str | Unreadable]:
    """Yield the lines in pieces, and Unreadable in place of other bytes and after too many short lines."""
    number, held, characters = 1, "", 0
    try:
        for text in decode_parts(file, encoding, on_bytes):
            pieces = LINE.findall(held + text)
            # The first half of a line end may be in this text, the other half in the next.
            held = pieces.pop() if pieces and pieces[-1].endswith("\r") else ""
            yield from pieces
            number += sum(piece.endswith(ENDS) for piece in pieces)
            characters += len(text)
            if number > MAX_SHORT_LINES and characters < number * MIN_CHARACTERS_PER_LINE:
                yield Unreadable(number, TOO_MANY_SHORT_LINES)
                return
    except UnicodeDecodeError:
        yield Unreadable(number + bool(held), f"is not {NAMES[encoding]}")
        return
    if held:
        yield held


def decode_parts(
    file: BinaryIO, encoding: str, on_bytes: Callable[[int], object] = lambda number: None
) -> Iterator[str]:
    """Yield the text of the file in parts. Raises UnicodeDecodeError after the text before the error."""
    decoder = codecs.getincrementaldecoder(encoding)()
    is_last = False
    while not is_last:
        raise_if_cancelled()
        read = file.read(PIECE)
        on_bytes(len(read))
        is_last = not read
        try:
            yield decoder.decode(read, is_last)
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode(encoding)
            raise
