"""The marks of changed days (DECISIONS 17): left out where no goal needs another, and only there."""

from typing import NamedTuple

import httpx
import pytest
from conftest import client_of, new_key_for
from factories import (
    create_account,
    create_goal,
    create_import,
    create_trade,
    insert_user,
    run_sql,
    send_file,
    snapshots_of,
    unwrap,
)
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples
from starlette.applications import Starlette

DAY = "2026-01-05"
FILE = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at\n"
ROW = "ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z\n"
WRONG = "ES,sideways,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z\n"


@pytest.fixture
async def account_id(client: httpx.AsyncClient) -> int:
    return int((await create_account(client))["id"])


async def goal_of(client: httpx.AsyncClient, account_id: int) -> int:
    """A goal that counts the trades of the account by day."""
    goal = await create_goal(client, metric="trade_count", timeframe="daily", account_id=account_id)
    return int(goal["id"])


async def counted(client: httpx.AsyncClient, goal_id: int, day: str = DAY) -> int:
    """What the goal tells of the day."""
    return sum(one["actual"] for one in await snapshots_of(client, goal_id, **{"from": day, "to": day}))


async def trade_on(client: httpx.AsyncClient, account_id: int, day: str = DAY) -> int:
    times = dict.fromkeys(("opened_at", "closed_at"), f"{day}T15:00:00Z")
    return int((await create_trade(client, account_id, **times))["id"])


async def set_status(client: httpx.AsyncClient, goal_id: int, status: str) -> None:
    unwrap(await client.patch(f"/goals/{goal_id}", json={"status": status}))


async def marks_in(app: Starlette) -> list[tuple[int, str]]:
    return [tuple(row) for row in await run_sql(app, "SELECT sequence, trading_day FROM changes ORDER BY 1")]


# Again --------------------------------------------------------------------------------------------------


async def test_a_day_is_marked_again_although_no_goal_has_seen_its_mark(
    app: Starlette, client: httpx.AsyncClient, account_id: int
) -> None:
    """A goal may just be computed, and will say that it has seen the first mark."""
    await goal_of(client, account_id)
    await trade_on(client, account_id)
    ((first, day),) = await marks_in(app)

    await trade_on(client, account_id)

    ((second, same_day),) = await marks_in(app)
    assert second > first
    assert same_day == day


async def test_an_import_marks_each_of_its_days_once(
    app: Starlette, client: httpx.AsyncClient, account_id: int
) -> None:
    other_day = ROW.replace(DAY, "2026-01-06")

    await create_import(client, FILE + (ROW + other_day) * 5, account_id=account_id)

    assert await marks_in(app) == [(1, DAY), (2, "2026-01-06")]


# Needed -------------------------------------------------------------------------------------------------


