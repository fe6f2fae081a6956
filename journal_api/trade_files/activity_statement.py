"""The trades in Interactive Brokers' activity statement (CSV) as the rows of one table.

Each row of a statement begins with its section and its kind, and the section Trades has a header for each
kind of asset. The names of sections and columns are in the language of the statement, their order is not.
"""

import re
from collections.abc import Iterable, Iterator

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.rows import Cells, read_csv

BEGINNING = re.compile(
    r"(?:Statement|Account Information|Trades),Header,|[^,;\t]+,Header,(?:DataDiscriminator,|[^,;\t]+,[^,;\t]+$)"
)
# Columns of the table that all headers have.
SAME = ("DataDiscriminator", "Asset Category", "Symbol", "Date/Time", "Quantity", "T. Price")
ACCOUNT, COSTS, CODE = "Account", "Comm/Fee", "Code"
# The columns of the section in the order of all languages; Account only if there are several.
ORDER = (SAME[0], SAME[1], "Currency", ACCOUNT, *SAME[2:], "C. Price", "Proceeds", COSTS, "Basis", "P/L", "MTM", CODE)
WIDTHS = (len(ORDER) - 2, len(ORDER) - 1)  # of the names behind the first
COSTS_IN = "Comm in "  # the costs of currencies, in the currency of the account: Comm in USD
VALUE, NOTIONAL = "Proceeds", "Notional Value"  # by which the general check finds what a point is worth


def without_padding(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines as they were before a spreadsheet with semicolons saved them."""
    for line in lines:
        bare = line.rstrip("\r\n")
        text = bare.rstrip(";")
        if text == bare:
            yield line
        else:
            is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
            yield (text[1:-1].replace('""', '"') if is_quoted else text) + "\n"


def read_orders(pieces: Iterable[str]) -> Iterator[Cells | Rejected]:
    """Yield a header and the orders. Subtotals and other sections are skipped."""
    trades, line = StatementTrades(), 1
    for row in read_csv(without_padding(pieces), ","):
        line = row.line
        if isinstance(row, Rejected):
            yield row
            continue
        match row.cells:
            case ["Statement", "Data", "AccountId", account, *_]:
                trades.account = account
            case ["Account Information", "Data", "Account", account, *_]:
                trades.account = account
            case ["Trades", "Header", *names]:
                yield from trades.read_header(line, names)
            case [section, "Header", "DataDiscriminator", *names] if SAME[1] not in names and len(names) in WIDTHS:
                trades.section = section
                order = [name for name in ORDER if name != ACCOUNT or len(names) == max(WIDTHS)]
                yield from trades.read_header(line, order)
            case [section, "Data", *cells] if section == trades.section:
                yield from trades.read_order(line, cells)
            case ["Transaction History", "Header" | "Data", *cells]:
                trades.columns = trades.columns or cells
                yield Cells(line, cells)
    if not trades.columns:
        reason = "the statement has no section Trades: export an activity statement with it"
        yield Rejected(line, reason)


class StatementTrades:
    """Makes one table from the rows of the section Trades, whose columns change within the file."""

    def __init__(self) -> None:
        self.account, self.section = "", "Trades"
        self.columns: list[str] = []  # of the table
        self._names: list[str] = []  # the columns of the section
        self._level: str | None = None  # of the rows that are fills: Order, or Trade in a file without orders

    def read_header(self, line: int, names: list[str]) -> Iterator[Cells]:
        """Read a header of the section. Yields the header of the table after the first."""
        self._names = [COSTS if name.startswith(COSTS_IN) else name.strip() for name in names]
        if not self.columns:
            account = [ACCOUNT] if self.account or ACCOUNT in self._names else []
            same = [name for name in (*SAME, COSTS, CODE, "Currency") if name in self._names]
            self.columns = [*account, *same, VALUE]
            yield Cells(line, self.columns)

    def read_order(self, line: int, cells: list[str]) -> Iterator[Cells | Rejected]:
        """Yield the row of the table. The executions of an order are skipped, because they are its parts."""
        if len(cells) < len(self._names):
            yield Rejected(line, f"has {len(cells) + 2} cells where its header has {len(self._names) + 2}")
            return
        row = dict(zip(self._names, cells, strict=False))
        level = row.get(SAME[0])
        if level in ("Order", "Trade"):
            self._level = self._level or level
            if level != self._level:
                return
        row[ACCOUNT] = row.get(ACCOUNT) or self.account
        row[VALUE] = row.get(NOTIONAL) or row.get(VALUE, "")
        codes = {code.strip() for code in row.get(CODE, "").split(";")}
        row[CODE] = "C" if "C" in codes and "O" not in codes else ""  # with both, the position is reversed
        yield Cells(line, [row.get(name, "") for name in self.columns])
