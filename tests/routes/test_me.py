"""The owner's settings: docs/api.md (`/me`) and #goal-scope (active selection)."""

from typing import Any

import factories
from factories import Client, details_of, error_of, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

INVALID = (400, "validation_error")
EVENING = "2026-01-05T22:30:00Z"


async def get_me(client: Client) -> Any:
    return unwrap(await client.get("/me"))


async def patch_me(client: Client, **members: Any) -> Any:
    return unwrap(await client.patch("/me", json=members))


async def test_a_new_owner_has_the_defaults(client: Client) -> None:
    owner = await get_me(client)

    assert owner == {
        "id": 1,
        "name": "owner",
        "timezone": "UTC",
        "day_rollover": "00:00",
        "trading_weekdays": [1, 2, 3, 4, 5],
        "breakeven_within": 0,
        "active_selection": "all",
        "plan_template": None,
        "review_template": None,
        "created_at": owner["created_at"],
        "updated_at": owner["updated_at"],
    }


@for_rows(
    "members, error, field",
    [
        ({"trading_weekdays": []}, INVALID, "trading_weekdays"),
        ({"trading_weekdays": [1, 2, 1]}, INVALID, "trading_weekdays"),
        ({"timezone": "Asia/Tokyo", "active_selection": "account_99"}, INVALID, "active_selection"),
        ({"timezone": "Asia/Tokyo", "active_selection": "group_99"}, INVALID, "active_selection"),
        ({"timezone": "Asia/Tokyo", "name": "other"}, (409, "duplicate_name"), None),
    ],
)
async def test_a_refused_patch_writes_nothing(
    app: Starlette, client: Client, members: Any, error: tuple[int, str], field: str | None
) -> None:
    await factories.insert_user(app, "other")
    before = await get_me(client)

    refused = await client.patch("/me", json=members)

    assert error_of(refused) == error
    assert list(details_of(refused).get("fields", {})) == ([field] if field else [])
    assert await get_me(client) == before


@for_rows("kind, table", [("account", "accounts"), ("group", "copy_groups")])
async def test_the_selection_is_an_account_or_a_group_and_all_once_that_is_gone(
    app: Starlette, client: Client, kind: str, table: str
) -> None:
    ids = {"account": await factories.insert_account(app), "group": await factories.insert_copy_group(app)}
    words = [*(f"{name}_{row_id}" for name, row_id in ids.items()), "all", f"{kind}_{ids[kind]}"]

    selections = [(await patch_me(client, active_selection=word))["active_selection"] for word in words]
    await run_sql(app, f"DELETE FROM {table} WHERE id = :id", {"id": ids[kind]})

    assert selections == words
    assert (await get_me(client))["active_selection"] == "all"


async def test_a_new_zone_or_rollover_moves_every_trade_to_its_day(app: Starlette, client: Client) -> None:
    account = await factories.insert_account(app)
    await factories.insert_trade(app, account, closed_at=EVENING)
    await factories.insert_trade(app, account, closed_at=None)

    for change, day in (
        ({"trading_weekdays": [2]}, "2026-01-05"),
        ({"timezone": "Asia/Tokyo"}, "2026-01-06"),
        ({"timezone": "America/New_York"}, "2026-01-05"),
        ({"day_rollover": "17:00"}, "2026-01-06"),
        ({"day_rollover": "17:31"}, "2026-01-05"),
        ({"timezone": "UTC", "day_rollover": "00:00"}, "2026-01-05"),
    ):
        await patch_me(client, **change)

        assert await run_sql(app, "SELECT trading_day FROM trades ORDER BY id") == [(day,), (None,)]
