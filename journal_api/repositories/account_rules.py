"""SQL of the rules of accounts."""

from aiosqlite import Connection
from msgspec.structs import asdict

from journal_api.database import sql
from journal_api.structs.account_rules import AccountRules, AccountRulesPut, Floor, QualifyingDay

FLOOR = sql.build_object(Floor, kind="floor_kind", distance="floor_distance", locks_at="floor_locks_at")
QUALIFYING_DAY = sql.build_object(QualifyingDay, amount="qualifying_amount", days="qualifying_days")
RULES = sql.build_object(
    AccountRules,
    floor=f"iif(floor_kind IS NULL, 'null', {FLOOR})",
    qualifying_day=f"iif(qualifying_days IS NULL, 'null', {QUALIFYING_DAY})",
)


async def get(db: Connection, user_id: int, account_id: int) -> str:
    return await sql.fetch_json(
        db,
        f"""
        SELECT {RULES}
        FROM accounts
        JOIN account_rules ON account_id = id
        WHERE id = :account_id
          AND user_id = :user_id
        """,
        {"user_id": user_id, "account_id": account_id},
    )


async def replace(db: Connection, account_id: int, rules: AccountRulesPut) -> None:
    members = asdict(rules)
    floor, qualifying_day = members.pop("floor"), members.pop("qualifying_day")
    columns = {
        "account_id": account_id,
        **{name: sql.stored_value(value) for name, value in members.items()},
        "floor_kind": floor and floor.kind,
        "floor_distance": floor and floor.distance.units,
        "floor_locks_at": floor and sql.stored_value(floor.locks_at),
        "qualifying_amount": qualifying_day and qualifying_day.amount.units,
        "qualifying_days": qualifying_day and qualifying_day.days,
    }
    await db.execute_fetchall(sql.build_upsert("account_rules", columns, columns), columns)


async def delete(db: Connection, account_id: int) -> None:
    await sql.delete_where(db, "account_rules", "account_id = :id", {"id": account_id})
