"""The sheets of an Excel file, whose parts are bounded while openpyxl reads them.

Imported with the first such file: openpyxl takes a fifth of a second, and most journals never read one. It
builds an object for each element, keeps what it does not know until the part ends, and reads a part as often as
sheets refer to it. So each piece of XML first passes a parser that builds nothing and counts. Raises Unreadable,
and CancelledError when nobody waits for the file any more. See DECISIONS 25.
"""

from collections import Counter
from io import RawIOBase
from itertools import islice
from os import SEEK_END
from typing import IO, Any, BinaryIO
from xml.parsers.expat import ExpatError, ParserCreate
from zipfile import ZipFile

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from journal_api.database.thread_connection import raise_if_cancelled
from journal_api.trade_files.archives import ArchiveBytes
from journal_api.trade_files.texts import Unreadable

MAX_SHEETS = 10
MIB = 1024 * 1024
# Bytes of all parts when they are extracted, and how many times the file's: Apache POI has the same ratio.
MAX_EXTRACTED, MAX_RATIO, SMALL = 64 * MIB, 100, MIB
# What the parts may have in all, as often as they are read: sheets may share a part.
BOUNDS = {
    "bytes": 2 * MAX_EXTRACTED,
    "elements": 8_000_000,
    "different texts": 200_000,
    "bytes of texts": 8 * MIB,
    "elements beside rows and texts": 20_000,
    "bytes beside rows and texts": 4 * MIB,
}
# The elements that openpyxl frees one by one; it keeps the others while it reads a part.
ROW, TEXT = "row", "si"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
MAX_ROWS = 250_000  # of a sheet
MAX_LENGTH_OF_ROW, MAX_ELEMENTS_OF_ROW = MIB, 20_000  # and of a text
MAX_DEPTH, MAX_NAMES, MAX_TAG_LENGTH = 64, 10_000, 128 * 1024
MAX_ATTRIBUTES, MAX_ATTRIBUTE_LENGTH = 64, 1024


class Sheet(ReadOnlyWorksheet):
    def _get_size(self) -> None:
        """Leave the size open: a file may state any, and a sheet without one would be read to its end."""


def open_worksheets(file: BinaryIO) -> list[Sheet]:
    """Return the first sheets of rows. Raises Unreadable, and what damaged parts happen to cause."""
    reader = ExcelReader(ArchiveBytes(file), read_only=True, data_only=True, keep_links=False)
    reader.archive = WorkbookParts(file)
    reader.read_manifest()
    reader.read_strings()
    reader.read_workbook()
    apply_stylesheet(reader.archive, reader.wb)
    sheets = (
        Sheet(reader.wb, sheet.name, part.target, reader.shared_strings)
        for sheet, part in reader.parser.find_sheets()
        if part.target in reader.valid_files and "chartsheet" not in part.Type
    )
    return list(islice(sheets, MAX_SHEETS))


class WorkbookParts(ZipFile):
    """The archive of an Excel file, whose parts are bounded together."""

    def __init__(self, file: BinaryIO) -> None:
        length = file.seek(0, SEEK_END)
        super().__init__(ArchiveBytes(file))
        extracted = sum(part.file_size for part in self.infolist())
        if extracted > MAX_EXTRACTED:
            raise beyond(f"{MAX_EXTRACTED} bytes when it is extracted")
        if extracted > SMALL + MAX_RATIO * length:
            raise beyond(f"{MAX_RATIO} times its size when it is extracted")
        self._counts = Counter[str]()

    def open(self, name: Any, mode: Any = "r", pwd: Any = None, *, force_zip64: bool = False) -> IO[bytes]:
        return BoundedPart(super().open(name), self._counts)  # type: ignore[return-value]  # a raw file is enough


