"""The tags and the checklist answers of a trade: docs/api.md#trading-record."""

from typing import Any

import httpx
import pytest
from factories import (
    create_goal,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    snapshots_of,
    unwrap,
)

INVALID = (400, "validation_error")
YEAR = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-12-31"}


@pytest.fixture
async def setups(client: httpx.AsyncClient) -> Any:
    """Two setups of one strategy: the first asks two questions, the second one."""
    strategy = await create_strategy(
        client,
        setups=[
            {"name": "Flag", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]},
            {"name": "Wedge", "confirmations": [{"name": "Divergence"}]},
        ],
    )
    return strategy["setups"]


def ids_of(setup: Any) -> list[int]:
    return [one["confirmation_id"] for one in setup["confirmations"]]


def answer(confirmation_id: int, was_present: bool = True, **fields: Any) -> dict[str, Any]:
    return {"confirmation_id": confirmation_id, "was_present": was_present, **fields}


async def get_trade(client: httpx.AsyncClient, trade: Any) -> Any:
    return unwrap(await client.get(f"/trades/{trade['id']}"))


async def insert_trade_tags(client: httpx.AsyncClient, trade: Any, *tag_ids: object) -> httpx.Response:
    return await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": tag_ids})


async def put_answers(client: httpx.AsyncClient, trade: Any, *answers: object) -> httpx.Response:
    return await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": answers})


async def three_tags(client: httpx.AsyncClient) -> list[int]:
    return [(await create_tag(client, name))["id"] for name in ("Fear", "anger", "Greed")]


async def actual_of(client: httpx.AsyncClient, goal: Any) -> Any:
    (snapshot,) = await snapshots_of(client, goal["id"])
    return snapshot["actual"]


# Tags ----------------------------------------------------------------------------------------------------


async def test_the_tags_of_a_trade_are_answered_as_ids_and_in_full(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client, "FOMO", type="mistake", color="#123456")
    trade = await create_trade(client)

    put = await insert_trade_tags(client, trade, tag["id"])

    assert put.status_code == 200
    tagged = unwrap(put)
    assert tagged["tag_ids"] == [tag["id"]]
    assert tagged["tags"] == [{"id": tag["id"], "name": "FOMO", "color": "#123456", "type": "mistake"}]
    assert {k: v for k, v in tagged.items() if k not in ("tag_ids", "tags", "updated_at")} == {
        k: v for k, v in trade.items() if k not in ("tag_ids", "tags", "updated_at")
    }
    assert await get_trade(client, trade) == tagged


async def test_the_tags_sent_replace_the_set(client: httpx.AsyncClient) -> None:
    fear, anger, greed = await three_tags(client)
    trade = await create_trade(client)
    other = await create_trade(client, trade["account_id"])
    unwrap(await insert_trade_tags(client, other, fear))
    unwrap(await insert_trade_tags(client, trade, fear, anger))

    tagged = unwrap(await insert_trade_tags(client, trade, greed, anger))
    (listed, _) = sorted(unwrap(await client.get("/trades")), key=lambda one: one["id"])

    assert sorted(tagged["tag_ids"]) == sorted(listed["tag_ids"]) == [anger, greed]
    assert [tag["name"] for tag in tagged["tags"]] == ["anger", "Greed"]
    assert (await get_trade(client, other))["tag_ids"] == [fear]


async def test_an_empty_set_clears_the_tags(client: httpx.AsyncClient) -> None:
    trade = await create_trade(client)
    unwrap(await insert_trade_tags(client, trade, *await three_tags(client)))

    cleared = unwrap(await insert_trade_tags(client, trade))

    assert (cleared["tag_ids"], cleared["tags"]) == ([], [])


