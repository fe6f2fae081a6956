"""Copy groups and their members. With a deleted group its goals go, by foreign keys."""

from aiosqlite import Connection
from msgspec import UnsetType, json

from journal_api.errors import Conflict, ValidationFailed
from journal_api.repositories.sql import assignments, fetch, fetch_json, json_list, unique_name
from journal_api.rules.partial_update import changes, with_sort_name
from journal_api.structs.copy_groups import CopyGroup, CopyGroupCreate, CopyGroupPatch, MembersPut
from journal_api.values.clock import now
from journal_api.values.money import json_number
from journal_api.values.types import sort_name

SCALARS = """
    'id', id,
    'name', name,
    'master_account_id', master_account_id,
    'member_count', (SELECT count(*) FROM copy_group_members WHERE copy_group_id = copy_groups.id),
    'created_at', created_at,
    'updated_at', updated_at"""
LIST_ITEM = f"json_object({SCALARS})"
COPY_GROUP = f"""json_object({SCALARS},
    'members', json((
        SELECT '[' || coalesce(group_concat(member), '') || ']'
        FROM (SELECT json_object(
                  'account_id', account_id,
                  'quantity_multiplier', {json_number("quantity_multiplier")},
                  'sort_order', sort_order) AS member
              FROM copy_group_members
              WHERE copy_group_id = copy_groups.id
              ORDER BY sort_order, account_id))))"""


async def list_of_user(db: Connection, user_id: int) -> str:
    return await fetch_json(
        db,
        f"""
        SELECT '[' || coalesce(group_concat(copy_group), '') || ']'
        FROM (SELECT {LIST_ITEM} AS copy_group
              FROM copy_groups
              WHERE user_id = :user_id
              ORDER BY sort_name, id)
        """,
        {"user_id": user_id},
    )


async def get(db: Connection, user_id: int, copy_group_id: int) -> str:
    """The single form, members included; raises NotFound."""
    return await fetch_json(
        db,
        f"SELECT {COPY_GROUP} FROM copy_groups WHERE id = :id AND user_id = :user_id",
        {"id": copy_group_id, "user_id": user_id},
    )


async def find(db: Connection, user_id: int, copy_group_id: int) -> CopyGroup:
    """Raises NotFound."""
    return json.decode(await get(db, user_id, copy_group_id), type=CopyGroup)


async def require(
    db: Connection, user_id: int, copy_group_id: int | None | UnsetType, field: str = "copy_group_id"
) -> None:
    """Raises ValidationFailed when one was sent that is not the user's; `field` is what it was sent as."""
    if not isinstance(copy_group_id, int):
        return
    found = await fetch(
        db,
        "SELECT 1 FROM copy_groups WHERE id = :id AND user_id = :user_id",
        {"id": copy_group_id, "user_id": user_id},
    )
    if not found:
        raise ValidationFailed(fields={field: "is not one of your copy groups"})


async def insert(db: Connection, user_id: int, copy_group: CopyGroupCreate) -> int:
    """The new id; raises DuplicateName."""
    with unique_name():
        return int(
            await fetch(
                db,
                """
                INSERT INTO copy_groups (user_id, name, sort_name, created_at, updated_at)
                VALUES (:user_id, :name, :sort_name, :now, :now)
                RETURNING id
                """,
                {
                    "user_id": user_id,
                    "name": copy_group.name,
                    "sort_name": sort_name(copy_group.name),
                    "now": now(),
                },
            )
        )


async def update(db: Connection, stored: CopyGroup, patch: CopyGroupPatch) -> None:
    """Raises ValidationFailed for a master that is not a member, then DuplicateName."""
    members = {member.account_id for member in stored.members}
    if isinstance(patch.master_account_id, int) and patch.master_account_id not in members:
        raise ValidationFailed(fields={"master_account_id": "is not a member of this group"})
    if changed := with_sort_name(changes(stored, patch)):
        changed["updated_at"] = now()
        with unique_name():
            await db.execute_fetchall(
                f"UPDATE copy_groups SET {assignments(changed)} WHERE id = :id", {**changed, "id": stored.id}
            )


async def replace_members(db: Connection, user_id: int, stored: CopyGroup, sent: MembersPut) -> None:
    """Make these the members; a master that is no longer one of them is cleared.

    Raises ValidationFailed for accounts that are not the user's, Conflict for those of another group.
    """
    sent.check()
    members = [
        (
            member.account_id,
            member.quantity_multiplier.units,
            position if isinstance(member.sort_order, UnsetType) else member.sort_order,
        )
        for position, member in enumerate(sent.members)
    ]
    account_ids = [account_id for account_id, _, _ in members]
    await require_free(db, user_id, stored.id, account_ids)
    before = [
        (one.account_id, int(one.quantity_multiplier * 10**8), one.sort_order) for one in stored.members
    ]
    if sorted(before) == sorted(members):
        return
    values = {"id": stored.id, "rows": json_list(members), "now": now()}
    await db.execute_fetchall(
        """
        DELETE FROM copy_group_members
        WHERE copy_group_id = :id AND account_id NOT IN (SELECT value ->> 0 FROM json_each(:rows))
        """,
        values,
    )
    await db.execute_fetchall(
        """
        INSERT INTO copy_group_members (copy_group_id, account_id, quantity_multiplier, sort_order)
        SELECT :id, value ->> 0, value ->> 1, value ->> 2
        FROM json_each(:rows)
        WHERE true
        ON CONFLICT (account_id) DO UPDATE
        SET quantity_multiplier = excluded.quantity_multiplier, sort_order = excluded.sort_order
        """,
        values,
    )
    await db.execute_fetchall(
        """
        UPDATE copy_groups
        SET master_account_id = iif(
                master_account_id IN (SELECT value ->> 0 FROM json_each(:rows)), master_account_id, NULL),
            updated_at = :now
        WHERE id = :id
        """,
        values,
    )


async def require_free(db: Connection, user_id: int, copy_group_id: int, account_ids: list[int]) -> None:
    """Raises ValidationFailed for accounts that are not the user's, Conflict for those of another group."""
    rows = await db.execute_fetchall(
        """
        SELECT accounts.id, coalesce(copy_group_id <> :id, 0)
        FROM accounts
        LEFT JOIN copy_group_members ON account_id = accounts.id
        WHERE user_id = :user_id AND accounts.id IN (SELECT value FROM json_each(:account_ids))
        """,
        {"id": copy_group_id, "user_id": user_id, "account_ids": json_list(account_ids)},
    )
    taken = {account_id: bool(is_taken) for account_id, is_taken in rows}
    if unknown := [account_id for account_id in account_ids if account_id not in taken]:
        raise ValidationFailed(fields={"members": "must be accounts of yours"}, unknown_account_ids=unknown)
    if elsewhere := [account_id for account_id in account_ids if taken[account_id]]:
        raise Conflict("Some accounts are in another copy group.", account_ids=elsewhere)


async def delete(db: Connection, stored: CopyGroup) -> None:
    await db.execute_fetchall("DELETE FROM copy_groups WHERE id = :id", {"id": stored.id})
