"""ETag, If-Match and If-None-Match on single strategies, goals and trades."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from make import error_of, make_goal, make_strategy, make_tag, post_trade, unwrap

Make = Callable[[httpx.AsyncClient], Awaitable[Any]]
TAGGED = [
    pytest.param("strategies", make_strategy, {"name": "Other"}, id="strategy"),
    pytest.param("goals", make_goal, {"goal_name": "Other"}, id="goal"),
    pytest.param("trades", post_trade, {"notes": "other"}, id="trade"),
]
every_tagged = pytest.mark.parametrize(("kind", "make", "patch"), TAGGED)


async def etag_of(client: httpx.AsyncClient, path: str) -> str:
    return str((await client.get(path)).headers["etag"])


@every_tagged
async def test_the_etag_stays_until_the_object_changes(
    client: httpx.AsyncClient, kind: str, make: Make, patch: dict[str, Any]
) -> None:
    path = f"/{kind}/{(await make(client))['id']}"
    before = await etag_of(client, path)

    same = await client.patch(path, json={})
    other = await client.patch(path, json=patch)

    assert same.headers["etag"] == before
    assert other.headers["etag"] == await etag_of(client, path) != before


@every_tagged
async def test_a_new_object_comes_with_its_etag(
    client: httpx.AsyncClient, kind: str, make: Make, patch: dict[str, Any]
) -> None:
    sent: list[httpx.Response] = []
    client.event_hooks["response"].append(lambda response: keep(sent, response))

    made = await make(client)

    created = next(one for one in reversed(sent) if one.request.method == "POST")
    assert created.headers["etag"] == await etag_of(client, f"/{kind}/{made['id']}")


async def keep(sent: list[httpx.Response], response: httpx.Response) -> None:
    sent.append(response)


@every_tagged
@pytest.mark.parametrize("form", ["{}", "W/{}", '"0123456789abcdef", {}', "*"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_what_the_client_has_is_not_sent_again(
    client: httpx.AsyncClient, kind: str, make: Make, patch: dict[str, Any], form: str, method: str
) -> None:
    path = f"/{kind}/{(await make(client))['id']}"
    tag = await etag_of(client, path)

    answer = await client.request(method, path, headers={"If-None-Match": form.format(tag)})

    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)


@every_tagged
async def test_what_has_changed_is_sent(
    client: httpx.AsyncClient, kind: str, make: Make, patch: dict[str, Any]
) -> None:
    path = f"/{kind}/{(await make(client))['id']}"
    tag = await etag_of(client, path)
    await client.patch(path, json=patch)

    answer = await client.get(path, headers={"If-None-Match": tag})

    assert answer.status_code == 200
    assert unwrap(answer) == unwrap(await client.get(path))


@every_tagged
@pytest.mark.parametrize("form", ["{}", '"0123456789abcdef",{}', "*"])
async def test_a_write_goes_through_while_the_object_is_as_it_was_read(
    client: httpx.AsyncClient, kind: str, make: Make, patch: dict[str, Any], form: str
) -> None:
    path = f"/{kind}/{(await make(client))['id']}"
    tag = await etag_of(client, path)

    patched = await client.patch(path, json=patch, headers={"If-Match": form.format(tag)})
    deleted = await client.delete(path, headers={"If-Match": form.format(patched.headers["etag"])})

    assert (patched.status_code, deleted.status_code) == (200, 204)


@every_tagged
@pytest.mark.parametrize("stale", ['"0123456789abcdef"', "W/{}", "", "nonsense", '""'])
async def test_a_write_on_what_was_read_before_a_change_is_412_and_changes_nothing(
    client: httpx.AsyncClient, kind: str, make: Make, patch: dict[str, Any], stale: str
) -> None:
    path = f"/{kind}/{(await make(client))['id']}"
    stored = await client.get(path)
    headers = {"If-Match": stale.format(stored.headers["etag"])}

    refused = [
        await client.patch(path, json=patch, headers=headers),
        await client.delete(path, headers=headers),
    ]

    assert [error_of(one) for one in refused] == [(412, "precondition_failed")] * 2
    assert unwrap(await client.get(path)) == unwrap(stored)


async def test_the_tags_and_answers_of_a_trade_are_held_to_its_etag(client: httpx.AsyncClient) -> None:
    path = f"/trades/{(await post_trade(client))['id']}"
    tag_id = (await make_tag(client))["id"]
    old = await etag_of(client, path)

    tagged = await client.put(f"{path}/tags", json={"tag_ids": [tag_id]}, headers={"If-Match": old})
    stale = [
        await client.put(f"{path}/tags", json={"tag_ids": []}, headers={"If-Match": old}),
        await client.put(f"{path}/confirmations", json={"confirmations": []}, headers={"If-Match": old}),
    ]

    assert tagged.headers["etag"] == await etag_of(client, path)
    assert [error_of(one) for one in stale] == [(412, "precondition_failed")] * 2


@every_tagged
async def test_a_missing_object_is_404_whatever_is_to_match(
    client: httpx.AsyncClient, kind: str, make: Make, patch: dict[str, Any]
) -> None:
    missing = [
        await client.patch(f"/{kind}/99", json=patch, headers={"If-Match": "*"}),
        await client.get(f"/{kind}/99", headers={"If-None-Match": "*"}),
    ]

    assert [error_of(one) for one in missing] == [(404, "not_found")] * 2


async def test_the_etag_comes_before_the_rules(client: httpx.AsyncClient) -> None:
    await make_strategy(client, "Taken")
    mine = await make_strategy(client, "Mine")

    refused = await client.patch(
        f"/strategies/{mine['id']}", json={"name": "Taken"}, headers={"If-Match": '"0"'}
    )

    assert error_of(refused) == (412, "precondition_failed")
