"""An example journal for demonstrations and tests, created over HTTP.

It has two accounts, one of which copies the other, twenty trades from August to October 2026 with tags and
grades, a strategy with checklists, and four goals. In a new journal its ids are always the same.
"""

from typing import TYPE_CHECKING, Any

from journal_api.openapi.example_journal import (
    ACCOUNTS,
    COPIED,
    COPY_GROUP,
    GOALS,
    QUANTITY_OF_COPIES,
    STRATEGY,
    TAGS,
    TRADES,
    Row,
    trade_of,
)

if TYPE_CHECKING:  # httpx is not a dependency of the service
    import httpx


def seed(client: "httpx.Client") -> None:
    """Create the example in an empty journal. The base URL of `client` is /v1; its key has every scope.

    Raises httpx.HTTPStatusError if a request fails, such as for a name that exists.
    """
    main, copies = (send(client, "POST", "/accounts", account)["id"] for account in ACCOUNTS)
    create_copy_group(client, main, copies)
    tags = create_tags(client)
    setups = create_strategy(client)
    for trade_id, row in create_trades(client, main, copies, setups):
        if row.tags:
            send(client, "PUT", f"/trades/{trade_id}/tags", {"tag_ids": [tags[name] for name in row.tags]})
        if row.setup:
            answer_checklist(client, trade_id, setups[row.setup], row.checklist)
    for goal in GOALS:
        scope = {"account_id": main} if goal["metric"] == "balance_target" else {}
        send(client, "POST", "/goals", {**goal, **scope})


def create_copy_group(client: "httpx.Client", main: int, copies: int) -> None:
    """Create a group in which the second account copies the first with half the contracts."""
    group_id = send(client, "POST", "/copy-groups", COPY_GROUP)["id"]
    members = [
        {"account_id": main, "quantity_multiplier": 1},
        {"account_id": copies, "quantity_multiplier": QUANTITY_OF_COPIES},
    ]
    send(client, "PUT", f"/copy-groups/{group_id}/members", {"members": members})
    send(client, "PATCH", f"/copy-groups/{group_id}", {"master_account_id": main})


def create_tags(client: "httpx.Client") -> dict[str, int]:
    """Create the categories and tags; return the tags' ids by name."""
    ids = {}
    for category, tags in TAGS.items():
        category_id = send(client, "POST", "/tag-categories", {"name": category})["id"]
        for name, fields in tags.items():
            tag = {"name": name, "category_id": category_id, **fields}
            ids[name] = send(client, "POST", "/tags", tag)["id"]
    return ids


def create_strategy(client: "httpx.Client") -> dict[str, Any]:
    """Create the strategy; return the setups of the response by name."""
    created = send(client, "POST", "/strategies", STRATEGY)
    return {setup["name"]: setup for setup in created["setups"]}


def create_trades(
    client: "httpx.Client", main: int, copies: int, setups: dict[str, Any]
) -> list[tuple[int, Row]]:
    """Create all trades; return the id and the row of each trade of the main account."""
    setup_ids = {name: setup["setup_id"] for name, setup in setups.items()}
    originals = [trade_of(row, setup_ids) | {"account_id": main} for row in TRADES]
    ids = [trade["id"] for trade in send(client, "POST", "/trades/bulk", {"trades": originals})]
    trade_copies = [
        originals[index]
        | {
            "account_id": copies,
            "source_trade_id": ids[index],
            "quantity": originals[index]["quantity"] * QUANTITY_OF_COPIES,
            "fees": originals[index]["fees"] * QUANTITY_OF_COPIES,
        }
        for index in COPIED
    ]
    send(client, "POST", "/trades/bulk", {"trades": trade_copies})
    return list(zip(ids, TRADES, strict=True))


def answer_checklist(client: "httpx.Client", trade_id: int, setup: Any, checklist: str) -> None:
    """Answer the first confirmations of the setup, one for each letter; y means present."""
    answers = [
        {"confirmation_id": confirmation["confirmation_id"], "was_present": letter == "y"}
        for confirmation, letter in zip(setup["confirmations"], checklist, strict=False)
    ]
    send(client, "PUT", f"/trades/{trade_id}/confirmations", {"confirmations": answers})


def send(client: "httpx.Client", method: str, path: str, body: object) -> Any:
    """Send a request and return the single member of the response's `data`."""
    response = client.request(method, path, json=body)
    response.raise_for_status()
    (member,) = response.json()["data"].values()
    return member
