"""What it takes to call any operation of the route table."""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing, nullcontext
from typing import Any

import factories
import httpx
import msgspec
from factories import Client, unwrap
from pictures import PNG
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.web.operation import Operation

# One thing of each kind, by the first word of its path: a new resource with ids in its paths needs a line.
THINGS: dict[str, Callable[[Client], Awaitable[Any]]] = {
    "tag-categories": factories.create_category,
    "tags": factories.create_tag,
    "strategies": factories.create_strategy,
    "goals": factories.create_goal,
    "accounts": factories.create_account,
    "copy-groups": factories.create_copy_group,
    "trades": factories.create_trade,
    "imports": factories.create_import,
    "import-profiles": factories.create_import_profile,
    "instruments": factories.create_instrument,
    "keys": factories.create_key,
    "days": factories.write_day,
    "pictures": factories.create_picture,
    "example-journal": factories.create_example_journal,
}

# A body with what is required; an operation whose body requires something needs a line.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/tag-categories"): {"name": "New"},
    ("POST", "/tags"): {"name": "New", "category_id": 1},
    ("POST", "/strategies"): {"name": "New"},
    ("POST", "/goals"): {"goal_name": "New", "metric": "net_pnl", "target_value": 1},
    ("POST", "/accounts"): {"name": "New"},
    ("POST", "/accounts/{id}/cash"): factories.A_DEPOSIT,
    ("POST", "/accounts/{id}/checkpoints"): {**factories.A_CHECKPOINT, "day": "2025-12-31"},
    ("POST", "/copy-groups"): {"name": "New"},
    ("PUT", "/copy-groups/{id}/members"): {"members": []},
    ("POST", "/trades"): {"account_id": 1, **factories.A_TRADE},
    ("POST", "/trades/bulk"): {"trades": [{"account_id": 1, **factories.A_TRADE}]},
    ("PATCH", "/trades"): {"ids": [1]},
    ("DELETE", "/trades"): {"ids": [1]},
    ("PUT", "/trades/{id}/tags"): {"tag_ids": []},
    ("PUT", "/trades/{id}/confirmations"): {"confirmations": []},
    ("POST", "/trades/{id}/fills"): {"fills": [factories.A_FILL]},
    ("POST", "/trades/merge"): {"ids": [1, 2]},
    ("POST", "/import-profiles"): {**factories.A_PROFILE, "name": "New"},
    ("PUT", "/instruments/{root}"): {"point_value": 5},
}

# A body that changes something of what `create_one_of_each` makes, where the one of BODIES does not.
CHANGES: dict[str, dict[str, Any]] = {
    "create_strategy": {"name": "New", "setups": factories.three_by_three("new")},
    **{f"update_{kind}": {"name": "Changed"} for kind in ("tag_category", "tag", "account", "copy_group")},
    "update_strategy": {"name": "Changed", "setups": [{"name": "Another"}]},
    "update_goal": {"target_value": 5, "status": "paused"},
    "replace_members": {"members": [{"account_id": 1, "quantity_multiplier": 2}]},
    "update_trade": {"quantity": 2},
    "update_trades": {"ids": [1], "set": {"grade": "B"}},
    "update_fill": {"price": 99},
    "update_cash": {"amount": 99},
    "update_checkpoint": {"accepted": True},
    "update_day": {"review": "Waited."},
    "update_me": {"timezone": "Asia/Tokyo"},
    "update_picture": {"caption": "Changed"},
    "replace_answers": {"confirmations": [{"confirmation_id": 1, "was_present": True}]},
}

MISSING = 987_654_321


def for_each(operations: Iterable[Operation], rewind: bool = False) -> Callable[[Any], Any]:
    """Let one test, in one journal, do for each of the operations what the decorated one does for one.

    Without `rewind`, for what leaves the journal as it was, or does not depend on what is in it.
    """
    return for_rows("operation", operations, rewind, title)


def title(operation: Operation) -> str:
    return f"{operation.method} {documented_path_of(operation)}"