async def test_every_tag_that_is_not_the_callers_is_named(
    client: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    mine, gone = (await create_tag(client, "Mine"))["id"], (await create_tag(client, "Gone"))["id"]
    await client.delete(f"/tags/{gone}")
    theirs = (await create_tag(stranger, "Theirs"))["id"]
    trade = unwrap(await insert_trade_tags(client, await create_trade(client), mine))

    refused = await insert_trade_tags(client, trade, theirs, mine, 987_654_321, gone)

    assert error_of(refused) == INVALID
    assert sorted(details_of(refused)["unknown_tag_ids"]) == sorted([theirs, 987_654_321, gone])
    assert await get_trade(client, trade) == trade


async def test_a_tag_sent_twice_is_on_the_trade_once(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)

    tagged = unwrap(await insert_trade_tags(client, await create_trade(client), tag["id"], tag["id"]))

    assert tagged["tag_ids"] == [tag["id"]]


async def test_the_same_tags_in_another_order_leave_updated_at(client: httpx.AsyncClient) -> None:
    tag_ids = await three_tags(client)
    tagged = unwrap(await insert_trade_tags(client, await create_trade(client), *tag_ids))

    again = unwrap(await insert_trade_tags(client, tagged, *reversed(tag_ids)))

    assert again == tagged


async def test_other_tags_move_updated_at(client: httpx.AsyncClient) -> None:
    fear, anger, _ = await three_tags(client)
    tagged = unwrap(await insert_trade_tags(client, await create_trade(client), fear))

    again = unwrap(await insert_trade_tags(client, tagged, anger))

    assert again["updated_at"] > tagged["updated_at"]


async def test_a_deleted_tag_disappears_from_every_trade(client: httpx.AsyncClient) -> None:
    fear, anger, _ = await three_tags(client)
    first = await create_trade(client)
    second = await create_trade(client, first["account_id"])
    unwrap(await insert_trade_tags(client, first, fear, anger))
    unwrap(await insert_trade_tags(client, second, fear))

    deleted = await client.delete(f"/tags/{fear}")

    assert deleted.status_code == 204
    assert {one["id"]: one["tag_ids"] for one in unwrap(await client.get("/trades"))} == {
        first["id"]: [anger],
        second["id"]: [],
    }
    assert [tag["id"] for tag in (await get_trade(client, first))["tags"]] == [anger]
    assert unwrap(await client.get("/trades", params={"tag_id": fear})) == []


async def test_a_renamed_tag_shows_its_new_name_on_the_trade(client: httpx.AsyncClient) -> None:
    tag = await create_tag(client)
    trade = unwrap(await insert_trade_tags(client, await create_trade(client), tag["id"]))

    await client.patch(f"/tags/{tag['id']}", json={"name": "Calm", "color": "#ffffff"})

    read = await get_trade(client, trade)
    assert read["tags"] == [{"id": tag["id"], "name": "Calm", "color": "#ffffff", "type": "custom"}]


async def test_a_goal_shows_mistakes_as_they_are_tagged_retyped_and_deleted(
    client: httpx.AsyncClient,
) -> None:
    mistake, custom = [await create_tag(client, kind, type=kind) for kind in ("mistake", "custom")]
    trade = await create_trade(client)
    goal = await create_goal(client, metric="mistake_free_rate", **YEAR)

    seen = [await actual_of(client, goal)]
    await insert_trade_tags(client, trade, custom["id"])
    seen.append(await actual_of(client, goal))
    await insert_trade_tags(client, trade, mistake["id"])
    seen.append(await actual_of(client, goal))
    await client.patch(f"/tags/{mistake['id']}", json={"type": "custom"})
    seen.append(await actual_of(client, goal))
    await client.patch(f"/tags/{mistake['id']}", json={"type": "mistake"})
    seen.append(await actual_of(client, goal))
    await client.delete(f"/tags/{mistake['id']}")
    seen.append(await actual_of(client, goal))

    assert seen == [100, 100, 0, 100, 0, 100]


# Answers -------------------------------------------------------------------------------------------------


async def test_answers_are_answered_with_the_name_of_their_question_in_checklist_order(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, trend = ids_of(setups[0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])

    put = await put_answers(client, trade, answer(trend, False, notes="Flat"), answer(volume))

    assert put.status_code == 200
    answered = unwrap(put)
    assert answered["confirmations"] == [
        {"confirmation_id": volume, "name": "Volume", "was_present": True, "notes": None},
        {"confirmation_id": trend, "name": "Trend", "was_present": False, "notes": "Flat"},
    ]
    assert await get_trade(client, trade) == answered


async def test_the_answers_sent_replace_the_set(client: httpx.AsyncClient, setups: Any) -> None:
    volume, trend = ids_of(setups[0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    unwrap(await put_answers(client, trade, answer(volume, notes="Thin"), answer(trend)))

    one = unwrap(await put_answers(client, trade, answer(volume, False)))
    none = unwrap(await put_answers(client, trade))

    assert one["confirmations"] == [
        {"confirmation_id": volume, "name": "Volume", "was_present": False, "notes": None}
    ]
    assert none["confirmations"] == []


async def test_every_confirmation_that_is_not_of_the_trades_setup_is_named(
    client: httpx.AsyncClient, stranger: httpx.AsyncClient, setups: Any
) -> None:
    volume, _ = ids_of(setups[0])
    (divergence,) = ids_of(setups[1])
    theirs = await create_strategy(stranger, setups=[{"name": "Flag", "confirmations": [{"name": "Volume"}]}])
    (foreign,) = ids_of(theirs["setups"][0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    trade = unwrap(await put_answers(client, trade, answer(volume)))

    refused = await put_answers(
        client, trade, answer(divergence), answer(volume, False), answer(foreign), answer(987_654_321)
    )

    assert error_of(refused) == INVALID
    offenders = details_of(refused)["unknown_confirmation_ids"]
    assert sorted(offenders) == sorted([divergence, foreign, 987_654_321])
    assert await get_trade(client, trade) == trade


async def test_a_trade_without_a_setup_has_no_questions(client: httpx.AsyncClient, setups: Any) -> None:
    volume, _ = ids_of(setups[0])
    (strategy,) = unwrap(await client.get("/strategies"))
    trade = await create_trade(client)
    for strategy_id in (None, strategy["id"]):
        trade = unwrap(await client.patch(f"/trades/{trade['id']}", json={"strategy_id": strategy_id}))

        refused = await put_answers(client, trade, answer(volume))

        assert error_of(refused) == INVALID
        assert details_of(refused)["unknown_confirmation_ids"] == [volume]
        assert unwrap(await put_answers(client, trade)) == trade


async def test_a_confirmation_that_is_answered_twice_is_refused_and_named(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, trend = ids_of(setups[0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])

    refused = await put_answers(client, trade, answer(volume), answer(trend), answer(volume, False))

    assert error_of(refused) == INVALID
    assert details_of(refused)["duplicate_confirmation_ids"] == [volume]
    assert await get_trade(client, trade) == trade


async def test_the_same_answers_in_another_order_leave_updated_at(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, trend = ids_of(setups[0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    answered = unwrap(await put_answers(client, trade, answer(volume, notes="Thin"), answer(trend, False)))

    again = unwrap(await put_answers(client, trade, answer(trend, False), answer(volume, notes="Thin")))

    assert again == answered


async def test_another_answer_moves_updated_at(client: httpx.AsyncClient, setups: Any) -> None:
    volume, _ = ids_of(setups[0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    before = unwrap(await put_answers(client, trade, answer(volume, notes="Thin")))
    for fields in ({"was_present": False, "notes": "Thin"}, {"notes": "Thick"}, {"notes": None}):
        after = unwrap(await put_answers(client, trade, {**answer(volume), **fields}))

        assert after["updated_at"] > before["updated_at"], fields
        before = after


async def test_a_trade_that_changes_its_setup_loses_the_old_answers(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, trend = ids_of(setups[0])
    other = await create_strategy(client, "Other")
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    changes = [{"setup_id": setups[1]["setup_id"]}, {"setup_id": None}]
    changes += [{"strategy_id": other["id"]}, {"strategy_id": None}]
    for patch in changes:
        unwrap(await put_answers(client, trade, answer(volume), answer(trend)))

        changed = unwrap(await client.patch(f"/trades/{trade['id']}", json=patch))
        back = unwrap(await client.patch(f"/trades/{trade['id']}", json={"setup_id": setups[0]["setup_id"]}))

        assert (changed["confirmations"], back["confirmations"]) == ([], []), patch


async def test_a_patch_to_the_same_setup_keeps_the_answers(client: httpx.AsyncClient, setups: Any) -> None:
    volume, _ = ids_of(setups[0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    answered = unwrap(await put_answers(client, trade, answer(volume)))
    same = {"setup_id": setups[0]["setup_id"], "strategy_id": answered["strategy_id"]}

    patched = unwrap(await client.patch(f"/trades/{trade['id']}", json=same))
    edited = unwrap(await client.patch(f"/trades/{trade['id']}", json={"notes": "new", "fees": 1}))

    assert patched == answered
    assert edited["confirmations"] == answered["confirmations"]


async def test_a_deleted_confirmation_takes_its_answers_and_an_edited_one_keeps_them(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, trend = ids_of(setups[0])
    (strategy,) = unwrap(await client.get("/strategies"))
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    unwrap(await put_answers(client, trade, answer(volume, notes="Thin"), answer(trend)))
    kept = {"confirmation_id": volume, "name": "Volume rises"}

    unwrap(
        await client.patch(
            f"/strategies/{strategy['id']}",
            json={"setups": [{"setup_id": setups[0]["setup_id"], "confirmations": [kept]}]},
        )
    )

    assert (await get_trade(client, trade))["confirmations"] == [
        {"confirmation_id": volume, "name": "Volume rises", "was_present": True, "notes": "Thin"}
    ]


@pytest.mark.parametrize("how", ["setup", "strategy"])
async def test_the_answers_go_with_the_setup_they_were_about(
    client: httpx.AsyncClient, setups: Any, how: str
) -> None:
    (strategy,) = unwrap(await client.get("/strategies"))
    path = f"/strategies/{strategy['id']}"
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    unwrap(await put_answers(client, trade, *(answer(one) for one in ids_of(setups[0]))))

    gone = await (client.delete(path) if how == "strategy" else client.patch(path, json={"setups": []}))

    assert gone.status_code in (200, 204)
    read = await get_trade(client, trade)
    assert (read["setup_id"], read["confirmations"]) == (None, [])


async def test_a_goal_shows_answers_as_they_are_given_changed_and_taken_back(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, trend = ids_of(setups[0])
    trade = await create_trade(client, setup_id=setups[0]["setup_id"])
    goal = await create_goal(client, metric="protocol_completion_rate", **YEAR)

    seen = [await actual_of(client, goal)]
    for answers in (
        [answer(volume)],
        [answer(volume), answer(trend)],
        [answer(volume), answer(trend, False)],
        [answer(volume), answer(trend, notes="Late")],
        [],
    ):
        unwrap(await put_answers(client, trade, *answers))
        seen.append(await actual_of(client, goal))

    assert seen == [0, 0, 100, 0, 100, 0]


async def test_a_goal_shows_a_checklist_that_grows_shrinks_or_is_left(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, _ = ids_of(setups[0])
    (strategy,) = unwrap(await client.get("/strategies"))
    setup_id = setups[0]["setup_id"]
    trade = await create_trade(client, setup_id=setup_id)
    unwrap(await put_answers(client, trade, answer(volume)))
    goal = await create_goal(client, metric="protocol_completion_rate", **YEAR)
    seen = [await actual_of(client, goal)]

    for confirmations in ([volume], [volume, None], []):
        items = [{"confirmation_id": one} if one else {"name": "News"} for one in confirmations]
        sent = {"setups": [{"setup_id": setup_id, "confirmations": items}]}
        unwrap(await client.patch(f"/strategies/{strategy['id']}", json=sent))
        seen.append(await actual_of(client, goal))

    assert seen == [0, 100, 0, None]


async def test_tags_and_answers_of_an_open_trade_are_kept_when_it_closes(
    client: httpx.AsyncClient, setups: Any
) -> None:
    volume, trend = ids_of(setups[0])
    tag = await create_tag(client, type="mistake")
    clean = await create_goal(client, metric="mistake_free_rate", **YEAR)
    checked = await create_goal(client, metric="protocol_completion_rate", **YEAR)
    trade = await create_trade(client, setup_id=setups[0]["setup_id"], closed_at=None, exit_price=None)
    unwrap(await insert_trade_tags(client, trade, tag["id"]))
    unwrap(await put_answers(client, trade, answer(volume), answer(trend)))
    before = await actual_of(client, clean), await actual_of(client, checked)

    close = {"closed_at": "2026-01-05T15:00:00Z", "exit_price": 101}
    closed = unwrap(await client.patch(f"/trades/{trade['id']}", json=close))

    assert (closed["tag_ids"], len(closed["confirmations"])) == ([tag["id"]], 2)
    assert before == (None, None)
    assert (await actual_of(client, clean), await actual_of(client, checked)) == (0, 100)
