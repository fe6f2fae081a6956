"""The rows of an import, batch by batch: which are new, which are there, which are corrected."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count, islice
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.errors import ValidationFailed
from journal_api.repositories.import_lookups import names_of
from journal_api.repositories.imported_trades import LastMatched, correct, insert_all, stored_trades_of
from journal_api.repositories.imports import Source, insert, set_counts
from journal_api.repositories.sql import fetch
from journal_api.rules.import_rows import Candidate, Correction, Names, Rejected, ResolvedRow, StoredTrade
from journal_api.structs.imports import Counts, Verdict
from journal_api.trade_files.matching import correction_of
from journal_api.trade_files.names import ready
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.threads import in_thread, looking_around
from journal_api.values.clock import now

BATCH_SIZE = 500
MOST_ERRORS = 1000


class Waiting(NamedTuple):
    """A copy whose original stands further down."""

    line: int
    trade_id: int
    row_name: str | None
    copy_of: str


class TradeImporter:
    """Takes the rows of one import. Without an import, in a dry run, it only reads."""

    def __init__(
        self,
        db: Connection,
        owner: dict[str, Any],
        names: Names,
        import_id: int | None,
        last_trade_id: int,
    ) -> None:
        self.db, self.names, self.import_id = db, names, import_id
        self.common = {**owner, "import_id": import_id, "source_trade_id": None, "now": now()}
        self.trade_ids = count(last_trade_id + 1)
        self.seen: set[int] = set()  # trades that were there, once a row has said what it says of them
        self.taken: LastMatched = {}
        self.row_names: set[str] = set()
        self.originals: dict[str, int] = {}  # what the rows with a name have become
        self.waiting: list[Waiting] = []

    @classmethod
    async def prepare(
        cls, db: Connection, user_id: int, account_id: int | None, import_id: int | None
    ) -> "TradeImporter":
        # Ids are given out here, under the write lock (DECISIONS 27).
        last = await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = 'trades'", {})
        names = await names_of(db, user_id)
        return cls(db, {"user_id": user_id, "account_id": account_id}, names, import_id, last or 0)

    async def process_batch(self, batch: Iterable[Candidate | Rejected]) -> list[Verdict]:
        """Write what is new and what is corrected of the batch; what became of each row.

        The verdict of a copy whose original has not been met yet comes with `finish`.
        """
        rows = [self.named_once(ready(one, self.names, self.common)) for one in batch]
        stored = await stored_trades_of(self.db, rows, self.taken)
        verdicts: list[Verdict] = []
        new: list[ResolvedRow] = []
        corrections: list[Correction] = []
        for place, row in enumerate(rows):
            if isinstance(row, Rejected):
                verdicts.append(Verdict(line=row.line, verdict="error", reason=row.reason))
            elif there := stored.get(place):
                verdicts.append(self.recognise(row, there, corrections))
            elif row.repeats_external_id:
                verdicts.append(Verdict(line=row.line, verdict="duplicate"))
            else:
                new.append(row)
                verdicts += self.add(row)
        if self.import_id is not None:
            await insert_all(self.db, new)
            await correct(self.db, self.import_id, corrections, self.common["now"])
        return verdicts

    def named_once(self, row: ResolvedRow | Rejected) -> ResolvedRow | Rejected:
        """The row, rejected if an earlier one has its name."""
        if isinstance(row, Rejected) or (name := row.imported.row_name) is None:
            return row
        if name in self.row_names:
            return Rejected(row.line, f"row {name!r} stands there twice")
        self.row_names.add(name)
        return row

    def recognise(self, row: ResolvedRow, there: StoredTrade, corrections: list[Correction]) -> Verdict:
        """What the row says of a trade that is there; only the first row that does so counts."""
        if not row.repeats_external_id:
            self.name(row.imported.row_name, there.original_id)
        correction = None
        if there.trade_id not in self.seen:
            self.seen.add(there.trade_id)
            correction = correction_of(row, there)
        if correction:
            corrections.append(correction)
        changed = correction.changed if correction else []
        return Verdict(
            line=row.line,
            verdict="updated" if changed else "duplicate",
            trade_id=there.trade_id,
            changed=changed,
        )

    def add(self, row: ResolvedRow) -> list[Verdict]:
        """Give a new trade its id and its original; no verdict yet if that is still to come."""
        trade_id = row.columns["id"] = next(self.trade_ids)
        name, copy_of = row.imported.row_name, row.imported.copy_of
        if copy_of is not None and copy_of not in self.originals:
            self.waiting.append(Waiting(row.line, trade_id, name, copy_of))
            return []
        original_id = row.columns["source_trade_id"] = self.originals[copy_of] if copy_of else None
        self.name(name, original_id or trade_id)
        return [self.added(row.line, trade_id)]

    def name(self, row_name: str | None, original_id: int) -> None:
        if row_name is not None:
            self.originals[row_name] = original_id

    def added(self, line: int, trade_id: int) -> Verdict:
        return Verdict(line=line, verdict="new", trade_id=None if self.import_id is None else trade_id)

    async def finish(self) -> list[Verdict]:
        """Lead the copies that waited to their originals; what became of their rows."""
        verdicts, found = await in_thread(self.common["user_id"], self.led)
        if self.import_id is not None:
            await self.db.executemany("UPDATE trades SET source_trade_id = ? WHERE id = ?", found)
        return verdicts

    def led(self) -> tuple[list[Verdict], list[tuple[int, int]]]:
        """What became of the copies that waited, and the pairs of original and copy."""
        verdicts: list[Verdict] = []
        found: list[tuple[int, int]] = []
        copies = {one.row_name: one for one in self.waiting if one.row_name is not None}
        for one in looking_around(self.waiting):
            original_id = self.follow(one, copies)
            if original_id is None:
                reason = f"copy_of names {one.copy_of!r}, which leads to no original in this file"
                verdicts.append(Verdict(line=one.line, verdict="error", reason=reason))
            else:
                found.append((original_id, one.trade_id))
                verdicts.append(self.added(one.line, one.trade_id))
        return verdicts, found

    def follow(self, copy: Waiting, copies: dict[str, Waiting]) -> int | None:
        """The original at the end of the copies of copies; each step is taken once for all of them."""
        steps: list[str] = []
        name: str | None = copy.copy_of
        while name in copies and name not in self.originals:
            steps.append(name)
            name = copies.pop(name).copy_of
        original_id = self.originals.get(name or "")
        if original_id is not None:
            self.originals |= dict.fromkeys(steps, original_id)
        return original_id


async def import_trades(
    db: Connection,
    user_id: int,
    source: Source,
    file: TradeFile,
    tell: Callable[[list[Verdict]], object],
    *,
    dry_run: bool,
) -> tuple[int | None, Counts]:
    """Import the file: its id, None for a dry run, and how many rows there were of each verdict.

    `tell` is given the verdicts, some at a time; those of copies of rows further down come last, and errors
    beyond the first 1,000 are only counted. A dry run only reads. Raises ValidationFailed, unless it is a
    dry run, when a row cannot be imported; then nothing may be kept.
    """
    import_id = None if dry_run else await insert(db, user_id, source, file.format)
    rows = await TradeImporter.prepare(db, user_id, source.account_id, import_id)
    counts = Counts()
    errors: list[Verdict] = []

    def count(verdicts: list[Verdict]) -> None:
        for word, number in Counter(one.verdict for one in verdicts).items():
            setattr(counts, word, getattr(counts, word) + number)
        told = []
        for one in verdicts:
            if one.reason is None:
                told.append(one)
            elif len(errors) < MOST_ERRORS:
                errors.append(one)
                told.append(one)
        tell(told)

    def next_rows() -> list[Candidate | Rejected]:
        return list(islice(file.candidates, BATCH_SIZE))

    while batch := await in_thread(user_id, next_rows):
        count(await rows.process_batch(batch))
    copies = await rows.finish()
    for begin in range(0, len(copies), BATCH_SIZE):
        count(copies[begin : begin + BATCH_SIZE])
        await asyncio.sleep(0)  # others have their turn
    if import_id is not None:
        if errors:
            raise refused(counts, sorted(errors, key=lambda one: one.line))
        await set_counts(db, import_id, counts)
    return import_id, counts


def refused(counts: Counts, errors: list[Verdict]) -> ValidationFailed:
    first = errors[0]
    others = f" (and {counts.error - 1} more)" if counts.error > 1 else ""
    return ValidationFailed(
        f"line {first.line}: {first.reason}{others}",
        line=first.line,
        reason=first.reason,
        counts=counts,
        rows=errors,
    )
