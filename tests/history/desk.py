"""A journal on Wednesday, 15 April 2026, and short forms of what is written to it and read from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import httpx
import time_machine
from factories import create_goal, insert_account, insert_trade, snapshots_of, unwrap
from starlette.applications import Starlette

TODAY = "2026-04-15T12:00:00Z"
JANUARY = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-01-31"}


class Desk:
    """Its time stands still until it is moved."""

    def __init__(self, app: Starlette, client: httpx.AsyncClient, clock: time_machine.Traveller) -> None:
        self.app, self.client, self.clock = app, client, clock

    def move(self, moment: str) -> None:
        self.clock.move_to(datetime.fromisoformat(moment))

    async def account(self, name: str = "Sim", balance: int = 0) -> int:
        return await insert_account(self.app, name, starting_balance=balance)

    async def trade(self, account: int, moment: str = "01-05", pnl: float = 0, **fields: Any) -> int:
        """The id of a new trade that closed in 2026, at noon unless the moment says otherwise."""
        day, _, time = moment.partition(" ")
        closed_at = f"2026-{day}T{time or '12:00:00'}Z"
        return await insert_trade(self.app, account, closed_at=closed_at, gross_pnl=pnl, **fields)

    async def goal(self, **fields: Any) -> Any:
        return await create_goal(self.client, **fields)

    async def patch(self, path: str, **fields: Any) -> Any:
        return unwrap(await self.client.patch(path, json=fields))

    async def patch_goal(self, goal: Any, **fields: Any) -> Any:
        return await self.patch(f"/goals/{goal['id']}", **fields)

    async def read(self, goal: Any, **query: Any) -> list[Any]:
        """The snapshots, oldest first."""
        return list(reversed(await snapshots_of(self.client, goal["id"], **query)))

    async def values(self, goal: Any) -> list[Any]:
        """Of each period, oldest first, the value or the reason why there is none."""
        return [value_of(one) for one in await self.read(goal)]

    async def by_start(self, goal: Any, member: str = "actual") -> list[tuple[str, Any]]:
        """Month and day of each period, oldest first, and that member of its snapshot."""
        return [(one["period_start"][5:], one[member]) for one in await self.read(goal)]

    async def pace(self, goal: Any) -> Any:
        """The pace in the newest snapshot, None without one."""
        return (await self.read(goal))[-1]["snapshot_data"].get("pace")


def value_of(snapshot: Any) -> Any:
    return snapshot["snapshot_data"]["reason"] or snapshot["actual"]


@contextmanager
def desk_of(app: Starlette, client: httpx.AsyncClient, moment: str = TODAY) -> Iterator[Desk]:
    with time_machine.travel(datetime.fromisoformat(moment), tick=False) as clock:
        yield Desk(app, client, clock)
