"""The rows of an import: which are new, which are there, which are corrected; and how they are written."""

from collections.abc import Iterable
from itertools import count
from typing import Any, NamedTuple

from aiosqlite import Connection

from journal_api.database import fetch, json_list
from journal_api.errors import ValidationFailed
from journal_api.importing import Candidate
from journal_api.importing.found import ImportedTrade, Rejected, reason_of
from journal_api.recognition import FACTS
from journal_api.repositories import trades
from journal_api.structs.imports import Verdict
from journal_api.values import now


class Names(NamedTuple):
    """What the names in a file stand for."""

    accounts: dict[str, int]
    strategies: dict[str, int]
    setups: dict[tuple[int, str], int]
    confirmations: dict[tuple[int, str], int]
    tags: dict[str, int]


class Stored(NamedTuple):
    """A trade that a row was recognised as."""

    trade_id: int
    source_trade_id: int | None
    content: bytes | None
    facts: dict[str, Any]

    @property
    def original_id(self) -> int:
        return self.source_trade_id or self.trade_id


class Ready(NamedTuple):
    """A row with the ids of everything it names."""

    imported: ImportedTrade
    columns: dict[str, Any]
    tag_ids: list[int]
    answers: list[tuple[int, bool, str | None]]
    is_again: bool

    @property
    def line(self) -> int:
        return self.imported.line


class Writer:
    """Takes the rows of one import batch by batch. Without an import, in a dry run, it only reads."""

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
        self.updated: set[int] = set()
        self.originals: dict[str, int] = {}  # what each row that has a name has become
        self.waiting: list[Ready] = []  # copies whose original stands further down

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
        rows = [ready(one, self.names, self.common) for one in batch]
        stored = await stored_of(self.db, [one for one in rows if isinstance(one, Ready)])
        verdicts: list[Verdict] = []
        new: list[Ready] = []
        corrected: list[tuple[Ready, Stored]] = []
        for row in rows:
            if isinstance(row, Rejected):
                verdicts.append(Verdict(line=row.line, verdict="error", reason=row.reason))
            elif there := stored.get(row.line):
                self.name(row, there.original_id)
                changed = [] if there.trade_id in self.updated or row.is_again else changes(row, there)
                if changed:
                    self.updated.add(there.trade_id)
                    corrected.append((row, there))
                verdicts.append(
                    Verdict(
                        line=row.line,
                        verdict="updated" if changed else "duplicate",
                        trade_id=there.trade_id,
                        changed=changed,
                    )
                )
            elif row.is_again:
                verdicts.append(Verdict(line=row.line, verdict="duplicate"))
            else:
                new.append(row)
                if self.settle(row):
                    verdicts.append(self.added(row))
        if self.import_id is not None:
            await insert(self.db, new)
            await correct(self.db, self.import_id, corrected, self.common["now"])
        return verdicts

    def settle(self, row: Ready) -> bool:
        """Give a new trade its id and its original; whether the original is known."""
        trade_id = row.columns["id"] = next(self.trade_ids)
        if (copy_of := row.imported.copy_of) is None:
            self.name(row, trade_id)
            return True
        if (original := self.originals.get(copy_of)) is None:
            self.waiting.append(row)
            return False
        row.columns["source_trade_id"] = original
        self.name(row, original)
        return True

    def name(self, row: Ready, original_id: int) -> None:
        if row.imported.row_name is not None:
            self.originals[row.imported.row_name] = original_id

    def added(self, row: Ready) -> Verdict:
        return Verdict(
            line=row.line, verdict="new", trade_id=row.columns["id"] if self.import_id is not None else None
        )

    async def finish(self) -> list[Verdict]:
        """Lead the copies that waited to their originals; what became of their rows."""
        verdicts: list[Verdict] = []
        for row in self.waiting:
            row.columns["source_trade_id"] = self.originals.get(row.imported.copy_of or "")
            if row.columns["source_trade_id"] is None:
                reason = (
                    f"copy_of names {row.imported.copy_of!r}, which is no row of an original in this file"
                )
                verdicts.append(Verdict(line=row.line, verdict="error", reason=reason))
            else:
                verdicts.append(self.added(row))
        if self.import_id is not None:
            await self.db.executemany(
                "UPDATE trades SET source_trade_id = :source_trade_id WHERE id = :id",
                [row.columns for row in self.waiting],
            )
        return verdicts


def ready(one: Candidate | Rejected, names: Names, common: dict[str, Any]) -> Ready | Rejected:
    """The row with the ids of everything that it names, or rejected for a name that is not in the journal."""
    if isinstance(one, Rejected):
        return one
    imported = one.imported
    try:
        account_id = common["account_id"] or account_of(imported, names)
        strategy_id, setup_id = strategy_of(imported, names)
        return Ready(
            imported,
            {
                **one.columns,
                **common,
                "account_id": account_id,
                "strategy_id": strategy_id,
                "setup_id": setup_id,
            },
            [known(names.tags.get(name), "tags", name) for name in dict.fromkeys(imported.tags)],
            answers_of(imported, setup_id, names),
            one.is_again,
        )
    except ValidationFailed as error:
        return Rejected(imported.line, reason_of(error))


