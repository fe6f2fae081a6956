"""Recognises the format of a file by its header."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Rejected
from journal_api.trade_files.file_format import Format
from journal_api.trade_files.formats import round_trips
from journal_api.trade_files.known_formats import KnownFormat
from journal_api.trade_files.readings import readings_of
from journal_api.trade_files.rows import MAX_COLUMNS, Cells
from journal_api.trade_files.texts import FileText

# The number of rows in which the header is searched: HTML reports have other rows before it.
ROWS_BEFORE_THE_HEADER = 100
# In the rows after them, only the headers of sections are searched.
ROWS_BEFORE_A_SECTION = 20_000
MAX_NAME_LENGTH = 255  # of a column


def recognised(
    text: FileText, formats: Sequence[KnownFormat]
) -> tuple[Format, list[str], Iterator[Cells | Rejected]]:
    """Return the format, the column names and the rows after the header.

    Every separator is tried. Raises ValidationFailed for the most likely one, or for the first of which the
    header is similar to a format.
    """
    errors = []
    for rows in readings_of(text.pieces):
        try:
            file_format, columns = header_of(rows, formats)
        except ValidationFailed as error:
            errors.append(error)
        else:
            return file_format, columns, section_of(rows) if file_format.section else rows
    raise next((error for error in errors if error.details.get("missing")), errors[0])


def header_of(rows: Iterator[Cells | Rejected], formats: Sequence[KnownFormat]) -> tuple[Format, list[str]]:
    """Return the format and the column names.

    Raises ValidationFailed with the most similar formats and their missing columns.
    """
    nearest: tuple[int, list[str]] = (1, [])
    heading = ""
    for index, row in zip(range(ROWS_BEFORE_A_SECTION), rows, strict=False):
        if isinstance(row, Rejected):
            raise wrong_header(row.line, row.reason)
        if len(row.cells) > MAX_COLUMNS:
            raise wrong_header(row.line, f"has {len(row.cells)} columns; the maximum is {MAX_COLUMNS}")
        candidates = formats if index < ROWS_BEFORE_THE_HEADER else of_section(heading, formats)
        if candidates and any(row.cells):
            if (known := format_of_header(row, heading, candidates)) is not None:
                return known
            header = row.line, column_names(row.cells)
            nearest = max(nearest, header, key=lambda header: similarity(header[1], formats))
        heading = heading_after(row.cells, heading)
    raise unknown_header(*nearest, formats)


def format_of_header(
    row: Cells, heading: str, formats: Sequence[KnownFormat]
) -> tuple[Format, list[str]] | None:
    """Return the format and the column names of a header below that heading, None for any other row.

    Raises ValidationFailed for a header that cannot be imported.
    """
    columns = column_names(row.cells)
    if columns == list(round_trips.TITLES):
        reason = "this is the export for spreadsheets, which changes texts: import the exact export"
        raise wrong_header(row.line, reason)
    for known in formats:
        names = column_names(row.cells, known.aliases) if known.aliases else columns
        header = dict.fromkeys(names)
        if known.fits(header, heading):
            file_format = known.for_header(header)
            check_names(file_format, names, row.line)
            return file_format, names
    return None


def of_section(heading: str, formats: Sequence[KnownFormat]) -> Sequence[KnownFormat]:
    """Return the formats whose header follows that heading, none for a row without a heading."""
    return [known for known in formats if known.has_section(heading)] if heading else []


def heading_after(cells: list[str], heading: str) -> str:
    """Return the heading of the next row: the only text of this row, the same after a blank row."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    return texts[0] if len(texts) == 1 else "" if texts else heading


def section_of(rows: Iterator[Cells | Rejected]) -> Iterator[Cells | Rejected]:
    """Yield the rows up to a blank row or the heading of the next section."""
    return takewhile(lambda row: isinstance(row, Rejected) or sum(map(bool, row.cells)) > 1, rows)


def column_names(header: list[str], aliases: Mapping[str, str] = {}) -> list[str]:
    """Return the column names, for an alias the name that the format has.

    Repeated names are numbered, as in Time, Time 2; empty ones at the end are dropped.
    """
    seen: Counter[str] = Counter()
    columns = []
    names = [aliases.get(cell.strip(), cell.strip()) for cell in header]
    while names and not names[-1]:
        names.pop()
    for name in names:
        seen[name] += 1
        columns.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return columns


def check_names(file_format: Format, columns: list[str], line: int) -> None:
    """Raise ValidationFailed for a column name that is too long or repeated, unless the format repeats it."""
    if any(len(name) > MAX_NAME_LENGTH for name in columns):
        raise wrong_header(line, f"has a column whose name has over {MAX_NAME_LENGTH} characters")
    other_names = set(columns) - file_format.columns
    for name in columns:
        if name and f"{name} 2" in other_names:
            raise wrong_header(line, f"the column {name!r} is repeated")


def wrong_header(line: int, reason: str) -> ValidationFailed:
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason)


def similarity(columns: list[str], formats: Sequence[KnownFormat]) -> int:
    """Return the largest number of columns that a format has in common with the header."""
    header = dict.fromkeys(columns)
    return max(len(known.header) - len(known.missing(header)) for known in formats)


def unknown_header(line: int, columns: list[str], formats: Sequence[KnownFormat]) -> ValidationFailed:
    """Return the error for an unknown header: the formats that it nearly has, with the missing columns."""
    header = dict.fromkeys(columns)
    near = [known for known in formats if known.lacks_few_of(header)]
    missing = {known.name: known.missing(header) for known in near}
    missing = dict(sorted(missing.items(), key=lambda item: len(item[1])))
    reason = "this header is of no known format: a dry run of a table proposes a profile"
    for name, names in list(missing.items())[:1]:
        reason = f"this looks like {name}, but it has no column {', '.join(map(repr, names))}"
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason, missing=missing)
