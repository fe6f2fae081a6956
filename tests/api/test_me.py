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


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"name": "owner"},
        {"timezone": "UTC", "day_rollover": "00:00", "active_selection": "all"},
        {"trading_weekdays": [5, 4, 3, 2, 1]},
    ],
    ids=["empty", "same name", "same settings", "same weekdays"],
)
async def test_a_patch_that_changes_nothing_leaves_updated_at(
    client: httpx.AsyncClient, fields: dict[str, Any]
) -> None:
    before = await me(client)

    answer = await client.patch("/me", json=fields)

    assert (answer.status_code, unwrap(answer)) == (200, before)


@pytest.mark.parametrize(
    "zone", ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "Etc/GMT+12"]
)
async def test_a_time_zone_is_an_iana_name(client: httpx.AsyncClient, zone: str) -> None:
    changed = await patched(client, timezone=zone)

    assert changed["timezone"] == zone


@pytest.mark.parametrize(
    "zone",
    [
        "",
        "Mars/Olympus",
        "+02:00",
        "utc ",
        "../../etc/passwd",
        "/usr/share/zoneinfo/UTC",
        "America",
        "UTC\n",
        "UTC\u0000",
        # The first two are in the system's zones of some machines, the third in every list of zones.
        "localtime",
        "posixrules",
        "Factory",
        "a" * 10_000,
        None,
        5,
        ["UTC"],
    ],
    ids=lambda zone: repr(zone)[:30],
)
async def test_another_time_zone_is_refused(client: httpx.AsyncClient, zone: Any) -> None:
    answer = await refused(client, timezone=zone)

    assert error_of(answer) == INVALID
    assert list(details_of(answer)["fields"]) == ["timezone"]


@given(st.sets(st.integers(1, 7), min_size=1).flatmap(lambda days: st.permutations(sorted(days))))
async def test_trading_weekdays_are_answered_in_ascending_order(
    client: httpx.AsyncClient, weekdays: list[int]
) -> None:
    changed = await patched(client, trading_weekdays=weekdays)

    assert changed["trading_weekdays"] == sorted(weekdays)
    assert await me(client) == changed


@pytest.mark.parametrize(
    ("weekdays", "path"),
    [
        ([], "trading_weekdays"),
        ([1, 2, 1], "trading_weekdays"),
        ([0], "trading_weekdays[0]"),
        ([7, 8], "trading_weekdays[1]"),
        ([True], "trading_weekdays[0]"),
        ([1.0], "trading_weekdays[0]"),
        (["1"], "trading_weekdays[0]"),
        (5, "trading_weekdays"),
        (None, "trading_weekdays"),
    ],
    ids=str,
)
async def test_other_trading_weekdays_are_refused(
    client: httpx.AsyncClient, weekdays: Any, path: str
) -> None:
    answer = await refused(client, trading_weekdays=weekdays)

    assert error_of(answer) == INVALID
    assert list(details_of(answer)["fields"]) == [path]


async def test_trading_weekdays_move_no_trade(app: Starlette, client: httpx.AsyncClient) -> None:
    sunday = await insert_trade(app, await insert_account(app), closed_at="2026-01-04T15:00:00Z")

    await patched(client, trading_weekdays=[1])

    assert await trading_day_of(app, sunday) == "2026-01-04"


@pytest.mark.parametrize("rollover", ["00:00", "00:01", "17:00", "23:59"])
async def test_a_rollover_is_a_time_of_the_day(client: httpx.AsyncClient, rollover: str) -> None:
    changed = await patched(client, day_rollover=rollover)

    assert changed["day_rollover"] == rollover


@pytest.mark.parametrize(
    "rollover",
    [
        "",
        "24:00",
        "17",
        "17:60",
        "5:00",
        "17:00:00",
        "17.00",
        " 17:00",
        "17:00\n",
        "１７:00",
        "-1:00",
        None,
        17,
        True,
    ],
)
async def test_another_rollover_is_refused(client: httpx.AsyncClient, rollover: Any) -> None:
    answer = await refused(client, day_rollover=rollover)

    assert error_of(answer) == INVALID
    assert list(details_of(answer)["fields"]) == ["day_rollover"]


