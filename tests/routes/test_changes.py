"""GET /v1/changes and X-Cursor: docs/api.md#changes."""

import re
import sqlite3
from collections.abc import Set
from contextlib import closing
from typing import Any

import factories
import pytest
from conftest import client_of, new_key_for
from factories import Client, error_of, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

Line = tuple[str, int | str | None]
GOALS: Line = ("goals", None)
CHECKPOINTS: Line = ("checkpoints", None)
IMPORTS: Line = ("imports", None)
DAYS: Line = ("days", None)
# What is computed from trades, and from everything else that goals read.
OF_TRADES = [CHECKPOINTS, DAYS, GOALS, IMPORTS]
OF_ACCOUNTS = [CHECKPOINTS, DAYS, GOALS]
CATEGORIES: Line = ("tag_categories", None)
OF_TAGS = [GOALS, CATEGORIES]


async def cursor_of(client: Client) -> str:
    answer = await client.get("/changes")
    assert unwrap(answer) == []
    return str(answer.json()["meta"]["cursor"])


async def read_changes(client: Client, since: str, **query: Any) -> list[Any]:
    changes: list[Any] = unwrap(await client.get("/changes", params={"since": since, **query}))
    return changes


async def lines_since(client: Client, since: str) -> tuple[list[Line], list[Line]]:
    """What there is to read again, and what is deleted."""
    changes = await read_changes(client, since)
    lines = sorted(((one["resource"], one["id"]) for one in changes if not one["deleted"]), key=str)
    gone = sorted(((one["resource"], one["id"]) for one in changes if one["deleted"]), key=str)
    return lines, gone


async def create_journal(client: Client) -> None:
    """One object of each kind with the id 1, but for a second account and category; most belong together."""
    await factories.create_category(client, "Other")
    tag = await factories.create_tag(client, "FOMO")
    account = await factories.create_account(client, "Main")
    await factories.create_account(client, "Empty")
    await factories.create_cash(client, account["id"])
    await factories.create_checkpoint(client, account["id"])
    setups = [{"name": "Setup", "confirmations": [{"name": "a"}, {"name": "b"}]}]
    strategy = await factories.create_strategy(client, setups=setups)
    trade = await factories.create_trade(
        client,
        account["id"],
        tag_ids=[tag["id"]],
        setup_id=strategy["setups"][0]["setup_id"],
        confirmations=[{"confirmation_id": 1, "was_present": True}],
    )
    assert trade["id"] == 1
    await factories.create_goal(client)
    await factories.create_copy_group(client, account_ids=[account["id"]])
    await factories.create_import_profile(client)
    await factories.create_instrument(client, "XYZ")
    await factories.create_picture(client)
    await factories.create_picture(client, "/trades/1")


@pytest.fixture
async def filled_journal(client: Client) -> None:
    await create_journal(client)


