"""The rows of a table by column name, without blank rows and the text below the table."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, groupby
from operator import itemgetter

from msgspec.structs import replace

from journal_api.positions.import_rows import LeftOut, Rejected
from journal_api.trade_files.amounts import CACHED_AMOUNTS
from journal_api.trade_files.file_format import find_account_columns, reject
from journal_api.trade_files.headers import Header
from journal_api.trade_files.left_out import LeftOutCounter
from journal_api.trade_files.named_rows import CellRules, Row, shorten
from journal_api.trade_files.rows import MAX_BLANK_ROWS, SPLIT, Cells
from journal_api.trade_files.vocabulary import find_costs, states_trade

MIN_NAMES = 3  # of a table below
MIN_ROWS = 50  # that show what the rows of a file state
# Rows of text below a table.
MAX_ROWS_BELOW = 100
# Characters of a title in a table below.
MAX_TITLE_LENGTH = 40
# Characters of a cell in columns that are not for texts of the trader.
MAX_CELL_LENGTH = 10_000
MIN_NAMELESS = 3  # columns
DIGITS = re.compile(r"\s*[-+]?[0-9][0-9.,' ]*%?\s*")


def name_cells(
    first_rows: Sequence[Cells | Rejected],
    rows: Iterable[Cells | Rejected],
    header: Header,
    rules: CellRules,
    left_out: LeftOutCounter,
) -> Iterator[Row | Rejected | LeftOut]:
    """Yield each row by column name.

    Blank rows are skipped, up to MAX_BLANK_ROWS: reading them takes time in which no trade is returned.
    """
    width, blank_rows, sides = len(header.columns), count(1), find_sides(first_rows[:MIN_ROWS])
    build_row = make_row_builder(header, rules)
    used = header.format.columns | header.format.optional
    last_used = max(index for index, name in enumerate(header.columns) if name in used)
    short = find_short_width(first_rows, header, last_used)
    if short:
        empty = " and ".join(header.columns[short:])
        left_out.warnings.append(f"rows have {short} cells and the header {width}: is {empty} empty in all of them?")
    fitted: Iterator[Cells | Rejected] = (
        row.widened(width, last_used, short) if isinstance(row, Cells) else row for row in chain(first_rows, rows)
    )
    if len(header.cells) > width and not header.format.is_typed:
        are_wide = len(header.cells) - width >= MIN_NAMELESS and are_alike(first_rows, len(header.cells))
        fitted = without_nameless(fitted, width, len(header.cells), are_wide=are_wide)
    rows_of_table = (
        fitted if header.format.is_typed else leave_out_text_below(fitted, header.cells, width, left_out.warnings)
    )
    for row in rows_of_table if header.format.accounts else of_one_account(rows_of_table, header):
        if not isinstance(row, Cells):
            if isinstance(row, Rejected):
                left_out.ends.add(row.line)
            yield row
        elif not any(map(str.strip, row.cells)):
            if next(blank_rows) > MAX_BLANK_ROWS:
                yield Rejected(row.line, f"is blank, and at most {MAX_BLANK_ROWS} blank rows are skipped")
        elif row.cells[0] == header.cells[0] and row.cells[:width] == header.cells[:width]:
            yield LeftOut(row.line, "repeats the header")
        elif not row.fits(width):
            reason = f"has {len(row.cells)} cells where the header has {width}"
            # The last cell may be cut, as a file is whose download ended early.
            has_side = any(cell.strip() for place, cell in enumerate(row.cells[:-1]) if place in sides)
            is_other = has_side and not any(map(states_trade, row.cells))
            yield LeftOut(row.line, reason) if is_other else reject(row.line, reason, skips=rules.skips_errors)
        else:
            yield build_row(row)


def find_short_width(rows: Sequence[Cells | Rejected], header: Header, last_used: int) -> int:
    """Return the number of cells of rows that all lack the same ones of the header, 0 of others.

    Nothing reads those, nor the last one that is there.
    """
    widths = {len(row.cells) for row in rows if isinstance(row, Cells)}
    short = widths.pop() if len(widths) == 1 else 0
    read = [index for index, name in enumerate(header.columns) if name in header.format.read]
    is_short = max(read) + 1 < short <= last_used and len(rows) > 1
    return short if is_short else 0


def are_alike(rows: Sequence[Cells | Rejected], width: int) -> bool:
    """Return whether all rows have as many cells, and none beside each other that a comma in a number makes."""
    cells = [row.cells for row in rows if isinstance(row, Cells) and len(row.cells) == width]
    return len(cells) == len(rows) and not any(SPLIT.search(",".join(row)) for row in cells)


def without_nameless(
    rows: Iterable[Cells | Rejected], width: int, stated: int, *, are_wide: bool
) -> Iterator[Cells | Rejected]:
    """Yield the rows without the cells below those at the end of the header that have no name.

    A comma in a number may have made a row wider, unless all rows are that by several cells: none of them may be a
    number, and between commas the cell below the last name must be empty.
    """
    for row in rows:
        if isinstance(row, Cells) and width < len(row.cells) <= stated:
            last, *others = row.cells[width - 1 :]
            is_certain = row.comma != "thousands" or row.may_be_short or not last.strip()
            is_certain = are_wide or (is_certain and not any(map(DIGITS.fullmatch, others)))
            row = replace(row, cells=row.cells[:width]) if is_certain else row
        yield row


def find_sides(rows: Sequence[Cells | Rejected]) -> set[int]:
    """Return the places of cells that state a purchase or a sale in most rows."""
    cells = (cell for row in rows if isinstance(row, Cells) for cell in enumerate(row.cells))
    stated = Counter(place for place, cell in cells if states_trade(cell))
    return {place for place, number in stated.items() if 2 * number > len(rows)}


def of_one_account(rows: Iterable[Cells | Rejected | LeftOut], header: Header) -> Iterator[Cells | Rejected | LeftOut]:
    """Yield the rows of a format without accounts, and reject those of a second account."""
    column = next(iter(find_account_columns(header.columns)), None)
    index = -1 if column is None else header.columns.index(column)
    first = ""
    for row in rows:
        if column is not None and isinstance(row, Cells) and index < len(row.cells):
            first, name = first or row.cells[index].strip(), row.cells[index].strip()
            if name not in (first, ""):
                reason = f"{column} is {shorten(name)!r}, but earlier rows have {shorten(first)!r}"
                yield Rejected(row.line, f"{reason}: import a file for each account")
                continue
        yield row


def leave_out_text_below(
    rows: Iterable[Cells | Rejected], header: Sequence[str], width: int, warnings: list[str]
) -> Iterator[Cells | Rejected | LeftOut]:
    """Yield the rows, and leave out the text below the table, such as a disclaimer.

    The text begins with a blank row or a row of one cell, and no row of it is as wide as the header, unless one has
    the names of another table. Other tables in it are added to the warnings.
    """
    held, below = list[Cells](), list[Cells]()  # blank rows and rows of one cell that fit; the text
    others = 0  # rows of another table at the end of the text
    for row in rows:
        # Nearly all rows have two cells at their beginning: those need no count.
        cells = row.cells if isinstance(row, Cells) else []
        is_single = ("" in cells[:2] or len(cells) < 2) and sum(map(bool, cells)) <= 1
        if isinstance(row, Cells) and len(held) + len(below) < MAX_ROWS_BELOW:
            if others and not is_of_table(row.cells, below[-others:], header[:width]):
                yield from leave_out_text(below, others, warnings)
                held, below, others = [], [], 0
            elif others or ((held or below) and begins_table(row.cells, header)):
                held, below, others = [], [*held, *below, row], others + 1
                continue
            elif not row.fits(width) and (below or is_single):
                yield from held
                held, below = [], [*below, row]
                continue
            elif is_single and not below:
                held.append(row)
                continue
        yield from (*held, *below, row)
        held, below, others = [], [], 0
    yield from held if not below else ()
    yield from leave_out_text(below, others, warnings)


def is_of_table(cells: Sequence[str], other: Sequence[Cells], header: Sequence[str]) -> bool:
    """Return whether a row is of the other table above it: it is no header and has not more cells than the other's.

    Below a blank row it has fewer than half of the cells of the table.
    """
    filled, names = (sum(map(bool, row)) for row in (cells, other[0].cells))
    is_below = not any(other[-1].cells) and 2 * filled >= sum(map(bool, header))
    return [*cells[: len(header)]] != [*header] and filled <= names and not is_below


def leave_out_text(below: Sequence[Cells], others: int, warnings: list[str]) -> Iterator[Cells | LeftOut]:
    """Leave out the rows of a text, of which so many at its end are another table."""
    text, other = below[: len(below) - others], below[len(below) - others :]
    for rows in (*split_tables(text), *([other] if other else [])):
        names = ", ".join(map(shorten, filter(None, rows[0].cells[:10])))
        if is_table := rows is other or len(rows) > 1:
            costs = " and has costs that the trades lack" if find_costs(rows[0].cells) else ""
            warnings.append(f"the table in line {rows[0].line} ({names}) is not read{costs}")
        for row in rows:
            reason = f"is in another table: {names}" if is_table else "is text below the table"
            yield LeftOut(row.line, reason) if any(map(str.strip, row.cells)) else row


def begins_table(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Return whether a row has only names of the header, at other places: open trades stand below the closed ones."""
    names = [cell for cell in cells if cell]
    is_moved = any(cell and cell != name for cell, name in zip(cells, header, strict=False))
    return is_moved and len(names) > MIN_NAMES and {*header}.issuperset(names)


