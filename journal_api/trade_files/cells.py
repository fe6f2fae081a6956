"""Reads the texts of cells: names, sides, options. Each function raises ValueError with the reason."""

import re
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import msgspec

from journal_api.structs.trades import Direction
from journal_api.trade_files.vocabulary import find_direction
from journal_api.values.options import find_option, looks_like_option
from journal_api.values.types import Name40, Name100, Text

T = TypeVar("T")
# Names or answers in one cell, and characters of a cell of names.
MAX_ITEMS_IN_CELL, MAX_LIST_LENGTH = 1000, 1024 * 1024
# Long cells are notes, which rarely repeat.
MAX_CACHED_LENGTH = 64
MAX_CACHED = 8192
MAX_NAME_LENGTH = 100  # of an asset
DASHES = str.maketrans("–—", "--")  # which some programs write in place of each other
ISIN = re.compile(r"\b[A-Z]{2}[A-Z0-9]{9}[0-9]\b")
# What is filled of the quantity of an order: 3/10.
PART_OF_ORDER = re.compile("([0-9.,]+) ?/ ?[0-9.,]+")
# A fill in words: Buy 3 @ 139.74 USD, Sold -1 QLTX @12.5.
SENTENCE = re.compile(r"[A-Za-z]+ [+-]?(?P<quantity>[0-9][0-9.,']*)\b.*?@ ?(?P<price>[-$€£]*[0-9][0-9.,']*)")

text = Text.decode


class CellCache(dict[str, T]):
    """The values that a reader has returned for the texts of cells: symbols, sides and names repeat."""

    def __init__(self, reader: Callable[[str], T]) -> None:
        super().__init__()
        self._reader = reader

    def __missing__(self, cell: str) -> T:
        """Return the parsed cell. Raises ValueError, which is not cached."""
        value = self._reader(cell.strip())
        keep_value(self, cell, value)
        return value


def keep_value(values: dict[str, T], cell: str, value: T) -> None:
    if len(cell) < MAX_CACHED_LENGTH:
        if len(values) >= MAX_CACHED:
            values.clear()
        values[cell] = value


@cache
def find_cache(reader: Callable[[str], T]) -> CellCache[T]:
    """Return the cache of a reader. It is kept for good, so the reader must be a function of a module."""
    return CellCache(reader)


def parse_symbol(cell: str) -> Name40:
    """Return a symbol; one that is too long for a trade is that of the option or the ISIN in it."""
    if len(cell) <= Name40.max_length:
        return Name40.decode(cell)
    isin = ISIN.search(cell)
    return Name40.decode(find_option(cell) or (isin[0] if isin else cell))


def parse_asset(cell: str) -> Name40:
    """Return the symbol or, of a name too long for one, its beginning and its end."""
    cell = cell.translate(DASHES)
    is_name = Name40.max_length < len(cell) <= MAX_NAME_LENGTH and not looks_like_option(cell)
    is_name = is_name and not find_option(cell) and not ISIN.search(cell)
    return Name40.decode(f"{cell[:20]}…{cell[-19:]}") if is_name else parse_symbol(cell)


def parse_asset_behind_side(cell: str) -> Name40:
    """Return the symbol of a cell such as Buy Tesla Inc."""
    return parse_asset(cell.partition(" ")[2].strip())


def parse_direction(cell: str) -> Direction:
    """Return the direction of a trade, which a file may state by the side of its first fill, in one word."""
    word = None if " " in cell.strip() else find_direction(cell)
    if word is None:
        raise ValueError("must be long or short, or the side that opened the trade: buy or sell")
    return word


def is_sale(cell: str) -> bool:
    """Return whether a fill is a sale by its first letter: Buy, BOT, BTO, BTC; Sell, SLD, SS, STO, STC."""
    if cell[:1] not in tuple("BbSs"):
        raise ValueError("must begin with B or S, as Buy and Sell do")
    return cell[0] in "Ss"


def parse_names(cell: str) -> list[str]:
    """Return names separated by semicolons or, for names with semicolons, in a JSON array."""
    if len(cell) > MAX_LIST_LENGTH:
        raise ValueError(f"must have at most {MAX_LIST_LENGTH} characters")
    parts = parse_json_list(cell, str) if cell.startswith("[") else require_few(cell.split(";", MAX_ITEMS_IN_CELL))
    return [Name100.decode(part) for part in parts if part.strip()]


def parse_json_list(cell: str, kind: type[T]) -> list[T]:
    """Return the items of a JSON array."""
    try:
        return require_few(msgspec.json.decode(cell, type=list[kind]))  # type: ignore[valid-type]
    except msgspec.MsgspecError as error:
        raise ValueError(f"must be JSON in the documented format: {error}") from None


def require_few(items: list[T]) -> list[T]:
    """Return the items unless there are more than MAX_ITEMS_IN_CELL."""
    if len(items) > MAX_ITEMS_IN_CELL:
        raise ValueError(f"must have at most {MAX_ITEMS_IN_CELL} items")
    return items


def parse_right(cell: str) -> str:
    """Return the right of an option, C or P."""
    if cell.upper() not in ("C", "P", "CALL", "PUT"):
        raise ValueError("must be Call or Put")
    return cell[0].upper()
