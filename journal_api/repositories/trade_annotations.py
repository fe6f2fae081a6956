"""SQL of the tags and the checklist answers of trades, each written as one set."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aiosqlite import Connection
from msgspec import UNSET, UnsetType

from journal_api.database.sql import json_list, replace_rows
from journal_api.errors import ValidationFailed
from journal_api.repositories import tags
from journal_api.repositories.trades import LATER
from journal_api.structs.tags import require_single
from journal_api.structs.trades import Answer, AnswerBody, Trade, TradeCreate
from journal_api.values.clock import now, now_after


class KnownIds(NamedTuple):
    """The user's tags and questions among the ids that were sent; a tag of a single category has its name.

    The names of the questions are by setup and confirmation.
    """

    tags: dict[int, str | None]
    questions: dict[tuple[int | None, int], str]

    def require_tags(self, tag_ids: Sequence[int]) -> None:
        """Raise ValidationFailed with the ids of tags that are not the user's."""
        if unknown := [tag_id for tag_id in dict.fromkeys(tag_ids) if tag_id not in self.tags]:
            raise ValidationFailed(f"Some tags are not yours: {join_ids(unknown)}.", unknown_tag_ids=unknown)

    def require_single(self, tag_ids: Sequence[int], field: str = "tag_ids") -> None:
        """Raise ValidationFailed for two tags of a single category."""
        require_single(tag_ids, {tag_id: name for tag_id, name in self.tags.items() if name}, field)

    def require_answers(self, setup_id: int | None, answers: Sequence[AnswerBody]) -> None:
        """Raise ValidationFailed with the confirmations that are not of that setup, repeated or renamed."""
        ids = [answer.confirmation_id for answer in answers]
        unknown = [row_id for row_id in dict.fromkeys(ids) if (setup_id, row_id) not in self.questions]
        repeated = [row_id for row_id, times in Counter(ids).items() if times > 1]
        if unknown or repeated:
            details = {"unknown_confirmation_ids": unknown, "duplicate_confirmation_ids": repeated}
            raise ValidationFailed(
                "Some confirmations do not belong to the trade's setup or are repeated: "
                f"{join_ids(dict.fromkeys(unknown + repeated))}.",
                **{name: row_ids for name, row_ids in details.items() if row_ids},
            )
        renamed = [
            index
            for index, answer in enumerate(answers)
            if answer.name not in (UNSET, self.questions[setup_id, answer.confirmation_id])
        ]
        if renamed:
            raise ValidationFailed(fields={f"confirmations[{index}].name": "is read-only" for index in renamed})


def join_ids(ids: Iterable[int]) -> str:
    return ", ".join(map(str, ids))


async def read_known_ids(
    db: Connection, user_id: int, tag_ids: Iterable[int], answers: Iterable[AnswerBody]
) -> KnownIds:
    known = KnownIds({}, {})
    sent = {
        "tag_ids": json_list(list(tag_ids)),
        "confirmation_ids": json_list([answer.confirmation_id for answer in answers]),
    }
    if set(sent.values()) == {"[]"}:
        return known
    rows: Iterable[Any] = await db.execute_fetchall(
        """
        SELECT tags.id, NULL, iif(single, tag_categories.name, NULL)
        -- The + makes SQLite look up the ids instead of scanning all rows of the user.
        FROM tags
        JOIN tag_categories ON tag_categories.id = category_id
        WHERE +tags.user_id = :user_id AND tags.id IN (SELECT value FROM json_each(:tag_ids))
        UNION ALL
        SELECT id, setup_id, name
        FROM confirmations
        WHERE id IN (SELECT value FROM json_each(:confirmation_ids))
        """,
        {"user_id": user_id, **sent},
    )
    for row_id, setup_id, name in rows:
        if setup_id is None:
            known.tags[row_id] = name
        else:
            known.questions[setup_id, row_id] = name
    return known


async def require_known(
    db: Connection,
    user_id: int,
    setup_id: int | None,
    *,
    tag_ids: Sequence[int] | UnsetType = UNSET,
    answers: Sequence[AnswerBody] | UnsetType = UNSET,
) -> None:
    """Raise ValidationFailed for tags and answers that a trade with the setup cannot have."""
    tag_ids, answers = () if tag_ids is UNSET else tag_ids, () if answers is UNSET else answers
    known = await read_known_ids(db, user_id, tag_ids, answers)
    known.require_tags(tag_ids)
    known.require_single(tag_ids)
    known.require_answers(setup_id, answers)


async def replace_all(
    db: Connection,
    stored: Trade,
    *,
    tag_ids: Sequence[int] | UnsetType = UNSET,
    answers: Sequence[AnswerBody] | UnsetType = UNSET,
) -> None:
    """Replace the tags and the answers of a trade, if they are sent. The caller has checked them."""
    if has_tags := tag_ids is not UNSET and sorted(set(tag_ids)) != stored.tag_ids:
        await make_room(db, [stored.id], tag_ids)
        await tags.replace_links(db, "trade_tags", "trade_id", stored.id, tag_ids)
    if has_answers := answers is not UNSET and {*map(answer_row, stored.confirmations)} != {*map(answer_row, answers)}:
        columns = ("was_present", "notes")
        await replace_rows(db, "confirmation_answers", "trade_id", stored.id, "confirmation_id", answers, columns)
    if has_tags or has_answers:
        values = {"id": stored.id, "now": now_after(stored.updated_at)}
        await db.execute_fetchall("UPDATE trades SET updated_at = :now WHERE id = :id", values)