ACCOUNT: Line = ("accounts", 1)
TRADE: Line = ("trades", 1)
STRATEGY: Line = ("strategies", 1)
DAY: Line = ("days", factories.A_DAY)
SETUP = {"setup_id": 1}
WITHOUT_A_CONFIRMATION = {"setups": [{**SETUP, "confirmations": [{"confirmation_id": 2}]}]}
# A request, what it names to be read again besides what is computed, what that is, and what it deletes.
REQUESTS: list[tuple[str, str, Any, list[Line], list[Line], list[Line]]] = [
    ("PATCH", "/tags/1", {"name": "New"}, [("tags", 1)], OF_TAGS, []),
    ("PATCH", "/tags/1", {"category_id": 1}, [("tags", 1)], OF_TAGS, []),
    ("DELETE", "/tags/1", None, [TRADE], [*OF_TRADES, CATEGORIES], [("tags", 1)]),
    ("PATCH", "/tag-categories/1", {"name": "New"}, [("tag_categories", 1)], [], []),
    ("DELETE", "/tag-categories/1", None, [], [], [("tag_categories", 1)]),
    ("PATCH", "/strategies/1", {"name": "New"}, [STRATEGY], [GOALS], []),
    ("PATCH", "/strategies/1", {"setups": [{**SETUP, "name": "New"}]}, [STRATEGY], [GOALS], []),
    ("PATCH", "/strategies/1", WITHOUT_A_CONFIRMATION, [STRATEGY, TRADE], OF_TRADES, []),
    ("PATCH", "/strategies/1", {"setups": []}, [STRATEGY, TRADE], OF_TRADES, []),
    ("DELETE", "/strategies/1", None, [TRADE], OF_TRADES, [STRATEGY]),
    ("PATCH", "/trades/1", {"notes": "New"}, [TRADE], OF_TRADES, []),
    ("PUT", "/trades/1/tags", {"tag_ids": []}, [TRADE], OF_TRADES, []),
    ("PUT", "/trades/1/confirmations", {"confirmations": []}, [TRADE], OF_TRADES, []),
    ("PATCH", "/trades/1/fills/2", {"price": 102}, [TRADE], OF_TRADES, []),
    ("DELETE", "/trades/1", None, [], OF_TRADES, [TRADE]),
    ("PATCH", "/accounts/1", {"name": "New"}, [ACCOUNT], OF_ACCOUNTS, []),
    ("PATCH", "/accounts/1", {"fees": {"ES": 2}}, [ACCOUNT], OF_ACCOUNTS, []),
    ("PUT", "/accounts/1/rules", {"daily_loss": 5}, [ACCOUNT], OF_ACCOUNTS, []),
    ("DELETE", "/accounts/2", None, [], OF_ACCOUNTS, [("accounts", 2)]),
    ("PATCH", "/accounts/1/cash/1", {"amount": 5}, [("cash", 1)], [CHECKPOINTS, GOALS], []),
    ("DELETE", "/accounts/1/cash/1", None, [], [CHECKPOINTS, GOALS], [("cash", 1)]),
    ("PATCH", "/accounts/1/checkpoints/1", {"note": "x"}, [("checkpoints", 1)], [CHECKPOINTS], []),
    ("DELETE", "/accounts/1/checkpoints/1", None, [], [CHECKPOINTS], [("checkpoints", 1)]),
    ("PATCH", "/copy-groups/1", {"name": "New"}, [("copy_groups", 1)], [DAYS, GOALS], []),
    ("PUT", "/copy-groups/1/members", {"members": []}, [("copy_groups", 1)], [DAYS, GOALS], []),
    ("DELETE", "/copy-groups/1", None, [], [DAYS, GOALS], [("copy_groups", 1)]),
    ("PATCH", "/goals/1", {"target_value": 5}, [("goals", 1)], [], []),
    ("GET", "/goals/1/snapshots", None, [], [], []),
    ("DELETE", "/goals/1", None, [], [], [("goals", 1)]),
    ("PUT", "/instruments/XYZ", {"point_value": 9}, [("instruments", "XYZ")], [], []),
    ("DELETE", "/instruments/XYZ", None, [], [], [("instruments", "XYZ")]),
    ("DELETE", "/import-profiles/1", None, [], [], [("import_profiles", 1)]),
    ("PATCH", "/me", {"name": "New"}, [("me", 1)], [DAYS, GOALS], []),
    ("PATCH", "/me", {"timezone": "Asia/Tokyo", "day_rollover": "01:00"}, [TRADE, ("me", 1)], OF_TRADES, []),
    ("PATCH", "/me", {"name": "owner"}, [], [], []),
    ("PATCH", "/me", {"plan_template": "Sleep?"}, [("me", 1)], [DAYS, GOALS], []),
    ("PATCH", f"/days/{factories.A_DAY}", {"plan": "Wait."}, [DAY], [], []),
    ("PATCH", "/days/2026-01-06", {"tag_ids": [1]}, [("days", "2026-01-06")], [], []),
    ("DELETE", f"/days/{factories.A_DAY}", None, [DAY], [], []),
    ("PATCH", "/pictures/1", {"caption": "New"}, [DAY], [], []),
    ("DELETE", "/pictures/1", None, [DAY], [], []),
    ("PATCH", "/pictures/2", {"caption": "New"}, [TRADE], OF_TRADES, []),
    ("DELETE", "/pictures/2", None, [TRADE], OF_TRADES, []),
]


# What is computed, and the resources whose lines tell to read it again.
WATCHED = {
    "/goals?with=snapshot": {"goals"},
    "/accounts/1/standing": {"accounts", "checkpoints", "me"},
    "/accounts?with=standing": {"accounts", "checkpoints", "me"},
    "/days": {"days"},
    **{
        f"/reports?group_by={name}&account_id=1": {*("trades", "accounts", "copy_groups", "tags", "strategies", "me")}
        for name in ("none", "day", "account", "strategy", "setup", "tag", "confirmation")
    },
    "/reports?copy_group_id=1": {"trades", "copy_groups"},
}


