"""The tags and the checklist answers of a trade: docs/api.md#trading-record."""

from typing import Any

import httpx
import pytest
from factories import (
    A_TRADE,
    create_account,
    create_goal,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    snapshots_of,
    unwrap,
)
from operations import dump
from starlette.applications import Starlette

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
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient
) -> None:
    mine, gone = (await create_tag(client, "Mine"))["id"], (await create_tag(client, "Gone"))["id"]
    await client.delete(f"/tags/{gone}")
    theirs = (await create_tag(other_user_client, "Theirs"))["id"]
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
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient, setups: Any
) -> None:
    volume, _ = ids_of(setups[0])
    (divergence,) = ids_of(setups[1])
    theirs = await create_strategy(
        other_user_client, setups=[{"name": "Flag", "confirmations": [{"name": "Volume"}]}]
    )
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


# With the trade itself -----------------------------------------------------------------------------------


@pytest.fixture
async def flag(client: httpx.AsyncClient, setups: Any) -> dict[str, Any]:
    """The members of a trade that has two tags and answers the questions of the first setup."""
    volume, trend = ids_of(setups[0])
    fear, anger, _ = await three_tags(client)
    answers = [answer(volume, notes="High"), answer(trend, was_present=False)]
    return {"setup_id": setups[0]["setup_id"], "tag_ids": [anger, fear, anger], "confirmations": answers}


def judged(trade: Any) -> tuple[list[int], list[tuple[Any, ...]]]:
    """The tags and the answers of a trade."""
    members = ("confirmation_id", "was_present", "notes")
    return trade["tag_ids"], [tuple(one[name] for name in members) for one in trade["confirmations"]]


async def test_a_trade_is_created_with_its_tags_and_answers(
    client: httpx.AsyncClient, flag: dict[str, Any]
) -> None:
    created = await create_trade(client, **flag)

    first, second = flag["confirmations"]
    assert judged(created) == (
        sorted(set(flag["tag_ids"])),
        [(first["confirmation_id"], True, "High"), (second["confirmation_id"], False, None)],
    )
    assert created["created_at"] == created["updated_at"]
    assert await get_trade(client, created) == created


async def test_trades_in_bulk_are_created_with_their_tags_and_answers(
    client: httpx.AsyncClient, flag: dict[str, Any]
) -> None:
    account = await create_account(client)
    sent = [{**A_TRADE, "account_id": account["id"], **more} for more in (flag, {}, flag)]

    created = unwrap(await client.post("/trades/bulk", json={"trades": sent}))
    read = [judged(await get_trade(client, trade)) for trade in created]

    assert [len(tag_ids) for tag_ids, _ in read] == [2, 0, 2]
    assert [len(answers) for _, answers in read] == [2, 0, 2]
    assert [trade["tag_ids"] for trade in created] == [tag_ids for tag_ids, _ in read]


async def test_tags_and_answers_are_edited_with_the_other_fields_of_a_trade(
    client: httpx.AsyncClient, flag: dict[str, Any]
) -> None:
    trade = await create_trade(client, **flag)
    second = flag["confirmations"][1]
    changed = {"tag_ids": flag["tag_ids"][:1], "confirmations": [{**second, "was_present": True}]}

    patched = unwrap(await client.patch(f"/trades/{trade['id']}", json={"grade": "A", **changed}))
    cleared = unwrap(await client.patch(f"/trades/{trade['id']}", json={"tag_ids": [], "confirmations": []}))
    left = unwrap(await client.patch(f"/trades/{trade['id']}", json={"grade": "B"}))

    assert patched["grade"] == "A"
    assert judged(patched) == (changed["tag_ids"], [(second["confirmation_id"], True, None)])
    assert judged(cleared) == judged(left) == ([], [])
    times = [one["updated_at"] for one in (trade, patched, cleared, left)]
    assert times == sorted(set(times))


