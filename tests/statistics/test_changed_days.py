"""The changes that triggers record (DECISIONS 18): each goal finds those that it has not seen yet."""

import factories
from factories import Client, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

DAYS = ("2026-01-05", "2026-01-06")
FILE = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at\n"
ROW = "ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z\n"
OTHER_DAY = ROW.replace("01-05", "01-06")
OPEN = ROW.replace("101,", ",").replace("2026-01-05T15:00:00Z", "")
WRONG = ROW.replace("long", "sideways")


async def create_counter(client: Client, account_id: int) -> int:
    """A goal that counts the trades of the account by day."""
    goal = await factories.create_goal(client, metric="trade_count", timeframe="daily", account_id=account_id)
    return int(goal["id"])


async def read_counts(client: Client, goal_id: int) -> list[int]:
    """The trades of both days."""
    snapshots = await factories.snapshots_of(client, goal_id, **{"from": DAYS[0], "to": DAYS[1]})
    counts = {one["period_start"]: one["actual"] for one in snapshots}
    return [counts.get(day, 0) for day in DAYS]


async def add_trade(client: Client, account_id: int, day: str = DAYS[0]) -> None:
    await factories.create_trade(client, account_id, **dict.fromkeys(("opened_at", "closed_at"), f"{day}T15:00:00Z"))


async def read_changes(app: Starlette) -> list[tuple[int, str]]:
    return [tuple(row) for row in await run_sql(app, "SELECT sequence, trading_day FROM changed_days ORDER BY 1")]


async def test_a_day_is_recorded_again_although_no_goal_has_seen_its_change(
    app: Starlette, client: Client, account_id: int
) -> None:
    """A goal may just be computed, and will save a cursor that includes the first."""
    await add_trade(client, account_id)
    ((first, _),) = await read_changes(app)

    await add_trade(client, account_id)

    ((second, day),) = await read_changes(app)
    assert (second > first, day) == (True, DAYS[0])


@for_rows("rows", [1, 650])
async def test_an_import_records_each_of_its_days_once_and_its_undo_is_seen(
    app: Starlette, client: Client, account_id: int, rows: int
) -> None:
    goal = await create_counter(client, account_id)
    assert await read_counts(client, goal) == [0, 0]

    report = await factories.create_import(client, FILE + ROW * rows + OTHER_DAY + OPEN, account_id=account_id)

    assert await read_changes(app) == [(1, DAYS[0]), (2, DAYS[1])]
    assert await read_counts(client, goal) == [rows, 1]
    assert (await client.delete(f"/imports/{report['id']}")).status_code == 204
    assert await read_counts(client, goal) == [0, 0]


async def test_a_change_that_was_rolled_back_is_recorded_by_the_next(client: Client, account_id: int) -> None:
    goal = await create_counter(client, account_id)
    await read_counts(client, goal)
    refused = await factories.send_file(client, FILE + ROW + WRONG, account_id)

    await add_trade(client, account_id)

    assert refused.status_code == 400
    assert await read_counts(client, goal) == [1, 0]


async def test_every_goal_finds_the_changes_that_it_has_not_seen_whatever_others_have(
    client: Client, other_user_client: Client
) -> None:
    account, theirs = (
        (await factories.create_account(client))["id"],
        (await factories.create_account(other_user_client))["id"],
    )
    ahead, behind, paused = [await create_counter(client, account) for _ in range(3)]
    their_goal = await create_counter(other_user_client, theirs)
    await read_counts(client, behind)
    await add_trade(client, account)
    assert [await read_counts(client, goal) for goal in (ahead, paused)] == [[1, 0]] * 2
    unwrap(await client.patch(f"/goals/{paused}", json={"status": "paused"}))
    await add_trade(other_user_client, theirs, DAYS[1])

    await add_trade(client, account)

    assert await read_counts(other_user_client, their_goal) == [0, 1]
    assert [await read_counts(client, goal) for goal in (ahead, paused)] == [[2, 0], [1, 0]]
    await client.delete(f"/goals/{ahead}")
    await add_trade(client, account)
    unwrap(await client.patch(f"/goals/{paused}", json={"status": "active"}))
    assert [await read_counts(client, goal) for goal in (behind, paused)] == [[3, 0]] * 2
    assert await read_counts(other_user_client, their_goal) == [0, 1]
