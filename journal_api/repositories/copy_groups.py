"""SQL of copy groups and their members. Foreign keys delete the goals of a deleted group."""

from aiosqlite import Connection
from msgspec import UnsetType
from msgspec.structs import asdict, astuple

from journal_api.database import sql
from journal_api.errors import Conflict, ValidationFailed
from journal_api.repositories import accounts
from journal_api.structs.copy_groups import CopyGroup, CopyGroupListItem, CopyGroupPatch, Member, MembersPut
from journal_api.structs.goals import GoalCreate
from journal_api.structs.strategies import StrategyCreate, StrategyPatch
from journal_api.values.types import Selection

MEMBER_COUNT = "(SELECT count(*) FROM copy_group_members WHERE copy_group_id = copy_groups.id)"
MEMBERS = sql.build_json_array(
    "member",
    f"""
    SELECT {sql.build_object(Member)} AS member
    FROM copy_group_members
    WHERE copy_group_id = copy_groups.id
    ORDER BY sort_order, account_id
    """,
)
LISTED = sql.Table("copy_groups", CopyGroupListItem, member_count=MEMBER_COUNT)
TABLE = sql.Table("copy_groups", CopyGroup, member_count=MEMBER_COUNT, members=MEMBERS)
list_of_user, get, find = LISTED.list_of_user, TABLE.get, TABLE.find
insert, delete = TABLE.insert, TABLE.delete
# What may be restricted to an account or a group.
Scope = StrategyCreate | StrategyPatch | GoalCreate | Selection


async def require_scope(db: Connection, user_id: int, scope: Scope, field: str = "") -> None:
    """Raise ValidationFailed for an account or a group that is not the user's, under `field` if it is one member."""
    await accounts.require(db, user_id, scope.account_id, field or "account_id")
    await TABLE.require(db, user_id, scope.copy_group_id, field or "copy_group_id")


async def update(db: Connection, stored: CopyGroup, patch: CopyGroupPatch) -> None:
    """Raise ValidationFailed for a master that is not a member of the group, then DuplicateName."""
    members = {member.account_id for member in stored.members}
    if isinstance(patch.master_account_id, int) and patch.master_account_id not in members:
        raise ValidationFailed(fields={"master_account_id": "is not a member of this group"})
    await TABLE.update(db, stored, patch)


async def replace_members(db: Connection, user_id: int, stored: CopyGroup, body: MembersPut) -> None:
    """Replace the members, and clear a master that is no longer one. Raises ValidationFailed, Conflict."""
    body.check()
    members = [
        Member(
            account_id=member.account_id,
            quantity_multiplier=member.quantity_multiplier,
            sort_order=position if isinstance(member.sort_order, UnsetType) else member.sort_order,
        )
        for position, member in enumerate(body.members)
    ]
    await require_free(db, user_id, stored.id, [member.account_id for member in members])
    if sorted(stored.members, key=astuple) == sorted(members, key=astuple):
        return
    rows = [sql.stored_columns(asdict(member)) for member in members]
    columns = ("quantity_multiplier", "sort_order")
    await sql.replace_rows(db, "copy_group_members", "copy_group_id", stored.id, "account_id", rows, columns)
    is_member = any(member.account_id == stored.master_account_id for member in members)
    master = {"master_account_id": stored.master_account_id if is_member else None}
    await sql.update_row(db, "copy_groups", stored, master)


async def require_free(db: Connection, user_id: int, copy_group_id: int, account_ids: list[int]) -> None:
    """Raise ValidationFailed for accounts that are not the user's, Conflict for accounts of another group."""
    rows = await db.execute_fetchall(
        """
        SELECT accounts.id, coalesce(copy_group_id <> :id, 0)
        FROM accounts
        LEFT JOIN copy_group_members ON account_id = accounts.id
        WHERE user_id = :user_id AND accounts.id IN (SELECT value FROM json_each(:account_ids))
        """,
        {"id": copy_group_id, "user_id": user_id, "account_ids": sql.json_list(account_ids)},
    )
    in_other_group = {account_id: bool(is_member) for account_id, is_member in rows}
    if unknown := [account_id for account_id in account_ids if account_id not in in_other_group]:
        raise ValidationFailed(fields={"members": "must be your accounts"}, unknown_account_ids=unknown)
    if conflicting := [account_id for account_id in account_ids if in_other_group[account_id]]:
        raise Conflict("Some accounts are in another copy group.", account_ids=conflicting)