async def test_a_patch_to_another_setup_brings_answers_to_its_checklist(
    client: httpx.AsyncClient, setups: Any, flag: dict[str, Any]
) -> None:
    trade = await create_trade(client, **flag)
    path, wedge = f"/trades/{trade['id']}", setups[1]["setup_id"]
    (divergence,) = ids_of(setups[1])

    old = await client.patch(path, json={"setup_id": wedge, "confirmations": flag["confirmations"]})
    moved = unwrap(await client.patch(path, json={"setup_id": wedge, "confirmations": [answer(divergence)]}))

    assert error_of(old) == INVALID
    assert details_of(old) == {"unknown_confirmation_ids": ids_of(setups[0])}
    assert moved["setup_id"] == wedge
    assert judged(moved)[1] == [(divergence, True, None)]
    assert await get_trade(client, trade) == moved


async def test_a_whole_trade_that_was_read_is_moved_to_another_setup_without_its_answers(
    client: httpx.AsyncClient, setups: Any, flag: dict[str, Any]
) -> None:
    read = await create_trade(client, **flag)
    path = f"/trades/{read['id']}"

    moved = unwrap(await client.patch(path, json={**read, "setup_id": setups[1]["setup_id"]}))

    assert judged(moved) == (read["tag_ids"], [])


async def test_a_whole_trade_that_was_read_is_sent_back_with_other_tags_and_answers(
    client: httpx.AsyncClient, flag: dict[str, Any]
) -> None:
    read = await create_trade(client, **flag)
    path = f"/trades/{read['id']}"
    edited = {
        **read,
        "tag_ids": read["tag_ids"][:1],
        "confirmations": [{**read["confirmations"][0], "notes": "Low"}, *read["confirmations"][1:]],
    }

    patched = unwrap(await client.patch(path, json=edited))

    assert patched["tag_ids"] == edited["tag_ids"]
    assert patched["confirmations"] == edited["confirmations"]
    assert unwrap(await client.patch(path, json=patched)) == patched


async def test_the_name_of_a_confirmation_is_not_written_by_a_trade(
    client: httpx.AsyncClient, flag: dict[str, Any]
) -> None:
    read = await create_trade(client, **flag)
    renamed = [read["confirmations"][0], {**read["confirmations"][1], "name": "Another"}]

    refused = await client.patch(f"/trades/{read['id']}", json={"confirmations": renamed})
    created = await client.post(
        "/trades", json={**A_TRADE, "account_id": read["account_id"], **flag, "confirmations": renamed}
    )

    assert details_of(refused) == {"fields": {"confirmations[1].name": "is read-only"}}
    assert details_of(created) == {"unknown_fields": ["confirmations[0].name", "confirmations[1].name"]}
    assert await get_trade(client, read) == read


@pytest.mark.parametrize("method", ["POST", "PATCH", "bulk"])
async def test_a_trade_is_written_with_all_of_its_tags_and_answers_or_not_at_all(
    app: Starlette, client: httpx.AsyncClient, setups: Any, flag: dict[str, Any], method: str
) -> None:
    trade = await create_trade(client, **flag)
    before = dump(app)
    path = {"POST": "/trades", "PATCH": f"/trades/{trade['id']}", "bulk": "/trades/bulk"}[method]
    (divergence,) = ids_of(setups[1])
    volume = ids_of(setups[0])[0]
    bad: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"tag_ids": [98, 99, 98]}, {"unknown_tag_ids": [98, 99]}),
        ({"confirmations": [answer(divergence), answer(97)]}, {"unknown_confirmation_ids": [divergence, 97]}),
        ({"confirmations": [answer(volume), answer(volume)]}, {"duplicate_confirmation_ids": [volume]}),
    ]

    for members, details in bad:
        body = {**A_TRADE, "account_id": trade["account_id"], **flag, "grade": "F", **members}
        refused = await client.request(
            "PATCH" if method == "PATCH" else "POST",
            path,
            json={"trades": [body, body]} if method == "bulk" else body,
        )

        assert error_of(refused) == INVALID
        told = details_of(refused)
        if method == "bulk":
            assert told.pop("fields").keys() == {"trades[0]", "trades[1]"}
        assert told == details
    assert dump(app) == before


@pytest.mark.parametrize("member", ["tag_ids", "confirmations"])
async def test_null_is_no_way_to_clear_tags_or_answers(
    client: httpx.AsyncClient, flag: dict[str, Any], member: str
) -> None:
    trade = await create_trade(client, **flag)

    refused = await client.patch(f"/trades/{trade['id']}", json={member: None})

    assert details_of(refused) == {"fields": {member: "must be array, not null"}}
    assert await get_trade(client, trade) == trade