async def test_a_mark_that_one_goal_has_seen_and_another_has_not_reaches_both(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first, second = [await goal_of(client, account_id) for _ in range(2)]
    await counted(client, first)
    await counted(client, second)
    await trade_on(client, account_id)
    await counted(client, second)

    await trade_on(client, account_id)

    assert [await counted(client, goal_id) for goal_id in (second, first)] == [2, 2]


async def test_a_goal_that_saw_less_than_a_deleted_one_still_sees_the_day(
    client: httpx.AsyncClient, account_id: int
) -> None:
    behind, ahead = [await goal_of(client, account_id) for _ in range(2)]
    await counted(client, behind)
    await trade_on(client, account_id)
    await counted(client, ahead)
    await client.delete(f"/goals/{ahead}")

    await trade_on(client, account_id)

    assert await counted(client, behind) == 2


async def test_a_goal_that_is_built_anew_counts_what_was_not_marked_again(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await trade_on(client, account_id)
    goal_id = await goal_of(client, account_id)
    await trade_on(client, account_id)
    new = await counted(client, goal_id)
    unwrap(await client.patch(f"/goals/{goal_id}", json={"direction": "at_most"}))

    for _ in range(2):
        await trade_on(client, account_id)

    assert (new, await counted(client, goal_id)) == (2, 4)


async def test_a_goal_that_was_paused_sees_the_day_when_it_is_active_again(
    client: httpx.AsyncClient, account_id: int
) -> None:
    paused, other = [await goal_of(client, account_id) for _ in range(2)]
    await trade_on(client, account_id)
    await set_status(client, paused, "paused")

    await trade_on(client, account_id)
    told = [await counted(client, goal_id) for goal_id in (paused, other)]
    await set_status(client, paused, "active")

    assert told == [1, 2]
    assert await counted(client, paused) == 2


async def test_goals_of_another_user_hide_no_change(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient, account_id: int
) -> None:
    theirs = (await create_account(other_user_client))["id"]
    goal_id, their_goal = await goal_of(client, account_id), await goal_of(other_user_client, theirs)
    told = []
    for _ in range(3):
        await trade_on(client, account_id)
        told.append(await counted(other_user_client, their_goal))
        await trade_on(client, account_id)
        await trade_on(other_user_client, theirs)
        told.append(await counted(client, goal_id))

    assert told == [0, 2, 1, 4, 2, 6]


async def test_a_mark_that_was_rolled_back_is_made_by_the_next_change(
    client: httpx.AsyncClient, account_id: int
) -> None:
    goal_id = await goal_of(client, account_id)
    await counted(client, goal_id)
    refused = await send_file(client, FILE + ROW + WRONG, account_id)

    await trade_on(client, account_id)

    assert refused.status_code == 400
    assert await counted(client, goal_id) == 1


async def test_an_import_that_was_seen_and_is_taken_back_is_seen_to_be_gone(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first, second = [await goal_of(client, account_id) for _ in range(2)]
    await counted(client, first)
    report = await create_import(client, FILE + ROW * 3, account_id=account_id)
    await counted(client, second)

    await client.delete(f"/imports/{report['id']}")

    assert [await counted(client, goal_id) for goal_id in (first, second)] == [0, 0]


# Whatever happens ---------------------------------------------------------------------------------------

DAYS = (DAY, "2026-01-06")


class Step(NamedTuple):
    """What happens next: by which of two users, on which day, to which of the user's goals."""

    what: str
    user: int
    day: str
    which: int


STEPS = st.builds(
    Step,
    what=st.sampled_from(
        ["trade", "read", "pause", "activate"] * 3 + ["create", "create", "delete", "retarget", "redefine"]
    ),
    user=st.sampled_from([0, 0, 0, 1]),
    day=st.sampled_from([DAY, *DAYS]),
    which=st.integers(0, 1),
)


class Trader:
    """A user, the trades of one account by day, and what each goal is to tell: None for what there is now."""

    def __init__(self, client: httpx.AsyncClient, account_id: int) -> None:
        self.client, self.account_id = client, account_id
        self.trades = dict.fromkeys(DAYS, 0)
        self.goals: dict[int, dict[str, int] | None] = {}

    async def do(self, step: Step) -> None:
        if step.what == "create":
            self.goals[await goal_of(self.client, self.account_id)] = None
        elif step.what == "trade":
            await trade_on(self.client, self.account_id, step.day)
            self.trades[step.day] += 1
        elif self.goals:
            await self.do_to(list(self.goals)[step.which % len(self.goals)], step.what)

    async def do_to(self, goal_id: int, what: str) -> None:
        if what == "read":
            await self.check(goal_id)
        elif what == "delete":
            del self.goals[goal_id]
            await self.client.delete(f"/goals/{goal_id}")
        elif what == "pause":
            self.goals[goal_id] = self.goals[goal_id] or dict(self.trades)
            await set_status(self.client, goal_id, "paused")
        elif what == "activate":
            self.goals[goal_id] = None
            await set_status(self.client, goal_id, "active")
        elif what == "retarget":
            unwrap(await self.client.patch(f"/goals/{goal_id}", json={"target_value": goal_id + 1}))
        else:
            for direction in ("at_most", "at_least"):
                unwrap(await self.client.patch(f"/goals/{goal_id}", json={"direction": direction}))

    async def check(self, goal_id: int) -> None:
        told = {day: await counted(self.client, goal_id, day) for day in DAYS}
        assert told == (self.goals[goal_id] or dict(self.trades))


@given(steps=st.lists(STEPS, min_size=8, max_size=30))
@max_examples(full=60, ci=12)
async def test_every_goal_tells_what_is_there_whoever_reads_pauses_or_deletes_goals_in_between(
    app: Starlette, steps: list[Step]
) -> None:
    await run_sql(app, "DELETE FROM goals")
    traders = []
    for _ in range(2):
        (number,) = await run_sql(app, "SELECT count(*) FROM users")
        user_id = await insert_user(app, f"trader {number[0]}")
        client = client_of(app, await new_key_for(app, user_id))
        traders.append(Trader(client, (await create_account(client))["id"]))

    for step in steps:
        await traders[step.user].do(step)
    for trader in traders:
        for goal_id in trader.goals:
            await trader.check(goal_id)
        await trader.client.aclose()


# Imports ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 99, 100, 101, 650])
async def test_an_import_of_any_size_records_each_of_its_days_once(
    app: Starlette, client: httpx.AsyncClient, account_id: int, rows: int
) -> None:
    goal_id = await goal_of(client, account_id)
    days = ["2026-01-05", "2026-01-06"]
    assert [await counted(client, goal_id, day) for day in days] == [0, 0]
    other_day = ROW.replace("2026-01-05", "2026-01-06")

    await create_import(client, FILE + ROW * rows + other_day, account_id=account_id)

    assert sorted(day for _, day in await marks_in(app)) == days
    assert [await counted(client, goal_id, day) for day in days] == [rows, 1]


async def test_a_row_that_is_still_open_has_no_day(
    app: Starlette, client: httpx.AsyncClient, account_id: int
) -> None:
    file = FILE + ROW.replace("101,", ",").replace("2026-01-05T15:00:00Z", "")

    await create_import(client, file, account_id=account_id)

    assert await marks_in(app) == []