async def read_watched(client: Client, told: Set[str] = frozenset()) -> dict[str, Any]:
    """What is computed, but for what those resources tell to read again."""
    watched = [path for path, resources in WATCHED.items() if told.isdisjoint(resources)]
    texts = {path: (await client.get(path)).text.partition(',"meta":')[0] for path in watched}
    return {path: re.sub(r'"computed_at":"[^"]*"', "", text) for path, text in texts.items()}


@pytest.fixture
async def before(client: Client, filled_journal: None) -> dict[str, Any]:
    return await read_watched(client)


@for_rows("method, path, body, named, computed, gone", REQUESTS)
async def test_a_request_names_what_it_changes_with_what_is_computed_from_that(
    client: Client,
    before: dict[str, Any],
    method: str,
    path: str,
    body: Any,
    named: list[Line],
    computed: list[Line],
    gone: list[Line],
) -> None:
    since = await cursor_of(client)

    answer = await client.request(method, path, json=body)

    assert answer.is_success, answer.text
    lines = await lines_since(client, since)
    assert lines == (sorted([*named, *computed], key=str), gone)
    resources = {resource for part in lines for resource, _ in part}
    after = await read_watched(client, resources)
    assert after == {path: before[path] for path in after}


BY_HAND: list[tuple[str, list[Line], list[Line]]] = [
    ("UPDATE trades SET notes = 'x'", [TRADE, *OF_TRADES], []),
    ("INSERT OR REPLACE INTO instruments VALUES (1, 'XYZ', 5)", [("instruments", "XYZ")], []),
    ("DELETE FROM trade_tags", [TRADE, *OF_TRADES], []),
    ("UPDATE confirmations SET name = 'x' WHERE id = 1", [STRATEGY, GOALS], []),
    ("UPDATE account_rules SET daily_loss = 7", [ACCOUNT, *OF_ACCOUNTS], []),
    ("DELETE FROM cash_movements", [CHECKPOINTS, GOALS], [("cash", 1)]),
    ("UPDATE api_keys SET revoked_at = created_at WHERE id = 2", [], [("keys", 2)]),
    ("UPDATE goals SET goal_name = 'x'", [("goals", 1)], []),
    ("UPDATE goals SET change_cursor = NULL, evaluated_on = NULL", [], []),
    ("UPDATE users SET facts_cursor = 0", [], []),
    ("UPDATE pictures SET trade_id = 1, day = NULL", [TRADE, DAY, *OF_TRADES], []),
    ("DELETE FROM pictures", [TRADE, DAY, *OF_TRADES], []),
    ("UPDATE api_keys SET last_used_on = '2026-01-01'", [], []),
]


@pytest.mark.usefixtures("filled_journal")
@for_rows("sql, named, gone", BY_HAND)
async def test_another_program_names_what_it_changes(
    app: Starlette, client: Client, sql: str, named: list[Line], gone: list[Line]
) -> None:
    await factories.put_rules(client, 1, daily_loss=500)
    await factories.create_key(client)
    since = await cursor_of(client)

    with closing(sqlite3.connect(app.state.settings.db)) as db, db:
        db.execute(sql)

    assert await lines_since(client, since) == (sorted(named, key=str), gone)


async def test_an_account_takes_its_cash_its_checkpoints_and_its_goals_along(client: Client, account_id: int) -> None:
    await factories.create_cash(client, account_id)
    await factories.create_checkpoint(client, account_id)
    await factories.create_goal(client, account_id=account_id)
    strategy = await factories.create_strategy(client, account_id=account_id)
    since = await cursor_of(client)

    await client.delete(f"/accounts/{account_id}")

    named, gone = await lines_since(client, since)
    assert named == [*OF_ACCOUNTS, ("strategies", strategy["id"])]
    assert gone == [(name, 1) for name in ("accounts", "cash", "checkpoints", "goals")]


async def test_an_import_and_its_undo_name_their_trades(client: Client, account_id: int) -> None:
    since = await cursor_of(client)

    report = await factories.create_import(client, account_id=account_id)
    trade_ids = [row["trade_id"] for row in report["rows"]]
    imported = await lines_since(client, since)
    await client.delete(f"/imports/{report['id']}")

    assert imported == (sorted([*OF_TRADES, ("imports", 1), *[("trades", n) for n in trade_ids]], key=str), [])
    assert (await lines_since(client, since))[1] == [("imports", 1), *[("trades", n) for n in trade_ids]]


