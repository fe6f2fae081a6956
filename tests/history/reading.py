"""Snapshots and reports as the service answers them, in the form that reference.py computes."""

import json
from fractions import Fraction
from typing import Any

import httpx
from factories import unwrap

from journal_api.structs.reports import REPORTED


def exact(response: httpx.Response) -> Any:
    """The body, its decimals as fractions."""
    unwrap(response)
    return json.loads(response.text, parse_float=Fraction)


async def read_snapshots(client: httpx.AsyncClient, goal_id: int) -> list[Any]:
    """All snapshots of the goal, newest first."""
    answer = exact(await client.get(f"/goals/{goal_id}/snapshots?limit=365"))
    snapshots = [comparable(one, goal_id) for one in answer["data"]["snapshots"]]
    assert answer["meta"]["pagination"]["total"] == len(snapshots)
    return snapshots


def comparable(snapshot: dict[str, Any], goal_id: int) -> dict[str, Any]:
    assert snapshot.pop("goal_id") == goal_id
    del snapshot["computed_at"]
    return snapshot


async def read_report(client: httpx.AsyncClient, group_by: str, **query: Any) -> Any:
    """The total and all groups with all metrics, without names, the key of a confirmation its id."""
    groups: list[Any] = []
    total = None
    while total is None or len(groups) < total:
        sent = {
            **query,
            "group_by": group_by,
            "metrics": ",".join(REPORTED),
            "offset": len(groups),
            "limit": 30,
        }
        answer = exact(await client.get("/reports", params=sent))
        report, total = answer["data"]["report"], answer["meta"]["pagination"]["total"]
        groups += report["groups"]
    for group in [report["total"], *groups]:
        for name in {"name", "setup", "strategy"} & group.keys():
            del group[name]
    del report["total"]["key"]
    if group_by == "confirmation":
        for group in groups:
            group["key"] = group["key"] and group["key"]["confirmation_id"]
        groups.sort(key=lambda group: (group["key"] is None, group["key"]))
    return {"total": report["total"], "groups": groups}
