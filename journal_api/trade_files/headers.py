"""Recognises the format of a file by the header."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.file_format import Format, KnownFormat, find_account_columns
from journal_api.trade_files.formats import round_trips
from journal_api.trade_files.readings import find_named_members, split_rows
from journal_api.trade_files.rows import MAX_COLUMNS, Cells
from journal_api.trade_files.texts import FileText
from journal_api.trade_files.vocabulary import MAX_NAME_LENGTH, REPORTS, ColumnNames, find_column, translate

# The number of rows in which the header is searched: HTML reports have other rows before it.
ROWS_BEFORE_THE_HEADER = 100
# In the rows after them, only the headers of sections are searched.
ROWS_BEFORE_A_SECTION = 20_000
OF_TRADES = (("quantity", "entry_price", "exit_price"), ("quantity", "price", "side", "at"))
DRY_RUN = "a dry run of a table proposes a profile"


class Header(NamedTuple):
    """The format of a file, the names of its columns, and the cells that state them."""

    format: Format
    columns: list[str]
    cells: list[str]


class UnknownHeader(NamedTuple):
    """The line and the reason for which no format reads a file.

    `missing` are the formats that the header nearly has, with the missing columns; None if no profile could
    read the file either.
    """

    line: int
    reason: str
    missing: dict[str, list[str]] | None = None
    is_report: bool = False  # whether it is a known file without trades
    has_trades: bool = False  # whether its columns and rows may be of trades
    doubts: tuple[str, ...] = ()  # of a proposed profile

    def refusal(self, *, dry_run: bool = False) -> ValidationFailed:
        """Return the error for the client; it recommends a dry run to whoever did not ask for one."""
        details = {} if self.missing is None else {"missing": self.missing}
        reason = self.reason if dry_run or self.missing is None else f"{self.reason}: {DRY_RUN}"
        return ValidationFailed(f"line {self.line}: {reason}", line=self.line, reason=reason, **details)


def recognise(
    text: FileText, formats: Sequence[KnownFormat]
) -> tuple[Header, Iterator[Cells | Rejected]] | UnknownHeader:
    """Return the header and the rows below it.

    Every separator is tried. An unknown header is the first that is similar to a format, else the header in
    the most likely separator.
    """
    unknown: list[UnknownHeader] = []
    for rows in split_rows(text):
        header = find_header(rows, formats)
        if isinstance(header, Header):
            of_section = takewhile(lambda row: isinstance(row, Rejected) or sum(map(bool, row.cells)) > 1, rows)
            return header, of_section if header.format.section else rows
        unknown.append(header)
    reports = [header for header in unknown if header.is_report]
    tables = [header for header in unknown if header.has_trades]  # another sheet than that of a report
    if reports and tables:
        return tables[0]._replace(doubts=(reports[0].reason,))
    known = reports or [header for header in unknown if header.missing]
    return known[0] if known else unknown[0]


def find_header(rows: Iterator[Cells | Rejected], formats: Sequence[KnownFormat]) -> Header | UnknownHeader:
    """Return the first header of a format, else the header that is most similar to one."""
    most, nearest = 0, (1, list[str]())
    heading, report, is_of_trades, has_trades = "", None, False, False
    for index, row in zip(range(ROWS_BEFORE_A_SECTION), rows, strict=False):
        if isinstance(row, Rejected):
            return UnknownHeader(row.line, row.reason)
        if len(row.cells) > MAX_COLUMNS:
            reason = f"has {len(row.cells)} columns; the maximum is {MAX_COLUMNS}"
            return UnknownHeader(row.line, reason)
        has_trades |= is_of_trades and sum(map(bool, row.cells)) > 2
        candidates = formats
        if index >= ROWS_BEFORE_THE_HEADER:
            candidates = [known for known in formats if known.has_section(heading)] if heading else []
        if candidates and any(row.cells):
            columns = name_columns(row.cells)
            names = ColumnNames(columns)
            if (header := read_header(row, names, heading, candidates)) is not None:
                return header
            if report is None and (what := find_report(names)):
                report = UnknownHeader(row.line, what, is_report=True)
            named = find_named_members(names)
            is_of_trades |= any(named.issuperset(members) for members in OF_TRADES)
            common = max(known.count_columns(names) for known in formats)
            if common > most or not nearest[1]:
                most, nearest = common, (row.line, columns)
        heading = find_next_heading(row.cells, heading)
    return report or describe_unknown_header(*nearest, formats)._replace(has_trades=has_trades)


def find_report(header: Collection[str]) -> str | None:
    """Return what a file is that has this header and no trades, None for any other header, as one of trades."""
    named = find_named_members(header)
    for report in () if named.issuperset(OF_TRADES[0]) else REPORTS:
        if all(find_column(header, columns) for columns in report["columns"]):
            return f"this is {report['name']}, which has no trades: export {report['instead']} instead"
    return None


def read_header(
    row: Cells, header: ColumnNames, heading: str, formats: Sequence[KnownFormat]
) -> Header | UnknownHeader | None:
    """Return the header of a format below that heading, None for any other row."""
    if tuple(header) == round_trips.TITLES:
        reason = "this is the export for spreadsheets, which changes texts: import the exact export"
        return UnknownHeader(row.line, reason)
    for known in formats:
        if known.fits(header, heading):
            names = name_columns(row.cells, known.own_names)
            file_format = known.for_header(header)
            names = name_account(names, file_format)
            reason = find_wrong_name(file_format, names)
            return UnknownHeader(row.line, reason) if reason else Header(file_format, names, row.cells)
    return None


def find_next_heading(cells: list[str], heading: str) -> str:
    """Return the heading of the next row: the only text of this row, the same after a blank row."""
    texts = [text for cell in filter(None, cells) if (text := cell.strip())]
    return texts[0] if len(texts) == 1 else "" if texts else heading


def name_columns(header: list[str], own_names: Mapping[str, str] = {}) -> list[str]:
    """Return the column names, for one that the format knows by another the name that the format has.

    Repeated names are numbered, as in Time, Time 2; empty ones at the end are dropped.
    """
    seen: Counter[str] = Counter()
    columns = []
    names = [cell.strip() for cell in header]
    while names and not names[-1]:
        names.pop()
    for name in names:
        seen[name] += 1
        columns.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    for index, name in enumerate(columns):
        if (own := own_names.get(translate(name))) and own not in columns:
            columns[index] = own
    return columns


def name_account(columns: list[str], file_format: Format) -> list[str]:
    """Return the columns; without one for accounts, another column that is named like one has its name."""
    accounts, others = file_format.accounts, [name for name in columns if name not in file_format.columns]
    other = None if not set(accounts).isdisjoint(columns) else next(iter(find_account_columns(others)), None)
    return [accounts[0] if name == other else name for name in columns] if accounts and other else columns


def find_wrong_name(file_format: Format, columns: list[str]) -> str:
    """Return why a column name is wrong, else nothing: too long, or of two columns of which one is read."""
    if any(len(name) > MAX_NAME_LENGTH for name in columns):
        return f"has a column whose name has over {MAX_NAME_LENGTH} characters"
    other_names = set(columns) - file_format.columns
    read = file_format.columns | file_format.optional
    repeated = [name for name in columns if name in read and f"{name} 2" in other_names]
    return f"the column {repeated[0]!r} is repeated" if repeated else ""


def describe_unknown_header(line: int, columns: list[str], formats: Sequence[KnownFormat]) -> UnknownHeader:
    """Return the formats of which the header has at least three quarters, with the missing columns."""
    header = ColumnNames(columns)
    lacking = [(known, known.find_missing_columns(header)) for known in formats if known.count_columns(header)]
    near = [(known.name, names) for known, names in lacking if 4 * len(names) <= len(known.header)]
    missing = dict(sorted(near, key=lambda item: len(item[1])))
    reason = "this header is of no known format" if columns else "the file is empty, or has no table"
    for name, names in list(missing.items())[:1]:
        reason = f"this looks like {name}, but it has no column {', '.join(map(repr, names))}"
    return UnknownHeader(line, reason, missing)
