"""The values of cells by their text, because symbols, prices and fees repeat."""

from collections.abc import Callable
from functools import cache
from typing import TypeVar

T = TypeVar("T")
# Long cells are notes, which rarely repeat.
LONGEST_CACHED = 64
MOST_REMEMBERED = 8192


class Remembered(dict[str, T]):
    """The values that a reader has returned for the texts of cells."""

    def __init__(self, reader: Callable[[str], T]) -> None:
        super().__init__()
        self._reader = reader

    def __missing__(self, cell: str) -> T:
        """Return the parsed cell. Raises ValueError, which is not remembered."""
        value = self._reader(cell.strip())
        remember(self, cell, value)
        return value


def remember(values: dict[str, T], cell: str, value: T) -> None:
    """Keep the value of a cell."""
    if len(cell) < LONGEST_CACHED:
        if len(values) >= MOST_REMEMBERED:
            values.clear()
        values[cell] = value


@cache
def remembered(reader: Callable[[str], T]) -> Remembered[T]:
    """Return the values that the reader has returned. They are kept for good: use functions of modules."""
    return Remembered(reader)
