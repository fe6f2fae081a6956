"""SQL of checkpoints. Their differences are computed when they are read, so an explained one vanishes."""

from aiosqlite import Connection
from msgspec.structs import asdict

from journal_api.database import sql
from journal_api.errors import NotFound
from journal_api.statistics import account_days_sql
from journal_api.statistics.checkpoints import Comparison, StoredCheckpoint, add_days, compare
from journal_api.structs.checkpoints import Checkpoint, CheckpointCreate, CheckpointListItem, CheckpointPatch
from journal_api.values.money import ENCODER, units

LAST_DAY = "9999-12-31"


async def list_of_account(db: Connection, user_id: int, account_id: int) -> str:
    """Return the checkpoints by day, without the days between them. Raises NotFound."""
    return ENCODER.encode([one.checkpoint for one in await compare_all(db, user_id, account_id)]).decode()


async def list_differing(db: Connection, user_id: int) -> dict[int, list[CheckpointListItem]]:
    """Return the checkpoints whose difference is neither explained nor accepted, by account id."""
    account_ids = await sql.fetch_column(
        db,
        """
        SELECT id
        FROM accounts
        WHERE user_id = :user_id
          AND EXISTS (SELECT 1 FROM checkpoints WHERE account_id = accounts.id)
        """,
        {"user_id": user_id},
    )
    return {
        account_id: [
            one.checkpoint for one in await compare_all(db, user_id, account_id) if one.checkpoint.unexplained != 0
        ]
        for account_id in account_ids
    }


async def get(db: Connection, user_id: int, account_id: int, checkpoint_id: int) -> str:
    return ENCODER.encode(await find(db, user_id, account_id, checkpoint_id)).decode()


async def find(db: Connection, user_id: int, account_id: int, checkpoint_id: int) -> Checkpoint:
    for comparison in await compare_all(db, user_id, account_id):
        if comparison.checkpoint.id == checkpoint_id:
            return add_days(comparison)
    raise NotFound


async def compare_all(db: Connection, user_id: int, account_id: int) -> list[Comparison]:
    history = await account_days_sql.read_history(db, user_id, account_id, LAST_DAY)
    rows = await db.execute_fetchall(
        f"""
        SELECT {", ".join(StoredCheckpoint._fields)}
        FROM checkpoints
        WHERE account_id = :account_id
        ORDER BY day
        """,
        {"account_id": account_id},
    )
    return list(compare(history.starting_balance, history.days, map(StoredCheckpoint._make, rows)))


async def insert(db: Connection, account_id: int, checkpoint: CheckpointCreate) -> int:
    """Insert a checkpoint and return its id. Raises Conflict for a day that has one."""
    with sql.unique_value("day"):
        return await sql.insert_row(db, "checkpoints", {**asdict(checkpoint), "account_id": account_id})


async def update(db: Connection, stored: Checkpoint, patch: CheckpointPatch) -> None:
    """Write the members that differ. What was accepted once is forgotten when it is refused later."""
    changed = sql.find_changed(stored, patch)
    if patch.accepted is False and not stored.accepted:
        await db.execute_fetchall("UPDATE checkpoints SET accepted_difference = NULL WHERE id = :id", {"id": stored.id})
    if "accepted" in changed:
        is_accepted, difference = changed.pop("accepted"), stored.difference
        changed["accepted_difference"] = units(difference) if is_accepted and difference is not None else None
    if changed:
        await sql.update_row(db, "checkpoints", stored, changed)


async def delete(db: Connection, account_id: int, checkpoint_id: int) -> None:
    values = {"id": checkpoint_id, "account_id": account_id}
    await sql.delete_where(db, "checkpoints", "id = :id AND account_id = :account_id", values)
