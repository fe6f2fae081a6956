"""Files of trades: which format it is, told by the header, and its rows one by one.

A format is a module with `NAME`, `REQUIRED` (the columns that tell it) and `trade_of`; `FORMATS` lists them.
"""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.importing import round_trips, tradovate_performance
from journal_api.importing.cells import ImportedTrade, Row

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
FORMATS: tuple[ModuleType, ...] = (tradovate_performance, round_trips)


class TradeFile(NamedTuple):
    """A recognised file; iterate `trades` once, each with the line it stands on."""

    format: str
    trades: Iterator[tuple[int, ImportedTrade]]


def read(path: Path, account_id: int, on_bytes: Callable[[int], object] = lambda number: None) -> TradeFile:
    """Recognise the file and read it as it is asked for; `on_bytes` hears of every line's length.

    Raises ValidationFailed, here for the header and from `trades` for a row, naming the line and the reason.
    """
    lines = numbered_rows(path, on_bytes)
    _, header = next(lines, (1, []))
    columns = [name.strip() for name in header]
    chosen = recognise(columns)
    return TradeFile(chosen.NAME, trades_in(lines, columns, chosen, account_id))


def recognise(columns: list[str]) -> ModuleType:
    """The format of that header; raises ValidationFailed saying what each format misses."""
    for candidate in FORMATS:
        if set(columns) >= candidate.REQUIRED:
            return candidate
    missing = {one.NAME: [name for name in sorted(one.REQUIRED) if name not in columns] for one in FORMATS}
    told = "; ".join(f"{name} misses {', '.join(names)}" for name, names in missing.items())
    raise ValidationFailed(f"line 1: this header is of no known format: {told}", line=1, missing=missing)


def trades_in(
    lines: Iterator[tuple[int, list[str]]], columns: list[str], chosen: ModuleType, account_id: int
) -> Iterator[tuple[int, ImportedTrade]]:
    if repeated := sorted({name for name in columns if columns.count(name) > 1}):
        raise at_line(1, f"the column {repeated[0]!r} stands there twice")
    trade_of: Callable[[Row, int], ImportedTrade] = chosen.trade_of
    for line, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(columns):
            raise at_line(line, f"has {len(cells)} cells where the header has {len(columns)}")
        try:
            yield line, trade_of(Row(zip(columns, cells, strict=True)), account_id)
        except ValidationFailed as error:
            field, reason = next(iter(error.details["fields"].items()))
            raise at_line(line, f"{field} {reason}") from None


def numbered_rows(path: Path, on_bytes: Callable[[int], object]) -> Iterator[tuple[int, list[str]]]:
    """Every row with the number of the line it ends on."""
    with path.open("rb") as file:
        reader = csv.reader(lines_of(file, on_bytes), strict=True)
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise at_line(reader.line_num, f"is not CSV: {error}") from None
            yield reader.line_num, cells


def lines_of(file: BinaryIO, on_bytes: Callable[[int], object]) -> Iterator[str]:
    """The lines of the file, whatever ends them; raises ValidationFailed for one that is not UTF-8."""
    number = 0
    for read in file:
        on_bytes(len(read))
        try:
            text = read.decode("utf-8" if number else "utf-8-sig")
        except UnicodeDecodeError as error:
            line = number + 1 + read.count(b"\r", 0, error.start)
            raise at_line(line, "is not UTF-8") from None
        for line_text in LINE.findall(text):
            number += 1
            yield line_text


def at_line(line: int, reason: str) -> ValidationFailed:
    return ValidationFailed(f"line {line}: {reason}", line=line, reason=reason)