async def make_room(db: Connection, trade_ids: Sequence[int], tag_ids: Sequence[int]) -> None:
    """Take from the trades the other tags of the single categories that the tags are of."""
    await db.execute_fetchall(
        """
        DELETE FROM trade_tags
        WHERE trade_id IN (SELECT value FROM json_each(:trade_ids))
          AND tag_id NOT IN (SELECT value FROM json_each(:tag_ids))
          AND tag_id IN (
            SELECT other.id
            FROM tags
            JOIN tag_categories ON tag_categories.id = category_id AND single
            JOIN tags AS other USING (category_id)
            WHERE tags.id IN (SELECT value FROM json_each(:tag_ids)))
        """,
        {"trade_ids": json_list(trade_ids), "tag_ids": json_list(tag_ids)},
    )


async def change_tags(db: Connection, trade_ids: Sequence[int], *, add: Sequence[int], remove: Sequence[int]) -> None:
    """Add and remove checked tags of trades; a tag of a single category replaces the trade's."""
    await make_room(db, trade_ids, add)
    values = {"ids": json_list(trade_ids), "add": json_list(add), "remove": json_list(remove), "now": now()}
    await db.execute_fetchall(
        """
        DELETE FROM trade_tags
        WHERE trade_id IN (SELECT value FROM json_each(:ids))
          AND tag_id IN (SELECT value FROM json_each(:remove))
        """,
        values,
    )
    await db.execute_fetchall(
        """
        INSERT INTO trade_tags (trade_id, tag_id)
        SELECT trade.value, tag.value
        FROM json_each(:ids) AS trade, json_each(:add) AS tag
        WHERE true
        ON CONFLICT DO NOTHING
        """,
        values,
    )
    await db.execute_fetchall(
        f"UPDATE trades SET updated_at = {LATER} WHERE id IN (SELECT value FROM json_each(:ids))", values
    )


def answer_row(answer: AnswerBody | Answer) -> tuple[int, bool, str | None]:
    return answer.confirmation_id, answer.was_present, answer.notes


async def insert_all(db: Connection, trades: Mapping[int, TradeCreate]) -> None:
    """Add the tags and answers of new trades, by trade id. The caller has checked them."""
    await insert_missing(
        db,
        [(trade_id, tag_id) for trade_id, trade in trades.items() for tag_id in trade.tag_ids],
        [(trade_id, *answer_row(one)) for trade_id, trade in trades.items() for one in trade.confirmations],
    )


async def insert_missing(
    db: Connection, tags: Sequence[tuple[int, int]], answers: Sequence[tuple[int, int, bool, str | None]]
) -> None:
    """Add the tags and answers that trades do not have yet, each behind the id of its trade."""
    if tags:
        await db.executemany("INSERT INTO trade_tags (trade_id, tag_id) VALUES (?, ?) ON CONFLICT DO NOTHING", tags)
    if answers:
        await db.executemany(
            """
            INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
            VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            answers,
        )


async def move(db: Connection, trade_id: int, to_id: int) -> None:
    """Move the annotations of a trade that goes to the one with its fills; notes keep its other grade and setup."""
    values = {"id": trade_id, "to_id": to_id, "now": now()}
    await db.execute_fetchall(
        """
        UPDATE pictures
        SET trade_id = :to_id,
            sort_order = sort_order + (SELECT count(*) FROM pictures WHERE trade_id = :to_id)
        WHERE trade_id = :id
        """,
        values,
    )
    await db.execute_fetchall(
        f"""
        UPDATE trades
        SET notes = nullif(ltrim(
                coalesce(trades.notes, '')
                || coalesce(char(10, 10) || old.notes, '')
                || iif(trades.grade <> old.grade, char(10, 10) || 'Joined trade: grade ' || old.grade, '')
                || iif(trades.strategy_id <> old.strategy_id OR trades.setup_id <> old.setup_id,
                    char(10, 10) || 'Joined trade: ' || coalesce(setups.name || ' of ', '') || strategies.name, ''),
                char(10)), ''),
            grade = coalesce(trades.grade, old.grade),
            stop_loss = coalesce(trades.stop_loss, old.stop_loss),
            initial_risk = coalesce(trades.initial_risk, old.initial_risk),
            setup_id = iif(trades.strategy_id IS NULL, old.setup_id, trades.setup_id),
            strategy_id = coalesce(trades.strategy_id, old.strategy_id),
            updated_at = iif(old.updated_at > old.created_at, {LATER}, trades.updated_at)
        FROM trades AS old
        LEFT JOIN strategies ON strategies.id = old.strategy_id
        LEFT JOIN setups ON setups.id = old.setup_id
        WHERE trades.id = :to_id AND old.id = :id
        """,
        values,
    )
    await db.execute_fetchall(
        """
        INSERT OR IGNORE INTO trade_tags (trade_id, tag_id)
        SELECT :to_id, tag_id FROM trade_tags WHERE trade_id = :id
        """,
        values,
    )
    await db.execute_fetchall(
        """
        INSERT OR IGNORE INTO confirmation_answers (trade_id, confirmation_id, was_present, notes)
        SELECT :to_id, confirmation_id, was_present, answer.notes
        FROM confirmation_answers AS answer
        JOIN confirmations ON confirmations.id = confirmation_id
        JOIN trades ON trades.id = :to_id AND trades.setup_id = confirmations.setup_id
        WHERE trade_id = :id
        """,
        values,
    )
