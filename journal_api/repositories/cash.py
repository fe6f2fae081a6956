"""SQL of the cash of accounts: the movements of money, by day."""

from aiosqlite import Connection
from msgspec import json
from msgspec.structs import asdict

from journal_api.database import sql
from journal_api.errors import NotFound
from journal_api.structs.cash import Cash, CashCreate, CashPatch, CashQuery, check_cash

# What of a payout arrived.
RECEIVED = """CASE WHEN kind = 'payout' THEN coalesce(received, share_of(amount, (
    SELECT payout_share FROM accounts WHERE accounts.id = account_id))) END"""
CASH = sql.build_object(
    Cash,
    received=f"({RECEIVED})",
    received_source="iif(kind = 'payout', iif(received IS NULL, 'share', 'stated'), NULL)",
)
OF_USER = """account_id = (SELECT id FROM accounts WHERE id = :account_id AND user_id = :user_id)
    AND id = :cash_id"""


async def list_of_account(db: Connection, user_id: int, account_id: int, query: CashQuery) -> tuple[str, int]:
    """Return one page of the movements as a JSON array, oldest day first, and their number. Raises NotFound."""
    page = sql.build_json_array(
        "item",
        f"""
        SELECT {CASH} AS item
        FROM cash_movements
        WHERE account_id = :account_id
        ORDER BY day, id
        LIMIT :limit OFFSET :offset
        """,
    )
    rows = await db.execute_fetchall(
        f"""
        SELECT ({page}), (SELECT count(*) FROM cash_movements WHERE account_id = :account_id)
        FROM accounts
        WHERE id = :account_id AND user_id = :user_id
        """,
        {"account_id": account_id, "user_id": user_id, **asdict(query)},
    )
    for text, total in rows:
        return text, total
    raise NotFound


async def get(db: Connection, user_id: int, account_id: int, cash_id: int) -> str:
    return await sql.fetch_json(
        db,
        f"SELECT {CASH} FROM cash_movements WHERE {OF_USER}",
        {"user_id": user_id, "account_id": account_id, "cash_id": cash_id},
    )


async def find(db: Connection, user_id: int, account_id: int, cash_id: int) -> Cash:
    return json.decode(await get(db, user_id, account_id, cash_id), type=Cash)


async def insert(db: Connection, account_id: int, cash: CashCreate) -> int:
    return await sql.insert_row(db, "cash_movements", {**asdict(cash), "account_id": account_id})


async def update(db: Connection, stored: Cash, patch: CashPatch) -> None:
    """Write the members that differ. Raises ValidationFailed when the merged movement is invalid."""
    changed = sql.find_changed(stored, patch)
    if stored.received_source == "share" and patch.received is None:
        del changed["received"]
    if changed:
        stated = stored.received if stored.received_source == "stated" else None
        check_cash(
            changed.get("kind", stored.kind),
            changed.get("amount", stored.amount),
            outside=changed.get("outside", stored.outside),
            received=changed.get("received", stated),
        )
        await sql.update_row(db, "cash_movements", stored, changed)


async def delete(db: Connection, user_id: int, account_id: int, cash_id: int) -> None:
    values = {"user_id": user_id, "account_id": account_id, "cash_id": cash_id}
    await sql.delete_where(db, "cash_movements", OF_USER, values)
