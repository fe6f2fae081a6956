"""Strategies, with their setups below them."""

from typing import Any

from aiosqlite import Connection
from msgspec import UNSET, Raw, json

from journal_api.errors import LimitReached, ValidationFailed
from journal_api.repositories import setups
from journal_api.repositories.setups import SETUPS
from journal_api.repositories.sql import assignments, fetch, fetch_json, unique_name
from journal_api.rules.partial_update import changes, with_sort_name
from journal_api.structs.strategies import StrategyCreate, StrategyFields, StrategyPatch, StrategyQuery
from journal_api.values.clock import now
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
# As it is answered: three quarters of a body, so that it can be sent back with white space and escapes.
LARGEST = 3 * 1024 * 1024
FIELDS = f"""{SCALARS},
    'risk_rules', json(risk_rules),
    'exit_rules', json(exit_rules),
    'optimal_conditions', json(optimal_conditions)"""
STRATEGY = f"json_object({FIELDS}, 'setups', {SETUPS})"


async def list_of_user(db: Connection, user_id: int, query: StrategyQuery) -> str:
    return await fetch_json(
        db,
        f"""
        SELECT '[' || coalesce(group_concat(strategy), '') || ']'
        FROM (SELECT {LIST_ITEM} AS strategy
              FROM strategies
              WHERE user_id = :user_id
                AND (:account_id IS NULL OR account_id = :account_id)
                AND (:copy_group_id IS NULL OR copy_group_id = :copy_group_id)
              ORDER BY sort_name, id)
        """,
        {"user_id": user_id, "account_id": query.account_id, "copy_group_id": query.copy_group_id},
    )


async def get(db: Connection, user_id: int, strategy_id: int) -> str:
    """The single form, setups and confirmations included; raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {STRATEGY} FROM strategies WHERE id = :id AND user_id = :user_id",
        {"id": strategy_id, "user_id": user_id},
    )


async def written(db: Connection, user_id: int, strategy_id: int) -> str:
    """The single form after a write; raises ValidationFailed when that made it too large."""
    text = await get(db, user_id, strategy_id)
    # A character has four bytes at most, so a text of a usual length need not be encoded to be measured.
    if 4 * len(text) > LARGEST and len(text.encode()) > LARGEST:
        raise ValidationFailed(
            f"A strategy may have {LARGEST} bytes as JSON, with all its setups: shorten its descriptions.",
            max_bytes=LARGEST,
        )
    return text


async def find(db: Connection, user_id: int, strategy_id: int) -> StrategyFields:
    """Without the setups; raises NotFound."""
    text = await fetch_json(
        db,
        f"SELECT json_object({FIELDS}) FROM strategies WHERE id = :id AND user_id = :user_id",
        {"id": strategy_id, "user_id": user_id},
    )
    return json.decode(text, type=StrategyFields)


async def insert(db: Connection, user_id: int, strategy: StrategyCreate, maximum: int) -> int:
    """The new id. Raises DuplicateName, then LimitReached over `maximum` (0 for none)."""
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
                    "risk_rules": stored_form(strategy.risk_rules),
                    "exit_rules": stored_form(strategy.exit_rules),
                    "optimal_conditions": stored_form(strategy.optimal_conditions),
                    "now": now(),
                },
            )
        )
    # Counted inside the transaction that writes, the new one included: two at once cannot both be the last.
    number = await fetch(db, "SELECT count(*) FROM strategies WHERE user_id = :id", {"id": user_id})
    if 0 < maximum < number:
        raise LimitReached(limit=maximum, current=number - 1)
    if strategy.setups:
        await setups.replace_all(db, strategy_id, strategy.setups)
    return strategy_id


async def update(db: Connection, stored: StrategyFields, patch: StrategyPatch) -> None:
    """Raises DuplicateName, and ValidationFailed for ids in `setups` that are not of this strategy."""
    nested = False
    if patch.setups is not UNSET:
        nested = await setups.replace_all(db, stored.id, patch.setups)
        patch.setups = UNSET  # what is left are columns
    sent = with_sort_name(changes(stored, patch))
    changed = {column: stored_form(value) for column, value in sent.items()}
    if changed or nested:
        changed["updated_at"] = now()
        with unique_name():
            await db.execute_fetchall(
                f"UPDATE strategies SET {assignments(changed)} WHERE id = :id", {**changed, "id": stored.id}
            )


async def delete(db: Connection, stored: StrategyFields) -> int:
    """How many trades lost their reference to it."""
    await db.execute_fetchall(
        "UPDATE trades SET strategy_id = NULL, setup_id = NULL WHERE strategy_id = :id", {"id": stored.id}
    )
    unlinked = await fetch(db, "SELECT changes()", {})
    await db.execute_fetchall("DELETE FROM strategies WHERE id = :id", {"id": stored.id})
    return int(unlinked)


def stored_form(value: Any) -> Any:
    """Free-form JSON as text, its null as NULL; anything else as it is."""
    if isinstance(value, Raw):
        text = bytes(value).decode()
        return None if text == "null" else text
    return value
