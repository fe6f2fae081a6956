"""The rows of an import, batch by batch: which are new, which are there, which are corrected."""

from collections.abc import Iterable
from itertools import count
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database import fetch, json_list
from journal_api.importing import Candidate
from journal_api.importing.found import Rejected
from journal_api.importing.threads import in_thread, looking_around
from journal_api.recognition import FACTS
from journal_api.repositories import trades
from journal_api.repositories.import_matches import Correction, Stored, Taken, correction_of, stored_of
from journal_api.repositories.import_names import Names, Ready, names_of, ready
from journal_api.repositories.trades import LATER
from journal_api.structs.imports import Verdict
from journal_api.values import now


class Waiting(NamedTuple):
    """A copy whose original stands further down."""

    line: int
    trade_id: int
    row_name: str | None
    copy_of: str


class Writer:
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
        self.taken: Taken = {}
        self.row_names: set[str] = set()
        self.originals: dict[str, int] = {}  # what the rows with a name have become
        self.waiting: list[Waiting] = []

    @classmethod
    async def prepare(
        cls, db: Connection, user_id: int, account_id: int | None, import_id: int | None
    ) -> "Writer":
        # Ids are given out here, under the write lock (DECISIONS 27).
        last = await fetch(db, "SELECT seq FROM sqlite_sequence WHERE name = 'trades'", {})
        names = await names_of(db, user_id)
        return cls(db, {"user_id": user_id, "account_id": account_id}, names, import_id, last or 0)

    async def take(self, batch: Iterable[Candidate | Rejected]) -> list[Verdict]:
        """Write what is new and what is corrected of the batch; what became of each row.

        The verdict of a copy whose original has not been met yet comes with `finish`.
        """
        rows = [self.named_once(ready(one, self.names, self.common)) for one in batch]
        stored = await stored_of(self.db, rows, self.taken)
        verdicts: list[Verdict] = []
        new: list[Ready] = []
        corrections: list[Correction] = []
        for place, row in enumerate(rows):
            if isinstance(row, Rejected):
                verdicts.append(Verdict(line=row.line, verdict="error", reason=row.reason))
            elif there := stored.get(place):
                verdicts.append(self.recognise(row, there, corrections))
            elif row.is_again:
                verdicts.append(Verdict(line=row.line, verdict="duplicate"))
            else:
                new.append(row)
                verdicts += self.add(row)
        if self.import_id is not None:
            await insert(self.db, new)
            await correct(self.db, self.import_id, corrections, self.common["now"])
        return verdicts

    def named_once(self, row: Ready | Rejected) -> Ready | Rejected:
        """The row, rejected if an earlier one has its name."""
        if isinstance(row, Rejected) or (name := row.imported.row_name) is None:
            return row
        if name in self.row_names:
            return Rejected(row.line, f"row {name!r} stands there twice")
        self.row_names.add(name)
        return row

    def recognise(self, row: Ready, there: Stored, corrections: list[Correction]) -> Verdict:
        """What the row says of a trade that is there; only the first row that does so counts."""
        if not row.is_again:
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

    def add(self, row: Ready) -> list[Verdict]:
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


async def insert(db: Connection, rows: list[Ready]) -> None:
    """The trades with their tags and checklist answers."""
    await trades.insert_all(db, [row.columns for row in rows])
    await db.executemany(
        "INSERT INTO trade_tags (trade_id, tag_id) VALUES (?, ?)",
        [(row.columns["id"], tag_id) for row in rows for tag_id in row.tag_ids],
    )
    await db.executemany(
        """
        INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
        VALUES (?, ?, ?, ?)
        """,
        [(row.columns["id"], *answer) for row in rows for answer in row.answers],
    )


async def correct(db: Connection, import_id: int, corrections: list[Correction], written_at: str) -> None:
    """Write what the file says of these trades, and keep what they were."""
    await db.executemany(
        "UPDATE trades SET content = ? WHERE id = ?",
        [(one.content, one.trade_id) for one in corrections if not one.changed],
    )
    changing = [one for one in corrections if one.changed]
    columns = ", ".join((*FACTS, "content", "updated_at"))
    await db.execute_fetchall(
        f"""
        INSERT INTO import_updates (import_id, trade_id, written_at, {columns})
        SELECT :import_id, id, {LATER}, {columns}
        FROM trades
        WHERE id IN (SELECT value FROM json_each(:ids))
        """,
        {
            "import_id": import_id,
            "ids": json_list([one.trade_id for one in changing]),
            "now": written_at,
        },
    )
    await db.executemany(
        f"""
        UPDATE trades
        SET {", ".join(f"{fact} = :{fact}" for fact in FACTS)},
            trading_day = (SELECT trading_day(:closed_at, timezone, day_rollover)
                           FROM users
                           WHERE users.id = user_id),
            content = :content,
            updated_at = {LATER}
        WHERE id = :id
        """,
        [{**one.facts, "content": one.content, "id": one.trade_id, "now": written_at} for one in changing],
    )
