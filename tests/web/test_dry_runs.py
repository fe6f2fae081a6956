"""Dry runs, and what a write takes along: docs/api.md#dry-runs."""

from datetime import UTC, datetime
from typing import Any

import time_machine
from factories import Client, create_import, create_strategy, create_tag, create_trade, error_of, unwrap
from operations import CHANGES, body_of, create_needs, dump, everything, file_of, for_each, path_of
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.web.operation import Operation

DRY = {"dry_run": "true"}
# The dry run of an import returns 200 with the report of what it would do (docs/imports.md).
WRITES = [one for one in OPERATIONS if one.method != "GET" and one.name != "create_import"]


@for_each(WRITES, rewind=True)
async def test_a_dry_run_answers_like_the_real_request_and_keeps_nothing(
    app: Starlette, client: Client, one_of_each: dict[str, Any], operation: Operation
) -> None:
    await create_needs(client, operation)
    path = path_of(operation, one_of_each.get(path_of(operation).split("/")[1]))
    body = CHANGES.get(operation.name, body_of(operation))
    sent: dict[str, Any] = file_of(operation) if operation.consumes_picture else {"json": body}
    key = {"Idempotency-Key": "for-the-real-request"} if operation.method == "POST" else {}
    sent["headers"] = {**sent.get("headers", {}), **key, "X-Request-Id": "always-the-same"}
    before = dump(app)

    with time_machine.travel(datetime.now(UTC), tick=False):
        tried = [await client.request(operation.method, path, params=DRY, **sent) for _ in range(2)]
        after_dry_runs = dump(app)
        done = await client.request(operation.method, path, **sent)

    assert done.is_success, done.text
    assert after_dry_runs == before
    assert [everything(response) for response in tried] == [everything(done)] * 2
    assert dump(app) != before


async def test_a_dry_run_is_refused_like_the_real_request(client: Client) -> None:
    tag, trade = await create_tag(client), await create_trade(client)
    strategy, other = await create_strategy(client), await create_strategy(client, "Other")

    refused = [
        await client.delete(f"/tag-categories/{tag['category_id']}", params=DRY),
        await client.delete(f"/accounts/{trade['account_id']}", params=DRY),
        await client.patch(f"/strategies/{strategy['id']}", params=DRY, json={"name": other["name"]}),
        await client.delete(f"/tags/{tag['id']}", params=DRY, headers={"If-Match": '"stale"'}),
        await client.delete(f"/tags/{tag['id']}", params={"dry_run": "maybe"}),
    ]

    assert [error_of(response) for response in refused] == [
        (409, "category_has_tags"),
        (409, "account_has_trades"),
        (409, "duplicate_name"),
        (412, "precondition_failed"),
        (400, "validation_error"),
    ]


async def test_a_dry_run_of_an_undo_keeps_the_trades(client: Client) -> None:
    done = await create_import(client)
    (trade,) = unwrap(await client.get("/trades"))
    await client.patch(f"/trades/{trade['id']}", json={"notes": "Edited"})

    tried = await client.delete(f"/imports/{done['id']}", params={**DRY, "keep": "true"})
    forced = await client.delete(f"/imports/{done['id']}", params={**DRY, "force": "true"})

    assert tried.headers["x-trades-kept"] == str(trade["id"])
    assert "x-trades-kept" not in forced.headers
    assert unwrap(await client.get(f"/trades/{trade['id']}"))["notes"] == "Edited"
