"""Bounds the list of parts of a ZIP archive, which zipfile reads at once and keeps an object for each of."""

from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from journal_api.database.thread_connection import raise_if_cancelled

MAX_DIRECTORY = 1024 * 1024  # bytes of the list; a part is read in smaller pieces


class ArchiveBytes:
    """The bytes of an archive as zipfile reads them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. Raises BadZipFile for a longer piece than a list of parts may have."""
        raise_if_cancelled()
        read = self._file.read(min(size, MAX_DIRECTORY + 1) if size >= 0 else MAX_DIRECTORY + 1)
        if len(read) > MAX_DIRECTORY:
            raise BadZipFile
        return read


def is_workbook(file: BinaryIO) -> bool:
    """Return whether a ZIP archive is an Excel file."""
    try:
        with ZipFile(ArchiveBytes(file)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return False
