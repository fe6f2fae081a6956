"""PATCH of a strategy: docs/api.md#patch-setups, P1 to P10 one after the other, and what surrounds them."""

from typing import Any

import httpx
import pytest
from factories import (
    create_strategy,
    details_of,
    error_of,
    get_strategy,
    insert_account,
    insert_answer,
    insert_copy_group,
    insert_trade,
    run_sql,
    unwrap,
)
from operations import dump
from starlette.applications import Starlette

CHECKLISTS = [
    {
        "name": "a",
        "description": "of a",
        "confirmations": [{"name": "x", "description": "of x"}, {"name": "y"}],
    },
    {"name": "b", "confirmations": [{"name": "z"}]},
]
INVALID = (400, "validation_error")


@pytest.fixture
def other(other_user_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return other_user_client


async def make_playbook(client: httpx.AsyncClient, name: str = "Playbook") -> Any:
    """Setup `a` with confirmations `x` and `y`, setup `b` with `z`."""
    return await create_strategy(client, name, setups=CHECKLISTS)


async def patch(client: httpx.AsyncClient, strategy: Any, **members: Any) -> httpx.Response:
    return await client.patch(f"/strategies/{strategy['id']}", json=members)


async def patched(client: httpx.AsyncClient, strategy: Any, *setups: Any) -> Any:
    """The strategy after a PATCH of its setups."""
    return unwrap(await patch(client, strategy, setups=setups))


async def make_answered_trade(app: Starlette, strategy: Any, setup: Any) -> int:
    """A trade of that setup, every confirmation of it answered."""
    accounts = await run_sql(app, "SELECT id FROM accounts LIMIT 1")
    account_id = accounts[0][0] if accounts else await insert_account(app)
    trade = await insert_trade(app, account_id, strategy_id=strategy["id"], setup_id=setup["setup_id"])
    for one in setup["confirmations"]:
        await insert_answer(app, trade, one["confirmation_id"], True, f"about {one['name']}")
    return trade


async def links_of(app: Starlette, trade_id: int) -> tuple[int | None, int | None]:
    """(strategy_id, setup_id) of the trade."""
    ((strategy_id, setup_id),) = await run_sql(
        app, "SELECT strategy_id, setup_id FROM trades WHERE id = :id", {"id": trade_id}
    )
    return strategy_id, setup_id


async def answers_of(app: Starlette, trade_id: int) -> dict[int, tuple[int, str | None]]:
    """By confirmation, (was_present, notes)."""
    rows = await run_sql(
        app,
        "SELECT confirmation_id, was_present, notes FROM confirmation_answers WHERE trade_id = :id",
        {"id": trade_id},
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def setup_id(strategy: Any, position: int) -> int:
    return int(strategy["setups"][position]["setup_id"])


def confirmation_id(strategy: Any, position: int, place: int) -> int:
    return int(strategy["setups"][position]["confirmations"][place]["confirmation_id"])


def setup(strategy: Any, position: int, **members: Any) -> dict[str, Any]:
    """The item of a PATCH that keeps this setup, with those members."""
    return {"setup_id": setup_id(strategy, position), **members}


def confirmation(strategy: Any, position: int, place: int, **members: Any) -> dict[str, Any]:
    """The item of a PATCH that keeps this confirmation, with those members."""
    return {"confirmation_id": confirmation_id(strategy, position, place), **members}


def without_ids(setups: Any) -> Any:
    """The setups as new ones would be sent."""
    ids = ("setup_id", "confirmation_id")
    if isinstance(setups, list):
        return [without_ids(one) for one in setups]
    if isinstance(setups, dict):
        return {name: without_ids(value) for name, value in setups.items() if name not in ids}
    return setups


# The fields of the strategy ----------------------------------------------------------------------------


NEW_FIELDS: list[tuple[str, Any]] = [
    *(("name", "New"), ("description", "New"), ("description", None), ("color_tag", "#ABCDEF")),
    *(("risk_rules", {"new": 1}), ("risk_rules", None), ("exit_rules", {}), ("exit_rules", None)),
    *(("optimal_conditions", {"new": [1]}), ("optimal_conditions", None)),
]


async def test_a_field_sent_is_updated_and_every_other_stays(client: httpx.AsyncClient) -> None:
    rules = {field: {"old": 1} for field in ("risk_rules", "exit_rules", "optimal_conditions")}
    before = await create_strategy(client, "Old", description="Old", setups=CHECKLISTS, **rules)
    for field, value in NEW_FIELDS:
        after = unwrap(await patch(client, before, **{field: value}))

        assert after == {**before, field: value, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]
        assert await get_strategy(client, before["id"]) == after
        before = after


async def test_an_empty_patch_changes_nothing(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    before = dump(app)

    patched = await patch(client, strategy)

    assert patched.status_code == 200
    assert unwrap(patched) == strategy
    assert dump(app) == before


async def test_a_patch_with_what_is_already_there_changes_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    strategy = await create_strategy(
        client, setups=CHECKLISTS, account_id=account, risk_rules={"a": 1}, description="Same"
    )
    before = dump(app)
    read_only = ("id", "setup_count", "created_at", "updated_at")

    patched = await patch(
        client, strategy, **{field: value for field, value in strategy.items() if field not in read_only}
    )

    assert unwrap(patched) == strategy
    assert dump(app) == before


async def test_a_change_below_the_strategy_moves_its_updated_at(client: httpx.AsyncClient) -> None:
    before = await make_playbook(client)
    checklist = [confirmation(before, 0, 0), confirmation(before, 0, 1, description="new")]

    after = await patched(client, before, setup(before, 0, confirmations=checklist), setup(before, 1))

    assert after["updated_at"] > before["updated_at"]
    assert after["created_at"] == before["created_at"]


async def test_a_rename_to_a_taken_name_is_a_duplicate_and_writes_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await create_strategy(client, "Café")
    mine = await make_playbook(client)
    before = dump(app)

    refused = await patch(client, mine, name=" Cafe\u0301", setups=[{"name": "new"}], description="new")

    assert error_of(refused) == (409, "duplicate_name")
    assert await get_strategy(client, mine["id"]) == mine
    assert dump(app) == before


async def test_a_rename_to_its_own_name_changes_nothing(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, "Café")

    for name in ("Café", " Café ", "Cafe\u0301"):
        assert unwrap(await patch(client, strategy, name=name)) == strategy


async def test_a_rename_moves_the_strategy_in_the_list(client: httpx.AsyncClient) -> None:
    first = await create_strategy(client, "alpha")
    await create_strategy(client, "Beta")

    await patch(client, first, name="Gamma")

    names = [item["name"] for item in unwrap(await client.get("/strategies"))]
    assert names == ["Beta", "Gamma"]


async def test_a_rename_that_changes_the_case_alone_is_kept(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, "breakout")

    patched = await patch(client, strategy, name="Breakout")

    assert unwrap(patched)["name"] == "Breakout"


async def test_rules_are_told_before_conflicts(client: httpx.AsyncClient) -> None:
    await create_strategy(client, "Taken")
    mine = await create_strategy(client, "Mine")

    refused = await patch(client, mine, name="Taken", setups=[{"setup_id": 99}])

    assert error_of(refused) == INVALID


# P1: a sent list is the whole list ---------------------------------------------------------------------


async def test_rule_1_a_sent_list_is_the_canonical_list(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)

    after = await patched(client, strategy, setup(strategy, 1, sort_order=0), {"name": "c", "sort_order": 1})

    assert [one["name"] for one in after["setups"]] == ["b", "c"]
    assert after["setup_count"] == 2
    assert unwrap(await client.get(f"/strategies/{strategy['id']}/setups")) == after["setups"]


async def test_rule_1_setups_not_sent_stay_as_they_are(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)

    assert unwrap(await patch(client, strategy, name="New"))["setups"] == strategy["setups"]


async def test_rule_1_an_empty_list_clears_the_setups(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])

    after = await patched(client, strategy)

    assert (after["setups"], after["setup_count"]) == ([], 0)
    assert await links_of(app, trade) == (strategy["id"], None)
    assert await answers_of(app, trade) == {}


async def test_rule_1_another_strategy_is_left_alone(app: Starlette, client: httpx.AsyncClient) -> None:
    another = await make_playbook(client, "Another")
    trade = await make_answered_trade(app, another, another["setups"][0])
    strategy = await make_playbook(client)

    await patch(client, strategy, setups=[{"name": "new"}])

    assert await get_strategy(client, another["id"]) == another
    assert await links_of(app, trade) == (another["id"], setup_id(another, 0))
    assert len(await answers_of(app, trade)) == 2


UPDATES: list[dict[str, Any]] = [
    {},
    {"name": "New"},
    {"description": "New"},
    {"description": None},
    {"sort_order": -7},
    {"name": "Newer", "description": "New", "sort_order": 0},
]
# P2: an item with setup_id is updated in place ---------------------------------------------------------


async def test_rule_2_a_setup_is_updated_in_place_and_members_left_out_stay(
    client: httpx.AsyncClient,
) -> None:
    strategy = await make_playbook(client)
    first, second = strategy["setups"]
    for update in UPDATES:
        sent = {"sort_order": 0, **update}
        after = await patched(client, strategy, setup(strategy, 0, **sent), setup(strategy, 1, sort_order=99))

        first |= sent
        assert after["setups"] == [first, {**second, "sort_order": 99}]


async def test_rule_2_an_item_of_its_id_alone_means_keep(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    before = dump(app)

    after = await patched(client, strategy, setup(strategy, 0), setup(strategy, 1))

    assert after == strategy
    assert dump(app) == before


async def test_rule_2_trades_stay_linked_to_a_setup_updated_in_place(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    answers = await answers_of(app, trade)

    await patched(client, strategy, setup(strategy, 0, name="New", description="New", sort_order=9))

    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert await answers_of(app, trade) == answers


# P3: an item without setup_id is inserted --------------------------------------------------------------


async def test_rule_3_an_item_without_setup_id_is_a_new_setup(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    new = {"name": "c", "description": "of c", "confirmations": [{"name": "u"}, {"name": "v"}]}

    after = await patched(client, strategy, setup(strategy, 0), setup(strategy, 1), new)

    *kept, added = after["setups"]
    assert kept == strategy["setups"]
    assert added["setup_id"] > setup_id(strategy, 1)
    of_new = [
        {"name": name, "description": None, "sort_order": position} for position, name in enumerate("uv")
    ]
    assert without_ids(added) == {**new, "sort_order": 2, "confirmations": of_new}


async def test_rule_3_an_item_of_the_same_name_without_its_id_is_another_setup(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])

    after = await patched(client, strategy, *without_ids(strategy["setups"]))

    assert without_ids(after["setups"]) == without_ids(strategy["setups"])
    assert setup_id(after, 0) > setup_id(strategy, 1)
    assert await links_of(app, trade) == (strategy["id"], None)


async def test_rule_3_a_new_setup_without_confirmations_has_none(client: httpx.AsyncClient) -> None:
    after = await patched(client, await create_strategy(client), {"name": "a"})

    assert after["setups"][0]["confirmations"] == []


async def test_rule_3_ids_of_deleted_setups_are_never_used_again(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    await patched(client, strategy)

    after = await patched(client, strategy, *CHECKLISTS)

    assert setup_id(after, 0) > setup_id(strategy, 1)
    assert confirmation_id(after, 0, 0) > confirmation_id(strategy, 1, 0)


# P4: setups absent from the list are deleted -----------------------------------------------------------


async def test_rule_4_an_absent_setup_is_deleted_with_its_confirmations(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)

    after = await patched(client, strategy, setup(strategy, 1))

    assert after["setups"] == [strategy["setups"][1]]
    rows = dump(app)
    assert [row[0] for row in rows["setups"]] == [setup_id(strategy, 1)]
    assert [row[0] for row in rows["confirmations"]] == [confirmation_id(strategy, 1, 0)]


async def test_rule_4_trades_of_a_deleted_setup_keep_their_strategy_and_lose_the_setup(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    of_deleted, of_kept = [await make_answered_trade(app, strategy, one) for one in strategy["setups"]]

    await patched(client, strategy, setup(strategy, 1))

    assert await links_of(app, of_deleted) == (strategy["id"], None)
    assert await answers_of(app, of_deleted) == {}
    assert await links_of(app, of_kept) == (strategy["id"], setup_id(strategy, 1))
    assert await answers_of(app, of_kept) == {confirmation_id(strategy, 1, 0): (1, "about z")}


# P5: a setup_id of a different strategy is refused -----------------------------------------------------


async def foreign_setups(client: httpx.AsyncClient, other: httpx.AsyncClient) -> dict[str, int]:
    """Setup ids that a strategy of the caller may not name."""
    another, theirs = await make_playbook(client, "Another"), await make_playbook(other)
    deleted = await make_playbook(client, "Deleted")
    await client.delete(f"/strategies/{deleted['id']}")
    return {
        "of another strategy": setup_id(another, 0),
        "of another owner": setup_id(theirs, 1),
        "of nothing any more": setup_id(deleted, 0),
        "of nothing": 2**63 - 1,
    }


async def test_rule_5_a_setup_id_that_is_not_of_this_strategy_is_refused_and_named(
    app: Starlette, client: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    foreign = await foreign_setups(client, other)
    strategy = await make_playbook(client)
    before = dump(app)

    for whose, row_id in foreign.items():
        setups = [setup(strategy, 0, name="New"), {"name": "new"}, {"setup_id": row_id, "name": "x"}]
        refused = await patch(client, strategy, name="New", setups=setups)

        assert error_of(refused) == INVALID, whose
        assert details_of(refused) == {"unknown_setup_ids": [row_id]}, whose
    setups = [setup(strategy, 0), *({"setup_id": row_id} for row_id in foreign.values()), setup(strategy, 1)]
    together = await patch(client, strategy, setups=setups)

    assert sorted(details_of(together)["unknown_setup_ids"]) == sorted(foreign.values())
    assert set(details_of(together)) == {"unknown_setup_ids"}
    assert dump(app) == before


# P6: confirmations are diff-upserted -------------------------------------------------------------------


async def test_rule_6_a_confirmation_is_updated_in_place_and_keeps_its_answers(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    first = strategy["setups"][0]
    trade = await make_answered_trade(app, strategy, first)
    x, y = first["confirmations"]
    answers = {x["confirmation_id"]: (1, "about x"), y["confirmation_id"]: (1, "about y")}

    for update in UPDATES:
        sent = {"sort_order": 0, **update}
        checklist = [confirmation(strategy, 0, 0, **sent), confirmation(strategy, 0, 1, sort_order=99)]
        after = await patched(client, strategy, setup(strategy, 0, confirmations=checklist))

        x |= sent
        assert after["setups"] == [{**first, "confirmations": [x, {**y, "sort_order": 99}]}]
        assert await answers_of(app, trade) == answers


async def test_rule_6_an_item_without_confirmation_id_is_inserted(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    answers = await answers_of(app, trade)
    checklist = [
        confirmation(strategy, 0, 0),
        confirmation(strategy, 0, 1),
        {"name": "n", "description": "of n"},
    ]

    after = await patched(client, strategy, setup(strategy, 0, confirmations=checklist))

    *kept, new = after["setups"][0]["confirmations"]
    assert kept == strategy["setups"][0]["confirmations"]
    assert without_ids(new) == {"name": "n", "description": "of n", "sort_order": 2}
    assert new["confirmation_id"] > confirmation_id(strategy, 1, 0)
    assert await answers_of(app, trade) == answers


# P7: confirmations absent from the list are deleted with their answers ----------------------------------


async def test_rule_7_an_absent_confirmation_is_deleted_with_its_answers(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trades = [await make_answered_trade(app, strategy, strategy["setups"][0]) for _ in range(2)]
    checklist = [{"name": "new"}, confirmation(strategy, 0, 1)]

    after = await patched(client, strategy, setup(strategy, 0, confirmations=checklist))

    assert {one["name"] for one in after["setups"][0]["confirmations"]} == {"new", "y"}
    for trade in trades:
        assert await answers_of(app, trade) == {confirmation_id(strategy, 0, 1): (1, "about y")}
        assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))


# P8: confirmations not sent stay, an empty array clears them --------------------------------------------


async def test_rule_8_confirmations_not_sent_are_left_untouched(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    answers = await answers_of(app, trade)

    after = await patched(client, strategy, setup(strategy, 0, name="New"), setup(strategy, 1, name="Newer"))

    checklists = [
        [one["confirmations"] for one in setups] for setups in (strategy["setups"], after["setups"])
    ]
    assert checklists[0] == checklists[1]
    assert await answers_of(app, trade) == answers


async def test_rule_8_an_empty_array_clears_the_confirmations(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])

    after = await patched(client, strategy, setup(strategy, 0, confirmations=[]), setup(strategy, 1))

    assert after["setups"] == [{**strategy["setups"][0], "confirmations": []}, strategy["setups"][1]]
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert await answers_of(app, trade) == {}


# P9: a confirmation_id of a different setup is refused -------------------------------------------------


async def foreign_confirmations(
    client: httpx.AsyncClient, other: httpx.AsyncClient, strategy: Any
) -> dict[str, int]:
    """Confirmation ids that the first setup of the strategy may not name."""
    another, theirs = await make_playbook(client, "Another"), await make_playbook(other)
    deleted = await make_playbook(client, "Deleted")
    await client.delete(f"/strategies/{deleted['id']}")
    return {
        "of another setup": confirmation_id(strategy, 1, 0),
        "of another strategy": confirmation_id(another, 0, 0),
        "of another owner": confirmation_id(theirs, 0, 1),
        "of nothing any more": confirmation_id(deleted, 0, 0),
        "of nothing": 2**63 - 1,
    }


async def test_rule_9_a_confirmation_id_that_is_not_of_this_setup_is_refused_and_named(
    app: Starlette, client: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    foreign = await foreign_confirmations(client, other, strategy)
    before = dump(app)

    for whose, row_id in foreign.items():
        for parent in (setup(strategy, 0), {"name": "a new setup"}):
            checklist = [{"name": "new"}, {"confirmation_id": row_id, "name": "x"}]
            setups = [
                setup(strategy, 1, name="New", confirmations=[]),
                {**parent, "confirmations": checklist},
            ]
            refused = await patch(client, strategy, name="New", setups=setups)

            assert error_of(refused) == INVALID, whose
            assert details_of(refused) == {"unknown_confirmation_ids": [row_id]}, whose
    assert dump(app) == before


async def test_rule_9_a_confirmation_cannot_move_to_another_setup_of_the_strategy(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    before = dump(app)
    x, z = confirmation(strategy, 0, 0), confirmation(strategy, 1, 0)

    setups = [setup(strategy, 0, confirmations=[z]), setup(strategy, 1, confirmations=[x])]
    refused = await patch(client, strategy, setups=setups)

    assert error_of(refused) == INVALID
    assert sorted(details_of(refused)["unknown_confirmation_ids"]) == [*x.values(), *z.values()]
    assert dump(app) == before


async def test_rules_5_and_9_all_offenders_are_named_together(
    app: Starlette, client: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    ids = list((await foreign_confirmations(client, other, strategy)).values())
    items = [{"confirmation_id": row_id} for row_id in ids]
    before = dump(app)
    setups = [
        setup(strategy, 0, confirmations=items[:1]),
        {"setup_id": 2**62, "confirmations": items[1:2]},
        {"name": "new", "confirmations": items[2:]},
        {"setup_id": 2**61},
    ]

    refused = await patch(client, strategy, setups=setups)

    assert error_of(refused) == INVALID
    details = {name: sorted(found) for name, found in details_of(refused).items()}
    assert details == {"unknown_setup_ids": [2**61, 2**62], "unknown_confirmation_ids": sorted(ids)}
    assert dump(app) == before


# Items that repeat an id -------------------------------------------------------------------------------


async def test_an_id_sent_twice_is_refused_and_named(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    before = dump(app)
    a, b, x = setup(strategy, 0), setup(strategy, 1), confirmation(strategy, 0, 0)

    setups = await patch(client, strategy, setups=[a, b, {**a, "name": "New"}, b])
    checklist = [x, {**x, "name": "New"}]
    confirmations = await patch(client, strategy, setups=[{**a, "confirmations": checklist}])

    assert error_of(setups) == error_of(confirmations) == INVALID
    assert {name: sorted(ids) for name, ids in details_of(setups).items()} == {
        "duplicate_setup_ids": [setup_id(strategy, 0), setup_id(strategy, 1)]
    }
    assert details_of(confirmations) == {"duplicate_confirmation_ids": [*x.values()]}
    assert dump(app) == before


# P10: the two scopes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound_to", "sent", "then"),
    [
        ("account", {"account_id": None}, (None, None)),
        ("account", {"copy_group_id": None}, ("account", None)),
        ("account", {"account_id": None, "copy_group_id": None}, (None, None)),
        ("account", {"copy_group_id": "group"}, (None, "group")),
        ("account", {"copy_group_id": "group", "account_id": None}, (None, "group")),
        ("account", {"account_id": "account"}, ("account", None)),
        ("account", {"account_id": "account", "copy_group_id": None}, ("account", None)),
        ("group", {"copy_group_id": None}, (None, None)),
        ("group", {"account_id": None}, (None, "group")),
        ("group", {"account_id": None, "copy_group_id": None}, (None, None)),
        ("group", {"account_id": "account"}, ("account", None)),
        ("group", {"account_id": "account", "copy_group_id": None}, ("account", None)),
        ("group", {"copy_group_id": "group"}, (None, "group")),
        ("nothing", {"account_id": "account"}, ("account", None)),
        ("nothing", {"copy_group_id": "group"}, (None, "group")),
        ("nothing", {"account_id": None}, (None, None)),
        ("nothing", {"name": "New"}, (None, None)),
        ("account", {"name": "New"}, ("account", None)),
        ("group", {"name": "New"}, (None, "group")),
    ],
    ids=str,
)
async def test_rule_10_null_clears_a_scope_and_setting_one_clears_the_other(
    app: Starlette, client: httpx.AsyncClient, bound_to: str, sent: Any, then: Any
) -> None:
    ids: dict[Any, Any] = {"account": await insert_account(app), "group": await insert_copy_group(app)}
    fields = {"account": {"account_id": ids["account"]}, "group": {"copy_group_id": ids["group"]}}
    strategy = await create_strategy(client, setups=CHECKLISTS, **fields.get(bound_to, {}))

    patched = unwrap(
        await patch(client, strategy, **{field: ids.get(value, value) for field, value in sent.items()})
    )

    assert (patched["account_id"], patched["copy_group_id"]) == tuple(ids.get(one) for one in then)
    assert patched["setups"] == strategy["setups"]
    assert await get_strategy(client, strategy["id"]) == patched


async def test_rule_10_both_scopes_at_once_are_refused(app: Starlette, client: httpx.AsyncClient) -> None:
    both = {"account_id": await insert_account(app), "copy_group_id": await insert_copy_group(app)}
    for bound_to in both:
        strategy = await create_strategy(client, bound_to, **{bound_to: both[bound_to]})
        before = dump(app)

        refused = await patch(client, strategy, name="New", **both)

        assert error_of(refused) == INVALID
        assert dump(app) == before


# All at once -------------------------------------------------------------------------------------------


async def test_what_was_read_can_be_edited_and_sent_back(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    setups = unwrap(await client.get(f"/strategies/{strategy['id']}/setups"))
    first, second = setups
    first["name"] = "a, renamed"
    first["confirmations"][0]["description"] = "of x, reworded"
    first["confirmations"][1]["sort_order"] = 5
    first["confirmations"].insert(1, {"name": "between", "sort_order": 3})
    second["confirmations"].clear()
    setups.append({"name": "c", "sort_order": 2, "confirmations": [{"name": "of c"}]})

    patched = unwrap(await patch(client, strategy, setups=setups))

    first["confirmations"][1]["confirmation_id"] = confirmation_id(patched, 0, 1)
    first["confirmations"][1]["description"] = None
    assert patched["setups"][:2] == setups[:2]
    assert patched["setups"][2]["name"] == "c"
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert await answers_of(app, trade) == {
        confirmation_id(strategy, 0, 0): (1, "about x"),
        confirmation_id(strategy, 0, 1): (1, "about y"),
    }


async def test_what_was_read_and_sent_back_as_it_is_changes_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    before = dump(app)
    setups = unwrap(await client.get(f"/strategies/{strategy['id']}/setups"))

    patched = unwrap(await patch(client, strategy, setups=setups))

    assert patched == strategy
    assert dump(app) == before


async def test_two_setups_and_two_confirmations_swap_their_names_in_one_patch(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    first, second = strategy["setups"]
    trade = await make_answered_trade(app, strategy, first)
    x, y = first["confirmations"]
    swapped = [
        {**first, "name": "b", "confirmations": [{**x, "name": "y"}, {**y, "name": "x"}]},
        {**second, "name": "a"},
    ]

    after = await patched(client, strategy, *swapped)

    assert after["setups"] == swapped
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert len(await answers_of(app, trade)) == 2


async def test_an_item_appended_to_a_list_with_gaps_comes_last(client: httpx.AsyncClient) -> None:
    numbered = [{"name": "a", "sort_order": 10}, {"name": "b", "sort_order": 20}]
    strategy = await create_strategy(
        client, setups=[{"name": "checked", "confirmations": numbered, "sort_order": 1}, *numbered]
    )
    setups = strategy["setups"]
    checklist = [*setups[0]["confirmations"], {"name": "c"}]

    sent = [{**setups[0], "confirmations": checklist}, *setups[1:], {"name": "c"}]
    after = await patched(client, strategy, *sent)

    assert [one["name"] for one in after["setups"]] == ["checked", "a", "b", "c"]
    assert [one["name"] for one in after["setups"][0]["confirmations"]] == ["a", "b", "c"]


async def test_a_list_of_ids_is_a_new_order(client: httpx.AsyncClient) -> None:
    items = [{"name": name} for name in "abc"]
    strategy = await create_strategy(client, setups=[{"name": "s", "confirmations": items}, *items])
    setups = strategy["setups"]
    ids = [{"confirmation_id": item["confirmation_id"]} for item in reversed(setups[0]["confirmations"])]
    reversed_setups = [{"setup_id": setup["setup_id"]} for setup in reversed(setups[1:])]

    after = await patched(
        client, strategy, *reversed_setups, {"setup_id": setups[0]["setup_id"], "confirmations": ids}
    )

    assert [(one["name"], one["sort_order"]) for one in after["setups"]] == [
        ("c", 0),
        ("b", 1),
        ("a", 2),
        ("s", 3),
    ]
    assert [one["name"] for one in after["setups"][3]["confirmations"]] == ["c", "b", "a"]


async def test_a_list_that_is_read_and_sent_back_keeps_equal_sort_orders(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await create_strategy(client, setups=[{"name": "a"}, {"name": "b"}])
    await run_sql(app, "UPDATE setups SET sort_order = 7")  # as an earlier release stored them
    read = unwrap(await client.get(f"/strategies/{strategy['id']}"))

    assert await patched(client, strategy, *read["setups"]) == read


async def test_a_list_that_is_read_reversed_and_sent_back_is_reversed(client: httpx.AsyncClient) -> None:
    items = [{"name": name} for name in "abc"]
    strategy = await create_strategy(
        client, setups=[{"name": name, "confirmations": items} for name in "stu"]
    )
    sent = [{**one, "confirmations": one["confirmations"][::-1]} for one in reversed(strategy["setups"])]

    after = await patched(client, strategy, *sent)

    assert [(one["name"], one["sort_order"]) for one in after["setups"]] == [("u", 0), ("t", 1), ("s", 2)]
    assert [[one["name"] for one in setup["confirmations"]] for setup in after["setups"]] == [[*"cba"]] * 3
    assert after["updated_at"] > strategy["updated_at"]


async def test_the_numbers_decide_if_one_of_them_is_another_than_was_read(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, setups=[{"name": name} for name in "abc"])
    first, second, third = strategy["setups"]

    by_number = await patched(client, strategy, third, {**second, "sort_order": 9}, first)
    with_new = await patched(client, strategy, *by_number["setups"][::-1], {"name": "d", "sort_order": 1})

    assert [one["name"] for one in by_number["setups"]] == ["a", "c", "b"]
    assert [one["name"] for one in with_new["setups"]] == ["a", "d", "c", "b"]


async def test_what_changes_no_order_changes_no_updated_at(client: httpx.AsyncClient) -> None:
    numbered = [{"name": name, "sort_order": number} for name, number in (("a", 10), ("b", 20), ("c", 30))]
    strategy = await create_strategy(client, setups=numbered)
    setups = strategy["setups"]
    ids = [{"setup_id": one["setup_id"]} for one in setups]
    tied = [{**one, "sort_order": 5} for one in ids]

    for sent in (setups, ids, tied, [setups[0], *ids[1:]]):
        assert await patched(client, strategy, *sent) == strategy


async def test_sort_orders_put_setups_and_confirmations_in_another_order(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    checklist = [confirmation(strategy, 0, 1, sort_order=0), confirmation(strategy, 0, 0, sort_order=1)]

    after = await patched(
        client,
        strategy,
        setup(strategy, 1, sort_order=0),
        setup(strategy, 0, sort_order=1, confirmations=checklist),
    )

    assert [one["name"] for one in after["setups"]] == ["b", "a"]
    assert [one["name"] for one in after["setups"][1]["confirmations"]] == ["y", "x"]


async def test_an_invalid_last_item_of_50_changes_no_row(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, setups=[{"name": f"s{number}"} for number in range(50)])
    before = dump(app)
    setups = [{**one, "name": "New", "confirmations": [{"name": "new"}]} for one in strategy["setups"]]
    bad: list[dict[str, Any]] = [
        {"name": ""},
        {"setup_id": 2**62},
        {"name": "a", "confirmations": [{}]},
        {"name": "a", "confirmations": [{"confirmation_id": 1}]},
        setup(strategy, 0),
    ]

    refused = [await patch(client, strategy, name="New", setups=[*setups[:49], last]) for last in bad]

    assert [error_of(answer) for answer in refused] == [INVALID] * len(bad)
    assert dump(app) == before


async def test_50_times_100_are_replaced_in_one_patch(app: Starlette, client: httpx.AsyncClient) -> None:
    checklist = [{"name": f"c{place}"} for place in range(100)]
    strategy = await create_strategy(
        client, setups=[{"name": f"s{number}", "confirmations": checklist} for number in range(50)]
    )
    trade = await make_answered_trade(app, strategy, strategy["setups"][49])
    answers = await answers_of(app, trade)
    setups = [
        {
            **setup,
            "name": f"{setup['name']}, new",
            "confirmations": [{**one, "name": f"{one['name']}, new"} for one in setup["confirmations"]],
        }
        for setup in strategy["setups"]
    ]

    patched = unwrap(await patch(client, strategy, setups=setups))

    assert patched["setups"] == setups
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 49))
    assert await answers_of(app, trade) == answers
    assert len(answers) == 100


async def test_texts_that_look_like_something_else_are_kept_in_place(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    for text in ("5", "null", "true", "[1]", '{"name": "a"}', '"a"', "'", "🚀"):
        new = {"name": text, "description": text}
        setups = [
            {**one, **new, "confirmations": [{**item, **new} for item in one["confirmations"]]}
            for one in strategy["setups"]
        ]

        assert (await patched(client, strategy, *setups))["setups"] == setups
        assert (await get_strategy(client, strategy["id"]))["setups"] == setups


async def test_rows_of_the_largest_ids_are_told_apart(app: Starlette, client: httpx.AsyncClient) -> None:
    await make_playbook(client, "First")
    await run_sql(app, "UPDATE sqlite_sequence SET seq = 9223372036854775000 WHERE name != 'strategies'")
    strategy = await make_playbook(client, "Last")
    assert setup_id(strategy, 0) == 9223372036854775001
    (first, second), keep = strategy["setups"][0]["confirmations"], {"setup_id": setup_id(strategy, 1)}
    checklist = [{**first, "name": "new x", "sort_order": 7}, {**second, "description": "new"}]
    setup = {**strategy["setups"][0], "name": "new a", "confirmations": checklist}

    patched = unwrap(await patch(client, strategy, setups=[setup, keep]))

    assert patched["setups"] == [
        {**setup, "confirmations": [checklist[1], checklist[0]]},
        strategy["setups"][1],
    ]
