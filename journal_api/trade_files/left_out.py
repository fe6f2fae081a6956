"""Rows that are no trades, counted by the reason, and what the report of a file warns of."""

from collections import Counter
from collections.abc import Iterable, Iterator

from journal_api.database.user_threads import with_cancel_checks
from journal_api.positions.import_rows import (
    Candidate,
    FileCheck,
    ImportedFill,
    ImportedTrade,
    LeftOut,
    Noted,
    Rejected,
)
from journal_api.structs.imports import LeftOutRows
from journal_api.trade_files.file_format import CANNOT_BE_READ, Trades
from journal_api.trade_files.vocabulary import CHANGING, COSTS, ENDING, read_words, simplify, states_trade
from journal_api.values.instruments import BUILT_IN, InstrumentTable

MAX_ERRORS = 100_000  # the rest of a file with more is not read
MAX_REASONS = 100
CANCELLED = "what these rows cancel is imported"
COSTS_APART = "costs that stand in rows of their own are in no trade"
UNCHANGED = "positions that these rows end or change stay as they are"


class LeftOutCounter:
    """Counts the rows that are no trades, by the reason, and keeps the warnings of the file.

    With `skip_errors` rows that cannot be read are counted too, but not what ends the reading of a file.
    """

    def __init__(
        self, instruments: InstrumentTable = BUILT_IN, *, force: bool = False, skip_errors: bool = False
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.failed_checks: list[str] = []
        self.ends: set[int] = set()  # the lines at which reading ends
        self._instruments, self._force, self._skip_errors = instruments, force, skip_errors

    def remove_from(self, trades: Trades) -> Iterator[ImportedTrade | ImportedFill | Rejected]:
        """Yield the trades and the rejected lines; count the others."""
        for trade in trades:
            if isinstance(trade, LeftOut):
                self._count(trade.reason)
            elif isinstance(trade, Noted):
                self.warnings.append(trade.text)
            elif isinstance(trade, FileCheck):
                yield from self.check(trade)
            else:
                yield trade

    def take_rows(self, rows: Iterable[Candidate | Rejected]) -> list[Candidate | Rejected]:
        """Return the rows, at most MAX_ERRORS of them rejected: nobody reads more. With `skip_errors` count errors."""
        taken: list[Candidate | Rejected] = []
        errors = 0
        for row in with_cancel_checks(rows):
            if isinstance(row, Rejected) and self._skip_errors and row.line not in self.ends:
                self._count(f"{CANNOT_BE_READ}{row.reason}")
                continue
            taken.append(row)
            errors += isinstance(row, Rejected)
            if errors > MAX_ERRORS:
                break
        return taken

    def _count(self, reason: str) -> None:
        is_known = reason in self.counts or len(self.counts) < MAX_REASONS
        self.counts[reason if is_known else "another reason"] += 1

    def check(self, check: FileCheck) -> Iterator[Rejected]:
        """Reject the file if its check fails; with `force`, and of a doubt, the report only warns."""
        if (warning := check.find_warning(self._instruments)) is None:
            return
        if check.rejects:
            self.failed_checks.append(warning)
        if self._force or not check.rejects:
            self.warnings.append(warning)
        else:
            self.ends.add(check.line)
            yield Rejected(check.line, f"{warning}; force (--force) imports it as it is")

    def warn_of_reasons(self) -> None:
        """Warn of rows whose words say that they concern trades of the file."""
        words = [reason for reason in self.counts if reason.endswith("'")]  # reasons that quote a cell
        warned = {
            CANCELLED: [one for one in self.counts if "cancel" in one.casefold() and states_trade(one)],
            COSTS_APART: [one for one in words if simplify(one).endswith(COSTS)],
            UNCHANGED: [one for one in words if (ENDING | CHANGING) & read_words(one)],
        }
        self.warnings += [f"{text}: {', '.join(reasons[:3])}" for text, reasons in warned.items() if reasons]

    def report(self) -> list[LeftOutRows]:
        return [LeftOutRows(reason=reason, rows=rows) for reason, rows in self.counts.items()]
