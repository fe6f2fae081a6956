"""The columns of a profile in the header of a file, and the rows that its words choose."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from journal_api.positions.import_rows import LeftOut
from journal_api.structs.import_profiles import Columns, ImportProfileCreate, Words
from journal_api.trade_files.dates import is_time
from journal_api.trade_files.file_format import Rows, list_names, word_matches
from journal_api.trade_files.named_rows import Row, shorten
from journal_api.trade_files.vocabulary import (
    ANYTHING,
    CHANGING,
    ENDING,
    NAMES,
    STATES,
    ColumnNames,
    find_column,
    read_words,
    simplify,
    translate,
)

CONSTANT = "="  # before a value for all rows, in place of a column
DAYS = frozenset(name for name in NAMES["at"] if name.endswith("date"))


def find_columns(header: Collection[str], many: Iterable[Columns]) -> list[str]:
    """Return the names of those columns that are in the header."""
    names = ColumnNames(header)
    return [name for columns in many if (name := find_column(names, columns)) is not None]


def list_time_columns(profile: ImportProfileCreate) -> list[Columns]:
    matched = [fill.at for fill in (profile.bought, profile.sold) if fill]
    return without_none([profile.opened_at, profile.closed_at, profile.at, *matched])


def find_day_columns(profile: ImportProfileCreate, header: Collection[str]) -> dict[str, str]:
    """Return the columns of days, by those of times beside them, which may have the time of day alone."""
    opening, closing, found = {"opendate", "buydate"}, {"closedate", "selldate"}, dict[str, str]()
    kinds = ((profile.at, (DAYS,)), (profile.opened_at, (opening, DAYS)), (profile.closed_at, (closing, DAYS, opening)))
    for columns, days in () if profile.clock else kinds:
        time = find_column(header, columns) or ""
        named = (name for names in days for name in header if name != time and translate(name) in names)
        if time and (day := next(named, None)):
            found[time] = day
    return found


def list_constants(profile: ImportProfileCreate) -> dict[str, str]:
    """Return the cells that stand for a column that the file lacks, by its name in the profile: =1."""
    columns = [*list_required_columns(profile), *list_optional_columns(profile)]
    names = [name for part in columns for name in list_names(part) if part not in profile.header]
    return {name: name.removeprefix(CONSTANT) for name in names if name.startswith(CONSTANT)}


def list_required_columns(profile: ImportProfileCreate) -> list[Columns]:
    """Return the columns that a file of the profile has, each with its alternatives."""
    columns = [*profile.header, *list_member_columns(profile)]
    return list({list_names(part): part for part in columns}.values())


def list_member_columns(profile: ImportProfileCreate) -> list[Columns]:
    """Return the columns without which no row can be read."""
    matched = [fill for fill in (profile.bought, profile.sold) if fill]
    columns = [
        *(profile.where or ()),
        *(profile.symbol, profile.quantity, profile.side and profile.side.column),
        *(profile.entry_price, profile.exit_price, profile.price, profile.clock),
        *(profile.gross_pnl, profile.net_pnl, *list_time_columns(profile)),
        *(columns for fill in matched for columns in (fill.price, fill.id)),
    ]
    return without_none(columns)


def list_optional_columns(profile: ImportProfileCreate) -> list[Columns]:
    """Return the columns that are read if the header has them."""
    option = profile.option
    columns = [
        *(profile.repeated or ()),
        *((option.expires, option.strike, option.right) if option else ()),
        *((profile.effect.column,) if profile.effect else ()),
        *(profile.costs.columns if profile.costs else ()),
        *(profile.position, profile.contract, profile.multiplier, profile.account),
        *((profile.divide_by or {}).values()),
        *(profile.external_id or ()),
    ]
    return without_none(columns)


def without_none(columns: Iterable[Columns | None]) -> list[Columns]:
    return [part for part in columns if part is not None]


def make_word_matcher(words: Words) -> Callable[[str], bool]:
    """Return a function that tells whether a cell is one of the words, in any letter case."""

    @lru_cache(maxsize=256)
    def matches(cell: str) -> bool:
        folded = cell.strip().casefold()
        return any(word_matches(word, folded) for word in words)

    return matches


class Condition(NamedTuple):
    """A column of `where`, the test of its cells, and the reason for leaving a row out."""

    column: str
    matches: Callable[[str], bool]
    reason: str

    def explain(self, cell: str) -> str:
        """Return why a row with this cell is left out: by the cell itself if that ends or changes positions."""
        is_told = simplify(self.column) not in STATES and (ENDING | CHANGING) & read_words(cell)
        return f"{self.column} is {shorten(cell)!r}" if is_told else self.reason


def list_conditions(profile: ImportProfileCreate, header: Collection[str]) -> list[Condition]:
    conditions = []
    for name, value in (profile.where or {}).items():
        column = find_column(header, name) or name
        words = [value] if isinstance(value, str) else value
        reason = "is empty" if ANYTHING in words else f"is not {' or '.join(words)}"
        conditions.append(Condition(column, make_word_matcher(words), f"{column} {reason}"))
    return conditions


def choose_rows(conditions: Sequence[Condition], rows: Rows) -> Rows:
    """Yield the rows that meet all conditions, and leave out the others with the reason."""
    for row in rows:
        if isinstance(row, Row):
            reasons = [one.explain(row[one.column]) for one in conditions if not one.matches(row[one.column])]
            yield LeftOut(row.line, reasons[0]) if reasons else row
        else:
            yield row


def leave_out_cancelled(cancelled_on: str, rows: Rows) -> Rows:
    """Yield the rows without those that have a day on which they were cancelled."""
    for row in rows:
        is_cancelled = isinstance(row, Row) and is_time(row[cancelled_on].strip())
        yield LeftOut(row.line, f"{cancelled_on} is stated") if is_cancelled else row


def leave_out_rejected(status: str, rows: Rows, cancelled: set[int]) -> Rows:
    """Yield the rows of orders, and leave out the rejected ones; add the lines of `cancelled` ones."""
    for row in rows:
        word = row[status].strip().casefold() if isinstance(row, Row) else ""
        if word.startswith("cancel"):
            cancelled.add(row.line)
        if isinstance(row, Row) and word.startswith("reject"):
            yield LeftOut(row.line, f"{status} is {shorten(row[status])}")
        else:
            yield row


def complete_cells(columns: Sequence[str], cells: Mapping[str, str], rows: Rows) -> Rows:
    """Yield the rows with the cells that the file lacks; an empty cell of these columns has the text above it."""
    above: dict[str, str] = {}
    for row in rows:
        if isinstance(row, Row):
            above = {name: row[name] if row[name].strip() else above.get(name, "") for name in columns}
            row.update(above, **cells)
        yield row