def split_tables(below: Sequence[Cells]) -> Iterator[list[Cells]]:
    """Yield the rows of each table together, and every other row alone.

    A table has at least two rows of one width, below a header of short names. A sentence that is cut at its
    commas has blanks at the beginning of its parts.
    """
    for width, group in groupby(
        below, lambda row: max((place for place, cell in enumerate(row.cells, 1) if cell), default=0)
    ):
        rows = list(group)
        names = rows[0].cells[:width]
        is_header = len(names) > 1 and all(
            name and name == name.strip() and len(name) <= MAX_TITLE_LENGTH for name in names
        )
        yield from [rows] if is_header and len(rows) > 1 else ([row] for row in rows)


def make_row_builder(header: Header, rules: CellRules) -> Callable[[Cells], Row | Rejected | LeftOut]:
    """Return the function that builds a row with the columns that the format uses."""
    used = header.format.columns | header.format.optional
    indexes = [index for index, name in enumerate(header.columns) if name in used]
    # Of one index, itemgetter would return a string instead of a tuple.
    pick_cells = itemgetter(*indexes) if len(indexes) > 1 else lambda cells: (cells[indexes[0]],)
    names = pick_cells(header.columns)
    amounts = CACHED_AMOUNTS[rules.comma]

    def build_row(cells: Cells) -> Row | Rejected | LeftOut:
        row = Row(zip(names, pick_cells(cells.cells), strict=True))
        row.line, row.rules, row.amounts = cells.line, rules, amounts
        if len("".join(cells.cells)) > MAX_CELL_LENGTH:
            for name, cell in row.items():
                if len(cell) > MAX_CELL_LENGTH and name not in header.format.long:
                    reason = f"{name} has over {MAX_CELL_LENGTH} characters"
                    return reject(cells.line, reason, skips=rules.skips_errors)
        return row

    return build_row
