"""Rows of cells, and the rows of CSV."""

import csv
import re
from collections.abc import Collection, Iterator

from msgspec import Struct
from msgspec.structs import replace

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.amounts import Comma
from journal_api.trade_files.texts import ENDS, Unreadable

# The meaning of a comma in a number by the separator of cells. Semicolons are used where commas are decimal.
COMMAS: dict[str, Comma] = {",": "thousands", ";": "decimals", "\t": "either", "|": "either"}
# A trade may have 100 answers with notes of 10,000 characters in one cell; the csv module allows 128 KiB.
MAX_ROW_LENGTH = 4 * 1024 * 1024
csv.field_size_limit(MAX_ROW_LENGTH)
MAX_COLUMNS = 1000
# Of a file; each takes time in which no trade is found.
MAX_BLANK_ROWS = 10_000


# Two cells that a comma in a number makes: 1 and 000.
SPLIT = re.compile(r"(?:^|,)[-+$]*[1-9][0-9]{0,2},[0-9]{3}(?:\.[0-9]*)?(?:,|$)")


class Cells(Struct, frozen=True, gc=False):
    """The cells of a row, its last line, and the meaning of a comma in its numbers.

    `may_be_short`: whether missing cells at the end are empty, as in HTML.
    """

    line: int
    cells: list[str]
    comma: Comma = "thousands"
    may_be_short: bool = False

    def fits(self, width: int) -> bool:
        """Return whether the row has that many cells, apart from empty ones beyond them."""
        return len(self.cells) == width or (len(self.cells) > width and not any(self.cells[width:]))

    def widened(self, width: int, last_used: int, short: int) -> "Cells":
        """Return the row with the missing cells at its end, if it may be short, as all are, or none of them is used."""
        missing = width - len(self.cells)
        if missing <= 0 or not (self.may_be_short or len(self.cells) == short > 0 or len(self.cells) > last_used + 1):
            return self
        if self.comma == "thousands" and not self.may_be_short and SPLIT.search(",".join(self.cells)):
            return self
        return replace(self, cells=self.cells + [""] * missing)


def without_marks(row: Cells | Rejected, places: Collection[int]) -> Cells | Rejected:
    """Return the row without the apostrophes by which a spreadsheet or a database marks texts, in these cells."""
    if isinstance(row, Rejected) or "'" not in "".join(row.cells):
        return row
    return replace(row, cells=[one.strip().strip("'") if at in places else one for at, one in enumerate(row.cells)])


def read_csv(pieces: Iterator[str], delimiter: str) -> Iterator[Cells | Rejected]:
    lines, comma = Lines(pieces), COMMAS[delimiter]
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            lines.length = 0
            yield Cells(reader.line_num, cells, comma)
    except csv.Error as error:
        yield Rejected(reader.line_num, f"is not CSV: {error}")


class Lines:
    """The whole lines for the csv module. `length` counts the current row; the caller resets it."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self.pieces, self.number, self.length = pieces, 0, 0

    def __iter__(self) -> Iterator[str]:
        """Yield the lines. Raises Unreadable when the row is too long."""
        for line in self.pieces:
            self.number += 1
            self.length += len(line)
            while not line.endswith(ENDS) and self.length <= MAX_ROW_LENGTH:
                if not (part := next(self.pieces, "")):
                    break
                line += part
                self.length += len(part)
            if self.length > MAX_ROW_LENGTH:
                reason = f"is in a row of over {MAX_ROW_LENGTH} characters: is a quote missing?"
                raise Unreadable(self.number, reason)
            yield line