class BoundedPart(RawIOBase):
    """A part whose XML is counted before it is passed on, piece by piece.

    The handlers of the parser do as little as they can: there are two calls for each element.
    """

    def __init__(self, part: IO[bytes], counts: Counter[str]) -> None:
        self._part, self._counts = part, counts
        self._parser = ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_dtd
        self._is_tree = False
        self._declaration = ""  # the attribute of the root that names the namespace of rows and texts
        self._records: dict[str, str] = {}  # rows and texts by the names that the elements have in this part
        self._record, self._record_depth = "", 0
        self._depth = self._rows = self._length = 0
        self._elements = self._counted_elements = 0  # all, and those up to the last beginning of a record
        self._counted = 0  # bytes up to the last beginning or end of a record

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._part.close()
        super().close()

    def readall(self) -> bytes:
        """Return the part for a tree, of which nothing is freed."""
        self._is_tree = True
        return super().readall()

    def readinto(self, buffer: Any) -> int:
        raise_if_cancelled()
        piece = self._part.read(len(buffer))
        before = self._elements
        try:
            self._parser.Parse(piece, not piece)
        except ExpatError:
            raise Unreadable(1, "is a damaged Excel file: save it as CSV") from None
        self._length += len(piece)
        self._count("bytes", len(piece))
        self._count("elements", self._elements - before)
        self._check(self._length)
        if piece and self._length - self._parser.CurrentByteIndex > MAX_TAG_LENGTH:
            raise beyond(f"{MAX_TAG_LENGTH} bytes of a tag")
        if len(self._parser.intern) > MAX_NAMES:
            raise beyond(f"{MAX_NAMES} different names of elements and attributes")
        buffer[: len(piece)] = piece
        return len(piece)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > MAX_DEPTH:
            raise beyond(f"{MAX_DEPTH} levels")
        if attributes and len("".join(attributes.values())) > MAX_ATTRIBUTE_LENGTH:
            check_attributes(attributes)
        if not self._record_depth:
            self._start_beside(name, attributes)

    def _end(self, name: str) -> None:
        if self._depth == self._record_depth:
            self._end_record(self._parser.CurrentByteIndex + len(f"</{name}>"))
        self._depth -= 1

    def _start_beside(self, name: str, attributes: dict[str, str]) -> None:
        """Begin a row or a text, or count an element that is in none."""
        if self._depth == 1 and not self._is_tree:
            self._name_records(attributes)
        elif self._declaration in attributes:
            self._records = {}
        if name in self._records:
            self._begin_record(self._records[name])
        else:
            self._count("elements beside rows and texts", 1)

    def _name_records(self, root: dict[str, str]) -> None:
        """Note what rows and texts are called in this part: other elements of these names are kept."""
        for declaration, uri in root.items():
            name, _, prefix = declaration.partition(":")
            if name == "xmlns" and uri == MAIN:
                self._declaration = declaration
                self._records = {f"{prefix}:{kind}" if prefix else kind: kind for kind in (ROW, TEXT)}

    def _begin_record(self, record: str) -> None:
        self._check(self._parser.CurrentByteIndex)
        self._record, self._record_depth, self._counted_elements = record, self._depth, self._elements
        if record == TEXT:
            self._count("different texts", 1)
        else:
            self._rows += 1
            if self._rows > MAX_ROWS:
                raise beyond(f"{MAX_ROWS} rows of a sheet")

    def _end_record(self, end: int) -> None:
        self._check(end)
        if self._record == TEXT:
            self._count("bytes of texts", end - self._counted)
        self._record_depth, self._counted = 0, end

    def _check(self, end: int) -> None:
        """Check the length of the open row or text up to the end; count the bytes if there is none."""
        length = end - self._counted
        if not self._record_depth:
            self._count("bytes beside rows and texts", length)
            self._counted = end
        elif length > MAX_LENGTH_OF_ROW:
            raise beyond(f"{MAX_LENGTH_OF_ROW} bytes of a row or a text")
        elif self._elements - self._counted_elements > MAX_ELEMENTS_OF_ROW:
            raise beyond(f"{MAX_ELEMENTS_OF_ROW} elements of a row or a text")

    def _count(self, what: str, number: int) -> None:
        self._counts[what] += number
        if self._counts[what] > BOUNDS[what]:
            raise beyond(f"{BOUNDS[what]} {what}")

    def _refuse_dtd(self, *declaration: object) -> None:
        raise Unreadable(1, "is an Excel file with a document type declaration: save it as CSV")


def check_attributes(attributes: dict[str, str]) -> None:
    """Check the attributes of an element; those of a root name many namespaces."""
    if len(attributes) > MAX_ATTRIBUTES or max(map(len, attributes.values())) > MAX_ATTRIBUTE_LENGTH:
        raise beyond(f"{MAX_ATTRIBUTES} attributes of {MAX_ATTRIBUTE_LENGTH} characters")


def beyond(bound: str) -> Unreadable:
    return Unreadable(1, f"has over {bound}: save it as CSV")
