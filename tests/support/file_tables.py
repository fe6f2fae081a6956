"""Builds files of trades from tables of cells, and shows the trades that are read from them."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from factories import read_file
from file_positions import FileTrade, read_positions_of
from plain_rows import SAMPLES as SAMPLES

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Rejected

AMOUNTS = (
    *("quantity", "multiplier", "entry_price", "exit_price", "stop_loss", "gross_pnl", "fees"),
    *("initial_risk", "mae", "mfe"),
)


def write_csv(rows: Iterable[Sequence[str]], separator: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    return text.getvalue().encode()


def workbook(*sheets: Iterable[Iterable[Any]]) -> bytes:
    """An Excel file of sheets of rows."""
    import openpyxl  # a tenth of a second, which few processes need

    book, file = openpyxl.Workbook(write_only=True), io.BytesIO()
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file.getvalue()


def write_file(plain: Mapping[str, str], *rows: Mapping[str, Any], separator: str = ",") -> bytes:
    """A file with a row for each of these, the cells of `plain` where it names none.

    A cell of None leaves its column out of the file. The header of a column such as Time 2 is Time.
    """
    columns = list(dict.fromkeys([*plain, *(column for row in rows for column in row)]))
    columns = [column for column in columns if not any(column in row and row[column] is None for row in rows)]
    header = [column.removesuffix(" 2") for column in columns]
    return write_csv([header, *([{**plain, **row}.get(name, "") for name in columns] for row in rows)], separator)


def read_rows(content: str | bytes, zone: str = "UTC", **options: Any) -> list[FileTrade | Rejected]:
    return read_positions_of(read_file(content, zone, **options))


def read_trades(content: str | bytes, zone: str = "UTC", **options: Any) -> list[dict[str, Any]]:
    """The stored columns of the trades of a file without errors, with `line`, `account` and `unstated`."""
    rows = read_rows(content, zone, **options)
    assert [row for row in rows if isinstance(row, Rejected)] == []
    return [show_trade(row) for row in rows if isinstance(row, FileTrade)]


def read_trade(content: str | bytes, zone: str = "UTC", **options: Any) -> dict[str, Any]:
    (trade,) = read_trades(content, zone, **options)
    return trade


def read_errors(content: str | bytes, **options: Any) -> list[str]:
    """The lines of a file that cannot be read, with the reasons; one if none of the file can."""
    try:
        rows = read_rows(content, **options)
    except ValidationFailed as refused:
        return [str(refused)]
    return [f"line {row.line}: {row.reason}" for row in rows if isinstance(row, Rejected)]


def show_trade(row: FileTrade) -> dict[str, Any]:
    """The columns with amounts as texts such as 1250.5, and what else the file says of the trade."""
    amounts = {name: show_amount(row.columns[name]) for name in AMOUNTS}
    imported, stated = row.imported, row.statements
    has_fees = any(one.fees is not None for one in stated)
    unstated = {"fees": has_fees, "multiplier": any(one.has_multiplier for one in stated)}
    return {
        **row.columns,
        **amounts,
        "line": row.line,
        "account": row.account,
        "unstated": sorted(name for name, is_stated in unstated.items() if not is_stated),
        "strategy": imported and imported.strategy,
        "setup": imported and imported.setup,
        "tags": list(imported.tags) if imported else [],
        "answers": [list(answer) for answer in imported.answers] if imported else [],
        "opened_at": show_time(row.columns["opened_at"]),
        "closed_at": show_time(row.columns["closed_at"]),
    }


def show_amount(units: int | None) -> str | None:
    return None if units is None else f"{(Decimal(units) / 10**8).normalize():f}"


def show_time(time: str | None) -> str | None:
    return time and time.replace(".000000Z", "Z")
