"""Objects with sensible values, for tests that need one and do not care which."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import httpx

Kind = Literal["account", "copy_group", "tag_category", "tag", "strategy", "goal", "trade"]
PATHS: dict[Kind, str] = {
    "account": "/accounts",
    "copy_group": "/copy-groups",
    "tag_category": "/tag-categories",
    "tag": "/tags",
    "strategy": "/strategies",
    "goal": "/goals",
    "trade": "/trades",
}
# What an object belongs to: the member, and its kind.
PARENTS: dict[Kind, tuple[str, Kind]] = {"tag": ("category_id", "tag_category"), "trade": ("account_id", "account")}
SETUP = {"name": "Break of the high", "confirmations": [{"name": "Volume"}, {"name": "At a level"}]}


def create(client: httpx.Client, kind: Kind, numbers: Iterator[int], fields: dict[str, Any]) -> Any:
    """POST an object with sensible fields, its parent created if there is none. Raises httpx.HTTPStatusError."""
    if kind not in PATHS:
        raise ValueError(f"cannot create {kind!r}, but {', '.join(PATHS)}")
    member, parent = PARENTS.get(kind, ("", kind))
    if member and member not in fields:
        stored = unwrap(client.get(PATHS[parent])) or [create(client, parent, numbers, {})]
        fields = {**fields, member: stored[0]["id"]}
    return unwrap(client.post(PATHS[kind], json={**build(kind, next(numbers)), **fields}))


def unwrap(response: httpx.Response) -> Any:
    """The one thing in `data`. Raises httpx.HTTPStatusError with the message of the journal."""
    if response.is_error:
        error, request = response.json()["error"], response.request
        message = f"{request.method} {request.url.path}: {response.status_code} {error['code']}: {error['message']}"
        raise httpx.HTTPStatusError(message, request=request, response=response)
    (thing,) = response.json()["data"].values()
    return thing


def build(kind: Kind, number: int) -> dict[str, Any]:
    """The body of a request that creates an object, but for its parent."""
    name = f"{kind.replace('_', ' ').capitalize()} {number}"
    if kind == "trade":
        return build_trade()
    if kind == "goal":
        return {"goal_name": name, "metric": "net_pnl", "target_value": 500}
    return {"name": name, **({"setups": [SETUP]} if kind == "strategy" else {})}


def build_trade() -> dict[str, Any]:
    """A trade that was closed just now, so that it counts today, and earned 20 USD."""
    now = datetime.now(UTC)
    return {
        "symbol": "MNQ",
        "direction": "long",
        "quantity": 1,
        "multiplier": 2,
        "entry_price": 20_000,
        "exit_price": 20_010,
        "opened_at": (now - timedelta(minutes=5)).isoformat(),
        "closed_at": now.isoformat(),
    }
