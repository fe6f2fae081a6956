"""Counts the rows of a file that are no trades."""

from collections import Counter
from collections.abc import Iterator

from journal_api.rules.import_rows import ImportedTrade, LeftOut, Rejected
from journal_api.structs.imports import LeftOutRows
from journal_api.trade_files.file_format import Trades


class LeftOutCounter:
    """Counts the rows that are no trades, by the reason."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def removed_from(self, trades: Trades) -> Iterator[ImportedTrade | Rejected]:
        """Yield the trades and the rejected lines; count the others."""
        for trade in trades:
            if isinstance(trade, LeftOut):
                self.counts[trade.reason] += 1
            else:
                yield trade

    def report(self) -> list[LeftOutRows]:
        return [LeftOutRows(reason=reason, rows=rows) for reason, rows in self.counts.items()]
