"""The tags and the checklist answers of a trade: docs/api.md#trading-record."""

from typing import Any

import factories
import pytest
from factories import Client, details_of, error_of, unwrap
from operations import dump
from saved_journals import for_rows
from starlette.applications import Starlette

INVALID = (400, "validation_error")


@pytest.fixture
async def setups(client: Client) -> Any:
    """Two setups of one strategy: the first asks two questions, the second one."""
    strategy = await factories.create_strategy(
        client,
        setups=[
            {"name": "Flag", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]},
            {"name": "Wedge", "confirmations": [{"name": "Divergence"}]},
        ],
    )
    return strategy["setups"]


def read_confirmation_ids(setup: Any) -> list[int]:
    return [one["confirmation_id"] for one in setup["confirmations"]]


def answer(confirmation_id: int, was_present: bool = True, **fields: Any) -> dict[str, Any]:
    return {"confirmation_id": confirmation_id, "was_present": was_present, **fields}


async def put_tags(client: Client, trade: Any, *tag_ids: object) -> Any:
    return unwrap(await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": tag_ids}))


async def put_answers(client: Client, trade: Any, *answers: object) -> Any:
    return unwrap(await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": answers}))


async def create_tags(client: Client) -> list[int]:
    return [(await factories.create_tag(client, name))["id"] for name in ("Fear", "anger", "Greed")]


async def test_the_tags_of_a_trade_are_ids_and_whole_tags(client: Client) -> None:
    tag = await factories.create_tag(client, "FOMO", type="mistake", color="#123456")
    trade = await factories.create_trade(client)

    tagged = await put_tags(client, trade, tag["id"], tag["id"])

    tags = [{"id": tag["id"], "name": "FOMO", "color": "#123456", "type": "mistake"}]
    assert tagged == {**trade, "tag_ids": [tag["id"]], "tags": tags, "updated_at": tagged["updated_at"]}
    assert await factories.get_trade(client, trade) == tagged


async def test_the_tags_sent_replace_the_set(client: Client) -> None:
    fear, anger, greed = await create_tags(client)
    trade = await factories.create_trade(client)
    other = await put_tags(client, await factories.create_trade(client, trade["account_id"]), fear)
    first = await put_tags(client, trade, fear, anger)

    tagged = await put_tags(client, trade, greed, anger)
    again = await put_tags(client, trade, anger, greed)
    in_list, _ = await factories.list_trades(client)
    cleared = await put_tags(client, trade)

    assert tagged["tag_ids"] == in_list["tag_ids"] == [anger, greed]
    assert [tag["name"] for tag in tagged["tags"]] == ["anger", "Greed"]
    assert again == tagged
    assert (cleared["tag_ids"], cleared["tags"]) == ([], [])
    assert first["updated_at"] < tagged["updated_at"] < cleared["updated_at"]
    assert await factories.get_trade(client, other) == other


async def test_a_deleted_tag_disappears_and_a_renamed_tag_has_its_new_name(client: Client) -> None:
    fear, anger, _ = await create_tags(client)
    first = await factories.create_trade(client)
    second = await factories.create_trade(client, first["account_id"])
    await put_tags(client, first, fear, anger)
    await put_tags(client, second, fear)

    await client.delete(f"/tags/{fear}")
    await client.patch(f"/tags/{anger}", json={"name": "Calm", "color": "#ffffff"})

    assert [trade["tag_ids"] for trade in await factories.list_trades(client)] == [[anger], []]
    tags = [{"id": anger, "name": "Calm", "color": "#ffffff", "type": "custom"}]
    assert (await factories.get_trade(client, first))["tags"] == tags
    assert await factories.list_trades(client, tag_id=fear) == []


async def test_answers_have_the_name_of_their_confirmation_in_the_order_of_the_checklist(
    client: Client, setups: Any
) -> None:
    volume, trend = read_confirmation_ids(setups[0])
    trade = await factories.create_trade(client, setup_id=setups[0]["setup_id"])

    answered = await put_answers(client, trade, answer(trend, False, notes="Flat"), answer(volume))
    again = await put_answers(client, trade, answer(volume), answer(trend, False, notes="Flat"))

    assert answered["confirmations"] == [
        {"confirmation_id": volume, "name": "Volume", "was_present": True, "notes": None},
        {"confirmation_id": trend, "name": "Trend", "was_present": False, "notes": "Flat"},
    ]
    assert await factories.get_trade(client, trade) == again == answered


async def test_the_answers_sent_replace_the_set_and_move_updated_at(client: Client, setups: Any) -> None:
    volume, trend = read_confirmation_ids(setups[0])
    trade = await factories.create_trade(client, setup_id=setups[0]["setup_id"])
    before = await put_answers(client, trade, answer(volume, notes="Thin"), answer(trend))
    for fields in ({"was_present": False, "notes": "Thin"}, {"notes": "Thick"}, {"notes": None}):
        sent = {**answer(volume), **fields}

        after = await put_answers(client, trade, sent)

        assert after["confirmations"] == [{**sent, "name": "Volume"}]
        assert after["updated_at"] > before["updated_at"]
        before = after
    assert (await put_answers(client, trade))["confirmations"] == []


async def test_confirmations_that_are_not_of_the_trades_setup_or_repeated_are_named(
    client: Client, other_user_client: Client, setups: Any
) -> None:
    volume, trend = read_confirmation_ids(setups[0])
    (divergence,) = read_confirmation_ids(setups[1])
    theirs = await factories.create_strategy(
        other_user_client, setups=[{"name": "Flag", "confirmations": [{"name": "Volume"}]}]
    )
    (foreign,) = read_confirmation_ids(theirs["setups"][0])
    trade = await factories.create_trade(client, setup_id=setups[0]["setup_id"])
    trade = await put_answers(client, trade, answer(volume))
    ids = [divergence, trend, foreign, 987_654_321, volume, volume]

    refused = await client.put(
        f"/trades/{trade['id']}/confirmations", json={"confirmations": [answer(one) for one in ids]}
    )

    assert error_of(refused) == INVALID
    assert details_of(refused) == {
        "unknown_confirmation_ids": [divergence, foreign, 987_654_321],
        "duplicate_confirmation_ids": [volume],
    }
    assert await factories.get_trade(client, trade) == trade


async def test_a_trade_without_a_setup_has_no_checklist(client: Client, setups: Any) -> None:
    volume, _ = read_confirmation_ids(setups[0])
    (strategy,) = unwrap(await client.get("/strategies"))
    account = await factories.create_account(client)
    for strategy_id in (None, strategy["id"]):
        trade = await factories.create_trade(client, account["id"], strategy_id=strategy_id)
        path = f"/trades/{trade['id']}/confirmations"

        refused = await client.put(path, json={"confirmations": [answer(volume)]})

        assert details_of(refused)["unknown_confirmation_ids"] == [volume]
        assert await put_answers(client, trade) == trade


async def test_a_trade_that_changes_its_setup_loses_the_old_answers(client: Client, setups: Any) -> None:
    volume, trend = read_confirmation_ids(setups[0])
    other = await factories.create_strategy(client, "Other")
    setup = {"setup_id": setups[0]["setup_id"]}
    trade = await factories.create_trade(client, **setup)
    path = f"/trades/{trade['id']}"
    same = {**setup, "strategy_id": trade["strategy_id"], "notes": "new", "fees": 1}
    changes = [{"setup_id": setups[1]["setup_id"]}, {"setup_id": None}]
    changes += [{"strategy_id": other["id"]}, {"strategy_id": None}]
    for patch in changes:
        answered = await put_answers(client, trade, answer(volume), answer(trend))

        kept = unwrap(await client.patch(path, json=same))
        changed = unwrap(await client.patch(path, json=patch))
        back = unwrap(await client.patch(path, json=setup))

        assert kept["confirmations"] == answered["confirmations"]
        assert (changed["confirmations"], back["confirmations"]) == ([], []), patch


async def test_an_open_trade_keeps_its_tags_and_answers_when_it_is_closed(client: Client, flag: dict[str, Any]) -> None:
    opened = await factories.create_trade(client, **flag, closed_at=None, exit_price=None)

    closing = {"closed_at": factories.A_TRADE["closed_at"], "exit_price": 101}
    closed = unwrap(await client.patch(f"/trades/{opened['id']}", json=closing))

    assert closed["gross_pnl"] == 1
    assert read_annotations(closed) == read_annotations(opened)
    assert read_annotations(opened) != ([], [])


@pytest.fixture
async def flag(client: Client, setups: Any) -> dict[str, Any]:
    """The members of a trade that has two tags and answers the questions of the first setup."""
    volume, trend = read_confirmation_ids(setups[0])
    fear, anger, _ = await create_tags(client)
    answers = [answer(volume, notes="High"), answer(trend, was_present=False)]
    return {"setup_id": setups[0]["setup_id"], "tag_ids": [anger, fear, anger], "confirmations": answers}


def read_annotations(trade: Any) -> tuple[list[int], list[tuple[Any, ...]]]:
    """The tags and the answers of a trade."""
    members = ("confirmation_id", "was_present", "notes")
    return trade["tag_ids"], [tuple(one[name] for name in members) for one in trade["confirmations"]]


async def test_trades_are_created_with_their_tags_and_answers_alone_and_in_bulk(
    client: Client, flag: dict[str, Any]
) -> None:
    created = await factories.create_trade(client, **flag)
    bodies = [{**factories.A_TRADE, "account_id": created["account_id"], **more} for more in (flag, {}, flag)]
    in_bulk = unwrap(await client.post("/trades/bulk", json={"trades": bodies}))

    first, second = flag["confirmations"]
    expected = (
        sorted(set(flag["tag_ids"])),
        [(first["confirmation_id"], True, "High"), (second["confirmation_id"], False, None)],
    )
    assert read_annotations(created) == expected
    assert created["created_at"] == created["updated_at"]
    assert await factories.get_trade(client, created) == created
    read = [read_annotations(await factories.get_trade(client, trade)) for trade in in_bulk]
    assert read == [expected, ([], []), expected]
    assert [trade["tag_ids"] for trade in in_bulk] == [tag_ids for tag_ids, _ in read]


async def test_tags_and_answers_are_edited_with_the_other_fields_of_a_trade(
    client: Client, flag: dict[str, Any]
) -> None:
    trade = await factories.create_trade(client, **flag)
    second = flag["confirmations"][1]
    changed = {"tag_ids": flag["tag_ids"][:1], "confirmations": [{**second, "was_present": True}]}

    patched = unwrap(await client.patch(f"/trades/{trade['id']}", json={"grade": "A", **changed}))
    cleared = unwrap(await client.patch(f"/trades/{trade['id']}", json={"tag_ids": [], "confirmations": []}))
    left = unwrap(await client.patch(f"/trades/{trade['id']}", json={"grade": "B"}))

    assert patched["grade"] == "A"
    assert read_annotations(patched) == (changed["tag_ids"], [(second["confirmation_id"], True, None)])
    assert read_annotations(cleared) == read_annotations(left) == ([], [])
    times = [one["updated_at"] for one in (trade, patched, cleared, left)]
    assert times == sorted(set(times))


async def test_a_patch_to_another_setup_brings_answers_to_its_checklist(
    client: Client, setups: Any, flag: dict[str, Any]
) -> None:
    trade = await factories.create_trade(client, **flag)
    path, wedge = f"/trades/{trade['id']}", setups[1]["setup_id"]
    (divergence,) = read_confirmation_ids(setups[1])

    old = await client.patch(path, json={"setup_id": wedge, "confirmations": flag["confirmations"]})
    moved = unwrap(await client.patch(path, json={"setup_id": wedge, "confirmations": [answer(divergence)]}))

    assert error_of(old) == INVALID
    assert details_of(old) == {"unknown_confirmation_ids": read_confirmation_ids(setups[0])}
    assert moved["setup_id"] == wedge
    assert read_annotations(moved)[1] == [(divergence, True, None)]
    assert await factories.get_trade(client, trade) == moved


async def test_a_whole_trade_that_was_read_is_sent_back_with_other_tags_answers_or_setup(
    client: Client, setups: Any, flag: dict[str, Any]
) -> None:
    read = await factories.create_trade(client, **flag)
    path, (first, second) = f"/trades/{read['id']}", read["confirmations"]
    other = {"tag_ids": read["tag_ids"][:1], "confirmations": [{**first, "notes": "Low"}, second]}

    patched = unwrap(await client.patch(path, json={**read, **other}))
    again = unwrap(await client.patch(path, json=patched))
    moved = unwrap(await client.patch(path, json={**patched, "setup_id": setups[1]["setup_id"]}))

    assert {name: patched[name] for name in other} == other
    assert again == patched
    assert read_annotations(moved) == (other["tag_ids"], [])


async def test_the_name_of_a_confirmation_is_not_written_by_a_trade(client: Client, flag: dict[str, Any]) -> None:
    read = await factories.create_trade(client, **flag)
    renamed = [read["confirmations"][0], {**read["confirmations"][1], "name": "Another"}]

    refused = await client.patch(f"/trades/{read['id']}", json={"confirmations": renamed})
    created = await client.post(
        "/trades", json={**factories.A_TRADE, "account_id": read["account_id"], **flag, "confirmations": renamed}
    )

    assert details_of(refused) == {"fields": {"confirmations[1].name": "is read-only"}}
    assert details_of(created) == {"unknown_fields": ["confirmations[0].name", "confirmations[1].name"]}
    assert await factories.get_trade(client, read) == read


@for_rows("method", ["POST", "PATCH", "bulk"])
async def test_a_trade_is_written_with_all_of_its_tags_and_answers_or_not_at_all(
    app: Starlette, client: Client, setups: Any, flag: dict[str, Any], method: str
) -> None:
    trade = await factories.create_trade(client, **flag)
    before = dump(app)
    path = {"POST": "/trades", "PATCH": f"/trades/{trade['id']}", "bulk": "/trades/bulk"}[method]
    (divergence,) = read_confirmation_ids(setups[1])
    volume = read_confirmation_ids(setups[0])[0]
    bad: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"tag_ids": [98, 99, 98]}, {"unknown_tag_ids": [98, 99]}),
        ({"confirmations": [answer(divergence), answer(97)]}, {"unknown_confirmation_ids": [divergence, 97]}),
        ({"confirmations": [answer(volume), answer(volume)]}, {"duplicate_confirmation_ids": [volume]}),
    ]

    for members, details in bad:
        body = {**factories.A_TRADE, "account_id": trade["account_id"], **flag, "grade": "F", **members}
        refused = await client.request(
            "PATCH" if method == "PATCH" else "POST", path, json={"trades": [body, body]} if method == "bulk" else body
        )

        assert error_of(refused) == INVALID
        told = details_of(refused)
        if method == "bulk":
            assert told.pop("fields").keys() == {"trades[0]", "trades[1]"}
        assert told == details
    assert dump(app) == before