def everything(response: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    """All that a caller can see of a response."""
    return response.status_code, response.headers.multi_items(), response.content


def path_of(operation: Operation, row_id: object = MISSING) -> str:
    """Its path below the base address, with that id in it; a fill is the exit of the trade.

    What is below an account has the id of the account. Every day can be read, also one without a row.
    """
    day = row_id if isinstance(row_id, str) else "2199-12-31"
    path = operation.path.replace("{fill_id:row_id}", "2").replace("{date:day}", day)
    return re.sub(r"\{\w+:\w+\}", str(row_id), path).removeprefix("/v1")


def file_of(operation: Operation) -> dict[str, Any]:
    """The file that an operation takes, as arguments of a request."""
    headers = {"Content-Type": operation.consumes[0]}
    return {"content": PNG if operation.consumes_picture else factories.A_FILE, "headers": headers}


def choices_of(operation: Operation) -> dict[str, list[str]]:
    """The values of each member of its query that has a closed list of them."""
    fields = msgspec.structs.fields(operation.query)
    kinds = {field.encode_name: str(field.type) for field in fields if "Literal" in str(field.type)}
    return {name: re.findall(r"'([^']+)'", kind) for name, kind in kinds.items()}


def input_of(operation: Operation) -> dict[str, Any]:
    """A picture, or a body with what is required, as arguments of a request."""
    return file_of(operation) if operation.consumes_picture else {"json": body_of(operation)}


async def send(client: Client, operation: Operation, row_id: object = MISSING, **headers: str) -> httpx.Response:
    """The answer to what the operation requires, about the thing with that id; each header by its name with _ for -."""
    sent = input_of(operation)
    if operation.consumes_file and not operation.consumes_picture:
        sent = file_of(operation) | {"params": {"account_id": 1}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent["headers"] = {**sent.get("headers", {}), **named}
    return await client.request(operation.method, path_of(operation, row_id), **sent)


def documented_path_of(operation: Operation) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", operation.path).removeprefix("/v1")


def body_of(operation: Operation) -> dict[str, Any] | None:
    if operation.body is None:
        return None
    return BODIES.get((operation.method, documented_path_of(operation)), {})


async def create_thing_of(client: Client, operation: Operation) -> int | str:
    """The id of a new thing of the kind that the path names, the root of an instrument, or a day."""
    if operation.name in ("join_import", "split_import"):  # each in an account of its own
        account = await factories.create_account(client, operation.name)
        return int((await factories.create_import(client, account_id=account["id"]))["id"])
    if "/accounts/{id:row_id}/" in operation.path:
        return int((await factories.create_funded_account(client))["id"])
    thing = await THINGS[path_of(operation).split("/")[1]](client)
    if operation.name == "split_trade":
        await merge_with_another(client, thing)
    name = {"days": "date", "instruments": "root"}.get(path_of(operation).split("/")[1], "id")
    return thing[name]  # type: ignore[no-any-return]


async def merge_with_another(client: Client, trade: Any) -> None:
    """Merge the trade with a new one."""
    other = await factories.create_trade(client, trade["account_id"])
    unwrap(await client.post("/trades/merge", json={"ids": [trade["id"], other["id"]]}))


async def create_needs(client: Client, operation: Operation) -> None:
    """What an operation needs beyond `create_one_of_each`."""
    if operation.name == "delete_example_journal":
        await factories.create_example_journal(client)
    elif operation.name == "split_trade":
        await merge_with_another(client, {"id": 1, "account_id": 1})
    elif operation.name == "merge_trades":
        await factories.create_trade(client, 1)


async def create_one_of_each(client: Client) -> dict[str, Any]:
    """The id by the first word of the path; bound to each other where that does not forbid a deletion.

    Each has the id 1, but for a category, an account and an import that can be deleted.
    The example journal is not among them: its many rows would be in every dump.
    """
    tag, account = await factories.create_tag(client), await factories.create_account(client)
    setups = [{"name": "A", "confirmations": [{"name": "A"}]}]
    strategy = await factories.create_strategy(client, setups=setups)
    trade = await factories.create_trade(client, account["id"], setup_id=strategy["setups"][0]["setup_id"])
    unwrap(await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tag["id"]]}))
    return {
        "tags": tag["id"],
        "tag-categories": (await factories.create_category(client, "Empty"))["id"],
        "strategies": strategy["id"],
        "goals": (await factories.create_goal(client))["id"],
        "accounts": (await factories.create_funded_account(client, "Empty"))["id"],
        "copy-groups": (await factories.create_copy_group(client, account_ids=[account["id"]]))["id"],
        "trades": trade["id"],
        "imports": (await factories.create_import(client, account_id=account["id"]))["id"],
        "import-profiles": (await factories.create_import_profile(client))["id"],
        "instruments": (await factories.create_instrument(client))["root"],
        "keys": (await factories.create_key(client))["id"],
        "days": (await factories.write_day(client))["date"],
        "pictures": (await factories.create_picture(client))["id"],
        "me": 1,
    }


def dump(app: Starlette) -> dict[str, list[Any]]:
    """Every row of every table of the journal, by table; of the search its texts, not their index.

    The shared journal has a connection open: a new one reads the whole schema first.
    """
    opened = getattr(app.state, "opened", None)
    with nullcontext(opened) if opened else closing(sqlite3.connect(app.state.settings.db)) as db:
        tables = db.execute(
            """
            SELECT name
            FROM sqlite_schema
            WHERE type = 'table' AND name NOT LIKE 'search_index%'
            ORDER BY name
            """
        ).fetchall()
        return {name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for (name,) in tables}