async def test_an_import_names_the_trade_whose_exit_an_earlier_one_told(client: Client, account_id: int) -> None:
    header = "Instrument,Action,Quantity,Price,Time,ID,E/X"
    await factories.create_import(
        client, f"{header}\nMES 03-26,Sell,1,101,2/12/2026 9:05:00,2,Exit\n", account_id=account_id
    )
    since = await cursor_of(client)

    await factories.create_import(
        client, f"{header}\nMES 03-26,Buy,1,100,2/12/2026 9:00:00,1,Entry\n", account_id=account_id
    )

    assert ("trades", 1) in (await lines_since(client, since))[0]


async def test_a_merge_deletes_the_parts_and_a_split_brings_them_back(client: Client) -> None:
    first = await factories.create_trade(client)
    second = await factories.create_trade(client, first["account_id"])
    since = await cursor_of(client)

    unwrap(await client.post("/trades/merge", json={"ids": [first["id"], second["id"]]}))
    merged = await lines_since(client, since)
    await client.post(f"/trades/{first['id']}/split")

    assert merged == ([*OF_TRADES, ("trades", 1)], [("trades", 2)])
    assert await lines_since(client, since) == ([*OF_TRADES, ("trades", 1), ("trades", 2)], [])


async def test_an_object_has_one_line_in_the_order_of_its_last_change(client: Client) -> None:
    category = await factories.create_category(client)
    since = await cursor_of(client)
    for name in ("a", "b", "c"):
        await factories.create_category(client, name)

    await client.patch(f"/tag-categories/{category['id'] + 1}", json={"name": "d"})

    pages = []
    more = True
    while more:
        answer = await client.get("/changes", params={"since": since, "limit": 2})
        pages.append([one["id"] for one in unwrap(answer)])
        since, more = answer.json()["meta"]["cursor"], answer.json()["meta"]["more"]
    assert pages == [[3, 4], [2]]


async def test_a_key_is_told_only_of_resources_that_it_may_read(app: Starlette, client: Client) -> None:
    since = await cursor_of(client)
    await create_journal(client)

    told = {}
    for scopes in [("read:tags",), ("read:goals",), ("write:trades",)]:
        async with client_of(app, await new_key_for(app, scopes=scopes)) as limited:
            told[scopes[0]] = {one["resource"] for one in await read_changes(limited, since)}

    assert told == {"read:tags": {"tags", "tag_categories"}, "read:goals": {"goals"}, "write:trades": set()}


async def test_another_user_is_told_nothing(app: Starlette, client: Client) -> None:
    async with client_of(app, await new_key_for(app, await factories.insert_user(app))) as other:
        before = (await other.get("/tags")).headers["x-cursor"]
        await create_journal(client)

        assert (await other.get("/tags")).headers["x-cursor"] == before
        assert await read_changes(other, before) == []


async def test_cash_and_checkpoints_say_their_account(client: Client) -> None:
    since = await cursor_of(client)
    account = await factories.create_account(client)
    await factories.create_cash(client, account["id"])
    await factories.create_checkpoint(client, account["id"])

    accounts = {(one["resource"], one["id"]): one["account_id"] for one in await read_changes(client, since)}

    assert accounts == {
        ("accounts", 1): None, ("cash", 1): account["id"], ("checkpoints", 1): account["id"],
        **dict.fromkeys(OF_ACCOUNTS),
    }  # fmt: skip


@for_rows("since", ["", "-1", "1.0", "01", "x", "1\n", "9" * 19])
async def test_what_is_no_cursor_is_refused(client: Client, since: str) -> None:
    assert error_of(await client.get("/changes", params={"since": since})) == (400, "validation_error")


async def test_a_cursor_expires_with_the_changes_after_it(app: Starlette, client: Client) -> None:
    from journal_api.app import delete_old

    tag = await factories.create_tag(client)
    oldest = await cursor_of(client)
    await client.delete(f"/tags/{tag['id']}")
    kept = await cursor_of(client)
    await run_sql(app, "UPDATE changed_objects SET at = '2020-01-01T00:00:00.000000Z'")
    await factories.create_category(client, "New")

    for _ in range(2):
        await delete_old(app.state.database, app.state.settings.keep_changes)

    expired = await client.get("/changes", params={"since": oldest})
    assert error_of(expired) == (410, "cursor_expired")
    assert [one["id"] for one in await read_changes(client, kept)] == [2]
    assert error_of(await client.get("/changes", params={"since": "9999"})) == (410, "cursor_expired")


