"""The changes that triggers record (DECISIONS 24): each goal finds those that it has not seen yet."""

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

DAYS = ("2026-01-05", "2026-01-06")
FILE = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at\n"
ROW = "ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z\n"
OTHER_DAY = ROW.replace("01-05", "01-06")
OPEN = ROW.replace("101,", ",").replace("2026-01-05T15:00:00Z", "")
WRONG = ROW.replace("long", "sideways")


async def create_counter(client: httpx.AsyncClient, account_id: int) -> int:
    """A goal that counts the trades of the account by day."""
    goal = await create_goal(client, metric="trade_count", timeframe="daily", account_id=account_id)
    return int(goal["id"])


async def read_counts(client: httpx.AsyncClient, goal_id: int) -> list[int]:
    """The trades of both days."""
    snapshots = await snapshots_of(client, goal_id, **{"from": DAYS[0], "to": DAYS[1]})
    counts = {one["period_start"]: one["actual"] for one in snapshots}
    return [counts.get(day, 0) for day in DAYS]


async def add_trade(client: httpx.AsyncClient, account_id: int, day: str = DAYS[0]) -> None:
    await create_trade(client, account_id, **dict.fromkeys(("opened_at", "closed_at"), f"{day}T15:00:00Z"))


async def read_changes(app: Starlette) -> list[tuple[int, str]]:
    return [tuple(row) for row in await run_sql(app, "SELECT sequence, trading_day FROM changes ORDER BY 1")]


async def test_a_day_is_recorded_again_although_no_goal_has_seen_its_change(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    """A goal may just be computed, and will save a cursor that includes the first."""
    account = (await create_account(client))["id"]
    await add_trade(client, account)
    ((first, _),) = await read_changes(app)

    await add_trade(client, account)

    ((second, day),) = await read_changes(app)
    assert (second > first, day) == (True, DAYS[0])


@pytest.mark.parametrize("rows", [1, 100, 650])
async def test_an_import_records_each_of_its_days_once_and_its_undo_is_seen(
    app: Starlette, client: httpx.AsyncClient, rows: int
) -> None:
    account = (await create_account(client))["id"]
    goal = await create_counter(client, account)
    assert await read_counts(client, goal) == [0, 0]

    report = await create_import(client, FILE + ROW * rows + OTHER_DAY + OPEN, account_id=account)

    assert await read_changes(app) == [(1, DAYS[0]), (2, DAYS[1])]
    assert await read_counts(client, goal) == [rows, 1]
    assert (await client.delete(f"/imports/{report['id']}")).status_code == 204
    assert await read_counts(client, goal) == [0, 0]


async def test_a_change_that_was_rolled_back_is_recorded_by_the_next(client: httpx.AsyncClient) -> None:
    account = (await create_account(client))["id"]
    goal = await create_counter(client, account)
    await read_counts(client, goal)
    refused = await send_file(client, FILE + ROW + WRONG, account)

    await add_trade(client, account)

    assert refused.status_code == 400
    assert await read_counts(client, goal) == [1, 0]


# Whatever happens ----------------------------------------------------------------------------------------


class Step(NamedTuple):
    """What happens next: by which of two users, on which day, to which of the user's goals."""

    what: str
    user: int
    day: int
    which: int


WHAT = ["trade", "read", "pause", "activate"] * 3 + ["create", "create", "delete", "retarget", "redefine"]
STEPS = st.builds(
    Step,
    what=st.sampled_from(WHAT),
    user=st.sampled_from([0, 0, 0, 1]),
    day=st.sampled_from([0, 0, 1]),
    which=st.integers(0, 1),
)


class Trader:
    """A user with one account: its trades by day, and what each goal shows, None for what there is now."""

    def __init__(self, client: httpx.AsyncClient, account_id: int) -> None:
        self.client, self.account_id = client, account_id
        self.trades = [0, 0]
        self.goals: dict[int, list[int] | None] = {}

    async def do(self, step: Step) -> None:
        if step.what == "create":
            self.goals[await create_counter(self.client, self.account_id)] = None
        elif step.what == "trade":
            await add_trade(self.client, self.account_id, DAYS[step.day])
            self.trades[step.day] += 1
        elif self.goals:
            await self.do_to(list(self.goals)[step.which % len(self.goals)], step.what)

    async def do_to(self, goal_id: int, what: str) -> None:
        if what == "read":
            await self.check(goal_id)
        elif what == "delete":
            del self.goals[goal_id]
            await self.client.delete(f"/goals/{goal_id}")
        elif what in ("pause", "activate"):
            self.goals[goal_id] = (self.goals[goal_id] or [*self.trades]) if what == "pause" else None
            await self.patch(goal_id, status="paused" if what == "pause" else "active")
        elif what == "retarget":
            await self.patch(goal_id, target_value=goal_id + 1)
        else:
            for direction in ("at_most", "at_least"):
                await self.patch(goal_id, direction=direction)
            self.goals[goal_id] = self.goals[goal_id] and [*self.trades]

    async def patch(self, goal_id: int, **fields: str | int) -> None:
        unwrap(await self.client.patch(f"/goals/{goal_id}", json=fields))

    async def check(self, goal_id: int) -> None:
        assert await read_counts(self.client, goal_id) == (self.goals[goal_id] or self.trades)


@given(steps=st.lists(STEPS, min_size=8, max_size=30))
@max_examples(full=60, ci=12)
async def test_every_goal_shows_what_is_there_whoever_reads_pauses_or_deletes_goals_in_between(
    app: Starlette, steps: list[Step]
) -> None:
    await run_sql(app, "DELETE FROM goals")
    traders = []
    for _ in range(2):
        ((number,),) = await run_sql(app, "SELECT count(*) FROM users")
        user_id = await insert_user(app, f"trader {number}")
        client = client_of(app, await new_key_for(app, user_id))
        traders.append(Trader(client, (await create_account(client))["id"]))

    for step in steps:
        await traders[step.user].do(step)
    for trader in traders:
        for goal_id in trader.goals:
            await trader.check(goal_id)
        await trader.client.aclose()
