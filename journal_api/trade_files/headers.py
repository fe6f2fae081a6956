"""Recognises the format of a file by its header.

Each module in formats/ defines a `FORMAT`; `FORMATS` lists them, the more specific first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Rejected
from journal_api.trade_files.file_format import Format
from journal_api.trade_files.formats import (
    executions,
    metatrader5_history,
    ninjatrader_trades,
    round_trips,
    tradervue_trades,
    tradezella_trades,
    tradovate_performance,
)
from journal_api.trade_files.rows import MOST_COLUMNS, Cells, readings_of
from journal_api.trade_files.texts import FileText

FORMATS: tuple[Format, ...] = (
    tradovate_performance.FORMAT,
    metatrader5_history.FORMAT,
    ninjatrader_trades.FORMAT,
    tradezella_trades.FORMAT,
    tradervue_trades.FORMAT,
    executions.FORMAT,
    executions.TRADEZELLA,
    round_trips.FORMAT,
)
# The number of rows in which the header is searched: HTML reports have other rows before it.
ROWS_BEFORE_THE_HEADER = 100
LONGEST_NAME = 255  # of a column


def recognised(text: FileText) -> tuple[Format, list[str], Iterator[Cells | Rejected]]:
    """Return the format, the column names and the rows after the header.

    Every separator is tried. Raises ValidationFailed for the most likely one, or for the first of which the
    header is similar to a format.
    """
    errors = []
    for rows in readings_of(text.pieces):
        try:
            return (*header_of(rows), rows)
        except ValidationFailed as error:
            errors.append(error)
    raise next(filter(is_similar, errors), errors[0])


def is_similar(error: ValidationFailed) -> bool:
    """Return whether the unknown header has a column of some format."""
    return len(error.details.get("missing", FORMATS)) < len(FORMATS)


def header_of(rows: Iterator[Cells | Rejected]) -> tuple[Format, list[str]]:
    """Return the format and the column names.

    Raises ValidationFailed with the most similar formats and their missing columns.
    """
    nearest: tuple[int, list[str]] = (1, [])
    for _, row in zip(range(ROWS_BEFORE_THE_HEADER), rows, strict=False):
        if isinstance(row, Rejected):
            raise wrong_header(row.line, row.reason)
        if len(row.cells) > MOST_COLUMNS:
            raise wrong_header(row.line, f"has {len(row.cells)} columns; the maximum is {MOST_COLUMNS}")
        line, columns = row.line, column_names(row.cells)
        if columns == list(round_trips.TITLES):
            reason = "this is the export for spreadsheets, which changes texts: import the exact export"
            raise wrong_header(line, reason)
        for candidate in FORMATS:
            names = column_names(row.cells, candidate.aliases) if candidate.aliases else columns
            if candidate.columns <= set(names):
                check_names(candidate, names, line)
                return candidate, names
        nearest = max(nearest, (line, columns), key=lambda header: similarity(header[1]))
    raise unknown_header(*nearest)


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
    if any(len(name) > LONGEST_NAME for name in columns):
        raise wrong_header(line, f"has a column whose name has over {LONGEST_NAME} characters")
    other_names = set(columns) - file_format.columns
    for name in columns:
        if name and f"{name} 2" in other_names:
            raise wrong_header(line, f"the column {name!r} is repeated")


def wrong_header(line: int, reason: str) -> ValidationFailed:
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason)


def similarity(columns: list[str]) -> int:
    """Return the largest number of columns that a format has in common with the header."""
    return max(len(file_format.columns & set(columns)) for file_format in FORMATS)


def unknown_header(line: int, columns: list[str]) -> ValidationFailed:
    """Return the error for an unknown header, with the missing columns of similar formats."""
    similar = [file_format for file_format in FORMATS if file_format.columns & set(columns)] or FORMATS

    def missing_share(file_format: Format) -> float:
        return len(file_format.columns - set(columns)) / len(file_format.columns)

    missing = {
        file_format.name: sorted(file_format.columns - set(columns))
        for file_format in sorted(similar, key=missing_share)
    }
    nearest = list(missing.items())[:2] if len(similar) < len(FORMATS) else []
    details = "; ".join(f"{name} misses {', '.join(names)}" for name, names in nearest)
    reason = f"this header is of no known format: {details or 'known are ' + ', '.join(missing)}"
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason, missing=missing)