async def test_the_cursor_of_now_never_expires(app: Starlette, client: Client) -> None:
    from journal_api.app import delete_old

    await factories.create_tag(client)
    now = await cursor_of(client)
    await run_sql(app, "UPDATE changed_objects SET at = '2020-01-01T00:00:00.000000Z'")

    await delete_old(app.state.database, app.state.settings.keep_changes)

    assert await read_changes(client, now) == []
    await factories.create_category(client, "New")
    assert [one["resource"] for one in await read_changes(client, now)] == ["tag_categories"]


@pytest.mark.own_journal
async def test_a_removed_user_leaves_no_changes(app: Starlette, client: Client) -> None:
    user_id = await factories.insert_user(app)
    async with client_of(app, await new_key_for(app, user_id)) as other:
        await factories.create_example_journal(other)

    await run_sql(app, "DELETE FROM users WHERE id = :id", {"id": user_id})

    assert await run_sql(app, "SELECT DISTINCT user_id FROM changed_objects") == [(1,)]


async def test_a_cached_and_an_unchanged_response_have_the_cursor_of_their_data(client: Client) -> None:
    await factories.create_tag(client)
    first = await client.get("/tags")
    again = await client.get("/tags")
    unchanged = await client.get("/tags", headers={"If-None-Match": first.headers["etag"]})
    written = await client.post("/tag-categories", json={"name": "New"})
    after = await client.get("/tags")

    cursors = [one.headers["x-cursor"] for one in (again, unchanged, written)]
    assert cursors == [first.headers["x-cursor"]] * 3
    assert int(after.headers["x-cursor"]) > int(first.headers["x-cursor"])
    assert await lines_since(client, written.headers["x-cursor"]) == ([("tag_categories", 2)], [])


async def test_a_repeat_with_an_idempotency_key_has_the_cursor_of_the_first_response(client: Client) -> None:
    key = {"Idempotency-Key": "once"}
    first = await client.post("/tag-categories", json={"name": "New"}, headers=key)
    await factories.create_category(client, "Later")

    repeated = await client.post("/tag-categories", json={"name": "New"}, headers=key)

    assert repeated.headers["x-cursor"] == first.headers["x-cursor"]


TOUCHES: dict[str, tuple[str, str, Any]] = {
    "its tag is deleted": ("DELETE", "/tags/1", None),
    "its strategy is deleted": ("DELETE", "/strategies/1", None),
    "its setup is deleted": ("PATCH", "/strategies/1", {"setups": []}),
    "a confirmation that it answers is deleted": ("PATCH", "/strategies/1", WITHOUT_A_CONFIRMATION),
    "the user's zone moves its day": ("PATCH", "/me", {"timezone": "Asia/Tokyo", "day_rollover": "01:00"}),
    "its account's zone moves its day": ("PATCH", "/accounts/1", {"day_rollover": "14:30"}),
}


@pytest.mark.usefixtures("filled_journal")
@for_rows("method, path, body", TOUCHES.values())
async def test_a_trade_that_shows_something_else_has_a_later_updated_at(
    client: Client, method: str, path: str, body: Any
) -> None:
    before = await client.get("/trades/1")

    answer = await client.request(method, path, json=body)
    after = await client.get("/trades/1")
    stale = await client.patch("/trades/1", json={**unwrap(before), "notes": "x"})
    unmatched = await client.patch("/trades/1", json={"notes": "x"}, headers={"If-Match": before.headers["etag"]})
    edited = unwrap(await client.patch("/trades/1", json={"notes": "x"}))

    assert answer.is_success
    assert unwrap(before)["updated_at"] < unwrap(after)["updated_at"] < edited["updated_at"]
    assert (await client.get("/trades")).json()["data"]["trades"][0]["updated_at"] == edited["updated_at"]
    assert stale.status_code in (400, 412)
    assert unmatched.status_code == 412


async def test_a_calendar_that_moves_imported_trades_edits_none_of_them(client: Client, account_id: int) -> None:
    report = await factories.create_import(client, account_id=account_id)
    before = unwrap(await client.get("/trades"))

    await client.patch("/me", json={"timezone": "Asia/Tokyo", "day_rollover": "12:00"})
    moved = unwrap(await client.get("/trades"))
    undone = await client.delete(f"/imports/{report['id']}")

    assert [one["updated_at"] for one in moved] > [one["updated_at"] for one in before]
    assert int(undone.headers["x-trades-deleted"]) == len(before)
