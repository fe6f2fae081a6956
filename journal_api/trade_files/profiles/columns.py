"""Finds the columns of a profile in the header of a file, and its words in the cells."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from journal_api.rules.import_rows import LeftOut
from journal_api.structs.import_profiles import Columns, ImportProfileCreate, MatchedFill, Words
from journal_api.trade_files.cells import Row
from journal_api.trade_files.file_format import Rows

ANYTHING = "*"


def alternatives(columns: Columns) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def name_in(header: Collection[str], columns: Columns | None) -> str | None:
    """Return the name of the first alternative in the header, None if none is there."""
    for name in alternatives(columns or []):
        if name in header:
            return name
        if name.endswith(ANYTHING):
            beginning = name.removesuffix(ANYTHING)
            if found := next((column for column in header if column.startswith(beginning)), None):
                return found
    return None


def names_in(header: Collection[str], many: Iterable[Columns]) -> list[str]:
    """Return the names of those columns that are in the header."""
    return [name for columns in many if (name := name_in(header, columns)) is not None]


def required_columns(profile: ImportProfileCreate) -> list[Columns]:
    """Return the columns without which no row can be read, each with its alternatives."""
    matched: list[MatchedFill] = [fill for fill in (profile.bought, profile.sold) if fill]
    columns = [
        *profile.header,
        *(profile.where or ()),
        *(profile.symbol, profile.quantity, profile.side and profile.side.column),
        *(profile.entry_price, profile.exit_price, profile.opened_at, profile.closed_at),
        *(profile.price, profile.at, profile.clock, profile.gross_pnl, profile.net_pnl),
        *(columns for fill in matched for columns in (fill.price, fill.at, fill.id)),
    ]
    distinct = {alternatives(part): part for part in columns if part is not None}
    return list(distinct.values())


def optional_columns(profile: ImportProfileCreate) -> list[Columns]:
    """Return the columns that are read if the header has them."""
    option = profile.option
    columns = [
        *(profile.repeated or ()),
        *((option.expires, option.strike, option.right) if option else ()),
        *(profile.costs.columns if profile.costs else ()),
        *(profile.multiplier, profile.account),
        *(profile.external_id or ()),
    ]
    return [part for part in columns if part is not None]


def is_word(words: Words) -> Callable[[str], bool]:
    """Return a function that tells whether a cell is one of the words, in any letter case."""
    if ANYTHING in words:
        return lambda cell: bool(cell.strip())
    exact = {word.casefold() for word in words if not word.endswith(ANYTHING)}
    beginnings = tuple(word.removesuffix(ANYTHING).casefold() for word in words if word.endswith(ANYTHING))

    @lru_cache(maxsize=256)
    def matches(cell: str) -> bool:
        folded = cell.strip().casefold()
        return folded in exact or bool(folded and beginnings and folded.startswith(beginnings))

    return matches


class Condition(NamedTuple):
    """A column of `where`, the test of its cells, and the reason for leaving a row out."""

    column: str
    matches: Callable[[str], bool]
    reason: str


def conditions_of(profile: ImportProfileCreate) -> list[Condition]:
    """Return the conditions of `where`."""
    words_by_column = {
        column: [value] if isinstance(value, str) else value
        for column, value in (profile.where or {}).items()
    }
    return [
        Condition(column, is_word(words), reason_for(column, words))
        for column, words in words_by_column.items()
    ]


def chosen(conditions: Sequence[Condition], rows: Rows) -> Rows:
    """Yield the rows that meet all conditions, and leave out the others with the reason."""
    for row in rows:
        if isinstance(row, Row):
            for condition in conditions:
                if not condition.matches(row[condition.column]):
                    yield LeftOut(row.line, condition.reason)
                    break
            else:
                yield row
        else:
            yield row


def reason_for(column: str, words: Words) -> str:
    if ANYTHING in words:
        return f"{column} is empty"
    return f"{column} is not {' or '.join(words)}"


def with_repeated_cells(columns: Sequence[str], rows: Rows) -> Rows:
    """Yield the rows; an empty cell of these columns has the text of the cell above."""
    above: dict[str, str] = {}
    for row in rows:
        if isinstance(row, Row):
            cells = {name: row[name] if row[name].strip() else above.get(name, "") for name in columns}
            above = cells
            row.update(cells)
        yield row
