"""The owner's settings: docs/api.md#endpoints (`/me`) and #goal-scope (active selection)."""

from typing import Any

import httpx
import pytest
from conftest import client_of, new_key_for
from factories import (
    details_of,
    error_of,
    insert_account,
    insert_copy_group,
    insert_trade,
    insert_user,
    run_sql,
    unwrap,
)
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.settings import Settings

INVALID = (400, "validation_error")


async def me(client: httpx.AsyncClient) -> Any:
    return unwrap(await client.get("/me"))


async def patched(client: httpx.AsyncClient, **fields: Any) -> Any:
    return unwrap(await client.patch("/me", json=fields))


async def refused(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    """A PATCH that must change nothing."""
    before = await me(client)
    response = await client.patch("/me", json=fields)
    assert await me(client) == before
    return response


async def trading_day_of(app: Starlette, trade_id: int) -> str | None:
    ((day,),) = await run_sql(app, "SELECT trading_day FROM trades WHERE id = :id", {"id": trade_id})
    return None if day is None else str(day)


async def test_a_new_owner_has_the_defaults(client: httpx.AsyncClient) -> None:
    answer = await client.get("/me")

    owner = answer.json()["data"]["me"]
    assert owner == {
        "id": 1,
        "name": "owner",
        "timezone": "UTC",
        "day_rollover": "00:00",
        "trading_weekdays": [1, 2, 3, 4, 5],
        "active_selection": "all",
        "created_at": owner["created_at"],
        "updated_at": owner["updated_at"],
    }


async def test_patch_changes_the_fields_sent_and_no_other(client: httpx.AsyncClient) -> None:
    before = await me(client)

    changed = await patched(client, name="Ada", timezone="Europe/Berlin")

    assert changed == {
        **before,
        "name": "Ada",
        "timezone": "Europe/Berlin",
        "updated_at": changed["updated_at"],
    }
    assert changed["updated_at"] > before["updated_at"]
    assert await me(client) == changed


async def test_a_patch_that_changes_nothing_leaves_updated_at(client: httpx.AsyncClient) -> None:
    before = await me(client)
    same = {"timezone": "UTC", "day_rollover": "00:00", "active_selection": "all"}

    for fields in ({}, {"name": "owner"}, same, {"trading_weekdays": [5, 4, 3, 2, 1]}):
        answer = await client.patch("/me", json=fields)

        assert (answer.status_code, unwrap(answer)) == (200, before)


async def test_a_time_zone_is_an_iana_name_and_a_rollover_a_time_of_the_day(
    client: httpx.AsyncClient,
) -> None:
    zones = ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "Etc/GMT+12"]
    rollovers = ["00:00", "00:01", "17:00", "23:59", "05:30"]

    for zone, rollover in zip(zones, rollovers, strict=True):
        changed = await patched(client, timezone=zone, day_rollover=rollover)

        assert (changed["timezone"], changed["day_rollover"]) == (zone, rollover)


@given(st.sets(st.integers(1, 7), min_size=1).flatmap(lambda days: st.permutations(sorted(days))))
async def test_trading_weekdays_are_answered_in_ascending_order(
    client: httpx.AsyncClient, weekdays: list[int]
) -> None:
    changed = await patched(client, trading_weekdays=weekdays)

    assert changed["trading_weekdays"] == sorted(weekdays)
    assert await me(client) == changed


async def test_there_is_a_trading_weekday_and_none_is_repeated(client: httpx.AsyncClient) -> None:
    for weekdays in ([], [1, 2, 1]):
        answer = await refused(client, trading_weekdays=weekdays)

        assert error_of(answer) == INVALID
        assert list(details_of(answer)["fields"]) == ["trading_weekdays"]


async def test_trading_weekdays_move_no_trade(app: Starlette, client: httpx.AsyncClient) -> None:
    sunday = await insert_trade(app, await insert_account(app), closed_at="2026-01-04T15:00:00Z")

    await patched(client, trading_weekdays=[1])

    assert await trading_day_of(app, sunday) == "2026-01-04"


async def test_the_selection_names_an_account_a_group_or_all(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, group = await insert_account(app), await insert_copy_group(app)
    words = [f"account_{account}", f"group_{group}", "all", f"group_{group}", f"account_{account}"]

    selections = [(await patched(client, active_selection=word))["active_selection"] for word in words]

    assert selections == words


@pytest.mark.parametrize(("kind", "table"), [("account", "accounts"), ("group", "copy_groups")])
async def test_a_selected_account_or_group_that_goes_leaves_all(
    app: Starlette, client: httpx.AsyncClient, kind: str, table: str
) -> None:
    selected = await (insert_account if kind == "account" else insert_copy_group)(app)
    await patched(client, active_selection=f"{kind}_{selected}")

    await run_sql(app, f"DELETE FROM {table} WHERE id = :id", {"id": selected})

    assert (await me(client))["active_selection"] == "all"


async def test_the_name_of_another_user_is_taken(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_user(app, "other")

    answer = await refused(client, name="other")

    assert error_of(answer) == (409, "duplicate_name")


async def test_a_refused_patch_writes_none_of_its_members(client: httpx.AsyncClient) -> None:
    answer = await refused(client, timezone="Asia/Tokyo", active_selection="account_99")

    assert error_of(answer) == INVALID


async def test_each_user_has_settings_of_their_own(app: Starlette, client: httpx.AsyncClient) -> None:
    other = await insert_user(app)
    mine = await me(client)

    async with client_of(app, await new_key_for(app, other)) as stranger:
        theirs = await patched(stranger, timezone="Asia/Tokyo", day_rollover="17:00")

    assert (theirs["id"], theirs["name"]) == (other, "other")
    assert await me(client) == mine


async def test_a_new_database_takes_zone_and_rollover_from_the_settings(settings: Settings) -> None:
    app = create_app(Settings(db=settings.db, timezone="America/New_York", day_rollover="17:00"))

    async with app.router.lifespan_context(app), client_of(app, await new_key_for(app)) as client:
        owner = await me(client)

    assert (owner["timezone"], owner["day_rollover"]) == ("America/New_York", "17:00")


async def test_a_new_zone_or_rollover_moves_every_trade_to_its_day(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    evening = await insert_trade(app, account, closed_at="2026-01-05T22:30:00Z")
    still_open = await insert_trade(app, account, closed_at=None)
    days = [await trading_day_of(app, evening)]

    for change in (
        {"timezone": "Asia/Tokyo"},
        {"timezone": "America/New_York"},
        {"day_rollover": "17:00"},
        {"day_rollover": "17:31"},
        {"timezone": "UTC", "day_rollover": "00:00"},
    ):
        await patched(client, **change)
        days.append(await trading_day_of(app, evening))

    assert days == ["2026-01-05", "2026-01-06", "2026-01-05", "2026-01-06", "2026-01-05", "2026-01-05"]
    assert await trading_day_of(app, still_open) is None


async def test_a_new_zone_moves_no_trade_of_another_user(app: Starlette, client: httpx.AsyncClient) -> None:
    other = await insert_user(app)
    theirs = await insert_trade(
        app, await insert_account(app, user_id=other), user_id=other, closed_at="2026-01-05T22:30:00Z"
    )

    await patched(client, timezone="Asia/Tokyo")

    assert await trading_day_of(app, theirs) == "2026-01-05"