async def test_the_selection_names_an_account_a_group_or_all(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account, group = await insert_account(app), await insert_copy_group(app)
    words = [f"account_{account}", f"group_{group}", "all", f"group_{group}", f"account_{account}"]

    selections = [(await patched(client, active_selection=word))["active_selection"] for word in words]

    assert selections == words


@pytest.mark.parametrize(
    "selection",
    [
        "",
        "account_0",
        "account_01",
        "account_-1",
        "ACCOUNT_1",
        "group_",
        "ALL",
        f"account_{2**63}",
        None,
        1,
        [],
    ],
)
async def test_another_selection_is_refused(
    app: Starlette, client: httpx.AsyncClient, selection: Any
) -> None:
    await insert_account(app)

    answer = await refused(client, active_selection=selection)

    assert error_of(answer) == INVALID
    assert list(details_of(answer)["fields"]) == ["active_selection"]


@pytest.mark.parametrize("kind", ["account", "group"])
async def test_a_selection_of_a_stranger_is_refused_as_a_missing_one(
    app: Starlette, client: httpx.AsyncClient, kind: str
) -> None:
    other = await insert_user(app)
    make = insert_account if kind == "account" else insert_copy_group
    foreign = await make(app, user_id=other)

    of_stranger = await refused(client, active_selection=f"{kind}_{foreign}")
    of_nobody = await refused(client, active_selection=f"{kind}_{2**63 - 1}")

    assert error_of(of_stranger) == INVALID
    assert of_stranger.json()["error"] == of_nobody.json()["error"]


@pytest.mark.parametrize(("kind", "table"), [("account", "accounts"), ("group", "copy_groups")])
async def test_a_selected_account_or_group_that_goes_leaves_all(
    app: Starlette, client: httpx.AsyncClient, kind: str, table: str
) -> None:
    selected = await (insert_account if kind == "account" else insert_copy_group)(app)
    await patched(client, active_selection=f"{kind}_{selected}")

    await run_sql(app, f"DELETE FROM {table} WHERE id = :id", {"id": selected})

    assert (await me(client))["active_selection"] == "all"


@pytest.mark.parametrize("name", ["A", "n" * 100, "😀" * 100, " Ada "])
async def test_a_name_has_1_to_100_characters(client: httpx.AsyncClient, name: str) -> None:
    changed = await patched(client, name=name)

    assert changed["name"] == name.strip()


@pytest.mark.parametrize("name", ["", " ", "\u3000", "n" * 101, "a\u0000b", None, 5])
async def test_another_name_is_refused(client: httpx.AsyncClient, name: Any) -> None:
    answer = await refused(client, name=name)

    assert error_of(answer) == INVALID
    assert list(details_of(answer)["fields"]) == ["name"]


async def test_the_name_of_another_user_is_taken(app: Starlette, client: httpx.AsyncClient) -> None:
    await insert_user(app, "other")

    answer = await refused(client, name="other")

    assert error_of(answer) == (409, "duplicate_name")


@pytest.mark.parametrize("member", ["time_zone", "scopes"])
async def test_unknown_members_are_refused_and_named(client: httpx.AsyncClient, member: str) -> None:
    answer = await refused(client, **{member: "x"})

    assert error_of(answer) == INVALID
    assert details_of(answer)["unknown_fields"] == [member]


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


@pytest.mark.parametrize(
    ("scopes", "get", "patch"),
    [(("read:settings",), 200, 403), (("write:settings",), 403, 200), (("read:goals",), 403, 403)],
)
async def test_settings_have_scopes_of_their_own(
    app: Starlette, scopes: tuple[str, ...], get: int, patch: int
) -> None:
    async with client_of(app, await new_key_for(app, scopes=scopes)) as limited:
        seen = await limited.get("/me")
        changed = await limited.patch("/me", json={})

    assert (seen.status_code, changed.status_code) == (get, patch)


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
