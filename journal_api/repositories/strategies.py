"""SQL of strategies, with their setups nested."""

from typing import Any

from aiosqlite import Connection
from msgspec import UNSET, Raw, json
from msgspec.structs import replace

from journal_api.errors import LimitReached, ValidationFailed
from journal_api.repositories import setups
from journal_api.repositories.setups import SETUPS, Losses
from journal_api.repositories.sql import assignments, fetch, fetch_json, json_array_of, unique_name
from journal_api.rules.partial_update import changes, with_sort_name
from journal_api.structs.strategies import StrategyCreate, StrategyFields, StrategyPatch, StrategyQuery
from journal_api.values.clock import now, now_after
from journal_api.values.types import sort_name

SCALARS = """
    'id', id,
    'name', name,
    'description', description,
    'color_tag', color_tag,
    'account_id', account_id,
    'copy_group_id', copy_group_id,
    'setup_count', (SELECT count(*) FROM setups WHERE strategy_id = strategies.id),
    'created_at', created_at,
    'updated_at', updated_at"""
LIST_ITEM = f"json_object({SCALARS})"
# The largest response in bytes: three quarters of the largest request body, so that a client can send it back
# with additional white space and escapes.
LARGEST = 3 * 1024 * 1024
FIELDS = f"""{SCALARS},
    'risk_rules', json(risk_rules),
    'exit_rules', json(exit_rules),
    'optimal_conditions', json(optimal_conditions)"""
STRATEGY = f"json_object({FIELDS}, 'setups', json(({SETUPS})))"


async def list_of_user(db: Connection, user_id: int, query: StrategyQuery) -> str:
    """Return the strategies without setups as a JSON array, sorted by name."""
    return await fetch_json(
        db,
        json_array_of(
            "strategy",
            f"""
            SELECT {LIST_ITEM} AS strategy
            FROM strategies
            WHERE user_id = :user_id
              AND (:account_id IS NULL OR account_id = :account_id)
              AND (:copy_group_id IS NULL OR copy_group_id = :copy_group_id)
            ORDER BY sort_name, id
            """,
        ),
        {"user_id": user_id, "account_id": query.account_id, "copy_group_id": query.copy_group_id},
    )


async def get(db: Connection, user_id: int, strategy_id: int) -> str:
    """Return the strategy with setups and confirmations as JSON. Raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {STRATEGY} FROM strategies WHERE id = :id AND user_id = :user_id",
        {"id": strategy_id, "user_id": user_id},
    )


async def get_after_write(db: Connection, user_id: int, strategy_id: int) -> str:
    """Return the strategy as JSON. Raises ValidationFailed when the write made it too large."""
    text = await get(db, user_id, strategy_id)
    # A character has at most four bytes, so most texts need not be encoded to be measured.
    if 4 * len(text) > LARGEST and len(text.encode()) > LARGEST:
        raise ValidationFailed(
            f"A strategy with its setups may have at most {LARGEST} bytes as JSON: shorten its descriptions.",
            max_bytes=LARGEST,
        )
    return text


async def find(db: Connection, user_id: int, strategy_id: int) -> StrategyFields:
    """Return the strategy without setups as a struct. Raises NotFound."""
    text = await fetch_json(
        db,
        f"SELECT json_object({FIELDS}) FROM strategies WHERE id = :id AND user_id = :user_id",
        {"id": strategy_id, "user_id": user_id},
    )
    return json.decode(text, type=StrategyFields)


async def insert(db: Connection, user_id: int, strategy: StrategyCreate, maximum: int) -> int:
    """Return the new id. Raises DuplicateName, then LimitReached over `maximum` strategies (0: no limit)."""
    with unique_name():
        strategy_id = int(
            await fetch(
                db,
                """
                INSERT INTO strategies (user_id, name, sort_name, description, color_tag, account_id,
                    copy_group_id, risk_rules, exit_rules, optimal_conditions, created_at, updated_at)
                VALUES (:user_id, :name, :sort_name, :description, :color_tag, :account_id,
                    :copy_group_id, :risk_rules, :exit_rules, :optimal_conditions, :now, :now)
                RETURNING id
                """,
                {
                    "user_id": user_id,
                    "name": strategy.name,
                    "sort_name": sort_name(strategy.name),
                    "description": strategy.description,
                    "color_tag": strategy.color_tag,
                    "account_id": strategy.account_id,
                    "copy_group_id": strategy.copy_group_id,
                    "risk_rules": column_value(strategy.risk_rules),
                    "exit_rules": column_value(strategy.exit_rules),
                    "optimal_conditions": column_value(strategy.optimal_conditions),
                    "now": now(),
                },
            )
        )
    # Counted after the insert and under the write lock, so that two concurrent requests cannot exceed the
    # limit.
    number = await fetch(db, "SELECT count(*) FROM strategies WHERE user_id = :id", {"id": user_id})
    if 0 < maximum < number:
        raise LimitReached(limit=maximum, current=number - 1)
    if strategy.setups:
        await setups.replace_all(db, strategy_id, strategy.setups)
    return strategy_id


async def update(db: Connection, stored: StrategyFields, patch: StrategyPatch) -> Losses:
    """Write the members that differ, and return what the deleted setups and confirmations take along.

    Raises DuplicateName, and ValidationFailed for ids in `setups` that do not belong to this strategy.
    """
    has_new_setups, losses = False, Losses()
    if patch.setups is not UNSET:
        has_new_setups, losses = await setups.replace_all(db, stored.id, patch.setups)
    changed = with_sort_name(changes(stored, replace(patch, setups=UNSET)))
    if changed or has_new_setups:
        columns = {column: column_value(value) for column, value in changed.items()}
        columns["updated_at"] = now_after(stored.updated_at)
        with unique_name():
            await db.execute_fetchall(
                f"UPDATE strategies SET {assignments(columns)} WHERE id = :id", {**columns, "id": stored.id}
            )
    return losses


async def delete(db: Connection, stored: StrategyFields) -> Losses:
    """Delete the strategy and return what it takes along."""
    rows = await db.execute_fetchall(
        """
        SELECT (SELECT count(*) FROM trades WHERE strategy_id = :id),
            (SELECT count(*)
             FROM setups
             JOIN confirmations ON setup_id = setups.id
             JOIN confirmation_answers ON confirmation_id = confirmations.id
             WHERE strategy_id = :id)
        """,
        {"id": stored.id},
    )
    await db.execute_fetchall(
        "UPDATE trades SET strategy_id = NULL, setup_id = NULL WHERE strategy_id = :id", {"id": stored.id}
    )
    await db.execute_fetchall("DELETE FROM strategies WHERE id = :id", {"id": stored.id})
    return Losses(*next(iter(rows)))


def column_value(value: Any) -> Any:
    """Return the value to store: free-form JSON as text, its null as NULL, any other value unchanged."""
    if isinstance(value, Raw):
        text = bytes(value).decode()
        return None if text == "null" else text
    return value
