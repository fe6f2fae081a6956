"""What resources have in common: their defaults, where they are read, and what a PATCH changes."""

import re
from datetime import UTC, datetime
from typing import Any

from factories import Client, create_account, create_copy_group, create_tag, unwrap
from saved_journals import for_rows

RFC_3339_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
DATES = {"custom_start": None, "custom_end": None}
WHOLE_ACCOUNT = {
    "currency": "EUR", "starting_balance": 50000.01, "broker": "Tradovate", "archived": True, "one_trade_is": "row",
    "fees": {"MNQ": 0.37, "default": 2}, "timezone": "Europe/Prague", "day_rollover": "17:00", "payout_share": None,
}  # fmt: skip
GOAL = {"goal_name": "Grow", "metric": "net_pnl", "target_value": 100}
DEPOSIT = {"kind": "deposit", "amount": 500, "day": "2026-01-05"}
# The path, what is sent, and the members that follow besides `id`, `created_at` and `updated_at`.
CREATED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "/accounts", {"name": "Apex 50k"},
        {"currency": "USD", "starting_balance": 0, "broker": None, "archived": False, "fees": {}, "one_trade_is": None,
         "timezone": None, "day_rollover": None, "payout_share": None},
    ),
    ("/accounts", {"name": "Live", **WHOLE_ACCOUNT}, {}),
    ("/accounts/1/cash", DEPOSIT, {"note": None, "outside": False, "received": None, "received_source": None}),
    ("/copy-groups", {"name": "Props"},
     {"master_account_id": None, "member_count": 0, "members": [], "copy_seconds": 5, "any_quantity": False}),
    (
        "/goals", GOAL,
        {"direction": "at_least", "timeframe": "monthly", "account_id": None, "copy_group_id": None, **DATES,
         "status": "active", "scope": "all", "kind": "target", "formula": "gross_pnl - fees"},
    ),
    ("/tag-categories", {"name": "Execution"}, {"tag_count": 0, "single": False}),
    ("/tags", {"category_id": 1, "name": "Late"}, {"color": "#3b82f6", "type": "custom"}),
]  # fmt: skip


async def create_first_of_each(client: Client) -> None:
    """An account, a category with a tag, and a copy group: each has the id 1."""
    await create_account(client)
    await create_tag(client)
    await create_copy_group(client)


@for_rows("path, sent, defaults", CREATED)
async def test_what_is_created_has_a_location_and_the_defaults_is_read_there_and_listed(
    client: Client, path: str, sent: dict[str, Any], defaults: dict[str, Any]
) -> None:
    await create_first_of_each(client)

    begun = datetime.now(UTC)
    created = await client.post(path, json=sent)

    one = unwrap(created)
    assert (created.status_code, created.headers["location"]) == (201, f"/v1{path}/{one['id']}")
    times = {"created_at": one["created_at"], "updated_at": one["created_at"]}
    assert RFC_3339_UTC.fullmatch(one["created_at"])
    assert begun <= datetime.fromisoformat(one["created_at"]) <= datetime.now(UTC)
    assert one == {**sent, **defaults, "id": one["id"], **times}
    assert unwrap(await client.get(f"{path}/{one['id']}")) == one
    (listed,) = (each for each in unwrap(await client.get(path)) if each["id"] == one["id"])
    assert {name: one[name] for name in listed.keys() & one.keys()}.items() <= listed.items()


# Of the first of each: PATCHes, each of which changes what it names, and some that change nothing then.
CHANGES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "/accounts/1": (
        [
            *({"name": name} for name in ("Renamed", "SIM")), {"currency": "EUR"}, {"starting_balance": -12.5},
            *({"broker": broker} for broker in ("Other", None)), {"archived": True},
            *({"fees": fees} for fees in ({"default": 2}, {}, {"MNQ": 0.37, "ES": 1.5})),
            *({"one_trade_is": unit} for unit in ("row", "position", None)),
            *({"timezone": zone} for zone in ("Europe/Prague", None)),
            *({"day_rollover": time} for time in ("17:00", None)), {"starting_balance": 1234567.12345678},
        ],
        [{"name": " SIM "}, {"starting_balance": 1234567.123456780}, {"fees": {"ES": 1.5, "MNQ": 0.37}}],
    ),
    "/accounts/1/cash/1": (
        [{"kind": "fee"}, {"amount": 7.5}, {"day": "2026-02-01"}, {"note": "Wire"}, {"note": None}], []
    ),
    "/me": (
        [
            {"name": "Ada", "timezone": "Europe/Berlin"}, {"timezone": "Etc/GMT+12", "day_rollover": "00:01"},
            {"timezone": "Pacific/Kiritimati", "day_rollover": "23:59"}, {"trading_weekdays": [1, 4, 7]},
            {"trading_weekdays": [6]}, {"breakeven_within": 5.25}, {"breakeven_within": 1000000},
            {"trading_weekdays": [1, 2, 3, 4, 5]},
        ],
        [{"trading_weekdays": [5, 4, 3, 2, 1]}],
    ),
    "/tags/1": (
        [
            {"name": "Revenge"}, {"color": "#aBcDeF"}, {"type": "mistake"}, {"category_id": 2},
            {"name": "New", "color": "#010203", "type": "custom", "category_id": 1},
        ],
        [{"name": " New "}],
    ),
    "/tag-categories/1": ([{"name": "New"}, {"name": "café"}], [{"name": "cafe\u0301"}]),
}  # fmt: skip


@for_rows("path, changes, same", [(path, *both) for path, both in CHANGES.items()])
async def test_a_patch_changes_what_it_names_and_updated_at_alone_and_nothing_if_nothing_changes(
    client: Client, path: str, changes: list[dict[str, Any]], same: list[dict[str, Any]]
) -> None:
    await create_first_of_each(client)
    await client.post("/tag-categories", json={"name": "Another"})
    await client.post("/accounts/1/cash", json={**DEPOSIT, "note": "First"})
    for sent in changes:
        before = unwrap(await client.get(path))
        changed = unwrap(await client.patch(path, json=sent))

        assert changed == {**before, **sent, "updated_at": changed["updated_at"]}
        assert changed["updated_at"] > before["updated_at"]
        assert unwrap(await client.get(path)) == changed
        assert unwrap(await client.patch(path, json=sent)) == changed
    back = {name: value for name, value in changed.items() if name not in ("id", "created_at", "updated_at")}
    for sent in ({}, back, *same):
        assert unwrap(await client.patch(path, json=sent)) == changed
