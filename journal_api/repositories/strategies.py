"""SQL of strategies, with their setups nested."""

from aiosqlite import Connection
from msgspec import UNSET
from msgspec.structs import asdict, replace

from journal_api.database import sql
from journal_api.errors import LimitReached, ValidationFailed
from journal_api.repositories import setups
from journal_api.repositories.setups import SETUPS, CascadeCounts
from journal_api.structs.strategies import (
    Strategy,
    StrategyCreate,
    StrategyFields,
    StrategyPatch,
    StrategyQuery,
    StrategyScalars,
)

# Of a response, in bytes: three quarters of the largest request body, so that a client can send it back with
# additional white space and escapes.
MAX_BYTES = 3 * 1024 * 1024
# Of a list of whole strategies, in characters. It is measured before it is made.
MAX_LIST = 16 * 1024 * 1024
EXPRESSIONS = {"setup_count": "(SELECT count(*) FROM setups WHERE strategy_id = strategies.id)", "setups": SETUPS}
SCALARS = sql.build_object(StrategyScalars, **EXPRESSIONS)
TABLE = sql.Table("strategies", Strategy, **EXPRESSIONS)
WITHOUT_SETUPS = sql.Table("strategies", StrategyFields, **EXPRESSIONS)
get, find = TABLE.get, WITHOUT_SETUPS.find


async def list_of_user(db: Connection, user_id: int, query: StrategyQuery) -> str:
    """Return the strategies as a JSON array. Raises ValidationFailed for whole ones that are too large."""
    select = f"""
        SELECT {TABLE.object if query.parts else SCALARS} AS item
        FROM strategies
        WHERE user_id = :user_id
          AND (:account_id IS NULL OR account_id = :account_id)
          AND (:copy_group_id IS NULL OR copy_group_id = :copy_group_id)
        ORDER BY sort_name, id"""
    values = {**asdict(query), "user_id": user_id}
    measure = f"SELECT coalesce(sum(length(item)), 0) FROM ({select})"
    if query.parts and await sql.fetch(db, measure, values) > MAX_LIST:
        raise ValidationFailed(
            fields={"with": f"would make more than {MAX_LIST} characters; read each strategy by its id"}
        )
    return await sql.fetch_json_array(db, select, values)


async def get_after_write(db: Connection, user_id: int, strategy_id: int) -> str:
    """Return the strategy as JSON. Raises ValidationFailed when the write made it too large."""
    text = await get(db, user_id, strategy_id)
    # A character has at most four bytes, so most texts need not be encoded to be measured.
    if 4 * len(text) > MAX_BYTES and len(text.encode()) > MAX_BYTES:
        raise ValidationFailed(
            f"A strategy with its setups may have at most {MAX_BYTES} bytes as JSON: shorten its descriptions.",
            max_bytes=MAX_BYTES,
        )
    return text


async def insert(db: Connection, user_id: int, strategy: StrategyCreate, maximum: int) -> int:
    """Return the new id. Raises DuplicateName, then LimitReached over `maximum` strategies (0: no limit)."""
    columns = {**asdict(strategy), "user_id": user_id}
    del columns["setups"]
    strategy_id = await sql.insert_row(db, "strategies", columns)
    # Counted after the insert, under the write lock: concurrent requests cannot exceed the limit.
    number = await sql.fetch(db, "SELECT count(*) FROM strategies WHERE user_id = :id", {"id": user_id})
    if 0 < maximum < number:
        raise LimitReached(limit=maximum, current=number - 1)
    if strategy.setups:
        await setups.replace_all(db, strategy_id, strategy.setups)
    return strategy_id


async def update(db: Connection, stored: StrategyFields, patch: StrategyPatch) -> CascadeCounts:
    """Write the members that differ; return what deleted setups take along. Raises DuplicateName, ValidationFailed."""
    has_new_setups, counts = False, CascadeCounts()
    if patch.setups is not UNSET:
        has_new_setups, counts = await setups.replace_all(db, stored.id, patch.setups)
    changed = sql.find_changed(stored, replace(patch, setups=UNSET))
    if changed or has_new_setups:
        await sql.update_row(db, "strategies", stored, changed)
    return counts


async def delete(db: Connection, user_id: int, strategy_id: int) -> CascadeCounts:
    await find(db, user_id, strategy_id)
    rows = await db.execute_fetchall(
        """
        SELECT (SELECT count(*) FROM trades WHERE strategy_id = :id),
            (SELECT count(*)
             FROM setups
             JOIN confirmations ON setup_id = setups.id
             JOIN confirmation_answers ON confirmation_id = confirmations.id
             WHERE strategy_id = :id)
        """,
        {"id": strategy_id},
    )
    await db.execute_fetchall(
        "UPDATE trades SET strategy_id = NULL, setup_id = NULL WHERE strategy_id = :id", {"id": strategy_id}
    )
    await TABLE.delete(db, user_id, strategy_id)
    return CascadeCounts(*next(iter(rows)))