def account_of(imported: ImportedTrade, names: Names) -> int:
    if imported.account is None:
        raise ValidationFailed(fields={"account": "is required unless the whole file goes into one account"})
    return known(names.accounts.get(imported.account), "account", imported.account)


def strategy_of(imported: ImportedTrade, names: Names) -> tuple[int | None, int | None]:
    if imported.strategy is None:
        if imported.setup is not None:
            raise ValidationFailed(fields={"setup": "needs its strategy in the same row"})
        return None, None
    strategy_id = known(names.strategies.get(imported.strategy), "strategy", imported.strategy)
    if imported.setup is None:
        return strategy_id, None
    return strategy_id, known(names.setups.get((strategy_id, imported.setup)), "setup", imported.setup)


def answers_of(
    imported: ImportedTrade, setup_id: int | None, names: Names
) -> list[tuple[int, bool, str | None]]:
    if not imported.answers:
        return []
    if setup_id is None:
        raise ValidationFailed(fields={"confirmations": "need their setup in the same row"})
    answers = {
        known(names.confirmations.get((setup_id, one.name)), "confirmations", one.name): one
        for one in imported.answers
    }
    return [(row_id, one.was_present, one.notes) for row_id, one in answers.items()]


def known(row_id: int | None, column: str, name: str) -> int:
    """The id that was found for a name; raises ValidationFailed when none was."""
    if row_id is None:
        raise ValidationFailed(fields={column: f"names {name!r}, which is not in the journal"})
    return row_id


def changes(row: Ready, stored: Stored) -> list[str]:
    """Which facts the file corrects: none while it says what it said when it brought the trade."""
    if stored.content is None or stored.content == row.columns["content"]:
        return []
    stated = (fact for fact in FACTS if fact not in row.imported.unstated)
    return [fact for fact in stated if row.columns[fact] != stored.facts[fact]]


async def names_of(db: Connection, user_id: int) -> Names:
    """Of several setups or confirmations with one name, the first."""

    async def read(sql: str) -> list[Any]:
        return list(await db.execute_fetchall(sql, {"user_id": user_id}))

    return Names(
        dict(await read("SELECT name, id FROM accounts WHERE user_id = :user_id")),
        dict(await read("SELECT name, id FROM strategies WHERE user_id = :user_id")),
        {
            (strategy_id, name): setup_id
            for strategy_id, name, setup_id in await read(
                """
                SELECT strategy_id, setups.name, setups.id
                FROM setups
                JOIN strategies ON strategies.id = strategy_id
                WHERE user_id = :user_id
                ORDER BY setups.id DESC
                """
            )
        },
        {
            (setup_id, name): confirmation_id
            for setup_id, name, confirmation_id in await read(
                """
                SELECT setup_id, confirmations.name, confirmations.id
                FROM confirmations
                JOIN setups ON setups.id = setup_id
                JOIN strategies ON strategies.id = strategy_id
                WHERE user_id = :user_id
                ORDER BY confirmations.id DESC
                """
            )
        },
        dict(await read("SELECT name, id FROM tags WHERE user_id = :user_id")),
    )


async def stored_of(db: Connection, rows: list[Ready]) -> dict[int, Stored]:
    """The trades that are there already, by the line of the row that each was recognised by."""
    keys = [
        (
            row.line,
            row.columns["account_id"],
            row.columns["external_id"],
            row.columns["fingerprint"].hex(),
            row.columns["occurrence"],
        )
        for row in rows
    ]
    found: Iterable[Any] = await db.execute_fetchall(
        f"""
        SELECT key.value ->> 0, trades.id, source_trade_id, content, {", ".join(FACTS)}
        FROM json_each(:keys) AS key
        JOIN trades ON trades.id = coalesce(
            (SELECT id
             FROM trades
             WHERE account_id = key.value ->> 1 AND external_id = key.value ->> 2),
            (SELECT id
             FROM trades
             WHERE account_id = key.value ->> 1
               AND fingerprint = from_hex(key.value ->> 3)
               AND occurrence = key.value ->> 4))
        """,
        {"keys": json_list(keys)},
    )
    return {
        line: Stored(trade_id, source_id, content, dict(zip(FACTS, facts, strict=True)))
        for line, trade_id, source_id, content, *facts in found
    }


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


async def correct(
    db: Connection, import_id: int, corrected: list[tuple[Ready, Stored]], written_at: str
) -> None:
    """Write what the file says of these trades, and keep what they were."""
    if not corrected:
        return
    columns = ", ".join((*FACTS, "content", "updated_at"))
    await db.execute_fetchall(
        f"""
        INSERT INTO import_updates (import_id, trade_id, written_at, {columns})
        SELECT :import_id, id, :now, {columns}
        FROM trades
        WHERE id IN (SELECT value FROM json_each(:ids))
        """,
        {
            "import_id": import_id,
            "ids": json_list([there.trade_id for _, there in corrected]),
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
            updated_at = :now
        WHERE id = :id
        """,
        [
            {
                **there.facts,
                **{fact: row.columns[fact] for fact in FACTS if fact not in row.imported.unstated},
                "content": row.columns["content"],
                "id": there.trade_id,
                "now": written_at,
            }
            for row, there in corrected
        ],
    )
