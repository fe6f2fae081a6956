"""A journal on Wednesday, 15 April 2026, and short forms of what is written to it and read from it.

`read_snapshots` and `read_report` read what reference.py computes, in the same form.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction
from typing import Any

import httpx
import time_machine
from factories import Client, create_goal, insert_account, insert_trade, snapshots_of, unwrap
from starlette.applications import Starlette

from journal_api.structs.reports import REPORTED

TODAY = "2026-04-15T12:00:00Z"
JANUARY = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-01-31"}


class Desk:
    """Its time stands still until it is moved."""

    def __init__(self, app: Starlette, client: Client, clock: time_machine.Traveller) -> None:
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
def desk_of(app: Starlette, client: Client, moment: str = TODAY) -> Iterator[Desk]:
    with time_machine.travel(datetime.fromisoformat(moment), tick=False) as clock:
        yield Desk(app, client, clock)


# In the form of reference.py -------------------------------------------------------------------------------


def exact(response: httpx.Response) -> Any:
    """The body, its decimals as fractions."""
    assert response.is_success, response.text
    return json.loads(response.text, parse_float=Fraction)


async def read_snapshots(client: Client, goal_id: int) -> list[Any]:
    """All snapshots of the goal, newest first."""
    answer = exact(await client.get(f"/goals/{goal_id}/snapshots?limit=365"))
    snapshots = [comparable(one, goal_id) for one in answer["data"]["snapshots"]]
    assert answer["meta"]["pagination"]["total"] == len(snapshots)
    return snapshots


def comparable(snapshot: dict[str, Any], goal_id: int) -> dict[str, Any]:
    assert snapshot.pop("goal_id") == goal_id
    del snapshot["computed_at"]
    snapshot["snapshot_data"].pop("pace", None)
    return snapshot


async def read_report(client: Client, group_by: str, **query: Any) -> Any:
    """The total and all groups without names, the key of a confirmation its id.

    With all metrics, unless the query names some.
    """
    groups: list[Any] = []
    total = None
    while total is None or len(groups) < total:
        sent = {"group_by": group_by, "metrics": ",".join(REPORTED), **query, "offset": len(groups), "limit": 30}
        answer = exact(await client.get("/reports", params=sent))
        report, total = answer["data"]["report"], answer["meta"]["pagination"]["total"]
        groups += report["groups"]
    for group in [report["total"], *groups]:
        for name in {"name", "names", "setup", "strategy"} & group.keys():
            del group[name]
        for edge in (group[name] for name in ("edge", "edge_r") if name in group):
            if edge["moves_with"]:
                assert edge["moves_with"].pop("name")
    del report["total"]["key"]
    for group in groups:
        if "key" in group:
            group["key"] = find_id(group["key"])
        else:
            group["keys"] = [find_id(key) for key in group["keys"]]
    shape = {"distribution": report["distribution"]} if "distribution" in report else {}
    return {"total": report["total"], "groups": groups, **shape}


def find_id(key: Any) -> Any:
    """The key of a group, of a confirmation its id."""
    return key["confirmation_id"] if isinstance(key, dict) else key
