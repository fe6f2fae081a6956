"""Opens the sheets of an Excel file with openpyxl, and reads nothing of it that rows do not need.

Imported with the first such file: openpyxl takes a fifth of a second, and most journals never read one.
"""

from itertools import islice
from typing import BinaryIO

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.worksheet._read_only import ReadOnlyWorksheet

from journal_api.trade_files.archives import ArchiveBytes
from journal_api.trade_files.workbook_parts import WorkbookParts

MAX_SHEETS = 10


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
